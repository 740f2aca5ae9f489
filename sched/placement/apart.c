/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "apart": where jobs slow one another down least.
 *
 * By the memory of GPUs: a job takes a part b of the bandwidth of each GPU it uses, and waits for
 * it in a part m of its time; where S = max(1, sum b) is asked for each takes (1 - m) + m S times
 * as long (weir_traffic). By the ways out of nodes: of jobs whose steps are as long, which exchange
 * in turn, a step takes max(1, sum of their exchanges) times as long; with others that exchange
 * there at worst so much longer as the shorter of the two exchanges (weir_job_spec.exchange;
 * Rajasekaran et al., Cassini, NSDI 2024). A job that does not say how long its steps are counts as
 * one whose steps are as long.
 *
 * A place costs what is added to this over all who are there, the newcomer included; of equal
 * places the one whose GPUs have least left. So who competes shares a GPU or a node only when no
 * other has room, and who does not fills up what others leave.
 *
 * Jobs that say nothing of their traffic cost nothing and are in nobody's way. GPUs in the same
 * state but for who is on them are different places. Cost: O(candidates x workers of their node).
 */
#include "sched/placement/parts/scan.h"
#include "sched/placement/policies.h"

#include "sched/cluster/state.h"

#include <math.h>

static const double SAME_LENGTH = 0.01; /* steps as long as one another, of the longer */

/* ---- memory of GPUs ---- */

struct pressure_on {
    double asked; /* bandwidth of all who are there */
    double bound; /* sum of their m */
};

static void add_worker(const struct weir_place_query *query, const struct weir_worker *worker,
                       struct pressure_on on[WEIR_MAX_NODE_GPUS])
{
    const struct weir_traffic traffic = weir_place_traffic(query, &worker->owner);

    for (uint32_t d = 0; d < worker->alloc.device_count; d++) {
        struct pressure_on *const gpu = &on[worker->alloc.devices[d].gpu];
        gpu->asked += traffic.bandwidth;
        gpu->bound += traffic.bandwidth > 0 ? traffic.bound : 0;
    }
}

/* What is added on one GPU: to those who are there, and to the newcomer. */
static double added(const struct pressure_on *on, const struct weir_traffic *traffic)
{
    const double before = fmax(1, on->asked);
    const double after = fmax(1, on->asked + traffic->bandwidth);

    return on->bound * (after - before) + traffic->bound * (after - 1);
}

/* ---- ways out of nodes ---- */

/* Those who exchange over the way out of one node, with the newcomer. */
struct exchange_on {
    const struct weir_job *job; /* the newcomer */
    double in_turn;             /* parts of a step, of jobs whose steps are as long */
    double longer;              /* all steps, by those that are not */
    uint32_t jobs;              /* that take turns */
    struct weir_owner last;     /* that was counted: ranks of one job stand side by side */
};

/* Of a step; 0 = not known. */
static double length_of(const struct weir_job *job)
{
    return job->exchange < 1 ? job->step_s / (1 - job->exchange) : 0;
}

static void add_exchange(const struct weir_place_query *query, const struct weir_owner *owner,
                         struct exchange_on *on)
{
    struct weir_job other = { .size = sizeof other };

    if (weir_owner_is(owner, &on->last) || weir_owner_is(owner, &query->owner) ||
        !weir_place_job(query, owner, &other) || !(other.exchange > 0))
        return;
    const double own_s = length_of(on->job);
    const double other_s = length_of(&other);
    on->last = *owner;
    if (!(own_s > 0) || !(other_s > 0) ||
        fabs(own_s - other_s) <= SAME_LENGTH * fmax(own_s, other_s)) {
        on->in_turn += other.exchange;
        on->jobs++;
    } else {
        const double met_s = fmin(own_s * on->job->exchange, other_s * other.exchange);
        on->longer += met_s / own_s + met_s / other_s;
    }
}

static double added_by_exchange(const struct exchange_on *on)
{
    const double before = fmax(1, on->in_turn);
    const double after = fmax(1, on->in_turn + on->job->exchange);

    return on->longer + on->jobs * (after - before) + after - 1;
}

/* ---- a place ---- */

static double cost_of(const struct weir_place_query *query, const struct weir_alloc *candidate)
{
    struct pressure_on on[WEIR_MAX_NODE_GPUS] = { { 0, 0 } };
    struct weir_job job = { .size = sizeof job };
    struct exchange_on links = { .job = &job, .last = query->owner };
    struct weir_worker worker;
    uint32_t cursor = 0;
    double cost = 0;

    (void)weir_place_job(query, &query->owner, &job);
    if (!(query->traffic.bandwidth > 0) && !(job.exchange > 0))
        return 0;
    while (weir_cluster_node_worker(query->cluster, candidate->node, &cursor, &worker)) {
        add_worker(query, &worker, on);
        if (job.exchange > 0)
            add_exchange(query, &worker.owner, &links);
    }
    for (uint32_t d = 0; d < candidate->device_count; d++)
        cost += added(&on[candidate->devices[d].gpu], &query->traffic);
    return job.exchange > 0 ? cost + added_by_exchange(&links) : cost;
}

static struct weir_score score(void *state, const struct weir_place_query *query,
                               const struct weir_alloc *candidate)
{
    double left = 0;

    (void)state; /* there is none */
    for (uint32_t d = 0; d < candidate->device_count; d++) {
        const struct weir_device *const device = &candidate->devices[d];
        left += weir_units_amount(
            weir_cluster_gpu(query->cluster, candidate->node, device->gpu)->units_free -
            device->units);
    }
    return (struct weir_score){ .primary = cost_of(query, candidate), .secondary = left };
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    const struct weir_scan scan = { .score = score, .state = state, .mode = WEIR_CANDIDATES_ALL };

    return weir_scan_place(&scan, query, answer, error);
}

const struct weir_placement_ops weir_placement_apart = {
    .size = sizeof weir_placement_apart,
    .abi = WEIR_ABI_MAJOR,
    .name = "apart",
    .summary = "jobs that slow one another down, by memory of GPUs or exchange, on different ones",
    .flags = WEIR_PLACEMENT_WITHOUT_MIX,
    .score = score,
    .place = place,
};
