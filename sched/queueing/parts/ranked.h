/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pass that ranks all jobs, those that run and those that wait, and lets the first of them run:
 * what shortest remaining time, least attained service and Gittins index have in common.
 *
 * Jobs are taken in the order of their ranks, the smallest first; each runs when it fits beside
 * those before it, others are skipped. Of equal rank who was submitted first goes first. So a job
 * that waits takes the places of jobs that rank behind it, the last first, and gives those back
 * that it turns out not to need, the best first: where places are alike this is exactly the greedy
 * choice.
 *
 * Cost of a pass: O(running), with victims O(running log running), and for each job that starts or
 * kind that finds no place that of its placement; with victims times the ranks that are lifted to
 * try.
 */
#ifndef SCHED_QUEUEING_RANKED_H
#define SCHED_QUEUEING_RANKED_H

#include "sched/queueing/parts/walk.h"

/* A job that runs and may have to go. */
struct weir_ranked_job {
    double rank;
    int64_t since_ns; /* of those of one rank the least is first, then the least turn */
    double turn;
    uint32_t workload;
    uint32_t is_lifted;
    uint64_t id;
    int64_t submit_ns;
    int64_t gpu_units, cpu_units; /* of all its ranks */
    int64_t start_ns, attained_ns;
    double gpus; /* weir_ranked_gpus */
};

struct weir_ranked {
    struct weir_allocator allocator;
    struct weir_walk walk;
    struct weir_ranked_job *running; /* while a pass goes on; sorted: the worst first */
    uint32_t count, capacity, is_sorted;
    struct weir_ranked_job *gone; /* those preempted in the last pass */
    uint32_t gone_count, gone_capacity;
    /* The rank of a job that runs, as `key` has that of one that waits; asked once a pass. */
    double (*rank)(void *state, const struct weir_job *job, int64_t now_ns);
    /* Says since when and in which turn one runs, when somebody is to go. NULL = all alike. */
    void (*turn)(const void *state, struct weir_ranked_job *job);
    /* Called for each job that starts. NULL = nobody asks. */
    void (*starts)(void *state, const struct weir_job *job, int64_t now_ns);
    void *state;
};

void weir_ranked_open(struct weir_ranked *ranked, const struct weir_allocator *allocator);
void weir_ranked_close(struct weir_ranked *ranked);
weir_status weir_ranked_pass(struct weir_ranked *ranked, const struct weir_view *view,
                             struct weir_placer *placer, struct weir_error *error);

/* The worst first. */
void weir_ranked_sort(struct weir_ranked_job *jobs, uint32_t count);

/* What all ranks of a job ask for. */
struct weir_amounts weir_ranked_need(const struct weir_job *job);
/* Its GPUs, ranks without any as one each: what attained service counts. */
double weir_ranked_gpus(const struct weir_job *job);
/* Its GPUs, ranks without any as one each; of a job that asks for no GPU at all its CPUs. */
double weir_ranked_processors(const struct weir_job *job);

#endif
