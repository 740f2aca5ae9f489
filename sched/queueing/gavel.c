/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "gavel": shares of every type of GPU by a linear programme, given in rounds (Narayanan
 * et al., OSDI 2020). It decides who runs and on which type together.
 *
 * Every `round` jobs are chosen anew (type_rounds.h); who is not, or is to run on another type, is
 * preempted. Shares (sched/solve/type_shares.h) are worked out anew when jobs came or went, and
 * `reset` after the last time at the earliest; what jobs have had counts from then. Who comes
 * meanwhile has no share yet and runs where devices are left over. Between rounds nobody is
 * preempted, and nobody starts but those that were chosen; an idle cluster begins a round at once.
 *
 * Speeds on each type are those of the job (throughput); a job is worth the weight of its tenant.
 * With `whole_steps` a job whose steps are known does in a round as many of them as end within
 * `round`, and is preempted then; the round is over when the last one is through, and shares that
 * were worked out at 0 hold no longer than others, all as in the published simulator.
 *
 * Jobs without GPUs start when they fit, with `whole_steps` when a round begins. Goals beside
 * max-min: finish-time fairness, the makespan, and jobs in turn (then who has no share does not
 * run). Left out of the published code: packing two jobs on a GPU, and deficits, which settle ties
 * there.
 */
#include "sched/queueing/queueings.h"

#include "sched/internal/alloc.h"
#include "sched/internal/aside.h"
#include "sched/internal/made.h"
#include "sched/internal/memory.h"
#include "sched/internal/params.h"
#include "sched/queueing/parts/type_rounds.h"
#include "sched/solve/type_shares.h"
#include "weir/tenant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PARAM_ROUND,
    PARAM_RESET,
    PARAM_FILL,
    PARAM_GOAL,
    PARAM_HIERARCHY,
    PARAM_STEPS,
    PARAM_COUNT
};
enum { GOAL_FIFO = WEIR_TYPE_MAKESPAN + 1 };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_ROUND] = WEIR_DURATION("round", 1e-3, 1e9, 360, "time between two choices"),
    [PARAM_RESET] = WEIR_DURATION("reset", 0, 1e9, 1920,
                                  "time for which shares hold at least when jobs come and go"),
    [PARAM_FILL] =
        WEIR_FLAG("fill", 1, "jobs that could have more than the worst off are raised, too"),
    [PARAM_GOAL] = WEIR_CHOICE("goal", "max_min|finish_time|makespan|fifo", 3, WEIR_TYPE_MAX_MIN,
                               "what shares are for: the worst off, the worst time over that alone "
                               "on an equal part, the time until all are done; or each job in turn "
                               "has its fastest type that has room"),
    [PARAM_HIERARCHY] = WEIR_CHOICE("hierarchy", "none|fairness|fifo", 2, WEIR_TYPE_FLAT,
                                    "for max_min: the weight of a tenant is divided over its jobs, "
                                    "or its first has it, and the next when that has enough"),
    [PARAM_STEPS] = WEIR_FLAG("whole_steps", 0,
                              "as the published simulator has it: a job does the whole steps that "
                              "end within the round, then rests; the round ends with the last"),
};

static const double ns_per_s = 1e9;
static const double day_s = 86400; /* so long is a job that nobody knows the length of */

/* A job in its present round. */
struct entry {
    uint64_t id;
    uint32_t workload;
    uint32_t state;
    int64_t start_ns, submit_ns;
    double weight;
    uint32_t tenant;
    double total_s, done_s; /* on the first type; without what it has done this time */
    uint32_t held;          /* type + 1 that it runs on; 0 = it does not, or nobody knows */
    uint32_t wanted;        /* type + 1 that it is to run on; 0 = none */
    uint32_t is_preempted;
    uint32_t is_group; /* of bundles: it starts where their strategy puts them */
    double step_s;     /* on the first type; 0 = it has none */
    int64_t until_ns;  /* it rests then; INT64_MAX = it does not */
    double speed[WEIR_ROUND_TYPES];
    struct weir_round_job round;
};

struct gavel {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_program program;
    struct entry *jobs, *before; /* by workload and id */
    struct weir_round_job *chosen;
    uint32_t *order;
    double *numbers; /* of a problem: speeds, shares */
    struct weir_type_job *claims;
    uint32_t count, before_count, types;
    uint32_t job_capacity, before_capacity, chosen_capacity, order_capacity;
    uint32_t number_capacity, claim_capacity;
    double supply[WEIR_ROUND_TYPES];
    double round_ns, reset_ns, seen_ns; /* end of the round; shares are of then; latest pass */
    int64_t woken_ns;                   /* the latest call that was asked for */
    uint32_t missing;                   /* jobs that were chosen and do not run yet */
    bool has_changed;                   /* jobs came or went since shares were worked out */
};

/* ---- who is there ---- */

static int compare(const void *left, const void *right)
{
    const struct entry *const a = left;
    const struct entry *const b = right;

    if (a->workload != b->workload)
        return a->workload < b->workload ? -1 : 1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static uint32_t types_of(const struct weir_job *job, uint32_t types)
{
    uint32_t set = 0;

    for (uint32_t t = 0; t < types; t++) {
        bool takes = true;
        for (uint32_t g = 0; g < job->group_count; g++)
            takes = takes && (job->groups[g].shape.gpu_count == 0 ||
                              weir_shape_takes_type(&job->groups[g].shape, t));
        set |= takes ? UINT32_C(1) << t : 0;
    }
    return set;
}

static struct entry entry_of(const struct gavel *gavel, const struct weir_view *view,
                             const struct weir_job *job)
{
    const struct weir_amounts need = weir_job_amounts(job);
    struct weir_tenant tenant = { .size = sizeof tenant };
    struct entry entry = { .id = job->id,
                           .workload = job->workload,
                           .state = job->state,
                           .start_ns = job->start_ns,
                           .submit_ns = job->submit_ns,
                           .weight = 1,
                           .tenant = job->tenant,
                           .total_s = job->estimate_ns == WEIR_UNKNOWN_TIME
                                          ? day_s
                                          : (double)job->estimate_ns / ns_per_s,
                           .done_s = (double)job->done_ns / ns_per_s,
                           .is_preempted = job->is_preempted,
                           .is_group = job->strategy > 0,
                           .step_s = job->step_s,
                           .until_ns = INT64_MAX,
                           .round = { .devices = weir_units_amount(need.gpu_units) } };

    if (weir_view_tenant(view, job->tenant, &tenant) && tenant.weight > 0)
        entry.weight = tenant.weight;
    if (!(entry.round.devices > 0))
        return entry;
    entry.round.may_use = types_of(job, gavel->types);
    for (uint32_t t = 0; t < gavel->types; t++) {
        const double speed = t < job->throughput_count ? job->throughput[t] : 1;
        entry.speed[t] = (entry.round.may_use >> t & 1) != 0 && speed > 0 ? speed : 0;
        if (!(entry.speed[t] > 0))
            entry.round.may_use &= ~(UINT32_C(1) << t);
    }
    return entry;
}

/* What was known of it. */
static void keep(struct gavel *gavel, struct entry *entry)
{
    const struct entry *const old =
        gavel->before_count == 0
            ? NULL
            : bsearch(entry, gavel->before, gavel->before_count, sizeof *gavel->before, compare);

    if (old == NULL) {
        gavel->has_changed = true;
        return;
    }
    const uint32_t may_use = entry->round.may_use;
    const double devices = entry->round.devices;
    entry->round = old->round;
    entry->round.may_use = may_use;
    entry->round.devices = devices;
    entry->wanted = old->wanted;
    entry->until_ns = old->until_ns;
    entry->held = entry->state == WEIR_JOB_WAITING ? 0 : old->held;
}

static weir_status collect(struct gavel *gavel, const struct weir_view *view)
{
    struct weir_job job = { .size = sizeof job };
    uint32_t cursor = 0;
    struct entry *const spare = gavel->before;
    const uint32_t capacity = gavel->before_capacity;

    gavel->before = gavel->jobs;
    gavel->before_count = gavel->count;
    gavel->before_capacity = gavel->job_capacity;
    gavel->jobs = spare;
    gavel->job_capacity = capacity;
    gavel->count = 0;
    while (weir_view_next_job(view, &cursor, &job)) {
        if (weir_view_is_aside(view, &job))
            continue;
        WEIR_ROOM(&gavel->allocator, gavel->jobs, gavel->job_capacity, gavel->count + 1);
        gavel->jobs[gavel->count++] = entry_of(gavel, view, &job);
    }
    if (gavel->count > 1)
        qsort(gavel->jobs, gavel->count, sizeof *gavel->jobs, compare);
    for (uint32_t j = 0; j < gavel->count; j++)
        keep(gavel, &gavel->jobs[j]);
    gavel->has_changed = gavel->has_changed || gavel->count != gavel->before_count;
    return WEIR_OK;
}

/* GPUs that are up, by type. O(GPUs). */
static void count_supply(struct gavel *gavel, const struct weir_cluster *cluster)
{
    gavel->types = 1;
    memset(gavel->supply, 0, sizeof gavel->supply);
    for (uint32_t n = 0; n < weir_cluster_node_count(cluster); n++) {
        const struct weir_node *const node = weir_cluster_node(cluster, n);
        for (uint32_t g = 0; (node->flags & WEIR_NODE_UP) != 0 && g < node->gpu_count; g++) {
            const uint32_t type = weir_cluster_gpu(cluster, n, g)->type;
            if (type >= WEIR_ROUND_TYPES)
                continue;
            gavel->supply[type]++;
            gavel->types = type >= gavel->types ? type + 1 : gavel->types;
        }
    }
}

/* Since the last pass that counted. */
static void count_time_of(const struct gavel *gavel, struct entry *job, int64_t now_ns)
{
    const double since_ns = fmax(gavel->seen_ns, (double)job->start_ns);

    if (job->held > 0 && job->state != WEIR_JOB_WAITING && (double)now_ns > since_ns)
        job->round.had_s[job->held - 1] += ((double)now_ns - since_ns) / ns_per_s;
}

static void count_time(struct gavel *gavel, int64_t now_ns)
{
    for (uint32_t j = 0; j < gavel->count; j++)
        count_time_of(gavel, &gavel->jobs[j], now_ns);
    gavel->seen_ns = (double)now_ns;
}

/* ---- shares ---- */

/* Each in the order of submission has all of its time on its fastest type that has room, until one
 * finds none. */
static void share_in_turn(const struct gavel *gavel, const uint32_t *turn, double *share)
{
    double left[WEIR_ROUND_TYPES];

    memcpy(left, gavel->supply, sizeof left);
    for (uint32_t i = 0; i < gavel->count; i++) {
        const struct entry *const job = &gavel->jobs[turn[i]];
        uint32_t best = WEIR_NO_INDEX;
        if (job->round.may_use == 0)
            continue;
        for (uint32_t t = 0; t < gavel->types; t++)
            if (job->speed[t] > 0 && job->round.devices <= left[t] &&
                (best == WEIR_NO_INDEX || job->speed[t] > job->speed[best]))
                best = t;
        if (best == WEIR_NO_INDEX)
            return;
        share[(size_t)turn[i] * gavel->types + best] = 1;
        left[best] -= job->round.devices;
    }
}

/* Jobs by submission; few, and nearly in order already. */
static void put_in_turn(const struct gavel *gavel, uint32_t *turn)
{
    for (uint32_t j = 0; j < gavel->count; j++) {
        uint32_t at = j;
        for (; at > 0 && gavel->jobs[turn[at - 1]].submit_ns > gavel->jobs[j].submit_ns; at--)
            turn[at] = turn[at - 1];
        turn[at] = j;
    }
}

/* Of its time on the first type. */
static double left_s(const struct entry *job, int64_t now_ns)
{
    const bool runs = job->held > 0 && job->state != WEIR_JOB_WAITING;
    const double ran_s = runs ? (double)(now_ns - job->start_ns) / ns_per_s : 0;
    const double done_s = job->done_s + (runs ? ran_s * job->speed[job->held - 1] : 0);

    return fmax(job->total_s - done_s, 0);
}

/* What the programme is told of a job: who it is for, and its times. */
static struct weir_type_job claim_of(const struct gavel *gavel, const struct entry *job,
                                     int64_t now_ns)
{
    const bool has_entities = gavel->values[PARAM_HIERARCHY] > 0;

    return (struct weir_type_job){ .devices = job->round.devices,
                                   .weight = has_entities ? 1 : job->weight,
                                   .entity = job->tenant,
                                   .left = left_s(job, now_ns),
                                   .spent_s = (double)(now_ns - job->submit_ns) / ns_per_s,
                                   .total = job->total_s };
}

/* Weights of tenants, by number. */
static weir_status list_entities(struct gavel *gavel, double **entities)
{
    uint32_t most = 0;

    for (uint32_t j = 0; j < gavel->count; j++)
        most = gavel->jobs[j].tenant > most ? gavel->jobs[j].tenant : most;
    *entities = weir_alloc(&gavel->allocator, (size_t)most + 1, sizeof **entities);
    for (uint32_t j = 0; *entities != NULL && j < gavel->count; j++)
        (*entities)[gavel->jobs[j].tenant] = gavel->jobs[j].weight;
    return *entities == NULL ? WEIR_ENOMEM : WEIR_OK;
}

static weir_status solve(struct gavel *gavel, uint32_t jobs, double *share)
{
    double *entities = NULL;

    WEIR_TRY(list_entities(gavel, &entities));
    const struct weir_type_problem problem = { .jobs = jobs,
                                               .types = gavel->types,
                                               .job = gavel->claims,
                                               .throughput = gavel->numbers,
                                               .supply = gavel->supply,
                                               .is_filled = gavel->values[PARAM_FILL] > 0,
                                               .goal = (uint32_t)gavel->values[PARAM_GOAL],
                                               .hierarchy =
                                                   (uint32_t)gavel->values[PARAM_HIERARCHY],
                                               .entities = entities };
    const weir_status status = weir_type_shares(&gavel->program, &problem, share, NULL);
    weir_free(&gavel->allocator, entities);
    return status;
}

static weir_status fill_programme(struct gavel *gavel, int64_t now_ns, double *share,
                                  struct weir_error *error)
{
    uint32_t jobs = 0;

    WEIR_ROOM(&gavel->allocator, gavel->claims, gavel->claim_capacity, gavel->count + 1);
    for (uint32_t j = 0; j < gavel->count; j++) {
        const struct entry *const job = &gavel->jobs[j];
        if (job->round.may_use == 0)
            continue;
        gavel->claims[jobs] = claim_of(gavel, job, now_ns);
        memcpy(&gavel->numbers[(size_t)jobs++ * gavel->types], job->speed,
               gavel->types * sizeof *gavel->numbers);
    }
    const weir_status status = jobs > 0 ? solve(gavel, jobs, share) : WEIR_OK;
    if (status == WEIR_ENOMEM)
        return weir_fail(error, status, "out of memory");
    if (status != WEIR_OK)
        return weir_fail(error, WEIR_EPOLICY, "the shares of %u jobs cannot be worked out", jobs);
    for (uint32_t j = gavel->count;
         j-- > 0 && jobs < gavel->count;) /* those without GPUs have none */
        if (gavel->jobs[j].round.may_use != 0)
            memmove(share + (size_t)j * gavel->types, share + (size_t)--jobs * gavel->types,
                    gavel->types * sizeof *share);
    return WEIR_OK;
}

static weir_status work_out(struct gavel *gavel, int64_t now_ns, struct weir_error *error)
{
    const struct weir_allocator *const memory = &gavel->allocator;
    const uint32_t cells = gavel->count * gavel->types;

    WEIR_ROOM(memory, gavel->numbers, gavel->number_capacity, 2 * cells + 1);
    WEIR_ROOM(memory, gavel->order, gavel->order_capacity, gavel->count + 1);
    double *const share = gavel->numbers + cells;
    memset(share, 0, cells * sizeof *share);
    if ((uint32_t)gavel->values[PARAM_GOAL] == GOAL_FIFO) {
        put_in_turn(gavel, gavel->order);
        share_in_turn(gavel, gavel->order, share);
    } else {
        WEIR_TRY(fill_programme(gavel, now_ns, share, error));
    }
    for (uint32_t j = 0; j < gavel->count; j++) {
        struct entry *const job = &gavel->jobs[j];
        memset(job->round.share, 0, sizeof job->round.share);
        memset(job->round.had_s, 0, sizeof job->round.had_s);
        if (job->round.may_use != 0)
            memcpy(job->round.share, share + (size_t)j * gavel->types,
                   gavel->types * sizeof *share);
    }
    return WEIR_OK;
}

static uint32_t shared_types(const struct weir_round_job *job, uint32_t types)
{
    uint32_t set = 0;

    for (uint32_t t = 0; t < types; t++)
        set |= job->share[t] > 0 ? UINT32_C(1) << t : 0;
    return set;
}

/* Jobs that are to run rest after their last whole step; the round is as long as the longest. */
static void set_rests(struct gavel *gavel, int64_t now_ns)
{
    static const double slack_ns = 2; /* behind the end of a job, which is rounded elsewhere */
    double end_ns = (double)now_ns;

    for (uint32_t j = 0; j < gavel->count; j++) {
        struct entry *const job = &gavel->jobs[j];
        job->until_ns = INT64_MAX;
        if (job->wanted == 0)
            continue;
        const double speed = job->speed[job->wanted - 1];
        const double step_s = job->step_s / speed;
        const double most_s = step_s > 0 ? floor(gavel->values[PARAM_ROUND] / step_s) * step_s
                                         : gavel->values[PARAM_ROUND];
        const double own_s = left_s(job, now_ns) / speed;
        if (own_s > most_s && step_s > 0)
            job->until_ns = now_ns + llround(most_s * ns_per_s);
        const double last_ns =
            own_s > most_s ? round(most_s * ns_per_s) : ceil(own_s * ns_per_s) + slack_ns;
        end_ns = fmax(end_ns, (double)now_ns + last_ns);
    }
    gavel->round_ns = end_ns;
}

/* It gives its place back until the next round; unless it has gone since. */
static weir_status rest(struct gavel *gavel, struct entry *job, const struct weir_view *view,
                        struct weir_placer *placer, struct weir_error *error)
{
    struct weir_job known = { .size = sizeof known };

    job->until_ns = INT64_MAX;
    job->wanted = 0;
    if (!weir_view_job(view, job->workload, job->id, &known) || known.state != WEIR_JOB_RUNNING ||
        known.is_preempted != 0)
        return WEIR_OK;
    count_time_of(gavel, job, view->now_ns);
    job->held = 0;
    return weir_placer_preempt_job(placer, job->workload, job->id, error);
}

/* Those whose steps of the round are done; and it is to be called when the next ones are. */
static weir_status let_rest(struct gavel *gavel, const struct weir_view *view,
                            struct weir_placer *placer, struct weir_plan *plan,
                            struct weir_error *error)
{
    int64_t next_ns = (int64_t)gavel->round_ns;

    for (uint32_t j = 0; j < gavel->count; j++) {
        struct entry *const job = &gavel->jobs[j];
        if (job->until_ns <= view->now_ns)
            WEIR_TRY(rest(gavel, job, view, placer, error));
        if (job->until_ns < next_ns)
            next_ns = job->until_ns;
    }
    if (next_ns <= view->now_ns || (gavel->woken_ns > view->now_ns && gavel->woken_ns <= next_ns))
        return WEIR_OK; /* the call that was asked for asks for the next */
    gavel->woken_ns = next_ns;
    return weir_plan_wake(plan, next_ns);
}

static weir_status choose(struct gavel *gavel, int64_t now_ns, struct weir_error *error)
{
    const bool counts_steps = gavel->values[PARAM_STEPS] > 0;
    const bool is_first = counts_steps && !(gavel->reset_ns > 0);
    const double since_ns = (double)now_ns - gavel->reset_ns;
    const struct weir_allocator *const memory = &gavel->allocator;

    if (gavel->has_changed && (is_first || !(since_ns < gavel->values[PARAM_RESET] * ns_per_s))) {
        WEIR_TRY(work_out(gavel, now_ns, error));
        gavel->reset_ns = (double)now_ns;
        gavel->has_changed = false;
    }
    WEIR_ROOM(memory, gavel->chosen, gavel->chosen_capacity, gavel->count + 1);
    WEIR_ROOM(memory, gavel->order, gavel->order_capacity, gavel->count + 1);
    for (uint32_t j = 0; j < gavel->count; j++) {
        gavel->chosen[j] = gavel->jobs[j].round;
        if ((uint32_t)gavel->values[PARAM_GOAL] == GOAL_FIFO)
            gavel->chosen[j].may_use = shared_types(&gavel->jobs[j].round, gavel->types);
    }
    struct weir_type_round round = { .jobs = gavel->chosen,
                                     .order = gavel->order,
                                     .job_count = gavel->count,
                                     .type_count = gavel->types,
                                     .supply = gavel->supply };
    weir_round_choose(&round);
    for (uint32_t j = 0; j < gavel->count; j++)
        gavel->jobs[j].wanted = gavel->chosen[j].type + 1; /* none: 0 */
    gavel->round_ns = (double)now_ns + gavel->values[PARAM_ROUND] * ns_per_s;
    if (counts_steps)
        set_rests(gavel, now_ns);
    return WEIR_OK;
}

/* ---- the pass ---- */

static bool is_idle(const struct gavel *gavel)
{
    for (uint32_t j = 0; j < gavel->count; j++)
        if (gavel->jobs[j].state != WEIR_JOB_WAITING || gavel->jobs[j].wanted > 0)
            return false;
    return true;
}

/* Who runs where it is not to run. */
static weir_status stop_others(struct gavel *gavel, struct weir_placer *placer,
                               struct weir_error *error)
{
    for (uint32_t j = 0; j < gavel->count; j++) {
        const struct entry *const job = &gavel->jobs[j];
        if (job->state != WEIR_JOB_RUNNING || job->is_preempted != 0 || job->wanted == job->held ||
            job->round.may_use == 0)
            continue;
        WEIR_TRY(weir_placer_preempt_job(placer, job->workload, job->id, error));
    }
    return WEIR_OK;
}

static weir_status start(struct entry *job, struct weir_placer *placer, struct weir_error *error)
{
    const bool is_anywhere = job->round.may_use == 0 || job->is_group != 0;
    const weir_status status =
        is_anywhere
            ? weir_placer_start_job(placer, job->workload, job->id, error)
            : weir_placer_start_job_on(placer, job->workload, job->id, job->wanted - 1, error);

    if (status == WEIR_OK)
        job->held = job->wanted;
    if (status != WEIR_EBUSY && status != WEIR_EINFEASIBLE)
        return status;
    error->text[0] = '\0'; /* an answer */
    return WEIR_OK;
}

/* Who was chosen, and may wait until who has its place has gone. */
static weir_status start_chosen(struct gavel *gavel, struct weir_placer *placer,
                                struct weir_error *error)
{
    gavel->missing = 0;
    for (uint32_t j = 0; j < gavel->count; j++) {
        struct entry *const job = &gavel->jobs[j];
        if (job->state == WEIR_JOB_WAITING && (job->wanted > 0 || job->round.may_use == 0))
            WEIR_TRY(start(job, placer, error));
        gavel->missing += job->wanted > 0 && job->held != job->wanted;
    }
    return WEIR_OK;
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct gavel *const gavel = state;
    const bool counts_steps = gavel->values[PARAM_STEPS] > 0;
    const bool is_over = !((double)view->now_ns < gavel->round_ns);

    if (!counts_steps && weir_view_waiting_jobs(view) == 0)
        return WEIR_OK;
    if (counts_steps && !is_over && gavel->missing == 0) /* nobody starts before its end */
        return let_rest(gavel, view, placer, plan, error);
    count_supply(gavel, view->cluster);
    if (collect(gavel, view) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    count_time(gavel, view->now_ns);
    if (is_over || is_idle(gavel)) {
        WEIR_TRY(choose(gavel, view->now_ns, error));
        WEIR_TRY(stop_others(gavel, placer, error));
        if (!counts_steps)
            WEIR_TRY(weir_plan_wake(plan, (int64_t)gavel->round_ns));
    }
    if (counts_steps)
        WEIR_TRY(let_rest(gavel, view, placer, plan, error));
    return start_chosen(gavel, placer, error);
}

/* ---- state ---- */

static const struct weir_made made = WEIR_MADE(struct gavel, params, PARAM_COUNT);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    struct gavel *const gavel = *state;
    gavel->round_ns = gavel->reset_ns = gavel->seen_ns = -HUGE_VAL;
    weir_program_open(&gavel->program, allocator);
    return WEIR_OK;
}

static void destroy(void *state)
{
    struct gavel *const gavel = state;
    const struct weir_allocator *const allocator = &gavel->allocator;

    weir_program_close(&gavel->program);
    weir_free(allocator, gavel->jobs);
    weir_free(allocator, gavel->before);
    weir_free(allocator, gavel->chosen);
    weir_free(allocator, gavel->order);
    weir_free(allocator, gavel->numbers);
    weir_free(allocator, gavel->claims);
    weir_made_destroy(state);
}

/* Three times, a flag, then of each job its number, where it runs and is to run, when it rests, and
 * by type its share and what it has had. */
enum { HEAD = 4, OF_JOB = 6 + 2 * WEIR_ROUND_TYPES };

static uint32_t save(const void *state, double *numbers, uint32_t capacity)
{
    const struct gavel *const gavel = state;
    const uint32_t count = HEAD + gavel->count * OF_JOB;

    if (capacity < count)
        return count;
    numbers[0] = gavel->round_ns;
    numbers[1] = gavel->reset_ns;
    numbers[2] = gavel->seen_ns;
    numbers[3] = gavel->has_changed;
    for (uint32_t j = 0; j < gavel->count; j++) {
        const struct entry *const job = &gavel->jobs[j];
        double *const to = numbers + HEAD + (size_t)j * OF_JOB;
        to[0] = job->workload;
        to[1] = (double)job->id;
        to[2] = job->held;
        to[3] = job->wanted;
        to[4] = 0; /* of older versions */
        to[5] = job->until_ns == INT64_MAX ? 0 : weir_memory_of_time(job->until_ns);
        memcpy(to + 6, job->round.share, sizeof job->round.share);
        memcpy(to + 6 + WEIR_ROUND_TYPES, job->round.had_s, sizeof job->round.had_s);
    }
    return count;
}

static weir_status restore(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t count, struct weir_error *error)
{
    struct gavel *const gavel = state;

    (void)view;
    if (count < HEAD || (count - HEAD) % OF_JOB != 0)
        return weir_fail(error, WEIR_EFORMAT, "gavel remembers %d numbers and %d a job, got %u",
                         HEAD, OF_JOB, count);
    for (uint32_t i = 0; i < count; i++)
        if (isnan(numbers[i]))
            return weir_fail(error, WEIR_EFORMAT, "number %u is none", i);
    gavel->count = (count - HEAD) / OF_JOB;
    WEIR_ROOM(&gavel->allocator, gavel->jobs, gavel->job_capacity, gavel->count + 1);
    gavel->round_ns = numbers[0];
    gavel->reset_ns = numbers[1];
    gavel->seen_ns = numbers[2];
    gavel->has_changed = numbers[3] > 0;
    for (uint32_t j = 0; j < gavel->count; j++) {
        const double *const from = numbers + HEAD + (size_t)j * OF_JOB;
        struct entry *const job = &gavel->jobs[j];
        *job = (struct entry){ .workload = (uint32_t)from[0],
                               .id = (uint64_t)from[1],
                               .held = (uint32_t)from[2],
                               .wanted = (uint32_t)from[3],
                               .until_ns =
                                   fabs(from[5]) > 0 ? weir_memory_to_time(from[5]) : INT64_MAX };
        memcpy(job->round.share, from + 6, sizeof job->round.share);
        memcpy(job->round.had_s, from + 6 + WEIR_ROUND_TYPES, sizeof job->round.had_s);
    }
    return WEIR_OK;
}

const struct weir_queueing_ops weir_queueing_gavel = {
    .size = sizeof weir_queueing_gavel,
    .abi = WEIR_ABI_MAJOR,
    .flags = WEIR_QUEUEING_RESIZES,
    .name = "gavel",
    .summary = "shares of every GPU type so that the worst off job is as well off as can be, in "
               "rounds; decides who runs and on which type",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .pass = pass,
    .save = save,
    .restore = restore,
};
