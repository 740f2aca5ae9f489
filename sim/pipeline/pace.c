/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tasks in time: each is one activity, and before and behind it those that move its bytes.
 *
 * The work of a task is what it takes alone on its device, more of it where the stage is slow when
 * it starts; how fast it goes on is the worker's business, but it stands still while the stage is
 * stalled. A pause before an attempt is time, not work: nothing makes it longer.
 */
#include "sim/pipeline/flow.h"
#include "sim/pipeline/pipeline.h"
#include "sim/pipeline/transfer.h"

static uint64_t owner_of(const struct sim_pipeline_run *run, const struct sim_hand *hand)
{
    return sim_work_owner(run->config.index, hand->slot);
}

static weir_status pause(struct sim_stage_run *stage, struct sim_hand *hand)
{
    const struct sim_pipeline_run *run = stage->pipeline;
    hand->phase = SIM_TASK_PAUSE;
    const struct sim_activity_spec spec = { .work = sim_work_of_ns(sim_hand_pause_ns(hand),
                                                                   SIM_DEVICE_QPNS),
                                            .cap_qpns = SIM_DEVICE_QPNS,
                                            .owner = owner_of(run, hand),
                                            .weight = 1 };
    return sim_activity_start(run->context->activities, &spec, &hand->run, run->context->error);
}

static weir_status work(struct sim_stage_run *stage, struct sim_hand *hand)
{
    const struct sim_pipeline_run *run = stage->pipeline;
    hand->phase = SIM_TASK_WORK;
    WEIR_TRY(sim_worker_begin(run->config.workers, hand->worker, hand->service_ns, 1.0,
                              owner_of(run, hand), &hand->run));
    return stage->stalled == 0 ? WEIR_OK : sim_stage_task_paced(stage, hand);
}

static weir_status finish(struct sim_stage_run *stage, struct sim_hand *hand)
{
    bool ignored = false;
    hand->phase = SIM_TASK_WORK;
    WEIR_TRY(sim_stage_finish(stage, hand, &ignored));
    return stage->pipeline->flow->changed(stage->pipeline, stage->position);
}

/* A fetch or a write goes on, or what comes after it begins. */
static weir_status after_move(struct sim_stage_run *stage, struct sim_hand *hand)
{
    const struct sim_move *move = sim_hand_move(stage->pipeline, hand);
    hand->run = move->work;
    sim_worker_rest(stage->pipeline->config.workers, hand->worker, sim_move_is_under_way(move));
    if (sim_move_is_under_way(move))
        return WEIR_OK;
    return hand->phase == SIM_TASK_FETCH ? work(stage, hand) : finish(stage, hand);
}

static weir_status fetch(struct sim_stage_run *stage, struct sim_hand *hand)
{
    if (!stage->pipeline->moves_bytes)
        return work(stage, hand);
    hand->phase = SIM_TASK_FETCH;
    sim_hand_move(stage->pipeline, hand)->work = SIM_NO_HANDLE;
    WEIR_TRY(sim_transfer_fetch(stage, hand));
    return after_move(stage, hand);
}

static weir_status store(struct sim_stage_run *stage, struct sim_hand *hand)
{
    if (!stage->pipeline->moves_bytes)
        return finish(stage, hand);
    hand->phase = SIM_TASK_STORE;
    WEIR_TRY(sim_transfer_store(stage, hand));
    return after_move(stage, hand);
}

weir_status sim_stage_begin_task(struct sim_stage_run *stage, struct sim_hand *hand, double work_s)
{
    hand->service_ns = sim_time_from_s(work_s);
    return hand->pause_s > 0 ? pause(stage, hand) : fetch(stage, hand);
}

weir_status sim_stage_task_worked(struct sim_stage_run *stage, struct sim_hand *hand)
{
    hand->run = SIM_NO_HANDLE;
    switch ((enum sim_task_phase)hand->phase) {
    case SIM_TASK_PAUSE:
        return fetch(stage, hand);
    case SIM_TASK_FETCH:
        WEIR_TRY(sim_transfer_fetched(stage, hand));
        return after_move(stage, hand);
    case SIM_TASK_WORK:
        return store(stage, hand);
    case SIM_TASK_STORE:
        WEIR_TRY(sim_move_worked(stage->pipeline->context, sim_hand_move(stage->pipeline, hand)));
        return after_move(stage, hand);
    }
    return WEIR_EINVARIANT;
}

weir_status sim_stage_drop_task(const struct sim_stage_run *stage, struct sim_hand *hand)
{
    const struct sim_context *context = stage->pipeline->context;
    const bool is_moving = hand->phase == SIM_TASK_FETCH || hand->phase == SIM_TASK_STORE;
    struct sim_move *move = is_moving ? sim_hand_move(stage->pipeline, hand) : NULL;
    if (hand->phase == SIM_TASK_STORE && sim_move_is_under_way(move))
        stage->pipeline->written_bytes -= move->bytes;
    if (is_moving)
        WEIR_TRY(sim_move_drop(context, move));
    else
        (void)sim_activity_stop(context->activities, hand->run, NULL);
    hand->run = SIM_NO_HANDLE;
    hand->phase = SIM_TASK_WORK;
    return WEIR_OK;
}

weir_status sim_stage_task_paced(const struct sim_stage_run *stage, const struct sim_hand *hand)
{
    if (hand->run == SIM_NO_HANDLE || hand->phase != SIM_TASK_WORK)
        return WEIR_OK;
    return sim_worker_pace(stage->pipeline->config.workers, hand->worker, hand->run,
                           stage->stalled > 0 ? 0 : 1);
}

weir_status sim_stage_paced(const struct sim_stage_run *stage)
{
    for (uint32_t i = 0; i < stage->positions; i++)
        if (stage->hands[i] != NULL)
            WEIR_TRY(sim_stage_task_paced(stage, stage->hands[i]));
    return WEIR_OK;
}
