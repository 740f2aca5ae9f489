/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What fair policies promise, on random cases: DRF is free of envy up to one task, and of divided
 * tasks rewards no lie; fair queueing stays within its bound on one server and on several; who
 * waits has what is guaranteed to him.
 */
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/tenants.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CASES = 10000, USERS = 4, RESOURCES = 3, MOST_TASKS = 60 };

static void decide(struct weir_host *host, int64_t now_s, bool is_checked)
{
    const struct weir_call call = { .size = sizeof call,
                                    .causes = WEIR_CAUSE_JOBS,
                                    .now_ns = now_s * INT64_C(1000000000) };
    const struct weir_plan *plan = NULL;

    CHECK_I64(weir_host_decide(host, &call, &plan, NULL), WEIR_OK);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    if (is_checked)
        test_jobs_check(host);
}

/* ---- DRF ---- */

/* What users ask for of two resources, and how many tasks each got. */
struct economy {
    uint32_t users;
    double cpus, ram;
    uint32_t demand[USERS][2]; /* CPUs, memory */
    uint32_t tasks[USERS];
};

static void solve(struct economy *economy)
{
    const struct test_node node = { .nodes = 1, .cpus = economy->cpus, .ram = economy->ram };
    struct weir_host *const host = test_tenants_host("drf", &node);

    for (uint32_t u = 0; u < economy->users; u++)
        test_ask(host, (struct test_ask){ .tenant = test_tenant_of_weight(host, 1),
                                          .count = MOST_TASKS,
                                          .cpus = economy->demand[u][0],
                                          .ram = economy->demand[u][1] });
    decide(host, 0, false);
    for (uint32_t u = 0; u < economy->users; u++)
        economy->tasks[u] = host->jobs.tenants.all[u + 1].running;
    weir_host_destroy(host);
}

static struct economy draw_economy(struct draws *draws)
{
    struct economy economy = { .users = 2 + (uint32_t)draws_below(draws, USERS - 1) };

    economy.cpus = 8 + (double)draws_below(draws, 12);
    economy.ram = 8 + (double)draws_below(draws, 12);
    for (uint32_t u = 0; u < economy.users; u++)
        for (uint32_t r = 0; r < 2; r++)
            economy.demand[u][r] = 1 + (uint32_t)draws_below(draws, 5);
    return economy;
}

/* Tasks of a user out of so many tasks of another one's demand. */
static uint32_t worth(const uint32_t own[2], const uint32_t other[2], uint32_t tasks)
{
    const uint32_t by_cpu = tasks * other[0] / own[0];
    const uint32_t by_ram = tasks * other[1] / own[1];

    return by_cpu < by_ram ? by_cpu : by_ram;
}

static double dominant(const struct economy *economy, uint32_t user)
{
    return fmax(economy->demand[user][0] / economy->cpus, economy->demand[user][1] / economy->ram);
}

static void nobody_envies_more_than_one_task(void)
{
    uint32_t pairs = 0;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        struct draws draws = draws_seeded(seed);
        struct economy economy = draw_economy(&draws);
        solve(&economy);
        for (uint32_t a = 0; a < economy.users; a++)
            for (uint32_t b = 0; b < economy.users; b++) {
                const uint32_t less = economy.tasks[b] > 0 ? economy.tasks[b] - 1 : 0;
                pairs += a != b && economy.tasks[b] > 1 ? 1 : 0;
                if (worth(economy.demand[a], economy.demand[b], less) <= economy.tasks[a])
                    continue;
                printf("WEIR_SEED=%" PRIu64 ": %u envies %u\n", seed, a, b);
                CHECK(false);
                return;
            }
    }
    CHECK(pairs > CASES);
}

/* ---- DRF of tasks that can be divided ---- */

struct divided {
    double tasks[USERS];
};

static double part_of(const struct economy *economy, uint32_t user, uint32_t r)
{
    return economy->demand[user][r] / (r == 0 ? economy->cpus : economy->ram);
}

/* All shares grow at one rate; a resource that is full stops those who need it. */
static struct divided divide(const struct economy *economy)
{
    struct divided answer = { { 0 } };
    bool is_stopped[USERS] = { false };
    double left[2] = { 1, 1 };

    for (uint32_t round = 0; round < 2; round++) {
        double step = HUGE_VAL;
        double rate[2] = { 0, 0 };
        for (uint32_t u = 0; u < economy->users; u++)
            for (uint32_t r = 0; r < 2 && !is_stopped[u]; r++)
                rate[r] += part_of(economy, u, r) / dominant(economy, u);
        for (uint32_t r = 0; r < 2; r++)
            step = rate[r] > 0 ? fmin(step, left[r] / rate[r]) : step;
        for (uint32_t r = 0; r < 2; r++)
            left[r] -= rate[r] * (step < HUGE_VAL ? step : 0);
        for (uint32_t u = 0; u < economy->users; u++) {
            answer.tasks[u] += is_stopped[u] || step >= HUGE_VAL ? 0 : step / dominant(economy, u);
            for (uint32_t r = 0; r < 2; r++)
                is_stopped[u] = is_stopped[u] || (left[r] < 1e-12 && economy->demand[u][r] > 0);
        }
    }
    return answer;
}

/* Tasks out of an amount of each resource. */
static double divided_worth(const uint32_t own[2], const uint32_t other[2], double tasks)
{
    double worth = HUGE_VAL;

    for (uint32_t r = 0; r < 2; r++)
        worth = own[r] > 0 ? fmin(worth, tasks * other[r] / own[r]) : worth;
    return worth;
}

/* Some need one resource only, so that there is more than one round. */
static struct economy draw_divided(struct draws *draws)
{
    struct economy economy = draw_economy(draws);

    for (uint32_t u = 0; u < economy.users; u++)
        if (draws_below(draws, 3) == 0)
            economy.demand[u][draws_below(draws, 2)] = 0;
    return economy;
}

static void divided_tasks_leave_no_envy_and_reward_no_lie(void)
{
    double envy = 0;
    double won = 0;

    for (uint64_t seed = 1; seed <= CASES; seed++) {
        struct draws draws = draws_seeded(seed ^ 0x5eed);
        const struct economy economy = draw_divided(&draws);
        struct economy lie = economy;
        const uint32_t liar = (uint32_t)draws_below(&draws, economy.users);
        const struct divided truth = divide(&economy);
        for (uint32_t a = 0; a < economy.users; a++)
            for (uint32_t b = 0; b < economy.users; b++)
                envy =
                    fmax(envy, divided_worth(economy.demand[a], economy.demand[b], truth.tasks[b]) -
                                   truth.tasks[a]);
        for (uint32_t r = 0; r < 2; r++)
            lie.demand[liar][r] = 1 + (uint32_t)draws_below(&draws, 9);
        const struct divided lied = divide(&lie);
        won = fmax(won, divided_worth(economy.demand[liar], lie.demand[liar], lied.tasks[liar]) -
                            truth.tasks[liar]);
    }
    CHECK(envy <= 1e-9);
    CHECK(won <= 1e-9);
}

/* Fifty tasks where one was: the library gives what the divided ones say, to a few
 * tasks (each user may be behind by the task that did not fit). */
static void small_tasks_are_divided_as_divided_ones(void)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct draws draws = draws_seeded(seed);
        struct economy economy = draw_economy(&draws);
        economy.cpus *= 50;
        economy.ram *= 50;
        const struct divided divided = divide(&economy);
        struct economy whole = economy;
        const struct test_node node = { .nodes = 1, .cpus = whole.cpus, .ram = whole.ram };
        struct weir_host *const host = test_tenants_host("drf", &node);
        for (uint32_t u = 0; u < whole.users; u++)
            test_ask(host, (struct test_ask){ .tenant = test_tenant_of_weight(host, 1),
                                              .count = (uint32_t)divided.tasks[u] + 3,
                                              .cpus = whole.demand[u][0],
                                              .ram = whole.demand[u][1] });
        decide(host, 0, false);
        for (uint32_t u = 0; u < whole.users; u++)
            CHECK_NEAR(host->jobs.tenants.all[u + 1].running, divided.tasks[u], 5);
        weir_host_destroy(host);
    }
}

/* What the library gives with tasks `finer` times as small, in tasks of the first size. */
static void solve_finer(struct economy *economy, uint32_t finer, double tasks[USERS])
{
    const struct test_node node = { .nodes = 1,
                                    .cpus = economy->cpus * finer,
                                    .ram = economy->ram * finer };
    struct weir_host *const host = test_tenants_host("drf", &node);
    const uint32_t most = (uint32_t)fmax(economy->cpus, economy->ram) * finer;

    for (uint32_t u = 0; u < economy->users; u++)
        test_ask(host, (struct test_ask){ .tenant = test_tenant_of_weight(host, 1),
                                          .count = most,
                                          .cpus = economy->demand[u][0],
                                          .ram = economy->demand[u][1] });
    decide(host, 0, false);
    for (uint32_t u = 0; u < economy->users; u++)
        tasks[u] = (double)host->jobs.tenants.all[u + 1].running / finer;
    weir_host_destroy(host);
}

/* The most that a lie wins and that anybody envies, in tasks of the library's size. */
static void try_lies(uint64_t cases, uint32_t finer, double *won, double *envy)
{
    *won = *envy = 0;
    for (uint64_t seed = 1; seed <= cases; seed++) {
        struct draws draws = draws_seeded(seed ^ 0x11e5);
        struct economy economy = draw_economy(&draws);
        const uint32_t liar = (uint32_t)draws_below(&draws, economy.users);
        struct economy lie = economy;
        double truth[USERS], lied[USERS];
        for (uint32_t r = 0; r < 2; r++)
            lie.demand[liar][r] = 1 + (uint32_t)draws_below(&draws, 8);
        solve_finer(&economy, finer, truth);
        solve_finer(&lie, finer, lied);
        *won =
            fmax(*won, finer * (divided_worth(economy.demand[liar], lie.demand[liar], lied[liar]) -
                                truth[liar]));
        for (uint32_t a = 0; a < economy.users; a++)
            for (uint32_t b = 0; b < economy.users; b++)
                *envy = fmax(
                    *envy, finer * (divided_worth(economy.demand[a], economy.demand[b], truth[b]) -
                                    truth[a]));
    }
}

/* However small its tasks are, the library leaves no more envy than a few of them: of tasks that
 * can be divided nothing is left. */
static void the_library_rewards_no_lie_beyond_a_few_tasks(void)
{
    static const uint32_t fine[] = { 1, 8, 64 };
    const uint64_t cases = test_is_slow() ? CASES : CASES / 50;

    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
        double won, envy;
        try_lies(cases / fine[i], fine[i], &won, &envy);
        printf("    tasks of 1/%u: a lie wins %.2f of them at most, envy is %.2f\n", fine[i], won,
               envy);
        CHECK(won <= 8 && envy <= 8);
    }
}

/* ---- fair queueing ---- */

enum { FLOWS = 3, SERVERS = 5, JOBS = 12 };

struct queueing {
    uint32_t flows, servers;
    double weights[FLOWS];
    double longest[FLOWS];
    double served[FLOWS]; /* over weight, by start */
};

static void ask_for_all(struct weir_host *host, struct queueing *queueing, struct draws *draws)
{
    for (uint32_t f = 0; f < queueing->flows; f++) {
        const uint32_t tenant = test_tenant_of_weight(host, queueing->weights[f]);
        for (uint32_t j = 0; j < JOBS; j++) {
            const int64_t seconds = 1 + (int64_t)draws_below(draws, 10);
            queueing->longest[f] = fmax(queueing->longest[f], (double)seconds);
            test_ask(host, (struct test_ask){
                               .tenant = tenant, .count = 1, .cpus = 1, .seconds = seconds });
        }
    }
}

/* The largest spread of (service of a - service of b) while both wait, against the bound. */
static double worst_part(struct queueing *queueing, const char *policy, double by_start,
                         struct draws *draws)
{
    const struct test_node node = { .nodes = 1, .cpus = queueing->servers, .ram = 1e9 };
    struct weir_host *const host = test_tenants_host_with(policy, &node, &by_start, 1);
    int64_t ends[SERVERS] = { 0 };
    uint64_t ids[SERVERS] = { 0 };
    double least[FLOWS][FLOWS] = { { 0 } };
    double most[FLOWS][FLOWS] = { { 0 } };
    double worst = 0;

    ask_for_all(host, queueing, draws);
    for (int64_t now_s = 0;;) {
        decide(host, now_s, false);
        for (uint32_t i = 0; i < host->jobs.record_count; i++) {
            const struct weir_job_record *const job = &host->jobs.records[i];
            bool is_known = job->is_used == 0 || job->state == WEIR_JOB_WAITING;
            uint32_t idle = 0;
            for (uint32_t s = 0; s < queueing->servers; s++)
                is_known = is_known || (ends[s] > now_s && ids[s] == job->id);
            if (is_known)
                continue;
            while (ends[idle] > now_s)
                idle++;
            ends[idle] = now_s + job->estimate_ns / 1000000000;
            ids[idle] = job->id;
            queueing->served[job->tenant - 1] +=
                1e-9 * (double)job->estimate_ns / queueing->weights[job->tenant - 1];
        }
        bool all_wait = true;
        for (uint32_t f = 0; f < queueing->flows; f++)
            all_wait = all_wait && host->jobs.tenants.all[f + 1].waiting > 0;
        if (!all_wait)
            break;
        int64_t next_s = INT64_MAX;
        for (uint32_t s = 0; s < queueing->servers; s++)
            next_s = ends[s] < next_s ? ends[s] : next_s;
        for (uint32_t a = 0; a < queueing->flows; a++)
            for (uint32_t b = 0; b < queueing->flows; b++) {
                const double apart = queueing->served[a] - queueing->served[b];
                least[a][b] = fmin(least[a][b], apart);
                most[a][b] = fmax(most[a][b], apart);
                const double quanta = queueing->longest[a] / queueing->weights[a] +
                                      queueing->longest[b] / queueing->weights[b];
                const double bound =
                    queueing->servers == 1 ? quanta : (queueing->servers + 1) * quanta;
                worst = fmax(worst, (most[a][b] - least[a][b]) / bound);
            }
        now_s = next_s;
        for (uint32_t s = 0; s < queueing->servers; s++)
            if (ends[s] == now_s)
                test_end_job(host, ids[s]);
    }
    weir_host_destroy(host);
    return worst;
}

/* covers: S1.30 S1.81 */
/* On one server the bound is the largest job of each over its weight; on D servers (D + 1) of
 * them. */
static void fair_queueing_stays_within_its_bound(void)
{
    const uint64_t last = test_is_slow() ? CASES : CASES / 20;
    double on_one = 0;
    double on_several = 0;

    for (uint64_t seed = 1; seed <= last; seed++) {
        struct draws draws = draws_seeded(seed);
        struct queueing queueing = { .flows = 2 + (uint32_t)draws_below(&draws, FLOWS - 1),
                                     .servers = 1 + (uint32_t)draws_below(&draws, SERVERS) };
        for (uint32_t f = 0; f < queueing.flows; f++)
            queueing.weights[f] = 1 + (double)draws_below(&draws, 4);
        double *const worst = queueing.servers == 1 ? &on_one : &on_several;
        *worst = fmax(*worst,
                      worst_part(&queueing, "wfq", seed % 2 == 0 || queueing.servers > 1, &draws));
    }
    CHECK(on_one > 0.5 && on_several > 0.1);
    CHECK(on_one <= 1 && on_several <= 1);
    printf("    at most %.3f of the bound on one server, %.3f on several\n", on_one, on_several);
}

/* ---- guarantees ---- */

/* covers: S1.6 */
/* Jobs of one GPU come and go at random; who waits has his guarantee after every pass, so also in
 * any window of time. */
static void who_waits_has_what_is_guaranteed_to_him(void)
{
    uint64_t waits = 0;
    uint64_t preemptions = 0;
    const uint64_t last = test_is_slow() ? CASES : CASES / 50;

    for (uint64_t seed = 1; seed <= last; seed++) {
        struct draws draws = draws_seeded(seed);
        const struct test_node node = { .nodes = 2, .gpus = 8, .cpus = 99, .ram = 1e9 };
        struct weir_host *const host = test_tenants_host("quota_queues", &node);
        uint32_t left = 16;
        for (uint32_t t = 1; t <= 4; t++) {
            struct weir_tenant_spec spec = weir_tenant_default();
            const uint32_t guarantee = (uint32_t)draws_below(&draws, left / 2 + 1);
            spec.guarantee.gpu_units = guarantee * WEIR_ONE;
            spec.weight = 1 + (double)draws_below(&draws, 3);
            left -= guarantee;
            (void)test_tenant(host, spec);
        }
        for (int64_t step = 0; step < 20; step++) {
            const uint32_t tenant = 1 + (uint32_t)draws_below(&draws, 4);
            test_ask(host, (struct test_ask){ .tenant = tenant,
                                              .count = 1 + (uint32_t)draws_below(&draws, 12),
                                              .gpus = 1,
                                              .at_s = step });
            const struct weir_plan *const plan =
                test_decide(host, WEIR_CAUSE_JOBS, step * 1000000000);
            for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
                const struct weir_action *const action = weir_plan_action(plan, i);
                if (action->verb != WEIR_VERB_PREEMPT)
                    continue;
                preemptions++;
                test_end_job(host, action->owner.id);
            }
            CHECK_I64(test_carry_out(host, plan), WEIR_OK);
            test_jobs_check(host);
            for (uint32_t t = 1; t <= 4; t++) {
                const struct weir_tenant_entry *const entry = &host->jobs.tenants.all[t];
                if (entry->waiting == 0)
                    continue;
                waits++;
                CHECK(entry->used.gpu_units >= entry->guarantee.gpu_units);
            }
            const uint32_t other = 1 + (uint32_t)draws_below(&draws, 4);
            if (host->jobs.tenants.all[other].running > 0)
                test_end_some(
                    host, other,
                    1 + (uint32_t)draws_below(&draws, host->jobs.tenants.all[other].running));
        }
        weir_host_destroy(host);
    }
    CHECK(waits > 100 && preemptions > 100);
}

static const struct test tests[] = {
    { "nobody envies more than one task", nobody_envies_more_than_one_task },
    { "divided tasks leave no envy and reward no lie",
      divided_tasks_leave_no_envy_and_reward_no_lie },
    { "the library rewards no lie beyond a few tasks",
      the_library_rewards_no_lie_beyond_a_few_tasks },
    { "small tasks are divided as divided ones", small_tasks_are_divided_as_divided_ones },
    { "fair queueing stays within its bound", fair_queueing_stays_within_its_bound },
    { "who waits has what is guaranteed to him", who_waits_has_what_is_guaranteed_to_him },
};
TEST_MAIN(tests)
