/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The static experiment: jobs arrive in a given order, each is placed at once or refused, none
 * ends. There is no clock; the axis is the GPU demand that arrived.
 *
 * Belief and truth are kept apart as everywhere: the placement policy sees libweir's inventory, in
 * which nodes stand in the order of their ranks; a placed job must then be admitted by the physical
 * cluster, and everything that is measured is measured there.
 */
#ifndef SIM_JOBS_STATIC_RUN_H
#define SIM_JOBS_STATIC_RUN_H

#include "sim/jobs/alloc_bound.h"
#include "sim/jobs/arrival_curve.h"
#include "sim/jobs/target.h"
#include "sim/jobs/unallocated.h"
#include "sim/world/world.h"

struct sim_static_counts {
    uint64_t arrived, failed;
    uint64_t infeasible;                    /* of the failed: told to never fit */
    uint64_t *label_arrived, *label_failed; /* by the labels of the workload */
    double arrived_milli, used_milli;       /* GPU; whole but for MIG instances */
    int64_t cpu_units, ram_bytes;           /* allocated */
    double density_milli; /* GPU in use at the first refusal, -1 = nobody was refused */
};

/* Jobs by kind. */
struct sim_static_demand {
    struct sim_job_kinds kinds;
    uint64_t *arrived, *refused;
};

struct sim_static_run;

weir_status sim_static_create(const struct sim_scenario *scenario,
                              const struct sim_run_options *options, struct sim_static_run **run,
                              struct weir_error *error);
void sim_static_destroy(struct sim_static_run *run);

/* Lets all jobs arrive. WEIR_EINTERRUPTED when it was stopped. */
weir_status sim_static_arrive(struct sim_static_run *run, struct weir_error *error);

const struct sim_scenario *sim_static_scenario(const struct sim_static_run *run);
const struct sim_cluster *sim_static_cluster(const struct sim_static_run *run);
const struct sim_workload *sim_static_workload(const struct sim_static_run *run);
const struct sim_static_counts *sim_static_counts(const struct sim_static_run *run);
const struct sim_arrival_curve *sim_static_curve(const struct sim_static_run *run);
const struct sim_target *sim_static_target(const struct sim_static_run *run);
const struct sim_static_demand *sim_static_demand(const struct sim_static_run *run);
/* A state of the experiment: now, and as it was when as many GPUs had been asked for as there are
 * (cluster NULL = that never came). Borrowed from the run. */
struct sim_static_state {
    const struct sim_cluster *cluster;
    const uint64_t *arrived, *refused; /* jobs by kind */
    double arrived_milli, used_milli;
};
struct sim_static_state sim_static_now(const struct sim_static_run *run);
struct sim_static_state sim_static_full(const struct sim_static_run *run);
const struct sim_measures *sim_static_measures(const struct sim_static_run *run);
/* F of the cluster now, in thousandths of a GPU. */
double sim_static_frag_milli(const struct sim_static_run *run);
/* Of the sequence of placements. */
uint64_t sim_static_digest(const struct sim_static_run *run);

/* static_spare.c: what lies idle, by cause, summed over the nodes. */
struct sim_frag;
weir_status sim_static_spare(const struct sim_static_run *run, struct sim_frag *spare);

/* static_results.c: the metrics of the end state, to the recorder (may be NULL) and the summary,
 * and the curve. */
struct sim_run_summary;
weir_status sim_static_results(const struct sim_static_run *run, struct sim_recorder *recorder,
                               struct sim_run_summary *summary, struct weir_error *error);

/* defrag_results.c: moves jobs as the workload says and puts down what that brings; nothing when it
 * says nothing. Changes the run, so it comes last. */
weir_status sim_static_defrag_results(struct sim_static_run *run, struct sim_recorder *recorder,
                                      struct sim_run_summary *summary, struct weir_error *error);

#endif
