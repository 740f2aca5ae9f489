/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The static experiment: jobs arrive in a given order, each is placed at once or refused, none
 * ends. There is no clock; the axis is the GPU demand that arrived.
 *
 * Belief and truth are kept apart as everywhere: the placement policy sees libweir's inventory, in
 * which nodes stand in the order of their ranks; a placed job must then be admitted by the physical
 * cluster, and everything that is measured is measured there.
 */
#ifndef SIM_LAB_LAB_H
#define SIM_LAB_LAB_H

#include "sim/lab/alloc_bound.h"
#include "sim/lab/arrival_curve.h"
#include "sim/lab/unallocated.h"
#include "sim/record/run_options.h"
#include "sim/scenario/workload/target.h"

struct sim_lab_counts {
    uint64_t arrived, failed;
    uint64_t infeasible;                    /* of the failed: told to never fit */
    uint64_t *label_arrived, *label_failed; /* by the labels of the workload */
    double arrived_milli, used_milli;       /* GPU; whole but for MIG instances */
    int64_t cpu_units, ram_bytes;           /* allocated */
    double density_milli; /* GPU in use at the first refusal, -1 = nobody was refused */
};

/* Jobs by kind. */
struct sim_lab_demand {
    struct sim_job_kinds kinds;
    uint64_t *arrived, *refused;
};

struct sim_lab;

weir_status sim_lab_create(const struct sim_scenario *scenario,
                           const struct sim_run_options *options, struct sim_lab **lab,
                           struct weir_error *error);
void sim_lab_destroy(struct sim_lab *lab);

/* All of it: lets the jobs arrive, then asks the questions (bounds, causes, changes, moves). The
 * summary says how it ended; an interrupted experiment has results of what arrived. Changes the lab
 * for good. */
struct sim_run_summary;
struct sim_results;
weir_status sim_lab_run(struct sim_lab *lab, struct sim_run_summary *summary,
                        const struct sim_results *out);

/* Places are chosen elsewhere from now on (job_placer.h). */
struct sim_lab_elsewhere;
void sim_lab_turn(struct sim_lab *lab, const struct sim_lab_elsewhere *elsewhere);

/* copy.c: the other end, a copy of the lab that knows the belief alone and chooses. `open` takes
 * the placement policy that the scenario has by now. Rows are those of the workload; the places of
 * the last job that was chosen for are told by member. */
struct weir_alloc;
weir_status sim_lab_copy_open(struct sim_lab *lab, struct weir_error *error);
weir_status sim_lab_copy_choose(struct sim_lab *lab, uint64_t row, uint64_t seed,
                                struct weir_error *error);
uint32_t sim_lab_copy_members(const struct sim_lab *lab, uint64_t row);
const struct weir_alloc *sim_lab_copy_place(const struct sim_lab *lab, uint32_t member);
weir_status sim_lab_copy_put(struct sim_lab *lab, uint64_t worker, const struct weir_alloc *place,
                             struct weir_error *error);
weir_status sim_lab_copy_take(struct sim_lab *lab, uint64_t worker, struct weir_error *error);

/* Lets all jobs arrive. WEIR_EINTERRUPTED when it was stopped. */
weir_status sim_lab_arrive(struct sim_lab *lab, struct weir_error *error);

const struct sim_run_options *sim_lab_options(const struct sim_lab *lab);
const struct sim_scenario *sim_lab_scenario(const struct sim_lab *lab);
const struct sim_cluster *sim_lab_cluster(const struct sim_lab *lab);
const struct sim_workload *sim_lab_workload(const struct sim_lab *lab);
const struct sim_lab_counts *sim_lab_counts(const struct sim_lab *lab);
const struct sim_arrival_curve *sim_lab_curve(const struct sim_lab *lab);
const struct sim_target *sim_lab_target(const struct sim_lab *lab);
const struct sim_lab_demand *sim_lab_demand(const struct sim_lab *lab);
/* A state of the experiment: now, and as it was when as many GPUs had been asked for as there are
 * (cluster NULL = that never came). Borrowed from the lab. */
struct sim_lab_state {
    const struct sim_cluster *cluster;
    const uint64_t *arrived, *refused; /* jobs by kind */
    double arrived_milli, used_milli;
};
struct sim_lab_state sim_lab_now(const struct sim_lab *lab);
struct sim_lab_state sim_lab_full(const struct sim_lab *lab);
const struct sim_measures *sim_lab_measures(const struct sim_lab *lab);
/* F of the cluster now, in thousandths of a GPU. */
double sim_lab_frag_milli(const struct sim_lab *lab);
/* Of the sequence of placements. */
uint64_t sim_lab_digest(const struct sim_lab *lab);

/* spare.c: what lies idle, by cause, summed over the nodes. */
struct sim_frag;
weir_status sim_lab_spare(const struct sim_lab *lab, struct sim_frag *spare);

#endif
