/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading stages into a run, the phases that policies share, notes and slots.
 */
#include "sched/scaling/run.h"

#include "sched/internal/alloc.h"
#include "sched/placer.h"

#include <math.h>
#include <string.h>

enum { PARAM_DEFAULT_SPEED, PARAM_SLOTS_MIN, PARAM_LOOP_PERIOD, PARAM_SKIP_FINISHED };

struct weir_run_settings weir_run_settings(const struct weir_params *params)
{
    return (struct weir_run_settings){
        .default_speed_per_s = params->values[PARAM_DEFAULT_SPEED],
        .slots = { .least = (uint32_t)params->values[PARAM_SLOTS_MIN],
                   .period_s = params->values[PARAM_LOOP_PERIOD] },
        .skips_finished = params->values[PARAM_SKIP_FINISHED] > 0,
    };
}

void weir_run_init(struct weir_run *run, const struct weir_params *params,
                   const struct weir_allocator *allocator)
{
    memset(run, 0, sizeof *run);
    run->allocator = weir_allocator_copy(allocator);
    run->settings = weir_run_settings(params);
}

void weir_run_clear(struct weir_run *run)
{
    weir_free(&run->allocator, run->stages);
    weir_free(&run->allocator, run->pool);
    weir_free(&run->allocator, run->slots);
    weir_free(&run->allocator, run->frequencies);
}

weir_status weir_run_create(const struct weir_params *params,
                            const struct weir_allocator *allocator, void **state,
                            struct weir_error *error)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);
    struct weir_run *const run = weir_alloc(&memory, 1, sizeof *run);

    if (run == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_run_init(run, params, &memory);
    *state = run;
    return WEIR_OK;
}

void weir_run_destroy(void *state)
{
    struct weir_run *const run = state;

    if (run == NULL)
        return;
    const struct weir_allocator memory = run->allocator;
    weir_run_clear(run);
    weir_free(&memory, run);
}

weir_status weir_run_fail(const struct weir_run *run, weir_status status, int32_t phase,
                          uint32_t stage)
{
    if (run->error == NULL)
        return status;
    if (stage < run->count)
        weir_error_wrap(run->error, "stage %s", weir_view_stage(run->view, stage)->name);
    run->error->phase = phase;
    run->error->stage = stage < run->count ? (int32_t)stage : -1;
    return status;
}

static weir_status reserve(struct weir_run *run, uint32_t count)
{
    const struct weir_allocator *const memory = &run->allocator;
    struct weir_run_stage *const stages =
        weir_grow(memory, run->stages, &run->stage_capacity, count, sizeof *stages);
    if (stages != NULL)
        run->stages = stages;
    struct weir_pool_stage *const pool =
        weir_grow(memory, run->pool, &run->pool_capacity, count, sizeof *pool);
    if (pool != NULL)
        run->pool = pool;
    struct weir_slots_stage *const slots =
        weir_grow(memory, run->slots, &run->slot_capacity, count, sizeof *slots);
    if (slots != NULL)
        run->slots = slots;
    double *const frequencies =
        weir_grow(memory, run->frequencies, &run->frequency_capacity, count, sizeof *frequencies);
    if (frequencies != NULL)
        run->frequencies = frequencies;
    if (stages == NULL || pool == NULL || slots == NULL || frequencies == NULL)
        return weir_fail(run->error, WEIR_ENOMEM, "out of memory");
    return WEIR_OK;
}

/* Measured, else hinted by the user, else the default. */
static double assumed_speed(const struct weir_run *run, const struct weir_stage_view *stage)
{
    if (!isnan(stage->estimate.batches_per_s)) {
        const double factor = stage->over_provision;
        return factor > 0 ? stage->estimate.batches_per_s / factor : stage->estimate.batches_per_s;
    }
    return isnan(stage->speed_hint_per_s) ? run->settings.default_speed_per_s
                                          : stage->speed_hint_per_s;
}

static double assumed_returns(const struct weir_stage_view *stage)
{
    return stage->estimate.returns_per_batch > 0 ? stage->estimate.returns_per_batch
                                                 : (double)stage->batch_size;
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
    run->count = view->stage_count;
    WEIR_TRY(reserve(run, run->count));
    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_stage_view *const seen = weir_view_stage(view, i);
        struct weir_run_stage *const stage = &run->stages[i];
        memset(stage, 0, sizeof *stage);
        if (i > 0 && seen->pipeline != weir_view_stage(view, i - 1)->pipeline)
            ratio = 1; /* another pipeline has its own source */
        stage->batch = seen->batch_size;
        stage->speed_per_s = assumed_speed(run, seen);
        stage->ratio = ratio;
        stage->samples = samples;
        stage->is_divided = run->settings.divides_samples;
        stage->rate_per_s = weir_run_throughput(stage, 1);
        stage->workers = weir_placer_workers(placer, i);
        stage->before = stage->workers;
        stage->target = stage->workers;
        stage->is_manual = seen->requested_workers >= 0;
        stage->is_skipped = seen->finished != 0 && run->settings.skips_finished;
        ratio = ratio * stage->batch / assumed_returns(seen);
        if (stage->batch > 0)
            samples = samples * assumed_returns(seen) / stage->batch;
        const bool may_stand = run->settings.divides_samples && stage->speed_per_s >= 0;
        if (!(stage->speed_per_s > 0 || may_stand) || isinf(stage->speed_per_s)) {
            const weir_status status =
                weir_fail(error, WEIR_EINVAL, "speed must be > 0, got %g", stage->speed_per_s);
            return weir_run_fail(run, status, 0, i);
        }
    }
    return WEIR_OK;
}

weir_status weir_run_start(struct weir_run *run, uint32_t stage)
{
    WEIR_TRY(weir_placer_start(run->placer, stage, run->error));
    run->stages[stage].workers++;
    run->stages[stage].started++;
    return WEIR_OK;
}

weir_status weir_run_stop(struct weir_run *run, uint32_t stage)
{
    WEIR_TRY(weir_placer_stop(run->placer, stage, run->error));
    run->stages[stage].workers--;
    run->stages[stage].stopped++;
    return WEIR_OK;
}

/* What ENTIRE takes beside its GPUs: engines per GPU of this cluster, rounded down when GPUs
 * differ. */
static int64_t per_gpu(int64_t engines, const struct weir_amounts *total)
{
    const int64_t gpus = total->gpu_units / WEIR_ONE;

    return gpus > 0 ? engines / gpus : 0;
}

weir_status weir_run_optimum(struct weir_run *run)
{
    const struct weir_amounts total = weir_cluster_total(run->view->cluster);
    struct weir_pool_result result;
    double sum = 0;

    weir_plan_set_phase(run->plan, 0);
    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_stage_view *const seen = weir_view_stage(run->view, i);
        run->pool[i] = (struct weir_pool_stage){
            .rate_per_s = run->stages[i].rate_per_s,
            .need = weir_shape_amounts(&seen->shape, per_gpu(total.nvdecs, &total),
                                       per_gpu(total.nvencs, &total)),
            .requested = seen->requested_workers,
        };
        if (run->stages[i].is_skipped)
            run->pool[i].requested = (int32_t)run->stages[i].workers;
    }
    const weir_status status = weir_pool_solve(run->pool, run->count, &total, &result, run->error);
    if (status != WEIR_OK) {
        const int32_t stage = run->error != NULL ? run->error->stage : -1;
        return weir_run_fail(run, status, 0, stage < 0 ? WEIR_NO_INDEX : (uint32_t)stage);
    }
    for (uint32_t i = 0; i < run->count; i++) {
        run->stages[i].optimum = run->pool[i].workers;
        sum += run->pool[i].workers;
    }
    for (uint32_t i = 0; i < run->count; i++)
        run->frequencies[i] = sum > 0 ? run->pool[i].workers / sum : 1.0 / run->count;
    return weir_placer_set_mix(run->placer, run->frequencies, run->count);
}

weir_status weir_run_mix_of_counts(struct weir_run *run, bool requested)
{
    uint64_t sum = 0;

    weir_plan_set_phase(run->plan, 0);
    for (uint32_t i = 0; i < run->count; i++) {
        const int32_t wanted = weir_view_stage(run->view, i)->requested_workers;
        run->frequencies[i] = requested && wanted >= 0 ? (uint32_t)wanted : run->stages[i].before;
        sum += (uint64_t)run->frequencies[i];
    }
    for (uint32_t i = 0; i < run->count; i++)
        run->frequencies[i] =
            (double)(sum > 0 ? (float)run->frequencies[i] / (float)sum : 1.0F / (float)run->count);
    return weir_placer_set_mix(run->placer, run->frequencies, run->count);
}

weir_status weir_run_slots(struct weir_run *run)
{
    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_stage_view *const seen = weir_view_stage(run->view, i);
        const bool is_measured = !isnan(seen->estimate.batches_per_s);
        run->slots[i] = (struct weir_slots_stage){
            .speed_per_s = is_measured ? run->stages[i].speed_per_s : (double)NAN,
            .workers = run->stages[i].target,
            .slots = seen->slots,
        };
    }
    weir_slots_apply(&run->settings.slots, run->slots, run->count);
    for (uint32_t i = 0; i < run->count; i++) {
        if (run->slots[i].slots != weir_view_stage(run->view, i)->slots)
            WEIR_TRY(weir_plan_set_slots(run->plan, i, run->slots[i].slots));
    }
    return WEIR_OK;
}

weir_status weir_run_notes(struct weir_run *run)
{
    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_run_stage *const stage = &run->stages[i];
        const struct weir_stage_note note = {
            .workers_before = stage->before,
            .workers_after = stage->workers,
            .started = stage->started,
            .stopped = stage->stopped,
            .binding = stage->is_manual    ? WEIR_REASON_MANUAL
                       : stage->is_skipped ? WEIR_REASON_FINISHED
                                           : stage->binding,
            .pool_optimum = stage->optimum,
            .speed_per_s = stage->speed_per_s,
            .throughput_per_s = weir_run_throughput(stage, stage->workers),
        };
        WEIR_TRY(weir_plan_note(run->plan, i, &note));
    }
    return WEIR_OK;
}

static weir_status manual_stage(struct weir_run *run, uint32_t i)
{
    const uint32_t requested = (uint32_t)weir_view_stage(run->view, i)->requested_workers;

    while (run->stages[i].workers < requested) {
        const weir_status status = weir_run_start(run, i);
        if (status == WEIR_EBUSY)
            return weir_run_fail(run,
                                 weir_fail(run->error, WEIR_EMANUAL,
                                           "%u workers are requested, only %u fit: %s", requested,
                                           run->stages[i].workers,
                                           weir_reason_text(weir_placer_refusal(run->placer, i))),
                                 1, i);
        WEIR_TRY(status);
    }
    while (run->stages[i].workers > requested)
        WEIR_TRY(weir_run_stop(run, i));
    return WEIR_OK;
}

weir_status weir_run_manual(struct weir_run *run)
{
    weir_plan_set_phase(run->plan, 1);
    for (uint32_t i = 0; i < run->count; i++) {
        if (run->stages[i].is_manual && !run->stages[i].is_skipped)
            WEIR_TRY(manual_stage(run, i));
    }
    return WEIR_OK;
}

weir_status weir_run_minimum(struct weir_run *run)
{
    weir_plan_set_phase(run->plan, 2);
    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_run_stage *const stage = &run->stages[i];
        if (stage->is_manual || stage->is_skipped || stage->workers > 0)
            continue;
        const weir_status status = weir_run_start(run, i);
        if (status == WEIR_EBUSY)
            return weir_run_fail(run,
                                 weir_fail(run->error, WEIR_EMINIMUM,
                                           "its first worker fits nowhere: %s",
                                           weir_reason_text(weir_placer_refusal(run->placer, i))),
                                 2, i);
        WEIR_TRY(status);
    }
    return WEIR_OK;
}

/* The active stage below its target with the least throughput, or WEIR_NO_INDEX. */
static uint32_t furthest_behind(const struct weir_run *run)
{
    uint32_t least = WEIR_NO_INDEX;
    double least_throughput = (double)INFINITY;

    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_run_stage *const stage = &run->stages[i];
        const double throughput = weir_run_throughput(stage, stage->workers);
        if (stage->is_active && stage->workers < stage->target && throughput < least_throughput) {
            least = i;
            least_throughput = throughput;
        }
    }
    return least;
}

weir_status weir_run_targets(struct weir_run *run)
{
    uint32_t stage;

    weir_plan_set_phase(run->plan, 3);
    for (uint32_t i = 0; i < run->count; i++) {
        run->stages[i].is_active = !run->stages[i].is_manual && !run->stages[i].is_skipped;
        run->stages[i].binding = WEIR_REASON_TARGET;
        while (run->stages[i].is_active && run->stages[i].workers > run->stages[i].target)
            WEIR_TRY(weir_run_stop(run, i));
    }
    while ((stage = furthest_behind(run)) != WEIR_NO_INDEX) {
        const weir_status status = weir_run_start(run, stage);
        if (status == WEIR_EBUSY) {
            run->stages[stage].is_active = 0;
            run->stages[stage].binding = weir_placer_refusal(run->placer, stage);
            continue;
        }
        WEIR_TRY(status);
    }
    return WEIR_OK;
}
