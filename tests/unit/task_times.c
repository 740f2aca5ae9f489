/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Long means of task times: what counts when the window agrees with them, and when it does not.
 */
#include "sched/scaling/task_times.h"
#include "tests/support/check.h"

#include <math.h>

enum { TASKS = 400 };
static const int64_t SECOND = 1000000000;

static void add(struct weir_task_times *times, double at_s, double took_s, double constant_s)
{
    const int64_t end_ns = (int64_t)(at_s * (double)SECOND);
    const struct weir_measurement task = { .size = sizeof task,
                                           .start_ns = end_ns - (int64_t)(took_s * (double)SECOND),
                                           .end_ns = end_ns };
    weir_task_times_add(times, &task, constant_s);
}

/* Tasks of 1 s and 3 s in turn, one a second: mean 2, standard deviation 1. */
static struct weir_task_times one_and_three(double constant_s)
{
    struct weir_task_times times = { .weight = 0 };
    for (int i = 0; i < TASKS; i++)
        add(&times, 10 + i, i % 2 == 0 ? 1 : 3, constant_s);
    return times;
}

static struct weir_estimate window(double mean_s, uint32_t points)
{
    return (struct weir_estimate){ .batches_per_s = 1 / mean_s, .points = points };
}

static void mean_and_spread_are_those_of_all_tasks(void)
{
    const struct weir_task_times times = one_and_three(1e12);
    CHECK_NEAR(times.weight, TASKS, 1e-6);
    CHECK_NEAR(times.mean_s, 2, 1e-9);
    CHECK_NEAR(times.spread / times.weight, 1, 1e-6);
}

/* The mean of 25 tasks has a squared error of 0.04; times may drift by 0.4 unnoticed, squared 0.16:
 * four fifths of the way to the window. Of one task it is 0.16 / 1.16 of it. */
static void a_window_counts_by_what_it_knows(void)
{
    const struct weir_task_times times = one_and_three(1e12);
    const struct weir_estimate many = window(2.5, 25);
    const struct weir_estimate below = window(1.5, 25);
    const struct weir_estimate one = window(5, 1);
    CHECK_NEAR(1 / weir_task_times_speed(&times, &many), 2.4, 1e-6);
    CHECK_NEAR(1 / weir_task_times_speed(&times, &below), 1.6, 1e-6);
    CHECK_NEAR(1 / weir_task_times_speed(&times, &one), 2 + 3 * 0.16 / 1.16, 1e-6);
}

/* The last tasks of 2 s and 6 s are ln 2 above the others by logarithms, whose weighted mean has an
 * error of ln 3 / 2 sqrt(0.05 / 1.95) = 0.088: after two of them it is 0.07 up, after twenty 0.44.
 */
static void times_that_change_are_followed(void)
{
    struct weir_task_times times = one_and_three(1e12);
    const struct weir_estimate after = window(4, 25);
    for (int i = 0; i < 2; i++)
        add(&times, 500 + i, i % 2 == 0 ? 2 : 6, 1e12);
    CHECK(1 / weir_task_times_speed(&times, &after) < 3.7);
    for (int i = 2; i < 20; i++)
        add(&times, 500 + i, i % 2 == 0 ? 2 : 6, 1e12);
    CHECK_NEAR(1 / weir_task_times_speed(&times, &after), 4, 1e-9);
}

/* A hundred times as long as the mean, in a window of 25: ten errors of its mean, as it was. */
static void one_long_task_is_no_change(void)
{
    struct weir_task_times times = one_and_three(1e12);
    const struct weir_estimate with = window(2 + 198.0 / 25, 25);
    add(&times, 500, 200, 1e12);
    CHECK(1 / weir_task_times_speed(&times, &with) < 3.5);
}

/* 400 tasks with a deviation of half their mean: a fortieth. Before 20 are known it is that of the
 * window: of 10 s and 9.5 s, 25 of them. */
static void what_is_not_known_is_told(void)
{
    const struct weir_task_times times = one_and_three(1e12);
    struct weir_task_times two = { .weight = 0 };
    const struct weir_estimate many = window(2, 25);
    CHECK_NEAR(weir_task_times_doubt(&times, &many), 0.025, 1e-6);
    CHECK_NEAR(weir_task_times_doubt(&two, &many), 0, 1e-12);
    add(&two, 20, 10, 1e12);
    add(&two, 20, 9.5, 1e12);
    CHECK_NEAR(weir_task_times_doubt(&two, &many), 0.25 / 5 / 9.75, 1e-9);
}

/* Before there are enough tasks, and where none was measured lately, the window counts. */
static void little_is_known_at_first(void)
{
    struct weir_task_times times = { .weight = 0 };
    const struct weir_estimate seen = window(9, 3);
    const struct weir_estimate none = { .batches_per_s = (double)NAN };
    CHECK_NEAR(weir_task_times_speed(&times, &seen), 1 / 9.0, 1e-12);
    for (int i = 0; i < 19; i++)
        add(&times, i + 1, 9 + i % 2, 1e12);
    CHECK_NEAR(weir_task_times_speed(&times, &seen), 1 / 9.0, 1e-12);
    add(&times, 20, 10, 1e12);
    add(&times, 21, 9.5, 1e12); /* one more, since all weigh a little less than 1 */
    CHECK(1 / weir_task_times_speed(&times, &seen) > 9.005); /* those of 21 tasks count, too */
    CHECK(isnan(weir_task_times_speed(&times, &none)));
}

/* A tenth of the constant ago counts e^-0.1: of old tasks of 1 s little is left. */
static void old_tasks_are_forgotten(void)
{
    struct weir_task_times times = { .weight = 0 };
    for (int i = 0; i < TASKS; i++)
        add(&times, i + 1, 1, 10);
    CHECK_NEAR(times.weight, 1 / (1 - exp(-0.1)), 1e-9);
    for (int i = 0; i < 100; i++)
        add(&times, TASKS + i + 1, 2, 10);
    CHECK_NEAR(times.mean_s, 2 - exp(-10), 1e-6);
}

static const struct test tests[] = {
    { "mean and spread are those of all tasks", mean_and_spread_are_those_of_all_tasks },
    { "a window counts by what it knows", a_window_counts_by_what_it_knows },
    { "times that change are followed", times_that_change_are_followed },
    { "one long task is no change", one_long_task_is_no_change },
    { "what is not known is told", what_is_not_known_is_told },
    { "little is known at first", little_is_known_at_first },
    { "old tasks are forgotten", old_tasks_are_forgotten },
};

TEST_MAIN(tests)
