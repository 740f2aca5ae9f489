/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What libweir's ground floor promises: status texts, the error box, fixed-point amounts.
 */
#include "tests/support/check.h"
#include "weir/status.h"
#include "weir/units.h"

#include <math.h>
#include <string.h>

static const struct weir_quantum XENNA = { WEIR_ONE / 65536, WEIR_ROUND_FLOOR };
static const struct weir_quantum RAY = { WEIR_ONE / 10000, WEIR_ROUND_NEAREST };
static const struct weir_quantum RAY_FLOOR = { WEIR_ONE / 10000, WEIR_ROUND_FLOOR };
static const struct weir_quantum MILLI = { WEIR_ONE / 1000, WEIR_ROUND_NEAREST };

static int64_t points(double amount, struct weir_quantum quantum)
{
    int64_t units = -1;
    CHECK_I64(weir_units_from_amount(amount, quantum, &units, NULL), WEIR_OK);
    CHECK_I64(units % quantum.units, 0);
    return units / quantum.units;
}

static void every_status_has_a_text(void)
{
    CHECK_STR(weir_status_text(WEIR_OK), "ok");
    CHECK_STR(weir_status_text(WEIR_EINFEASIBLE), "can never fit");
    CHECK_STR(weir_status_text(WEIR_EUNSUPPORTED), "not supported");
    for (int value = 0; value >= WEIR_EUNSUPPORTED; value--)
        CHECK(strcmp(weir_status_text((weir_status)value), "unknown status") != 0);
    CHECK_STR(weir_status_text((weir_status)(WEIR_EUNSUPPORTED - 1)), "unknown status");
    CHECK_STR(weir_status_text((weir_status)1), "unknown status");
}

static void an_error_box_collects_context_from_the_inside_out(void)
{
    struct weir_error error = { .phase = 5 };
    CHECK_I64(weir_fail(&error, WEIR_EINVAL, "gpus must be > 0, got %d", -1), WEIR_EINVAL);
    weir_error_wrap(&error, "shape");
    weir_error_wrap(&error, "stage %s", "caption");
    CHECK_STR(error.text, "stage caption: shape: gpus must be > 0, got -1");
    CHECK_I64(error.phase, -1);
    CHECK_I64(error.pool, -1);
    CHECK_I64(weir_fail(NULL, WEIR_EBUSY, "nobody listens"), WEIR_EBUSY);
    weir_error_wrap(NULL, "nobody");
}

static void long_messages_are_cut_at_the_end_of_the_box(void)
{
    char name[2 * WEIR_ERROR_TEXT];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    struct weir_error error = { .text = "" };
    weir_fail(&error, WEIR_EINVAL, "%s", name);
    CHECK_I64(strlen(error.text), WEIR_ERROR_TEXT - 1);
    weir_error_wrap(&error, "where");
    CHECK(strncmp(error.text, "where: xxx", 10) == 0);
    CHECK_I64(strlen(error.text), WEIR_ERROR_TEXT - 1);
    weir_error_wrap(&error, "%s", name);
    CHECK_I64(strlen(error.text), WEIR_ERROR_TEXT - 1);
}

static void all_three_grids_are_exact(void)
{
    CHECK_I64(WEIR_ONE % 65536, 0);
    CHECK_I64(WEIR_ONE % 10000, 0);
    CHECK_I64(WEIR_ONE % 1000, 0);
    CHECK_I64(points(1.0, XENNA), 65536);
    CHECK_I64(points(1.0, RAY), 10000);
    CHECK_I64(points(100000000.0, MILLI), 100000000000);
    CHECK_NEAR(weir_units_amount(WEIR_ONE / 4), 0.25, 0.0);
}

/* covers: S0.10 */
static void requests_round_to_the_quantum(void)
{
    CHECK_I64(points(0.1, XENNA), 6553); /* floor */
    CHECK_I64(points(1.0 / 3.0, XENNA), 21845);
    CHECK_I64(points(1e-5, XENNA), 0);
    CHECK_I64(points(0.1, WEIR_QUANTUM_EXACT), WEIR_ONE / 10);
    CHECK_I64(points(1.0 / 3.0, RAY), 3333);
    CHECK_I64(points(2.0 / 3.0, RAY), 6667);
    CHECK_I64(points(2.0 / 3.0, RAY_FLOOR), 6666);
    CHECK_I64(points(0.143, RAY), 1430);
    CHECK_I64(points(-0.25, RAY), -2500);
    CHECK_I64(points(-0.00005 / 2, RAY_FLOOR), -1); /* down, also below 0 */
}

/* Each decimal of the grid is its own point, although most are not exact in binary. */
static void decimals_of_the_grid_keep_their_point_when_floored(void)
{
    for (int64_t point = 0; point <= 30000; point++) {
        int64_t units = 0;
        weir_units_from_amount((double)point / 10000.0, RAY_FLOOR, &units, NULL);
        if (units != point * RAY.units)
            CHECK_I64(units, point * RAY.units);
    }
    CHECK_I64(points(0.0003, RAY_FLOOR), 3);
}

/* covers: S0.10 */
static void fractions_fill_one_cpu_as_the_systems_do(void)
{
    CHECK_I64(65536 / points(0.25, XENNA), 4);
    CHECK(240 * INT64_C(65536) == 960 * points(0.25, XENNA));
    CHECK(3 * points(1.0 / 3.0, XENNA) <= 65536);
    CHECK(3 * points(1.0 / 3.0, RAY) <= 10000);
    CHECK(7 * points(0.143, XENNA) > 65536);
    CHECK(7 * points(0.143, RAY) > 10000);
    CHECK_I64(65536 - 10 * points(0.1, XENNA), 6);
}

static void impossible_amounts_are_refused_and_leave_the_result_alone(void)
{
    struct weir_error error = { .text = "" };
    int64_t units = 77;
    CHECK_I64(weir_units_from_amount((double)NAN, RAY, &units, &error), WEIR_EINVAL);
    CHECK_I64(
        weir_units_from_amount(1.0, (struct weir_quantum){ .units = 7 * 1000 + 1 }, &units, &error),
        WEIR_EINVAL);
    CHECK(strstr(error.text, "7001") != NULL);
    CHECK_I64(weir_units_from_amount(1.0, (struct weir_quantum){ .units = 0 }, &units, &error),
              WEIR_EINVAL);
    CHECK_I64(weir_units_from_amount(1.0000001e8, RAY, &units, &error), WEIR_ERANGE);
    CHECK_I64(weir_units_from_amount(-(double)INFINITY, RAY, &units, NULL), WEIR_ERANGE);
    CHECK_I64(units, 77);
}

static const struct test tests[] = {
    { "every status has a text", every_status_has_a_text },
    { "an error box collects context from the inside out",
      an_error_box_collects_context_from_the_inside_out },
    { "long messages are cut at the end of the box", long_messages_are_cut_at_the_end_of_the_box },
    { "all three grids are exact", all_three_grids_are_exact },
    { "requests round to the quantum", requests_round_to_the_quantum },
    { "decimals of the grid keep their point when floored",
      decimals_of_the_grid_keep_their_point_when_floored },
    { "fractions fill one CPU as the systems do", fractions_fill_one_cpu_as_the_systems_do },
    { "impossible amounts are refused and leave the result alone",
      impossible_amounts_are_refused_and_leave_the_result_alone },
};
TEST_MAIN(tests)
