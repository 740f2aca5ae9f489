/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which part of its time each job should have on each type of device, so that the job that is worst
 * off is as well off as can be (max-min), and then the next ones (Narayanan et al., "Gavel", OSDI
 * 2020).
 *
 * How well off: effective throughput, sum over types of throughput x share, over what it would have
 * with its time divided over the types as their devices are; over its weight, times the devices it
 * takes. The levels rise
 * together (water-filling): a job that cannot rise while the others are held is frozen where it is.
 */
#ifndef SCHED_SOLVE_TYPE_SHARES_H
#define SCHED_SOLVE_TYPE_SHARES_H

#include "sched/solve/program.h"

#include <stdbool.h>

struct weir_type_job {
    double devices; /* that it takes at once */
    double weight;
    uint32_t entity; /* whose it is; their weights are in the problem */
    /* FINISH_TIME, MAKESPAN: work that is left, in units of throughput x s; its time so far; and
     * all its work. */
    double left, spent_s, total;
};

enum weir_type_goal {
    WEIR_TYPE_MAX_MIN,
    /* The largest of (spent + left / eff) / (total / equal part) is least: time over that alone on
     * an equal part of every type. */
    WEIR_TYPE_FINISH_TIME,
    WEIR_TYPE_MAKESPAN /* the time until all are done is least */
};

/* Of the weight of an entity: all its jobs by their weights, or the first that is not frozen. */
enum weir_type_hierarchy { WEIR_TYPE_FLAT, WEIR_TYPE_FAIR, WEIR_TYPE_FIRST };

struct weir_type_problem {
    uint32_t jobs, types;
    const struct weir_type_job *job;
    const double *throughput; /* jobs x types */
    const double *supply;     /* devices by type */
    bool is_filled;           /* levels rise after the first; else the first is all that is asked */
    uint32_t goal;            /* enum weir_type_goal; levels rise for MAX_MIN alone */
    uint32_t hierarchy;       /* enum weir_type_hierarchy */
    const double *entities;   /* weights, by entity */
};

/* `share`: jobs x types. `level`: by job, what it came to (of MAKESPAN 1 / the time, of FINISH_TIME
 * the worst ratio); may be NULL. Errors: as of a programme. */
weir_status weir_type_shares(struct weir_program *program, const struct weir_type_problem *problem,
                             double *share, double *level);

#endif
