/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The flow rule of an executor that budgets memory by operators, as Ray Data does: `semantics:
 * event` with `backpressure: reservation`.
 *
 * Half of the cluster's object store is the budget. A share of it is reserved, the same for every
 * stage: half of that for tasks, half for outputs; the rest is shared. A stage uses what its
 * running tasks will give (as many bytes as its tasks gave on average so far) and what its outputs
 * take beyond their reservation; outputs are in the store until the next stage's task is over. What
 * a stage uses beyond its reservation comes from the shared part, what is left of that is split
 * between all. Besides, a stage stops while more than `ratio` times the bytes the next stage's
 * tasks have in hand wait behind it.
 *
 * Unlike under the other rules a start takes room from other stages, so the order matters: of the
 * stages that may start a task the one with the least output waiting goes first. When nothing runs
 * and nothing may start, the budget is disregarded for one task: else a task larger than the budget
 * would stop everything for good.
 */
#include "sim/engine/apart.h"
#include "sim/pipeline/flow.h"
#include "sim/pipeline/pipeline.h"
#include "sim/pipeline/reservation.h"

#include <math.h>

static const double budget_of_store = 0.5; /* the rest is left to the heap of the workers */
static const double for_outputs = 0.5;     /* of what is reserved for a stage */

/* Waiting behind the stage, not yet taken by a task. */
static double waiting_bytes(const struct sim_stage_run *stage)
{
    const bool is_last = stage->position + 1 == stage->pipeline->stage_count;
    return is_last ? 0.0 : stage[1].queue.bytes;
}

static double taken_bytes(const struct sim_stage_run *stage)
{
    const bool is_last = stage->position + 1 == stage->pipeline->stage_count;
    return is_last || stage[1].count[SIM_WORKER_BUSY] == 0 ? 0.0 : stage[1].bytes_in_hand;
}

static double bytes_per_task(const struct sim_stage_run *stage)
{
    return stage->tasks_done == 0 ? 0.0 : stage->bytes_made / (double)stage->tasks_done;
}

static double reserved_bytes(const struct sim_pipeline_run *run)
{
    return run->spec->reserved * run->budget_bytes / run->stage_count;
}

/* Without the part of the outputs that has a reservation of its own. */
static double used_bytes(const struct sim_stage_run *stage)
{
    const double outputs = waiting_bytes(stage) + taken_bytes(stage);
    const double reserved = for_outputs * reserved_bytes(stage->pipeline);
    return stage->count[SIM_WORKER_BUSY] * bytes_per_task(stage) + fmax(outputs - reserved, 0.0);
}

static double own_bytes_left(const struct sim_stage_run *stage)
{
    return (1.0 - for_outputs) * reserved_bytes(stage->pipeline) - used_bytes(stage);
}

static double shared_bytes_left(const struct sim_pipeline_run *run)
{
    double left = (1.0 - run->spec->reserved) * run->budget_bytes;
    for (uint32_t i = 0; i < run->stage_count; i++)
        left += fmin(own_bytes_left(&run->stages[i]), 0.0);
    return fmax(left, 0.0);
}

static double reservation_left(const struct sim_stage_run *stage)
{
    const struct sim_pipeline_run *run = stage->pipeline;
    double shared = shared_bytes_left(run);
    /* From the last stage upstream, so that what is near the end gets enough for a task first. */
    for (uint32_t i = run->stage_count; i-- > stage->position;) {
        const struct sim_stage_run *other = &run->stages[i];
        const double own = fmax(own_bytes_left(other), 0.0);
        double part = shared / (i + 1);
        const double missing = bytes_per_task(other) - (own + part);
        if (missing > 0 && part + missing <= shared)
            part += missing;
        if (i == stage->position)
            return own + part;
        shared -= part;
    }
    return 0.0;
}

SIM_APART bool sim_reservation_has_room(const struct sim_stage_run *stage)
{
    const double taken = taken_bytes(stage);
    if (taken > 0 && waiting_bytes(stage) > stage->pipeline->spec->downstream_ratio * taken)
        return false;
    return bytes_per_task(stage) <= reservation_left(stage);
}

/* Nodes come and go; the executor looks at them only so often. */
static void refresh_budget(struct sim_pipeline_run *run)
{
    const struct sim_driver_config *config = &run->config;
    const int64_t now_ns = sim_engine_now(run->context->engine);
    if (run->budget_due_ns > now_ns)
        return;
    run->budget_bytes =
        budget_of_store * run->spec->store_of_ram * config->services->ram_up_bytes(config->world);
    run->budget_due_ns = now_ns + run->spec->budget_refresh_ns;
}

static bool runs_nothing(const struct sim_pipeline_run *run)
{
    for (uint32_t i = 0; i < run->stage_count; i++) {
        const struct sim_stage_run *stage = &run->stages[i];
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a pipeline has its stages */
        if (stage->count[SIM_WORKER_BUSY] > 0)
            return false;
    }
    return true;
}

/* NULL = none; ties go to the earlier stage. */
static struct sim_stage_run *least_output(struct sim_pipeline_run *run, bool is_forced)
{
    struct sim_stage_run *best = NULL;
    for (uint32_t i = 0; i < run->stage_count; i++) {
        struct sim_stage_run *stage = &run->stages[i];
        if (is_forced ? !sim_stage_has_task(stage) : !sim_stage_can_start(stage))
            continue;
        if (best == NULL || waiting_bytes(stage) < waiting_bytes(best))
            best = stage;
    }
    return best;
}

static weir_status settle(struct sim_pipeline_run *run)
{
    refresh_budget(run);
    for (;;) {
        struct sim_stage_run *stage = least_output(run, false);
        if (stage == NULL && runs_nothing(run))
            stage = least_output(run, true);
        if (stage == NULL)
            break;
        WEIR_TRY(sim_stage_start(stage, sim_stage_pick_idle(stage)));
    }
    for (uint32_t i = 0; i < run->stage_count; i++)
        sim_stage_note_backpressure(&run->stages[i]);
    return WEIR_OK;
}

static weir_status changed(struct sim_pipeline_run *run, uint32_t position)
{
    (void)position; /* room freed here may be room for any other stage */
    return settle(run);
}

static weir_status begin_setup(struct sim_stage_run *stage, struct sim_hand *hand, double setup_s)
{
    return sim_flow_event.begin_setup(stage, hand, setup_s);
}

static int64_t completed_ns(const struct sim_pipeline_run *run, int64_t last_ns)
{
    return sim_flow_event.completed_ns(run, last_ns);
}

const struct sim_flow sim_flow_reservation = { .name = "reservation",
                                               .begin_setup = begin_setup,
                                               .begin_service = sim_stage_begin_task,
                                               .changed = changed,
                                               .rescaled = settle,
                                               .completed_ns = completed_ns };
