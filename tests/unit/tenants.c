/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tenants of a host: sums over the tree, past use, and limits under any queueing policy. */
#include "tests/support/tenants.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct test_node LARGE = { .nodes = 1, .gpus = 16, .cpus = 256, .ram = 1e12 };

/* Children and their children; what runs, what waits, what is over. */
static void a_tenant_has_what_those_below_it_have(void)
{
    struct weir_host *const host = test_tenants_host("first_fit", &LARGE);
    struct weir_tenant_spec spec = weir_tenant_default();
    const uint32_t top = test_tenant(host, spec);

    spec.parent = top;
    const uint32_t left = test_tenant(host, spec);
    const uint32_t right = test_tenant(host, spec);
    test_ask(host, (struct test_ask){ .tenant = left, .count = 3, .gpus = 4 });
    test_ask(host, (struct test_ask){ .tenant = right, .count = 1, .gpus = 4, .cpus = 2 });
    test_ask(host, (struct test_ask){ .tenant = right, .count = 1, .gpus = 8 });
    CHECK_STR(test_round(host, 1).text, "BBBC");
    const struct weir_tenant all = test_tenant_now(host, top, 2);
    CHECK_I64(all.used.gpu_units, 16 * WEIR_ONE);
    CHECK_I64(all.used.cpu_units, 2 * WEIR_ONE);
    CHECK_I64(all.wanted.gpu_units, 8 * WEIR_ONE);
    CHECK_I64(all.running, 4);
    CHECK_I64(all.waiting, 1);
    CHECK_I64(all.depth, 1);
    CHECK_I64(test_tenant_now(host, right, 2).depth, 2);
    CHECK_NEAR(test_gpus_of(host, left), 12, 0);
    CHECK_NEAR(test_gpus_of(host, right), 4, 0);
    CHECK_NEAR(test_gpus_of(host, 0), 16, 0);
    test_end_some(host, left, 2);
    CHECK_NEAR(test_gpus_of(host, top), 8, 0);
    CHECK_STR(test_round(host, 3).text, "C");
    CHECK_NEAR(test_gpus_of(host, right), 12, 0);
    weir_host_destroy(host);
}

/* A 4 GPUs for an hour, B 2 for two; half-life one hour: U' = -(ln 2/h) U + a. */
static void past_use_fades_with_the_half_life(void)
{
    struct weir_host *const host = test_tenants_host("first_fit", &LARGE);
    const uint32_t a = test_tenant_of_weight(host, 1);
    const uint32_t b = test_tenant_of_weight(host, 1);

    CHECK_I64(weir_host_set_half_life(host, INT64_C(3600000000000)), WEIR_OK);
    test_ask(host, (struct test_ask){ .tenant = a, .count = 1, .gpus = 4 });
    test_ask(host, (struct test_ask){ .tenant = b, .count = 1, .gpus = 2 });
    CHECK_STR(test_round(host, 0).text, "AB");
    CHECK_NEAR(test_tenant_now(host, a, 3600).device_s, 10387.404294, 1e-6);
    test_end_some(host, a, 1);
    CHECK_NEAR(test_tenant_now(host, a, 7200).device_s, 5193.702147, 1e-6);
    CHECK_NEAR(test_tenant_now(host, b, 7200).device_s, 7790.553221, 1e-6);
    weir_host_destroy(host);
}

/* The same in Slurm's steps of 300 s; of a week's half-life .500073 is left after a week. */
static void past_use_fades_in_steps(void)
{
    struct weir_host *const host = test_tenants_host("first_fit", &LARGE);
    const uint32_t a = test_tenant_of_weight(host, 1);
    const uint32_t b = test_tenant_of_weight(host, 1);

    CHECK_I64(weir_host_set_half_life(host, INT64_C(3600000000000)), WEIR_OK);
    CHECK_I64(weir_host_set_usage_period(host, INT64_C(300000000000)), WEIR_OK);
    test_ask(host, (struct test_ask){ .tenant = a, .count = 1, .gpus = 4 });
    test_ask(host, (struct test_ask){ .tenant = b, .count = 1, .gpus = 2 });
    CHECK_STR(test_round(host, 0).text, "AB");
    CHECK_NEAR(test_tenant_now(host, b, 299).device_s, 598, 1e-9);
    CHECK_NEAR(test_tenant_now(host, a, 3600).device_s, 10090.685872, 1e-6);
    test_end_some(host, a, 1);
    CHECK_NEAR(test_tenant_now(host, a, 7200).device_s, 5045.748955, 1e-6);
    CHECK_NEAR(test_tenant_now(host, b, 7200).device_s, 7568.217413, 1e-6);
    CHECK_I64(weir_host_set_half_life(host, INT64_C(604800000000000)), WEIR_OK);
    CHECK_I64(weir_host_restore_usage(host, a, 1, INT64_C(7200000000000)), WEIR_OK);
    CHECK_NEAR(test_tenant_now(host, a, 7200 + 604800).device_s, 0.500073, 5e-7);
    weir_host_destroy(host);
}

/* Kueue's average of devices, half-life an hour, a sample every 300 s: alpha = .056126. Four GPUs
 * that start count alpha x 4 at once; after 12 samples half of that is left, and half of 4 has
 * come. A day later next to nothing is left. */
static void past_use_may_be_an_average(void)
{
    struct weir_host *const host = test_tenants_host("first_fit", &LARGE);
    const uint32_t a = test_tenant_of_weight(host, 1);
    const double alpha = 1 - exp2(-1.0 / 12);

    CHECK_NEAR(alpha, 0.056126, 5e-7);
    CHECK_I64(weir_host_set_half_life(host, INT64_C(3600000000000)), WEIR_OK);
    CHECK_I64(weir_host_set_usage_period(host, INT64_C(300000000000)), WEIR_OK);
    CHECK_I64(weir_host_set_usage_rule(host, WEIR_USAGE_AVERAGE), WEIR_OK);
    test_ask(host, (struct test_ask){ .tenant = a, .count = 1, .gpus = 4 });
    CHECK_STR(test_round(host, 0).text, "A");
    CHECK_NEAR(test_tenant_now(host, a, 299).device_s, 4 * alpha, 1e-6);
    CHECK_NEAR(test_tenant_now(host, a, 300).device_s, 4 * alpha * (2 - alpha), 1e-6);
    CHECK_NEAR(test_tenant_now(host, a, 3600).device_s, 2 + 2 * alpha, 1e-6);
    test_end_some(host, a, 1);
    CHECK_NEAR(test_tenant_now(host, a, 7200).device_s, 1 + alpha, 1e-6);
    CHECK_NEAR(test_tenant_now(host, a, 3600 + 86400).device_s, 0, 1e-6);
    weir_host_destroy(host);
}

static void without_a_half_life_all_of_the_past_counts(void)
{
    struct weir_host *const host = test_tenants_host("first_fit", &LARGE);
    const uint32_t a = test_tenant_of_weight(host, 1);

    test_ask(host, (struct test_ask){ .tenant = a, .count = 1, .gpus = 4 });
    test_ask(host, (struct test_ask){ .tenant = a, .count = 1, .cpus = 9, .ranks = 3 });
    CHECK_STR(test_round(host, 10).text, "AA");
    CHECK_NEAR(test_tenant_now(host, a, 110).device_s, 700, 1e-9); /* 3 ranks count 3 */
    CHECK_I64(weir_host_restore_usage(host, a, 50, INT64_C(110000000000)), WEIR_OK);
    CHECK_NEAR(test_tenant_now(host, a, 111).device_s, 57, 1e-9);
    weir_host_destroy(host);
}

/* ---- limits ---- */

static uint32_t reason_of(const struct weir_plan *plan, uint32_t tenant, struct weir_host *host)
{
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        struct weir_job job = { .size = sizeof job };
        if (action->verb == WEIR_VERB_DENY &&
            weir_view_job(weir_host_view(host, 0), 0, action->owner.id, &job) &&
            job.tenant == tenant)
            return action->reason;
    }
    return WEIR_REASON_NONE;
}

/* covers: S1.25 */
/* 28 GPUs are there, the limit is 8: the ninth job waits, who comes behind it does not. */
static void the_ninth_gpu_of_eight_waits_though_twenty_are_free(void)
{
    static const char *const policies[] = { "first_fit",   "fcfs", "sjf",    "priority",
                                            "drf",         "wfq",  "easy",   "conservative",
                                            "srtf",        "srsf", "las_2d", "formula",
                                            "bounded_wait" };
    const struct test_node node = { .nodes = 2, .gpus = 14, .cpus = 256, .ram = 1e12 };

    for (size_t p = 0; p < sizeof policies / sizeof policies[0]; p++) {
        struct weir_host *const host = test_tenants_host(policies[p], &node);
        struct weir_tenant_spec spec = weir_tenant_default();
        spec.hard = test_gpus(8);
        const uint32_t a = test_tenant(host, spec);
        test_ask(host, (struct test_ask){ .tenant = a, .count = 9, .gpus = 1, .seconds = 5 });
        CHECK_STR(test_round(host, 1).text, "AAAAAAAA");
        const uint32_t b = test_tenant_of_weight(host, 1);
        test_ask(host, (struct test_ask){ .tenant = b, .count = 1, .gpus = 14, .seconds = 9 });
        const struct weir_plan *const plan = test_decide(host, WEIR_CAUSE_JOBS, 2000000000);
        CHECK_I64(reason_of(plan, a, host), WEIR_REASON_QUOTA);
        CHECK_STR(test_starts(plan).text, "100009.0@1");
        CHECK(weir_plan_holder_count(plan) > 0);
        for (uint32_t i = 0; i < weir_plan_holder_count(plan); i++) {
            struct weir_job job = { .size = sizeof job };
            CHECK(weir_view_job(weir_host_view(host, 0), 0, weir_plan_holder_at(plan, i)->owner.id,
                                &job));
            CHECK_I64(job.tenant, a);
        }
        CHECK_I64(test_carry_out(host, plan), WEIR_OK);
        test_end_some(host, a, 1);
        CHECK_STR(test_round(host, 3).text, "A");
        weir_host_destroy(host);
    }
}

/* The limit of the parent is that of all its children. */
static void limits_hold_for_all_below(void)
{
    struct weir_host *const host = test_tenants_host("first_fit", &LARGE);
    struct weir_tenant_spec spec = weir_tenant_default();

    spec.hard = test_gpus(6);
    const uint32_t top = test_tenant(host, spec);
    spec = weir_tenant_default();
    spec.parent = top;
    const uint32_t left = test_tenant(host, spec);
    const uint32_t right = test_tenant(host, spec);
    test_ask(host, (struct test_ask){ .tenant = left, .count = 4, .gpus = 1 });
    test_ask(host, (struct test_ask){ .tenant = right, .count = 4, .gpus = 1 });
    CHECK_STR(test_round(host, 1).text, "BBBBCC");
    spec = weir_tenant_default();
    spec.hard = test_gpus(7);
    CHECK_I64(weir_host_set_tenant(host, top, &spec, NULL), WEIR_OK);
    CHECK_STR(test_round(host, 2).text, "C");
    weir_host_destroy(host);
}

/* CPUs and memory are limited as GPUs are. */
static void every_resource_has_a_limit(void)
{
    const struct weir_quota quotas[] = { { WEIR_NO_QUOTA, 5 * WEIR_ONE, WEIR_NO_QUOTA },
                                         { WEIR_NO_QUOTA, WEIR_NO_QUOTA, 500 } };

    for (size_t i = 0; i < 2; i++) {
        struct weir_host *const host = test_tenants_host("first_fit", &LARGE);
        struct weir_tenant_spec spec = weir_tenant_default();
        spec.hard = quotas[i];
        const uint32_t a = test_tenant(host, spec);
        test_ask(host, (struct test_ask){ .tenant = a, .count = 4, .cpus = 2, .ram = 200 });
        CHECK_STR(test_round(host, 1).text, "AA");
        weir_host_destroy(host);
    }
}

/* A comes first, and gets beyond 4 GPUs what B, who is within his limit, leaves. */
static void beyond_a_soft_limit_others_come_first(void)
{
    static const char *const policies[] = { "first_fit", "fcfs", "drf" };

    for (size_t p = 0; p < 3; p++) {
        struct weir_host *const host = test_tenants_host(policies[p], &LARGE);
        struct weir_tenant_spec spec = weir_tenant_default();
        spec.soft = test_gpus(4);
        const uint32_t a = test_tenant(host, spec);
        const uint32_t b = test_tenant_of_weight(host, 1);
        test_ask(host, (struct test_ask){ .tenant = a, .count = 20, .gpus = 1 });
        test_ask(host, (struct test_ask){ .tenant = b, .count = 10, .gpus = 1 });
        (void)test_round(host, 1);
        CHECK_NEAR(test_gpus_of(host, a), 6, 0);
        CHECK_NEAR(test_gpus_of(host, b), 10, 0);
        weir_host_destroy(host);
    }
}

/* A's long job finds 7 of its 8 GPUs and is in the way. Then a short one of A's starts before it,
 * and A's limit holds the long one: it is told so, and B's job starts at once. */
static void who_meets_a_limit_later_is_in_nobodys_way(void)
{
    struct weir_host *const host = test_tenants_host("sjf", &LARGE);
    struct weir_tenant_spec spec = weir_tenant_default();

    spec.hard = test_gpus(10);
    const uint32_t a = test_tenant(host, spec);
    const uint32_t b = test_tenant_of_weight(host, 1);
    test_ask(host, (struct test_ask){ .tenant = b, .count = 1, .gpus = 9, .seconds = 1 });
    test_ask(host, (struct test_ask){ .tenant = a, .count = 1, .gpus = 8, .seconds = 50 });
    test_ask(host, (struct test_ask){ .tenant = b, .count = 1, .gpus = 1, .seconds = 100 });
    CHECK_STR(test_round(host, 1).text, "B");
    CHECK_STR(test_round(host, 2).text, "");
    test_ask(host, (struct test_ask){ .tenant = a, .count = 1, .gpus = 3, .seconds = 5 });
    const struct weir_plan *const plan = test_decide(host, WEIR_CAUSE_JOBS, 3000000000);
    CHECK_I64(reason_of(plan, a, host), WEIR_REASON_QUOTA);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    CHECK_NEAR(test_gpus_of(host, a), 3, 0);
    CHECK_NEAR(test_gpus_of(host, b), 10, 0);
    weir_host_destroy(host);
}

/* A's job goes beyond its soft limit and finds no place; B, who comes later, is not behind it. */
static void who_is_put_off_and_finds_no_place_is_in_nobodys_way(void)
{
    struct weir_host *const host = test_tenants_host("fcfs", &LARGE);
    struct weir_tenant_spec spec = weir_tenant_default();

    spec.soft = test_gpus(4);
    const uint32_t a = test_tenant(host, spec);
    const uint32_t b = test_tenant_of_weight(host, 1);
    test_ask(host, (struct test_ask){ .tenant = b, .count = 1, .gpus = 9 });
    test_ask(host, (struct test_ask){ .tenant = a, .count = 1, .gpus = 8 });
    CHECK_STR(test_round(host, 1).text, "B");
    test_ask(host, (struct test_ask){ .tenant = b, .count = 1, .gpus = 1, .at_s = 2 });
    CHECK_STR(test_round(host, 2).text, "B");
    weir_host_destroy(host);
}

static uint32_t count_of(const struct weir_plan *plan, uint32_t verb)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < weir_plan_count(plan); i++)
        count += weir_plan_action(plan, i)->verb == verb;
    return count;
}

/* Whoever walks over the jobs, the host or the policy: what has no place is said once, and again
 * when something was given back. Returns whether it was said at all. */
static bool is_told_once(const char *policy)
{
    struct weir_host *const host = test_tenants_host(policy, &LARGE);
    const struct test_ask large = {
        .tenant = test_tenant_of_weight(host, 1), .count = 1, .gpus = 10, .seconds = 1000
    };
    uint32_t told[3] = { 0 };
    const struct weir_plan *plan = NULL;

    for (int i = 0; i < 2; i++)
        test_ask(host, large);
    for (int64_t t = 1; t < 4; t++) {
        if (t == 3) {
            test_ask(host, (struct test_ask){ .tenant = large.tenant, .count = 1, .gpus = 12 });
            test_end_some(host, large.tenant, 1);
        }
        test_ask(host, large);
        plan = test_decide(host, WEIR_CAUSE_JOBS, t * 1000000000);
        told[t - 1] = count_of(plan, WEIR_VERB_DENY);
        if (t == 2 && count_of(plan, WEIR_VERB_PREEMPT) > 0)
            break; /* who came has a better claim */
        CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    }
    const bool is_whole = count_of(plan, WEIR_VERB_PREEMPT) == 0;
    if (is_whole && (!CHECK(told[1] == 0) || !CHECK((told[2] > 0) == (told[0] > 0))))
        printf("%s: %u, %u, %u denials\n", policy, told[0], told[1], told[2]);
    weir_host_destroy(host);
    return is_whole && told[0] > 0;
}

static void what_has_no_place_is_said_once(void)
{
    uint32_t said = 0;

    for (uint32_t i = 0; i < weir_queueing_count(); i++)
        said += is_told_once(weir_queueing_at(i)->name);
    CHECK(said > weir_queueing_count() / 2);
}

/* A 10 lends 4 of its 10, B borrows 3 at most, C has 10: the example of Kueue on 30 GPUs. */
static void borrowing_and_lending_have_their_limits(void)
{
    const struct test_node node = { .nodes = 3, .gpus = 10, .cpus = 256, .ram = 1e12 };
    struct weir_host *const host = test_tenants_host("first_fit", &node);
    struct weir_tenant_spec spec = weir_tenant_default();

    spec.guarantee.gpu_units = 10 * WEIR_ONE;
    const struct weir_tenant_spec plain = spec;
    spec.lend = test_gpus(4);
    const uint32_t a = test_tenant(host, spec);
    spec = plain;
    spec.borrow = test_gpus(3);
    const uint32_t b = test_tenant(host, spec);
    const uint32_t c = test_tenant(host, plain);
    test_ask(host, (struct test_ask){ .tenant = b, .count = 30, .gpus = 1 });
    (void)test_round(host, 1);
    CHECK_NEAR(test_gpus_of(host, b), 13, 0);
    test_ask(host, (struct test_ask){ .tenant = c, .count = 30, .gpus = 1 });
    (void)test_round(host, 2);
    CHECK_NEAR(test_gpus_of(host, c), 11, 0); /* 6 of A stay free */
    test_ask(host, (struct test_ask){ .tenant = a, .count = 2, .gpus = 1 });
    (void)test_round(host, 3);
    test_end_some(host, b, 13);
    (void)test_round(host, 4);
    CHECK_NEAR(test_gpus_of(host, a), 2, 0);
    CHECK_NEAR(test_gpus_of(host, b), 13, 0);
    CHECK_NEAR(test_gpus_of(host, c), 11, 0); /* 4 of A stay free */
    weir_host_destroy(host);
}

/* ---- mistakes ---- */

static weir_status add(struct weir_host *host, const char *name, uint32_t parent, double weight)
{
    struct weir_tenant_spec spec = weir_tenant_default();

    spec.name = name;
    spec.parent = parent;
    spec.weight = weight;
    return weir_host_add_tenant(host, &spec, NULL, NULL);
}

static void mistakes_are_refused(void)
{
    struct weir_host *const host = test_tenants_host("first_fit", &LARGE);
    struct weir_tenant_spec spec = weir_tenant_default();

    CHECK_I64(add(host, "x", 0, 1), WEIR_OK);
    CHECK_I64(add(host, "x", 0, 1), WEIR_EDUPLICATE);
    CHECK_I64(add(host, "", 0, 1), WEIR_EINVAL);
    CHECK_I64(add(host, "y", 2, 1), WEIR_ENOTFOUND);
    CHECK_I64(add(host, "y", 0, -1), WEIR_EINVAL);
    CHECK_I64(add(host, "y", 0, (double)NAN), WEIR_EINVAL);
    spec.name = "y";
    spec.hard.cpu_units = -1;
    CHECK_I64(weir_host_add_tenant(host, &spec, NULL, NULL), WEIR_EINVAL);
    spec = weir_tenant_default();
    spec.name = "y";
    spec.guarantee.gpu_units = WEIR_NO_QUOTA;
    CHECK_I64(weir_host_add_tenant(host, &spec, NULL, NULL), WEIR_EINVAL);
    spec.size = 4;
    CHECK_I64(weir_host_add_tenant(host, &spec, NULL, NULL), WEIR_EABI);
    spec = weir_tenant_default();
    CHECK_I64(weir_host_set_tenant(host, 7, &spec, NULL), WEIR_ENOTFOUND);
    CHECK_I64(weir_host_set_half_life(host, -1), WEIR_EINVAL);
    CHECK_I64(weir_host_set_usage_period(host, -1), WEIR_EINVAL);
    CHECK_I64(weir_host_set_usage_rule(host, (enum weir_usage_rule)2), WEIR_EINVAL);
    CHECK_I64(weir_host_set_usage_rule(NULL, WEIR_USAGE_SUM), WEIR_EINVAL);
    CHECK_I64(weir_host_restore_usage(host, 9, 1, 0), WEIR_ENOTFOUND);
    CHECK_I64(weir_view_tenants(weir_host_view(host, 0)), 2);
    for (uint32_t depth = 1; depth < WEIR_MAX_TENANT_DEPTH; depth++)
        CHECK_I64(add(host, (const char[]){ (char)('a' + (int)depth), '\0' }, depth, 1), WEIR_OK);
    CHECK_I64(add(host, "too deep", WEIR_MAX_TENANT_DEPTH, 1), WEIR_ERANGE);
    weir_host_destroy(host);
}

/* Where nobody told of tenants, numbers mean nothing. */
static void without_tenants_jobs_are_nobodys(void)
{
    struct weir_host *const host = test_tenants_host("drf", &LARGE);

    test_ask(host, (struct test_ask){ .tenant = 5, .count = 20, .gpus = 1 });
    (void)test_round(host, 1);
    CHECK_NEAR(test_gpus_of(host, 0), 16, 0);
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "a tenant has what those below it have", a_tenant_has_what_those_below_it_have },
    { "past use fades with the half-life", past_use_fades_with_the_half_life },
    { "past use fades in steps", past_use_fades_in_steps },
    { "past use may be an average", past_use_may_be_an_average },
    { "without a half-life all of the past counts", without_a_half_life_all_of_the_past_counts },
    { "the ninth GPU of eight waits though twenty are free",
      the_ninth_gpu_of_eight_waits_though_twenty_are_free },
    { "limits hold for all below", limits_hold_for_all_below },
    { "every resource has a limit", every_resource_has_a_limit },
    { "beyond a soft limit others come first", beyond_a_soft_limit_others_come_first },
    { "who meets a limit later is in nobody's way", who_meets_a_limit_later_is_in_nobodys_way },
    { "who is put off and finds no place is in nobody's way",
      who_is_put_off_and_finds_no_place_is_in_nobodys_way },
    { "what has no place is said once", what_has_no_place_is_said_once },
    { "borrowing and lending have their limits", borrowing_and_lending_have_their_limits },
    { "mistakes are refused", mistakes_are_refused },
    { "without tenants jobs are nobody's", without_tenants_jobs_are_nobodys },
};
TEST_MAIN(tests)
