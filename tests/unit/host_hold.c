/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What gangs reserve while they wait (weir_hold_mode): who is kept away, who is not, and for how
 * long.
 */
#include "tests/support/check.h"
#include "tests/support/host_jobs.h"

#include <stdio.h>
#include <string.h>

static struct weir_host_config config_of(uint32_t hold_mode)
{
    struct weir_host_config config = test_jobs_config("first_fit");

    config.hold_mode = hold_mode;
    return config;
}

/* The places that a plan reserves, as test_starts. */
static struct test_text reserved(const struct weir_plan *plan)
{
    struct test_text text = { "" };
    size_t used = 0;

    for (uint32_t i = 0; plan != NULL && i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        if (action->verb == WEIR_VERB_RESERVE)
            used += (size_t)snprintf(text.text + used, sizeof text.text - used, "%s%llu.%u@%u",
                                     used > 0 ? " " : "", (unsigned long long)action->owner.id,
                                     action->rank, action->alloc.node);
    }
    return text;
}

/* A pass that starts and reserves this; its starts come true. */
static void pass_gives(struct weir_host *host, const char *starts, const char *places)
{
    const struct weir_plan *const plan = test_pass(host);
    const struct test_text started = test_starts(plan);
    const struct test_text kept = reserved(plan);

    CHECK_STR(started.text, starts);
    CHECK_STR(kept.text, places);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
}

/* Jobs 1 and 2 hold three of four GPUs; 3 needs all four, 4 only one. */
static struct weir_host *open_waiting(uint32_t hold_mode)
{
    const struct weir_host_config config = config_of(hold_mode);
    struct weir_host *const host = test_jobs_open(&config, 2, 2);

    CHECK_I64(test_submit(host, 1, 2, 1), WEIR_OK);
    CHECK_I64(test_submit(host, 2, 1, 1), WEIR_OK);
    test_starts_are(host, "1.0@0 1.1@0 2.0@1");
    CHECK_I64(test_submit(host, 3, 4, 1), WEIR_OK);
    CHECK_I64(test_submit(host, 4, 1, 1), WEIR_OK);
    return host;
}

/* covers: S1.17 */
static void a_gang_reserves_only_when_it_is_told_to(void)
{
    struct weir_host *host = open_waiting(WEIR_HOLD_NONE);

    pass_gives(host, "4.0@1", "");
    weir_host_destroy(host);
    host = open_waiting(WEIR_HOLD_RESERVE);
    pass_gives(host, "", "3.0@1");
    test_end_job(host, 1);
    pass_gives(host, "", "3.0@0 3.1@0 3.2@1");
    test_end_job(host, 2);
    pass_gives(host, "3.0@0 3.1@0 3.2@1 3.3@1", "");
    test_end_job(host, 3);
    pass_gives(host, "4.0@0", "");
    weir_host_destroy(host);
}

/* Nothing is given back, and yet 4 may start: what kept it away is gone. */
static void a_gang_that_leaves_gives_up_what_it_reserved(void)
{
    struct weir_host *const host = open_waiting(WEIR_HOLD_RESERVE);

    pass_gives(host, "", "3.0@1");
    CHECK_I64(weir_host_withdraw(host, 0, 3), WEIR_OK);
    pass_gives(host, "4.0@1", "");
    weir_host_destroy(host);
}

/* 5 is as large as 3 and comes after it: it holds nothing that 3 can use, so 3 starts first. */
static void gangs_never_wait_for_each_other(void)
{
    struct weir_host *const host = open_waiting(WEIR_HOLD_RESERVE);

    CHECK_I64(weir_host_withdraw(host, 0, 4), WEIR_OK);
    CHECK_I64(test_submit(host, 5, 3, 1), WEIR_OK);
    pass_gives(host, "", "3.0@1");
    test_end_job(host, 1);
    pass_gives(host, "", "3.0@0 3.1@0 3.2@1");
    test_end_job(host, 2);
    pass_gives(host, "3.0@0 3.1@0 3.2@1 3.3@1", "");
    test_end_job(host, 3);
    pass_gives(host, "5.0@0 5.1@0 5.2@1", "");
    weir_host_destroy(host);
}

/* Where nobody knows that ranks belong together 3 and 5 take turns: of the GPUs that 1 and 2 leave
 * each gets two, and both wait for good. A job of one rank that came before them goes first. */
static void members_that_are_placed_alone_can_wait_for_ever(void)
{
    struct weir_host *const host = open_waiting(WEIR_HOLD_MEMBERS);

    CHECK_I64(test_submit(host, 5, 4, 1), WEIR_OK);
    pass_gives(host, "", "3.0@1");
    test_end_job(host, 1);
    pass_gives(host, "", "3.0@0 3.1@0 5.0@1");
    test_end_job(host, 2);
    pass_gives(host, "", "3.0@0 3.1@0 5.0@1 5.1@1");
    CHECK_I64(weir_host_withdraw(host, 0, 5), WEIR_OK);
    pass_gives(host, "3.0@0 3.1@0 3.2@1 3.3@1", "");
    test_end_job(host, 3);
    pass_gives(host, "4.0@0", "");
    weir_host_destroy(host);
}

/* A placement group is placed whole by its own rules: there is nothing to reserve for a part. */
static void a_placement_group_reserves_nothing(void)
{
    const struct weir_rank_group group = test_rank_group(4, 1, 1);
    struct weir_job_spec spec = test_job_spec(3, &group, 1);
    struct weir_host *const host = open_waiting(WEIR_HOLD_RESERVE);

    CHECK_I64(weir_host_withdraw(host, 0, 3), WEIR_OK);
    spec.strategy = WEIR_GROUP_PACK + 1;
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    pass_gives(host, "4.0@1", "");
    weir_host_destroy(host);
}

/* The pool gets the two GPUs that job 1 leaves, or they are the gang's, also when a timer asks. */
static void a_pool_gets_nothing_that_a_gang_reserves(void)
{
    static const struct test_stage stage = { .name = "s", .cpus = 1, .gpus = 1, .requested = 3 };
    const struct test_pipeline cluster = {
        .nodes = 1, .gpus = 3, .cpus = 16, .stages = &stage, .stage_count = 1
    };
    for (uint32_t mode = WEIR_HOLD_NONE; mode <= WEIR_HOLD_RESERVE; mode++) {
        const struct weir_host_config config = config_of(mode);
        struct weir_host *const host = test_host(&config, &cluster);
        CHECK_I64(weir_host_add_workload(host, "trace", NULL, NULL), WEIR_OK);
        CHECK_I64(test_submit(host, 1, 1, 1), WEIR_OK);
        CHECK_I64(test_submit(host, 2, 3, 1), WEIR_OK);
        pass_gives(host, "1.0@0", mode == WEIR_HOLD_NONE ? "" : "2.0@0 2.1@0");
        CHECK_I64(test_carry_out(host, test_decide(host, WEIR_CAUSE_TIMER, 1)), WEIR_OK);
        CHECK_STR(test_workers(host).text, mode == WEIR_HOLD_NONE ? "2" : "0");
        weir_host_destroy(host);
    }
}

/* A plan that gives to another what it reserves is no plan. */
static void what_is_reserved_is_not_given_twice(void)
{
    const struct weir_alloc place = { .node = 1,
                                      .device_count = 1,
                                      .cpu_units = WEIR_ONE,
                                      .devices = { { .gpu = 1, .units = WEIR_ONE } } };
    struct weir_action action = { .size = sizeof action,
                                  .verb = WEIR_VERB_RESERVE,
                                  .owner = weir_job_owner(0, 3),
                                  .choice = WEIR_NO_INDEX,
                                  .alloc = place };
    struct weir_host *const host = open_waiting(WEIR_HOLD_RESERVE);
    struct weir_error error = { .phase = -1 };
    struct weir_plan *plan = NULL;

    CHECK_I64(weir_plan_create(NULL, &plan), WEIR_OK);
    weir_plan_reset(plan, 10, WEIR_EXPLAIN_COUNTS);
    CHECK_I64(weir_plan_append(plan, &action), WEIR_OK);
    CHECK_I64(weir_plan_check(plan, weir_host_view(host, 0), &error), WEIR_OK);
    CHECK_I64(weir_plan_start(plan, weir_job_owner(0, 4), 10, &place, NULL), WEIR_OK);
    CHECK_I64(weir_plan_check(plan, weir_host_view(host, 0), &error), WEIR_EPOLICY);
    CHECK(strstr(error.text, "needs 1 GPU, 0 free, 1 too much") != NULL);
    weir_plan_reset(plan, 10, WEIR_EXPLAIN_COUNTS);
    action.alloc.cpu_units = WEIR_ONE / 2;
    CHECK_I64(weir_plan_append(plan, &action), WEIR_OK);
    CHECK_I64(weir_plan_check(plan, weir_host_view(host, 0), &error), WEIR_EPOLICY);
    CHECK(strstr(error.text, "gives less than") != NULL);
    weir_plan_reset(plan, 10, WEIR_EXPLAIN_COUNTS);
    action.alloc = (struct weir_alloc){ .node = 1, .cpu_units = WEIR_ONE };
    CHECK_I64(weir_plan_append(plan, &action), WEIR_OK);
    CHECK_I64(weir_plan_check(plan, weir_host_view(host, 0), &error), WEIR_EPOLICY);
    weir_plan_reset(plan, 10, WEIR_EXPLAIN_COUNTS);
    action.alloc = (struct weir_alloc){ .node = 1 }; /* of no place, only of a time */
    CHECK_I64(weir_plan_append(plan, &action), WEIR_OK);
    CHECK_I64(weir_plan_check(plan, weir_host_view(host, 0), &error), WEIR_OK);
    weir_plan_destroy(plan);
    weir_host_destroy(host);
}

static void an_unknown_mode_is_refused(void)
{
    const struct weir_host_config config = config_of(WEIR_HOLD_MEMBERS + 1);
    struct weir_host *host = NULL;
    struct weir_error error = { .phase = -1 };

    CHECK_I64(weir_host_create(&config, &host, &error), WEIR_EINVAL);
    CHECK_STR(error.text, "unknown hold mode 3");
}

/* Who goes on where another host stopped at 5 s decides at 5 s, and no more before. */
static void a_restored_host_knows_what_time_it_is(void)
{
    const struct weir_host_config config = test_config("first_fit", "fixed");
    const struct weir_host_past past = {
        .size = sizeof past, .decisions = 7, .next_worker = 12, .now_ns = INT64_C(5000000000)
    };
    const struct weir_plan *plan = NULL;
    struct weir_host *host = NULL;

    CHECK_I64(weir_host_create(&config, &host, NULL), WEIR_OK);
    CHECK_I64(weir_host_restore(host, &past, NULL), WEIR_OK);
    CHECK_I64(test_decide_at(host, past.now_ns - 1, &plan), WEIR_EINVAL);
    CHECK_I64(test_decide_at(host, past.now_ns, &plan), WEIR_OK);
    CHECK_I64(weir_host_stats(host).decisions, 8);
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "a gang reserves only when it is told to", a_gang_reserves_only_when_it_is_told_to },
    { "a gang that leaves gives up what it reserved",
      a_gang_that_leaves_gives_up_what_it_reserved },
    { "gangs never wait for each other", gangs_never_wait_for_each_other },
    { "members that are placed alone can wait for ever",
      members_that_are_placed_alone_can_wait_for_ever },
    { "a placement group reserves nothing", a_placement_group_reserves_nothing },
    { "a pool gets nothing that a gang reserves", a_pool_gets_nothing_that_a_gang_reserves },
    { "what is reserved is not given twice", what_is_reserved_is_not_given_twice },
    { "an unknown mode is refused", an_unknown_mode_is_refused },
    { "a restored host knows what time it is", a_restored_host_knows_what_time_it_is },
};

TEST_MAIN(tests)
