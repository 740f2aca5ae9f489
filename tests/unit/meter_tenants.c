/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Indices of how evenly something is divided, by hand. */
#include "sim/record/meter/meter_tenants.h"
#include "tests/support/check.h"

#include <math.h>

/* covers: S1.135 */
static void jains_index_is_one_when_all_have_the_same(void)
{
    CHECK_NEAR(sim_jain_index((const double[]){ 1, 2, 3, 4 }, 4), 0.833333, 1e-6);
    CHECK_NEAR(sim_jain_index((const double[]){ 1, 2, 3 }, 3), 0.857143, 1e-6);
    CHECK_NEAR(sim_jain_index((const double[]){ 1, 0, 0, 0 }, 4), 0.25, 1e-12);
    CHECK_NEAR(sim_jain_index((const double[]){ 7, 7, 7 }, 3), 1, 1e-12);
    CHECK(isnan(sim_jain_index((const double[]){ 0, 0 }, 2)));
}

/* covers: S1.136 */
static void the_balance_is_the_least_load_over_the_most(void)
{
    CHECK_NEAR(sim_balance_index((const double[]){ 80, 60, 40 }, 3), 0.5, 1e-12);
    CHECK_NEAR(sim_balance_index((const double[]){ 0, 0 }, 2), 1, 1e-12);
    CHECK_NEAR(sim_balance_index((const double[]){ 5, 0 }, 2), 0, 1e-12);
    CHECK(isnan(sim_balance_index(NULL, 0)));
}

static const struct test tests[] = {
    { "Jain's index is one when all have the same", jains_index_is_one_when_all_have_the_same },
    { "the balance is the least load over the most", the_balance_is_the_least_load_over_the_most },
};
TEST_MAIN(tests)
