/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The event flow rule: whatever becomes possible at an instant happens at it.
 *
 * A change at stage i can let i+1 start (input), i start (worker, room), and then, room freed by
 * every start moving upstream, i-1, i-2 ... start. Starts of different stages never disable one
 * another, so the order in which one instant is worked through does not change the outcome.
 */
#include "sim/pipeline/batching.h"
#include "sim/pipeline/flow.h"

static weir_status begin_setup(struct sim_stage_run *stage, struct sim_hand *hand, double setup_s)
{
    sim_worker_set_up(stage->pipeline->config.workers, hand->worker, sim_time_from_s(setup_s));
    return WEIR_OK;
}

static weir_status start_all(struct sim_stage_run *stage, bool *has_started)
{
    if (sim_stage_batches(stage))
        return sim_batching_settle(stage, has_started);
    while (sim_stage_can_start(stage)) {
        WEIR_TRY(sim_stage_start(stage, sim_stage_pick_idle(stage)));
        *has_started = true;
    }
    return WEIR_OK;
}

/* One stage and its successor until nothing moves between them. */
static weir_status settle_pair(struct sim_pipeline_run *run, uint32_t position,
                               bool *has_progressed)
{
    struct sim_stage_run *stage = &run->stages[position];
    bool moves = true;
    while (moves) {
        moves = false;
        WEIR_TRY(start_all(stage, &moves));
        if (stage->blocked_count > 0 && sim_stage_unblock(stage)) {
            moves = true;
            WEIR_TRY(start_all(stage + 1, &moves));
        }
        *has_progressed = *has_progressed || moves;
    }
    sim_stage_note_backpressure(stage);
    return WEIR_OK;
}

/* From `from` upstream; stops above `must_reach` once nothing moved. */
static weir_status settle(struct sim_pipeline_run *run, uint32_t from, uint32_t must_reach)
{
    for (uint32_t i = from + 1; i-- > 0;) {
        bool has_progressed = false;
        WEIR_TRY(settle_pair(run, i, &has_progressed));
        if (!has_progressed && i <= must_reach)
            break;
    }
    return WEIR_OK;
}

static weir_status rescaled(struct sim_pipeline_run *run)
{
    return settle(run, run->stage_count - 1, 0);
}

static weir_status changed(struct sim_pipeline_run *run, uint32_t position)
{
    /* The end of the input lets a short last batch go, anywhere down the line. */
    if (run->has_batches && sim_source_is_dry(run))
        return rescaled(run);
    const uint32_t next = position + 1 < run->stage_count ? position + 1 : position;
    /* The stage itself may be blocked by what its successor took, so go one further up always. */
    return settle(run, next, position == 0 ? 0 : position - 1);
}

static int64_t completed_ns(const struct sim_pipeline_run *run, int64_t last_ns)
{
    (void)run;
    return last_ns;
}

const struct sim_flow sim_flow_event = { .name = "event",
                                         .begin_setup = begin_setup,
                                         .begin_service = sim_stage_begin_task,
                                         .changed = changed,
                                         .rescaled = rescaled,
                                         .completed_ns = completed_ns };
