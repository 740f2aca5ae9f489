/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Licences of a host: who may take them, under any queueing policy, and what a plan may do. */
#include "tests/support/check.h"
#include "tests/support/tenants.h"

#include "weir/licence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int64_t NS_PER_S = 1000000000;
static const struct test_node LARGE = { .nodes = 1, .gpus = 16, .cpus = 256, .ram = 1e12 };

static uint32_t add_licence(struct weir_host *host, const char *name, uint32_t limit,
                            int32_t threshold)
{
    const struct weir_licence_spec spec = {
        .size = sizeof spec, .limit = limit, .name = name, .priority_threshold = threshold
    };
    uint32_t number = 99;

    CHECK_I64(weir_host_add_licence(host, &spec, &number, NULL), WEIR_OK);
    return number;
}

/* A job of one rank that takes so many of the first licence. */
struct taker {
    uint64_t id;
    uint32_t count, gpus;
    int32_t priority;
    int64_t seconds;
};

static weir_status submit(struct weir_host *host, struct taker taker, struct weir_error *error)
{
    const struct weir_rank_group group = test_rank_group(1, 1, taker.gpus);
    struct weir_job_spec spec = test_job_spec(taker.id, &group, 1);

    spec.priority = taker.priority;
    spec.licences[0] = taker.count;
    spec.estimate_ns = (taker.seconds == 0 ? 86400 : taker.seconds) * NS_PER_S;
    return weir_host_submit(host, &spec, error);
}

static uint32_t used(struct weir_host *host, uint32_t number)
{
    struct weir_licence licence = { .size = sizeof licence };

    CHECK(weir_view_licence(weir_host_view(host, 0), number, &licence));
    return licence.used;
}

/* Why the plan says that this job waits; COUNT = it says nothing. */
static uint32_t reason_of(const struct weir_plan *plan, uint64_t id)
{
    for (uint32_t i = 0; i < weir_plan_count(plan); i++) {
        const struct weir_action *const action = weir_plan_action(plan, i);
        if (action->verb == WEIR_VERB_DENY && action->owner.id == id)
            return action->reason;
    }
    return WEIR_REASON_COUNT;
}

static uint32_t running(struct weir_host *host, uint64_t first, uint64_t last)
{
    uint32_t count = 0;

    for (uint64_t id = first; id <= last; id++)
        count += test_job_state(host, id) != WEIR_JOB_WAITING;
    return count;
}

/* Four licences from priority 80 on. A job of 79 comes first and waits though all four are free;
 * of five of 80 four start, and the fifth when one of them is over. */
static void they_are_kept(const char *policy)
{
    struct weir_host *const host = test_tenants_host(policy, &LARGE);
    const uint32_t number = add_licence(host, "matlab", 4, 80);

    CHECK_I64(submit(host, (struct taker){ .id = 1, .count = 1, .gpus = 1, .priority = 79 }, NULL),
              WEIR_OK);
    const struct weir_plan *plan = test_decide(host, WEIR_CAUSE_JOBS, 0);
    CHECK_I64(reason_of(plan, 1), WEIR_REASON_PRIO_THRESHOLD);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    CHECK_I64(used(host, number), 0);
    for (uint64_t id = 2; id <= 6; id++)
        CHECK_I64(
            submit(host, (struct taker){ .id = id, .count = 1, .gpus = 1, .priority = 80 }, NULL),
            WEIR_OK);
    plan = test_decide(host, WEIR_CAUSE_JOBS, INT64_C(1000) * NS_PER_S);
    uint64_t held = 2;
    while (held < 6 && test_job_state(host, held) != WEIR_JOB_WAITING)
        held++;
    CHECK_I64(reason_of(plan, held), WEIR_REASON_CUSTOM_LIMIT);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    CHECK_I64(running(host, 2, 6), 4);
    CHECK_I64(used(host, number), 4);
    test_end_job(host, held == 2 ? 3 : 2);
    CHECK_I64(used(host, number), 3);
    plan = test_decide(host, WEIR_CAUSE_JOBS, INT64_C(2000) * NS_PER_S);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    CHECK_I64(test_job_state(host, held), WEIR_JOB_RUNNING);
    CHECK_I64(test_job_state(host, 1), WEIR_JOB_WAITING);
    CHECK_I64(used(host, number), 4);
    weir_host_destroy(host);
}

/* covers: S3.35 */
static void every_policy_keeps_to_licences(void)
{
    for (uint32_t i = 0; i < weir_queueing_count(); i++) {
        const unsigned before = CU_get_number_of_failure_records();
        they_are_kept(weir_queueing_at(i)->name);
        if (CU_get_number_of_failure_records() > before)
            printf("under %s\n", weir_queueing_at(i)->name);
    }
}

static void who_waits_for_a_licence_is_in_nobodys_way(void)
{
    static const char *const policies[] = { "fcfs", "easy", "conservative", "slurm",
                                            "multifactor" };

    for (uint32_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        struct weir_host *const host = test_tenants_host(policies[i], &LARGE);
        (void)add_licence(host, "matlab", 1, WEIR_NO_THRESHOLD);
        for (uint64_t id = 1; id <= 2; id++)
            CHECK_I64(submit(host, (struct taker){ .id = id, .count = 1, .gpus = 8 }, NULL),
                      WEIR_OK);
        CHECK_I64(submit(host, (struct taker){ .id = 3, .gpus = 8 }, NULL), WEIR_OK);
        CHECK_I64(test_carry_out(host, test_decide(host, WEIR_CAUSE_JOBS, 0)), WEIR_OK);
        CHECK_I64(test_job_state(host, 1), WEIR_JOB_RUNNING);
        CHECK_I64(test_job_state(host, 2), WEIR_JOB_WAITING);
        if (!CHECK_I64(test_job_state(host, 3), WEIR_JOB_RUNNING))
            printf("under %s\n", policies[i]);
        weir_host_destroy(host);
    }
}

/* The head, of 16 GPUs and the one licence, can start when job 1 is over at 10 s. A job of 5 s with
 * the licence is over by then; one of 50 s would have it still, though GPUs were not the matter. */
static void a_job_that_passes_the_head_does_not_take_its_licence(void)
{
    for (uint32_t brief = 0; brief < 2; brief++) {
        struct weir_host *const host = test_tenants_host("easy", &LARGE);
        (void)add_licence(host, "matlab", 1, WEIR_NO_THRESHOLD);
        CHECK_I64(submit(host, (struct taker){ .id = 1, .gpus = 8, .seconds = 10 }, NULL), WEIR_OK);
        CHECK_I64(test_carry_out(host, test_decide(host, WEIR_CAUSE_JOBS, 0)), WEIR_OK);
        CHECK_I64(submit(host, (struct taker){ .id = 2, .count = 1, .gpus = 12 }, NULL), WEIR_OK);
        CHECK_I64(
            submit(host,
                   (struct taker){ .id = 3, .count = 1, .gpus = 2, .seconds = brief != 0 ? 5 : 50 },
                   NULL),
            WEIR_OK);
        CHECK_I64(submit(host, (struct taker){ .id = 4, .gpus = 2, .seconds = 50 }, NULL), WEIR_OK);
        CHECK_I64(test_carry_out(host, test_decide(host, WEIR_CAUSE_JOBS, 100)), WEIR_OK);
        CHECK_I64(test_job_state(host, 2), WEIR_JOB_WAITING);
        CHECK_I64(test_job_state(host, 3), brief != 0 ? WEIR_JOB_RUNNING : WEIR_JOB_WAITING);
        CHECK_I64(test_job_state(host, 4), WEIR_JOB_RUNNING);
        weir_host_destroy(host);
    }
}

/* Least left first: a short job takes the GPUs of a long one, whose licence is free once it is
 * gone.
 */
static void a_preempted_job_gives_its_licence_back(void)
{
    struct weir_host *const host = test_tenants_host("srtf", &LARGE);
    const uint32_t number = add_licence(host, "matlab", 1, WEIR_NO_THRESHOLD);

    CHECK_I64(submit(host, (struct taker){ .id = 1, .count = 1, .gpus = 16, .seconds = 900 }, NULL),
              WEIR_OK);
    CHECK_I64(test_carry_out(host, test_decide(host, WEIR_CAUSE_JOBS, 0)), WEIR_OK);
    CHECK_I64(submit(host, (struct taker){ .id = 2, .gpus = 8, .seconds = 9 }, NULL), WEIR_OK);
    CHECK_I64(submit(host, (struct taker){ .id = 3, .count = 1, .gpus = 8, .seconds = 99 }, NULL),
              WEIR_OK);
    const struct weir_plan *const plan = test_decide(host, WEIR_CAUSE_JOBS, 100);
    CHECK_STR(test_starts(plan).text, "2.0@0");
    CHECK_I64(reason_of(plan, 3), WEIR_REASON_CUSTOM_LIMIT);
    CHECK_I64(used(host, number), 1);
    test_tell_job(host, 1, WEIR_OUTCOME_STOPPED);
    CHECK_I64(weir_host_ended(host, 0, 1, NULL), WEIR_OK);
    CHECK_I64(used(host, number), 0);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    test_starts_are(host, "3.0@0");
    weir_host_destroy(host);
}

/* A host that has fewer licences, or a threshold, is handed the plan of one that has enough. */
static void a_plan_that_takes_too_many_is_refused(void)
{
    static const struct {
        uint32_t limit;
        int32_t threshold;
        const char *says;
    } cases[] = {
        { 3, WEIR_NO_THRESHOLD, NULL },
        { 2, WEIR_NO_THRESHOLD, "takes 2 of licence matlab, 1 are left" },
        { 3, 1, "priority 0 is below the threshold of a licence" },
    };

    for (uint32_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct weir_host *const leader = test_tenants_host("first_fit", &LARGE);
        struct weir_host *const follower = test_tenants_host("first_fit", &LARGE);
        struct weir_host *const hosts[] = { leader, follower };
        const struct weir_call call = { .size = sizeof call, .causes = WEIR_CAUSE_JOBS };
        const struct weir_plan *plan = NULL;
        struct weir_error error = { .phase = -1, .pool = -1 };
        struct weir_action actions[8];

        (void)add_licence(leader, "matlab", 3, WEIR_NO_THRESHOLD);
        (void)add_licence(follower, "matlab", cases[c].limit, cases[c].threshold);
        for (uint32_t h = 0; h < 2; h++) {
            CHECK_I64(submit(hosts[h], (struct taker){ .id = 1, .count = 1, .gpus = 1 }, NULL),
                      WEIR_OK);
            CHECK_I64(submit(hosts[h], (struct taker){ .id = 2, .count = 2, .gpus = 1 }, NULL),
                      WEIR_OK);
        }
        CHECK_I64(weir_host_decide(leader, &call, &plan, NULL), WEIR_OK);
        struct weir_plan_lists lists = { .size = sizeof lists,
                                         .action_count = weir_plan_count(plan),
                                         .next_worker = weir_plan_next_worker(plan),
                                         .actions = actions };
        CHECK_I64(lists.action_count, 2);
        for (uint32_t i = 0; i < 2 && i < lists.action_count; i++) {
            actions[i] = *weir_plan_action(plan, i);
            actions[i].choice = WEIR_NO_INDEX;
        }
        const weir_status status = weir_host_follow(follower, &call, &lists, &plan, &error);
        CHECK_I64(status, cases[c].says == NULL ? WEIR_OK : WEIR_EPOLICY);
        if (cases[c].says != NULL && !CHECK(strstr(error.text, cases[c].says) != NULL))
            printf("%s\n", error.text);
        test_jobs_check(follower);
        CHECK_I64(used(follower, 0), cases[c].says == NULL ? 3 : 0);
        weir_host_destroy(leader);
        weir_host_destroy(follower);
    }
}

static void what_cannot_be_is_refused(void)
{
    struct weir_host *const host = test_tenants_host("fcfs", &LARGE);
    struct weir_licence_spec spec = { .size = sizeof spec, .limit = 2, .name = "matlab" };
    struct weir_licence licence = { .size = sizeof licence };
    struct weir_error error = { .phase = -1, .pool = -1 };

    CHECK_I64(weir_host_add_licence(host, &spec, NULL, NULL), WEIR_OK);
    CHECK_I64(weir_host_add_licence(host, &spec, NULL, NULL), WEIR_EDUPLICATE);
    spec.name = "";
    CHECK_I64(weir_host_add_licence(host, &spec, NULL, NULL), WEIR_EINVAL);
    CHECK_I64(weir_host_add_licence(NULL, &spec, NULL, NULL), WEIR_EINVAL);
    CHECK_I64(submit(host, (struct taker){ .id = 1, .count = 3 }, &error), WEIR_EINFEASIBLE);
    CHECK_STR(error.text, "job 1: takes 3 of licence matlab, there are 2");
    CHECK_I64(submit(host, (struct taker){ .id = 1, .count = 2 }, NULL), WEIR_OK);
    spec.name = "late";
    CHECK_I64(weir_host_add_licence(host, &spec, NULL, NULL), WEIR_EBUSY);
    CHECK_I64(weir_view_licences(weir_host_view(host, 0)), 1);
    CHECK(weir_view_licence(weir_host_view(host, 0), 0, &licence));
    CHECK_STR(licence.name, "matlab");
    CHECK_I64(licence.limit, 2);
    CHECK(!weir_view_licence(weir_host_view(host, 0), 1, &licence));
    weir_host_destroy(host);
}

static void there_are_at_most_sixteen(void)
{
    struct weir_host *const host = test_tenants_host("fcfs", &LARGE);
    const struct weir_rank_group group = test_rank_group(1, 1, 0);
    struct weir_job_spec job = test_job_spec(1, &group, 1);
    char name[8] = "";

    for (uint32_t i = 0; i < WEIR_MAX_LICENCES; i++) {
        (void)snprintf(name, sizeof name, "l%u", i);
        job.licences[i] = 1;
        if (i > 0)
            CHECK_I64(weir_host_submit(host, &job, NULL), WEIR_EINVAL); /* of one there is not */
        CHECK_I64(add_licence(host, name, 1, WEIR_NO_THRESHOLD), i);
    }
    const struct weir_licence_spec more = { .size = sizeof more, .limit = 1, .name = "more" };
    CHECK_I64(weir_host_add_licence(host, &more, NULL, NULL), WEIR_ERANGE);
    CHECK_I64(weir_host_submit(host, &job, NULL), WEIR_OK);
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "every policy keeps to licences", every_policy_keeps_to_licences },
    { "who waits for a licence is in nobody's way", who_waits_for_a_licence_is_in_nobodys_way },
    { "a job that passes the head does not take its licence",
      a_job_that_passes_the_head_does_not_take_its_licence },
    { "a preempted job gives its licence back", a_preempted_job_gives_its_licence_back },
    { "a plan that takes too many is refused", a_plan_that_takes_too_many_is_refused },
    { "what cannot be is refused", what_cannot_be_is_refused },
    { "there are at most sixteen", there_are_at_most_sixteen },
};
TEST_MAIN(tests)
