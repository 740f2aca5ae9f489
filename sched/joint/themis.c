/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "themis": an auction for those who are treated worst (Mahajan et al., NSDI 2020).
 *
 * rho(n) = (age + time left with n ranks) / time that it would have taken alone on its part of the
 * cluster. Devices are leased for a time; what is free, or whose lease is over, is offered to the
 * jobs with the worst rho, a part of all. Among the bidders devices are divided so that the product
 * of 1 / rho is largest; each then gets the part of its devices that its coming leaves to the
 * others (a hidden payment: nobody wins by a false bid). What that leaves over goes one by one to
 * all others by falling rho, then to whoever can use it.
 */
#include "sched/joint/themis.h"

#include "sched/internal/alloc.h"
#include "sched/internal/params.h"
#include "sched/queueing/queueings.h"

#include <math.h>
#include <string.h>

enum { PARAM_ROUND, PARAM_LEASE, PARAM_FAIRNESS, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_ROUND] =
        WEIR_DURATION("round", 0, 1e9, 0,
                      "time between two auctions; 0 = when a lease is over or something "
                      "is free"),
    [PARAM_LEASE] = WEIR_DURATION("lease", 1, 1e9, 1200, "for which devices are given"),
    [PARAM_FAIRNESS] = WEIR_NUMBER("fairness", "", 0, 1, 0.8,
                                   "part of the jobs that is not asked, those treated best"),
};

/* Worth of a bidder that gets nothing: less than any other, and a number. */
static const double worst = -1e6;

/* ---- the auction ---- */

static double worth(const struct weir_auction *auction, uint32_t bidder, uint32_t devices)
{
    const double rho = auction->rho(auction->state, bidder, devices);

    return isinf(rho) ? worst : -log(rho);
}

/* The largest sum of worths of all but one, and who has what; of equals the lexicographically
 * least. `best`: (bidders + 1) x (devices + 1), from the last bidder to the first. */
static double divide(const struct weir_auction *auction, uint32_t but, double *best, uint32_t *had)
{
    const uint32_t bidders = auction->bidders;
    const uint32_t width = auction->devices + 1;
    uint32_t left = auction->devices;

    memset(&best[(size_t)bidders * width], 0, width * sizeof *best);
    for (uint32_t b = bidders; b-- > 0;) {
        for (uint32_t d = 0; d < width; d++) {
            double most = -HUGE_VAL;
            for (uint32_t n = 0; n <= (b == but ? 0 : d); n++) {
                const double sum = (b == but ? 0 : auction->worth[(size_t)b * width + n]) +
                                   best[(size_t)(b + 1) * width + d - n];
                most = fmax(most, sum);
            }
            best[(size_t)b * width + d] = most;
        }
    }
    for (uint32_t b = 0; b < bidders; b++) {
        const double wanted = best[(size_t)b * width + left];
        uint32_t n = 0;
        while (b != but && n < left &&
               auction->worth[(size_t)b * width + n] + best[(size_t)(b + 1) * width + left - n] <
                   wanted - 1e-12)
            n++;
        had[b] = n;
        left -= n;
    }
    return best[auction->devices];
}

static void pay(struct weir_auction *auction, double *best, uint32_t *other)
{
    const uint32_t width = auction->devices + 1;

    for (uint32_t b = 0; b < auction->bidders; b++) {
        double with = 0;
        for (uint32_t o = 0; o < auction->bidders; o++)
            with += o == b ? 0 : auction->worth[(size_t)o * width + auction->won[o]];
        const double without = divide(auction, b, best, other);
        auction->part[b] = fmin(exp(with - without), 1);
    }
    for (uint32_t b = 0; b < auction->bidders; b++)
        auction->kept[b] = (uint32_t)floor(auction->part[b] * auction->won[b] + 1e-9);
}

weir_status weir_auction_hold(struct weir_auction *auction, const struct weir_allocator *allocator)
{
    const size_t width = (size_t)auction->devices + 1;
    const size_t cells = width * (auction->bidders + 1);
    double *const best = weir_alloc(allocator, 2 * cells, sizeof *best);
    uint32_t *const other = weir_alloc(allocator, auction->bidders + 1, sizeof *other);

    if (best != NULL && other != NULL) {
        auction->worth = best + cells;
        for (uint32_t b = 0; b < auction->bidders; b++)
            for (uint32_t n = 0; n < width; n++)
                auction->worth[b * width + n] = worth(auction, b, n);
        (void)divide(auction, WEIR_NO_INDEX, best, auction->won);
        pay(auction, best, other);
    }
    const bool is_done = best != NULL && other != NULL;
    auction->worth = NULL;
    weir_free(allocator, best);
    weir_free(allocator, other);
    return is_done ? WEIR_OK : WEIR_ENOMEM;
}

/* ---- the policy ---- */

/* Who may have other devices now, in the order of falling rho. */
struct offered {
    const struct weir_joint *joint;
    uint32_t *jobs;
    double *rho;
    uint32_t count;
};

static double alone_s(const struct weir_joint *joint, uint32_t index)
{
    const struct weir_joint_job *const job = &joint->jobs[index];
    const double part = joint->devices / fmax(joint->count, 1) / job->gpus;
    const uint32_t ranks = part < job->least  ? job->least
                           : part > job->most ? job->most
                                              : (uint32_t)part;

    return fmax(job->total_s, 1e-9) * weir_joint_speed(joint, index, job->usual) /
           weir_joint_speed(joint, index, ranks);
}

/* The most ranks that so many devices give it, beside those that are always there. */
static uint32_t ranks_for(const struct weir_joint_job *job, double devices)
{
    const double ranks = (devices - job->more_gpus) / job->gpus;

    return ranks > job->most ? job->most : ranks >= 1 ? (uint32_t)ranks : 0;
}

static double rho_of(const void *state, uint32_t bidder, uint32_t devices)
{
    const struct offered *const offered = state;
    const struct weir_joint *const joint = offered->joint;
    const uint32_t index = offered->jobs[bidder];
    const struct weir_joint_job *const job = &joint->jobs[index];
    const uint32_t used = ranks_for(job, devices);

    if (used < job->least)
        return HUGE_VAL;
    return (job->age_s + weir_joint_time(joint, index, used)) / alone_s(joint, index);
}

/* As it is treated with what it has; who has nothing is treated worst, the oldest first. */
static void rank(struct offered *offered)
{
    for (uint32_t i = 0; i < offered->count; i++) {
        const uint32_t job = offered->jobs[i];
        const struct weir_joint_job *const one = &offered->joint->jobs[job];
        const double rho = one->held > 0
                               ? (one->age_s + weir_joint_time(offered->joint, job, one->held)) /
                                     alone_s(offered->joint, job)
                               : 1e9 + one->age_s;
        uint32_t at = i;
        for (; at > 0 && offered->rho[at - 1] < rho; at--) {
            offered->jobs[at] = offered->jobs[at - 1];
            offered->rho[at] = offered->rho[at - 1];
        }
        offered->jobs[at] = job;
        offered->rho[at] = rho;
    }
}

/* What is left over: to who was not asked, then to whoever can use it; one by one by falling rho.
 */
static void give_rest(const struct offered *offered, struct weir_joint *joint, double left,
                      uint32_t bidders)
{
    for (uint32_t turn = 0; turn < 2; turn++) {
        bool has_given = true;
        while (has_given) {
            has_given = false;
            for (uint32_t i = turn == 0 ? bidders : 0; i < offered->count; i++) {
                struct weir_joint_job *const job = &joint->jobs[offered->jobs[i]];
                const uint32_t more = job->ranks == 0 ? job->least : 1;
                const double needs = weir_joint_devices(job, job->ranks + more) -
                                     weir_joint_devices(job, job->ranks);
                if (job->ranks + more > job->most || needs > left)
                    continue;
                job->ranks += more;
                left -= needs;
                has_given = true;
            }
        }
    }
}

static weir_status sell(struct offered *offered, struct weir_joint *joint, double left)
{
    const double part = 1 - joint->values[PARAM_FAIRNESS];
    const uint32_t bidders =
        offered->count == 0 ? 0 : (uint32_t)fmax(ceil(part * offered->count - 1e-9), 1);
    uint32_t *const lists = weir_alloc(&joint->allocator, 2 * (size_t)bidders + 1, sizeof *lists);
    double *const parts = weir_alloc(&joint->allocator, (size_t)bidders + 1, sizeof *parts);
    struct weir_auction auction = { .bidders = bidders,
                                    .devices = left > 0 ? (uint32_t)left : 0,
                                    .rho = rho_of,
                                    .state = offered,
                                    .won = lists,
                                    .kept = lists + bidders,
                                    .part = parts };
    weir_status status = lists == NULL || parts == NULL
                             ? WEIR_ENOMEM
                             : weir_auction_hold(&auction, &joint->allocator);
    for (uint32_t b = 0; status == WEIR_OK && b < bidders; b++) {
        struct weir_joint_job *const job = &joint->jobs[offered->jobs[b]];
        const uint32_t ranks = ranks_for(job, auction.kept[b]);
        job->ranks = ranks < job->least || weir_joint_devices(job, ranks) > left ? 0 : ranks;
        left -= weir_joint_devices(job, job->ranks);
    }
    if (status == WEIR_OK)
        give_rest(offered, joint, left, bidders);
    weir_free(&joint->allocator, lists);
    weir_free(&joint->allocator, parts);
    return status;
}

/* New leases begin; who keeps what it has is leased anew. */
static void lease(struct weir_joint *joint)
{
    for (uint32_t j = 0; j < joint->count; j++) {
        struct weir_joint_job *const job = &joint->jobs[j];
        if (job->may_use == 0 || job->ranks == 0)
            continue;
        if (!(job->until_s > joint->now_s))
            job->until_s = joint->now_s + joint->values[PARAM_LEASE];
        joint->wake_s = fmin(joint->wake_s, job->until_s);
    }
}

static weir_status choose(struct weir_joint *joint, struct weir_error *error)
{
    const size_t most = (size_t)joint->count + 1;
    struct offered offered = { .joint = joint };
    double left = joint->devices;

    offered.jobs = weir_alloc(&joint->allocator, most, sizeof *offered.jobs);
    offered.rho = weir_alloc(&joint->allocator, most, sizeof *offered.rho);
    weir_status status = offered.jobs == NULL || offered.rho == NULL ? WEIR_ENOMEM : WEIR_OK;
    for (uint32_t j = 0; status == WEIR_OK && j < joint->count; j++) {
        struct weir_joint_job *const job = &joint->jobs[j];
        if (job->may_use == 0)
            continue;
        if (job->held > 0 && job->until_s > joint->now_s) {
            job->ranks = job->held;
            left -= weir_joint_devices(job, job->held);
        } else {
            job->until_s = 0;
            offered.jobs[offered.count++] = j;
        }
    }
    if (status == WEIR_OK) {
        rank(&offered);
        status = sell(&offered, joint, left);
    }
    if (status == WEIR_OK)
        lease(joint);
    weir_free(&joint->allocator, offered.jobs);
    weir_free(&joint->allocator, offered.rho);
    return status == WEIR_OK ? WEIR_OK : weir_fail(error, status, "out of memory");
}

const struct weir_joint_rule weir_rule_themis = { choose, params, PARAM_COUNT, false };

WEIR_JOINT_POLICY(themis, "leases, and an auction of what is free among those treated worst",
                  weir_rule_themis);
