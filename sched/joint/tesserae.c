/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "tesserae": when a job finds no place all are packed anew, once a round at most, and
 * as few as possible move for it (Bian et al., "Tesserae: scalable placement policies for deep
 * learning workloads"). Between rounds whoever fits starts.
 *
 * Two plans are made on the scratch by the placement policy in use. In one, those that run stay and
 * those that wait go where they fit; in the other the cluster is emptied and filled again, in the
 * order of the rule. The second is taken only when the first job that one of them alone serves is
 * served by it, so that nothing moves for nothing. Its nodes then become those real ones on which
 * the fewest ranks move (tesserae_match.h); a job whose ranks are where they were is not touched.
 * A plan that makes too many start anew for what it uses more (`worth`) is dropped: above capacity
 * one job gained would move a cluster in every round.
 *
 * Placement groups, jobs without GPUs, jobs that are just starting or already preempted keep their
 * places, and are no part of the plans.
 */
#include "sched/joint/tesserae_match.h"

#include "sched/internal/alloc.h"
#include "sched/internal/params.h"
#include "sched/internal/seat.h"
#include "sched/joint/joint.h"
#include "sched/queueing/queueings.h"

#include <stdlib.h>

enum { PARAM_ROUND, PARAM_ORDER, PARAM_WORTH, PARAM_MATCH, PARAM_COUNT };
enum { FIRST_COME, LEAST_SERVICE };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_ROUND] = WEIR_DURATION("round", 0, 1e9, 360,
                                  "in which all are packed anew once at most; 0 = whenever jobs "
                                  "come or end"),
    [PARAM_ORDER] = WEIR_CHOICE("order", "fcfs|las", LEAST_SERVICE, FIRST_COME,
                                "who is placed first: who came first, or had least GPU time"),
    [PARAM_WORTH] =
        WEIR_NUMBER("worth", "", 0, 1000, 0.2,
                    "devices that must be used more for each that a job moves away from"),
    [PARAM_MATCH] = WEIR_FLAG("match", 1, "nodes of a plan become those on which least moves"),
};

/* What becomes of a job; where it does not take part all is false. */
struct fate {
    bool takes_part;
    bool stays, anew; /* served by the one plan, by the other */
    bool changes;     /* by the other: it starts, moves or goes */
    uint32_t first;   /* of its seats there */
};

struct entry {
    double key;
    uint64_t id;
    uint32_t workload, job;
};

struct packing {
    struct weir_joint *joint;
    struct weir_error *error;
    struct weir_cluster *scratch;
    struct fate *fates;          /* of all jobs */
    struct entry *turns, *names; /* of those that take part, in the order of the rule; by name */
    uint32_t *classes, *real;    /* of nodes */
    uint32_t count, nodes;
    struct weir_seats held, planned;
    uint32_t *seats; /* nodes of the planned, by job and rank */
    uint32_t stuck;  /* the job that found no place */
    bool is_refused; /* one that waits finds none unless others move */
};

static uint32_t ranks_of(const struct packing *packing, uint32_t job)
{
    const struct weir_joint_job *const one = &packing->joint->jobs[job];

    return one->held > 0 ? one->held : one->usual;
}

/* ---- who takes part ---- */

static int order(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_turns(const void *left, const void *right)
{
    const struct entry *const a = left;
    const struct entry *const b = right;

    if (a->key < b->key || a->key > b->key)
        return a->key < b->key ? -1 : 1;
    return order(a->job, b->job);
}

static int compare_names(const void *left, const void *right)
{
    const struct entry *const a = left;
    const struct entry *const b = right;

    return a->workload != b->workload ? order(a->workload, b->workload) : order(a->id, b->id);
}

static void list_jobs(struct packing *packing)
{
    const bool is_las = packing->joint->values[PARAM_ORDER] > FIRST_COME;

    for (uint32_t j = 0; j < packing->joint->count; j++) {
        struct weir_joint_job *const job = &packing->joint->jobs[j];
        const double had_s = (job->total_s - job->left_s) * weir_joint_devices(job, job->usual);
        job->ranks = ranks_of(packing, j);
        if (job->may_use == 0 || job->is_group || job->is_preempted != 0 ||
            job->state == WEIR_JOB_STARTING)
            continue;
        packing->fates[j].takes_part = true;
        packing->turns[packing->count] =
            (struct entry){ is_las ? had_s : 0, job->id, job->workload, j };
        packing->names[packing->count] = packing->turns[packing->count];
        packing->count++;
    }
    qsort(packing->turns, packing->count, sizeof *packing->turns, compare_turns);
    qsort(packing->names, packing->count, sizeof *packing->names, compare_names);
}

/* ---- where ranks are ---- */

static int compare_nodes(const void *left, const void *right)
{
    const struct weir_seat *const a = left;
    const struct weir_seat *const b = right;

    if (a->job != b->job)
        return order(a->job, b->job);
    return a->node != b->node ? order(a->node, b->node) : order(a->worker, b->worker);
}

/* Ids of workers follow one another as the ranks do. */
static int compare_ranks(const void *left, const void *right)
{
    const struct weir_seat *const a = left;
    const struct weir_seat *const b = right;

    return a->job != b->job ? order(a->job, b->job) : order(a->worker, b->worker);
}

/* Of the jobs that take part, as the scratch is, by job and node. */
static weir_status find_seats(const struct packing *packing, struct weir_seats *seats)
{
    const struct weir_allocator *const memory = &packing->joint->allocator;
    struct weir_worker worker;

    WEIR_ROOM(memory, seats->all, seats->capacity, 1);
    for (uint32_t n = 0; n < packing->nodes; n++) {
        uint32_t cursor = 0;
        while (weir_cluster_node_worker(packing->scratch, n, &cursor, &worker)) {
            const struct entry key = { .id = worker.owner.id, .workload = worker.owner.index };
            const struct entry *const name =
                bsearch(&key, packing->names, packing->count, sizeof key, compare_names);
            if (name == NULL || worker.owner.kind != WEIR_OWNER_JOB)
                continue;
            WEIR_ROOM(memory, seats->all, seats->capacity, seats->count + 1);
            seats->all[seats->count++] = (struct weir_seat){ name->job, n, worker.id };
        }
    }
    qsort(seats->all, seats->count, sizeof *seats->all, compare_nodes);
    return WEIR_OK;
}

/* Nodes are alike that are in the same state, in the same rack, once those have gone that may. */
static void find_classes(const struct packing *packing)
{
    for (uint32_t n = 0; n < packing->nodes; n++) {
        const uint64_t state = weir_cluster_node(packing->scratch, n)->version;
        uint32_t first = 0;
        while (weir_cluster_node(packing->scratch, first)->version != state)
            first++;
        packing->classes[n] = first;
    }
}

/* ---- plans, each under a mark ---- */

static weir_status try_plan(struct packing *packing, weir_status (*plan)(struct packing *packing))
{
    if (weir_cluster_mark(packing->scratch) != WEIR_OK)
        return WEIR_ENOMEM;
    const weir_status status = plan(packing);
    weir_cluster_rollback(packing->scratch);
    return status;
}

static weir_status lift(const struct packing *packing, uint32_t job)
{
    const struct weir_joint_job *const one = &packing->joint->jobs[job];

    return weir_placer_lift_job(packing->joint->placer, one->workload, one->id, packing->error);
}

/* On these nodes; NULL = wherever the placement policy says. */
static weir_status seat(const struct packing *packing, uint32_t job, const uint32_t *nodes,
                        bool *fits)
{
    const struct weir_joint_job *const one = &packing->joint->jobs[job];
    const uint32_t ranks = ranks_of(packing, job);
    const struct weir_job_start how = { .size = sizeof how,
                                        .ranks = nodes == NULL && one->speedup == NULL ? 0 : ranks,
                                        .node_count = nodes == NULL ? 0 : ranks,
                                        .nodes = nodes };
    const weir_status status =
        weir_placer_seat_job(packing->joint->placer, one->workload, one->id, &how, packing->error);

    *fits = status == WEIR_OK;
    return status == WEIR_EBUSY || status == WEIR_EINFEASIBLE ? WEIR_OK : status;
}

static weir_status plan_to_stay(struct packing *packing)
{
    for (uint32_t i = 0; i < packing->count; i++) {
        const uint32_t job = packing->turns[i].job;
        const struct weir_joint_job *const one = &packing->joint->jobs[job];
        struct fate *const fate = &packing->fates[job];
        fate->stays = one->held > 0;
        if (one->node_count > 0 && one->node_count == ranks_of(packing, job))
            WEIR_TRY(seat(packing, job, packing->joint->nodes + one->first_node, &fate->stays));
        if (!fate->stays)
            WEIR_TRY(seat(packing, job, NULL, &fate->stays));
        packing->is_refused = packing->is_refused || !fate->stays;
    }
    return WEIR_OK;
}

static weir_status plan_anew(struct packing *packing)
{
    for (uint32_t j = 0; j < packing->joint->count; j++)
        if (packing->fates[j].takes_part && packing->joint->jobs[j].held > 0)
            WEIR_TRY(lift(packing, j));
    find_classes(packing);
    for (uint32_t i = 0; i < packing->count; i++) {
        const uint32_t job = packing->turns[i].job;
        WEIR_TRY(seat(packing, job, NULL, &packing->fates[job].anew));
    }
    return find_seats(packing, &packing->planned);
}

/* Whether the first that one of both alone serves is served anew. */
static bool is_better(const struct packing *packing)
{
    for (uint32_t i = 0; i < packing->count; i++) {
        const struct fate *const fate = &packing->fates[packing->turns[i].job];
        if (fate->stays != fate->anew)
            return fate->anew;
    }
    return false;
}

/* ---- from the plan to the cluster ---- */

static weir_status match(struct packing *packing)
{
    struct weir_seats *const planned = &packing->planned;
    const struct weir_match problem = { planned, &packing->held, packing->classes, packing->nodes };

    if (!(packing->joint->values[PARAM_MATCH] > 0))
        return WEIR_OK;
    WEIR_TRY(weir_seats_match(&packing->joint->allocator, &problem, packing->real));
    for (uint32_t i = 0; i < planned->count; i++)
        planned->all[i].node = packing->real[planned->all[i].node];
    qsort(planned->all, planned->count, sizeof *planned->all, compare_nodes);
    return WEIR_OK;
}

/* Jobs with a seat that is in one of both lists alone. */
static void find_changes(struct packing *packing)
{
    const struct weir_seats *const planned = &packing->planned;
    const struct weir_seats *const held = &packing->held;

    for (uint32_t p = 0, h = 0; p < planned->count || h < held->count;) {
        const struct weir_seat *const next = &planned->all[p];
        const struct weir_seat *const now = &held->all[h];
        int which = p == planned->count ? 1 : -1;
        if (p < planned->count && h < held->count)
            which =
                next->job != now->job ? order(next->job, now->job) : order(next->node, now->node);
        if (which != 0)
            packing->fates[which < 0 ? next->job : now->job].changes = true;
        p += which <= 0;
        h += which >= 0;
    }
}

/* Whether enough is used more for what restarts. */
static bool is_worth(const struct packing *packing)
{
    double more = 0;
    double moved = 0;

    for (uint32_t j = 0; j < packing->joint->count; j++) {
        const struct fate *const fate = &packing->fates[j];
        const struct weir_joint_job *const job = &packing->joint->jobs[j];
        const double devices = weir_joint_devices(job, ranks_of(packing, j));
        more += devices * (fate->anew - fate->stays);
        moved += fate->changes && job->held > 0 ? devices : 0;
    }
    return more >= packing->joint->values[PARAM_WORTH] * moved;
}

/* Those that change have gone, and start in the order in which the frame starts them: first who
 * waits now, then who has to wait. */
static weir_status rehearse(struct packing *packing)
{
    bool fits = true;

    for (uint32_t j = 0; j < packing->joint->count; j++)
        if (packing->fates[j].changes && packing->joint->jobs[j].held > 0)
            WEIR_TRY(lift(packing, j));
    for (uint32_t again = 0; again < 2; again++)
        for (uint32_t j = 0; j < packing->joint->count && fits; j++) {
            const struct fate *const fate = &packing->fates[j];
            packing->stuck = j;
            if (fate->anew && fate->changes && (packing->joint->jobs[j].held > 0) == (again > 0))
                WEIR_TRY(seat(packing, j, packing->seats + fate->first, &fits));
        }
    return fits ? WEIR_OK : WEIR_EBUSY;
}

/* A place is taken where the plan has none: shares may be on other GPUs of a node than in the plan.
 * All that stay on the nodes of who found none move too; false = there are none. */
static bool make_way(struct packing *packing)
{
    const struct weir_seats *const planned = &packing->planned;
    bool is_any = false;

    for (uint32_t i = packing->fates[packing->stuck].first;
         i < planned->count && planned->all[i].job == packing->stuck; i++)
        for (uint32_t p = 0; p < planned->count; p++) {
            struct fate *const fate = &packing->fates[planned->all[p].job];
            if (!fate->changes && planned->all[p].node == planned->all[i].node)
                fate->changes = is_any = true;
        }
    return is_any;
}

/* WEIR_EBUSY when it cannot be had. */
static weir_status realise(struct packing *packing)
{
    struct weir_seats *const planned = &packing->planned;
    weir_status status = WEIR_EBUSY;

    WEIR_TRY(match(packing));
    find_changes(packing);
    if (!is_worth(packing))
        return WEIR_EBUSY;
    qsort(planned->all, planned->count, sizeof *planned->all, compare_ranks);
    packing->seats = weir_alloc(&packing->joint->allocator, planned->count, sizeof(uint32_t));
    if (packing->seats == NULL)
        return WEIR_ENOMEM;
    for (uint32_t i = planned->count; i-- > 0;) {
        packing->seats[i] = planned->all[i].node;
        packing->fates[planned->all[i].job].first = i;
    }
    do
        status = try_plan(packing, rehearse);
    while (status == WEIR_EBUSY && make_way(packing));
    return status;
}

static weir_status take(struct packing *packing, bool is_anew)
{
    if (is_anew)
        packing->joint->node_total = 0;
    for (uint32_t j = 0; j < packing->joint->count; j++) {
        const struct fate *const fate = &packing->fates[j];
        struct weir_joint_job *const job = &packing->joint->jobs[j];
        if (is_anew)
            job->node_count = 0;
        if (!fate->takes_part)
            continue;
        job->ranks = (is_anew ? fate->anew : fate->stays) ? ranks_of(packing, j) : 0;
        job->moves = is_anew && fate->changes;
        for (uint32_t i = 0; job->moves && i < job->ranks; i++)
            WEIR_TRY(weir_joint_add_node(packing->joint, job, packing->seats[fate->first + i]));
    }
    return WEIR_OK;
}

/* No more than once a round all may move; who waits until then wakes it. */
static bool begins_round(struct weir_joint *joint)
{
    const bool begins = joint->now_s >= joint->round_s;

    if (begins)
        joint->round_s = joint->now_s + joint->values[PARAM_ROUND];
    if (joint->round_s > joint->now_s)
        joint->wake_s = joint->round_s;
    return begins;
}

static weir_status pack(struct packing *packing)
{
    weir_status status = WEIR_EBUSY;

    list_jobs(packing);
    WEIR_TRY(find_seats(packing, &packing->held));
    WEIR_TRY(try_plan(packing, plan_to_stay));
    if (packing->is_refused && begins_round(packing->joint))
        WEIR_TRY(try_plan(packing, plan_anew));
    if (is_better(packing))
        status = realise(packing);
    if (status != WEIR_EBUSY)
        WEIR_TRY(status);
    packing->error->text[0] = '\0'; /* that there is no place was an answer */
    return take(packing, status == WEIR_OK);
}

static weir_status choose(struct weir_joint *joint, struct weir_error *error)
{
    const struct weir_allocator *const memory = &joint->allocator;
    struct packing packing = { .joint = joint,
                               .error = error,
                               .scratch = weir_placer_scratch(joint->placer),
                               .nodes = weir_cluster_node_count(joint->cluster) };
    weir_status status = WEIR_ENOMEM;

    packing.fates = weir_alloc(memory, joint->count, sizeof *packing.fates);
    packing.turns = weir_alloc(memory, (size_t)joint->count * 2, sizeof *packing.turns);
    packing.classes = weir_alloc(memory, (size_t)packing.nodes * 2, sizeof *packing.classes);
    if (packing.fates != NULL && packing.turns != NULL && packing.classes != NULL) {
        packing.names = packing.turns + joint->count;
        packing.real = packing.classes + packing.nodes;
        status = pack(&packing);
    }
    weir_free(memory, packing.fates);
    weir_free(memory, packing.turns);
    weir_free(memory, packing.classes);
    weir_free(memory, packing.held.all);
    weir_free(memory, packing.planned.all);
    weir_free(memory, packing.seats);
    return status == WEIR_ENOMEM ? weir_fail(error, status, "out of memory") : status;
}

const struct weir_joint_rule weir_rule_tesserae = { choose, params, PARAM_COUNT, true };

WEIR_JOINT_POLICY(tesserae,
                  "whoever fits; all are packed anew when one does not, with the fewest moves",
                  weir_rule_tesserae);
