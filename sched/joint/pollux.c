/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "pollux": ranks and nodes of all jobs at once, for the best mean of their speeds (Qiao
 * et al., OSDI 2021).
 *
 * In every round the placements of all jobs are improved together (pollux.h). A job that is placed
 * anew keeps `changed` of its speed, so that it moves only for more than that. Which GPUs of a node
 * a job gets, and the nodes of one that is on several, is up to the placement policy.
 */
#include "sched/joint/pollux.h"

#include "sched/internal/alloc.h"
#include "sched/internal/params.h"
#include "sched/joint/joint.h"
#include "sched/queueing/queueings.h"

#include <math.h>
#include <string.h>

enum { PARAM_ROUND, PARAM_POWER, PARAM_CHANGED, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_ROUND] = WEIR_DURATION("round", 0, 1e9, 60,
                                  "time between two choices; 0 = whenever jobs come or end"),
    [PARAM_POWER] = WEIR_NUMBER("power", "", -10, 1, -1,
                                "of the mean of speeds: 1 = their sum, the smaller the fairer"),
    [PARAM_CHANGED] =
        WEIR_NUMBER("changed", "", 0, 1, 0.9, "what a job that is placed anew keeps of its speed"),
};

struct asking {
    struct weir_joint *joint;
    double *speeds; /* of a job, by ranks, on one node and behind that on several */
    uint32_t *first;
    uint32_t *room, *least, *most, *gpus, *now, *ranks, *job; /* job: index of each that counts */
    uint32_t jobs, nodes;
};

static double speedup(const void *state, uint32_t job, uint32_t ranks, uint32_t nodes)
{
    const struct asking *const asking = state;
    const uint32_t apart = nodes > 1 ? asking->most[job] : 0;

    return asking->speeds[asking->first[job] + apart + ranks - 1];
}

/* What is told of a job; its row of what it has is filled elsewhere. */
static void tell_job(struct asking *asking, uint32_t index, uint32_t *speed_count)
{
    const struct weir_joint_job *const job = &asking->joint->jobs[index];
    const uint32_t at = asking->jobs++;

    asking->job[at] = index;
    asking->least[at] = job->least;
    asking->most[at] = job->most;
    asking->gpus[at] = job->gpus > 1 ? (uint32_t)ceil(job->gpus) : 1;
    asking->first[at] = *speed_count;
    for (uint32_t nodes = 1; nodes <= 2; nodes++)
        for (uint32_t n = 1; n <= job->most; n++)
            asking->speeds[(*speed_count)++] =
                job->speedup == NULL ? 1 : weir_speedup_at(job->speedup, n, nodes);
}

/* Where those that run are. */
static void find_rows(struct asking *asking)
{
    const struct weir_cluster *const cluster = asking->joint->cluster;
    struct weir_worker worker;

    for (uint32_t n = 0; n < asking->nodes; n++) {
        uint32_t cursor = 0;
        while (weir_cluster_node_worker(cluster, n, &cursor, &worker)) {
            uint32_t at = 0;
            while (at < asking->jobs &&
                   (asking->joint->jobs[asking->job[at]].workload != worker.owner.index ||
                    asking->joint->jobs[asking->job[at]].id != worker.owner.id))
                at++;
            if (worker.owner.kind == WEIR_OWNER_JOB && at < asking->jobs &&
                worker.alloc.device_count > 0)
                asking->now[(size_t)at * asking->nodes + n]++;
        }
    }
}

static void find_rooms(struct asking *asking)
{
    for (uint32_t n = 0; n < asking->nodes; n++) {
        const struct weir_node *const node = weir_cluster_node(asking->joint->cluster, n);
        const bool is_up =
            (node->flags & WEIR_NODE_UP) != 0 && (node->flags & WEIR_NODE_CORDONED) == 0;
        asking->room[n] = is_up ? node->gpu_count : 0;
    }
}

/* What was found becomes the frame's: ranks, the node of a job on one, and who is to move. */
static weir_status take(struct asking *asking)
{
    for (uint32_t at = 0; at < asking->jobs; at++) {
        const uint32_t *const row = &asking->ranks[(size_t)at * asking->nodes];
        const uint32_t *const now = &asking->now[(size_t)at * asking->nodes];
        struct weir_joint_job *const job = &asking->joint->jobs[asking->job[at]];
        uint32_t nodes = 0;
        uint32_t node = 0;
        for (uint32_t n = 0; n < asking->nodes; n++) {
            job->ranks += row[n];
            nodes += row[n] > 0;
            node = row[n] > 0 ? n : node;
        }
        for (uint32_t i = 0; nodes == 1 && i < job->ranks; i++)
            WEIR_TRY(weir_joint_add_node(asking->joint, job, node));
        job->moves = job->held > 0 && memcmp(row, now, asking->nodes * sizeof *row) != 0;
    }
    return WEIR_OK;
}

static weir_status solve(struct asking *asking)
{
    struct weir_joint *const joint = asking->joint;
    uint32_t speed_count = 0;
    double fitness = 0;

    for (uint32_t j = 0; j < joint->count; j++)
        if (joint->jobs[j].may_use != 0)
            tell_job(asking, j, &speed_count);
    find_rooms(asking);
    find_rows(asking);
    const double power = joint->values[PARAM_POWER];
    const struct weir_pollux_problem problem = { .jobs = asking->jobs,
                                                 .nodes = asking->nodes,
                                                 .room = asking->room,
                                                 .least = asking->least,
                                                 .most = asking->most,
                                                 .gpus = asking->gpus,
                                                 .now = asking->now,
                                                 .speedup = speedup,
                                                 .state = asking,
                                                 .power = fabs(power) > 0 ? power : 1,
                                                 .changed = joint->values[PARAM_CHANGED] };
    if (asking->jobs > 0)
        WEIR_TRY(weir_pollux_search(&joint->allocator, &problem, asking->ranks, &fitness));
    return take(asking);
}

static weir_status choose(struct weir_joint *joint, struct weir_error *error)
{
    const uint32_t nodes = weir_cluster_node_count(joint->cluster);
    const size_t cells = (size_t)joint->count * nodes;
    const size_t numbers = 2 * cells + nodes + 5 * (size_t)joint->count + 1;
    struct asking asking = { .joint = joint, .nodes = nodes };
    size_t speeds = 1;

    for (uint32_t j = 0; j < joint->count; j++)
        speeds += 2 * (size_t)joint->jobs[j].most;
    uint32_t *const block = weir_alloc(&joint->allocator, numbers, sizeof *block);
    asking.speeds = weir_alloc(&joint->allocator, speeds, sizeof *asking.speeds);
    weir_status status = block == NULL || asking.speeds == NULL ? WEIR_ENOMEM : WEIR_OK;
    if (status == WEIR_OK) {
        memset(block, 0, numbers * sizeof *block);
        asking.now = block;
        asking.ranks = block + cells;
        asking.room = block + 2 * cells;
        asking.least = asking.room + nodes;
        asking.most = asking.least + joint->count;
        asking.gpus = asking.most + joint->count;
        asking.first = asking.gpus + joint->count;
        asking.job = asking.first + joint->count;
        status = solve(&asking);
    }
    weir_free(&joint->allocator, block);
    weir_free(&joint->allocator, asking.speeds);
    return status == WEIR_OK ? WEIR_OK : weir_fail(error, status, "out of memory");
}

const struct weir_joint_rule weir_rule_pollux = { choose, params, PARAM_COUNT, false };

WEIR_JOINT_POLICY(pollux, "ranks and nodes of all jobs for the best mean of their speeds",
                  weir_rule_pollux);
