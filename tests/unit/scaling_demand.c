/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Policies that scale to a demand: counts of worked examples, when they change, and what they do
 * with a demand that is too large.
 */
#include "sched/scaling/history.h"
#include "tests/support/check.h"
#include "tests/support/pipeline.h"

#include <math.h>

#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof((list)[0])))

static const int64_t NS_PER_S = 1000000000;

enum { PARAMS_MOST = 32 };

/* A policy with one parameter that is not at its default, behind a host. */
struct setting {
    const char *policy, *name;
    double value;
};

static struct weir_host *open_host(const struct setting *setting,
                                   const struct test_pipeline *pipeline)
{
    struct weir_host_config config = test_config("best_fit", setting->policy);
    const struct weir_scaling_ops *const ops = config.scaling;
    double values[PARAMS_MOST];

    for (uint32_t i = 0; i < ops->param_count; i++)
        values[i] = ops->params[i].initial;
    if (setting->name != NULL)
        values[weir_param_find(ops->params, ops->param_count, setting->name)] = setting->value;
    config.scaling_params = (struct weir_params){ .values = values, .count = ops->param_count };
    return test_host(&config, pipeline);
}

/* Workers of the pools, by their order, before the first decision. */
static void adopt(struct weir_host *host, const uint32_t *workers, uint32_t count)
{
    uint64_t id = 1;

    for (uint32_t pool = 0; pool < count; pool++) {
        const struct weir_shape *const shape =
            &weir_view_pool(weir_host_view(host, 0), pool)->shape;
        for (uint32_t i = 0; i < workers[pool]; i++) {
            struct weir_alloc alloc;
            CHECK_I64(weir_place_first(weir_host_cluster(host), 0, shape, &alloc), WEIR_OK);
            CHECK_I64(weir_host_adopt_worker(host, id++, weir_pool_owner(pool), &alloc, NULL),
                      WEIR_OK);
        }
    }
}

static struct test_text decide_at(struct weir_host *host, int64_t now_s)
{
    const struct weir_plan *plan = NULL;

    CHECK_I64(test_decide_at(host, now_s * NS_PER_S, &plan), WEIR_OK);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    return test_workers(host);
}

static void wait_in_front(struct weir_host *host, uint32_t pool, uint64_t items)
{
    const struct weir_pool_update update = { .size = sizeof(struct weir_pool_update),
                                             .queued_items = items,
                                             .slots = 2,
                                             .requested_workers = -1 };

    CHECK_I64(weir_host_update_pool(host, pool, &update), WEIR_OK);
}

/* Tasks of one item and a second each that end at `end_s`. */
static void finish(struct weir_host *host, uint32_t pool, uint32_t tasks, int64_t end_s)
{
    const struct weir_measurement task = { .size = sizeof task,
                                           .pool = pool,
                                           .start_ns = (end_s - 1) * NS_PER_S,
                                           .end_ns = end_s * NS_PER_S,
                                           .returns = 1,
                                           .batch = 1 };

    for (uint32_t i = 0; i < tasks; i++)
        CHECK_I64(weir_host_measure(host, &task), WEIR_OK);
}

/* ---- ds2 ---- */

/* 1000 items a second; two workers of `decode` take 600 in three quarters of their time, four of
 * `caption` 560 in .95 of it and give two for one, one of `embed` 1000 in half of it: true rates of
 * 400, 147.4 and 2000 a worker. */
static const struct test_stage worked[] = {
    { .name = "decode", .cpus = 1, .speed_per_s = 600 / (2 * .75) },
    { .name = "caption", .cpus = 1, .speed_per_s = 560 / (4 * .95), .returns = 2 },
    { .name = "embed", .cpus = 1, .speed_per_s = 1000 / .5 },
};
static const uint32_t worked_counts[] = { 2, 4, 1 };

static void ds2_meets_the_demand_by_true_rates(void)
{
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 32, .stages = worked, .stage_count = 3
    };
    struct weir_host *const host =
        open_host(&(struct setting){ "ds2", "source_rate", 1000 }, &pipeline);

    adopt(host, worked_counts, 3);
    CHECK_STR(decide_at(host, 0).text, "3,7,1");
    for (int64_t now_s = 180; now_s < 900; now_s += 180)
        CHECK_STR(decide_at(host, now_s).text, "3,7,1");
    CHECK_I64(weir_host_stats(host).started, 4);
    CHECK_I64(weir_host_stats(host).stopped, 0);
    weir_host_destroy(host);
}

/* Two pipelines of one stage want ten workers and four, and seven fit: both get half of what they
 * want, not half of the cluster. */
static void a_demand_that_does_not_fit_is_cut_alike(void)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1, .speed_per_s = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 7, .stages = stages, .stage_count = 1
    };
    struct weir_host *const host = open_host(&(struct setting){ "ds2", NULL, 0 }, &pipeline);
    struct weir_pool_spec other = test_pool_spec(weir_view_pool(weir_host_view(host, 0), 0));
    const struct weir_estimate speed = { .batches_per_s = 1, .returns_per_batch = 1, .points = 5 };
    uint32_t index = 0;

    other.name = "b";
    other.pipeline = 1;
    CHECK_I64(weir_host_add_pool(host, &other, &index, NULL), WEIR_OK);
    CHECK_I64(weir_host_set_estimate(host, index, speed), WEIR_OK);
    wait_in_front(host, 0, 3000);
    wait_in_front(host, 1, 1200);
    CHECK_STR(decide_at(host, 0).text, "5,2");
    weir_host_destroy(host);
}

/* One worker takes one item a second. 300 items wait at first: 1 a second of them in 300 s, beside
 * nothing that is known to arrive. Within 100 s 200 are done and 400 wait: 3 a second arrived, and
 * 4/3 want to be worked off. Then nothing comes any more. */
static void a_demand_is_what_arrives_and_what_waits(void)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1, .speed_per_s = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 32, .stages = stages, .stage_count = 1
    };
    struct weir_host *const host = open_host(&(struct setting){ "ds2", "warmup", 0 }, &pipeline);

    wait_in_front(host, 0, 300);
    CHECK_STR(decide_at(host, 100).text, "1");
    finish(host, 0, 200, 150);
    wait_in_front(host, 0, 400);
    CHECK_STR(decide_at(host, 200).text, "5");
    finish(host, 0, 400, 250);
    wait_in_front(host, 0, 0);
    CHECK_STR(decide_at(host, 300).text, "1");
    weir_host_destroy(host);
}

/* After a change three decisions watch only, but for workers that were lost. */
static void counts_rest_after_a_change_but_for_a_loss(void)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1, .speed_per_s = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 2, .cpus = 8, .stages = stages, .stage_count = 1
    };
    struct weir_host *const host = open_host(&(struct setting){ "ds2", "warmup", 3 }, &pipeline);

    wait_in_front(host, 0, 1200);
    CHECK_STR(decide_at(host, 10).text, "4");
    CHECK_STR(decide_at(host, 20).text, "4");
    wait_in_front(host, 0, 1800);
    CHECK_STR(decide_at(host, 30).text, "4");
    CHECK_I64(weir_host_set_node(host, 0, 0, 35 * NS_PER_S), WEIR_OK);
    CHECK_STR(test_workers(host).text, "0");
    CHECK_STR(decide_at(host, 40).text, "6");
    weir_host_destroy(host);
}

/* Whoever was not measured is not counted on: all wait for it, with one worker each. */
static void nothing_follows_the_demand_before_all_are_measured(void)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1, .speed_per_s = 1 },
                                         { .name = "b", .cpus = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 16, .stages = stages, .stage_count = 2
    };
    struct weir_host *const host =
        open_host(&(struct setting){ "ds2", "source_rate", 4 }, &pipeline);

    CHECK_STR(decide_at(host, 10).text, "1,1");
    CHECK_STR(decide_at(host, 20).text, "1,1");
    CHECK_STR(decide_at(host, 30).text, "1,1");
    finish(host, 1, 5, 35);
    CHECK_STR(decide_at(host, 40).text, "4,4");
    weir_host_destroy(host);
}

/* ---- contune ---- */

/* The published example: abilities of Nexmark's `Mapper` by parallelism. 4e6 lies between those of
 * 10 and 13, on the line from one to the other at 10.93. */
static void the_published_example_needs_eleven(void)
{
    static const uint32_t workers[] = { 1, 2, 4, 6, 7, 8, 10, 13, 15, 20, 21, 25, 26 };
    static const double ability[] = { 529573.16752, 966817.36242, 1829695.58,   2535502.7616,
                                      2936888.579,  3118477.8826, 3721099.1836, 4624714.165666,
                                      4967828.2586, 6350677.0454, 6465249.805,  7089387.3074,
                                      7476391.84 };
    struct weir_history history = { 0 };
    uint32_t distance = 0;

    CHECK_I64(weir_history_least(&history, 1, &distance), 0);
    for (uint32_t i = COUNT(workers); i-- > 0;)
        weir_history_add(&history, workers[i], ability[i]);
    CHECK_I64(weir_history_least(&history, 4e6, &distance), 11);
    CHECK_I64(distance, 1);
    CHECK_I64(weir_history_least(&history, ability[5], &distance), 8); /* seen: exact */
    CHECK_I64(distance, 0);
    CHECK_I64(weir_history_least(&history, 1, &distance), 1);
    /* beyond all that was seen it grows as 26 have it: 287554 a worker */
    CHECK_I64(weir_history_least(&history, 1e7, &distance), 35);
    CHECK_I64(distance, 9);
}

/* More workers that could do less say nothing: what fewer can do, they can. */
static void an_ability_never_falls_with_more_workers(void)
{
    struct weir_history history = { 0 };
    uint32_t distance = 0;

    weir_history_add(&history, 12, 470);
    weir_history_add(&history, 14, 450);
    weir_history_add(&history, 16, 590);
    CHECK_I64(weir_history_least(&history, 460, &distance), 12);
    CHECK_I64(weir_history_least(&history, 530, &distance), 14);
}

/* Looks at one count are averaged; one that differs by more than half begins anew. Of more counts
 * than there is room for the furthest goes. */
static void a_history_forgets_what_does_not_hold(void)
{
    struct weir_history history = { 0 };
    uint32_t distance = 0;

    weir_history_add(&history, 2, 20);
    weir_history_add(&history, 4, 40);
    weir_history_add(&history, 4, 50);
    CHECK_I64(history.count, 2);
    CHECK_NEAR(history.ability[1], 45, 1e-12);
    weir_history_add(&history, 4, 20);
    CHECK_I64(history.count, 1);
    CHECK_I64(weir_history_least(&history, 20, &distance), 4);
    for (uint32_t workers = 5; workers < 4 + WEIR_HISTORY_MOST; workers++)
        weir_history_add(&history, workers, 5.0 * workers);
    CHECK_I64(history.count, WEIR_HISTORY_MOST);
    weir_history_add(&history, 40, 200);
    CHECK_I64(history.workers[0], 5);
    CHECK_I64(history.workers[WEIR_HISTORY_MOST - 1], 40);
    weir_history_add(&history, 1, 5);
    CHECK_I64(history.workers[0], 1);
    CHECK_I64(history.workers[WEIR_HISTORY_MOST - 1], 19);
}

/* One worker does one a second. Behind by half: DS2's ten, more than twice two. Behind by one in
 * three: twice two. Then four do a third more than three and one goes; of a tenth too little, or
 * too much, nothing comes. */
static void contune_changes_much_or_what_it_knows(void)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1, .speed_per_s = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 32, .stages = stages, .stage_count = 1
    };
    static const struct {
        double demand;
        const char *first, *then;
    } rows[] = { { 10, "10", "10" }, { 3, "4", "3" }, { 2.2, "2", "2" }, { 1.9, "2", "2" } };

    for (uint32_t i = 0; i < COUNT(rows); i++) {
        struct weir_host *const host =
            open_host(&(struct setting){ "contune", "source_rate", rows[i].demand }, &pipeline);
        adopt(host, &(uint32_t){ 2 }, 1);
        CHECK_STR(decide_at(host, 0).text, rows[i].first);
        for (int64_t now_s = 10; now_s <= 40; now_s += 10)
            (void)decide_at(host, now_s);
        CHECK_STR(test_workers(host).text, rows[i].then);
        weir_host_destroy(host);
    }
}

/* All workers are lost: twice none would be none. */
static void contune_begins_again_after_a_loss(void)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1, .speed_per_s = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 2, .cpus = 8, .stages = stages, .stage_count = 1
    };
    struct weir_host *const host =
        open_host(&(struct setting){ "contune", "source_rate", 3 }, &pipeline);

    CHECK_STR(decide_at(host, 0).text, "3");
    CHECK_I64(weir_host_set_node(host, 0, 0, NS_PER_S), WEIR_OK);
    CHECK_STR(test_workers(host).text, "0");
    CHECK_STR(decide_at(host, 10).text, "3");
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "ds2 meets the demand by true rates", ds2_meets_the_demand_by_true_rates },
    { "a demand that does not fit is cut alike", a_demand_that_does_not_fit_is_cut_alike },
    { "a demand is what arrives and what waits", a_demand_is_what_arrives_and_what_waits },
    { "counts rest after a change but for a loss", counts_rest_after_a_change_but_for_a_loss },
    { "nothing follows the demand before all are measured",
      nothing_follows_the_demand_before_all_are_measured },
    { "the published example needs eleven", the_published_example_needs_eleven },
    { "an ability never falls with more workers", an_ability_never_falls_with_more_workers },
    { "a history forgets what does not hold", a_history_forgets_what_does_not_hold },
    { "contune changes much, or what it knows", contune_changes_much_or_what_it_knows },
    { "contune begins again after a loss", contune_begins_again_after_a_loss },
};

TEST_MAIN(tests)
