/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The policy saturation_aware behind a host: caps, floors and what becomes of a plan that is cut.
 * The rules themselves are shown by the multi-cycle cases of the reference.
 */
#include "tests/support/check.h"
#include "tests/support/pipeline.h"

#include <string.h>

#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof((list)[0])))

static const int64_t NS_PER_S = 1000000000;

/* One node with 8 CPUs and two stages of one CPU each. */
static struct weir_host *small_host(int requested)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1, .requested = requested },
                                         { .name = "b", .cpus = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 8, .stages = stages, .stage_count = COUNT(stages)
    };
    const struct weir_host_config config = test_config("fgd_n", "saturation_aware");

    return test_host(&config, &pipeline);
}

static void set_load(struct weir_host *host, uint32_t stage, uint64_t queued, uint32_t busy)
{
    const struct weir_pool_update update = { .size = sizeof(struct weir_pool_update),
                                             .queued_items = queued,
                                             .busy = busy,
                                             .slots = 2,
                                             .requested_workers = -1 };

    CHECK_I64(weir_host_update_pool(host, stage, &update), WEIR_OK);
}

/* Five tasks of `length_s` that end at `end_s`. */
static void finish_tasks(struct weir_host *host, uint32_t stage, int64_t end_s, int64_t length_s)
{
    const struct weir_measurement task = { .size = sizeof task,
                                           .pool = stage,
                                           .start_ns = (end_s - length_s) * NS_PER_S,
                                           .end_ns = end_s * NS_PER_S,
                                           .returns = 1,
                                           .batch = 1 };

    for (int i = 0; i < 5; i++)
        CHECK_I64(weir_host_measure(host, &task), WEIR_OK);
}

/* Workers after a decision that is carried out; the whole inventory still adds up. */
static struct test_text decide_at(struct weir_host *host, int64_t now_s)
{
    struct weir_error error = { 0 };
    const struct weir_plan *plan;

    if (CHECK_I64(weir_host_decide(host,
                                   &(struct weir_call){ .size = sizeof(struct weir_call),
                                                        .causes = WEIR_CAUSE_TIMER,
                                                        .now_ns = now_s * NS_PER_S },
                                   &plan, &error),
                  WEIR_OK))
        CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    else
        CHECK_STR(error.text, "");
    CHECK_I64(weir_cluster_check(weir_host_cluster(host), NULL), WEIR_OK);
    return test_workers(host);
}

static void a_stage_without_a_speed_grows_one_by_one(void)
{
    struct weir_host *const host = small_host(0);

    CHECK_STR(decide_at(host, 0).text, "1,1");
    CHECK_STR(decide_at(host, 10).text, "1,1"); /* nothing to do */
    set_load(host, 0, 50, 1);
    CHECK_STR(decide_at(host, 20).text, "2,1");
    CHECK_STR(decide_at(host, 30).text, "3,1");
    weir_host_destroy(host);
}

/* After a minute with work and without a finished task there is no cap. */
static void a_slow_first_task_lifts_the_cap(void)
{
    struct weir_host *const host = small_host(0);

    CHECK_STR(decide_at(host, 0).text, "1,1");
    set_load(host, 0, 50, 1);
    CHECK_STR(decide_at(host, 10).text, "2,1");
    CHECK_STR(decide_at(host, 69).text, "3,1");
    CHECK_STR(decide_at(host, 70).text, "4,1"); /* half of the CPUs: both count as equally fast */
    weir_host_destroy(host);
}

/* b takes 4 s: it grows to the rate of a, which is 1 per second, and a does not grow. */
static void a_measured_bottleneck_grows_to_the_next_one_at_once(void)
{
    struct weir_host *const host = small_host(0);

    CHECK_STR(decide_at(host, 0).text, "1,1");
    finish_tasks(host, 0, 10, 1);
    finish_tasks(host, 1, 10, 4);
    set_load(host, 0, 20, 1);
    set_load(host, 1, 20, 1);
    CHECK_STR(decide_at(host, 10).text, "1,4");
    weir_host_destroy(host);
}

/* a has 7 of the 8 CPUs and needs 1. The phases move its workers to b at once; the floor lets them
 * go in the second decision only, and what was to start in their room does not start before. */
static void a_floor_holds_workers_and_starts_wait_for_their_room(void)
{
    struct weir_host *const host = small_host(0);
    const struct weir_cluster *const cluster = weir_host_cluster(host);

    for (uint64_t id = 0; id < 8; id++) {
        struct weir_alloc alloc;
        const struct weir_shape shape = weir_view_pool(weir_host_view(host, 0), 0)->shape;
        CHECK_I64(weir_place_first(cluster, 0, &shape, &alloc), WEIR_OK);
        CHECK_I64(
            weir_host_adopt_worker(host, id + 1, weir_pool_owner(id < 7 ? 0 : 1), &alloc, NULL),
            WEIR_OK);
    }
    finish_tasks(host, 0, 0, 1);
    CHECK_STR(decide_at(host, 1).text, "7,1"); /* the policy sees its stages */
    finish_tasks(host, 0, 10, 1);
    finish_tasks(host, 1, 10, 4);
    set_load(host, 0, 2, 1);
    set_load(host, 1, 20, 1);
    const struct weir_plan *plan;
    CHECK_I64(test_decide_at(host, 10 * NS_PER_S, &plan), WEIR_OK);
    CHECK_I64(weir_plan_pool_note(plan, 0)->stopped, 0);
    CHECK_I64(weir_plan_pool_note(plan, 0)->workers_after, 7);
    CHECK_I64(weir_plan_pool_note(plan, 1)->started, 0);
    CHECK_I64(weir_plan_pool_note(plan, 1)->binding, WEIR_REASON_NO_DONOR);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    CHECK_STR(test_workers(host).text, "7,1");
    CHECK_STR(decide_at(host, 11).text, "1,7"); /* a could feed 28 workers of b */
    weir_host_destroy(host);
}

/* Twenty workers on eight CPUs, and the other stage has its first one. */
static void a_manual_count_is_met_as_far_as_it_fits(void)
{
    struct weir_host *const host = small_host(20);

    CHECK_STR(decide_at(host, 0).text, "7,1");
    weir_host_destroy(host);
}

/* As the reference: the count of now, none, stands instead of an error. */
static void failing_whole_a_manual_count_that_cannot_be_met_holds_the_present_one(void)
{
    struct weir_host_config config = test_config("fgd_n", "saturation_aware");
    const struct weir_scaling_ops *const ops = config.scaling;
    struct weir_host *const host = small_host(20);
    double values[32];

    for (uint32_t i = 0; i < ops->param_count && i < COUNT(values); i++)
        values[i] = ops->params[i].initial;
    values[weir_param_find(ops->params, ops->param_count, "on_shortage")] = 1;
    config.scaling_params = (struct weir_params){ .values = values, .count = ops->param_count };
    CHECK_I64(weir_host_replace(host, &config, NULL), WEIR_OK);
    CHECK_STR(decide_at(host, 0).text, "0,1");
    weir_host_destroy(host);
}

static void too_few_averaging_samples_are_refused(void)
{
    struct weir_host_config config = test_config("fgd_n", "saturation_aware");
    const struct weir_param *const table = config.scaling->params;
    const uint32_t samples =
        weir_param_find(table, config.scaling->param_count, "averaging_samples");
    double values[32];
    struct weir_error error = { 0 };
    struct weir_host *host = NULL;

    for (uint32_t i = 0; i < config.scaling->param_count && i < COUNT(values); i++)
        values[i] = table[i].initial;
    values[samples] = 4;
    config.scaling_params =
        (struct weir_params){ .values = values, .count = config.scaling->param_count };
    CHECK_I64(weir_host_create(&config, &host, &error), WEIR_EINVAL);
    CHECK(strstr(error.text, "averaging_samples must be at least min_data_points") != NULL);
}

static const struct test tests[] = {
    { "a stage without a speed grows one by one", a_stage_without_a_speed_grows_one_by_one },
    { "a slow first task lifts the cap", a_slow_first_task_lifts_the_cap },
    { "a measured bottleneck grows to the next one at once",
      a_measured_bottleneck_grows_to_the_next_one_at_once },
    { "a floor holds workers and starts wait for their room",
      a_floor_holds_workers_and_starts_wait_for_their_room },
    { "a manual count is met as far as it fits", a_manual_count_is_met_as_far_as_it_fits },
    { "failing whole, a manual count that cannot be met holds the present one",
      failing_whole_a_manual_count_that_cannot_be_met_holds_the_present_one },
    { "too few averaging samples are refused", too_few_averaging_samples_are_refused },
};

TEST_MAIN(tests)
