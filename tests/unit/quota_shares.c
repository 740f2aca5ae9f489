/* SPDX-License-Identifier: GPL-3.0-or-later */
/* quota_queues and cohorts: worked examples of shares, of what is available and of what starts. */
#include "sched/queueing/parts/quota_shares.h"
#include "sched/queueing/cohorts.h"
#include "tests/support/check.h"
#include "tests/support/tenants.h"

#include <math.h>
#include <stdio.h>

static struct weir_claim claim(double guarantee, double weight, double demand, double hard)
{
    return (
        struct weir_claim){ .guarantee = guarantee, .weight = weight, .most = fmin(demand, hard) };
}

static void guarantees_come_first_and_the_rest_goes_by_weight(void)
{
    static const double none = (double)INFINITY;
    static const struct {
        double demand_a, hard_b, shares[3];
    } cases[] = { { 30, 50, { 30, 45, 25 } },
                  { 30, 40, { 30, 40, 30 } },
                  { 100, 50, { 60, 30, 10 } } };

    for (size_t i = 0; i < 3; i++) {
        struct weir_claim claims[] = { claim(40, 2, cases[i].demand_a, none),
                                       claim(20, 1, 80, cases[i].hard_b), claim(0, 1, 80, none) };
        weir_quota_divide(100, 0, claims, 3);
        for (size_t c = 0; c < 3; c++)
            CHECK_NEAR(claims[c].share, cases[i].shares[c], 1e-9);
    }
}

static void whole_units_are_left_over_for_the_first(void)
{
    struct weir_claim equal[] = { claim(0, 1, 9, 9), claim(0, 1, 9, 9), claim(0, 1, 9, 9) };
    struct weir_claim halves[] = { claim(10, 3, 60, 99), claim(30, 1, 60, 99) };

    weir_quota_divide(10, 0, equal, 3);
    CHECK_NEAR(equal[0].share, 4, 1e-9);
    CHECK_NEAR(equal[1].share, 3, 1e-9);
    CHECK_NEAR(equal[2].share, 3, 1e-9);
    weir_quota_divide(70, 0, halves, 2);
    CHECK_NEAR(halves[0].share, 33, 1e-9);
    CHECK_NEAR(halves[1].share, 37, 1e-9);
}

/* B is of a higher band: beyond guarantees it has all that it may before A and C share the rest. */
static void higher_bands_come_first(void)
{
    struct weir_claim claims[] = { claim(40, 2, 100, 100), claim(20, 1, 80, 50),
                                   claim(0, 1, 80, 80) };

    claims[1].band = 5;
    weir_quota_divide(100, 0, claims, 3);
    CHECK_NEAR(claims[0].share, 47, 1e-9); /* 40 + 20/3 */
    CHECK_NEAR(claims[1].share, 50, 1e-9);
    CHECK_NEAR(claims[2].share, 3, 1e-9);
    claims[0].band = claims[2].band = -1000000;
    claims[0].band++;
    weir_quota_divide(100, 0, claims, 3);
    CHECK_NEAR(claims[0].share, 50, 1e-9);
    CHECK_NEAR(claims[2].share, 0, 1e-9);
}

/* Of equal weights one had three times as much: .5 + k (.5 - .75) and .5 + k (.5 - .25). Who has no
 * weight left gets what the other does not take. */
static void the_past_counts_beside_weights(void)
{
    static const struct {
        double k, demand, first, second;
    } cases[] = { { 0, 100, 50, 50 }, { 0.2, 100, 45, 55 }, { 1, 100, 25, 75 }, { 2, 100, 0, 100 },
                  { 3, 100, 0, 100 }, { 2, 60, 40, 60 },    { 1, 60, 40, 60 } };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct weir_claim claims[] = { claim(0, 1, 100, 100), claim(0, 1, cases[i].demand, 100) };
        claims[0].past = 300;
        claims[1].past = 100;
        weir_quota_divide(100, cases[i].k, claims, 2);
        CHECK_NEAR(claims[0].share, cases[i].first, 1e-9);
        CHECK_NEAR(claims[1].share, cases[i].second, 1e-9);
    }
}

/* More is guaranteed than there is: what there is goes by guarantee, to those that want it. */
static void guarantees_beyond_what_there_is_are_cut_alike(void)
{
    struct weir_claim claims[] = { claim(60, 1, 99, 99), claim(30, 5, 99, 99),
                                   claim(90, 1, 30, 99) };

    weir_quota_divide(60, 0, claims, 3);
    CHECK_NEAR(claims[0].share, 30, 1e-9);
    CHECK_NEAR(claims[1].share, 15, 1e-9);
    CHECK_NEAR(claims[2].share, 15, 1e-9);
}

/* Whatever rounding leaves of the parts: all of the amount is given out, in whole units. */
static void no_whole_unit_is_lost(void)
{
    for (uint32_t count = 2; count <= 12; count++)
        for (uint32_t amount = 1; amount <= 60; amount++) {
            struct weir_claim claims[12];
            double sum = 0;
            for (uint32_t i = 0; i < count; i++)
                claims[i] = claim(0, 1 + i % 3, 99, 99);
            weir_quota_divide(amount, 0, claims, count);
            for (uint32_t i = 0; i < count; i++) {
                CHECK_NEAR(claims[i].share, round(claims[i].share), 1e-9);
                sum += claims[i].share;
            }
            CHECK_NEAR(sum, amount, 1e-9);
        }
}

static uint32_t tenant(struct weir_host *host, uint32_t parent, double guarantee, double weight)
{
    struct weir_tenant_spec spec = weir_tenant_default();

    spec.parent = parent;
    spec.weight = weight;
    spec.guarantee.gpu_units = (int64_t)(guarantee * WEIR_ONE);
    return test_tenant(host, spec);
}

static void fill(struct weir_host *host, uint32_t number, uint32_t jobs)
{
    test_ask(host, (struct test_ask){ .tenant = number, .count = jobs, .gpus = 1 });
}

/* 100 GPUs: X {x1, x2} and Y {y1, y2}. */
static void quota_queues_divide_level_by_level(void)
{
    const struct test_node node = { .nodes = 10, .gpus = 10, .cpus = 100, .ram = 1e12 };
    struct weir_host *const host = test_tenants_host("quota_queues", &node);
    const uint32_t x = tenant(host, 0, 60, 1);
    const uint32_t x1 = tenant(host, x, 30, 1);
    const uint32_t x2 = tenant(host, x, 30, 1);
    const uint32_t y = tenant(host, 0, 40, 1);
    const uint32_t y1 = tenant(host, y, 10, 3);
    const uint32_t y2 = tenant(host, y, 30, 1);

    fill(host, x1, 10);
    fill(host, x2, 20);
    fill(host, y1, 60);
    fill(host, y2, 60);
    (void)test_round(host, 1);
    CHECK_NEAR(test_gpus_of(host, x1), 10, 0);
    CHECK_NEAR(test_gpus_of(host, x2), 20, 0);
    CHECK_NEAR(test_gpus_of(host, y1), 33, 0);
    CHECK_NEAR(test_gpus_of(host, y2), 37, 0);
    weir_host_destroy(host);
}

/* Jobs without a GPU share the CPUs by the same rule: 100 of them, 20 guaranteed to A. */
static void quota_queues_divide_cpus_too(void)
{
    const struct test_node node = { .nodes = 10, .gpus = 1, .cpus = 10, .ram = 1e12 };
    struct weir_host *const host = test_tenants_host("quota_queues", &node);
    struct weir_tenant_spec spec = weir_tenant_default();
    spec.guarantee.cpu_units = 20 * WEIR_ONE;
    const uint32_t a = test_tenant(host, spec);
    spec = weir_tenant_default();
    spec.weight = 3;
    const uint32_t b = test_tenant(host, spec);

    test_ask(host, (struct test_ask){ .tenant = a, .count = 100, .cpus = 1 });
    test_ask(host, (struct test_ask){ .tenant = b, .count = 100, .cpus = 1 });
    (void)test_round(host, 1);
    CHECK_NEAR(weir_units_amount(test_tenant_now(host, a, 1).used.cpu_units), 40, 0);
    CHECK_NEAR(weir_units_amount(test_tenant_now(host, b, 1).used.cpu_units), 60, 0);
    weir_host_destroy(host);
}

/* 8 GPUs, 3 of them guaranteed to A; B is of the higher band, and then had all of the past. */
static void bands_and_the_past_say_who_has_the_rest(void)
{
    const struct test_node node = { .nodes = 1, .gpus = 8, .cpus = 100, .ram = 1e12 };

    for (int k = 0; k <= 1; k++) {
        struct weir_host *const host =
            test_tenants_host_with("quota_queues", &node, (const double[]){ 1, 0, k }, 3);
        struct weir_tenant_spec spec = weir_tenant_default();
        spec.guarantee.gpu_units = 3 * WEIR_ONE;
        const uint32_t a = test_tenant(host, spec);
        spec = weir_tenant_default();
        spec.priority = 1 - k;
        const uint32_t b = test_tenant(host, spec);
        if (k == 1) {
            test_ask(host, (struct test_ask){ .tenant = b, .count = 1, .gpus = 8 });
            CHECK_STR(test_round(host, 0).text, "B");
            (void)test_decide(host, WEIR_CAUSE_TIMER, 1000000000);
            test_end_some(host, b, 1);
        }
        fill(host, a, 9);
        fill(host, b, 9);
        (void)test_round(host, 1);
        CHECK_NEAR(test_gpus_of(host, a), k == 0 ? 3 : 8, 0);
        CHECK_NEAR(test_gpus_of(host, b), k == 0 ? 5 : 0, 0);
        weir_host_destroy(host);
    }
}

/* Nobody else wants them: B goes beyond its share, C of weight 0 stays within its guarantee. */
static void a_weight_of_zero_never_borrows(void)
{
    const struct test_node node = { .nodes = 1, .gpus = 10, .cpus = 100, .ram = 1e12 };
    struct weir_host *const host = test_tenants_host("quota_queues", &node);
    const uint32_t b = tenant(host, 0, 2, 1);
    const uint32_t c = tenant(host, 0, 3, 0);

    fill(host, c, 10);
    (void)test_round(host, 1);
    CHECK_NEAR(test_gpus_of(host, c), 3, 0);
    fill(host, b, 10);
    (void)test_round(host, 2);
    CHECK_NEAR(test_gpus_of(host, b), 7, 0);
    weir_host_destroy(host);
}

/* B borrowed all of A's guarantee; A takes back what is its, newest jobs first, no more. */
static void a_guarantee_is_taken_back(void)
{
    const struct test_node node = { .nodes = 1, .gpus = 8, .cpus = 100, .ram = 1e12 };
    struct weir_host *const host = test_tenants_host("quota_queues", &node);
    const uint32_t a = tenant(host, 0, 4, 1);
    const uint32_t b = tenant(host, 0, 4, 1);

    fill(host, b, 8);
    (void)test_round(host, 1);
    CHECK_NEAR(test_gpus_of(host, b), 8, 0);
    fill(host, a, 6);
    const struct weir_plan *const plan = test_decide(host, WEIR_CAUSE_JOBS, 2000000000);
    uint32_t preempted = 0;
    uint32_t started = 0;
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        preempted += weir_plan_action(plan, i)->verb == WEIR_VERB_PREEMPT;
        started += weir_plan_action(plan, i)->verb == WEIR_VERB_START;
    }
    CHECK_I64(preempted, 4);
    CHECK_I64(started, 4);
    weir_host_destroy(host);
}

/* A pass at that time: whose jobs go, as letters with their GPUs. */
static struct test_text victims(struct weir_host *host, int64_t at_s)
{
    const struct weir_plan *const plan =
        test_decide(host, WEIR_CAUSE_JOBS, at_s * INT64_C(1000000000));
    struct test_text text = { "" };
    size_t used = 0;

    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        struct weir_job job = { .size = sizeof job };
        if (action->verb != WEIR_VERB_PREEMPT ||
            !weir_view_job(weir_host_view(host, 0), 0, action->owner.id, &job))
            continue;
        used += (size_t)snprintf(text.text + used, sizeof text.text - used, "%c%.0f",
                                 (char)('A' + (int)job.tenant - 1), weir_job_devices(&job));
    }
    return text;
}

static void ask_gpus(struct weir_host *host, uint32_t number, uint32_t jobs, double gpus)
{
    test_ask(host, (struct test_ask){ .tenant = number, .count = jobs, .gpus = gpus });
}

/* C has its share and started last; B has more than its own: B's jobs go. */
static void only_who_has_more_than_his_share_gives(void)
{
    const struct test_node node = { .nodes = 1, .gpus = 12, .cpus = 100, .ram = 1e12 };
    struct weir_host *const host = test_tenants_host("quota_queues", &node);
    const uint32_t a = tenant(host, 0, 4, 1);
    const uint32_t b = tenant(host, 0, 4, 1);
    const uint32_t c = tenant(host, 0, 0, 1);

    fill(host, b, 9);
    (void)test_round(host, 1);
    fill(host, c, 3);
    (void)test_round(host, 2);
    fill(host, a, 2);
    CHECK_STR(victims(host, 3).text, "B1B1");
    weir_host_destroy(host);
}

/* 100 GPUs: A (40, weight 2) wanted 30, B (20, at most 50) and C all they could get: 30, 45, 25.
 * Then A wants 70 more, and its share is 60: B and C give 15 each. */
static void who_wants_more_takes_back_his_share(void)
{
    const struct test_node node = { .nodes = 10, .gpus = 10, .cpus = 100, .ram = 1e12 };
    struct weir_host *const host = test_tenants_host("quota_queues", &node);
    struct weir_tenant_spec spec = weir_tenant_default();
    uint32_t counts[2] = { 0 };

    const uint32_t a = tenant(host, 0, 40, 2);
    spec.guarantee.gpu_units = 20 * WEIR_ONE;
    spec.hard = test_gpus(50);
    const uint32_t b = test_tenant(host, spec);
    const uint32_t c = tenant(host, 0, 0, 1);
    fill(host, a, 30);
    fill(host, b, 80);
    fill(host, c, 80);
    (void)test_round(host, 1);
    CHECK_NEAR(test_gpus_of(host, a), 30, 0);
    CHECK_NEAR(test_gpus_of(host, b), 45, 0);
    CHECK_NEAR(test_gpus_of(host, c), 25, 0);
    fill(host, a, 70);
    const struct weir_plan *const plan = test_decide(host, WEIR_CAUSE_JOBS, 2000000000);
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        struct weir_job job = { .size = sizeof job };
        if (action->verb != WEIR_VERB_PREEMPT ||
            !CHECK(weir_view_job(weir_host_view(host, 0), 0, action->owner.id, &job)))
            continue;
        CHECK(job.tenant == b || job.tenant == c);
        counts[job.tenant == b ? 0 : 1]++;
    }
    CHECK_I64(counts[0], 15);
    CHECK_I64(counts[1], 15);
    weir_host_destroy(host);
}

/* Without its job of four B had less than it is guaranteed: the other one goes. */
static void a_reclaim_leaves_guarantees_alone(void)
{
    const struct test_node node = { .nodes = 1, .gpus = 8, .cpus = 100, .ram = 1e12 };
    struct weir_host *const host = test_tenants_host("quota_queues", &node);
    const uint32_t a = tenant(host, 0, 4, 1);
    const uint32_t b = tenant(host, 0, 4, 1);

    ask_gpus(host, a, 3, 1);
    ask_gpus(host, b, 1, 1);
    (void)test_round(host, 1);
    ask_gpus(host, b, 1, 4);
    (void)test_round(host, 2);
    ask_gpus(host, a, 1, 1);
    CHECK_STR(victims(host, 3).text, "B1");
    weir_host_destroy(host);
}

/* Two GPUs of one node: the newest job, on the other node, is chosen first and not needed. */
static void who_makes_no_room_stays(void)
{
    const struct test_node node = { .nodes = 2, .gpus = 2, .cpus = 100, .ram = 1e12 };
    struct weir_host *const host = test_tenants_host("quota_queues", &node);
    const uint32_t a = tenant(host, 0, 3, 1);
    const uint32_t b = tenant(host, 0, 0, 1);

    ask_gpus(host, b, 1, 2);
    (void)test_round(host, 1);
    ask_gpus(host, a, 1, 1);
    (void)test_round(host, 2);
    ask_gpus(host, b, 1, 1);
    (void)test_round(host, 3);
    ask_gpus(host, a, 1, 2);
    CHECK_STR(victims(host, 4).text, "B2");
    weir_host_destroy(host);
}

/* B is warned once, for as much as A needs; A starts when it has gone. */
static void with_a_grace_they_are_warned(void)
{
    const struct test_node node = { .nodes = 1, .gpus = 8, .cpus = 100, .ram = 1e12 };
    const double values[] = { 1, 30 };
    struct weir_host *const host = test_tenants_host_with("quota_queues", &node, values, 2);
    const uint32_t a = tenant(host, 0, 4, 1);
    const uint32_t b = tenant(host, 0, 4, 1);

    ask_gpus(host, b, 4, 2);
    (void)test_round(host, 1);
    ask_gpus(host, a, 1, 3);
    CHECK_STR(victims(host, 2).text, "B2B2");
    CHECK_STR(victims(host, 3).text, "");
    test_end_some(host, b, 4);
    CHECK_STR(test_round(host, 4).text, "A");
    weir_host_destroy(host);
}

static void without_reclaim_guarantees_wait(void)
{
    const struct test_node node = { .nodes = 1, .gpus = 8, .cpus = 100, .ram = 1e12 };
    const double off = 0;
    struct weir_host *const host = test_tenants_host_with("quota_queues", &node, &off, 1);
    const uint32_t a = tenant(host, 0, 4, 1);

    fill(host, tenant(host, 0, 4, 1), 8);
    (void)test_round(host, 1);
    fill(host, a, 1);
    CHECK_STR(test_round(host, 2).text, "");
    weir_host_destroy(host);
}

/* ---- cohorts ---- */

/* A 10 lends 4, B 10 borrows 3, C 10. */
static struct weir_host *three(const char *policy)
{
    const struct test_node node = { .nodes = 3, .gpus = 10, .cpus = 100, .ram = 1e12 };
    struct weir_host *const host = test_tenants_host(policy, &node);
    struct weir_tenant_spec spec = weir_tenant_default();

    spec.guarantee.gpu_units = 10 * WEIR_ONE;
    spec.lend = test_gpus(4);
    (void)test_tenant(host, spec);
    spec.lend = weir_tenant_default().lend;
    spec.borrow = test_gpus(3);
    (void)test_tenant(host, spec);
    (void)tenant(host, 0, 10, 1);
    return host;
}

static double available(struct weir_host *host, uint32_t number)
{
    const struct weir_view *const view = weir_host_view(host, 0);
    struct weir_cohort cohorts[8];
    double list[COHORT_RESOURCES];

    weir_cohorts_count(view, NULL, cohorts);
    weir_cohort_available(view, cohorts, number, list);
    return list[COHORT_GPU];
}

static double share(struct weir_host *host, uint32_t number, double more)
{
    const struct weir_view *const view = weir_host_view(host, 0);
    const struct weir_amounts amounts = { .gpu_units = (int64_t)(more * WEIR_ONE) };
    struct weir_cohort cohorts[8];

    weir_cohorts_count(view, NULL, cohorts);
    return weir_cohort_share(view, cohorts, number, &amounts);
}

static void cohorts_know_what_a_tenant_may_have(void)
{
    struct weir_host *const host = three("cohorts");
    struct weir_tenant_spec spec = weir_tenant_default();

    CHECK_NEAR(available(host, 1), 30, 1e-9);
    CHECK_NEAR(available(host, 2), 13, 1e-9);
    CHECK_NEAR(available(host, 3), 24, 1e-9);
    fill(host, 1, 8);
    fill(host, 3, 20);
    (void)test_round(host, 1);
    for (uint32_t t = 1; t <= 3; t++)
        CHECK_NEAR(available(host, t), 2, 1e-9);
    CHECK_NEAR(share(host, 3, 0), 416.667, 1e-3);
    CHECK_NEAR(share(host, 1, 0), 0, 0);
    spec.weight = 2;
    spec.guarantee.gpu_units = 10 * WEIR_ONE;
    CHECK_I64(weir_host_set_tenant(host, 3, &spec, NULL), WEIR_OK);
    CHECK_NEAR(share(host, 3, 0), 208.333, 1e-3);
    CHECK_NEAR(share(host, 3, 2), 250, 1e-9);
    weir_host_destroy(host);
}

/* A borrows from nobody and comes first, then B and C by what they borrow of the rest. */
static void those_within_their_quota_come_first(void)
{
    struct weir_host *const host = test_tenants_host(
        "cohorts", &(struct test_node){ .nodes = 1, .gpus = 9, .cpus = 9, .ram = 1e9 });

    for (uint32_t i = 0; i < 3; i++)
        (void)tenant(host, 0, 3, 1);
    fill(host, 2, 9);
    fill(host, 3, 9);
    fill(host, 1, 1);
    CHECK_STR(test_round(host, 1).text, "ABBBCCCBC");
    weir_host_destroy(host);
}

/* Of 12 GPUs the quotas are 6: no more is given out. */
static void cohorts_give_no_more_than_the_quotas(void)
{
    struct weir_host *const host = test_tenants_host(
        "cohorts", &(struct test_node){ .nodes = 1, .gpus = 12, .cpus = 99, .ram = 1e9 });

    (void)tenant(host, 0, 4, 1);
    (void)tenant(host, 0, 2, 1);
    fill(host, 2, 12);
    (void)test_round(host, 1);
    CHECK_NEAR(test_gpus_of(host, 2), 6, 0);
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "guarantees come first and the rest goes by weight",
      guarantees_come_first_and_the_rest_goes_by_weight },
    { "whole units are left over for the first", whole_units_are_left_over_for_the_first },
    { "guarantees beyond what there is are cut alike",
      guarantees_beyond_what_there_is_are_cut_alike },
    { "no whole unit is lost", no_whole_unit_is_lost },
    { "higher bands come first", higher_bands_come_first },
    { "the past counts beside weights", the_past_counts_beside_weights },
    { "bands and the past say who has the rest", bands_and_the_past_say_who_has_the_rest },
    { "quota queues divide level by level", quota_queues_divide_level_by_level },
    { "quota queues divide CPUs too", quota_queues_divide_cpus_too },
    { "a weight of zero never borrows", a_weight_of_zero_never_borrows },
    { "a guarantee is taken back", a_guarantee_is_taken_back },
    { "only who has more than his share gives", only_who_has_more_than_his_share_gives },
    { "who wants more takes back his share", who_wants_more_takes_back_his_share },
    { "a reclaim leaves guarantees alone", a_reclaim_leaves_guarantees_alone },
    { "who makes no room stays", who_makes_no_room_stays },
    { "with a grace they are warned", with_a_grace_they_are_warned },
    { "without reclaim guarantees wait", without_reclaim_guarantees_wait },
    { "cohorts know what a tenant may have", cohorts_know_what_a_tenant_may_have },
    { "those within their quota come first", those_within_their_quota_come_first },
    { "cohorts give no more than the quotas", cohorts_give_no_more_than_the_quotas },
};
TEST_MAIN(tests)
