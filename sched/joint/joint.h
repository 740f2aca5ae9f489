/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Policies that choose how many ranks a job has, and where, together with who runs.
 *
 * What differs between them is one function: of the jobs that are there and what is up, which has
 * how many ranks, on which type of GPU. All else is here: they are asked when jobs came or went,
 * when a round is over, or when they wanted to; who is to have other ranks than he has, or another
 * type, is preempted and starts anew with those; who waits starts when there is a place. So a
 * change costs a job what a restart costs, and what it has not saved. A job that finds no place for
 * so many ranks starts with half of them, if it may.
 *
 * Speeds: of its ranks (weir/speedup.h; a job without runs with its own number alone), times that
 * of the GPU type. Times of jobs are in seconds. Jobs without GPUs start when they fit. A job
 * without an estimate counts as a day long.
 */
#ifndef SCHED_JOINT_JOINT_H
#define SCHED_JOINT_JOINT_H

#include "weir/job.h"

#include <stdbool.h>

enum { WEIR_JOINT_TYPES = 16, WEIR_JOINT_VALUES = 8 };

struct weir_joint_job {
    uint64_t id;
    uint32_t workload;
    uint32_t state; /* enum weir_job_state */
    uint32_t is_preempted;
    uint32_t may_use; /* types of GPUs, a bit each; 0 = it wants none */
    int64_t submit_ns;
    const struct weir_speedup *speedup; /* NULL = it runs with `usual` ranks */
    uint32_t least, most, usual;
    uint32_t first;         /* of its speeds */
    uint32_t restarts;      /* so far */
    double gpus, more_gpus; /* of one of its ranks; of those that are always there */
    double on_type[WEIR_JOINT_TYPES];
    double total_s, left_s;          /* of its usual ranks, on the first type */
    double age_s, restart_s;         /* since it was submitted; what it costs to start again */
    uint32_t held, held_type;        /* ranks that it has, 0 = it waits; type + 1, 0 = not known */
    uint32_t ranks, type;            /* that it is to have; 0 = none; 0 = any */
    uint32_t first_node, node_count; /* of its ranks in turn, in `nodes`; 0 = any */
    bool moves;                      /* it is to start anew, though it has as many ranks */
    bool is_group;                   /* of bundles: it starts where their strategy puts them */
    double until_s, memory;          /* the rule's own, kept */
};

struct weir_joint_rule;

struct weir_joint {
    struct weir_allocator allocator;
    double values[WEIR_JOINT_VALUES];
    const struct weir_joint_rule *rule;
    const struct weir_cluster *cluster;   /* of the pass */
    struct weir_placer *placer;           /* likewise */
    struct weir_joint_job *jobs, *before; /* in the order of submission, workload, id */
    double *speeds;                       /* of job j with n ranks: jobs[j].first + n - 1 */
    double *numbers;                      /* the rule's, see weir_joint_numbers */
    uint32_t *nodes;                      /* of jobs, see weir_joint_add_node */
    uint32_t count, before_count, job_capacity, before_capacity, speed_capacity, number_capacity;
    uint32_t node_total, node_capacity;
    uint32_t types, node_gpus; /* that there are; the most of one node */
    double supply[WEIR_JOINT_TYPES], before_supply[WEIR_JOINT_TYPES];
    double devices; /* that are up */
    double now_s, wake_s, round_s;
    bool has_changed;
};

struct weir_joint_rule {
    /* Fills `ranks`, `type` and the nodes of every job, which are 0 before, but an eager rule finds
     * the nodes of those that wait as it left them; may set wake_s. */
    weir_status (*choose)(struct weir_joint *joint, struct weir_error *error);
    const struct weir_param *params; /* the first is the round, 0 = whenever something changed */
    uint32_t count;
    bool is_eager; /* asked whenever something changed; it counts rounds itself, by round_s */
};

/* Of one rank, or over what it has with its usual ranks. */
double weir_joint_speed(const struct weir_joint *joint, uint32_t job, uint32_t ranks);
double weir_joint_time(const struct weir_joint *joint, uint32_t job, uint32_t ranks);
static inline double weir_joint_devices(const struct weir_joint_job *job, uint32_t ranks)
{
    return ranks == 0 ? 0 : job->gpus * ranks + job->more_gpus;
}
/* Works out the speeds of all jobs. WEIR_ENOMEM. */
weir_status weir_joint_measure(struct weir_joint *joint);
/* Room for so many numbers; NULL = out of memory. */
double *weir_joint_numbers(struct weir_joint *joint, uint32_t count);
/* The node of its next rank; the nodes of a job are added one after the other. WEIR_ENOMEM. */
weir_status weir_joint_add_node(struct weir_joint *joint, struct weir_joint_job *job,
                                uint32_t node);

/* The operations of a policy; `state` is a struct weir_joint. */
weir_status weir_joint_create(const struct weir_joint_rule *rule, const struct weir_params *given,
                              const struct weir_allocator *allocator, void **state,
                              struct weir_error *error);
void weir_joint_destroy(void *state);
weir_status weir_joint_pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                            struct weir_plan *plan, struct weir_error *error);
uint32_t weir_joint_save(const void *state, double *numbers, uint32_t capacity);
weir_status weir_joint_restore(void *state, const struct weir_view *view, const double *numbers,
                               uint32_t count, struct weir_error *error);

/* A policy: its rule, and the table of its operations. */
#define WEIR_JOINT_POLICY(policy, text, its_rule)                                                  \
    static weir_status create_##policy(const struct weir_params *given,                            \
                                       const struct weir_allocator *allocator, void **state,       \
                                       struct weir_error *error)                                   \
    {                                                                                              \
        return weir_joint_create(&(its_rule), given, allocator, state, error);                     \
    }                                                                                              \
    const struct weir_queueing_ops weir_queueing_##policy = {                                      \
        .size = sizeof weir_queueing_##policy,                                                     \
        .abi = WEIR_ABI_MAJOR,                                                                     \
        .name = #policy,                                                                           \
        .summary = (text),                                                                         \
        .params = params,                                                                          \
        .param_count = PARAM_COUNT,                                                                \
        .flags = WEIR_QUEUEING_RESIZES,                                                            \
        .create = create_##policy,                                                                 \
        .destroy = weir_joint_destroy,                                                             \
        .pass = weir_joint_pass,                                                                   \
        .save = weir_joint_save,                                                                   \
        .restore = weir_joint_restore,                                                             \
    }

extern const struct weir_joint_rule weir_rule_optimus;
extern const struct weir_joint_rule weir_rule_elastic;
extern const struct weir_joint_rule weir_rule_pollux;
extern const struct weir_joint_rule weir_rule_sia;
extern const struct weir_joint_rule weir_rule_themis;
extern const struct weir_joint_rule weir_rule_allox;
extern const struct weir_joint_rule weir_rule_tesserae;

#endif
