/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison on paper: differences in percent of the baseline, whatever its sign. */
#include "sim/cli/ask/compare_print.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The table for a baseline and a variant with these means, one run each. */
static char *print_means(double base, double variant)
{
    const double difference = variant - base;
    const double nothing = (double)NAN;
    struct an_cell cells[] = {
        { .mean = base, .half_width = nothing, .n = 1, .verdict = AN_BASELINE },
        { .mean = variant,
          .half_width = nothing,
          .difference = difference,
          .difference_low = nothing,
          .difference_high = nothing,
          .p_value = nothing,
          .n = 1,
          .verdict = AN_NEUTRAL },
    };
    char metric[] = "m";
    char empty[] = "";
    char one[] = "one";
    char two[] = "two";
    char *variants[] = { one, two };
    struct an_metric_row row = {
        .metric = metric, .label = metric, .unit = empty, .title = empty, .cells = cells
    };
    const struct an_comparison comparison = { .variants = variants,
                                              .variant_count = 2,
                                              .rows = &row,
                                              .row_count = 1,
                                              .shown = 1,
                                              .goal = empty,
                                              .left_out = empty,
                                              .varies = empty,
                                              .audit = empty,
                                              .contest = empty,
                                              .finding = empty };
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        abort();
    sim_compare_print(&comparison, NULL, SIM_FORMAT_TABLE, out);
    (void)fclose(out);
    return text;
}

/* Of shares the difference is in points and the change in percent of the baseline stands apart; of
 * a baseline of nothing there is no percent; what rounds to nothing is little. */
static void shares_differ_by_points(void)
{
    static const struct {
        double base, variant;
        const char *unit, *plain, *relative;
    } cases[] = {
        { 94.8, 95.7, "%", "+0.90 points", "+0.9 %" },
        { 0.948, 0.957, "ratio", "+0.90 points", "+0.9 %" },
        { 0.0, 0.743, "ratio", "+74.30 points", "" },
        { 40.0, 30.0, "s", "-10\u00a0s", "-25.0 %" },
        { 0.0, 30.0, "s", "+30\u00a0s", "" },
        { 1e6, 1e6 + 1.0, "items", "+1 item", "less than 0.1 % more" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char unit[16];
        struct an_cell cells[] = {
            { .mean = cases[i].base, .difference = (double)NAN, .verdict = AN_BASELINE },
            { .mean = cases[i].variant,
              .difference = cases[i].variant - cases[i].base,
              .difference_low = (double)NAN,
              .difference_high = (double)NAN },
        };
        (void)snprintf(unit, sizeof unit, "%s", cases[i].unit);
        const struct an_metric_row row = { .unit = unit,
                                           .cells = cells,
                                           .is_share = strcmp(unit, "%") == 0 ||
                                                       strcmp(unit, "ratio") == 0 };
        const struct an_change change = an_change_of(&row, 0, 1);
        CHECK_STR(change.plain, cases[i].plain);
        CHECK_STR(change.relative, cases[i].relative);
    }
}

/* An interval that is all next to nothing is said so, not in powers of ten. */
static void next_to_nothing_is_said_so(void)
{
    char unit[] = "1/s";
    struct an_cell cells[] = {
        { .mean = 0.766, .difference = (double)NAN, .verdict = AN_BASELINE },
        { .mean = 0.766037,
          .difference = 3.7e-5,
          .difference_low = -4.2e-5,
          .difference_high = 1.2e-4 },
    };
    const struct an_metric_row row = { .unit = unit, .cells = cells };
    CHECK_STR(an_change_of(&row, 0, 1).plain, "hardly any");
    CHECK_STR(an_change_of(&row, 0, 1).relative, "less than 0.1 %");
    cells[1].difference_high = 0.1;
    CHECK(strchr(an_change_of(&row, 0, 1).relative, '[') != NULL);
}

static void check_difference(double base, double variant, const char *expected)
{
    char *text = print_means(base, variant);
    CHECK(strstr(text, expected) != NULL);
    free(text);
}

static void a_difference_has_the_sign_of_the_change(void)
{
    check_difference(8, 10, " +25.0 %");
    check_difference(8, 6, " -25.0 %");
    check_difference(-8, -6, " +25.0 %");
    check_difference(-8, -10, " -25.0 %");
    check_difference(0, 3, " +3 "); /* there is no percent of nothing */
}

static const struct test tests[] = {
    { "next to nothing is said so", next_to_nothing_is_said_so },
    { "shares differ by points", shares_differ_by_points },
    { "a difference has the sign of the change", a_difference_has_the_sign_of_the_change },
};
TEST_MAIN(tests)
