/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Flow rules: when a finished item, a free worker or freed room is noticed.
 *
 * `event`  at once: whatever becomes possible at an instant happens at it.
 * `tick`   as the original simulator: time moves in steps, stages are swept in ascending order, and
 *          room freed in stage i by stage i+1 is seen by stage i one step later. Only steps at
 * which something can happen are processed; the result is the same to the digit.
 * `reservation` as event, with stages that compete for a budget of memory: flow_reservation.c.
 * `runtime` as a main loop of so many turns a second over pools of workers: see flow_runtime.c.
 */
#ifndef SIM_PIPELINE_FLOW_H
#define SIM_PIPELINE_FLOW_H

#include "sim/pipeline/pipeline.h"

struct sim_flow {
    const char *name;
    /* A new worker needs `setup_s` seconds before it is ready. */
    weir_status (*begin_setup)(struct sim_stage_run *stage, struct sim_hand *hand, double setup_s);
    /* A task started whose work is `work_s` seconds. */
    weir_status (*begin_service)(struct sim_stage_run *stage, struct sim_hand *hand, double work_s);
    /* Input, room or a worker of the stage at `position` may have become free. */
    weir_status (*changed)(struct sim_pipeline_run *run, uint32_t position);
    /* Workers came or went. */
    weir_status (*rescaled)(struct sim_pipeline_run *run);
    /* tick only: one sweep. */
    weir_status (*sweep)(struct sim_pipeline_run *run);
    /* runtime only: takes the output of a finished task over (NULL = handed on at once). */
    weir_status (*deliver)(struct sim_stage_run *stage, struct sim_queue *output);
    /* runtime only: a task is over and the worker idle. */
    weir_status (*idled)(struct sim_stage_run *stage, struct sim_hand *hand);
    /* runtime only: takes back what a worker that goes has in hand. */
    void (*release)(struct sim_stage_run *stage, struct sim_hand *hand);
    /* tick only: how long a task took by the clock of this rule (NULL = as it was). */
    double (*duration_s)(const struct sim_pipeline_run *run, int64_t start_ns, int64_t end_ns);
    /* When the last item left, as this rule reports it. */
    int64_t (*completed_ns)(const struct sim_pipeline_run *run, int64_t last_ns);
};

extern const struct sim_flow sim_flow_event;
extern const struct sim_flow sim_flow_tick;
extern const struct sim_flow sim_flow_runtime;
extern const struct sim_flow sim_flow_reservation;

#endif
