/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whom cohorts preempt: worked examples of Kueue's rules, three tenants with quotas of three. */
#include "tests/support/check.h"
#include "tests/support/tenants.h"

#include <stdio.h>
#include <string.h>

enum { NEVER, FINAL, EITHER };
enum { EACH = 100001 }; /* between the ids of two jobs */
static const int64_t s_ns = 1000000000;

/* A of this weight, B and C; GPUs enough for all quotas. */
static struct weir_host *open_three(double rule, double grace_s, double weight)
{
    const struct test_node node = { .nodes = 1, .gpus = 9, .cpus = 99, .ram = 1e9 };
    const double values[] = { rule, grace_s };
    struct weir_host *const host = test_tenants_host_with("cohorts", &node, values, 2);

    for (uint32_t i = 0; i < 3; i++) {
        struct weir_tenant_spec spec = weir_tenant_default();
        spec.guarantee.gpu_units = 3 * WEIR_ONE;
        spec.weight = i == 0 ? weight : 1;
        (void)test_tenant(host, spec);
    }
    return host;
}

static void ask(struct weir_host *host, uint32_t tenant, uint32_t jobs, double gpus, int64_t at_s)
{
    test_ask(host, (struct test_ask){ .tenant = tenant, .count = jobs, .gpus = gpus });
    const struct weir_plan *const plan = test_decide(host, WEIR_CAUSE_JOBS, at_s * s_ns);
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        const struct weir_outcome outcome = { .size = sizeof outcome,
                                              .kind = WEIR_OUTCOME_STARTED,
                                              .owner = action->owner,
                                              .node = action->alloc.node,
                                              .worker = action->worker,
                                              .time_ns = at_s * s_ns };
        if (action->verb == WEIR_VERB_START)
            CHECK_I64(weir_host_outcome(host, &outcome, &action->alloc, NULL), WEIR_OK);
    }
}

/* A's next job of so many GPUs: "-12 +13" = job 12 is preempted and 13 starts. */
static struct test_text claim(struct weir_host *host, double gpus)
{
    struct test_text text = { "" };
    size_t used = 0;

    test_ask(host, (struct test_ask){ .tenant = 1, .count = 1, .gpus = gpus });
    const struct weir_plan *const plan = test_decide(host, WEIR_CAUSE_JOBS, 100 * s_ns);
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        if (action->verb != WEIR_VERB_PREEMPT && action->verb != WEIR_VERB_START)
            continue;
        used += (size_t)snprintf(text.text + used, sizeof text.text - used, "%s%c%llu",
                                 used > 0 ? " " : "", action->verb == WEIR_VERB_START ? '+' : '-',
                                 (unsigned long long)(action->owner.id / EACH));
    }
    return text;
}

/* A has 1, B two jobs of 4 (1 and 2). */
static struct test_text with_two_of_four(double rule, double gpus)
{
    struct weir_host *const host = open_three(rule, 0, 1);

    ask(host, 1, 1, 1, 1);
    ask(host, 2, 1, 4, 2);
    ask(host, 2, 1, 4, 3);
    const struct test_text text = claim(host, gpus);
    weir_host_destroy(host);
    return text;
}

/* A has 3 in one job, B six of 1. */
static struct test_text with_six_of_one(double gpus, double weight)
{
    struct weir_host *const host = open_three(EITHER, 0, weight);

    ask(host, 1, 1, 3, 1);
    for (uint32_t i = 0; i < 6; i++)
        ask(host, 2, 1, 1, 2 + i);
    const struct test_text text = claim(host, gpus);
    weir_host_destroy(host);
    return text;
}

/* Jobs count from 0. New share 222.2; B has 555.6, and 111.1 without its newest job. */
static void shares_decide_who_goes(void)
{
    CHECK_STR(with_two_of_four(NEVER, 4).text, "");
    CHECK_STR(with_two_of_four(FINAL, 4).text, "");
    CHECK_STR(with_two_of_four(EITHER, 4).text, "-2 +3");
}

static void who_stays_within_its_quota_always_may(void)
{
    CHECK_STR(with_two_of_four(FINAL, 2).text, "-2 +3");
    CHECK_STR(with_two_of_four(NEVER, 2).text, "");
}

/* 111.1 against 222.2 after; for two 222.2 against 111.1; with twice the weight 111.1 again. */
static void nobody_goes_unless_all_do(void)
{
    CHECK_STR(with_six_of_one(1, 1).text, "-6 +7");
    CHECK_STR(with_six_of_one(2, 1).text, "");
    CHECK_STR(with_six_of_one(2, 2).text, "-6 -5 +7");
}

/* The job waits until the one that was warned has gone, and nobody else is warned for it. */
static void with_a_grace_they_are_warned(void)
{
    struct weir_host *const host = open_three(EITHER, 30, 1);

    ask(host, 1, 1, 1, 1);
    ask(host, 2, 1, 4, 2);
    ask(host, 2, 1, 4, 3);
    CHECK_STR(claim(host, 4).text, "-2");
    const struct weir_plan *const plan = test_decide(host, WEIR_CAUSE_JOBS, 101 * s_ns);
    for (uint32_t i = 0; i < weir_plan_count(plan); i++)
        CHECK(weir_plan_action(plan, i)->verb != WEIR_VERB_PREEMPT);
    test_end_job(host, 2 * EACH);
    CHECK_STR(test_round(host, 102).text, "A");
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "shares decide who goes", shares_decide_who_goes },
    { "who stays within its quota always may", who_stays_within_its_quota_always_may },
    { "nobody goes unless all do", nobody_goes_unless_all_do },
    { "with a grace they are warned", with_a_grace_they_are_warned },
};
TEST_MAIN(tests)
