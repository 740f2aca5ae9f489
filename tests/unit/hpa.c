/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The policy hpa: the worked example of Kubernetes' autoscaler, its tolerance, its limits on
 * growth, workers that are not ready, and stabilisation.
 */
#include "sched/scaling/kept.h"
#include "tests/support/check.h"
#include "tests/support/pipeline.h"

#include <stdio.h>
#include <stdlib.h>

#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof((list)[0])))

static const int64_t NS_PER_S = 1000000000;

enum { PARAMS_MOST = 32 };

struct setting {
    const char *name;
    double value;
};

static const struct test_stage one[] = { { .name = "a", .cpus = 1, .speed_per_s = 1 } };
static const struct test_pipeline pipeline = {
    .nodes = 1, .cpus = 256, .stages = one, .stage_count = 1
};

/* At target 75 %, the number as it is at the moment, and what `settings` says. */
static struct weir_host *open_host(const struct setting *settings, uint32_t count)
{
    struct weir_host_config config = test_config("best_fit", "hpa");
    const struct weir_scaling_ops *const ops = config.scaling;
    double values[PARAMS_MOST];

    for (uint32_t i = 0; i < ops->param_count; i++)
        values[i] = ops->params[i].initial;
    values[weir_param_find(ops->params, ops->param_count, "target")] = 0.75;
    values[weir_param_find(ops->params, ops->param_count, "average")] = 0.001;
    for (uint32_t i = 0; i < count; i++)
        values[weir_param_find(ops->params, ops->param_count, settings[i].name)] =
            settings[i].value;
    config.scaling_params = (struct weir_params){ .values = values, .count = ops->param_count };
    return test_host(&config, &pipeline);
}

static void set_busy(struct weir_host *host, uint32_t busy, uint32_t ready, uint64_t items)
{
    const struct weir_pool_update update = {
        .size = sizeof(struct weir_pool_update),
        .queued_items = items,
        .ready = ready,
        .busy = busy,
        .slots = 2,
        .requested_workers = -1,
    };

    CHECK_I64(weir_host_update_pool(host, 0, &update), WEIR_OK);
}

static long decide_at(struct weir_host *host, int64_t now_s)
{
    const struct weir_plan *plan = NULL;

    CHECK_I64(test_decide_at(host, now_s * NS_PER_S, &plan), WEIR_OK);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    return strtol(test_workers(host).text, NULL, 10);
}

/* So many workers, then a look at so many busy ones a period later. */
static long after(uint32_t workers, uint32_t busy, uint32_t ready, uint64_t items, double metric)
{
    const struct setting settings[] = { { "least", workers }, { "metric", metric } };
    struct weir_host *const host = open_host(settings, COUNT(settings));

    CHECK_I64(decide_at(host, 0), workers);
    set_busy(host, busy, ready, items);
    const long count = decide_at(host, 15);
    weir_host_destroy(host);
    return count;
}

static void counts_are_those_of_the_worked_example(void)
{
    CHECK_I64(after(50, 45, 50, 0, 0), 60);   /* 90 % of 75 % */
    CHECK_I64(after(50, 40, 50, 0, 0), 50);   /* 80 %: ratio 1.067 */
    CHECK_I64(after(25, 21, 25, 0, 0), 28);   /* 84 %: ratio 1.12 */
    CHECK_I64(after(50, 50, 50, 25, 1), 100); /* 1.5 tasks a worker: 100 */
    CHECK_I64(after(50, 50, 50, 99, 0), 67);  /* busy alone says 4/3 at most */
    CHECK_I64(after(50, 0, 0, 999, 1), 50);   /* nobody to ask */
}

static void growth_is_limited_by_period(void)
{
    CHECK_I64(after(50, 50, 50, 900, 1), 100);
    CHECK_I64(after(1, 1, 1, 900, 1), 5);
    struct weir_host *const host = open_host((struct setting[]){ { "metric", 1 } }, 1);
    CHECK_I64(decide_at(host, 0), 1);
    set_busy(host, 1, 1, 900);
    CHECK_I64(decide_at(host, 15), 5);
    set_busy(host, 5, 5, 900);
    CHECK_I64(decide_at(host, 20), 5); /* of this period all came */
    CHECK_I64(decide_at(host, 30), 10);
    weir_host_destroy(host);
}

/* 40 of 50 are ready and all at work: of 50 that is 80 %. 30: 60 %, which asks for fewer, not more.
 */
static void workers_that_are_not_ready_count_as_idle(void)
{
    CHECK_I64(after(50, 40, 40, 0, 0), 50);
    CHECK_I64(after(50, 30, 30, 0, 0), 50);
    CHECK_I64(after(50, 45, 45, 0, 0), 60);
}

/* What was wanted at 15 s holds for 300 s, then what was wanted after it. */
static void it_shrinks_no_lower_than_was_wanted_lately(void)
{
    struct weir_host *const host = open_host((struct setting[]){ { "down_part", 1 } }, 1);
    CHECK_I64(decide_at(host, 0), 1);
    set_busy(host, 1, 1, 0);
    CHECK_I64(decide_at(host, 15), 2);
    set_busy(host, 2, 2, 0);
    CHECK_I64(decide_at(host, 30), 3);
    set_busy(host, 3, 3, 0);
    CHECK_I64(decide_at(host, 45), 4);
    set_busy(host, 4, 4, 0);
    CHECK_I64(decide_at(host, 60), 6);
    for (int64_t t = 75; t <= 360; t += 15) {
        set_busy(host, t < 210 ? 3 : 0, 6, 0);
        CHECK_I64(decide_at(host, t), 6);
    }
    CHECK_I64(decide_at(host, 375), 4); /* 3 of 6 busy wanted 4 until 195 s */
    set_busy(host, 0, 4, 0);
    CHECK_I64(decide_at(host, 495), 4);
    CHECK_I64(decide_at(host, 510), 1);
    weir_host_destroy(host);
}

static void shrinking_is_limited_by_period(void)
{
    const struct setting settings[] = { { "down_part", 0.2 }, { "shrink_window", 0 } };
    struct weir_host *const host = open_host(settings, COUNT(settings));
    CHECK_I64(decide_at(host, 0), 1);
    set_busy(host, 1, 1, 0);
    for (int64_t t = 15; t < 90; t += 15) {
        const uint32_t workers = (uint32_t)decide_at(host, t);
        set_busy(host, workers, workers, 0);
    }
    CHECK_I64(decide_at(host, 90), 11);
    set_busy(host, 0, 11, 0);
    CHECK_I64(decide_at(host, 105), 8); /* floor(11 x 0.8) */
    CHECK_I64(decide_at(host, 120), 6);
    weir_host_destroy(host);
}

/* All numbers of all pools come back; those that are none, too many or too few are refused. */
static void what_is_kept_of_pools_comes_back(void)
{
    double values[WEIR_RUN_PARAM_COUNT] = { 1, 2, 1, 0, 0, 0 };
    const struct weir_params params = { values, WEIR_RUN_PARAM_COUNT, 0 };
    const struct weir_view view = { .pool_count = 2 };
    double numbers[7];
    void *states[2];
    for (int i = 0; i < 2; i++) {
        CHECK_I64(weir_run_make(sizeof(struct weir_kept), &params, NULL, &states[i], NULL),
                  WEIR_OK);
        ((struct weir_kept *)states[i])->width = 3;
        ((struct weir_kept *)states[i])->initial = -1;
    }
    struct weir_kept *const kept = states[0];
    CHECK_I64(weir_kept_learn(kept, &view, NULL), WEIR_OK);
    CHECK_NEAR(weir_kept_of(kept, 1)[0], -1, 0);
    weir_kept_of(kept, 1)[2] = 7;
    CHECK_I64(weir_kept_save(kept, numbers, 7), 7);
    CHECK_I64(weir_kept_restore(states[1], &view, numbers, 7, NULL), WEIR_OK);
    CHECK_NEAR(weir_kept_of(states[1], 1)[2], 7, 0);
    CHECK_I64(weir_kept_restore(states[1], &view, numbers, 6, NULL), WEIR_EFORMAT);
    numbers[4] = (double)NAN;
    CHECK_I64(weir_kept_restore(states[1], &view, numbers, 7, NULL), WEIR_EFORMAT);
    numbers[4] = 0;
    numbers[0] = 3; /* of more pools than there are */
    CHECK_I64(weir_kept_restore(states[1], &view, numbers, 7, NULL), WEIR_EFORMAT);
    weir_kept_destroy(states[0]);
    weir_kept_destroy(states[1]);
}

static const struct test tests[] = {
    { "counts are those of the worked example", counts_are_those_of_the_worked_example },
    { "growth is limited by period", growth_is_limited_by_period },
    { "workers that are not ready count as idle", workers_that_are_not_ready_count_as_idle },
    { "it shrinks no lower than was wanted lately", it_shrinks_no_lower_than_was_wanted_lately },
    { "shrinking is limited by period", shrinking_is_limited_by_period },
    { "what is kept of pools comes back", what_is_kept_of_pools_comes_back },
};
TEST_MAIN(tests)
