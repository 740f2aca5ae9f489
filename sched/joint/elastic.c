/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "elastic": jobs grow while it pays and shrink when others need room.
 *
 * All get their least, in the order of the queue; who finds no room gets it from those whose last
 * rank is worth least. Then ranks go one by one to the job whose speed grows most, up to its
 * limit: `efficiency` the most ranks of which P(n)/n is at least `up`, `marginal` as long as one
 * more is worth its price, `best` the number with the most speed for its cost. A job shrinks to its
 * limit when its efficiency was below `down` for `dwell`; it grows only when it ends earlier with
 * the restart that this costs. So between both thresholds nothing happens (hysteresis).
 */
#include "sched/joint/joint.h"

#include "sched/internal/params.h"
#include "sched/queueing/queueings.h"

#include <math.h>

enum {
    PARAM_ROUND,
    PARAM_LIMIT,
    PARAM_UP,
    PARAM_DOWN,
    PARAM_DWELL,
    PARAM_PRICE,
    PARAM_FIXED,
    PARAM_COUNT
};
enum limit { LIMIT_EFFICIENCY, LIMIT_MARGINAL, LIMIT_BEST };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_ROUND] = WEIR_DURATION("round", 0, 1e9, 0,
                                  "time between two choices; 0 = whenever jobs come or end"),
    [PARAM_LIMIT] = WEIR_CHOICE("limit", "efficiency|marginal|best", 2, LIMIT_EFFICIENCY,
                                "what keeps a job from growing"),
    [PARAM_UP] = WEIR_NUMBER("up", "", 0, 1, 0.7, "a job grows while its efficiency stays this"),
    [PARAM_DOWN] = WEIR_NUMBER("down", "", 0, 1, 0.6, "and shrinks when it is below this ..."),
    [PARAM_DWELL] = WEIR_DURATION("dwell", 0, 1e9, 600, "... for so long"),
    [PARAM_PRICE] =
        WEIR_NUMBER("price", "", 0, 1e9, 0.4, "of a rank, over the worth of the speed of one rank"),
    [PARAM_FIXED] = WEIR_NUMBER("fixed", "", 0, 1e9, 0, "cost of a job beside that of its ranks"),
};

static double efficiency(const struct weir_joint *joint, uint32_t job, uint32_t ranks)
{
    return weir_joint_speed(joint, job, ranks) / ranks;
}

static double gain(const struct weir_joint *joint, uint32_t job, uint32_t ranks)
{
    return weir_joint_speed(joint, job, ranks + 1) - weir_joint_speed(joint, job, ranks);
}

static bool may_grow(const struct weir_joint *joint, uint32_t job, uint32_t ranks)
{
    if ((enum limit)joint->values[PARAM_LIMIT] == LIMIT_EFFICIENCY)
        return efficiency(joint, job, ranks + 1) >= joint->values[PARAM_UP];
    return gain(joint, job, ranks) > joint->values[PARAM_PRICE];
}

/* The number of ranks with the most speed for its cost. */
static uint32_t best_ranks(const struct weir_joint *joint, uint32_t job)
{
    uint32_t best = joint->jobs[job].least;
    double most = 0;

    for (uint32_t n = best; n <= joint->jobs[job].most; n++) {
        const double cost = n * joint->values[PARAM_PRICE] + joint->values[PARAM_FIXED];
        const double worth = weir_joint_speed(joint, job, n) / cost;
        if (worth > most) {
            most = worth;
            best = n;
        }
    }
    return best;
}

/* It grows up to here. */
static uint32_t limit_of(const struct weir_joint *joint, uint32_t job)
{
    uint32_t ranks = joint->jobs[job].least;

    if ((enum limit)joint->values[PARAM_LIMIT] == LIMIT_BEST)
        return best_ranks(joint, job);
    while (ranks < joint->jobs[job].most && may_grow(joint, job, ranks))
        ranks++;
    return ranks;
}

/* One that was inefficient for long. */
static void shrink_inefficient(struct weir_joint *joint, uint32_t index)
{
    struct weir_joint_job *const job = &joint->jobs[index];

    if (efficiency(joint, index, job->ranks) >= joint->values[PARAM_DOWN]) {
        job->until_s = 0;
        return;
    }
    if (!(job->until_s > 0))
        job->until_s = joint->now_s + joint->values[PARAM_DWELL];
    if (joint->now_s >= job->until_s) {
        const uint32_t limit = limit_of(joint, index);
        job->ranks = limit < job->ranks ? limit : job->ranks;
        job->until_s = 0;
    } else {
        joint->wake_s = fmin(joint->wake_s, job->until_s);
    }
}

/* Whose last rank is worth least; joint->count = nobody has one to give. */
static uint32_t giver(const struct weir_joint *joint)
{
    uint32_t best = joint->count;
    double least = HUGE_VAL;

    for (uint32_t j = 0; j < joint->count; j++) {
        const struct weir_joint_job *const job = &joint->jobs[j];
        if (job->may_use == 0 || job->ranks <= job->least)
            continue;
        const double loss = gain(joint, j, job->ranks - 1);
        if (loss < least) {
            least = loss;
            best = j;
        }
    }
    return best;
}

/* Whether others can give so much. */
static bool may_fit(const struct weir_joint *joint, double left, double need)
{
    for (uint32_t j = 0; j < joint->count; j++) {
        const struct weir_joint_job *const job = &joint->jobs[j];
        if (job->may_use != 0 && job->ranks > job->least)
            left += job->gpus * (job->ranks - job->least);
    }
    return need <= left;
}

static double make_room(struct weir_joint *joint, double left, double need)
{
    for (uint32_t j = giver(joint); left < need && j < joint->count; j = giver(joint)) {
        joint->jobs[j].ranks--;
        left += joint->jobs[j].gpus;
    }
    return left;
}

static void grow(struct weir_joint *joint, double left, const double *limits)
{
    for (;;) {
        uint32_t best = joint->count;
        double most = 0;
        for (uint32_t j = 0; j < joint->count; j++) {
            const struct weir_joint_job *const job = &joint->jobs[j];
            if (job->may_use == 0 || job->ranks == 0 || job->ranks >= limits[j] || job->gpus > left)
                continue;
            const double more = gain(joint, j, job->ranks);
            if (more > most) {
                most = more;
                best = j;
            }
        }
        if (best == joint->count)
            return;
        joint->jobs[best].ranks++;
        left -= joint->jobs[best].gpus;
    }
}

/* A job that runs stays as it is, unless it ends earlier with more. */
static void keep_what_does_not_pay(struct weir_joint *joint)
{
    for (uint32_t j = 0; j < joint->count; j++) {
        struct weir_joint_job *const job = &joint->jobs[j];
        if (job->held > 0 && job->ranks > job->held && job->held <= job->most &&
            weir_joint_time(joint, j, job->ranks) + job->restart_s >=
                weir_joint_time(joint, j, job->held))
            job->ranks = job->held;
    }
}

static weir_status choose(struct weir_joint *joint, struct weir_error *error)
{
    double *const limits = weir_joint_numbers(joint, joint->count);
    double left = joint->devices;

    if (limits == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (uint32_t j = 0; j < joint->count; j++) {
        struct weir_joint_job *const job = &joint->jobs[j];
        limits[j] = limit_of(joint, j);
        if (job->may_use == 0 || job->held == 0)
            continue;
        job->ranks = job->held < job->most ? job->held : job->most;
        shrink_inefficient(joint, j);
        left -= weir_joint_devices(job, job->ranks);
    }
    left = make_room(joint, left, 0); /* nodes may have gone */
    for (uint32_t j = 0; j < joint->count; j++) {
        struct weir_joint_job *const job = &joint->jobs[j];
        const double need = weir_joint_devices(job, job->least);
        if (job->may_use == 0 || job->ranks > 0 || !may_fit(joint, left, need))
            continue;
        left = make_room(joint, left, need) - need;
        job->ranks = job->least;
    }
    grow(joint, left, limits);
    keep_what_does_not_pay(joint);
    return WEIR_OK;
}

const struct weir_joint_rule weir_rule_elastic = { choose, params, PARAM_COUNT, false };

WEIR_JOINT_POLICY(elastic, "jobs grow while it pays, and shrink for others or when it does not",
                  weir_rule_elastic);
