/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Limits of tenants and licences in the pass of the host, against a plain pass that asks for
 * everything anew.
 *
 * Random trees of tenants on one node live through submissions, withdrawals, ends and limits that
 * change. The plain pass sorts all that wait, adds up what every tenant has, and walks: who a limit
 * holds is in nobody's way, who goes beyond a soft limit comes after all others, and where jobs may
 * not pass each other the first that finds no GPUs ends the walk. Who is held when his turn comes
 * stays so to the end of the pass, with all jobs like his. Who starts must be the same, in the
 * same order. Half of the lives have a licence; half of
 * these licences are for the more urgent jobs alone.
 *
 * 2 000 lives; ten times as many with WEIR_SLOW set. WEIR_SEED=N runs that one alone.
 */
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/tenants.h"
#include "weir/licence.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TENANTS = 6, JOBS = 120, STEPS = 100, GPUS = 16, MOST_TAKEN = 2, NO_LIMIT = 1000 };

enum state { GONE, WAITING, RUNNING };

struct job {
    enum state state;
    uint32_t tenant, gpus, licences;
    int32_t priority;
    int64_t submit_s, seconds;
};

struct tenant {
    uint32_t parent;
    int guarantee, hard, soft, borrow, lend;
};

struct life {
    struct draws draws;
    struct weir_host *host;
    struct tenant tenants[TENANTS + 1];
    struct job jobs[JOBS + 1];                        /* by id, from 1 */
    uint32_t tenant_count, job_count, gpus, licences; /* 0 = there are none */
    int32_t threshold;
    int64_t now_s;
    bool by_estimate, is_strict;
    /* Jobs of so many GPUs and licences, below the threshold or not, in this pass. */
    bool was_held[TENANTS + 1][GPUS + 1][MOST_TAKEN + 1][2];
    uint32_t starts[JOBS], start_count;
};

struct seen {
    uint64_t starts, passes, held, put_off, lacked, barred;
};

static int draw(struct life *life, int below)
{
    return (int)draws_below(&life->draws, (uint64_t)below);
}

/* ---- the plain pass ---- */

static bool is_below(const struct life *life, uint32_t tenant, uint32_t above)
{
    while (tenant != above && tenant != 0)
        tenant = life->tenants[tenant].parent;
    return tenant == above;
}

static int used(const struct life *life, uint32_t tenant)
{
    int gpus = 0;

    for (uint32_t i = 1; i <= life->job_count; i++)
        if (life->jobs[i].state == RUNNING && is_below(life, life->jobs[i].tenant, tenant))
            gpus += (int)life->jobs[i].gpus;
    return gpus;
}

static uint32_t taken(const struct life *life)
{
    uint32_t licences = 0;

    for (uint32_t i = 1; i <= life->job_count; i++)
        licences += life->jobs[i].state == RUNNING ? life->jobs[i].licences : 0;
    return licences;
}

static bool is_barred(const struct life *life, const struct job *job)
{
    return job->licences > 0 && job->priority < life->threshold;
}

/* What a tenant and those below it keep of what they do not lend. */
static int kept(const struct life *life, uint32_t tenant)
{
    const struct tenant *const of = &life->tenants[tenant];
    const int own = of->lend < of->guarantee ? of->guarantee - of->lend - used(life, tenant) : 0;
    int below = 0;

    for (uint32_t t = 1; t <= life->tenant_count; t++)
        below += life->tenants[t].parent == tenant ? kept(life, t) : 0;
    return own > below ? own : below;
}

/* From a tenant: by all that are neither above it nor itself, and by those below it. */
static int kept_from(const struct life *life, uint32_t tenant)
{
    int gpus = 0;

    for (uint32_t t = 1; t <= life->tenant_count; t++)
        if (!is_below(life, tenant, t) && is_below(life, tenant, life->tenants[t].parent))
            gpus += kept(life, t);
    return gpus;
}

static bool is_held(const struct life *life, const struct job *job)
{
    const int left = (int)life->gpus - used(life, 0) - (int)job->gpus;
    const int others = kept_from(life, job->tenant);

    if (is_barred(life, job) || (job->licences > 0 && taken(life) + job->licences > life->licences))
        return true;
    for (uint32_t t = job->tenant; t != 0; t = life->tenants[t].parent) {
        const int then = used(life, t) + (int)job->gpus;
        if (then > life->tenants[t].hard ||
            then > life->tenants[t].guarantee + life->tenants[t].borrow)
            return true;
    }
    return left >= 0 && others > 0 && left < others;
}

static bool is_beyond_soft(const struct life *life, const struct job *job)
{
    for (uint32_t t = job->tenant; t != 0; t = life->tenants[t].parent)
        if (used(life, t) + (int)job->gpus > life->tenants[t].soft)
            return true;
    return false;
}

static int64_t key_of(const struct life *life, uint32_t id)
{
    return life->by_estimate ? life->jobs[id].seconds : life->jobs[id].submit_s;
}

/* By key, submission and id. */
static bool is_before(const struct life *life, uint32_t a, uint32_t b)
{
    if (key_of(life, a) != key_of(life, b))
        return key_of(life, a) < key_of(life, b);
    if (life->jobs[a].submit_s != life->jobs[b].submit_s)
        return life->jobs[a].submit_s < life->jobs[b].submit_s;
    return a < b;
}

static uint32_t sort_waiting(const struct life *life, uint32_t *order)
{
    uint32_t count = 0;

    for (uint32_t i = 1; i <= life->job_count; i++) {
        if (life->jobs[i].state != WAITING)
            continue;
        uint32_t at = count++;
        for (; at > 0 && is_before(life, i, order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    return count;
}

/* Over those that wait; `is_last` = nobody is put off any more. */
static void walk(struct life *life, const uint32_t *order, uint32_t count, bool is_last,
                 struct seen *seen)
{
    for (uint32_t i = 0; i < count; i++) {
        struct job *const job = &life->jobs[order[i]];
        if (job->state != WAITING)
            continue;
        if (!is_last && is_beyond_soft(life, job)) {
            seen->put_off++;
            continue;
        }
        bool *const was_held =
            &life->was_held[job->tenant][job->gpus][job->licences][is_barred(life, job)];
        *was_held = *was_held || is_held(life, job);
        seen->barred += is_barred(life, job);
        seen->lacked += job->licences > 0 && taken(life) + job->licences > life->licences;
        seen->held += *was_held;
        if (*was_held)
            continue;
        if (used(life, 0) + (int)job->gpus <= (int)life->gpus) {
            job->state = RUNNING;
            life->starts[life->start_count++] = order[i];
        } else if (life->is_strict) {
            return;
        }
    }
}

static void plain_pass(struct life *life, struct seen *seen)
{
    uint32_t order[JOBS];
    const uint32_t count = sort_waiting(life, order);

    life->start_count = 0;
    memset(life->was_held, 0, sizeof life->was_held);
    walk(life, order, count, false, seen);
    walk(life, order, count, true, seen);
}

/* ---- both are told the same ---- */

static struct weir_quota quota(int gpus)
{
    struct weir_quota quota = test_gpus(gpus);

    if (gpus == NO_LIMIT)
        quota.gpu_units = WEIR_NO_QUOTA;
    return quota;
}

static int draw_limit(struct life *life, int odds)
{
    return draw(life, odds) == 0 ? draw(life, (int)life->gpus) : NO_LIMIT;
}

static struct weir_tenant_spec draw_tenant(struct life *life, struct tenant *tenant)
{
    struct weir_tenant_spec spec = weir_tenant_default();

    tenant->guarantee = draw(life, 2) * draw(life, 1 + (int)life->gpus / 3);
    tenant->hard = draw_limit(life, 2);
    tenant->soft = draw_limit(life, 4);
    tenant->borrow = draw_limit(life, 4);
    tenant->lend = draw_limit(life, 3);
    spec.parent = tenant->parent;
    spec.guarantee = (struct weir_quota){ quota(tenant->guarantee).gpu_units, 0, 0 };
    spec.hard = quota(tenant->hard);
    spec.soft = quota(tenant->soft);
    spec.borrow = quota(tenant->borrow);
    spec.lend = quota(tenant->lend);
    return spec;
}

static void submit(struct life *life)
{
    if (life->job_count == JOBS)
        return;
    const uint32_t id = ++life->job_count;
    struct job *const job = &life->jobs[id];
    job->state = WAITING;
    job->tenant = (uint32_t)draw(life, (int)life->tenant_count + 1);
    job->gpus = 1 + (uint32_t)draw(life, 2) * (uint32_t)draw(life, (int)life->gpus / 2);
    job->submit_s = life->now_s;
    job->seconds = 1 + draw(life, 9);
    job->licences = life->licences == 0 ? 0 : (uint32_t)draw(life, MOST_TAKEN + 1);
    job->priority = life->licences == 0 ? 0 : draw(life, 4);
    const struct weir_rank_group group = test_rank_group(1, 0, job->gpus);
    struct weir_job_spec spec = test_job_spec(id, &group, 1);
    spec.tenant = job->tenant;
    spec.priority = job->priority;
    spec.licences[0] = job->licences;
    spec.submit_ns = spec.queued_ns = job->submit_s * 1000000000;
    spec.estimate_ns = job->seconds * 1000000000;
    CHECK_I64(weir_host_submit(life->host, &spec, NULL), WEIR_OK);
}

static uint32_t draw_job(struct life *life, enum state state)
{
    const uint32_t from = (uint32_t)draw(life, JOBS);

    for (uint32_t i = 0; i < life->job_count; i++) {
        const uint32_t id = 1 + (from + i) % life->job_count;
        if (life->jobs[id].state == state)
            return id;
    }
    return 0;
}

static void act(struct life *life)
{
    const int what = draw(life, 20);
    const uint32_t running = what < 8 ? draw_job(life, RUNNING) : 0;
    const uint32_t waiting = what == 8 ? draw_job(life, WAITING) : 0;

    if (running != 0) {
        test_end_job(life->host, running);
        life->jobs[running].state = GONE;
    } else if (waiting != 0) {
        CHECK_I64(weir_host_withdraw(life->host, 0, waiting), WEIR_OK);
        life->jobs[waiting].state = GONE;
    } else if (what == 9) {
        const uint32_t number = 1 + (uint32_t)draw(life, (int)life->tenant_count);
        const struct weir_tenant_spec spec = draw_tenant(life, &life->tenants[number]);
        CHECK_I64(weir_host_set_tenant(life->host, number, &spec, NULL), WEIR_OK);
    } else {
        submit(life);
    }
}

/* ---- one decision ---- */

static bool is_same(const struct life *life, const struct weir_plan *plan)
{
    uint32_t starts = 0;

    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        if (action->verb != WEIR_VERB_START)
            continue;
        if (starts == life->start_count || action->owner.id != life->starts[starts++])
            return false;
    }
    return starts == life->start_count;
}

static bool decide(struct life *life, struct seen *seen)
{
    plain_pass(life, seen);
    const struct weir_plan *const plan =
        test_decide(life->host, WEIR_CAUSE_JOBS, life->now_s * 1000000000);
    seen->passes++;
    seen->starts += life->start_count;
    if (plan != NULL && CHECK(is_same(life, plan))) {
        CHECK_I64(test_carry_out(life->host, plan), WEIR_OK);
        return true;
    }
    printf("the host: %s\nexpected:", plan == NULL ? "no plan" : test_starts(plan).text);
    for (uint32_t i = 0; i < life->start_count; i++)
        printf(" %u", life->starts[i]);
    printf("\n");
    return false;
}

static void open_life(struct life *life)
{
    static const char *const policies[] = { "fcfs", "sjf", "first_fit" };
    const int policy = draw(life, 4) % 3;
    const struct test_node node = { 1, 4 + (uint32_t)draw(life, GPUS - 3), 64, 1e12 };

    life->gpus = node.gpus;
    life->by_estimate = policy == 1;
    life->is_strict = (weir_queueing_find(policies[policy])->flags & WEIR_QUEUEING_PASSES) == 0;
    life->host = test_tenants_host(policies[policy], &node);
    for (uint32_t count = 1 + (uint32_t)draw(life, TENANTS); life->tenant_count < count;) {
        struct tenant *const tenant = &life->tenants[++life->tenant_count];
        tenant->parent = (uint32_t)draw(life, (int)life->tenant_count);
        (void)test_tenant(life->host, draw_tenant(life, tenant));
    }
    if (draw(life, 2) == 0)
        return;
    life->licences = MOST_TAKEN + (uint32_t)draw(life, 4);
    life->threshold = draw(life, 2) == 0 ? WEIR_NO_THRESHOLD : 1;
    const struct weir_licence_spec licence = { .size = sizeof licence,
                                               .limit = life->licences,
                                               .name = "seat",
                                               .priority_threshold = life->threshold };
    CHECK_I64(weir_host_add_licence(life->host, &licence, NULL, NULL), WEIR_OK);
}

static void live(uint64_t seed, struct seen *seen)
{
    struct life *const life = calloc(1, sizeof *life);
    bool is_right = true;

    if (!CHECK(life != NULL))
        return;
    life->draws = draws_seeded(seed);
    open_life(life);
    for (uint32_t i = 0; is_right && i < STEPS; i++) {
        life->now_s += draw(life, 3);
        act(life);
        if (draw(life, 3) > 0)
            is_right = decide(life, seen);
    }
    if (!is_right)
        printf("WEIR_SEED=%" PRIu64 "\n", seed);
    weir_host_destroy(life->host);
    free(life);
}

/* covers: S1.25 */
static void limits_hold_as_in_the_plain_pass(void)
{
    const char *const only = getenv("WEIR_SEED");
    const uint64_t last = getenv("WEIR_SLOW") != NULL ? 20000 : 2000;
    struct seen seen = { 0 };

    if (only != NULL) {
        live(strtoull(only, NULL, 10), &seen);
        return;
    }
    for (uint64_t seed = 1; seed <= last; seed++)
        live(seed, &seen);
    printf("%" PRIu64 " passes: %" PRIu64 " jobs start, %" PRIu64 " times held, %" PRIu64
           " times put off, %" PRIu64 " below the threshold, %" PRIu64 " without a licence\n",
           seen.passes, seen.starts, seen.held, seen.put_off, seen.barred, seen.lacked);
    CHECK(seen.passes > 50 * last && seen.starts > 10 * last);
    CHECK(seen.held > 50 * last && seen.put_off > 10 * last);
    CHECK(seen.barred > 10 * last && seen.lacked > 10 * last);
}

static const struct test tests[] = {
    { "limits hold as in the plain pass", limits_hold_as_in_the_plain_pass },
};
TEST_MAIN(tests)
