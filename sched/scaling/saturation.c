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
    made->stages = weir_alloc(&memory, count > 0 ? count : 1, sizeof *made->stages);
    if (made->stages == NULL) {
        weir_free(&memory, made);
        return WEIR_ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct weir_saturation_stage *const stage = &made->stages[i];
        stage->returns = stage->speed_memory = stage->peak = stage->arrivals = (double)NAN;
        stage->active_since_s = stage->held = stage->shrink_to = (double)NAN;
        stage->last_completion_s = -(double)INFINITY;
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
        weir_free(&memory, saturation->stages[i].tasks);
    weir_free(&memory, saturation->stages);
    weir_free(&memory, saturation);
}

static double average(double before, double value, double up, double down)
{
    if (isnan(before))
        return value;
    const double alpha = value >= before ? up : down;
    return alpha * value + (1 - alpha) * before;
}

weir_status weir_saturation_task(struct weir_saturation *saturation, uint32_t stage, double start_s,
                                 double end_s, double returns)
{
    struct weir_saturation_stage *const at = &saturation->stages[stage];

    at->returns = average(at->returns, returns, RETURNS_ALPHA, RETURNS_ALPHA);
    at->last_completion_s = larger(at->last_completion_s, end_s);
    if (!(returns > 0) && end_s - start_s < saturation->config.least_task_s)
        return WEIR_OK;
    struct weir_task_time *const tasks = weir_grow(
        &saturation->allocator, at->tasks, &at->task_capacity, at->task_count + 1, sizeof *tasks);
    if (tasks == NULL)
        return WEIR_ENOMEM;
    at->tasks = tasks;
    tasks[at->task_count++] =
        (struct weir_task_time){ .start_s = start_s, .length_s = end_s - start_s };
    at->samples++;
    return WEIR_OK;
}

/* ---- speed and capacity ---- */

static void drop_old_tasks(const struct weir_saturation_config *config,
                           struct weir_saturation_stage *stage, double now_s)
{
    uint32_t dropped = 0;

    while (stage->task_count - dropped > config->most_kept &&
           now_s - stage->tasks[dropped].start_s > config->window_s)
        dropped++;
    for (uint32_t i = dropped; dropped > 0 && i < stage->task_count; i++)
        stage->tasks[i - dropped] = stage->tasks[i];
    stage->task_count -= dropped;
}

static void measure_speed(const struct weir_saturation_config *config,
                          struct weir_saturation_stage *stage, double now_s)
{
    const double silence_s = now_s - stage->last_completion_s;
    double sum_s = 0;

    drop_old_tasks(config, stage, now_s);
    for (uint32_t i = 0; i < stage->task_count; i++)
        sum_s += stage->tasks[i].length_s;
    stage->speed_per_s = (double)NAN;
    stage->is_stale = false;
    if (stage->samples < config->least_tasks || !(sum_s > 0))
        return;
    const double mean_s = sum_s / stage->task_count;
    stage->speed_per_s = 1 / mean_s;
    if (stage->inflight > 0 && silence_s > 0)
        stage->speed_per_s = smaller(stage->speed_per_s, 1 / silence_s);
    stage->is_stale = stage->inflight > 0 && silence_s > config->stale_multiple * mean_s;
}

static void measure_capacity(const struct weir_saturation_config *config,
                             struct weir_saturation_stage *stage)
{
    stage->target_speed = 0;
    if (stage->speed_per_s > 0) {
        if (stage->is_stale && stage->speed_per_s < stage->speed_memory)
            stage->speed_memory = stage->speed_per_s;
        else
            stage->speed_memory = average(stage->speed_memory, stage->speed_per_s, config->alpha_up,
                                          config->alpha_down);
        stage->target_speed = stage->speed_memory;
        const double speed = stage->target_speed;
        if (isnan(stage->peak) || speed >= stage->peak)
            stage->peak = speed;
        else
            stage->peak = larger(speed, PEAK_DECAY * stage->peak);
    }
    stage->capacity =
        stage->chain < LEAST_CHAIN ? 0 : stage->workers * stage->target_speed / stage->chain;
}

static void read_load(struct weir_saturation *saturation, double now_s)
{
    double chain = 1;
    double stock = 0;

    saturation->is_warming = false;
    for (uint32_t i = 0; i < saturation->count; i++) {
        struct weir_saturation_stage *const stage = &saturation->stages[i];
        stage->pending = stage->queue_items + stage->pool_tasks * stage->batch;
        stage->active = stage->queue_items + (stage->pool_tasks + stage->inflight) * stage->batch;
        stage->ready = larger(stage->workers - stage->inflight, 0);
        if (!(stage->active > 0))
            stage->active_since_s = (double)NAN;
        else if (isnan(stage->active_since_s))
            stage->active_since_s = now_s;
        stage->chain = chain;
        stock += chain < LEAST_CHAIN ? 0 : larger(stage->active, 0) / chain;
        stage->stock = stock;
        chain *= (isnan(stage->returns) ? stage->batch : stage->returns) / stage->batch;
        measure_speed(&saturation->config, stage, now_s);
        measure_capacity(&saturation->config, stage);
        if (stage->samples < saturation->config.least_tasks && stage->active > 0)
            saturation->is_warming = true;
    }
}

/* ---- the bottleneck ---- */

static uint32_t queue_state(const struct weir_saturation *saturation, uint32_t i)
{
    const struct weir_saturation_stage *const stage = &saturation->stages[i];

    if (stage->queue_items < stage->batch)
        return WEIR_QUEUE_STARVED;
    if (i + 1 == saturation->count)
        return stage->ready > 0 ? WEIR_QUEUE_BALANCED : WEIR_QUEUE_BOTTLENECK;
    return stage[1].queue_items < stage[1].batch ? WEIR_QUEUE_BOTTLENECK : WEIR_QUEUE_BUFFERED;
}

/* The deepest stage with a full queue in front of a dry one, or -1. */
static int32_t deepest(const struct weir_saturation *saturation)
{
    for (uint32_t i = saturation->count; i-- > 0;) {
        if (saturation->stages[i].queue == WEIR_QUEUE_BOTTLENECK)
            return (int32_t)i;
    }
    return -1;
}

/* The stage of least measured capacity without `except`, or -1. */
static int32_t least_capacity(const struct weir_saturation *saturation, int32_t except)
{
    int32_t found = -1;

    for (uint32_t i = 0; i < saturation->count; i++) {
        const double capacity = saturation->stages[i].capacity;
        if ((int32_t)i != except && capacity > 0 &&
            (found < 0 || capacity < saturation->stages[found].capacity))
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
    const bool has_capacity = now >= 0 && saturation->stages[now].capacity > 0;
    const bool is_valid = has_capacity && (!is_queue_regime ||
                                           saturation->stages[now].queue == WEIR_QUEUE_BOTTLENECK);
    if (!is_valid || now == saturation->candidate)
        choose(saturation, saturation->candidate);
    else
        challenge(saturation,
                  is_queue_regime || saturation->stages[saturation->candidate].capacity <
                                         saturation->stages[now].capacity * (1 - HYSTERESIS));
}

static void measure_rates(struct weir_saturation *saturation)
{
    const int32_t least = least_capacity(saturation, -1);
    const int32_t next = least_capacity(saturation, saturation->candidate);

    saturation->rate = least < 0 ? 0 : saturation->stages[least].capacity;
    saturation->next_rate = next < 0 ? saturation->rate : saturation->stages[next].capacity;
}

/* ---- targets ---- */

static double target_of(const struct weir_saturation *saturation, uint32_t i, bool is_limit)
{
    const struct weir_saturation_stage *const stage = &saturation->stages[i];
    const double high = saturation->rate * (1 + saturation->config.headroom);
    const bool is_bottleneck = (int32_t)i == saturation->bottleneck;
    const double rate = is_bottleneck ? larger(saturation->next_rate, high) : high;
    const double growth = saturation->config.stale_growth;
    double target = larger(ceil(stage->chain * rate / stage->target_speed), stage->sustain);

    if (!stage->is_stale && stage->peak > 0)
        target = larger(smaller(target, ceil(stage->chain * rate / stage->peak)), stage->sustain);
    if (stage->is_stale)
        target = larger(smaller(target, stage->workers + growth), stage->sustain);
    if (stage->is_manual != 0 && is_limit)
        target = smaller(target, stage->workers);
    return target;
}

static void set_target(struct weir_saturation *saturation, uint32_t i)
{
    const struct weir_saturation_config *const config = &saturation->config;
    struct weir_saturation_stage *const stage = &saturation->stages[i];
    const bool is_limit =
        (int32_t)i == saturation->bottleneck || (int32_t)i == saturation->candidate;
    const double down = 1 / (config->release_cycles * config->release_slowdown);

    stage->arrivals = average(stage->arrivals, stage->chain * saturation->rate, 1, down);
    stage->is_real = stage->target_speed > 0 && stage->chain > 0 && saturation->rate > 0;
    stage->sustain = stage->target = 1;
    if (stage->is_real) {
        stage->sustain = ceil(stage->arrivals / stage->target_speed);
        if (stage->is_stale)
            stage->sustain = larger(smaller(stage->sustain, stage->workers), 1);
        if (stage->is_manual != 0 && is_limit)
            stage->sustain = smaller(stage->sustain, stage->workers);
        stage->target = target_of(saturation, i, is_limit);
    }
    stage->multiplier = 1;
    stage->solver_speed_per_s = 1;
    if (!(stage->target_speed > 0))
        return;
    if (stage->pending >= stage->batch && stage->target > stage->workers)
        stage->multiplier = larger(stage->target / larger(stage->workers, 1), 1);
    stage->solver_speed_per_s = stage->target_speed / stage->multiplier;
}

/* ---- floors ---- */

/* Whether giving up workers here would help some stage that wants to grow. */
static bool is_beneficial(const struct weir_saturation *saturation, uint32_t i)
{
    const struct weir_saturation_stage *const giver = &saturation->stages[i];

    for (uint32_t g = 0; g < saturation->count; g++) {
        const struct weir_saturation_stage *const grower = &saturation->stages[g];
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

static void count_stock(const struct weir_saturation *saturation,
                        struct weir_saturation_stage *stage)
{
    const double slowdown_cycles = ceil(saturation->config.release_cycles / 3.0);
    const double threshold = stage->chain < LEAST_CHAIN ? 0 : stage->batch / stage->chain;

    stage->is_stocked = threshold > 0 ? stage->stock >= threshold : stage->stock > 0;
    if (stage->is_stocked || (!(stage->chain > 0) && stage->active > 0))
        stage->dry_cycles = 0;
    else
        stage->dry_cycles++;
    stage->is_releasing = stage->dry_cycles >= larger(slowdown_cycles, 1);
}

static double desired_floor(const struct weir_saturation *saturation, uint32_t i)
{
    struct weir_saturation_stage *const stage = &saturation->stages[i];
    const double workers = stage->workers;
    double desired = larger(smaller(1, workers), smaller(stage->sustain, workers));

    if (!stage->is_real)
        desired = workers;
    if (stage->is_stocked && saturation->candidate >= 0 && (int32_t)i > saturation->candidate) {
        const bool helps = stage->ready > 0 && workers > stage->sustain && stage->is_real &&
                           stage->is_manual == 0 && is_beneficial(saturation, i);
        stage->benefit_streak = helps ? stage->benefit_streak + 1 : 0;
        if (stage->benefit_streak < saturation->config.reclaim_cycles)
            desired = workers;
    } else {
        stage->benefit_streak = 0;
    }
    return !(stage->ready > 0) && stage->pending >= stage->batch ? workers : desired;
}

static void reset_shrink(struct weir_saturation_stage *stage)
{
    stage->shrink_streak = 0;
    stage->shrink_to = (double)NAN;
}

static void set_floor(struct weir_saturation *saturation, uint32_t i)
{
    const uint32_t confirm = (uint32_t)larger(ceil(saturation->config.release_cycles / 3.0), 1);
    struct weir_saturation_stage *const stage = &saturation->stages[i];

    count_stock(saturation, stage);
    const double desired = desired_floor(saturation, i);
    const double base = isnan(stage->held) ? stage->workers : smaller(stage->held, stage->workers);
    if (stage->is_releasing) {
        stage->held = smaller(1, stage->workers);
        reset_shrink(stage);
    } else if (base <= 0 || desired >= base) {
        stage->held = desired;
        reset_shrink(stage);
    } else {
        stage->shrink_to =
            isnan(stage->shrink_to) ? desired : larger(smaller(stage->shrink_to, base), desired);
        stage->held = base;
        if (++stage->shrink_streak >= confirm) {
            stage->held = stage->shrink_to;
            reset_shrink(stage);
        }
    }
    stage->floor = stage->held;
}

void weir_saturation_observe(struct weir_saturation *saturation, double now_s)
{
    read_load(saturation, now_s);
    for (uint32_t i = 0; i < saturation->count; i++)
        saturation->stages[i].queue = queue_state(saturation, i);
    select_bottleneck(saturation);
    measure_rates(saturation);
    for (uint32_t i = 0; i < saturation->count; i++)
        set_target(saturation, i);
    for (uint32_t i = 0; i < saturation->count; i++)
        set_floor(saturation, i);
}

/* ---- after the pass ---- */

double weir_saturation_cap(const struct weir_saturation *saturation, uint32_t stage, double now_s,
                           const char **reason)
{
    const struct weir_saturation_stage *const at = &saturation->stages[stage];

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
        *reason = "pipeline_warming";
        return at->workers + 1;
    }
    *reason = "cold";
    return larger(at->workers, 1);
}

uint32_t weir_saturation_deletions(const struct weir_saturation *saturation, uint32_t stage,
                                   uint32_t started, uint32_t proposed)
{
    const struct weir_saturation_stage *const at = &saturation->stages[stage];
    const double most = larger(at->workers + started - at->floor, 0);

    return proposed < most ? proposed : (uint32_t)most;
}
