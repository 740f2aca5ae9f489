/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A comparison on paper and for programs; see the header. People get the goal and at most six rows,
 * programs all; the marks never stand for colour alone.
 */
#include "sim/cli/ask/compare_print.h"

#include "sim/cli/ask/compare_two.h"

#include "weir/version.h"

#include <math.h>
#include <string.h>

enum { CELL = SIM_COMPARE_CELL };

/* ---- for people ---- */

static void add(char text[CELL], const char *more)
{
    const size_t used = strlen(text);
    (void)snprintf(text + used, CELL - used, "%s", more);
}

void sim_compare_mean(const struct an_metric_row *row, const struct an_cell *cell,
                      char text[SIM_COMPARE_CELL])
{
    (void)snprintf(text, CELL, "%s", an_mean_of(row, cell).text);
    add(text, cell->is_best ? " ✓" : cell->is_tied_with_best ? " ≈" : "");
}

/* "worse p=0.003". */
void sim_compare_verdict(const struct an_cell *cell, char text[SIM_COMPARE_CELL])
{
    const bool is_judged = cell->verdict == AN_BASELINE || cell->verdict == AN_ENDED_EARLY ||
                           cell->verdict == AN_OPEN || !isnan(cell->difference);
    char more[40] = "";
    if (cell->p_value < 0.001)
        (void)snprintf(more, sizeof more, " p<0.001");
    else if (!isnan(cell->p_value))
        (void)snprintf(more, sizeof more, " p=%.3f", cell->p_value);
    (void)snprintf(text, CELL, "%s", is_judged ? an_verdict_word(cell->verdict) : "-");
    add(text, more);
}

static const struct sim_column paper_columns[] = {
    { "metric", "metric", NULL, false, false },
    { "variant", "variant", NULL, false, false },
    { "mean, 95 % interval", "mean", NULL, false, false },
    { "difference", "difference", NULL, false, false },
    { "relative", "relative", NULL, false, false },
    { "verdict", "verdict", NULL, false, false },
};

static void paper_rows(struct sim_table *table, const struct an_comparison *comparison,
                       const struct an_metric_row *row, bool is_dense)
{
    for (size_t v = 0; v < comparison->variant_count; v++) {
        char mean[CELL];
        char verdict[CELL];
        struct an_change change = an_change_of(row, comparison->baseline, v);
        if (row->cells[v].verdict == AN_DETERMINISTIC_TIE)
            change = (struct an_change){ "", "" };
        const bool is_named = v == 0 || is_dense;
        sim_compare_mean(row, &row->cells[v], mean);
        sim_compare_verdict(&row->cells[v], verdict);
        const char *const cells[] = { is_named ? row->label : "",
                                      comparison->variants[v],
                                      mean,
                                      change.plain,
                                      change.relative,
                                      verdict };
        sim_table_row(table, cells);
    }
}

static void print_method(const struct an_comparison *comparison, enum sim_format format, FILE *out)
{
    if (comparison->row_count == 0)
        return;
    const uint32_t n = comparison->rows[0].cells[0].n;
    if (n < 2)
        (void)fputs("1 replication: no statement about chance. ", out);
    else
        sim_table_say(format, out, "%u paired replications (same seeds)%s%s. ", n,
                      comparison->varies[0] == '\0' ? "" : "; what varies: ", comparison->varies);
    (void)fputs("✓ best, ≈ not distinguishable from the best (paired t, Holm, alpha .05); no "
                "interval: all replications agree.\n",
                out);
    const struct an_signs signs = an_signs_of(comparison);
    if (signs.has_bounds)
        (void)fputs("≥ at least: what was unfinished when the run ended reaches into it.\n", out);
    if (signs.has_partials)
        (void)fputs(
            "so far: the mean of what was over when the run ended; more than 5 % was not, so "
            "that the mean of all may be more or less. It is compared with nothing.\n",
            out);
    if (comparison->shown < comparison->row_count)
        (void)fprintf(out, "%zu more measure%s: --format json, csv, or --metric.\n",
                      comparison->row_count - comparison->shown,
                      comparison->row_count - comparison->shown == 1 ? "" : "s");
    if (comparison->goal[0] != '\0')
        sim_table_say(format, out, "Goal: %s.\n", comparison->goal);
    if (comparison->audit[0] != '\0')
        sim_table_say(format, out, "%s\n", comparison->audit);
}

static void print_paper(const struct an_comparison *comparison, enum sim_format format, FILE *out)
{
    const size_t columns = sizeof paper_columns / sizeof paper_columns[0];
    struct sim_table *table = sim_table_create(paper_columns, columns);
    for (size_t i = 0; i < comparison->shown; i++)
        paper_rows(table, comparison, &comparison->rows[i], format == SIM_FORMAT_MD);
    sim_table_print(table, format, out);
    sim_table_destroy(table);
    if (format == SIM_FORMAT_MD)
        (void)fputc('\n', out);
    sim_table_remarks(format, true, out);
    print_method(comparison, format, out);
    if (format == SIM_FORMAT_MD)
        (void)fputc('\n', out);
    if (comparison->left_out[0] != '\0')
        sim_table_say(format, out, "%s\n", comparison->left_out);
    sim_table_say(format, out, "Verdict: %s.\n", comparison->finding);
    sim_table_remarks(format, false, out);
}

/* ---- for programs ---- */

static void json_cell(struct sim_json *json, const struct an_comparison *comparison,
                      const struct an_cell *cell, size_t variant)
{
    sim_json_begin_object(json);
    sim_json_string(sim_json_key(json, "variant"), comparison->variants[variant]);
    const struct {
        const char *key;
        double value;
    } numbers[] = {
        { "mean", cell->mean },
        { "half_width", cell->half_width },
        { "low", cell->low },
        { "high", cell->high },
        { "difference", cell->difference },
        { "difference_low", cell->difference_low },
        { "difference_high", cell->difference_high },
        { "p_value", cell->p_value },
        { "sign_p_value", cell->sign_p_value },
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        sim_json_number(sim_json_key(json, numbers[i].key), numbers[i].value);
    }
    sim_json_unsigned(sim_json_key(json, "n"), cell->n);
    const struct {
        const char *key;
        bool value;
    } flags[] = { { "is_deterministic", cell->is_deterministic },
                  { "is_lower_bound", cell->is_lower_bound },
                  { "is_partial", cell->is_partial },
                  { "is_best", cell->is_best },
                  { "is_tied_with_best", cell->is_tied_with_best } };
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        sim_json_flag(sim_json_key(json, flags[i].key), flags[i].value);
    }
    sim_json_string(sim_json_key(json, "verdict"), an_verdict_text(cell->verdict));
    sim_json_end_object(json);
}

static void json_row(struct sim_json *json, const struct an_comparison *comparison,
                     const struct an_metric_row *row)
{
    sim_json_begin_object(json);
    sim_json_string(sim_json_key(json, "metric"), row->metric);
    sim_json_string(sim_json_key(json, "label"), row->label);
    sim_json_string(sim_json_key(json, "unit"), row->unit);
    sim_json_string(sim_json_key(json, "better"), row->better > 0   ? "more"
                                                  : row->better < 0 ? "less"
                                                                    : "neither");
    sim_json_begin_array(sim_json_key(json, "variants"));
    for (size_t v = 0; v < comparison->variant_count; v++)
        json_cell(json, comparison, &row->cells[v], v);
    sim_json_end_array(json);
    sim_json_end_object(json);
}

/* Which variants ended early, and whether that is a failed check. */
static void json_early(struct sim_json *json, const struct an_comparison *comparison)
{
    sim_json_begin_array(json);
    for (size_t v = 0; v < comparison->variant_count; v++) {
        const struct an_early *early = &comparison->early[v];
        if (early->sentence == NULL)
            continue;
        sim_json_begin_object(json);
        sim_json_string(sim_json_key(json, "variant"), comparison->variants[v]);
        sim_json_unsigned(sim_json_key(json, "runs"), early->runs);
        sim_json_flag(sim_json_key(json, "is_unexpected"), early->is_unexpected);
        sim_json_string(sim_json_key(json, "sentence"), early->sentence);
        sim_json_end_object(json);
    }
    sim_json_end_array(json);
}

void sim_compare_json(struct sim_json *json, const struct an_comparison *comparison)
{
    sim_json_string(sim_json_key(json, "baseline"), comparison->variants[comparison->baseline]);
    sim_json_string(sim_json_key(json, "varies"), comparison->varies);
    if (comparison->audit[0] != '\0')
        sim_json_string(sim_json_key(json, "audit"), comparison->audit);
    sim_json_string(sim_json_key(json, "goal"), comparison->goal);
    sim_json_string(sim_json_key(json, "finding"), comparison->finding);
    (void)sim_json_key(json, "ended_early");
    json_early(json, comparison);
    sim_json_string(sim_json_key(json, "left_out"), comparison->left_out);
    sim_json_begin_array(sim_json_key(json, "metrics"));
    for (size_t i = 0; i < comparison->row_count; i++)
        json_row(json, comparison, &comparison->rows[i]);
    sim_json_end_array(json);
}

static void json_error(struct sim_json *json, const struct sim_compare_error *error)
{
    const struct an_observed_error *judged = &error->judged;
    sim_json_begin_object(json);
    sim_json_string(sim_json_key(json, "metric"), judged->curve->metric->name);
    sim_json_string(sim_json_key(json, "stage"), judged->curve->stage);
    sim_json_string(sim_json_key(json, "unit"), judged->curve->metric->unit);
    sim_json_string(sim_json_key(json, "variant"), error->variant);
    sim_json_unsigned(sim_json_key(json, "points"), judged->points);
    sim_json_number(sim_json_key(json, "measured"), judged->measured);
    sim_json_number(sim_json_key(json, "simulated"), judged->found);
    sim_json_number(sim_json_key(json, "error"), judged->error);
    sim_json_string(sim_json_key(json, "sentence"), judged->text);
    sim_json_end_object(json);
}

static void json_errors(struct sim_json *json, const struct sim_compare_more *more)
{
    sim_json_begin_array(sim_json_key(json, "observed"));
    for (size_t i = 0; i < more->error_count; i++)
        json_error(json, &more->errors[i]);
    sim_json_end_array(json);
}

static void print_errors(const struct sim_compare_more *more, enum sim_format format, FILE *out)
{
    if (more->error_count > 0)
        (void)fputs("\nmeasured beside simulated\n", out);
    for (size_t i = 0; i < more->error_count; i++)
        sim_table_say(format, out, "%s: %s\n", more->errors[i].variant,
                      more->errors[i].judged.text[0] == '\0' ? "no point lies within the run"
                                                             : more->errors[i].judged.text);
}

static void print_json(const struct an_comparison *comparison, const struct sim_compare_more *more,
                       FILE *out)
{
    struct sim_json json = { .out = out };
    sim_json_begin_object(&json);
    sim_json_integer(sim_json_key(&json, "schema"), 1);
    sim_json_string(sim_json_key(&json, "version"), WEIR_VERSION);
    sim_compare_json(&json, comparison);
    if (more != NULL && more->change != NULL)
        sim_change_write_json(more->change, sim_json_key(&json, "change"));
    if (more != NULL && more->error_count > 0)
        json_errors(&json, more);
    sim_json_end_object(&json);
    (void)fputc('\n', out);
}

const struct sim_column sim_compare_columns[SIM_COMPARE_COLUMNS] = {
    { "metric", "metric", NULL, false, false },
    { "unit", "unit", NULL, false, false },
    { "variant", "variant", NULL, false, false },
    { "n", "n", NULL, true, true },
    { "mean", "mean", NULL, true, true },
    { "half width", "half_width", NULL, true, true },
    { "difference", "difference", NULL, true, true },
    { "low", "difference_low", NULL, true, true },
    { "high", "difference_high", NULL, true, true },
    { "p", "p_value", NULL, true, true },
    { "sign p", "sign_p_value", NULL, true, true },
    { "lower bound", "is_lower_bound", NULL, true, true },
    { "so far", "is_partial", NULL, true, true },
    { "verdict", "verdict", NULL, false, false },
};

void sim_compare_cells(struct sim_table *table, const struct an_metric_row *row,
                       const struct an_cell *cell, const char *variant)
{
    const double values[] = { (double)cell->n,  cell->mean,           cell->half_width,
                              cell->difference, cell->difference_low, cell->difference_high,
                              cell->p_value,    cell->sign_p_value };
    sim_table_add(table, row->metric);
    sim_table_add(table, row->unit);
    sim_table_add(table, variant);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[32] = "";
        if (isfinite(values[i]))
            sim_json_number_text(values[i], text, sizeof text);
        sim_table_add(table, text);
    }
    sim_table_add(table, cell->is_lower_bound ? "1" : "0");
    sim_table_add(table, cell->is_partial ? "1" : "0");
    sim_table_add(table, an_verdict_text(cell->verdict));
}

static void print_csv(const struct an_comparison *comparison, FILE *out)
{
    struct sim_table *table = sim_table_create(sim_compare_columns, SIM_COMPARE_COLUMNS);
    for (size_t i = 0; i < comparison->row_count; i++)
        for (size_t v = 0; v < comparison->variant_count; v++)
            sim_compare_cells(table, &comparison->rows[i], &comparison->rows[i].cells[v],
                              comparison->variants[v]);
    sim_table_print(table, SIM_FORMAT_CSV, out);
    sim_table_destroy(table);
}

void sim_compare_print(const struct an_comparison *comparison, const struct sim_compare_more *more,
                       enum sim_format format, FILE *out)
{
    if (format == SIM_FORMAT_JSON)
        print_json(comparison, more, out);
    else if (format == SIM_FORMAT_CSV)
        print_csv(comparison, out);
    else
        print_paper(comparison, format, out);
    if (more != NULL && more->change != NULL && format != SIM_FORMAT_JSON)
        sim_change_print(more->change, format, out);
    if (more != NULL && format != SIM_FORMAT_JSON)
        print_errors(more, format, format == SIM_FORMAT_CSV ? stderr : out);
}
