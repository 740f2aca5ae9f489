/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The policy saturation_aware behind a host: caps, floors and what becomes of a plan that is cut.
 * The rules themselves are shown by the multi-cycle cases of the reference.
 */
#include "sched/scaling/saturation.h"
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

/* Two tasks a worker are assumed of all stages; of one that is gone nothing can be said. */
static void a_stage_that_was_removed_gets_no_slots(void)
{
    struct weir_host *const host = small_host(0);
    struct weir_pool_spec last = test_pool_spec(weir_view_pool(weir_host_view(host, 0), 1));
    uint32_t index = 0;

    last.name = "c";
    last.slots = 1;
    CHECK_I64(weir_host_add_pool(host, &last, &index, NULL), WEIR_OK);
    CHECK_I64(weir_host_remove_pool(host, index, NULL), WEIR_OK);
    CHECK_STR(decide_at(host, 0).text, "1,1,0");
    CHECK_STR(decide_at(host, 10).text, "1,1,0");
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

/* ---- the rules alone ---- */

/* Pools of one worker and batches of one, with nothing to do. */
static struct weir_saturation *open_rules(uint32_t count)
{
    const struct weir_saturation_config config = weir_saturation_config_default();
    struct weir_saturation *rules = NULL;

    CHECK_I64(weir_saturation_create(NULL, &config, count, &rules), WEIR_OK);
    for (uint32_t i = 0; i < count; i++) {
        rules->pools[i].workers = rules->pools[i].batch = 1;
        rules->pools[i].uses_cpu = 1;
    }
    return rules;
}

static void add_tasks(struct weir_saturation *rules, uint32_t pool, int count, double start_s,
                      double length_s, double returns)
{
    for (int i = 0; i < count; i++)
        CHECK_I64(weir_saturation_task(rules, pool, start_s, start_s + length_s, returns), WEIR_OK);
}

/* Tasks of 1 s, 0.5 s and 2 s; ten are kept that are older than a minute. The speed goes up by 0.3
 * of the difference and down by 0.1 of it; its peak falls by a thousandth a cycle. */
static void a_speed_rises_faster_than_it_falls(void)
{
    struct weir_saturation *const rules = open_rules(1);
    struct weir_saturation_pool *const pool = &rules->pools[0];

    add_tasks(rules, 0, 5, 0, 1, 1);
    weir_saturation_observe(rules, 5);
    CHECK_NEAR(pool->target_speed, 1, 1e-12);
    add_tasks(rules, 0, 10, 100, 0.5, 1);
    weir_saturation_observe(rules, 110);
    CHECK_NEAR(pool->target_speed, 0.3 * 2 + 0.7 * 1, 1e-12);
    add_tasks(rules, 0, 10, 200, 2, 1);
    weir_saturation_observe(rules, 210);
    CHECK_NEAR(pool->target_speed, 0.1 * 0.5 + 0.9 * 1.3, 1e-12);
    CHECK_NEAR(pool->peak, 0.999 * 1.3, 1e-12);
    weir_saturation_destroy(rules);
}

/* A pool that has finished nothing keeps all growing slowly, unless it has nothing to do. */
static void only_who_has_work_can_be_warming_up(void)
{
    struct weir_saturation *const rules = open_rules(2);
    const char *reason = NULL;

    rules->pools[0].queue_items = 100;
    add_tasks(rules, 0, 5, 0, 1, 1);
    weir_saturation_observe(rules, 10);
    (void)weir_saturation_cap(rules, 0, 10, &reason);
    CHECK_STR(reason, "growth_cap");
    rules->pools[1].queue_items = 1;
    weir_saturation_observe(rules, 20);
    (void)weir_saturation_cap(rules, 0, 20, &reason);
    CHECK_STR(reason, "growth_cap_warmup");
    weir_saturation_destroy(rules);
}

/* A pool with less than a batch is dry; of those with more the one before a dry pool is a
 * bottleneck, and the last one where nobody of it is ready. */
static void a_queue_is_full_from_a_batch_on(void)
{
    for (uint32_t draw = 0; draw < 4 * 5 * 3 * 5 * 2; draw++) {
        struct weir_saturation *const rules = open_rules(2);
        struct weir_saturation_pool *const first = &rules->pools[0];
        struct weir_saturation_pool *const last = &rules->pools[1];
        first->batch = 1 + draw % 4;
        first->queue_items = draw / 4 % 5;
        last->batch = 1 + draw / 20 % 3;
        last->queue_items = draw / 60 % 5;
        last->ready = draw / 300;
        weir_saturation_observe(rules, 10);
        const bool is_dry = last->queue_items < last->batch;
        CHECK_I64(first->queue, first->queue_items < first->batch ? WEIR_QUEUE_STARVED
                                : is_dry                          ? WEIR_QUEUE_BOTTLENECK
                                                                  : WEIR_QUEUE_BUFFERED);
        CHECK_I64(last->queue, is_dry            ? WEIR_QUEUE_STARVED
                               : last->ready > 0 ? WEIR_QUEUE_BALANCED
                                                 : WEIR_QUEUE_BOTTLENECK);
        weir_saturation_destroy(rules);
    }
}

/* Every item of the first pool is four of the second: one of those is a quarter of an item, as much
 * as a batch there needs. With it in its queue the second pool is not dry, and keeps its three busy
 * workers; without, after two cycles, only one. */
static void stock_is_counted_in_items_of_the_source(void)
{
    for (int items = 0; items < 2; items++) {
        struct weir_saturation *const rules = open_rules(2);
        struct weir_saturation_pool *const second = &rules->pools[1];
        add_tasks(rules, 0, 5, 0, 1, 4);
        add_tasks(rules, 1, 5, 0, 1, 1);
        second->workers = 3;
        second->queue_items = items;
        for (int cycle = 1; cycle <= 3; cycle++)
            weir_saturation_observe(rules, 10 * cycle);
        CHECK_NEAR(second->chain, 4, 1e-12);
        CHECK(second->is_stocked == (items == 1));
        CHECK(second->is_releasing == (items == 0));
        weir_saturation_destroy(rules);
    }
}

/* Written, read and written again, all numbers are the same; and the copy has what was measured. */
static void rules_go_on_as_they_were_after_a_restart(void)
{
    struct weir_saturation *const rules = open_rules(1);
    struct weir_saturation *const copy = open_rules(1);
    double numbers[64];
    struct weir_memory out = { .to = numbers, .size = COUNT(numbers) };
    struct weir_memory in = { .from = numbers, .size = COUNT(numbers) };

    add_tasks(rules, 0, 5, 0, 0.5, 1);
    rules->pools[0].queue_items = 9;
    weir_saturation_observe(rules, 10);
    add_tasks(rules, 0, 10, 100, 1, 1);
    weir_saturation_observe(rules, 110);
    weir_saturation_remember(rules, &out);
    weir_saturation_remember(copy, &in);
    CHECK(!in.is_broken && out.used == in.used);
    CHECK_NEAR(copy->pools[0].peak, 0.999 * 2, 1e-12);
    CHECK_NEAR(copy->pools[0].speed_memory, 0.1 * 1 + 0.9 * 2, 1e-12);
    copy->pools[0].queue_items = 9;
    weir_saturation_observe(rules, 120);
    weir_saturation_observe(copy, 120);
    CHECK_NEAR(copy->pools[0].peak, rules->pools[0].peak, 0);
    CHECK_NEAR(copy->pools[0].target, rules->pools[0].target, 0);
    CHECK_NEAR(copy->pools[0].floor, rules->pools[0].floor, 0);
    weir_saturation_destroy(rules);
    weir_saturation_destroy(copy);
}

static const struct test tests[] = {
    { "a queue is full from a batch on", a_queue_is_full_from_a_batch_on },
    { "a stage without a speed grows one by one", a_stage_without_a_speed_grows_one_by_one },
    { "a stage that was removed gets no slots", a_stage_that_was_removed_gets_no_slots },
    { "a slow first task lifts the cap", a_slow_first_task_lifts_the_cap },
    { "a measured bottleneck grows to the next one at once",
      a_measured_bottleneck_grows_to_the_next_one_at_once },
    { "a floor holds workers and starts wait for their room",
      a_floor_holds_workers_and_starts_wait_for_their_room },
    { "a manual count is met as far as it fits", a_manual_count_is_met_as_far_as_it_fits },
    { "failing whole, a manual count that cannot be met holds the present one",
      failing_whole_a_manual_count_that_cannot_be_met_holds_the_present_one },
    { "too few averaging samples are refused", too_few_averaging_samples_are_refused },
    { "a speed rises faster than it falls", a_speed_rises_faster_than_it_falls },
    { "only who has work can be warming up", only_who_has_work_can_be_warming_up },
    { "stock is counted in items of the source", stock_is_counted_in_items_of_the_source },
    { "rules go on as they were after a restart", rules_go_on_as_they_were_after_a_restart },
};

TEST_MAIN(tests)
