/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of what was varied one value at a time; see the header. */
#include "sim/cli/ask/tornado.h"

#include "analysis/text.h"
#include "analysis/tornado.h"
#include "sim/cli/ask/compare_print.h"

#include <stdlib.h>

static const struct sim_column columns[] = {
    { "metric", "metric", NULL, false, false },
    { "what is changed", "path", NULL, false, false },
    { "from", "from", NULL, true, false },
    { "to", "to", NULL, true, false },
    { "mean, 95 % interval", "mean", NULL, false, false },
    { "difference", "difference", NULL, false, false },
    { "verdict", "verdict", NULL, false, false },
};

static const struct sim_column program_columns[] = {
    { "metric", "metric", NULL, false, false },
    { "path", "path", NULL, false, false },
    { "from", "from", NULL, true, false },
    { "to", "to", NULL, true, false },
    { "mean", "mean", NULL, true, true },
    { "difference", "difference", NULL, true, true },
    { "difference_low", "difference_low", NULL, true, true },
    { "difference_high", "difference_high", NULL, true, true },
    { "p_holm", "p_holm", NULL, true, true },
};

static bool is_for_people(enum sim_format format)
{
    return sim_format_is_text(format) || format == SIM_FORMAT_LATEX;
}

static void add_judged(struct sim_table *table, const struct an_comparison *comparison,
                       const struct an_metric_row *row, size_t variant)
{
    char mean[SIM_COMPARE_CELL];
    char verdict[SIM_COMPARE_CELL];
    const struct an_change change = an_change_of(row, comparison->baseline, variant);
    sim_compare_mean(row, &row->cells[variant], mean);
    sim_compare_verdict(&row->cells[variant], verdict);
    sim_table_add(table, mean);
    sim_table_add(table, change.relative[0] == '\0' ? change.plain : change.relative);
    sim_table_add(table, verdict);
}

/* People are not shown all digits of a number. */
static void add_value(struct sim_table *table, const char *text, enum sim_format format)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    if (is_for_people(format) && end != text && *end == '\0')
        sim_table_addf(table, "%.6g", value);
    else
        sim_table_add(table, text);
}

static void add_bar(struct sim_table *table, const struct an_tornado_bar *bar,
                    const struct an_comparison *comparison, const struct an_metric_row *row,
                    enum sim_format format)
{
    for (size_t i = 0; i < bar->count; i++) {
        const struct an_cell *cell = &row->cells[bar->variants[i]];
        const double figures[] = { cell->mean, cell->difference, cell->difference_low,
                                   cell->difference_high, cell->p_value };
        sim_table_add(table, is_for_people(format) ? row->label : row->metric);
        sim_table_add(table, bar->axis->path);
        add_value(table, bar->axis->text[0], format);
        add_value(table, bar->axis->text[bar->points[i]], format);
        if (is_for_people(format))
            add_judged(table, comparison, row, bar->variants[i]);
        else
            sim_table_add_numbers(table, format, figures, sizeof figures / sizeof figures[0]);
    }
}

static void print_most(const struct an_tornado *tornado, const struct an_comparison *comparison,
                       const struct an_metric_row *row)
{
    struct an_claim claim;
    an_tornado_claim(tornado, comparison, row, &claim);
    if (claim.text[0] != '\0')
        printf("%s.\n", claim.text);
}

static void print_all(const struct an_points *points, const struct an_comparison *comparison,
                      size_t rows, enum sim_format format)
{
    struct sim_table *table =
        is_for_people(format)
            ? sim_table_create(columns, sizeof columns / sizeof columns[0])
            : sim_table_create(program_columns, sizeof program_columns / sizeof program_columns[0]);
    struct an_tornado tornado;
    for (size_t r = 0; r < rows; r++) {
        an_tornado_make(points, comparison, &comparison->rows[r], &tornado);
        for (size_t b = 0; b < tornado.count; b++)
            add_bar(table, &tornado.bars[b], comparison, &comparison->rows[r], format);
    }
    sim_table_print(table, format, stdout);
    sim_table_destroy(table);
    if (!sim_format_is_text(format))
        return;
    for (size_t r = 0; r < rows; r++) {
        an_tornado_make(points, comparison, &comparison->rows[r], &tornado);
        print_most(&tornado, comparison, &comparison->rows[r]);
    }
    printf("One value at a time, the widest first; %u paired replication%s, Holm over all "
           "changes.\n",
           comparison->rows[0].cells[comparison->baseline].n,
           comparison->rows[0].cells[comparison->baseline].n == 1 ? "" : "s");
    if (comparison->left_out[0] != '\0')
        printf("Lost: %s\n", comparison->left_out);
}

weir_status sim_tornado_print(struct an_db *db, const struct an_points *points,
                              const struct an_compare_options *query, enum sim_format format,
                              struct weir_error *error)
{
    struct an_comparison *comparison = NULL;
    WEIR_TRY(an_points_compare(db, points, 0, query, &comparison, error));
    weir_status status = WEIR_OK;
    if (comparison == NULL || comparison->row_count == 0)
        status = weir_fail(error, WEIR_EINVAL, "not comparable: the runs have no results");
    else
        print_all(points, comparison, query->metric_count > 0 ? comparison->row_count : 1, format);
    an_comparison_destroy(comparison);
    return status;
}
