/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Plans with jobs that come to nothing, policies of queues that change, lie or walk themselves, and
 * jobs beside stages.
 */
#include "tests/support/check.h"
#include "tests/support/host_jobs.h"
#include "tests/support/pipeline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- plans that come to nothing, and policies that lie ---- */

static uint32_t scaling_calls;

static weir_status count_call(void *state, const struct weir_view *view, struct weir_placer *placer,
                              struct weir_plan *plan, struct weir_error *error)
{
    (void)state, (void)view, (void)placer, (void)plan, (void)error;
    scaling_calls++;
    return WEIR_OK;
}

static weir_status stop_a_ghost(void *state, const struct weir_view *view,
                                struct weir_placer *placer, struct weir_plan *plan,
                                struct weir_error *error)
{
    (void)state, (void)view, (void)placer, (void)error;
    return weir_plan_stop(plan, weir_pool_owner(0), 4711);
}

static struct weir_scaling_ops scaling_of(weir_status (*asked)(void *, const struct weir_view *,
                                                               struct weir_placer *,
                                                               struct weir_plan *,
                                                               struct weir_error *))
{
    return (struct weir_scaling_ops){ .size = sizeof(struct weir_scaling_ops),
                                      .abi = WEIR_ABI_MAJOR,
                                      .name = "test",
                                      .summary = "of a test",
                                      .decide = asked };
}

static void add_stage(struct weir_host *host, double gpus)
{
    const struct weir_rank_group group = test_rank_group(1, 1, gpus);
    const struct weir_pool_view stage = { .name = "infer",
                                          .requested_workers = 2,
                                          .shape = group.shape,
                                          .batch_size = 1,
                                          .slots = 2,
                                          .speed_hint_per_s = (double)NAN };

    const struct weir_pool_spec spec = test_pool_spec(&stage);
    CHECK_I64(weir_host_add_pool(host, &spec, NULL, NULL), WEIR_OK);
}

static void jobs_of_a_rejected_plan_wait_again(void)
{
    const struct weir_scaling_ops liar = scaling_of(stop_a_ghost);
    struct weir_host_config config = test_jobs_config("first_fit");
    const struct weir_call call = { .size = sizeof call,
                                    .causes = WEIR_CAUSE_JOBS | WEIR_CAUSE_TIMER,
                                    .now_ns = 0 };
    const struct weir_plan *plan = NULL;

    config.scaling = &liar;
    struct weir_host *const host = test_jobs_open(&config, 1, 2);
    add_stage(host, 1);
    for (uint64_t id = 1; id <= 2; id++)
        CHECK_I64(test_submit(host, id, 1, 1), WEIR_OK);
    CHECK_I64(weir_host_decide(host, &call, &plan, NULL), WEIR_EPOLICY);
    test_jobs_check(host);
    CHECK_I64(test_job_state(host, 1), WEIR_JOB_WAITING);
    CHECK_I64(weir_view_supply(weir_host_view(host, 0)).gpu_units, 2 * WEIR_ONE);
    test_starts_are(host, "1.0@0 2.0@0"); /* without the scaling policy there is no lie */
    weir_host_destroy(host);
}

/* The fallback orders by submission, the main policy by priority: its order is not lost. */
static void a_fallback_leaves_the_order_alone(void)
{
    const struct weir_scaling_ops liar = scaling_of(stop_a_ghost);
    struct weir_host_config config = test_jobs_config("priority");

    config.scaling = &liar;
    config.fallback = weir_scaling_find("fixed");
    struct weir_host *const host = test_jobs_open(&config, 1, 1);
    const struct weir_rank_group one = test_rank_group(1, 1, 1);
    add_stage(host, 0);
    CHECK_I64(test_submit(host, 1, 1, 1), WEIR_OK);
    test_starts_are(host, "1.0@0");
    for (uint64_t id = 2; id <= 4; id++) {
        struct weir_job_spec spec = test_job_spec(id, &one, 1);
        spec.priority = (int32_t)id;
        CHECK_I64(weir_host_submit(host, &spec, NULL), WEIR_OK);
    }
    (void)test_decide(host, WEIR_CAUSE_JOBS | WEIR_CAUSE_TIMER, 0);
    CHECK_I64(weir_host_stats(host).fallbacks, 1);
    test_end_job(host, 1);
    test_starts_are(host, "4.0@0");
    weir_host_destroy(host);
}

static double no_key(void *state, const struct weir_job *job, int64_t now_ns)
{
    (void)state, (void)now_ns;
    return job->id == 2 ? (double)NAN : 0;
}

static void another_policy_takes_over_the_queue(void)
{
    struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_queueing_ops keyless = *config.queueing;
    struct weir_host *const host = test_jobs_open(&config, 1, 2);
    struct weir_error error = { 0 };

    CHECK_I64(test_submit(host, 1, 2, 1), WEIR_OK);
    test_starts_are(host, "1.0@0 1.1@0");
    CHECK_I64(test_submit(host, 2, 2, 1), WEIR_OK);
    CHECK_I64(test_submit(host, 3, 1, 1), WEIR_OK);
    CHECK_I64(test_submit(host, 4, 2, 0.5), WEIR_OK);
    keyless.key = no_key;
    config.queueing = &keyless;
    CHECK_I64(weir_host_replace(host, &config, &error), WEIR_EPOLICY);
    CHECK_STR(error.text, "queueing policy first_fit: job 2 gets no key");
    test_jobs_check(host);
    config = test_jobs_config("smallest");
    CHECK_I64(weir_host_replace(host, &config, NULL), WEIR_OK);
    test_jobs_check(host);
    test_end_job(host, 1);
    test_starts_are(host, "3.0@0 4.0@0 4.1@0");
    config.queueing = &keyless;
    CHECK_I64(weir_host_withdraw(host, 0, 2), WEIR_OK);
    CHECK_I64(weir_host_replace(host, &config, NULL), WEIR_OK);
    const struct weir_rank_group one = test_rank_group(1, 1, 1);
    const struct weir_job_spec spec = test_job_spec(2, &one, 1);
    CHECK_I64(weir_host_submit(host, &spec, &error), WEIR_EPOLICY);
    CHECK_STR(error.text, "job 2: queueing policy first_fit: job 2 gets no key");
    CHECK_I64(weir_view_jobs(weir_host_view(host, 0)), 2);
    test_jobs_check(host);
    weir_host_destroy(host);
}

/* A pass that starts rank 0 of a gang by hand, past the placer. */
static weir_status start_by_hand(void *state, const struct weir_view *view,
                                 struct weir_placer *placer, struct weir_plan *plan,
                                 struct weir_error *error)
{
    const struct weir_alloc alloc = { .cpu_units = WEIR_ONE };

    (void)state, (void)view, (void)placer, (void)error;
    return weir_plan_start(plan, weir_job_owner(0, 1), weir_plan_new_worker(plan), &alloc, NULL);
}

static weir_status start_twice(void *state, const struct weir_view *view,
                               struct weir_placer *placer, struct weir_plan *plan,
                               struct weir_error *error)
{
    WEIR_TRY(weir_placer_start_job(placer, 0, 1, error));
    return start_by_hand(state, view, placer, plan, error);
}

/* The last comes first; who does not fit or does not wait is passed over. */
static weir_status start_backwards(void *state, const struct weir_view *view,
                                   struct weir_placer *placer, struct weir_plan *plan,
                                   struct weir_error *error)
{
    (void)state, (void)view, (void)plan;
    CHECK_I64(weir_placer_start_job(placer, 0, 99, NULL), WEIR_ENOTFOUND);
    for (uint64_t id = 3; id >= 1; id--) {
        const weir_status status = weir_placer_start_job(placer, 0, id, error);
        if (status != WEIR_OK && status != WEIR_EBUSY)
            return status;
    }
    CHECK_I64(weir_placer_start_job(placer, 0, 3, NULL), WEIR_ENOTFOUND);
    return WEIR_OK;
}

static weir_status be_busy(void *state, const struct weir_view *view, struct weir_placer *placer,
                           struct weir_plan *plan, struct weir_error *error)
{
    (void)state, (void)view, (void)placer, (void)plan, (void)error;
    return WEIR_EIO;
}

static void a_policy_may_walk_over_the_jobs_itself(void)
{
    static const struct {
        weir_status (*pass)(void *, const struct weir_view *, struct weir_placer *,
                            struct weir_plan *, struct weir_error *);
        uint32_t ranks;
        const char *text;
    } wrong[] = {
        { start_by_hand, 2, "queueing policy test: rank 1 of job 1 does not start" },
        { start_by_hand, 1, "queueing policy test: 1 jobs start, 0 of them through the placer" },
        { start_twice, 1,
          "queueing policy test: action 1 (start of worker 2): job 1 starts twice" },
        { be_busy, 1, "queueing policy test: it failed without a message: input or output failed" },
    };
    struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_queueing_ops own = { .size = sizeof own, .abi = WEIR_ABI_MAJOR, .name = "test" };
    const struct weir_call call = { .size = sizeof call, .causes = WEIR_CAUSE_JOBS, .now_ns = 0 };
    const struct weir_plan *plan = NULL;

    config.queueing = &own;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct weir_error error = { 0 };
        own.pass = wrong[i].pass;
        struct weir_host *const host = test_jobs_open(&config, 1, 2);
        CHECK_I64(test_submit(host, 1, wrong[i].ranks, 0), WEIR_OK);
        CHECK_I64(weir_host_decide(host, &call, &plan, &error), WEIR_EPOLICY);
        CHECK_STR(error.text, wrong[i].text);
        CHECK_I64(test_job_state(host, 1), WEIR_JOB_WAITING);
        test_jobs_check(host);
        weir_host_destroy(host);
    }
    own.pass = start_backwards;
    struct weir_host *const host = test_jobs_open(&config, 1, 2);
    CHECK_I64(test_submit(host, 1, 1, 1), WEIR_OK);
    CHECK_I64(test_submit(host, 2, 2, 1), WEIR_OK);
    CHECK_I64(test_submit(host, 3, 1, 1), WEIR_OK);
    test_starts_are(host, "3.0@0 1.0@0");
    weir_host_destroy(host);
}

/* ---- jobs beside pools ---- */

static void only_its_own_causes_call_the_scaling_policy(void)
{
    const struct weir_scaling_ops counting = scaling_of(count_call);
    struct weir_host_config config = test_jobs_config("first_fit");

    config.scaling = &counting;
    struct weir_host *const host = test_jobs_open(&config, 1, 2);
    add_stage(host, 1);
    scaling_calls = 0;
    CHECK_I64(test_submit(host, 1, 1, 1), WEIR_OK);
    (void)test_decide(host, WEIR_CAUSE_JOBS, 0);
    (void)test_decide(host, WEIR_CAUSE_NODES, 0);
    CHECK_I64(scaling_calls, 0);
    (void)test_decide(host, WEIR_CAUSE_TIMER, 0);
    (void)test_decide(host, WEIR_CAUSE_WAKE | WEIR_CAUSE_JOBS, 0);
    (void)test_decide(host, WEIR_CAUSE_WORKERS, 0);
    CHECK_I64(scaling_calls, 3);
    weir_host_destroy(host);
}

/* Jobs first; the stage gets what they leave, and is told how much that is. */
static void stages_share_what_jobs_leave(void)
{
    struct weir_host_config config = test_jobs_config("first_fit");
    struct weir_host *const host = test_jobs_open(&config, 2, 2);

    add_stage(host, 1);
    for (uint64_t id = 1; id <= 2; id++)
        CHECK_I64(test_submit(host, id, 1, 1), WEIR_OK);
    const struct weir_plan *plan = test_decide(host, WEIR_CAUSE_JOBS | WEIR_CAUSE_TIMER, 0);
    CHECK_STR(test_starts(plan).text, "1.0@0 2.0@0");
    CHECK_I64(weir_view_supply(weir_host_view(host, 0)).gpu_units, 2 * WEIR_ONE);
    CHECK_I64(weir_view_supply(weir_host_view(host, 0)).cpu_units, 30 * WEIR_ONE);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    CHECK_STR(test_workers(host).text, "2");
    CHECK_I64(test_submit(host, 3, 1, 1), WEIR_OK);
    test_starts_are(host, "");
    uint64_t worker = 0;
    CHECK(weir_cluster_pool_worker_id(host->inventory, 0, 0, &worker));
    const struct weir_outcome stopped = { .size = sizeof(struct weir_outcome),
                                          .kind = WEIR_OUTCOME_STOPPED,
                                          .worker = worker };
    CHECK_I64(weir_host_outcome(host, &stopped, NULL, NULL), WEIR_OK);
    test_starts_are(host, "3.0@1");
    CHECK_I64(weir_view_supply(weir_host_view(host, 0)).gpu_units, WEIR_ONE);
    test_end_job(host, 1);
    CHECK_I64(weir_view_supply(weir_host_view(host, 0)).gpu_units, 2 * WEIR_ONE);
    weir_host_destroy(host);
}

static weir_status write_to_a_stage(void *state, const struct weir_view *view,
                                    struct weir_placer *placer, struct weir_plan *plan,
                                    struct weir_error *error)
{
    const struct weir_pool_view *const pool = weir_view_pool(view, 0);
    struct weir_pool_view *mine;

    (void)state, (void)placer, (void)plan, (void)error;
    CHECK_I64(pool->workers, 1);
    memcpy(&mine, &pool, sizeof mine);
    mine->slots++;
    return WEIR_OK;
}

/* What a policy reads is current, and is not its own. */
static void a_policy_that_writes_to_a_stage_is_found_out(void)
{
    const struct weir_scaling_ops writer = scaling_of(write_to_a_stage);
    struct weir_host_config config = test_jobs_config("first_fit");
    const struct weir_call call = { .size = sizeof call, .causes = WEIR_CAUSE_TIMER, .now_ns = 0 };
    const struct weir_alloc alloc = { .cpu_units = WEIR_ONE };
    const struct weir_plan *plan = NULL;
    struct weir_error error = { 0 };

    config.scaling = &writer;
    struct weir_host *const host = test_jobs_open(&config, 1, 2);
    add_stage(host, 0);
    CHECK_I64(weir_view_pool(weir_host_view(host, 0), 0)->workers, 0);
    CHECK_I64(weir_host_adopt_worker(host, 1, weir_pool_owner(0), &alloc, NULL), WEIR_OK);
    CHECK_I64(weir_host_decide(host, &call, &plan, &error), WEIR_EPOLICY);
    CHECK_STR(error.text, "scaling policy test: it changed the view, which is not its own");
    weir_host_destroy(host);
}

/* The nodes of the workers of the stage "a" after two decisions; `others` = more of all else. */
static struct test_text places_of_a(bool others)
{
    static const struct test_stage stages[] = {
        { .name = "b", .cpus = 1, .requested = -1 },
        { .name = "a", .cpus = 1, .requested = 8 },
        { .name = "c", .cpus = 1, .requested = -1 },
    };
    const struct test_pipeline pipeline = {
        .nodes = 40, .cpus = 4, .stages = stages + !others, .stage_count = others ? 3 : 1
    };
    struct weir_host_config config = test_config("random", "fixed");
    struct test_text text = { "" };
    size_t used = 0;

    struct weir_host *const host = test_host(&config, &pipeline);
    if (others)
        (void)test_decide(host, WEIR_CAUSE_JOBS, 0);
    for (int64_t i = 0; i < 2; i++)
        CHECK_I64(test_carry_out(host, test_decide(host, WEIR_CAUSE_TIMER, i)), WEIR_OK);
    CHECK_I64(weir_cluster_pool_workers(host->inventory, others), 8);
    for (uint32_t i = 0; i < 8; i++) {
        struct weir_worker worker;
        if (CHECK(weir_cluster_pool_worker(host->inventory, others, i, &worker)))
            used += (size_t)snprintf(text.text + used, sizeof text.text - used, "%u ",
                                     worker.alloc.node);
    }
    weir_host_destroy(host);
    return text;
}

static void random_choices_are_named_by_stage_and_ordinal(void)
{
    const struct test_text alone = places_of_a(false);

    CHECK_STR(places_of_a(true).text, alone.text);
    CHECK(strcmp(alone.text, "0 0 0 0 0 0 0 0 ") != 0);
}

static const struct test tests[] = {
    { "a policy that writes to a stage is found out",
      a_policy_that_writes_to_a_stage_is_found_out },
    { "random choices are named by stage and ordinal",
      random_choices_are_named_by_stage_and_ordinal },
    { "jobs of a rejected plan wait again", jobs_of_a_rejected_plan_wait_again },
    { "a fallback leaves the order of the queue alone", a_fallback_leaves_the_order_alone },
    { "another policy takes over the queue", another_policy_takes_over_the_queue },
    { "a policy may walk over the jobs itself", a_policy_may_walk_over_the_jobs_itself },
    { "only its own causes call the scaling policy", only_its_own_causes_call_the_scaling_policy },
    { "stages share what jobs leave", stages_share_what_jobs_leave },
};

TEST_MAIN(tests)
