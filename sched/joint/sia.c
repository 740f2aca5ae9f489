/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "sia": a number of ranks and a type of GPU for every job at once (Jayaram Subramanya
 * et al., SOSP 2023).
 *
 * In every round each job may have one configuration: 1, 2, 4 ... ranks of one type up to the GPUs
 * of a node, then whole nodes. What it is worth is its speed there over that of its worst one, less
 * for one that it does not have now by what restarts have cost it so far. The sum of the powers of
 * that, with a price for jobs that have none, is to be best. A job grows by a factor of at most
 * `growth` a round, and begins with its least.
 */
#include "sched/joint/sia.h"

#include "sched/internal/alloc.h"
#include "sched/internal/params.h"
#include "sched/joint/joint.h"
#include "sched/queueing/queueings.h"

#include <math.h>

enum { PARAM_ROUND, PARAM_POWER, PARAM_IDLE, PARAM_GROWTH, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_ROUND] = WEIR_DURATION("round", 0, 1e9, 60,
                                  "time between two choices; 0 = whenever jobs come or end"),
    [PARAM_POWER] = WEIR_NUMBER("power", "", -10, 10, -0.5,
                                "of what a configuration is worth; below 0 the sum of powers is to "
                                "be small, which is fairer"),
    [PARAM_IDLE] = WEIR_NUMBER("idle", "", 0, 1e6, 1.1, "price of a job that has nothing"),
    [PARAM_GROWTH] = WEIR_COUNT("growth", "", 0, 100000, 2,
                                "factor by which a job grows in a round at most; 0 = any"),
};

/* The number of ranks after `ranks`: twice as many up to a node, then a node more. */
static uint32_t after(const struct weir_joint *joint, const struct weir_joint_job *job,
                      uint32_t ranks)
{
    const uint32_t whole = (uint32_t)(joint->node_gpus / job->gpus);
    const uint32_t node = whole > 1 ? whole : 1;

    return ranks < node ? (2 * ranks < node ? 2 * ranks : node) : ranks / node * node + node;
}

static uint32_t first_from(const struct weir_joint *joint, const struct weir_joint_job *job)
{
    uint32_t ranks = 1;

    while (ranks < job->least)
        ranks = after(joint, job, ranks);
    return ranks <= job->most ? ranks : job->least;
}

/* How many ranks it may have in this round. */
static uint32_t most_now(const struct weir_joint *joint, const struct weir_joint_job *job)
{
    const double growth = joint->values[PARAM_GROWTH];
    const double most = job->held > 0 ? growth * job->held : first_from(joint, job);

    return growth > 0 && most < job->most ? (uint32_t)most : job->most;
}

/* False when it cannot have so many ranks of this type, nor more. */
static bool add_config(const struct weir_joint *joint, uint32_t index, uint32_t type,
                       uint32_t ranks, struct weir_sia_job *to, struct weir_sia_config *configs)
{
    const struct weir_joint_job *const job = &joint->jobs[index];
    const double alone = ranks <= job->most ? weir_joint_speed(joint, index, ranks) : 0;
    const double speed = alone * job->on_type[type];
    const double devices = ceil(weir_joint_devices(job, ranks));

    if (!(speed > 0) || devices > joint->supply[type] || to->count >= WEIR_SIA_CONFIGS)
        return false;
    if (ranks == job->held && (job->held_type == 0 || job->held_type == type + 1))
        to->now = to->count;
    configs[to->count++] = (struct weir_sia_config){ type, ranks, (uint32_t)devices, speed };
    return true;
}

static void list_configs(const struct weir_joint *joint, uint32_t index, struct weir_sia_job *to,
                         struct weir_sia_config *configs)
{
    const struct weir_joint_job *const job = &joint->jobs[index];

    *to = (struct weir_sia_job){ .configs = configs,
                                 .now = WEIR_NO_INDEX,
                                 .restarts = job->restarts,
                                 .age_s = job->age_s,
                                 .restart_s = job->restart_s };
    if (!(job->gpus > 0))
        return; /* it wants no GPU: there is nothing to choose */
    const uint32_t most = most_now(joint, job);
    const uint32_t first = job->speedup == NULL ? job->usual : first_from(joint, job);
    for (uint32_t t = 0; t < joint->types; t++) {
        bool goes_on = add_config(joint, index, t, first, to, configs);
        for (uint32_t n = first; goes_on && job->speedup != NULL;) {
            n = after(joint, job, n);
            goes_on = n <= most && add_config(joint, index, t, n, to, configs);
        }
    }
}

static weir_status solve(struct weir_joint *joint, struct weir_sia_job *jobs,
                         struct weir_sia_config *configs, uint32_t *choice)
{
    uint32_t supply[WEIR_JOINT_TYPES];
    double sum = 0;

    for (uint32_t t = 0; t < joint->types; t++)
        supply[t] = (uint32_t)joint->supply[t];
    for (uint32_t j = 0; j < joint->count; j++)
        list_configs(joint, j, &jobs[j], configs + (size_t)j * WEIR_SIA_CONFIGS);
    const double power = joint->values[PARAM_POWER];
    const struct weir_sia_problem problem = { .jobs = jobs,
                                              .count = joint->count,
                                              .types = joint->types,
                                              .supply = supply,
                                              .power = fabs(power) > 0 ? power : 1,
                                              .idle = joint->values[PARAM_IDLE] };
    WEIR_TRY(weir_sia_choose(&joint->allocator, &problem, choice, &sum));
    for (uint32_t j = 0; j < joint->count; j++) {
        if (joint->jobs[j].may_use == 0 || choice[j] == WEIR_NO_INDEX)
            continue;
        joint->jobs[j].ranks = jobs[j].configs[choice[j]].ranks;
        joint->jobs[j].type = jobs[j].configs[choice[j]].type + 1;
    }
    return WEIR_OK;
}

static weir_status choose(struct weir_joint *joint, struct weir_error *error)
{
    const struct weir_allocator *const memory = &joint->allocator;
    const size_t count = (size_t)joint->count + 1;
    struct weir_sia_job *const jobs = weir_alloc(memory, count, sizeof *jobs);
    struct weir_sia_config *const configs =
        weir_alloc(memory, count * WEIR_SIA_CONFIGS, sizeof *configs);
    uint32_t *const choice = weir_alloc(memory, count, sizeof *choice);
    const weir_status status = jobs == NULL || configs == NULL || choice == NULL
                                   ? WEIR_ENOMEM
                                   : solve(joint, jobs, configs, choice);

    weir_free(memory, jobs);
    weir_free(memory, configs);
    weir_free(memory, choice);
    return status == WEIR_OK ? WEIR_OK : weir_fail(error, status, "out of memory");
}

const struct weir_joint_rule weir_rule_sia = { choose, params, PARAM_COUNT, false };

WEIR_JOINT_POLICY(sia, "ranks and a GPU type of every job at once, by the best sum of powers",
                  weir_rule_sia);
