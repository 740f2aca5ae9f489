/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tasks in time: each is one activity, as fast as its stage and the devices of its worker let it.
 *
 * The work of a task is what it takes alone on its device, more of it where the stage is slow when
 * it starts; its rate is one over the slow-down of the worker, which it follows, and 0 while the
 * stage is stalled. With contention: at_start the slow-down of the start is part of the work and the
 * rate stays. A pause before an attempt is time, not work: nothing makes it longer.
 */
#include "sim/pipeline/flow.h"
#include "sim/pipeline/pipeline.h"

static bool is_paced_at_start(const struct sim_pipeline_run *run)
{
    return run->context->scenario->contention == SIM_CONTENTION_AT_START;
}

static double slowdown_of(const struct sim_stage_run *stage, const struct sim_hand *hand)
{
    return sim_worker_slowdown(stage->pipeline->config.workers, hand->worker);
}

double sim_stage_work_s(const struct sim_stage_run *stage, const struct sim_hand *hand,
                        double alone_s)
{
    const double slow = is_paced_at_start(stage->pipeline) ? slowdown_of(stage, hand) : 1.0;
    return alone_s * (stage->slow * slow);
}

static uint64_t rate_of(const struct sim_stage_run *stage, const struct sim_hand *hand)
{
    if (hand->is_pausing)
        return SIM_DEVICE_QPNS;
    if (stage->stalled > 0)
        return 0;
    return is_paced_at_start(stage->pipeline) ? SIM_DEVICE_QPNS
                                              : sim_rate_at(1.0 / slowdown_of(stage, hand));
}

static weir_status begin(struct sim_stage_run *stage, struct sim_hand *hand, int64_t alone_ns)
{
    const struct sim_pipeline_run *run = stage->pipeline;
    const struct sim_activity_spec spec = { .work = sim_work_of_ns(alone_ns, SIM_DEVICE_QPNS),
                                            .cap_qpns = rate_of(stage, hand),
                                            .owner = sim_work_owner(run->config.index, hand->slot),
                                            .weight = 1 };
    return sim_activity_start(run->context->activities, &spec, &hand->run, run->context->error);
}

weir_status sim_stage_begin_task(struct sim_stage_run *stage, struct sim_hand *hand, double work_s)
{
    hand->service_ns = sim_time_from_s(work_s);
    hand->is_pausing = hand->pause_ns > 0;
    return begin(stage, hand, hand->is_pausing ? hand->pause_ns : hand->service_ns);
}

weir_status sim_stage_task_worked(struct sim_stage_run *stage, struct sim_hand *hand)
{
    bool ignored = false;
    hand->run = SIM_NO_HANDLE;
    if (hand->is_pausing) {
        hand->is_pausing = false;
        return begin(stage, hand, hand->service_ns);
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
    return hand->run == SIM_NO_HANDLE ? WEIR_OK
                                      : sim_activity_set(stage->pipeline->context->activities,
                                                         hand->run, 1, rate_of(stage, hand));
}

weir_status sim_stage_paced(const struct sim_stage_run *stage)
{
    for (uint32_t i = 0; i < stage->positions; i++)
        if (stage->hands[i] != NULL)
            WEIR_TRY(sim_stage_task_paced(stage, stage->hands[i]));
    return WEIR_OK;
}
