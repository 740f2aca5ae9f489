/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a steady load of jobs can get at most, in the long run and whoever schedules.
 *
 * Jobs that ask for the same are a class; a_k is its offered load, rate x mean life at the fastest
 * GPUs it may get. On average y_k of them run at once. In the linear program of alloc_bound.h y_k
 * stands in the place of the jobs that arrived: means of what is on the nodes meet whatever the
 * nodes meet at each instant. y_k <= a_k always. Where jobs arrive by a Poisson process and one
 * that finds no place is gone, also y_k <= a_k (1 - B(c_k, a_k)): B is Erlang's formula and c_k the
 * jobs of the class that an empty cluster holds. For c_k places and nobody else no rule accepts
 * more than to take whoever fits, given the same lives in the order in which jobs are accepted: by
 * induction none is accepted later than under the other rule, so no place is free later. The
 * exception are rules that look at how long a job will run before they refuse it.
 *
 * As a reference, no bound: the loss in one pool of GPUs without nodes, CPUs or types that takes
 * whoever fits (Kaufman, IEEE Trans. Comm. 29, 1981; Roberts, 1981).
 *
 * Nothing is said where there is no steady mean (times of a trace, a limit of jobs, day and night,
 * a timeline, failures, drifts, means that are drawn, users who wait for their jobs, jobs that
 * follow others), where a job may hold less than it asks for or end before its time (elastic ones,
 * ranks that differ, kills at the estimate), and with GPUs that are cut anew.
 */
#ifndef SIM_LAB_LOAD_BOUND_H
#define SIM_LAB_LOAD_BOUND_H

#include "sim/cluster/cluster.h"

struct sim_bound_shelf;

struct sim_load_bound {
    bool is_loss;      /* who finds no place at once is gone; else jobs wait */
    double asked_gpus; /* that all jobs together would hold on average, at speed 1 */
    double most;       /* of the GPU time that is asked for; NAN = nothing is said */
    double one_pool;   /* the same in one pool; NAN where jobs wait */
};

/* Whether jobs that find no place at once are gone, and none is sent away for another: cheap. */
bool sim_load_is_loss(const struct sim_scenario *scenario);

/* Whether a bound leaves anything out, so that it is worth a word; NAN does not. */
static inline bool sim_load_bound_says(double most)
{
    return most < 0.9995;
}

/* `shelf` as in alloc_bound.h. Errors: WEIR_ENOMEM. */
weir_status sim_load_bound_compute(const struct sim_cluster *cluster, struct sim_bound_shelf *shelf,
                                   struct sim_load_bound *bound);

/* Share of the jobs that are lost with so many places. */
double sim_erlang_loss(uint64_t places, double load);

/* One size of jobs in one pool. */
struct sim_pool_class {
    int64_t size; /* of one job, and of the pool: in the same unit */
    double load;
    double loss; /* the answer */
};
/* Losses by class. Sizes are rounded down to 1 / 65 536 of the pool where that is coarser. Errors:
 * WEIR_ENOMEM. */
weir_status sim_pool_losses(int64_t pool, struct sim_pool_class *classes, size_t count);

#endif
