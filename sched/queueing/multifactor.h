/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slurm's multifactor priority: age, fair share, size and quality of service, each between 0 and 1
 * times a weight (priority_multifactor.c and fair_tree.c of Slurm).
 *
 *   p = trunc(max(1, age + fair share + size + qos + priority of the job))
 *
 * Age is the wait up to `max_age`. The fair share is that of its tenant: by the fair tree, the rank
 * of the tenant when the tree is walked depth first, siblings by level fairness
 * (share of the weights / share of the use), largest first, those without parts before those with
 * parts when equal, equal ones merged; or classic, 2^(-U/S). Size is the mean of its ranks over the
 * nodes and its CPUs over all, or 1 less it. Quality of service is the priority of the job over
 * `qos_max`; without a weight for it the priority is added as it is (Slurm's -nice).
 *
 * Cost: once a pass that of the fair shares and for each waiting job O(1).
 */
#ifndef SCHED_QUEUEING_MULTIFACTOR_H
#define SCHED_QUEUEING_MULTIFACTOR_H

#include "sched/queueing/parts/fair_tree.h"
#include "sched/queueing/parts/listed.h"

enum weir_multifactor_param {
    WEIR_MULTIFACTOR_AGE,
    WEIR_MULTIFACTOR_MAX_AGE,
    WEIR_MULTIFACTOR_FAIR_SHARE,
    WEIR_MULTIFACTOR_TREE,
    WEIR_MULTIFACTOR_SIZE,
    WEIR_MULTIFACTOR_FAVOUR,
    WEIR_MULTIFACTOR_QOS,
    WEIR_MULTIFACTOR_QOS_MAX,
    WEIR_MULTIFACTOR_PARAMS
};

/* The first rows of the table of a policy that has these priorities. */
#define WEIR_MULTIFACTOR_TABLE                                                                     \
    [WEIR_MULTIFACTOR_AGE] = WEIR_NUMBER("weight_age", "", 0, 1e12, 0, "priority at full age"),    \
    [WEIR_MULTIFACTOR_MAX_AGE] =                                                                   \
        WEIR_DURATION("max_age", 1, 1e9, 604800, "wait after which a job is at full age"),         \
    [WEIR_MULTIFACTOR_FAIR_SHARE] =                                                                \
        WEIR_NUMBER("weight_fair_share", "", 0, 1e12, 0, "priority at a full fair share"),         \
    [WEIR_MULTIFACTOR_TREE] = WEIR_CHOICE("fair_share", "tree|classic", 1, 0,                      \
                                          "how the fair share of a tenant is worked out"),         \
    [WEIR_MULTIFACTOR_SIZE] =                                                                      \
        WEIR_NUMBER("weight_size", "", 0, 1e12, 0, "priority of the size that is favoured"),       \
    [WEIR_MULTIFACTOR_FAVOUR] =                                                                    \
        WEIR_CHOICE("favour", "large|small|small_by_time", 2, 0, "which size is favoured"),        \
    [WEIR_MULTIFACTOR_QOS] = WEIR_NUMBER("weight_qos", "", 0, 1e12, 0,                             \
                                         "priority of a job at qos_max; 0 = its priority is "      \
                                         "added as it is"),                                        \
    [WEIR_MULTIFACTOR_QOS_MAX] =                                                                   \
        WEIR_NUMBER("qos_max", "", 1, 2e9, 100, "priority of a job that counts in full")

struct weir_multifactor {
    struct weir_allocator allocator;
    const double *values; /* of the table above */
    double *shares;       /* fair share by tenant, of this pass */
    struct weir_fair_branch *branches;
    uint32_t share_capacity, branch_capacity;
    double nodes, cpus; /* of the cluster */
};

void weir_multifactor_open(struct weir_multifactor *factors, const struct weir_allocator *allocator,
                           const double *values);
void weir_multifactor_close(struct weir_multifactor *factors);
/* Before the priorities of a pass. WEIR_ENOMEM. */
weir_status weir_multifactor_begin(struct weir_multifactor *factors, const struct weir_view *view);
double weir_multifactor_of(const struct weir_multifactor *factors, const struct weir_job *job,
                           int64_t now_ns);
/* Lists all waiting jobs by it. WEIR_ENOMEM. */
weir_status weir_multifactor_list(struct weir_multifactor *factors, const struct weir_view *view,
                                  struct weir_listed *listed);

#endif
