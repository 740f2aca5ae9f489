/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What bounds a decision: a cap on actions, a deadline, a plan that is cancelled. What was not done
 * is done by later calls, and comes to the same.
 */
#include "tests/support/check.h"
#include "tests/support/host_jobs.h"
#include "tests/support/pipeline.h"
#include "weir/host.h"
#include "weir/reservation.h"

#include <math.h>

static const struct test_stage stages[] = {
    { .name = "read", .cpus = 1, .speed_per_s = 4 },
    { .name = "infer", .cpus = 1, .gpus = 1, .speed_per_s = 1 },
};
static const struct test_pipeline two = {
    .nodes = 3, .gpus = 2, .cpus = 8, .stages = stages, .stage_count = 2
};
static const struct test_pipeline none = { .nodes = 2, .gpus = 2, .cpus = 4 };

static weir_status submit(struct weir_host *host, uint64_t id, uint32_t ranks)
{
    const struct weir_rank_group group = { .ranks = ranks,
                                           .ranks_min = ranks,
                                           .ranks_max = ranks,
                                           .shape = { .kind = WEIR_SHAPE_CPU,
                                                      .cpu_units = WEIR_ONE } };
    const struct weir_job_spec job = { .size = sizeof(struct weir_job_spec),
                                       .id = id,
                                       .groups = &group,
                                       .group_count = 1,
                                       .submit_ns = (int64_t)id,
                                       .queued_ns = (int64_t)id,
                                       .estimate_ns = WEIR_UNKNOWN_TIME,
                                       .deadline_ns = WEIR_UNKNOWN_TIME };

    return weir_host_submit(host, &job, NULL);
}

/* Jobs of one rank, with ids from 1. */
static struct weir_host *open_jobs(uint32_t count, const struct weir_host_config *config)
{
    struct weir_host *const host = test_host(config, &none);

    CHECK_I64(weir_host_add_workload(host, "w", NULL, NULL), WEIR_OK);
    for (uint32_t i = 1; i <= count; i++)
        CHECK_I64(submit(host, i, 1), WEIR_OK);
    return host;
}

struct seen {
    uint32_t starts;
    uint32_t wakes; /* at the time of the call */
};

static struct seen decide(struct weir_host *host, struct weir_call call,
                          const struct weir_plan **plan)
{
    struct seen seen = { .starts = 0 };

    call.size = sizeof call;
    CHECK_I64(weir_host_decide(host, &call, plan, NULL), WEIR_OK);
    for (uint32_t i = 0; i < weir_plan_count(*plan); i++) {
        const struct weir_action *const action = weir_plan_action(*plan, i);
        seen.starts += action->verb == WEIR_VERB_START;
        seen.wakes += action->verb == WEIR_VERB_WAKE && action->value == call.now_ns;
    }
    return seen;
}

static void a_cap_spreads_jobs_over_calls(void)
{
    const struct weir_host_config config = test_config("fgd", "xenna");
    struct weir_host *const host = open_jobs(5, &config);
    const struct weir_call call = { .causes = WEIR_CAUSE_WAKE, .max_actions = 2 };
    static const uint32_t starts[4] = { 2, 2, 1, 0 };
    const struct weir_plan *plan = NULL;

    for (uint32_t i = 0; i < 4; i++) {
        const struct seen seen = decide(host, call, &plan);
        CHECK_I64(seen.starts, starts[i]);
        CHECK_I64(seen.wakes, i < 2);
        CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    }
    CHECK_I64(weir_view_waiting_jobs(weir_host_view(host, 0)), 0);
    CHECK_I64(weir_cluster_worker_count(weir_host_cluster(host)), 5);
    weir_host_destroy(host);
}

/* Four ranks where two actions are allowed: all of them, and nothing beside. */
static void ranks_of_a_job_come_together_in_spite_of_a_cap(void)
{
    const struct weir_host_config config = test_config("fgd", "xenna");
    struct weir_host *const host = open_jobs(1, &config);
    const struct weir_call call = { .causes = WEIR_CAUSE_JOBS, .max_actions = 2 };
    const struct weir_plan *plan = NULL;
    struct seen seen;

    CHECK_I64(submit(host, 2, 4), WEIR_OK);
    CHECK_I64(submit(host, 3, 1), WEIR_OK);
    seen = decide(host, call, &plan);
    CHECK_I64(seen.starts, 1);
    CHECK_I64(weir_plan_action(plan, 0)->owner.id, 1);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    seen = decide(host, call, &plan);
    CHECK_I64(seen.starts, 4);
    CHECK_I64(seen.wakes, 1);
    CHECK_I64(weir_plan_action(plan, 3)->owner.id, 2);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    seen = decide(host, call, &plan);
    CHECK_I64(seen.starts, 1);
    CHECK_I64(seen.wakes, 0);
    weir_host_destroy(host);
}

static void a_cap_on_stages_comes_to_the_same_workers(void)
{
    const struct weir_host_config config = test_config("fgd", "xenna");
    struct weir_host *const at_once = test_host(&config, &two);
    struct weir_host *const slowly = test_host(&config, &two);
    const struct weir_call call = { .causes = WEIR_CAUSE_TIMER, .max_actions = 3 };
    const struct weir_plan *plan = NULL;
    uint32_t calls = 0;

    for (int i = 0; i < 3; i++)
        CHECK_I64(test_step(at_once, NULL), WEIR_OK);
    for (struct seen seen = { .wakes = 1 }; seen.wakes > 0 && calls < 50; calls++) {
        seen = decide(slowly, call, &plan);
        CHECK(seen.starts <= 3);
        CHECK_I64(test_carry_out(slowly, plan), WEIR_OK);
    }
    CHECK(calls > 2);
    CHECK(calls < 50);
    CHECK_STR(test_workers(slowly).text, test_workers(at_once).text);
    weir_host_destroy(at_once);
    weir_host_destroy(slowly);
}

static int64_t tick(void *state)
{
    int64_t *const now_ns = state;

    return (*now_ns)++;
}

static void what_there_was_no_time_for_is_decided_later(void)
{
    int64_t wall_ns = 0;
    struct weir_host_config config = test_config("fgd", "xenna");
    config.clock_ns = tick;
    config.clock_state = &wall_ns;
    struct weir_host *const host = open_jobs(6, &config);
    const struct weir_plan *plan = NULL;
    struct weir_call call = { .causes = WEIR_CAUSE_WAKE, .deadline_ns = 4 };

    /* The clock is read once when the call begins, then before every job: at 1, 2, 3 and 4. */
    struct seen seen = decide(host, call, &plan);
    CHECK_I64(seen.starts, 3);
    CHECK_I64(seen.wakes, 1);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    call.deadline_ns = 0;
    seen = decide(host, call, &plan);
    CHECK_I64(seen.starts, 3);
    CHECK_I64(seen.wakes, 0);
    weir_host_destroy(host);
}

/* The first looks at the clock until there is no more time, those after it see at once that there
 * is none. */
static void the_longest_decision_is_kept(void)
{
    int64_t wall_ns = 0;
    struct weir_host_config config = test_config("fgd", "xenna");
    config.clock_ns = tick;
    config.clock_state = &wall_ns;
    struct weir_host *const host = open_jobs(6, &config);
    const struct weir_plan *plan = NULL;
    const struct weir_call call = { .causes = WEIR_CAUSE_WAKE, .deadline_ns = 4 };
    int64_t longest_ns = 0;
    int64_t all_ns = 0;
    for (int i = 0; i < 3; i++) {
        (void)decide(host, call, &plan);
        CHECK_I64(test_carry_out(host, plan), WEIR_OK);
        const struct weir_host_stats stats = weir_host_stats(host);
        CHECK(i == 0 || stats.wall_last_ns < longest_ns);
        longest_ns = stats.wall_last_ns > longest_ns ? stats.wall_last_ns : longest_ns;
        all_ns += stats.wall_last_ns;
        CHECK_I64(stats.wall_max_ns, longest_ns);
        CHECK_I64(stats.wall_total_ns, all_ns);
    }
    weir_host_destroy(host);
}

static int64_t not_now(void *state)
{
    ++*(uint32_t *)state;
    return -1;
}

static void a_decision_that_is_not_timed_reads_the_clock_once(void)
{
    uint32_t looks = 0;
    struct weir_host_config config = test_config("fgd", "xenna");
    config.clock_ns = not_now;
    config.clock_state = &looks;
    struct weir_host *const host = open_jobs(2, &config);
    const struct weir_plan *plan = NULL;
    const struct weir_call call = { .causes = WEIR_CAUSE_WAKE };

    (void)decide(host, call, &plan);
    CHECK_I64(looks, 1);
    CHECK_I64(weir_host_stats(host).wall_last_ns, -1);
    CHECK_I64(weir_host_stats(host).wall_total_ns, 0);
    weir_host_destroy(host);
}

static void a_cancelled_plan_was_never_made(void)
{
    const struct weir_host_config config = test_config("fgd", "xenna");
    struct weir_host *const host = open_jobs(3, &config);
    const struct weir_call call = { .causes = WEIR_CAUSE_JOBS };
    const struct weir_plan *plan = NULL;
    struct weir_error error = { .phase = 0 };

    CHECK_I64(submit(host, 9, 4), WEIR_OK);
    CHECK_I64(weir_host_cancel(host, &error), WEIR_ENOTFOUND);
    CHECK_I64(decide(host, call, &plan).starts, 7);
    CHECK_I64(weir_view_waiting_jobs(weir_host_view(host, 0)), 0);
    CHECK_I64(weir_host_cancel(host, &error), WEIR_OK);
    CHECK_I64(weir_view_waiting_jobs(weir_host_view(host, 0)), 4);
    CHECK_I64(weir_plan_count(plan), 0);
    CHECK_I64(weir_host_cancel(host, &error), WEIR_ENOTFOUND);
    CHECK_I64(decide(host, call, &plan).starts, 7);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    CHECK_I64(weir_host_cancel(host, &error), WEIR_ENOTFOUND); /* it was carried out */
    CHECK_I64(weir_cluster_worker_count(weir_host_cluster(host)), 7);
    weir_host_destroy(host);
}

/* Calls that a plan asks for at a later time. */
static uint32_t later_calls(const struct weir_plan *plan, int64_t now_ns)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < weir_plan_count(plan); i++)
        count += weir_plan_action(plan, i)->verb == WEIR_VERB_WAKE &&
                 weir_plan_action(plan, i)->value > now_ns;
    return count;
}

/* One of the policy, for which a gang holds what it finds, and one of a reservation. They outlive a
 * cap, and a plan that is cancelled; they are asked for once. */
static void calls_that_were_asked_for_outlive_their_plan(void)
{
    static const struct weir_reservation_spec reserved = {
        .size = sizeof reserved, .name = "r", .start_ns = 1000, .end_ns = 2000, .nodes = 1
    };
    struct weir_host_config config = test_config("fgd", "xenna");
    struct weir_call call = { .causes = WEIR_CAUSE_JOBS, .now_ns = 10, .max_actions = 1 };
    const struct weir_plan *plan = NULL;

    config.queueing = weir_queueing_find("hold");
    struct weir_host *const host = open_jobs(3, &config);
    CHECK_I64(weir_host_add_reservation(host, &reserved, NULL, NULL), WEIR_OK);
    CHECK_I64(submit(host, 4, 8), WEIR_OK);
    CHECK_I64(decide(host, call, &plan).starts, 1);
    CHECK_I64(later_calls(plan, call.now_ns), 2);
    CHECK_I64(weir_host_cancel(host, NULL), WEIR_OK);
    call.max_actions = 0;
    CHECK_I64(decide(host, call, &plan).starts, 3);
    CHECK_I64(later_calls(plan, call.now_ns), 2);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    (void)decide(host, call, &plan);
    CHECK_I64(later_calls(plan, call.now_ns), 0);
    weir_host_destroy(host);
}

static uint32_t turned_away(const struct weir_plan *plan)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < weir_plan_count(plan); i++)
        count += weir_plan_action(plan, i)->verb == WEIR_VERB_DENY &&
                 weir_plan_action(plan, i)->reason == WEIR_REASON_QUEUE_FULL;
    return count;
}

/* Eight of eleven jobs have places, one may wait. Which two are too many is said by the plan that
 * starts the last, and not before: until then all are known. */
static void a_plan_that_is_cut_short_turns_nobody_away(void)
{
    const struct weir_host_config config = test_config("fgd", "xenna");
    struct weir_host *const host = open_jobs(0, &config);
    const struct weir_call call = { .causes = WEIR_CAUSE_JOBS, .max_actions = 3 };
    static const uint32_t starts[] = { 3, 3, 2 };
    const struct weir_plan *plan = NULL;

    CHECK_I64(weir_host_set_queue_limit(host, 0, 1), WEIR_OK);
    for (uint32_t i = 1; i <= 11; i++)
        CHECK_I64(submit(host, i, 1), WEIR_OK);
    for (uint32_t i = 0; i < 3; i++) {
        const struct seen seen = decide(host, call, &plan);
        CHECK_I64(seen.starts, starts[i]);
        CHECK_I64(seen.wakes, i < 2);
        CHECK_I64(turned_away(plan), i < 2 ? 0 : 2);
        CHECK_I64(weir_view_jobs(weir_host_view(host, 0)), i < 2 ? 11 : 9);
        CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    }
    weir_host_destroy(host);
}

/* At the deadline three of six jobs were not asked: they cannot be too many. */
static void who_was_not_asked_is_not_turned_away(void)
{
    int64_t wall_ns = 0;
    struct weir_host_config config = test_config("fgd", "xenna");
    config.clock_ns = tick;
    config.clock_state = &wall_ns;
    struct weir_host *const host = open_jobs(0, &config);
    const struct weir_plan *plan = NULL;

    CHECK_I64(weir_host_set_queue_limit(host, 0, 1), WEIR_OK);
    for (uint32_t i = 1; i <= 6; i++)
        CHECK_I64(submit(host, i, 1), WEIR_OK);
    for (int64_t deadline_ns = 4; deadline_ns >= 0; deadline_ns -= 4) {
        const struct weir_call call = { .causes = WEIR_CAUSE_WAKE, .deadline_ns = deadline_ns };
        CHECK_I64(decide(host, call, &plan).starts, 3);
        CHECK_I64(turned_away(plan), 0);
        CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    }
    weir_host_destroy(host);
}

/* It is forgotten at once; its places are free, and what the controller says of its starts is of
 * nobody. */
static void a_job_may_be_withdrawn_while_a_plan_starts_it(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 1, 2);
    struct weir_outcome outcome = { .size = sizeof outcome, .owner = weir_job_owner(0, 7) };

    CHECK_I64(test_submit(host, 7, 2, 1), WEIR_OK);
    CHECK_I64(test_submit(host, 8, 2, 1), WEIR_OK);
    const struct weir_plan *const plan = test_pass(host);
    const struct weir_alloc alloc = weir_plan_action(plan, 0)->alloc;
    CHECK_STR(test_starts(plan).text, "7.0@0 7.1@0");
    CHECK_I64(weir_host_withdraw(host, 0, 7), WEIR_OK);
    CHECK_I64(weir_view_jobs(weir_host_view(host, 0)), 1);
    CHECK_I64(weir_host_withdraw(host, 0, 7), WEIR_ENOTFOUND);
    outcome.kind = WEIR_OUTCOME_REFUSED;
    CHECK_I64(weir_host_outcome(host, &outcome, NULL, NULL), WEIR_OK);
    CHECK_I64(weir_host_outcome(host, &outcome, NULL, NULL), WEIR_OK);
    outcome.kind = WEIR_OUTCOME_STARTED;
    CHECK_I64(weir_host_outcome(host, &outcome, &alloc, NULL), WEIR_ENOTFOUND);
    test_starts_are(host, "8.0@0 8.1@0");
    test_jobs_check(host);
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "a job may be withdrawn while a plan starts it",
      a_job_may_be_withdrawn_while_a_plan_starts_it },
    { "a cap spreads jobs over calls", a_cap_spreads_jobs_over_calls },
    { "ranks of a job come together in spite of a cap",
      ranks_of_a_job_come_together_in_spite_of_a_cap },
    { "a cap on stages comes to the same workers", a_cap_on_stages_comes_to_the_same_workers },
    { "what there was no time for is decided later", what_there_was_no_time_for_is_decided_later },
    { "the longest decision is kept", the_longest_decision_is_kept },
    { "a decision that is not timed reads the clock once",
      a_decision_that_is_not_timed_reads_the_clock_once },
    { "a cancelled plan was never made", a_cancelled_plan_was_never_made },
    { "calls that were asked for outlive their plan",
      calls_that_were_asked_for_outlive_their_plan },
    { "a plan that is cut short turns nobody away", a_plan_that_is_cut_short_turns_nobody_away },
    { "who was not asked is not turned away", who_was_not_asked_is_not_turned_away },
};
TEST_MAIN(tests)
