/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capacities, bottleneck, targets, ramp and floors; see saturation.h.
 */
#include "sched/scaling/saturation.h"

#include "sched/internal/alloc.h"

#include <math.h>

static const double RETURNS_ALPHA = 0.3;
static const double PEAK_DECAY = 0.999;
static const double LEAST_CHAIN = 1e-6;
static const double HYSTERESIS = 0.15;
static const double SLOW_START_S = 60;

enum { SWITCH_CYCLES = 2 };

struct weir_saturation_config weir_saturation_config_default(void)
{
    return (struct weir_saturation_config){
        .headroom = 0.10,
        .window_s = 60,
        .least_tasks = 5,
        .most_kept = 10,
        .alpha_up = 0.3,
        .alpha_down = 0.1,
        .stale_multiple = 3,
        .stale_growth = 1,
        .least_task_s = 1e-3,
        .warmup_growth = 4,
        .release_cycles = 6,
        .release_slowdown = 4,
        .reclaim_cycles = 6,
    };
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

weir_status weir_saturation_create(const struct weir_allocator *allocator,
                                   const struct weir_saturation_config *config, uint32_t count,
                                   struct weir_saturation **saturation)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    struct weir_saturation *const made = weir_alloc(&memory, 1, sizeof *made);

    if (made == NULL)
        return WEIR_ENOMEM;
    made->allocator = memory;
    made->config = *config;
    made->count = count;
    made->bottleneck = made->candidate = made->was_queue_regime = -1;
    made->pools = weir_alloc(&memory, count > 0 ? count : 1, sizeof *made->pools);
    if (made->pools == NULL) {
        weir_free(&memory, made);
        return WEIR_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct weir_saturation_pool *const pool = &made->pools[i];
        pool->returns = pool->speed_memory = pool->peak = pool->arrivals = (double)NAN;
        pool->active_since_s = pool->held = pool->shrink_to = (double)NAN;
        pool->last_completion_s = -(double)INFINITY;
    }
    *saturation = made;
    return WEIR_OK;
}

void weir_saturation_destroy(struct weir_saturation *saturation)
{
    if (saturation == NULL)
        return;
    const struct weir_allocator memory = saturation->allocator;
    for (uint32_t i = 0; i < saturation->count; i++)
        weir_free(&memory, saturation->pools[i].tasks);
    weir_free(&memory, saturation->pools);
    weir_free(&memory, saturation);
}

static double average(double before, double value, double up, double down)
{
    if (isnan(before))
        return value;
    const double alpha = value >= before ? up : down;
    return alpha * value + (1 - alpha) * before;
}

weir_status weir_saturation_task(struct weir_saturation *saturation, uint32_t pool, double start_s,
                                 double end_s, double returns)
{
    struct weir_saturation_pool *const at = &saturation->pools[pool];

    at->returns = average(at->returns, returns, RETURNS_ALPHA, RETURNS_ALPHA);
    at->last_completion_s = larger(at->last_completion_s, end_s);
    if (!(returns > 0) && end_s - start_s < saturation->config.least_task_s)
        return WEIR_OK;
    WEIR_ROOM(&saturation->allocator, at->tasks, at->task_capacity, at->task_count + 1);
    at->tasks[at->task_count++] =
        (struct weir_task_time){ .start_s = start_s, .length_s = end_s - start_s };
    at->samples++;
    return WEIR_OK;
}

/* ---- speed and capacity ---- */

static void drop_old_tasks(const struct weir_saturation_config *config,
                           struct weir_saturation_pool *pool, double now_s)
{
    uint32_t dropped = 0;

    while (pool->task_count - dropped > config->most_kept &&
           now_s - pool->tasks[dropped].start_s > config->window_s)
        dropped++;
    for (uint32_t i = dropped; dropped > 0 && i < pool->task_count; i++)
        pool->tasks[i - dropped] = pool->tasks[i];
    pool->task_count -= dropped;
}

static void measure_speed(const struct weir_saturation_config *config,
                          struct weir_saturation_pool *pool, double now_s)
{
    const double silence_s = now_s - pool->last_completion_s;
    double sum_s = 0;

    drop_old_tasks(config, pool, now_s);
    for (uint32_t i = 0; i < pool->task_count; i++)
        sum_s += pool->tasks[i].length_s;
    pool->speed_per_s = (double)NAN;
    pool->is_stale = false;
    if (pool->samples < config->least_tasks || !(sum_s > 0))
        return;
    const double mean_s = sum_s / pool->task_count;
    pool->speed_per_s = 1 / mean_s;
    if (pool->inflight > 0 && silence_s > 0)
        pool->speed_per_s = smaller(pool->speed_per_s, 1 / silence_s);
    pool->is_stale = pool->inflight > 0 && silence_s > config->stale_multiple * mean_s;
}

static void measure_capacity(const struct weir_saturation_config *config,
                             struct weir_saturation_pool *pool)
{
    pool->target_speed = 0;
    if (pool->speed_per_s > 0) {
        if (pool->is_stale && pool->speed_per_s < pool->speed_memory)
            pool->speed_memory = pool->speed_per_s;
        else
            pool->speed_memory = average(pool->speed_memory, pool->speed_per_s, config->alpha_up,
                                         config->alpha_down);
        pool->target_speed = pool->speed_memory;
        const double speed = pool->target_speed;
        if (isnan(pool->peak) || speed >= pool->peak)
            pool->peak = speed;
        else
            pool->peak = larger(speed, PEAK_DECAY * pool->peak);
    }
    pool->capacity =
        pool->chain < LEAST_CHAIN ? 0 : pool->workers * pool->target_speed / pool->chain;
}

static void read_load(struct weir_saturation *saturation, double now_s)
{
    double chain = 1;
    double stock = 0;

    saturation->is_warming = false;
    for (uint32_t i = 0; i < saturation->count; i++) {
        struct weir_saturation_pool *const pool = &saturation->pools[i];
        pool->pending = pool->queue_items + pool->pool_tasks * pool->batch;
        pool->active = pool->queue_items + (pool->pool_tasks + pool->inflight) * pool->batch;
        pool->ready = larger(pool->workers - pool->inflight, 0);
        if (!(pool->active > 0))
            pool->active_since_s = (double)NAN;
        else if (isnan(pool->active_since_s))
            pool->active_since_s = now_s;
        pool->chain = chain;
        stock += chain < LEAST_CHAIN ? 0 : larger(pool->active, 0) / chain;
        pool->stock = stock;
        chain *= (isnan(pool->returns) ? pool->batch : pool->returns) / pool->batch;
        measure_speed(&saturation->config, pool, now_s);
        measure_capacity(&saturation->config, pool);
        if (pool->samples < saturation->config.least_tasks && pool->active > 0)
            saturation->is_warming = true;
    }
}

/* ---- the bottleneck ---- */

static uint32_t queue_state(const struct weir_saturation *saturation, uint32_t i)
{
    const struct weir_saturation_pool *const pool = &saturation->pools[i];

    if (pool->queue_items < pool->batch)
        return WEIR_QUEUE_STARVED;
    if (i + 1 == saturation->count)
        return pool->ready > 0 ? WEIR_QUEUE_BALANCED : WEIR_QUEUE_BOTTLENECK;
    return pool[1].queue_items < pool[1].batch ? WEIR_QUEUE_BOTTLENECK : WEIR_QUEUE_BUFFERED;
}

/* The deepest pool with a full queue in front of a dry one, or -1. */
static int32_t deepest(const struct weir_saturation *saturation)
{
    for (uint32_t i = saturation->count; i-- > 0;) {
        if (saturation->pools[i].queue == WEIR_QUEUE_BOTTLENECK)
            return (int32_t)i;
    }
    return -1;
}

/* The pool of least measured capacity without `except`, or -1. */
static int32_t least_capacity(const struct weir_saturation *saturation, int32_t except)
{
    int32_t found = -1;

    for (uint32_t i = 0; i < saturation->count; i++) {
        const double capacity = saturation->pools[i].capacity;
        if ((int32_t)i != except && capacity > 0 &&
            (found < 0 || capacity < saturation->pools[found].capacity))
            found = (int32_t)i;
    }
    return found;
}

static void choose(struct weir_saturation *saturation, int32_t challenger)
{
    saturation->bottleneck = challenger;
    saturation->streak = 0;
}

/* A decisive challenger takes over in its second cycle. */
static void challenge(struct weir_saturation *saturation, bool is_decisive)
{
    if (!is_decisive)
        saturation->streak = 0;
    else if (++saturation->streak >= SWITCH_CYCLES)
        choose(saturation, saturation->candidate);
}

static void select_bottleneck(struct weir_saturation *saturation)
{
    const int32_t queued = deepest(saturation);
    const int32_t is_queue_regime = queued >= 0;
    const int32_t now = saturation->bottleneck;

    if (is_queue_regime != saturation->was_queue_regime)
        saturation->streak = 0;
    saturation->was_queue_regime = is_queue_regime;
    saturation->candidate = is_queue_regime ? queued : least_capacity(saturation, -1);
    const bool has_capacity = now >= 0 && saturation->pools[now].capacity > 0;
    const bool is_valid =
        has_capacity && (!is_queue_regime || saturation->pools[now].queue == WEIR_QUEUE_BOTTLENECK);
    if (!is_valid || now == saturation->candidate)
        choose(saturation, saturation->candidate);
    else
        challenge(saturation,
                  is_queue_regime || saturation->pools[saturation->candidate].capacity <
                                         saturation->pools[now].capacity * (1 - HYSTERESIS));
}

static void measure_rates(struct weir_saturation *saturation)
{
    const int32_t least = least_capacity(saturation, -1);
    const int32_t next = least_capacity(saturation, saturation->candidate);

    saturation->rate = least < 0 ? 0 : saturation->pools[least].capacity;
    saturation->next_rate = next < 0 ? saturation->rate : saturation->pools[next].capacity;
}

/* ---- targets ---- */

static double target_of(const struct weir_saturation *saturation, uint32_t i, bool is_limit)
{
    const struct weir_saturation_pool *const pool = &saturation->pools[i];
    const double high = saturation->rate * (1 + saturation->config.headroom);
    const bool is_bottleneck = (int32_t)i == saturation->bottleneck;
    const double rate = is_bottleneck ? larger(saturation->next_rate, high) : high;
    const double growth = saturation->config.stale_growth;
    double target = larger(ceil(pool->chain * rate / pool->target_speed), pool->sustain);

    if (!pool->is_stale && pool->peak > 0)
        target = larger(smaller(target, ceil(pool->chain * rate / pool->peak)), pool->sustain);
    if (pool->is_stale)
        target = larger(smaller(target, pool->workers + growth), pool->sustain);
    if (pool->is_manual != 0 && is_limit)
        target = smaller(target, pool->workers);
    return target;
}

static void set_target(struct weir_saturation *saturation, uint32_t i)
{
    const struct weir_saturation_config *const config = &saturation->config;
    struct weir_saturation_pool *const pool = &saturation->pools[i];
    const bool is_limit =
        (int32_t)i == saturation->bottleneck || (int32_t)i == saturation->candidate;
    const double down = 1 / (config->release_cycles * config->release_slowdown);

    pool->arrivals = average(pool->arrivals, pool->chain * saturation->rate, 1, down);
    pool->is_real = pool->target_speed > 0 && pool->chain > 0 && saturation->rate > 0;
    pool->sustain = pool->target = 1;
    if (pool->is_real) {
        pool->sustain = ceil(pool->arrivals / pool->target_speed);
        if (pool->is_stale)
            pool->sustain = larger(smaller(pool->sustain, pool->workers), 1);
        if (pool->is_manual != 0 && is_limit)
            pool->sustain = smaller(pool->sustain, pool->workers);
        pool->target = target_of(saturation, i, is_limit);
    }
    pool->multiplier = 1;
    pool->solver_speed_per_s = 1;
    if (!(pool->target_speed > 0))
        return;
    if (pool->pending >= pool->batch && pool->target > pool->workers)
        pool->multiplier = larger(pool->target / larger(pool->workers, 1), 1);
    pool->solver_speed_per_s = pool->target_speed / pool->multiplier;
}

/* ---- floors ---- */

/* Whether giving up workers here would help some pool that wants to grow. */
static bool is_beneficial(const struct weir_saturation *saturation, uint32_t i)
{
    const struct weir_saturation_pool *const giver = &saturation->pools[i];

    for (uint32_t g = 0; g < saturation->count; g++) {
        const struct weir_saturation_pool *const grower = &saturation->pools[g];
        if (g == i || grower->is_manual != 0 || grower->is_stale || !grower->is_real ||
            !(grower->target > grower->workers))
            continue;
        const bool has_more = (giver->uses_cpu != 0 && grower->uses_cpu == 0) ||
                              (giver->uses_gpu != 0 && grower->uses_gpu == 0);
        const bool shares = (giver->uses_cpu != 0 && grower->uses_cpu != 0) ||
                            (giver->uses_gpu != 0 && grower->uses_gpu != 0);
        if (!has_more && shares)
            return true;
    }
    return false;
}

static void count_stock(const struct weir_saturation *saturation, struct weir_saturation_pool *pool)
{
    const double slowdown_cycles = ceil(saturation->config.release_cycles / 3.0);
    const double threshold = pool->chain < LEAST_CHAIN ? 0 : pool->batch / pool->chain;

    pool->is_stocked = threshold > 0 ? pool->stock >= threshold : pool->stock > 0;
    if (pool->is_stocked || (!(pool->chain > 0) && pool->active > 0))
        pool->dry_cycles = 0;
    else
        pool->dry_cycles++;
    pool->is_releasing = pool->dry_cycles >= larger(slowdown_cycles, 1);
}

static double desired_floor(const struct weir_saturation *saturation, uint32_t i)
{
    struct weir_saturation_pool *const pool = &saturation->pools[i];
    const double workers = pool->workers;
    double desired = larger(smaller(1, workers), smaller(pool->sustain, workers));

    if (!pool->is_real)
        desired = workers;
    if (pool->is_stocked && saturation->candidate >= 0 && (int32_t)i > saturation->candidate) {
        const bool helps = pool->ready > 0 && workers > pool->sustain && pool->is_real &&
                           pool->is_manual == 0 && is_beneficial(saturation, i);
        pool->benefit_streak = helps ? pool->benefit_streak + 1 : 0;
        if (pool->benefit_streak < saturation->config.reclaim_cycles)
            desired = workers;
    } else {
        pool->benefit_streak = 0;
    }
    return !(pool->ready > 0) && pool->pending >= pool->batch ? workers : desired;
}

static void reset_shrink(struct weir_saturation_pool *pool)
{
    pool->shrink_streak = 0;
    pool->shrink_to = (double)NAN;
}

static void set_floor(struct weir_saturation *saturation, uint32_t i)
{
    const uint32_t confirm = (uint32_t)larger(ceil(saturation->config.release_cycles / 3.0), 1);
    struct weir_saturation_pool *const pool = &saturation->pools[i];

    count_stock(saturation, pool);
    const double desired = desired_floor(saturation, i);
    const double base = isnan(pool->held) ? pool->workers : smaller(pool->held, pool->workers);
    if (pool->is_releasing) {
        pool->held = smaller(1, pool->workers);
        reset_shrink(pool);
    } else if (base <= 0 || desired >= base) {
        pool->held = desired;
        reset_shrink(pool);
    } else {
        pool->shrink_to =
            isnan(pool->shrink_to) ? desired : larger(smaller(pool->shrink_to, base), desired);
        pool->held = base;
        if (++pool->shrink_streak >= confirm) {
            pool->held = pool->shrink_to;
            reset_shrink(pool);
        }
    }
    pool->floor = pool->held;
}

void weir_saturation_observe(struct weir_saturation *saturation, double now_s)
{
    read_load(saturation, now_s);
    for (uint32_t i = 0; i < saturation->count; i++)
        saturation->pools[i].queue = queue_state(saturation, i);
    select_bottleneck(saturation);
    measure_rates(saturation);
    for (uint32_t i = 0; i < saturation->count; i++)
        set_target(saturation, i);
    for (uint32_t i = 0; i < saturation->count; i++)
        set_floor(saturation, i);
}

void weir_saturation_forget(struct weir_saturation *saturation)
{
    for (uint32_t i = 0; i < saturation->count; i++) {
        struct weir_saturation_pool *const pool = &saturation->pools[i];
        pool->multiplier = 1;
        pool->solver_speed_per_s = pool->target_speed > 0 ? pool->target_speed : 1;
        pool->arrivals = pool->held = (double)NAN;
        reset_shrink(pool);
    }
    saturation->bottleneck = saturation->candidate = -1;
}

/* ---- after the pass ---- */

double weir_saturation_cap(const struct weir_saturation *saturation, uint32_t pool, double now_s,
                           const char **reason)
{
    const struct weir_saturation_pool *const at = &saturation->pools[pool];

    if (at->samples >= saturation->config.least_tasks) {
        *reason = "growth_cap";
        if (!at->is_real)
            return (double)INFINITY;
        if (!saturation->is_warming)
            return at->target;
        *reason = "growth_cap_warmup";
        return smaller(at->target, at->workers + saturation->config.warmup_growth);
    }
    if (at->samples == 0 && at->active > 0 && now_s - at->active_since_s >= SLOW_START_S) {
        *reason = "slow_start";
        return (double)INFINITY;
    }
    if (at->workers >= 1 && at->active > 0) {
        *reason = at->samples > 0 ? "warming" : "pipeline_warming";
        return at->workers + 1;
    }
    *reason = at->samples > 0 ? "warming" : "cold";
    return larger(at->workers, 1);
}

uint32_t weir_saturation_deletions(const struct weir_saturation *saturation, uint32_t pool,
                                   uint32_t started, uint32_t proposed)
{
    const struct weir_saturation_pool *const at = &saturation->pools[pool];
    const double most = larger(at->workers + started - at->floor, 0);

    return proposed < most ? proposed : (uint32_t)most;
}
