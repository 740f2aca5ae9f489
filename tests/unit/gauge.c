/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The integral of a step function, by hand.
 */
#include "sim/record/meter/gauge.h"
#include "tests/support/check.h"

static void the_integral_is_the_sum_of_the_rectangles(void)
{
    struct sim_gauge gauge = { 0 };
    sim_gauge_add(&gauge, 10, 3.0);  /* 0 for 10 ns */
    sim_gauge_add(&gauge, 15, -1.0); /* 3 for 5 ns */
    sim_gauge_set(&gauge, 40, 7.0);  /* 2 for 25 ns */
    CHECK_NEAR(sim_gauge_integral(&gauge, 40), 65.0, 0.0);
    CHECK_NEAR(sim_gauge_integral(&gauge, 50), 135.0, 0.0);
    CHECK_NEAR(gauge.value, 7.0, 0.0);
}

static void changes_at_one_instant_leave_no_trace(void)
{
    struct sim_gauge gauge = { 0 };
    sim_gauge_add(&gauge, 5, 1.0);
    for (int i = 0; i < 1000; i++)
        sim_gauge_add(&gauge, 8, i % 2 ? -1e9 : 1e9);
    CHECK_NEAR(sim_gauge_integral(&gauge, 10), 5.0, 0.0);
}

static void reading_changes_nothing(void)
{
    struct sim_gauge gauge = { 0 };
    sim_gauge_set(&gauge, 0, 2.0);
    CHECK_NEAR(sim_gauge_integral(&gauge, 100), 200.0, 0.0);
    CHECK_NEAR(sim_gauge_integral(&gauge, 50), 100.0, 0.0);
    CHECK_I64(gauge.since_ns, 0);
}

static const struct test tests[] = {
    { "the integral is the sum of the rectangles", the_integral_is_the_sum_of_the_rectangles },
    { "changes at one instant leave no trace", changes_at_one_instant_leave_no_trace },
    { "reading changes nothing", reading_changes_nothing },
};
TEST_MAIN(tests)
