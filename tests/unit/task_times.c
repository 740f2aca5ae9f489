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

/* Four errors of a mean of 25 are 0.8. */
static void a_window_that_is_far_off_is_believed(void)
{
    const struct weir_task_times times = one_and_three(1e12);
    const struct weir_estimate near = window(2.79, 25);
    const struct weir_estimate far = window(2.81, 25);
    const struct weir_estimate below = window(1.19, 25);
    CHECK_NEAR(1 / weir_task_times_speed(&times, &near), 2 + 0.79 * 0.8, 1e-6);
    CHECK_NEAR(1 / weir_task_times_speed(&times, &far), 2.81, 1e-9);
    CHECK_NEAR(1 / weir_task_times_speed(&times, &below), 1.19, 1e-9);
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
    { "a window that is far off is believed", a_window_that_is_far_off_is_believed },
    { "little is known at first", little_is_known_at_first },
    { "old tasks are forgotten", old_tasks_are_forgotten },
};

TEST_MAIN(tests)
