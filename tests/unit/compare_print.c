/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison on paper: differences in percent of the baseline, whatever its sign. */
#include "sim/cli/compare_print.h"
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
    { "a difference has the sign of the change", a_difference_has_the_sign_of_the_change },
};
TEST_MAIN(tests)
