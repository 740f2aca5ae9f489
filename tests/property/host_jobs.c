/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pass over waiting jobs against a plain one, decision by decision.
 *
 * Random clusters live through submissions, withdrawals, ends, refusals and nodes that go and come.
 * The plain pass keeps an inventory of its own, sorts all waiting jobs at every decision, tries
 * each that has not been ruled out, and places rank by rank: which job starts, on which devices,
 * and which job is told that it finds no place must be the same.
 *
 * 1 000 lives; ten times as many with WEIR_SLOW set. WEIR_SEED=N runs that one alone.
 */
#include "tests/support/host_jobs.h"
#include "sched/internal/hash.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = 8, JOBS = 160, STEPS = 150, RANKS = 6, NODES = 5, WORKLOADS = 2 };

/* ---- the world, as the plain pass has it ---- */

enum state { GONE, WAITING, STARTING, RUNNING };

struct job {
    struct weir_job_spec spec;
    enum state state;
    uint32_t kind;
    uint64_t first; /* of its workers in the plain inventory */
    double key;
};

struct start {
    uint32_t job, rank;
    struct weir_alloc alloc;
};

struct life {
    struct draws draws;
    struct weir_host *host;
    struct weir_cluster *cluster, *empty;
    struct weir_chooser *chooser;
    struct weir_ranker *ranker;
    const struct weir_queueing_ops *queueing;
    struct weir_rank_group groups[KINDS][2];
    uint32_t group_count[KINDS], strategy[KINDS];
    bool settled[KINDS];
    struct job jobs[JOBS];
    uint32_t job_count;
    uint64_t next_worker;
    int64_t now_ns;
    bool is_dirty, by_policy, has_refused;
    struct start starts[JOBS * RANKS]; /* of the present decision */
    uint32_t start_count;
    uint32_t denied[KINDS]; /* job + 1 */
};

struct seen {
    uint64_t starts, gangs, denials, passes, infeasible, refused, lost;
};

static uint32_t draw(struct life *life, uint32_t below)
{
    return (uint32_t)draws_below(&life->draws, below);
}

static struct weir_owner owner_of(const struct job *job)
{
    return weir_job_owner(job->spec.workload, job->spec.id);
}

static uint32_t ranks_of(const struct life *life, uint32_t kind)
{
    uint32_t ranks = 0;

    for (uint32_t g = 0; g < life->group_count[kind]; g++)
        ranks += life->groups[kind][g].ranks;
    return ranks;
}

static const struct weir_shape *shape_of(const struct life *life, uint32_t kind, uint32_t rank)
{
    return rank < life->groups[kind][0].ranks ? &life->groups[kind][0].shape
                                              : &life->groups[kind][1].shape;
}

/* ---- the plain pass ---- */

static weir_status place_ranks(struct life *life, struct weir_cluster *cluster,
                               const struct job *job, struct weir_alloc *allocs)
{
    const uint32_t ranks = ranks_of(life, job->kind);
    struct weir_place_answer answer;
    weir_status status = WEIR_OK;
    uint32_t placed = 0;

    for (; status == WEIR_OK && placed < ranks; placed++) {
        const struct weir_mix mix = { 0 };
        const struct weir_place_query query = {
            .size = sizeof(struct weir_place_query),
            .cluster = cluster,
            .mix = &mix,
            .shape = shape_of(life, job->kind, placed),
            .owner = owner_of(job),
            .seed = ranks == 1 ? job->spec.seed : weir_hash_add(job->spec.seed, placed)
        };
        answer.reused = WEIR_NO_INDEX;
        status = weir_chooser_place(life->chooser, &query, &answer, NULL);
        if (status != WEIR_OK)
            break;
        allocs[placed] = answer.alloc;
        status = weir_cluster_add_worker(cluster, life->next_worker + placed, owner_of(job),
                                         &allocs[placed], NULL);
    }
    for (uint32_t i = 0; i < placed; i++)
        CHECK_I64(weir_cluster_remove_worker(cluster, life->next_worker + i, NULL), WEIR_OK);
    return status;
}

static weir_status place_group(struct life *life, struct weir_cluster *cluster,
                               const struct job *job, struct weir_alloc *allocs)
{
    const struct weir_mix mix = { 0 };
    struct weir_shape bundles[RANKS];
    struct weir_group_answer answer;
    const struct weir_group_query query = { .size = sizeof(struct weir_group_query),
                                            .scratch = cluster,
                                            .mix = &mix,
                                            .bundles = bundles,
                                            .bundle_count = ranks_of(life, job->kind),
                                            .strategy = life->strategy[job->kind] - 1,
                                            .owner = owner_of(job),
                                            .seed = job->spec.seed };

    for (uint32_t rank = 0; rank < query.bundle_count; rank++)
        bundles[rank] = *shape_of(life, job->kind, rank);
    return weir_group_place(life->by_policy ? life->chooser : NULL, &query, allocs, &answer, NULL);
}

static weir_status place(struct life *life, struct weir_cluster *cluster, const struct job *job,
                         struct weir_alloc *allocs)
{
    return life->strategy[job->kind] > 0 ? place_group(life, cluster, job, allocs)
                                         : place_ranks(life, cluster, job, allocs);
}

static bool is_before(const struct job *a, const struct job *b)
{
    if (a->key < b->key || a->key > b->key)
        return a->key < b->key;
    if (a->spec.submit_ns != b->spec.submit_ns)
        return a->spec.submit_ns < b->spec.submit_ns;
    if (a->spec.workload != b->spec.workload)
        return a->spec.workload < b->spec.workload;
    return a->spec.id < b->spec.id;
}

/* All that wait, in order. Returns how many. */
static uint32_t sort_waiting(struct life *life, uint32_t *order)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < life->job_count; i++) {
        struct job *const job = &life->jobs[i];
        struct weir_job seen = { .size = sizeof seen };
        if (job->state != WAITING)
            continue;
        CHECK(weir_view_job(weir_host_view(life->host, life->now_ns), job->spec.workload,
                            job->spec.id, &seen));
        CHECK_I64(weir_ranker_key(life->ranker, &seen, life->now_ns, &job->key, NULL), WEIR_OK);
        uint32_t at = count++;
        for (; at > 0 && is_before(job, &life->jobs[order[at - 1]]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return count;
}

static void start(struct life *life, uint32_t index, const struct weir_alloc *allocs)
{
    struct job *const job = &life->jobs[index];
    const uint32_t ranks = ranks_of(life, job->kind);

    job->state = STARTING;
    job->first = life->next_worker;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        life->starts[life->start_count++] = (struct start){ index, rank, allocs[rank] };
        CHECK_I64(weir_cluster_add_worker(life->cluster, life->next_worker++, owner_of(job),
                                          &allocs[rank], NULL),
                  WEIR_OK);
    }
}

static void plain_pass(struct life *life)
{
    const bool is_strict = (life->queueing->flags & WEIR_QUEUEING_PASSES) == 0;
    uint32_t order[JOBS];
    struct weir_alloc allocs[RANKS];
    const uint32_t count = sort_waiting(life, order);

    life->start_count = 0;
    memset(life->denied, 0, sizeof life->denied);
    for (uint32_t i = 0; life->is_dirty && i < count; i++) {
        const uint32_t kind = life->jobs[order[i]].kind;
        if (life->settled[kind] && is_strict)
            break;
        if (life->settled[kind])
            continue;
        if (place(life, life->cluster, &life->jobs[order[i]], allocs) == WEIR_OK) {
            start(life, order[i], allocs);
            continue;
        }
        life->settled[kind] = true;
        life->denied[kind] = order[i] + 1;
        if (is_strict)
            break;
    }
    life->is_dirty = false;
}

/* Something was given back. */
static void unsettle(struct life *life)
{
    memset(life->settled, 0, sizeof life->settled);
    life->has_refused = false;
    life->is_dirty = true;
}

static void give_back(struct life *life, struct job *job)
{
    for (uint32_t rank = 0; rank < ranks_of(life, job->kind); rank++)
        CHECK_I64(weir_cluster_remove_worker(life->cluster, job->first + rank, NULL), WEIR_OK);
    unsettle(life);
}

/* ---- both are told the same ---- */

static struct job *draw_job(struct life *life, enum state state)
{
    const uint32_t from = draw(life, JOBS);

    for (uint32_t i = 0; i < life->job_count; i++) {
        struct job *const job = &life->jobs[(from + i) % life->job_count];
        if (job->state == state)
            return job;
    }
    return NULL;
}

static void submit(struct life *life, struct job *job, struct seen *seen)
{
    struct weir_alloc allocs[RANKS];
    const weir_status status = weir_host_submit(life->host, &job->spec, NULL);

    job->state = status == WEIR_OK ? WAITING : GONE;
    life->is_dirty = life->is_dirty || status == WEIR_OK;
    if (status == WEIR_OK)
        return;
    CHECK_I64(status, WEIR_EINFEASIBLE);
    CHECK(place(life, life->empty, job, allocs) != WEIR_OK);
    seen->infeasible++;
}

static void submit_new(struct life *life, struct seen *seen)
{
    if (life->job_count == JOBS)
        return;
    struct job *const job = &life->jobs[life->job_count++];
    const uint32_t kind = draw(life, KINDS);
    job->kind = kind;
    job->spec = test_job_spec(1000 - life->job_count, life->groups[kind], life->group_count[kind]);
    job->spec.workload = draw(life, WORKLOADS);
    job->spec.strategy = life->strategy[kind];
    job->spec.submit_ns = life->now_ns - draw(life, 3);
    job->spec.queued_ns = job->spec.submit_ns;
    job->spec.estimate_ns = 5 * (int64_t)draw(life, 4);
    job->spec.priority = (int32_t)draw(life, 3);
    job->spec.seed = 1 + draw(life, 1000);
    submit(life, job, seen);
}

/* What its workers hold in the host is given back, wherever they are. */
static void end(struct life *life, struct job *job)
{
    test_tell_job(life->host, job->spec.id, WEIR_OUTCOME_STOPPED);
    CHECK_I64(weir_host_ended(life->host, job->spec.workload, job->spec.id, NULL), WEIR_OK);
    give_back(life, job);
    job->state = GONE;
}

static bool is_on(const struct life *life, const struct job *job, uint32_t node)
{
    struct weir_worker worker;
    bool is_there = false;

    for (uint32_t rank = 0; rank < ranks_of(life, job->kind); rank++)
        is_there = is_there || (weir_cluster_worker(life->cluster, job->first + rank, &worker) &&
                                worker.alloc.node == node);
    return is_there;
}

/* Jobs on it are lost; most are submitted again. */
static void change_node(struct life *life, struct seen *seen)
{
    const uint32_t node = draw(life, weir_cluster_node_count(life->cluster));
    const bool was_up = (weir_cluster_node(life->cluster, node)->flags & WEIR_NODE_UP) != 0;
    const uint32_t flags = was_up ? 0 : WEIR_NODE_UP;

    CHECK_I64(weir_host_set_node(life->host, node, flags, life->now_ns), WEIR_OK);
    for (uint32_t i = 0; was_up && i < life->job_count; i++) {
        struct job *const job = &life->jobs[i];
        if (job->state != RUNNING || !is_on(life, job, node))
            continue;
        end(life, job);
        seen->lost++;
        job->spec.attempts++;
        job->spec.seed += 7;
        if (draw(life, 4) > 0)
            submit(life, job, seen);
    }
    CHECK_I64(weir_cluster_set_node_flags(life->cluster, node, flags), WEIR_OK);
    if (!was_up || life->has_refused)
        unsettle(life);
}

static void withdraw(struct life *life)
{
    struct job *const job = draw_job(life, WAITING);

    if (job == NULL)
        return;
    CHECK_I64(weir_host_withdraw(life->host, job->spec.workload, job->spec.id), WEIR_OK);
    job->state = GONE;
    life->is_dirty = true;
}

static void act(struct life *life, struct seen *seen)
{
    const uint32_t what = draw(life, 20);
    struct job *const running = what < 8 ? draw_job(life, RUNNING) : NULL;

    if (running != NULL)
        end(life, running);
    else if (what == 8)
        withdraw(life);
    else if (what == 9)
        change_node(life, seen);
    else
        submit_new(life, seen);
}

/* ---- one decision ---- */

static bool is_same_alloc(const struct weir_alloc *a, const struct weir_alloc *b)
{
    return a->node == b->node && a->device_count == b->device_count &&
           a->cpu_units == b->cpu_units && a->ram_bytes == b->ram_bytes &&
           memcmp(a->devices, b->devices, a->device_count * sizeof a->devices[0]) == 0;
}

static bool is_denied(const struct life *life, const struct weir_owner *owner)
{
    for (uint32_t k = 0; k < KINDS; k++) {
        const struct job *const job = &life->jobs[life->denied[k] > 0 ? life->denied[k] - 1 : 0];
        const struct weir_owner expected = owner_of(job);
        if (life->denied[k] > 0 && weir_owner_is(&expected, owner))
            return true;
    }
    return false;
}

/* Whether the plan is the plain pass's. */
static bool compare(const struct life *life, const struct weir_plan *plan, struct seen *seen)
{
    uint32_t starts = 0;
    uint32_t denials = 0;
    bool is_same = true;

    for (uint32_t i = 0; is_same && i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        if (action->verb == WEIR_VERB_DENY) {
            is_same = is_denied(life, &action->owner);
            denials++;
            continue;
        }
        const struct start *const expected = &life->starts[starts];
        const struct weir_owner owner = owner_of(&life->jobs[expected->job]);
        is_same = starts++ < life->start_count && action->verb == WEIR_VERB_START &&
                  weir_owner_is(&action->owner, &owner) && action->rank == expected->rank &&
                  is_same_alloc(&action->alloc, &expected->alloc);
        seen->gangs += action->rank == 1;
    }
    for (uint32_t k = 0; k < KINDS; k++)
        denials -= life->denied[k] > 0;
    seen->starts += starts;
    seen->passes++;
    return is_same && starts == life->start_count && denials == 0;
}

/* Truth takes most jobs, whole. */
static void carry_out(struct life *life, const struct weir_plan *plan, struct seen *seen)
{
    const struct weir_action *action = NULL;

    for (uint32_t i = 0; i < life->start_count; i++) {
        const struct start *const start = &life->starts[i];
        struct job *const job = &life->jobs[start->job];
        for (uint32_t a = 0; start->rank == 0 && a < weir_plan_count(plan); a++)
            action = weir_plan_action(plan, a)->owner.id == job->spec.id &&
                             weir_plan_action(plan, a)->verb == WEIR_VERB_START &&
                             weir_plan_action(plan, a)->rank == 0
                         ? weir_plan_action(plan, a)
                         : action;
        if (start->rank == 0)
            job->state = draw(life, 25) == 0 ? WAITING : RUNNING;
        const struct weir_outcome outcome = { .size = sizeof(struct weir_outcome),
                                              .kind = job->state == RUNNING ? WEIR_OUTCOME_STARTED
                                                                            : WEIR_OUTCOME_REFUSED,
                                              .owner = owner_of(job),
                                              .worker = action->worker + start->rank,
                                              .time_ns = life->now_ns };
        CHECK_I64(weir_host_outcome(life->host, &outcome, &start->alloc, NULL), WEIR_OK);
        if (job->state == RUNNING || start->rank > 0)
            continue;
        const bool was_dirty = life->is_dirty;
        seen->refused++;
        for (uint32_t r = 0; r < ranks_of(life, job->kind); r++)
            CHECK_I64(weir_cluster_remove_worker(life->cluster, job->first + r, NULL), WEIR_OK);
        life->settled[job->kind] = true;
        life->has_refused = true;
        life->is_dirty = was_dirty;
    }
}

static bool decide(struct life *life, struct seen *seen)
{
    plain_pass(life);
    const struct weir_plan *const plan = test_decide(life->host, WEIR_CAUSE_JOBS, life->now_ns);
    if (plan == NULL || !CHECK(compare(life, plan, seen))) {
        if (plan != NULL)
            printf("the host: %s\n", test_starts(plan).text);
        printf("expected:");
        for (uint32_t i = 0; i < life->start_count; i++)
            printf(" %" PRIu64 ".%u@%u", life->jobs[life->starts[i].job].spec.id,
                   life->starts[i].rank, life->starts[i].alloc.node);
        printf("\n");
        return false;
    }
    for (uint32_t k = 0; k < KINDS; k++)
        seen->denials += life->denied[k] > 0;
    carry_out(life, plan, seen);
    return true;
}

/* ---- a life ---- */

/* Its order changes with time. */
static double shifting_key(void *state, const struct weir_job *job, int64_t now_ns)
{
    (void)state;
    return (double)(weir_hash_add(job->id, (uint64_t)now_ns / 16) % 16);
}

static const struct weir_queueing_ops shifting = { .size = sizeof shifting,
                                                   .abi = WEIR_ABI_MAJOR,
                                                   .name = "shifting",
                                                   .flags =
                                                       WEIR_QUEUEING_AGES | WEIR_QUEUEING_PASSES,
                                                   .key = shifting_key };
static const struct weir_queueing_ops strict_shifting = { .size = sizeof strict_shifting,
                                                          .abi = WEIR_ABI_MAJOR,
                                                          .name = "strict_shifting",
                                                          .flags = WEIR_QUEUEING_AGES,
                                                          .key = shifting_key };

static void draw_kinds(struct life *life)
{
    static const double gpus[] = { 0, 0.25, 0.5, 1, 1, 2, 3 };
    static const double cpus[] = { 0.5, 1, 2, 6 };

    for (uint32_t k = 0; k < KINDS; k++) {
        life->group_count[k] = 1 + draw(life, 4) / 3;
        const bool is_group = draw(life, 2) != 0;
        life->strategy[k] = is_group ? draw(life, 5) : 0;
        for (uint32_t g = 0; g < life->group_count[k]; g++) {
            const bool is_gang = draw(life, 2) != 0;
            const uint32_t ranks = is_gang ? 1 + draw(life, 3) : 1;
            const double cpu = cpus[draw(life, 4)] + 0.001 * k;
            life->groups[k][g] = test_rank_group(ranks, cpu, gpus[draw(life, 7)]);
        }
    }
}

/* One that the host walks for: those that walk themselves have properties of their own. */
static const struct weir_queueing_ops *draw_queueing(struct life *life)
{
    const uint32_t index = draw(life, weir_queueing_count() + 2);
    const struct weir_queueing_ops *const own =
        index == weir_queueing_count() ? &shifting : &strict_shifting;
    const struct weir_queueing_ops *const ops =
        index < weir_queueing_count() ? weir_queueing_at(index) : own;

    return ops->pass == NULL ? ops : draw_queueing(life);
}

static weir_status open_life(struct life *life)
{
    static const char *const placements[] = { "first_fit", "best_fit", "worst_fit",  "random",
                                              "spread",    "fgd",      "gpu_packing" };
    struct weir_host_config config = test_config(placements[draw(life, 7)], "fixed");
    const struct test_pipeline cluster = { .nodes = 1 + draw(life, NODES),
                                           .gpus = draw(life, 5),
                                           .cpus = 4 + 4 * draw(life, 4) };

    life->queueing = draw_queueing(life);
    life->by_policy = draw(life, 2) > 0;
    config.queueing = life->queueing;
    config.group_by_policy = life->by_policy;
    config.explain = draw(life, WEIR_EXPLAIN_FULL + 1);
    WEIR_TRY(weir_host_create(&config, &life->host, NULL));
    WEIR_TRY(test_fill_host(life->host, &cluster, NULL));
    WEIR_TRY(weir_host_add_workload(life->host, "a", NULL, NULL));
    WEIR_TRY(weir_host_add_workload(life->host, "b", NULL, NULL));
    WEIR_TRY(weir_cluster_copy(weir_host_cluster(life->host), &life->cluster));
    WEIR_TRY(weir_cluster_copy(weir_host_cluster(life->host), &life->empty));
    WEIR_TRY(weir_chooser_create(config.placement, NULL, NULL, &life->chooser, NULL));
    return weir_ranker_create(life->queueing, NULL, NULL, &life->ranker, NULL);
}

static void live(uint64_t seed, struct seen *seen)
{
    struct life *const life = calloc(1, sizeof *life);

    if (!CHECK(life != NULL))
        return;
    life->draws = draws_seeded(seed);
    life->next_worker = 1;
    draw_kinds(life);
    bool is_right = CHECK(open_life(life) == WEIR_OK);
    for (uint32_t i = 0; is_right && i < STEPS; i++) {
        life->now_ns += draw(life, 3);
        act(life, seen);
        test_jobs_check(life->host);
        if (draw(life, 3) > 0)
            is_right = decide(life, seen);
    }
    if (!is_right)
        printf("WEIR_SEED=%" PRIu64 "\n", seed);
    weir_ranker_destroy(life->ranker);
    weir_chooser_destroy(life->chooser);
    weir_cluster_destroy(life->empty);
    weir_cluster_destroy(life->cluster);
    weir_host_destroy(life->host);
    free(life);
}

/* covers: S1.17 */
static void the_pass_is_the_plain_one(void)
{
    const char *const only = getenv("WEIR_SEED");
    const uint64_t last = getenv("WEIR_SLOW") != NULL ? 10000 : 1000;
    struct seen seen = { 0 };

    if (only != NULL) {
        live(strtoull(only, NULL, 10), &seen);
        return;
    }
    for (uint64_t seed = 1; seed <= last; seed++)
        live(seed, &seen);
    printf("%" PRIu64 " passes: %" PRIu64 " ranks start, %" PRIu64 " jobs of several, %" PRIu64
           " denials, %" PRIu64 " infeasible, %" PRIu64 " refused, %" PRIu64 " lost\n",
           seen.passes, seen.starts, seen.gangs, seen.denials, seen.infeasible, seen.refused,
           seen.lost);
    CHECK(seen.passes > 80 * last && seen.starts > 20 * last && seen.gangs > 3 * last);
    CHECK(seen.denials > 5 * last && seen.infeasible > last && seen.refused > last / 2);
    CHECK(seen.lost > last);
}

static const struct test tests[] = {
    { "every pass is as the plain one has it", the_pass_is_the_plain_one },
};

TEST_MAIN(tests)
