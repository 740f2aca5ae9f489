/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The policy raydata: the worked example of its thresholds, loading workers, and budgets.
 */
#include "tests/support/check.h"
#include "tests/support/pipeline.h"

#include <stdio.h>

#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof((list)[0])))

static const int64_t NS_PER_S = 1000000000;

enum { PARAMS_MOST = 32 };

struct setting {
    const char *name;
    double value;
};

static struct weir_host *open_host(const struct test_pipeline *pipeline,
                                   const struct setting *settings, uint32_t count)
{
    struct weir_host_config config = test_config("best_fit", "raydata");
    const struct weir_scaling_ops *const ops = config.scaling;
    double values[PARAMS_MOST];

    for (uint32_t i = 0; i < ops->param_count; i++)
        values[i] = ops->params[i].initial;
    for (uint32_t i = 0; i < count; i++)
        values[weir_param_find(ops->params, ops->param_count, settings[i].name)] =
            settings[i].value;
    config.scaling_params = (struct weir_params){ .values = values, .count = ops->param_count };
    return test_host(&config, pipeline);
}

/* So many tasks in flight, as far as there are workers that are ready: one each runs, the rest
 * waits. */
static void set_tasks(struct weir_host *host, uint32_t pool, uint32_t tasks, uint32_t ready)
{
    const struct weir_pool_update update = {
        .size = sizeof(struct weir_pool_update),
        .queued_items = tasks > ready ? tasks - ready : 0,
        .ready = ready,
        .busy = tasks < ready ? tasks : ready,
        .slots = 2,
        .requested_workers = -1,
    };

    CHECK_I64(weir_host_update_pool(host, pool, &update), WEIR_OK);
}

static struct test_text decide_at(struct weir_host *host, int64_t now_s)
{
    const struct weir_plan *plan = NULL;

    CHECK_I64(test_decide_at(host, now_s * NS_PER_S, &plan), WEIR_OK);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    return test_workers(host);
}

static const struct test_stage one[] = { { .name = "a", .cpus = 1, .speed_per_s = 1 } };

/* Time, tasks in flight, workers after. Both thresholds count: 7 on 4 is 1.75, 2 on 4 is 0.5. At
 * 12 s the growth of 4 s is not 10 s ago. */
static void sizes_follow_the_worked_example(void)
{
    static const struct setting settings[] = { { "min_workers", 2 }, { "max_workers", 8 } };
    static const struct {
        int64_t at_s;
        uint32_t tasks, after;
    } rows[] = { { 0, 4, 3 },  { 1, 6, 4 },  { 2, 7, 5 },  { 3, 8, 5 }, { 4, 10, 6 },
                 { 12, 3, 6 }, { 15, 3, 5 }, { 16, 2, 4 }, { 17, 2, 3 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 32, .stages = one, .stage_count = 1
    };
    struct weir_host *const host = open_host(&pipeline, settings, COUNT(settings));
    uint32_t size = 2;

    CHECK_STR(decide_at(host, -1).text, "2");
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        char text[16];
        set_tasks(host, 0, rows[i].tasks, size);
        (void)snprintf(text, sizeof text, "%u", rows[i].after);
        CHECK_STR(decide_at(host, rows[i].at_s).text, text);
        size = rows[i].after;
    }
    weir_host_destroy(host);
}

/* Eight workers with 16 tasks: one more, or, where more may come at once, two. */
static void growth_is_what_fills_the_threshold(void)
{
    static const struct {
        struct setting delta;
        const char *after;
    } rows[] = { { { "max_delta", 1 }, "9" }, { { "max_delta", 5 }, "10" } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 32, .stages = one, .stage_count = 1
    };

    for (uint32_t i = 0; i < COUNT(rows); i++) {
        const struct setting settings[] = { { "min_workers", 8 }, rows[i].delta };
        struct weir_host *const host = open_host(&pipeline, settings, COUNT(settings));
        CHECK_STR(decide_at(host, 0).text, "8");
        set_tasks(host, 0, 16, 8);
        CHECK_STR(decide_at(host, 1).text, rows[i].after);
        weir_host_destroy(host);
    }
}

/* One worker is ready and full, others load: they count, so that two are enough for now. Where they
 * do not count every decision asks for one more, the first one, before anybody is ready, too. */
static void workers_that_load_count_unless_told_otherwise(void)
{
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 32, .stages = one, .stage_count = 1
    };

    for (int counts = 0; counts <= 1; counts++) {
        const struct setting setting = { "counts_pending", counts };
        struct weir_host *const host = open_host(&pipeline, &setting, 1);
        CHECK_STR(decide_at(host, 0).text, counts ? "1" : "2");
        set_tasks(host, 0, 9, 1);
        for (int64_t now_s = 1; now_s <= 5; now_s++)
            (void)decide_at(host, now_s);
        CHECK_STR(test_workers(host).text, counts ? "2" : "7");
        weir_host_destroy(host);
    }
}

/* Eight CPUs for two stages: two are kept for each, four are for whoever comes. One stage alone is
 * full and grows to its two, and half of what is left at a time, to the other's two. When the other
 * one wants workers, too, it gets them from what was kept for it. */
static void half_of_the_cluster_is_kept_for_the_stages(void)
{
    const struct test_stage stages[] = { { .name = "a", .cpus = 1, .speed_per_s = 1 },
                                         { .name = "b", .cpus = 1, .speed_per_s = 1 } };
    const struct test_pipeline pipeline = {
        .nodes = 1, .cpus = 8, .stages = stages, .stage_count = 2
    };
    struct weir_host *const host = open_host(&pipeline, NULL, 0);

    CHECK_STR(decide_at(host, 0).text, "1,1");
    for (uint32_t now_s = 1; now_s <= 9; now_s++) {
        set_tasks(host, 0, 99, now_s);
        (void)decide_at(host, now_s);
    }
    CHECK_STR(test_workers(host).text, "6,1");
    set_tasks(host, 1, 9, 1);
    CHECK_STR(decide_at(host, 20).text, "6,2");
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "sizes follow the worked example", sizes_follow_the_worked_example },
    { "growth is what fills the threshold", growth_is_what_fills_the_threshold },
    { "workers that load count unless told otherwise",
      workers_that_load_count_unless_told_otherwise },
    { "half of the cluster is kept for the stages", half_of_the_cluster_is_kept_for_the_stages },
};

TEST_MAIN(tests)
