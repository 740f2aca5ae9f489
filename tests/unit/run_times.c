/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long runs take, from those that are over. */
#include "sim/cli/experiment/run_times.h"
#include "tests/support/check.h"

/* Variant 1 is said to be four times variant 0; one run of the latter took 3 s. */
static void what_was_not_run_goes_by_what_its_scenario_says(void)
{
    struct sim_run_times work;
    CHECK(sim_run_times_begin(&work, 2));
    work.prior[0] = 10;
    work.prior[1] = 40;
    sim_run_times_measured(&work, 0, 3);
    CHECK_NEAR(sim_run_times_s(&work, 0), 3, 1e-12);
    CHECK_NEAR(sim_run_times_s(&work, 1), 12, 1e-12);
    sim_run_times_end(&work);
}

/* What was measured counts, whatever the scenario says; the third goes by both: (3 + 5 + 20) s over
 * 10 + 10 + 40 units. */
static void what_was_run_takes_its_mean(void)
{
    struct sim_run_times work;
    CHECK(sim_run_times_begin(&work, 3));
    work.prior[0] = 10;
    work.prior[1] = 40;
    work.prior[2] = 6;
    sim_run_times_measured(&work, 0, 3);
    sim_run_times_measured(&work, 0, 5);
    sim_run_times_measured(&work, 1, 20);
    CHECK_NEAR(sim_run_times_s(&work, 0), 4, 1e-12);
    CHECK_NEAR(sim_run_times_s(&work, 1), 20, 1e-12);
    CHECK_NEAR(sim_run_times_s(&work, 2), 2.8, 1e-12);
    sim_run_times_end(&work);
}

/* Before any is over the ones that go on say it: half of 10 units in 2 s. */
static void the_first_run_says_it_while_it_goes_on(void)
{
    struct sim_run_times work;
    CHECK(sim_run_times_begin(&work, 2));
    work.prior[0] = 10;
    work.prior[1] = 30;
    sim_run_times_running(&work, 0, 0.5, 2);
    CHECK_NEAR(sim_run_times_s(&work, 1), 12, 1e-12);
    sim_run_times_measured(&work, 0, 5);
    CHECK_NEAR(sim_run_times_s(&work, 1), 15, 1e-12);
    sim_run_times_end(&work);
}

static const struct test tests[] = {
    { "what was not run goes by what its scenario says",
      what_was_not_run_goes_by_what_its_scenario_says },
    { "what was run takes its mean", what_was_run_takes_its_mean },
    { "the first run says it while it goes on", the_first_run_says_it_while_it_goes_on },
};
TEST_MAIN(tests)
