/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs in the host: their states, the queue, groups of ranks, and memory that runs out.
 */
#include "tests/support/host_jobs.h"
#include "tests/support/check.h"
#include "weir/reservation.h"

#include <stdio.h>

/* ---- the life of a job ---- */

static void a_job_goes_through_its_states(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 1, 2);
    struct weir_error error = { 0 };

    CHECK_I64(test_submit(host, 7, 2, 1), WEIR_OK);
    CHECK_I64(test_submit(host, 8, 1, 1), WEIR_OK);
    CHECK_I64(test_job_state(host, 7), WEIR_JOB_WAITING);
    const struct weir_plan *const plan = test_pass(host);
    CHECK_I64(test_job_state(host, 7), WEIR_JOB_STARTING);
    CHECK_I64(test_job_state(host, 8), WEIR_JOB_WAITING);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    CHECK_I64(test_job_state(host, 7), WEIR_JOB_RUNNING);
    CHECK_I64(weir_host_withdraw(host, 0, 7), WEIR_ENOTFOUND);
    CHECK_I64(weir_view_jobs(weir_host_view(host, 0)), 2);
    CHECK_I64(weir_view_waiting_jobs(weir_host_view(host, 0)), 1);
    CHECK_I64(weir_host_ended(host, 0, 8, &error), WEIR_ENOTFOUND);
    CHECK_I64(weir_host_ended(host, 0, 7, &error), WEIR_EBUSY);
    CHECK_STR(error.text, "job 7: 2 of its ranks are still there");
    CHECK_I64(weir_host_withdraw(host, 0, 8), WEIR_OK);
    CHECK_I64(weir_host_withdraw(host, 0, 8), WEIR_ENOTFOUND);
    test_end_job(host, 7);
    CHECK_I64(weir_view_jobs(weir_host_view(host, 0)), 0);
    CHECK_I64(weir_host_ended(host, 0, 7, NULL), WEIR_ENOTFOUND);
    CHECK_I64(test_submit(host, 7, 2, 1), WEIR_OK); /* comes again */
    test_starts_are(host, "7.0@0 7.1@0");
    weir_host_destroy(host);
}

/* Two kinds whose first groups are alike: which one is looked at first does not hang on who came.
 */
static void kinds_have_an_order_of_their_own(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    int64_t first[2] = { 0, 0 };

    for (int turned = 0; turned < 2; turned++) {
        struct weir_host *const host = test_jobs_open(&config, 1, 2);
        for (int i = 0; i < 2; i++) {
            const uint64_t id = turned == i ? 1 : 2;
            const struct weir_rank_group groups[] = { test_rank_group(1, 1, 0),
                                                      test_rank_group(1, (double)(2 * id), 0) };
            const struct weir_job_spec spec = test_job_spec(id, groups, 2);
            CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
        }
        CHECK_I64(host->jobs.kind_count, 2);
        first[turned] =
            host->jobs.kinds[host->jobs.kind_order[0]].groups[1].shape.cpu_units / WEIR_ONE;
        weir_host_destroy(host);
    }
    CHECK_I64(first[1], first[0]);
}

/* All that a policy may ask of a job is what was told, each value another one. */
static void a_job_is_seen_as_it_was_told(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 1, 2);
    const struct weir_rank_group group = test_rank_group(2, 1, 1);
    static const double throughput[] = { 1, 2.5 };
    struct weir_job_spec spec = test_job_spec(7, &group, 1);
    struct weir_job job = { .size = sizeof job };

    spec.user = 3;
    spec.priority = -5;
    spec.attempts = 4;
    spec.submit_ns = 11;
    spec.queued_ns = 12;
    spec.estimate_ns = 13;
    spec.deadline_ns = 14;
    spec.attained_ns = 15;
    spec.restart_cost_ns = 16;
    spec.round_share = 0.25;
    spec.throughput = throughput;
    spec.throughput_count = 2;
    spec.done_ns = 9;
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    CHECK(weir_view_job(weir_host_view(host, 20), 0, 7, &job));
    CHECK_I64(job.ranks, 2);
    CHECK_I64(job.user, 3);
    CHECK_I64(job.priority, -5);
    CHECK_I64(job.attempts, 4);
    CHECK_I64(job.submit_ns, 11);
    CHECK_I64(job.queued_ns, 12);
    CHECK_I64(job.estimate_ns, 13);
    CHECK_I64(job.deadline_ns, 14);
    CHECK_I64(job.attained_ns, 15);
    CHECK_I64(job.restart_cost_ns, 16);
    CHECK_NEAR(job.round_share, 0.25, 0);
    CHECK(job.throughput == throughput && job.throughput_count == 2);
    CHECK_I64(job.done_ns, 9);
    weir_host_destroy(host);
}

/* A policy that chooses how many ranks a job has does so while it waits: it is counted once, with
 * what it wants then. */
static void a_waiting_job_of_other_ranks_is_counted_once(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 2, 4);
    struct weir_error error = { .phase = -1 };

    for (uint64_t id = 1; id <= 3; id++)
        CHECK_I64(test_submit(host, id, 2, 1), WEIR_OK);
    for (uint32_t ranks = 3; ranks > 0; ranks--) {
        CHECK_I64(
            weir_jobs_set_ranks(&host->jobs, weir_jobs_find(&host->jobs, 0, 2), ranks, &error),
            WEIR_OK);
        test_jobs_check(host);
        CHECK_I64(host->jobs.tenants.all[0].waiting, 3);
        CHECK_I64(host->jobs.tenants.all[0].wanted.gpu_units, (4 + ranks) * WEIR_ONE);
    }
    weir_host_destroy(host);
}

static void what_makes_no_sense_is_refused(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 2, 2);
    struct weir_rank_group group = test_rank_group(1, 1, 1);
    struct weir_job_spec spec = test_job_spec(1, &group, 1);
    struct weir_error error = { 0 };

    CHECK_I64(weir_host_submit(NULL, &spec, NULL), WEIR_EINVAL);
    CHECK_I64(weir_host_submit(host, NULL, NULL), WEIR_EINVAL);
    CHECK_I64(weir_host_withdraw(NULL, 0, 1), WEIR_ENOTFOUND);
    CHECK_I64(weir_host_ended(NULL, 0, 1, NULL), WEIR_ENOTFOUND);
    CHECK_I64(weir_host_add_workload(NULL, "x", NULL, NULL), WEIR_EINVAL);
    CHECK_I64(weir_host_add_workload(host, NULL, NULL, NULL), WEIR_EINVAL);
    CHECK_I64(weir_host_add_workload(host, "trace", NULL, NULL), WEIR_EDUPLICATE);
    spec.groups = NULL;
    CHECK_I64(weir_host_submit(host, &spec, &error), WEIR_EINVAL);
    CHECK_STR(error.text, "job 1: 1 groups of ranks and no list of them");
    spec.groups = &group;
    spec.group_count = 0;
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_EINVAL);
    spec.group_count = UINT32_MAX;
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_ERANGE);
    spec.group_count = 1;
    spec.size = 8;
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_EABI);
    spec.size = sizeof spec;
    spec.workload = 1;
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_ENOTFOUND);
    spec.workload = 0;
    spec.strategy = WEIR_MAX_STRATEGY + 1;
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_EINVAL);
    spec.strategy = 0;
    spec.id = UINT64_C(1) << 44;
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_ERANGE);
    spec.id = 1;
    group.ranks_min = 2;
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_EINVAL);
    group = test_rank_group(WEIR_MAX_RANKS, 1, 1);
    group.shape.cpu_units = INT64_MAX / 2;
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_ERANGE);
    CHECK_I64(test_submit(host, 1, 1, 3), WEIR_EINFEASIBLE); /* no node has three GPUs */
    CHECK_I64(test_submit(host, 1, 5, 1), WEIR_EINFEASIBLE);
    CHECK_I64(test_submit(host, 1, 4, 1), WEIR_OK);
    CHECK_I64(test_submit(host, 1, 4, 1), WEIR_EDUPLICATE);
    CHECK_I64(weir_view_jobs(weir_host_view(host, 0)), 1);
    test_jobs_check(host);
    weir_host_destroy(host);
}

static void calls_that_make_no_sense_are_refused(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 1, 2);
    struct weir_call call = { .size = sizeof call, .causes = WEIR_CAUSE_JOBS, .now_ns = 50 };
    const struct weir_plan *plan = NULL;
    struct weir_error error = { 0 };

    CHECK_I64(weir_host_decide(NULL, &call, &plan, NULL), WEIR_EINVAL);
    CHECK_I64(weir_host_decide(host, NULL, &plan, NULL), WEIR_EINVAL);
    CHECK_I64(weir_host_decide(host, &call, NULL, NULL), WEIR_EINVAL);
    CHECK_I64(weir_host_decide(host, &call, &plan, NULL), WEIR_OK);
    call.now_ns = 49;
    CHECK_I64(weir_host_decide(host, &call, &plan, &error), WEIR_EINVAL);
    CHECK_STR(error.text, "time runs backwards: 49 ns after 50 ns");
    call.now_ns = 50;
    call.causes = 0;
    CHECK_I64(weir_host_decide(host, &call, &plan, NULL), WEIR_EINVAL);
    call = (struct weir_call){ .size = 4, .causes = WEIR_CAUSE_JOBS, .now_ns = 50 };
    CHECK_I64(weir_host_decide(host, &call, &plan, NULL), WEIR_EABI);
    weir_host_destroy(host);
}

/* What the truth does not have is not asked for again until something is given back. */
static void a_refused_job_waits_again(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 2, 1);

    CHECK_I64(test_submit(host, 1, 1, 1), WEIR_OK);
    test_starts_are(host, "1.0@0");
    CHECK_I64(test_submit(host, 2, 1, 1), WEIR_OK);
    const struct weir_plan *const plan = test_pass(host);
    CHECK_STR(test_starts(plan).text, "2.0@1");
    const struct weir_action *const action = weir_plan_action(plan, 0);
    const struct weir_outcome refused = { .size = sizeof(struct weir_outcome),
                                          .kind = WEIR_OUTCOME_REFUSED,
                                          .reason = WEIR_REASON_TRUTH,
                                          .owner = action->owner,
                                          .worker = action->worker };
    CHECK_I64(weir_host_outcome(host, &refused, NULL, NULL), WEIR_OK);
    CHECK_I64(weir_host_outcome(host, &refused, NULL, NULL), WEIR_OK); /* said once a rank */
    test_jobs_check(host);
    CHECK_I64(test_job_state(host, 2), WEIR_JOB_WAITING);
    test_starts_are(host, "");
    test_end_job(host, 1);
    test_starts_are(host, "2.0@0");
    weir_host_destroy(host);
}

/* The truth refuses what is lost before anybody knows; once it is known the job goes elsewhere. */
static void a_job_refused_on_what_is_lost_goes_elsewhere(void)
{
    for (int is_gpu = 0; is_gpu < 2; is_gpu++) {
        const struct weir_host_config config = test_jobs_config("fcfs");
        struct weir_host *const host = test_jobs_open(&config, 2, 1);

        CHECK_I64(test_submit(host, 1, 1, 1), WEIR_OK);
        const struct weir_plan *const plan = test_pass(host);
        CHECK_STR(test_starts(plan).text, "1.0@0");
        const struct weir_action *const action = weir_plan_action(plan, 0);
        const struct weir_outcome refused = { .size = sizeof(struct weir_outcome),
                                              .kind = WEIR_OUTCOME_REFUSED,
                                              .reason = WEIR_REASON_TRUTH,
                                              .owner = action->owner,
                                              .worker = action->worker };
        CHECK_I64(weir_host_outcome(host, &refused, NULL, NULL), WEIR_OK);
        test_starts_are(host, "");
        CHECK_I64(is_gpu ? weir_host_set_gpu_health(host, 0, 0, false)
                         : weir_host_set_node(host, 0, 0, 5),
                  WEIR_OK);
        test_starts_are(host, "1.0@1");
        weir_host_destroy(host);
    }
}

static void outcomes_of_nobody_change_nothing(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 2, 1);
    const struct weir_alloc alloc = { .cpu_units = WEIR_ONE };
    struct weir_outcome outcome = { .size = sizeof(struct weir_outcome),
                                    .kind = WEIR_OUTCOME_STARTED,
                                    .owner = weir_job_owner(0, 5),
                                    .worker = 3 };

    CHECK_I64(weir_host_outcome(host, &outcome, &alloc, NULL), WEIR_ENOTFOUND);
    CHECK_I64(test_submit(host, 5, 1, 1), WEIR_OK);
    CHECK_I64(weir_host_outcome(host, &outcome, &alloc, NULL), WEIR_EINVAL); /* it waits */
    CHECK_I64(weir_cluster_worker_count(host->inventory), 0);
    CHECK_I64(weir_host_adopt_worker(host, 9, weir_job_owner(0, 77), &alloc, NULL), WEIR_OK);
    CHECK_I64(weir_host_set_node(host, 0, 0, 5), WEIR_OK); /* its worker goes with it */
    CHECK_I64(weir_cluster_worker_count(host->inventory), 0);
    outcome.kind = WEIR_OUTCOME_CUT;
    CHECK_I64(weir_host_outcome(host, &outcome, NULL, NULL), WEIR_ENOTFOUND);
    test_jobs_check(host);
    weir_host_destroy(host);
}

/* Jobs 1 and 2 have a rank each; no end of one is taken for an end of the other. */
static void outcomes_name_whose_worker_it_is(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 1, 2);
    struct weir_outcome outcome = { .size = sizeof outcome, .owner = weir_job_owner(0, 2) };

    CHECK_I64(test_submit(host, 1, 1, 1), WEIR_OK);
    CHECK_I64(test_submit(host, 2, 1, 1), WEIR_OK);
    test_starts_are(host, "1.0@0 2.0@0");
    outcome.worker = weir_jobs_placed(&host->jobs, weir_jobs_find(&host->jobs, 0, 1))->first_worker;
    for (outcome.kind = WEIR_OUTCOME_STOPPED; outcome.kind <= WEIR_OUTCOME_LOST; outcome.kind++)
        CHECK_I64(weir_host_outcome(host, &outcome, NULL, NULL), WEIR_EINVAL);
    CHECK_I64(weir_host_ended(host, 0, 2, NULL), WEIR_EBUSY);
    test_end_job(host, 1);
    test_end_job(host, 2);
    test_jobs_check(host);
    weir_host_destroy(host);
}

static void a_node_that_goes_down_takes_ranks_with_it(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 2, 1);

    CHECK_I64(test_submit(host, 1, 2, 1), WEIR_OK);
    test_starts_are(host, "1.0@0 1.1@1");
    CHECK_I64(weir_host_set_node(host, 0, 0, 5), WEIR_OK);
    CHECK_I64(weir_host_ended(host, 0, 1, NULL), WEIR_EBUSY);
    test_end_job(host, 1);
    CHECK_I64(test_submit(host, 1, 2, 1), WEIR_OK);
    CHECK_I64(test_submit(host, 2, 1, 1), WEIR_OK);
    test_starts_are(host, "2.0@1");
    CHECK_I64(weir_host_set_node(host, 0, WEIR_NODE_UP, 6), WEIR_OK);
    test_starts_are(host, "");
    test_end_job(host, 2);
    test_starts_are(host, "1.0@0 1.1@1");
    weir_host_destroy(host);
}

/* ---- the queue ---- */

static void strict_queues_wait_and_others_pass(void)
{
    static const struct {
        const char *queueing, *first, *second;
    } cases[] = { { "fcfs", "1.0@0", "2.0@0 2.1@0" }, { "first_fit", "1.0@0 3.0@0", "4.0@0" } };

    for (size_t i = 0; i < 2; i++) {
        const struct weir_host_config config = test_jobs_config(cases[i].queueing);
        struct weir_host *const host = test_jobs_open(&config, 1, 2);
        for (uint64_t id = 1; id <= 4; id++)
            CHECK_I64(test_submit(host, id, id == 2 ? 2 : 1, 1), WEIR_OK);
        test_starts_are(host, cases[i].first);
        test_end_job(host, 1);
        test_starts_are(host, cases[i].second);
        weir_host_destroy(host);
    }
}

static void who_leaves_lets_others_pass(void)
{
    const struct weir_host_config config = test_jobs_config("fcfs");
    struct weir_host *const host = test_jobs_open(&config, 1, 2);

    CHECK_I64(test_submit(host, 1, 1, 1), WEIR_OK);
    CHECK_I64(test_submit(host, 2, 2, 1), WEIR_OK);
    CHECK_I64(test_submit(host, 3, 1, 1), WEIR_OK);
    test_starts_are(host, "1.0@0");
    CHECK_I64(weir_host_withdraw(host, 0, 2), WEIR_OK);
    test_starts_are(host, "3.0@0");
    weir_host_destroy(host);
}

static void the_queue_is_in_the_order_of_its_keys(void)
{
    const struct weir_host_config config = test_jobs_config("priority");
    struct weir_host *const host = test_jobs_open(&config, 1, 4);
    const struct weir_rank_group one = test_rank_group(1, 1, 1);
    const struct weir_rank_group half = test_rank_group(2, 1, 0.5);

    CHECK_I64(weir_host_add_workload(host, "other", NULL, NULL), WEIR_OK);
    for (uint64_t id = 1; id <= 3; id++) {
        struct weir_job_spec spec = test_job_spec(id, id == 2 ? &half : &one, 1);
        spec.priority = id == 3 ? 5 : 0;
        spec.submit_ns = 4;
        CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
        spec.workload = 1; /* behind its like of the first workload */
        spec.id += 10;
        CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    }
    test_starts_are(host, "3.0@0 13.0@0 1.0@0 2.0@0 2.1@0");
    weir_host_destroy(host);
}

static void a_job_that_finds_no_place_is_told_why(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 2, 1);
    uint32_t denied = 0;

    for (uint64_t id = 1; id <= 4; id++)
        CHECK_I64(test_submit(host, id, 1, 1), WEIR_OK);
    const struct weir_plan *const plan = test_pass(host);
    CHECK_STR(test_starts(plan).text, "1.0@0 2.0@1");
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        if (action->verb != WEIR_VERB_DENY)
            continue;
        denied++; /* once for those that ask for the same */
        CHECK_I64(action->owner.id, 3);
        CHECK_STR(weir_reason_text(action->reason), "too few free GPUs");
        CHECK_I64(weir_plan_choice(plan, action->choice)->nodes_seen, 2);
    }
    CHECK_I64(denied, 1);
    weir_host_destroy(host);
}

/* The holders of the one denial of a pass: "job.worker@node/gpu ...". */
static void holders_are(struct weir_host *host, uint32_t reason, const char *expected)
{
    const struct weir_plan *const plan = test_pass(host);
    char text[128] = "";
    size_t length = 0;

    CHECK_STR(weir_reason_text(weir_plan_shortage(plan)->reason), weir_reason_text(reason));
    for (uint32_t i = 0; i < weir_plan_holder_count(plan); i++) {
        const struct weir_holder *const holder = weir_plan_holder_at(plan, i);
        CHECK(weir_owner_is(&holder->denied, &weir_plan_shortage(plan)->owner));
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "%s%u@%u/%d", i > 0 ? " " : "",
                             (uint32_t)holder->owner.id, holder->node, (int)holder->gpu);
    }
    CHECK_STR(text, expected);
    test_jobs_check(host);
}

/* Two nodes of two GPUs. Job 1 has one of the first; three of four ranks fit and are no reason: the
 * last one lacks that GPU. With job 2 on the second node one of two ranks fits; the other one lacks
 * a GPU of the first node, unless each rank is to be on a node of its own. */
static void a_gang_is_denied_for_what_its_next_rank_lacks(void)
{
    static const struct {
        uint32_t ranks, strategy;
        const char *holders;
    } gangs[] = { { 4, 0, "1@0/0" },
                  { 2, 0, "1@0/0" },
                  { 2, WEIR_GROUP_PACK + 1, "1@0/0" },
                  { 2, WEIR_GROUP_STRICT_PACK + 1, "1@0/0" },
                  { 2, WEIR_GROUP_STRICT_SPREAD + 1, "2@1/0" } };

    for (size_t i = 0; i < sizeof gangs / sizeof gangs[0]; i++) {
        const struct weir_host_config config = test_jobs_config("first_fit");
        struct weir_host *const host = test_jobs_open(&config, 2, 2);
        const struct weir_rank_group group = test_rank_group(gangs[i].ranks, 1, 1);
        struct weir_job_spec spec = test_job_spec(9, &group, 1);
        spec.strategy = gangs[i].strategy;
        CHECK_I64(test_submit(host, 1, 1, 1), WEIR_OK);
        test_starts_are(host, "1.0@0");
        if (gangs[i].ranks == 2) {
            CHECK_I64(test_submit(host, 2, 1, 2), WEIR_OK);
            test_starts_are(host, "2.0@1");
        }
        CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
        holders_are(host, gangs[i].ranks == 4 ? WEIR_REASON_GPU_FREE : WEIR_REASON_GPU_WHOLE,
                    gangs[i].holders);
        weir_host_destroy(host);
    }
}

/* The only node with what it needs is down: the full one of another kind is no reason. */
static void a_node_that_is_down_binds_before_one_that_never_serves(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 2, 1);

    CHECK_I64(weir_host_set_node(host, 0, 0, 1), WEIR_OK);
    CHECK_I64(test_submit(host, 1, 1, 1), WEIR_OK);
    test_starts_are(host, "1.0@1");
    CHECK_I64(test_submit(host, 2, 1, 1), WEIR_OK);
    holders_are(host, WEIR_REASON_GPU_WHOLE, "1@1/0");
    CHECK_I64(weir_host_set_node(host, 1, 0, 1), WEIR_OK);
    CHECK_I64(test_submit(host, 3, 1, 0.5), WEIR_OK);
    holders_are(host, WEIR_REASON_NODE_DOWN, "");
    weir_host_destroy(host);
}

/* ---- groups ---- */

static void groups_are_placed_as_their_strategy_says(void)
{
    static const char *const expected[] = { "1.0@1 1.1@1 2.0@0 2.1@0", "1.0@1 1.1@0 2.0@1 2.1@0",
                                            "1.0@1 1.1@1 2.0@0 2.1@0", "1.0@1 1.1@0 2.0@1 2.1@0" };
    const struct weir_rank_group pair = test_rank_group(2, 2, 1);

    for (uint32_t strategy = 0; strategy < WEIR_GROUP_STRATEGY_COUNT; strategy++) {
        const struct weir_host_config config = test_jobs_config("first_fit");
        struct weir_host *const host = test_jobs_open(&config, 2, 2);
        const struct weir_alloc alloc = { .cpu_units = WEIR_ONE };
        CHECK_I64(weir_host_adopt_worker(host, 9, weir_job_owner(0, 77), &alloc, NULL), WEIR_OK);
        for (uint64_t id = 1; id <= 2; id++) {
            struct weir_job_spec spec = test_job_spec(id, &pair, 1);
            spec.strategy = strategy + 1;
            CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
        }
        test_starts_are(host, expected[strategy]);
        weir_host_destroy(host);
    }
}

/* A job for more nodes than are up waits; for more than there are it is refused. */
static void what_only_lacks_nodes_that_are_down_waits(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 2, 1);
    struct weir_rank_group group = test_rank_group(2, 1, 1);
    struct weir_job_spec spec = test_job_spec(1, &group, 1);

    spec.strategy = WEIR_GROUP_STRICT_SPREAD + 1;
    CHECK_I64(weir_host_set_node(host, 1, 0, 1), WEIR_OK);
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    test_starts_are(host, "");
    CHECK_I64(weir_host_set_node(host, 1, WEIR_NODE_UP, 2), WEIR_OK);
    test_starts_are(host, "1.0@0 1.1@1");
    group = test_rank_group(3, 1, 0.25);
    spec.id = 2;
    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_EINFEASIBLE);
    weir_host_destroy(host);
}

static void ranks_of_a_job_may_differ(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 2, 2);
    const struct weir_rank_group groups[] = { test_rank_group(1, 4, 0), test_rank_group(2, 1, 1),
                                              test_rank_group(2, 1, 0.5) };
    const struct weir_job_spec spec = test_job_spec(1, groups, 3);

    CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    const struct weir_plan *const plan = test_pass(host);
    CHECK_STR(test_starts(plan).text, "1.0@0 1.1@0 1.2@0 1.3@1 1.4@1");
    for (uint32_t i = 0; i < 5; i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        const struct weir_shape *const shape =
            weir_view_rank_shape(weir_host_view(host, 0), &action->owner, i);
        CHECK_I64(action->group, weir_plan_action(plan, 0)->worker);
        CHECK_I64(action->alloc.cpu_units, shape->cpu_units);
        CHECK_I64(action->alloc.device_count, i > 0 ? 1 : 0);
        CHECK(shape == &host->jobs.kinds[0].groups[(i + 1) / 2].shape);
    }
    CHECK(weir_view_rank_shape(weir_host_view(host, 0), &weir_plan_action(plan, 0)->owner, 5) ==
          NULL);
    weir_host_destroy(host);
}

/* ---- memory ---- */

/* Submits, passes, refusals, ends, a swap: everything of jobs that asks for memory. After an error
 * the host is still whole. */
static weir_status live_on(struct weir_host *host, const struct weir_queueing_ops *queueing)
{
    const bool resizes = (queueing->flags & WEIR_QUEUEING_RESIZES) != 0; /* no other takes over */
    struct weir_rank_group groups[] = { test_rank_group(2, 1, 0.5), test_rank_group(1, 2, 1) };
    const struct weir_call call = { .size = sizeof call, .causes = WEIR_CAUSE_JOBS, .now_ns = 0 };
    const struct weir_plan *plan = NULL;

    static const double serial[] = { 0.05 };
    static const struct weir_speedup speedup = {
        .size = sizeof speedup, .least = 1, .most = 4, .usual = 1, .count = 1, .numbers = serial
    };
    for (uint64_t id = 1; id <= 12; id++) {
        struct weir_job_spec spec = test_job_spec(id, groups + id % 2, 1 + (uint32_t)(id % 4 == 2));
        groups[1].shape.gpu_type = id % 4 == 1 ? WEIR_GPU_TYPE_SET | 1 : 0;
        spec.groups = id % 4 == 2 ? groups : spec.groups;
        spec.strategy = id % 3 == 0 ? 1 + (uint32_t)id / 3 % 4 : 0;
        spec.user = id % 5 == 0 ? 3 : 0;
        if (resizes && spec.strategy == 0 && id % 4 != 2)
            spec.speedup = &speedup;
        WEIR_TRY(weir_host_submit(host, &spec, NULL));
    }
    for (uint32_t i = 0; i < 2; i++) {
        struct weir_outcome outcome = { .size = sizeof(struct weir_outcome),
                                        .kind = WEIR_OUTCOME_REFUSED };
        WEIR_TRY(weir_host_decide(host, &call, &plan, NULL));
        if (weir_plan_count(plan) > 0 && weir_plan_action(plan, 0)->verb == WEIR_VERB_START) {
            outcome.owner = weir_plan_action(plan, 0)->owner;
            WEIR_TRY(weir_host_outcome(host, &outcome, NULL, NULL));
        }
        weir_jobs_unsettle(&host->jobs);
        host->is_dirty = true;
    }
    const struct weir_host_config config = test_jobs_config(resizes ? queueing->name : "smallest");
    WEIR_TRY(weir_host_replace(host, &config, NULL));
    return weir_host_decide(host, &call, &plan, NULL);
}

static weir_status live(struct test_memory *memory, const struct weir_queueing_ops *queueing)
{
    const struct weir_allocator allocator = test_allocator(memory);
    struct weir_host_config config = test_jobs_config(queueing->name);
    const struct test_pipeline cluster = { .nodes = 2, .gpus = 2, .cpus = 16 };
    struct weir_host *host = NULL;

    config.allocator = &allocator;
    config.explain = WEIR_EXPLAIN_FULL;
    WEIR_TRY(weir_host_create(&config, &host, NULL));
    weir_status status = test_fill_host(host, &cluster, NULL);
    if (status == WEIR_OK)
        status = weir_host_add_workload(host, "trace", NULL, NULL);
    if (status == WEIR_OK)
        status = live_on(host, queueing);
    memory->fail_at = 0; /* the check asks for memory as well */
    test_jobs_check(host);
    if (status == WEIR_ENOMEM)
        (void)test_pass(host); /* with memory it goes on */
    weir_host_destroy(host);
    return status;
}

/* Who finds no memory says so: nothing goes on without. */
static void memory_may_run_out_anywhere(void)
{
    for (uint32_t q = 0; q < weir_queueing_count(); q++) {
        const struct weir_queueing_ops *const queueing = weir_queueing_at(q);
        struct test_memory memory = { .has_failed = true };
        uint64_t unsaid = 0;
        uint64_t at = 1;
        for (; memory.has_failed; at++) {
            memory = (struct test_memory){ .fail_at = at };
            const weir_status status = live(&memory, queueing);
            unsaid += memory.has_failed && status != WEIR_ENOMEM;
            CHECK(status == WEIR_OK || status == WEIR_ENOMEM);
            CHECK_I64(memory.blocks, 0);
        }
        if (!CHECK_I64(unsaid, 0) || !CHECK(at > 50))
            printf("    %s: %u requests\n", queueing->name, (unsigned)at);
    }
}

/* A job of two ranks of which one was lost, and is to come back. */
static struct weir_host *lacks_a_rank(const struct weir_host_config *config, uint64_t *worker)
{
    struct weir_host *const host = test_jobs_open(config, 1, 4);
    struct weir_rank_group group = test_rank_group(2, 1, 1);
    struct weir_job_spec job = test_job_spec(1, &group, 1);
    struct weir_outcome lost = { .size = sizeof lost,
                                 .kind = WEIR_OUTCOME_LOST,
                                 .owner = weir_job_owner(0, 1) };

    group.ranks_min = 1;
    CHECK_I64(weir_host_submit(host, &job, NULL), WEIR_OK);
    test_starts_are(host, "1.0@0 1.1@0");
    lost.worker = weir_jobs_placed(&host->jobs, 0)->first_worker;
    CHECK_I64(weir_host_outcome(host, &lost, NULL, NULL), WEIR_OK);
    CHECK_I64(weir_host_resize_job(host, 0, 1, 1, 3, NULL), WEIR_OK);
    *worker = host->next_worker;
    return host;
}

/* Nothing of it was entered, so it can be told again. */
static void a_rank_that_found_no_memory_is_told_again(void)
{
    struct test_memory memory = { .has_failed = true };
    const struct weir_allocator allocator = test_allocator(&memory);
    struct weir_host_config config = test_jobs_config("first_fit");

    config.allocator = &allocator;
    for (uint64_t at = 1; memory.has_failed; at++) {
        uint64_t worker = 0;
        memory = (struct test_memory){ .blocks = 0 };
        struct weir_host *const host = lacks_a_rank(&config, &worker);
        const struct weir_action came = *weir_plan_action(test_pass(host), 0);
        const struct weir_outcome outcome = { .size = sizeof outcome,
                                              .kind = WEIR_OUTCOME_STARTED,
                                              .owner = came.owner,
                                              .worker = worker };
        memory.fail_at = memory.calls + at;
        if (weir_host_outcome(host, &outcome, &came.alloc, NULL) == WEIR_ENOMEM) {
            memory.fail_at = 0;
            CHECK_I64(weir_host_outcome(host, &outcome, &came.alloc, NULL), WEIR_OK);
        }
        memory.fail_at = 0;
        CHECK_I64(weir_cluster_worker_count(host->inventory), 2);
        CHECK_I64(host->jobs.kinds[host->jobs.records[0].kind].ranks, 2);
        test_jobs_check(host);
        weir_host_destroy(host);
    }
}

/* Calls at the time of a reservation and of a gang that holds what it finds. */
static uint32_t wakes_of(const struct weir_plan *plan)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < weir_plan_count(plan); i++)
        count += weir_plan_action(plan, i)->verb == WEIR_VERB_WAKE;
    return count;
}

static void leave_nothing_behind(bool is_gone)
{
    static const struct weir_reservation_spec reserved = {
        .size = sizeof reserved, .name = "r", .start_ns = 1000, .end_ns = 2000, .nodes = 40
    };
    static const struct weir_tenant_spec tenant = { .size = sizeof tenant,
                                                    .name = "t",
                                                    .gpu_pool_bytes = 1 };
    static const struct weir_call call = { .size = sizeof call, .causes = WEIR_CAUSE_JOBS };
    struct test_memory memory = { .has_failed = true };
    const struct weir_allocator allocator = test_allocator(&memory);
    struct weir_host_config config = test_jobs_config("hold");
    uint32_t failed = 0;

    config.allocator = &allocator;
    for (uint64_t at = 1; memory.has_failed; at++) {
        const struct weir_plan *plan = NULL;
        memory = (struct test_memory){ .is_gone = is_gone };
        struct weir_host *const host = test_jobs_open(&config, 44, 1);
        CHECK_I64(weir_host_add_tenant(host, &tenant, NULL, NULL), WEIR_OK);
        CHECK_I64(weir_host_add_reservation(host, &reserved, NULL, NULL), WEIR_OK);
        CHECK_I64(test_submit(host, 1, 1, 1), WEIR_OK);
        CHECK_I64(test_submit(host, 2, 4, 1), WEIR_OK);
        memory.fail_at = memory.calls + at;
        const weir_status status = weir_host_decide(host, &call, &plan, NULL);
        failed += status != WEIR_OK;
        CHECK(status == WEIR_OK || status == WEIR_ENOMEM);
        memory.fail_at = 0;
        if (status != WEIR_OK)
            plan = test_pass(host);
        CHECK_STR(test_starts(plan).text, "1.0@40");
        CHECK_I64(wakes_of(plan), 2);
        weir_host_destroy(host);
    }
    CHECK(failed > 10);
}

/* Whatever was missing, nobody is blamed, and what was to be in a plan that never came is in the
 * next. */
static void a_decision_without_memory_leaves_nothing_behind(void)
{
    leave_nothing_behind(false);
    leave_nothing_behind(true);
}

static void who_waits_is_asked_again_when_a_gpu_recovers(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 1, 1);

    CHECK_I64(weir_host_set_gpu_health(host, 0, 0, false), WEIR_OK);
    CHECK_I64(test_submit(host, 1, 1, 1), WEIR_OK);
    test_starts_are(host, "");
    CHECK_I64(weir_host_set_gpu_health(host, 0, 0, true), WEIR_OK);
    test_starts_are(host, "1.0@0");
    weir_host_destroy(host);
}

/* Jobs of a view are those that wait or are placed, each once. */
static void jobs_that_are_gone_are_not_listed(void)
{
    const struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 1, 2);
    struct weir_job job = { .size = sizeof job };
    uint64_t seen = 0;
    uint32_t cursor = 0;

    for (uint64_t id = 1; id <= 4; id++)
        CHECK_I64(test_submit(host, id, 1, 1), WEIR_OK);
    test_starts_are(host, "1.0@0 2.0@0");
    test_end_job(host, 1);
    CHECK_I64(weir_host_withdraw(host, 0, 3), WEIR_OK);
    const struct weir_view *const view = weir_host_view(host, 1);
    while (weir_view_next_job(view, &cursor, &job))
        seen = seen * 10 + job.id;
    CHECK(seen == 24 || seen == 42);
    CHECK_I64(weir_view_jobs(view), 2);
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "kinds have an order of their own", kinds_have_an_order_of_their_own },
    { "a job is seen as it was told", a_job_is_seen_as_it_was_told },
    { "a job goes through its states", a_job_goes_through_its_states },
    { "a waiting job of other ranks is counted once",
      a_waiting_job_of_other_ranks_is_counted_once },
    { "jobs that make no sense are refused", what_makes_no_sense_is_refused },
    { "calls that make no sense are refused", calls_that_make_no_sense_are_refused },
    { "a job that truth refuses waits again", a_refused_job_waits_again },
    { "a job refused on what is lost goes elsewhere",
      a_job_refused_on_what_is_lost_goes_elsewhere },
    { "outcomes of nobody change nothing", outcomes_of_nobody_change_nothing },
    { "outcomes name whose worker it is", outcomes_name_whose_worker_it_is },
    { "a node that goes down takes ranks with it", a_node_that_goes_down_takes_ranks_with_it },
    { "strict queues wait, others let pass", strict_queues_wait_and_others_pass },
    { "who leaves the queue lets others pass", who_leaves_lets_others_pass },
    { "the queue is in the order of its keys", the_queue_is_in_the_order_of_its_keys },
    { "a job without a place is told why", a_job_that_finds_no_place_is_told_why },
    { "a gang is denied for what its next rank lacks",
      a_gang_is_denied_for_what_its_next_rank_lacks },
    { "a node that is down binds before one that never serves",
      a_node_that_is_down_binds_before_one_that_never_serves },
    { "groups are placed as their strategy says", groups_are_placed_as_their_strategy_says },
    { "nodes that are down make nothing infeasible", what_only_lacks_nodes_that_are_down_waits },
    { "ranks of a job may differ", ranks_of_a_job_may_differ },
    { "memory may run out anywhere", memory_may_run_out_anywhere },
    { "a rank that found no memory is told again", a_rank_that_found_no_memory_is_told_again },
    { "a decision without memory leaves nothing behind",
      a_decision_without_memory_leaves_nothing_behind },
    { "who waits is asked again when a GPU recovers",
      who_waits_is_asked_again_when_a_gpu_recovers },
    { "jobs that are gone are not listed", jobs_that_are_gone_are_not_listed },
};

TEST_MAIN(tests)
