/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "optimus": ranks go where one more shortens a job most (Peng et al., EuroSys 2018).
 *
 * Every job gets its least in the order of the queue, as far as there is room; then one rank after
 * the other goes to the job whose remaining time it shortens most, over the part of the cluster
 * that it takes, until none gets shorter. Of equals the first has it.
 */
#include "sched/joint/joint.h"

#include "sched/internal/params.h"
#include "sched/queueing/queueings.h"

enum { PARAM_ROUND, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_ROUND] = WEIR_DURATION("round", 0, 1e9, 600,
                                  "time between two choices; 0 = whenever jobs come or end"),
};

static const double tiny_s = 1e-12;

static double gain(const struct weir_joint *joint, uint32_t job)
{
    const struct weir_joint_job *const one = &joint->jobs[job];
    const double shorter =
        weir_joint_time(joint, job, one->ranks) - weir_joint_time(joint, job, one->ranks + 1);

    return shorter * joint->devices / one->gpus;
}

/* Who is to have the next rank; joint->count = nobody. */
static uint32_t next(const struct weir_joint *joint, double left)
{
    uint32_t best = joint->count;
    double most = tiny_s;

    for (uint32_t j = 0; j < joint->count; j++) {
        const struct weir_joint_job *const job = &joint->jobs[j];
        if (job->may_use == 0 || job->ranks == 0 || job->ranks >= job->most || job->gpus > left)
            continue;
        const double more = gain(joint, j);
        if (more > most) {
            most = more;
            best = j;
        }
    }
    return best;
}

static weir_status choose(struct weir_joint *joint, struct weir_error *error)
{
    double left = joint->devices;

    (void)error;
    for (uint32_t j = 0; j < joint->count; j++) {
        struct weir_joint_job *const job = &joint->jobs[j];
        if (job->may_use == 0 || weir_joint_devices(job, job->least) > left)
            continue;
        job->ranks = job->least;
        left -= weir_joint_devices(job, job->least);
    }
    for (uint32_t j = next(joint, left); j < joint->count; j = next(joint, left)) {
        joint->jobs[j].ranks++;
        left -= joint->jobs[j].gpus;
    }
    return WEIR_OK;
}

const struct weir_joint_rule weir_rule_optimus = { choose, params, PARAM_COUNT, false };

WEIR_JOINT_POLICY(optimus, "ranks one by one to the job that one more shortens most",
                  weir_rule_optimus);
