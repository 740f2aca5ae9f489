/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tick flow rule: the fixed-step loop of the original simulator, to the digit.
 *
 * Every `tick` the original sweeps the stages in ascending order: set-ups that are due end, tasks
 * that are due end, room is computed, idle workers take tasks in list order. An output can be taken
 * by the next stage in the same sweep; room freed by the next stage is seen one sweep later. Only
 * sweeps at which something is due change anything: ends of set-ups and tasks, and the step after
 * any task was taken or any worker came or went.
 * Durations become steps by truncation of duration / tick in floating point (20.2 s / 0.1 s = 201),
 * as the original does, or to the nearest.
 */
#include "sim/pipeline/flow.h"

#include <math.h>

static int64_t ticks_of(const struct sim_pipeline *spec, double seconds)
{
    const double ratio = seconds / ((double)spec->tick_ns / 1e9);
    return (int64_t)(spec->tick_rounding == SIM_TICK_NEAREST ? round(ratio) : ratio);
}

/* Plans a sweep at `at_ns`, once. Sweeps planned later for the same step are dropped on arrival. */
static void plan_sweep(struct sim_pipeline_run *run, int64_t at_ns)
{
    (void)sim_pipeline_schedule(run, at_ns, SIM_PIPELINE_SWEEP, SIM_PHASE_COMPLETION);
}

static weir_status begin(struct sim_stage_run *stage, struct sim_hand *hand, double seconds)
{
    struct sim_pipeline_run *run = stage->pipeline;
    const int64_t tick_ns = run->spec->tick_ns;
    const int64_t now_ns = sim_engine_now(run->context->engine);
    const int64_t ticks = ticks_of(run->spec, seconds);
    hand->service_ns = ticks * tick_ns;
    plan_sweep(run, now_ns + (ticks > 1 ? ticks : 1) * tick_ns);
    return WEIR_OK;
}

/* The original knows no contention that changes: the start finds it. */
static weir_status begin_service(struct sim_stage_run *stage, struct sim_hand *hand, double work_s)
{
    const struct sim_workers *workers = stage->pipeline->config.workers;
    return begin(stage, hand, work_s * sim_worker_slowdown(workers, hand->worker));
}

static int64_t due_ns(const struct sim_hand *hand)
{
    return (hand->worker->state == SIM_WORKER_SETUP ? hand->worker->created_ns
                                                    : hand->task_start_ns) +
           hand->service_ns;
}

static weir_status end_due(struct sim_stage_run *stage, uint32_t state, int64_t now_ns)
{
    for (uint32_t i = 0; i < stage->positions; i++) {
        struct sim_hand *hand = stage->hands[i];
        bool ignored = false;
        if (hand == NULL || hand->worker->state != state || due_ns(hand) > now_ns)
            continue;
        if (state == SIM_WORKER_SETUP)
            WEIR_TRY(sim_stage_ready(stage, hand, &ignored));
        else
            WEIR_TRY(sim_stage_finish(stage, hand, &ignored));
    }
    return WEIR_OK;
}

static weir_status sweep(struct sim_pipeline_run *run)
{
    const int64_t now_ns = sim_engine_now(run->context->engine);
    bool has_started = false;
    if (run->sweep_ns == now_ns)
        return WEIR_OK;
    run->sweep_ns = now_ns;
    for (uint32_t s = 0; s < run->stage_count; s++) {
        struct sim_stage_run *stage = &run->stages[s];
        if (stage->count[SIM_WORKER_SETUP] > 0)
            WEIR_TRY(end_due(stage, SIM_WORKER_SETUP, now_ns));
        if (stage->count[SIM_WORKER_BUSY] > 0)
            WEIR_TRY(end_due(stage, SIM_WORKER_BUSY, now_ns));
        while (sim_stage_can_start(stage)) {
            WEIR_TRY(sim_stage_start(stage, sim_stage_pick_idle(stage)));
            has_started = true;
        }
        sim_stage_note_backpressure(stage);
    }
    if (has_started)
        plan_sweep(run, now_ns + run->spec->tick_ns);
    return WEIR_OK;
}

static weir_status next_tick(struct sim_pipeline_run *run)
{
    const int64_t tick_ns = run->spec->tick_ns;
    const int64_t now_ns = sim_engine_now(run->context->engine);
    plan_sweep(run, (now_ns / tick_ns + 1) * tick_ns);
    return WEIR_OK;
}

static weir_status changed(struct sim_pipeline_run *run, uint32_t position)
{
    (void)position;
    return next_tick(run);
}

/* The original's clock is a double, the number of the step times its length, and it measures a task
 * by a difference of two: 0.1 s is 0.09999999999999432 s at 50 s. Its decisions depend on that. */
static double duration_s(const struct sim_pipeline_run *run, int64_t start_ns, int64_t end_ns)
{
    const int64_t tick_ns = run->spec->tick_ns;
    const double tick_s = (double)tick_ns / 1e9;
    const int64_t start_tick = start_ns / tick_ns;
    const int64_t end_tick = end_ns / tick_ns;
    return (double)end_tick * tick_s - (double)start_tick * tick_s;
}

/* The original reports one step after the last completion. */
static int64_t completed_ns(const struct sim_pipeline_run *run, int64_t last_ns)
{
    return last_ns + run->spec->tick_ns;
}

const struct sim_flow sim_flow_tick = { .name = "tick",
                                        .begin_setup = begin,
                                        .begin_service = begin_service,
                                        .changed = changed,
                                        .rescaled = next_tick,
                                        .sweep = sweep,
                                        .duration_s = duration_s,
                                        .completed_ns = completed_ns };
