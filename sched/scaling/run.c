/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading pools into a run, the phases that policies share, notes and slots.
 */
#include "sched/scaling/run.h"

#include "sched/host/placer.h"
#include "sched/internal/alloc.h"
#include "sched/internal/made.h"

#include <math.h>
#include <string.h>

enum {
    PARAM_DEFAULT_SPEED,
    PARAM_SLOTS_MIN,
    PARAM_LOOP_PERIOD,
    PARAM_SKIP_FINISHED,
    PARAM_ARITHMETIC,
    PARAM_SHORTAGE
};

static struct weir_run_settings read_settings(const struct weir_params *params)
{
    return (struct weir_run_settings){
        .default_speed_per_s = params->values[PARAM_DEFAULT_SPEED],
        .slots = { .least = (uint32_t)params->values[PARAM_SLOTS_MIN],
                   .period_s = params->values[PARAM_LOOP_PERIOD] },
        .skips_finished = params->values[PARAM_SKIP_FINISHED] > 0,
        .tolerance = params->values[PARAM_ARITHMETIC] > 0 ? 0 : 1e-9,
        .fails_whole = params->values[PARAM_SHORTAGE] > 0,
    };
}

weir_status weir_run_make(size_t size, const struct weir_params *params,
                          const struct weir_allocator *allocator, void **state,
                          struct weir_error *error)
{
    const struct weir_made made = { .size = size };

    WEIR_TRY(weir_made_create(&made, params, allocator, state, error));
    ((struct weir_run *)*state)->settings = read_settings(params);
    return WEIR_OK;
}

void weir_run_clear(struct weir_run *run)
{
    weir_free(&run->allocator, run->pools);
    weir_free(&run->allocator, run->fluid);
    weir_free(&run->allocator, run->slots);
    weir_free(&run->allocator, run->frequencies);
    weir_free(&run->allocator, run->donors);
    weir_free(&run->allocator, run->order);
}

weir_status weir_run_create(const struct weir_params *params,
                            const struct weir_allocator *allocator, void **state,
                            struct weir_error *error)
{
    return weir_run_make(sizeof(struct weir_run), params, allocator, state, error);
}

void weir_run_destroy(void *state)
{
    weir_run_clear(state);
    weir_made_destroy(state);
}

weir_status weir_run_fail(const struct weir_run *run, weir_status status, int32_t phase,
                          uint32_t pool)
{
    if (run->error == NULL)
        return status;
    if (pool < run->count)
        weir_error_wrap(run->error, "stage %s", weir_view_pool(run->view, pool)->name);
    run->error->phase = phase;
    run->error->pool = pool < run->count ? (int32_t)pool : -1;
    return status;
}

static weir_status reserve(struct weir_run *run, uint32_t count)
{
    const struct weir_allocator *const memory = &run->allocator;

    WEIR_ROOM(memory, run->pools, run->pool_capacity, count);
    WEIR_ROOM(memory, run->fluid, run->fluid_capacity, count);
    WEIR_ROOM(memory, run->slots, run->slot_capacity, count);
    WEIR_ROOM(memory, run->frequencies, run->frequency_capacity, count);
    WEIR_ROOM(memory, run->order, run->order_capacity, count);
    return WEIR_OK;
}

/* Measured, else hinted by the user, else the default. */
static double assumed_speed(const struct weir_run *run, uint32_t index)
{
    const struct weir_pool_view *const pool = weir_view_pool(run->view, index);
    const double measured_per_s =
        run->speeds != NULL ? run->speeds[index] : pool->estimate.batches_per_s;

    if (!isnan(measured_per_s)) {
        const double factor = pool->over_provision;
        return factor > 0 ? measured_per_s / factor : measured_per_s;
    }
    return isnan(pool->speed_hint_per_s) ? run->settings.default_speed_per_s
                                         : pool->speed_hint_per_s;
}

static double assumed_returns(const struct weir_pool_view *pool)
{
    return pool->estimate.returns_per_batch > 0 ? pool->estimate.returns_per_batch
                                                : (double)pool->batch_size;
}

weir_status weir_run_begin(struct weir_run *run, const struct weir_view *view,
                           struct weir_placer *placer, struct weir_plan *plan,
                           struct weir_error *error)
{
    double ratio = 1;
    double samples = 1;

    run->view = view;
    run->placer = placer;
    run->plan = plan;
    run->error = error;
    run->count = view->pool_count;
    run->total = weir_cluster_total(view->cluster);
    run->supply = weir_view_supply(view);
    if (reserve(run, run->count) != WEIR_OK)
        return weir_fail(run->error, WEIR_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_pool_view *const seen = weir_view_pool(view, i);
        struct weir_run_pool *const pool = &run->pools[i];
        memset(pool, 0, sizeof *pool);
        if (i > 0 && seen->pipeline != weir_view_pool(view, i - 1)->pipeline)
            ratio = 1; /* another pipeline has its own source */
        pool->batch = seen->batch_size;
        pool->speed_per_s = assumed_speed(run, i);
        pool->ratio = ratio;
        pool->samples = samples;
        pool->is_divided = run->settings.divides_samples;
        pool->rate_per_s = weir_run_throughput(pool, 1);
        pool->workers = weir_placer_workers(placer, i);
        pool->before = pool->workers;
        pool->target = pool->workers;
        pool->requested = seen->requested_workers;
        pool->is_manual = pool->requested >= 0;
        pool->is_skipped = seen->finished != 0 && run->settings.skips_finished;
        ratio = ratio * pool->batch / assumed_returns(seen);
        if (pool->batch > 0)
            samples = samples * assumed_returns(seen) / pool->batch;
        const bool may_stand = run->settings.divides_samples && pool->speed_per_s >= 0;
        if (!(pool->speed_per_s > 0 || may_stand) || isinf(pool->speed_per_s)) {
            const weir_status status =
                weir_fail(error, WEIR_EINVAL, "speed must be > 0, got %g", pool->speed_per_s);
            return weir_run_fail(run, status, 0, i);
        }
    }
    return WEIR_OK;
}

weir_status weir_run_start(struct weir_run *run, uint32_t pool)
{
    weir_status status = WEIR_EBUSY;

    if (run->brings_back)
        status = weir_placer_start_back(run->placer, pool, run->error);
    if (status == WEIR_EBUSY)
        status = weir_placer_start(run->placer, pool, run->error);
    WEIR_TRY(status);
    run->pools[pool].workers++;
    run->pools[pool].started++;
    return WEIR_OK;
}

weir_status weir_run_stop(struct weir_run *run, uint32_t pool)
{
    WEIR_TRY(weir_placer_stop(run->placer, pool, run->error));
    run->pools[pool].workers--;
    run->pools[pool].stopped++;
    return WEIR_OK;
}

weir_status weir_run_stop_worker(struct weir_run *run, uint32_t pool, uint64_t id)
{
    WEIR_TRY(weir_placer_stop_worker(run->placer, pool, id, run->error));
    run->pools[pool].workers--;
    run->pools[pool].stopped++;
    return WEIR_OK;
}

/* What ENTIRE takes beside its GPUs: engines per GPU of this cluster, rounded down when GPUs
 * differ. */
static int64_t per_gpu(int64_t engines, const struct weir_amounts *total)
{
    const int64_t gpus = total->gpu_units / WEIR_ONE;

    return gpus > 0 ? engines / gpus : 0;
}

/* As many workers of a fixed pool as the supply holds beside the fixed pools before it; none of a
 * pool without a count. */
static int32_t most_beside(const struct weir_run *run, uint32_t pool, struct weir_amounts left)
{
    for (uint32_t i = 0; i < pool; i++) {
        if (run->fluid[i].requested > 0)
            weir_amounts_add(&left, &run->fluid[i].need, -run->fluid[i].requested);
    }
    const bool is_fixed = run->fluid[pool].requested > 0;
    return is_fixed ? (int32_t)weir_amounts_most(&run->fluid[pool].need, &left) : 0;
}

/* Solves; with best effort what the supply cannot hold is taken off first, pool by pool in the
 * order in which the solver names them. Each failure takes something off, so it ends. */
static weir_status solve_optimum(struct weir_run *run)
{
    const struct weir_amounts none = { 0 };
    struct weir_amounts supply = run->supply;
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct weir_optimum_result result;

    if (!run->settings.fails_whole && !weir_amounts_fit(&none, &supply))
        supply = none; /* jobs hold more than what is up has, on nodes that are down */
    for (;;) {
        const weir_status status =
            weir_optimum_solve(run->fluid, run->count, &supply, &result, &error);
        if (status == WEIR_OK)
            return WEIR_OK;
        if (status != WEIR_EINFEASIBLE || run->settings.fails_whole || error.pool < 0) {
            (void)weir_fail(run->error, status, "%s", error.text);
            return weir_run_fail(run, status, 0,
                                 error.pool < 0 ? WEIR_NO_INDEX : (uint32_t)error.pool);
        }
        run->fluid[error.pool].requested = most_beside(run, (uint32_t)error.pool, supply);
        error.pool = -1;
    }
}

struct weir_amounts weir_run_need(const struct weir_run *run, uint32_t pool)
{
    const struct weir_amounts *const total = &run->total;

    return weir_shape_amounts(&weir_view_pool(run->view, pool)->shape,
                              per_gpu(total->nvdecs, total), per_gpu(total->nvencs, total));
}

weir_status weir_run_optimum(struct weir_run *run)
{
    double sum = 0;

    weir_plan_set_phase(run->plan, 0);
    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_pool_view *const seen = weir_view_pool(run->view, i);
        run->fluid[i] = (struct weir_optimum_pool){
            .rate_per_s = run->pools[i].rate_per_s,
            .need = weir_run_need(run, i),
            .requested = seen->requested_workers,
        };
        if (run->pools[i].is_skipped)
            run->fluid[i].requested = (int32_t)run->pools[i].workers;
    }
    WEIR_TRY(solve_optimum(run));
    for (uint32_t i = 0; i < run->count; i++) {
        run->pools[i].optimum = run->fluid[i].workers;
        sum += run->fluid[i].workers;
    }
    for (uint32_t i = 0; i < run->count; i++)
        run->frequencies[i] = sum > 0 ? run->fluid[i].workers / sum : 1.0 / run->count;
    return weir_placer_set_mix(run->placer, run->frequencies, run->count);
}

weir_status weir_run_mix_of_counts(struct weir_run *run, bool requested)
{
    uint64_t sum = 0;

    weir_plan_set_phase(run->plan, 0);
    for (uint32_t i = 0; i < run->count; i++) {
        const int32_t wanted = run->pools[i].requested;
        run->frequencies[i] = requested && wanted >= 0 ? (uint32_t)wanted : run->pools[i].before;
        sum += (uint64_t)run->frequencies[i];
    }
    for (uint32_t i = 0; i < run->count; i++)
        run->frequencies[i] =
            (double)(sum > 0 ? (float)run->frequencies[i] / (float)sum : 1.0F / (float)run->count);
    return weir_placer_set_mix(run->placer, run->frequencies, run->count);
}

static weir_status set_slots(struct weir_run *run)
{
    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_pool_view *const seen = weir_view_pool(run->view, i);
        const bool is_measured = run->settings.slots_assume || !isnan(seen->estimate.batches_per_s);
        run->slots[i] = (struct weir_slots_pool){
            .speed_per_s = is_measured ? run->pools[i].speed_per_s : (double)NAN,
            .workers = run->pools[i].target,
            .slots = seen->slots,
        };
    }
    weir_slots_apply(&run->settings.slots, run->slots, run->count);
    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_pool_view *const seen = weir_view_pool(run->view, i);
        if (seen->finished != WEIR_POOL_REMOVED && run->slots[i].slots != seen->slots)
            WEIR_TRY(weir_plan_set_slots(run->plan, i, run->slots[i].slots));
    }
    return WEIR_OK;
}

weir_status weir_run_end(struct weir_run *run)
{
    WEIR_TRY(set_slots(run));
    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_run_pool *const pool = &run->pools[i];
        const struct weir_pool_note note = {
            .workers_before = pool->before,
            .workers_after = pool->workers,
            .started = pool->started,
            .stopped = pool->stopped,
            .binding = pool->is_starved   ? weir_placer_refusal(run->placer, i)
                       : pool->is_manual  ? WEIR_REASON_MANUAL
                       : pool->is_skipped ? WEIR_REASON_FINISHED
                                          : pool->binding,
            .pool_optimum = pool->optimum,
            .speed_per_s = pool->speed_per_s,
            .throughput_per_s = weir_run_throughput(pool, pool->workers),
        };
        WEIR_TRY(weir_plan_note(run->plan, i, &note));
    }
    return WEIR_OK;
}

weir_status weir_run_end_planned(struct weir_run *run)
{
    for (uint32_t i = 0; i < run->count; i++)
        run->pools[i].target = run->pools[i].workers;
    return weir_run_end(run);
}

static weir_status manual_pool(struct weir_run *run, uint32_t i)
{
    const uint32_t requested = (uint32_t)run->pools[i].requested;

    while (run->pools[i].workers < requested) {
        weir_status status = weir_run_start(run, i);
        if (status == WEIR_EBUSY && !run->settings.fails_whole) {
            status = weir_run_start_with_donors(run, i, false);
            if (status == WEIR_EBUSY)
                return WEIR_OK; /* the placer denies it; a first worker may still come */
        }
        if (status == WEIR_EBUSY)
            return weir_run_fail(run,
                                 weir_fail(run->error, WEIR_EMANUAL,
                                           "%u workers are requested, only %u fit: %s", requested,
                                           run->pools[i].workers,
                                           weir_reason_text(weir_placer_refusal(run->placer, i))),
                                 1, i);
        WEIR_TRY(status);
    }
    while (run->pools[i].workers > requested)
        WEIR_TRY(weir_run_stop(run, i));
    return WEIR_OK;
}

weir_status weir_run_manual(struct weir_run *run)
{
    weir_plan_set_phase(run->plan, 1);
    for (uint32_t i = 0; i < run->count; i++) {
        if (run->pools[i].is_manual && !run->pools[i].is_skipped)
            WEIR_TRY(manual_pool(run, i));
    }
    return WEIR_OK;
}

/* The active pool below its target with the largest shape, or WEIR_NO_INDEX. */
static uint32_t largest(const struct weir_run *run)
{
    uint32_t found = WEIR_NO_INDEX;

    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_run_pool *const pool = &run->pools[i];
        if (pool->is_active && pool->workers < pool->target &&
            (found == WEIR_NO_INDEX || weir_run_is_larger(run, i, found)))
            found = i;
    }
    return found;
}

/* The active pool below its target with the least throughput, or WEIR_NO_INDEX. */
static uint32_t furthest_behind(const struct weir_run *run)
{
    uint32_t least = WEIR_NO_INDEX;
    double least_throughput = (double)INFINITY;

    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_run_pool *const pool = &run->pools[i];
        const double throughput = weir_run_throughput(pool, pool->workers);
        if (pool->is_active && pool->workers < pool->target &&
            weir_run_less(run, throughput, least_throughput)) {
            least = i;
            least_throughput = throughput;
        }
    }
    return least;
}

weir_status weir_run_targets(struct weir_run *run, bool by_size)
{
    uint32_t pool;

    weir_plan_set_phase(run->plan, 3);
    for (uint32_t i = 0; i < run->count; i++) {
        run->pools[i].is_active = weir_run_is_free(&run->pools[i]);
        run->pools[i].binding = WEIR_REASON_TARGET;
        while (run->pools[i].is_active && run->pools[i].workers > run->pools[i].target)
            WEIR_TRY(weir_run_stop(run, i));
    }
    while ((pool = by_size ? largest(run) : furthest_behind(run)) != WEIR_NO_INDEX) {
        const weir_status status = weir_run_start(run, pool);
        if (status == WEIR_EBUSY) {
            run->pools[pool].is_active = 0;
            run->pools[pool].binding = weir_placer_refusal(run->placer, pool);
            continue;
        }
        WEIR_TRY(status);
    }
    return WEIR_OK;
}
