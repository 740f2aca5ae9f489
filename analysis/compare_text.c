/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Figures of a comparison in words, the same for the page and the command line: means with their
 * intervals, differences in points or units, changes in percent of the baseline. And the end of
 * one.
 */
#include "analysis/analysis.h"
#include "analysis/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Half widths claim two digits, not three. */
static double two_digits(double value)
{
    if (!(fabs(value) > 0.0))
        return value;
    const double power = pow(10.0, floor(log10(fabs(value))) - 1.0);
    return round(value / power) * power;
}

const char *an_verdict_text(enum an_verdict verdict)
{
    switch (verdict) {
    case AN_BASELINE:
        return "baseline";
    case AN_BETTER:
    case AN_DETERMINISTIC_BETTER:
        return "better";
    case AN_WORSE:
    case AN_DETERMINISTIC_WORSE:
        return "worse";
    case AN_TIE:
    case AN_DETERMINISTIC_TIE:
        return "tie";
    case AN_ENDED_EARLY:
        return "ended early";
    case AN_OPEN:
        return "open";
    case AN_ONE_RUN:
        return "one run";
    case AN_NEUTRAL:
        break;
    }
    return "neutral";
}

const char *an_verdict_word(enum an_verdict verdict)
{
    return verdict == AN_DETERMINISTIC_TIE ? "no difference" : an_verdict_text(verdict);
}

struct an_mean_text an_mean_of(const struct an_metric_row *row, const struct an_cell *cell)
{
    struct an_mean_text mean;
    char interval[72] = "";
    const double scale = strcmp(row->unit, "ratio") == 0 ? 100.0 : 1.0;
    const bool is_cut = cell->low > cell->mean - cell->half_width;
    char value[48];
    if (row->is_share)
        (void)snprintf(value, sizeof value, "%.*f %%", fabs(scale * cell->mean) < 9.95 ? 2 : 1,
                       scale * cell->mean);
    else
        (void)snprintf(value, sizeof value, "%s", an_word_value(cell->mean, row->unit).text);
    if (isnan(cell->mean))
        (void)snprintf(value, sizeof value, "-");
    if (!isnan(cell->half_width) && is_cut)
        (void)snprintf(interval, sizeof interval, " [0, %.40s]",
                       an_word_value(two_digits(cell->high), row->unit).text);
    else if (!isnan(cell->half_width))
        (void)snprintf(interval, sizeof interval, " ± %.40s",
                       an_word_value(two_digits(cell->half_width), row->unit).text);
    else if (row->is_share && !isnan(cell->low))
        (void)snprintf(interval, sizeof interval, " [%.1f, %.1f]", scale * cell->low,
                       scale * cell->high);
    (void)snprintf(mean.text, sizeof mean.text, "%s%.40s%s%s%s%s", cell->is_lower_bound ? "≥ " : "",
                   value, interval, cell->in_all[0] == '\0' ? "" : " ", cell->in_all,
                   cell->is_partial ? " so far" : "");
    return mean;
}

struct an_signs an_signs_of(const struct an_comparison *comparison)
{
    struct an_signs signs = { false, false };
    for (size_t i = 0; i < comparison->shown; i++)
        for (size_t v = 0; v < comparison->variant_count; v++) {
            signs.has_bounds = signs.has_bounds || comparison->rows[i].cells[v].is_lower_bound;
            signs.has_partials = signs.has_partials || comparison->rows[i].cells[v].is_partial;
        }
    return signs;
}

static void signed_value(char *text, size_t capacity, double value, const struct an_metric_row *row)
{
    const bool is_ratio = strcmp(row->unit, "ratio") == 0;
    if (row->is_share)
        (void)snprintf(text, capacity, "%+.2f", is_ratio ? 100.0 * value : value);
    else
        (void)snprintf(text, capacity, "%s%.40s", value > 0.0 ? "+" : "",
                       an_word_value(value, row->unit).text);
}

/* What rounds to nothing is little, and not nothing. */
static void relative_text(char *text, size_t capacity, double percent)
{
    if (fabs(percent) > 0.0 && fabs(percent) < 0.05)
        (void)snprintf(text, capacity, "less than 0.1 %% %s", percent > 0.0 ? "more" : "less");
    else if (percent >= 900.0)
        (void)snprintf(text, capacity, "%sx", an_word_number(1.0 + percent / 100.0).text);
    else
        (void)snprintf(text, capacity, "%+.1f %%", percent);
}

struct an_change an_change_of(const struct an_metric_row *row, size_t baseline, size_t variant)
{
    const struct an_cell *cell = &row->cells[variant];
    const double base = row->cells[baseline].mean;
    struct an_change change = { "", "" };
    char value[44];
    char low[44];
    char high[44];
    if (variant == baseline || isnan(cell->difference))
        return change;
    signed_value(value, sizeof value, cell->difference, row);
    signed_value(low, sizeof low, cell->difference_low, row);
    signed_value(high, sizeof high, cell->difference_high, row);
    const char *unit = row->is_share ? " points" : "";
    const double points = strcmp(row->unit, "ratio") == 0 ? 100.0 : 1.0;
    if (isnan(cell->difference_low) && row->is_share && fabs(points * cell->difference) < 0.005 &&
        fabs(cell->difference) > 0.0)
        (void)snprintf(change.plain, sizeof change.plain, "less than 0.01 points %s",
                       cell->difference > 0.0 ? "more" : "less");
    else if (isnan(cell->difference_low))
        (void)snprintf(change.plain, sizeof change.plain, "%.30s%s", value, unit);
    else
        (void)snprintf(change.plain, sizeof change.plain, "%.24s [%.24s, %.24s]%s", value, low,
                       high, unit);
    if (!(fabs(base) > 0.0) || strcmp(row->unit, "pp") == 0)
        return change;
    const double scale = 100.0 / fabs(base);
    const double most = fmax(fabs(cell->difference_low), fabs(cell->difference_high));
    if (!row->is_share && !isnan(cell->difference_low) && scale * most < 0.05) {
        (void)snprintf(change.plain, sizeof change.plain, "hardly any");
        (void)snprintf(change.relative, sizeof change.relative, "less than 0.1 %%");
        return change;
    }
    if (isnan(cell->difference_low) || scale * cell->difference >= 900.0)
        relative_text(change.relative, sizeof change.relative, scale * cell->difference);
    else
        (void)snprintf(change.relative, sizeof change.relative, "%+.1f %% [%+.1f, %+.1f]",
                       scale * cell->difference, scale * cell->difference_low,
                       scale * cell->difference_high);
    return change;
}

const struct an_metric_row *an_comparison_row(const struct an_comparison *comparison,
                                              const char *metric)
{
    for (size_t i = 0; comparison != NULL && i < comparison->row_count; i++)
        if (strcmp(comparison->rows[i].metric, metric) == 0)
            return &comparison->rows[i];
    return NULL;
}

void an_comparison_destroy(struct an_comparison *comparison)
{
    if (comparison == NULL)
        return;
    for (size_t i = 0; i < comparison->variant_count; i++) {
        free(comparison->variants[i]);
        if (comparison->early != NULL)
            free(comparison->early[i].sentence);
        if (comparison->missed != NULL)
            free(comparison->missed[i]);
    }
    free(comparison->missed);
    free(comparison->goal);
    free(comparison->variants);
    free(comparison->early);
    free(comparison->left_out);
    for (size_t i = 0; i < comparison->row_count; i++) {
        free(comparison->rows[i].metric);
        free(comparison->rows[i].label);
        free(comparison->rows[i].unit);
        free(comparison->rows[i].title);
        free(comparison->rows[i].cells);
    }
    free(comparison->rows);
    free(comparison->contest);
    free(comparison->finding);
    free(comparison->varies);
    free(comparison->audit);
    free(comparison);
}
