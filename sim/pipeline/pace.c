/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tasks in time: each is one activity.
 *
 * The work of a task is what it takes alone on its device, more of it where the stage is slow when
 * it starts; how fast it goes on is the worker's business, but it stands still while the stage is
 * stalled. A pause before an attempt is time, not work: nothing makes it longer.
 */
#include "sim/pipeline/flow.h"
#include "sim/pipeline/pipeline.h"

static uint64_t owner_of(const struct sim_pipeline_run *run, const struct sim_hand *hand)
{
    return sim_work_owner(run->config.index, hand->slot);
}

static weir_status pause(struct sim_stage_run *stage, struct sim_hand *hand)
{
    const struct sim_pipeline_run *run = stage->pipeline;
    const struct sim_activity_spec spec = { .work = sim_work_of_ns(hand->pause_ns, SIM_DEVICE_QPNS),
                                            .cap_qpns = SIM_DEVICE_QPNS,
                                            .owner = owner_of(run, hand),
                                            .weight = 1 };
    return sim_activity_start(run->context->activities, &spec, &hand->run, run->context->error);
}

static weir_status begin(struct sim_stage_run *stage, struct sim_hand *hand)
{
    const struct sim_pipeline_run *run = stage->pipeline;
    WEIR_TRY(sim_worker_begin(run->config.workers, hand->worker, hand->service_ns, 1.0,
                              owner_of(run, hand), &hand->run));
    return stage->stalled == 0 ? WEIR_OK : sim_stage_task_paced(stage, hand);
}

weir_status sim_stage_begin_task(struct sim_stage_run *stage, struct sim_hand *hand, double work_s)
{
    hand->service_ns = sim_time_from_s(work_s);
    hand->is_pausing = hand->pause_ns > 0;
    return hand->is_pausing ? pause(stage, hand) : begin(stage, hand);
}

weir_status sim_stage_task_worked(struct sim_stage_run *stage, struct sim_hand *hand)
{
    bool ignored = false;
    hand->run = SIM_NO_HANDLE;
    if (hand->is_pausing) {
        hand->is_pausing = false;
        return begin(stage, hand);
    }
    WEIR_TRY(sim_stage_finish(stage, hand, &ignored));
    return stage->pipeline->flow->changed(stage->pipeline, stage->position);
}

void sim_stage_drop_task(const struct sim_stage_run *stage, struct sim_hand *hand)
{
    (void)sim_activity_stop(stage->pipeline->context->activities, hand->run, NULL);
    hand->run = SIM_NO_HANDLE;
}

weir_status sim_stage_task_paced(const struct sim_stage_run *stage, const struct sim_hand *hand)
{
    if (hand->run == SIM_NO_HANDLE || hand->is_pausing)
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
