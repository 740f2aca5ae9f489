/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The insides of a static experiment, for lab.c, lab_run.c and defrag.c alone: belief, truth and
 * the measurements change together, by putting a job somewhere and taking it away.
 *
 * A place is an allocation as the belief names it: its node is the rank. Member m of arrival i is
 * the worker sim_lab_worker(i, m).
 */
#ifndef SIM_LAB_LAB_STATE_H
#define SIM_LAB_LAB_STATE_H

#include "sim/lab/job_placer.h"
#include "sim/lab/lab.h"
#include "workloads/openb.h"

/* What was when all GPUs had been asked for; questions about it wait until the jobs are through. */
struct full {
    struct sim_cluster cluster; /* nodes NULL = not yet */
    uint64_t *arrived, *refused;
    double arrived_milli, used_milli;
};

struct sim_lab {
    const struct sim_scenario *scenario;
    struct sim_run_options options;
    const struct sim_workload *workload;
    struct wl_openb_order order;
    struct sim_target target;
    struct sim_cluster *truth;
    struct weir_cluster *belief;
    struct sim_job_placer *placer;
    uint32_t members_max; /* of a job of the workload */
    uint32_t *node_at;    /* by rank */
    struct sim_measures measures;
    struct sim_lab_demand demand;
    struct sim_lab_counts counts;
    struct sim_arrival_curve curve;
    uint64_t digest;
    struct sim_lease *leases; /* of the members of one job */
    struct sim_claim *claims; /* of the leases */
    struct sim_part *parts;   /* of the claims */
    struct full full;
};

static inline double sim_lab_gpu_milli(const struct weir_shape *shape)
{
    return (double)(shape->gpu_units * shape->gpu_count) / (double)(WEIR_ONE / 1000);
}

const struct weir_shape *sim_lab_shape(const struct sim_lab *lab, uint64_t arrival);

/* Its id in the belief. */
uint64_t sim_lab_worker(const struct sim_lab *lab, uint64_t arrival, uint32_t member);

/* Puts a job of one member on a place; not placed when the truth refuses. */
weir_status sim_lab_put(struct sim_lab *lab, uint64_t arrival, const struct weir_alloc *place,
                        bool *is_placed, struct weir_error *error);
/* Takes a placed job of one member away; `place` receives where it was. */
weir_status sim_lab_take(struct sim_lab *lab, uint64_t arrival, struct weir_alloc *place,
                         struct weir_error *error);

struct sim_lab_answer {
    bool is_placed, is_infeasible;
};
/* Lets the policy choose places for all members of a job (sim_job_placer_alloc) and puts it there;
 * `draw` names its random choice. */
weir_status sim_lab_place(struct sim_lab *lab, uint64_t arrival, uint64_t draw,
                          struct sim_lab_answer *answer, struct weir_error *error);

#endif
