/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart axis: the measure of the goal, and the one next to it, over the first axis of an experiment
 * that has any: a line a variant and combination of the other axes, with a band of 95 % where
 * there are replications.
 */
#include "analysis/chart/gnuplot.h"
#include "analysis/goal.h"
#include "analysis/nan.h"
#include "analysis/plots/plots.h"
#include "analysis/plots/rows.h"
#include "analysis/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PANELS = 2, MOST_LINES = 8 };

/* A line of the chart: variants that differ in the first axis alone. */
struct line {
    size_t first; /* its variant at the first point it has */
    char name[64];
};

struct sheet {
    const struct an_points *points;
    size_t axis; /* that goes to the right */
    struct line lines[MOST_LINES];
    size_t count, left_out;
    struct an_metric_row *rows[MOST_PANELS]; /* by panel: names and units, of the first point */
    size_t panels;
    struct an_cell (*cells)[MOST_PANELS]; /* by variant of the experiment */
    double low, high;                     /* of x */
    struct an_goal goal;                  /* its conditions are lines */
};

/* ---- lines ---- */

static bool is_same_line(const struct sheet *sheet, size_t a, size_t b)
{
    return an_points_is_same_line(sheet->points, sheet->axis, a, b);
}

static void find_lines(struct sheet *sheet)
{
    for (size_t v = 0; v < sheet->points->variant_count; v++) {
        size_t l = 0;
        while (l < sheet->count && !is_same_line(sheet, sheet->lines[l].first, v))
            l++;
        if (l < sheet->count)
            continue;
        if (sheet->count == MOST_LINES) {
            sheet->left_out++;
            continue;
        }
        struct line *line = &sheet->lines[sheet->count++];
        line->first = v;
        an_points_name_line(sheet->points, sheet->axis, v, line->name, sizeof line->name);
    }
}

/* ---- values ---- */

/* Of text: its place among the values, in their order. */
static double x_of(const struct sheet *sheet, size_t variant)
{
    const struct an_axis *axis = &sheet->points->axes[sheet->axis];
    double place = 0;
    if (axis->is_number)
        return axis->value[variant];
    for (size_t v = 0; v < variant; v++) {
        bool is_new = true;
        for (size_t k = 0; k < v; k++)
            is_new = is_new && strcmp(axis->text[k], axis->text[v]) != 0;
        if (strcmp(axis->text[v], axis->text[variant]) == 0)
            return place;
        place += is_new ? 1 : 0;
    }
    return place;
}

static void take_variant(struct sheet *sheet, const struct an_comparison *comparison,
                         size_t variant)
{
    for (size_t i = 0; i < sheet->panels; i++) {
        const struct an_metric_row *row = an_comparison_row(comparison, sheet->rows[i]->metric);
        if (row != NULL)
            sheet->cells[variant][i] = row->cells[0];
    }
}

/* Means and intervals, no differences: a variant by itself. The first one that was run is kept for
 * the names of the measures. */
static weir_status read_variants(struct an_chart *chart, struct sheet *sheet,
                                 struct an_comparison **first, struct weir_error *error)
{
    for (size_t v = 0; v < sheet->points->variant_count; v++) {
        struct an_comparison *comparison = NULL;
        struct weir_error why = { .phase = -1, .pool = -1 };
        const struct an_compare_options query = { .is_short = true };
        const weir_status status =
            an_points_alone(chart->keeper.db, sheet->points, v, &query, &comparison, &why);
        if (status != WEIR_OK && status != WEIR_EINVAL)
            return weir_fail(error, status, "%s", why.text);
        if (comparison == NULL) /* nothing was run there */
            continue;
        if (*first == NULL) {
            *first = comparison;
            sheet->panels = comparison->shown < MOST_PANELS ? comparison->shown : MOST_PANELS;
            for (size_t i = 0; i < sheet->panels; i++)
                sheet->rows[i] = &comparison->rows[i];
        }
        take_variant(sheet, comparison, v);
        if (*first != comparison)
            an_comparison_destroy(comparison);
    }
    return WEIR_OK;
}

/* ---- drawing ---- */

/* What a panel's values are multiplied by, and what they are in then. */
static double scale_of(const struct sheet *sheet, size_t panel, const char **unit)
{
    const struct an_metric_row *row = sheet->rows[panel];
    double most = 0;
    *unit = strcmp(row->unit, "ratio") == 0 ? "%" : strcmp(row->unit, "1") == 0 ? "" : row->unit;
    for (size_t v = 0; v < sheet->points->variant_count; v++)
        most = fmax(most, fmax(sheet->cells[v][panel].mean, sheet->cells[v][panel].high));
    return strcmp(row->unit, "ratio") == 0 ? 100.0
           : strcmp(row->unit, "s") == 0   ? 1.0 / an_time_unit(most, unit)
                                           : 1.0;
}

/* Blocks of all lines of a panel; the largest value. */
static double write_lines(struct an_chart *chart, const struct sheet *sheet, size_t panel,
                          const char *title, double scale, size_t blocks[MOST_LINES])
{
    double top = 0;
    for (size_t l = 0; l < sheet->count; l++) {
        const char *line = sheet->lines[l].name;
        char name[192];
        (void)snprintf(name, sizeof name, "%s%s%s", title, line[0] == '\0' ? "" : ", ", line);
        blocks[l] = an_chart_block(chart, name, "x mean low high value");
        for (size_t v = 0; v < sheet->points->variant_count; v++) {
            const struct an_cell *cell = &sheet->cells[v][panel];
            if (!is_same_line(sheet, sheet->lines[l].first, v) || isnan(cell->mean))
                continue;
            const double low = isnan(cell->low) ? cell->mean : cell->low;
            const double high = isnan(cell->high) ? cell->mean : cell->high;
            (void)fprintf(chart->data, "%.9g %.9g %.9g %.9g ", x_of(sheet, v), scale * cell->mean,
                          scale * low, scale * high);
            an_chart_cell(chart, sheet->points->axes[sheet->axis].text[v]);
            (void)fputc('\n', chart->data);
            top = fmax(top, scale * fmax(cell->mean, high));
        }
    }
    return an_axis_top(top);
}

/* Between ticks: of what is counted, nodes for one, no less than one. */
static double x_step(const struct sheet *sheet)
{
    const double step = an_axis_step(sheet->high - sheet->low, 6.0);
    for (size_t v = 0; v < sheet->points->variant_count; v++)
        if (fabs(x_of(sheet, v) - round(x_of(sheet, v))) > 0.0)
            return step;
    return fmax(step, 1.0);
}

static void write_x_axis(struct an_chart *chart, const struct sheet *sheet)
{
    const struct an_axis *axis = &sheet->points->axes[sheet->axis];
    const double margin = 0.03 * fmax(sheet->high - sheet->low, 1e-9);
    (void)fprintf(chart->body, "unset logscale x; set xrange [%.9g:%.9g]\n", sheet->low - margin,
                  sheet->high + margin);
    if (axis->is_number) {
        (void)fprintf(chart->body, "set xtics %.9g format '%%g'\n", x_step(sheet));
        return;
    }
    const char *gap = "set xtics (";
    for (size_t v = 0; v < sheet->points->variant_count; v++) {
        if (!is_same_line(sheet, sheet->lines[0].first, v))
            continue;
        (void)fprintf(chart->body, "%s", gap);
        an_gnuplot_quote_tick(chart->body, an_chart_word(chart, axis->text[v], 14).text);
        (void)fprintf(chart->body, " %.9g", x_of(sheet, v));
        gap = ", ";
    }
    (void)fputs(") noenhanced\n", chart->body);
}

/* What a panel's measure has to keep; NULL = nothing, or so much that all else would be flat. */
static const struct an_condition *condition_of(const struct sheet *sheet, size_t panel, double most)
{
    for (size_t i = 0; i < sheet->goal.condition_count; i++) {
        const struct an_condition *condition = &sheet->goal.conditions[i];
        if (strcmp(condition->metric, sheet->rows[panel]->metric) == 0 && condition->bound > 0.0 &&
            condition->bound < most)
            return condition;
    }
    return NULL;
}

/* How near the points of a panel come to a value, where words at an end of the axis are. */
static double gap_near(const struct sheet *sheet, size_t panel, double end, double value)
{
    const double width = 0.2 * (sheet->high - sheet->low);
    double gap = AN_INFINITY;
    for (size_t v = 0; v < sheet->points->variant_count; v++) {
        const double mean = sheet->cells[v][panel].mean;
        if (!isnan(mean) && fabs(x_of(sheet, v) - end) <= width)
            gap = fmin(gap, fabs(mean - value));
    }
    return gap;
}

/* Dashed, with its words above it, at the end where there is more room. */
static void draw_condition(struct an_chart *chart, const struct sheet *sheet, size_t panel,
                           const struct an_condition *condition, const struct an_box *box,
                           double share)
{
    const struct an_metric_row *row = sheet->rows[panel];
    const bool is_left = gap_near(sheet, panel, sheet->low, condition->bound) >
                         gap_near(sheet, panel, sheet->high, condition->bound);
    const struct an_label label = { .x = is_left ? box->x0 + 6.0 : box->x1,
                                    .y = box->y1 - share * (box->y1 - box->y0) - 9.0,
                                    .size = 11.5,
                                    .align = is_left ? 'l' : 'r' };
    an_chart_text(chart, &label, "%s %s %s", row->label, condition->op,
                  an_word_value(condition->bound, row->unit).text);
    (void)fprintf(chart->body,
                  "set arrow from graph 0, graph %.9g to graph 1, graph %.9g nohead "
                  "dt (6,3) lw 1.4 lc rgb '" AN_INK "' front\n",
                  share, share);
}

static void draw_panel(struct an_chart *chart, const struct sheet *sheet, size_t panel,
                       const struct an_box *box)
{
    size_t blocks[MOST_LINES] = { 0 };
    const struct an_metric_row *row = sheet->rows[panel];
    const char *unit = NULL;
    const double scale = scale_of(sheet, panel, &unit);
    char title[96];
    (void)snprintf(title, sizeof title, "%s%s%s%s", row->label, unit[0] == '\0' ? "" : " (", unit,
                   unit[0] == '\0' ? "" : ")");
    double top = write_lines(chart, sheet, panel, title, scale, blocks);
    const struct an_condition *condition = condition_of(sheet, panel, 3.0 * top / scale);
    if (condition != NULL)
        top = fmax(top, an_axis_top(scale * condition->bound));
    an_chart_panel(chart, box);
    if (condition != NULL)
        draw_condition(chart, sheet, panel, condition, box, scale * condition->bound / top);
    const struct an_label place = { .x = box->x0, .y = box->y0 - 14.0, .is_bold = true };
    an_chart_text(chart, &place, "%s", title);
    const struct an_label below = {
        .x = 0.5 * (box->x0 + box->x1), .y = box->y1 + 32.0, .color = AN_MUTED, .align = 'c'
    };
    an_chart_text(chart, &below, "%s", sheet->points->axes[sheet->axis].path);
    write_x_axis(chart, sheet);
    (void)fprintf(chart->body, "set yrange [0:%.9g]; set ytics 0,%.9g format '%%g'\nplot ", top,
                  an_axis_step(top, 4.0));
    for (size_t l = 0; l < sheet->count; l++)
        (void)fprintf(chart->body,
                      "DATA index %zu using 1:3:4 with filledcurves fc rgb '%s' fs transparent "
                      "solid 0.15 noborder, ",
                      blocks[l], an_row_colors[l]);
    for (size_t l = 0; l < sheet->count; l++)
        (void)fprintf(chart->body,
                      "DATA index %zu using 1:2 with linespoints pt 7 ps 0.6 lw 2 lc rgb '%s'%s",
                      blocks[l], an_row_colors[l], l + 1 < sheet->count ? ", " : "\n");
    an_chart_draw_end(chart);
}

/* Values that are not those of all work, for the subtitle. */
static const char *unfinished_text(const struct sheet *sheet)
{
    bool has_bound = false;
    bool has_partial = false;
    for (size_t v = 0; v < sheet->points->variant_count; v++)
        for (size_t i = 0; i < sheet->panels; i++) {
            const struct an_cell *cell = &sheet->cells[v][i];
            has_bound = has_bound || (cell->is_lower_bound && !isnan(cell->mean));
            has_partial = has_partial || (cell->is_partial && !isnan(cell->mean));
        }
    if (has_partial)
        return has_bound ? " · bounds from below, and means without the rest, where not all is done"
                         : " · means without the rest where not all is done";
    return has_bound ? " · lower bounds where jobs are not done" : "";
}

static void claim_ends(struct an_chart *chart, const struct sheet *sheet, size_t from, size_t to)
{
    const struct an_axis *axis = &sheet->points->axes[sheet->axis];
    struct an_claim claim = { .name = NULL };
    an_claim_put_word(&claim, "line", sheet->lines[0].name);
    an_claim_put_word(&claim, "label", sheet->rows[0]->label);
    an_claim_put_word(&claim, "unit", sheet->rows[0]->unit);
    an_claim_put_word(&claim, "axis", axis->name);
    an_claim_put_word(&claim, "from", axis->text[from]);
    an_claim_put_word(&claim, "to", axis->text[to]);
    an_claim_put(&claim, "first", sheet->cells[from][0].mean);
    an_claim_put(&claim, "last", sheet->cells[to][0].mean);
    an_claim_put(&claim, "first_is_bound", sheet->cells[from][0].is_lower_bound);
    an_claim_put(&claim, "last_is_bound", sheet->cells[to][0].is_lower_bound);
    an_claim_put(&claim, "first_is_partial", sheet->cells[from][0].is_partial);
    an_claim_put(&claim, "last_is_partial", sheet->cells[to][0].is_partial);
    an_claim_give("axis.ends", &claim);
    an_chart_title(chart, "%s", claim.text);
}

/* That were run; a search leaves some out. */
static size_t count_points(const struct sheet *sheet)
{
    size_t count = 0;
    for (size_t p = 0; p < sheet->points->point_count; p++) {
        bool has_run = false;
        for (size_t v = 0; v < sheet->points->variant_count; v++)
            has_run = has_run || (sheet->points->point[v] == p && !isnan(sheet->cells[v][0].mean));
        count += has_run ? 1 : 0;
    }
    return count;
}

static void write_texts(struct an_chart *chart, const struct sheet *sheet)
{
    const struct an_axis *axis = &sheet->points->axes[sheet->axis];
    size_t from = sheet->lines[0].first;
    size_t to = SIZE_MAX;
    for (size_t v = sheet->lines[0].first; v < sheet->points->variant_count; v++)
        if (is_same_line(sheet, sheet->lines[0].first, v) && !isnan(sheet->cells[v][0].mean)) {
            from = to == SIZE_MAX ? v : from;
            to = v;
        }
    if (to != SIZE_MAX && to != from)
        claim_ends(chart, sheet, from, to);
    const size_t run = count_points(sheet);
    char of[32] = "";
    if (run < sheet->points->point_count)
        (void)snprintf(of, sizeof of, " of %zu", sheet->points->point_count);
    an_chart_subtitle(chart,
                      "%zu%s points over %s · band: 95 %% interval of the mean over "
                      "replications%s%s",
                      run, of, axis->path, unfinished_text(sheet),
                      sheet->left_out > 0 ? " · not all lines are shown" : "");
}

/* A line without a value anywhere, of what was never run, is none. */
static void drop_empty(struct sheet *sheet)
{
    size_t kept = 0;
    for (size_t l = 0; l < sheet->count; l++) {
        bool has_values = sheet->panels > 0;
        for (size_t i = 0; i < sheet->panels; i++) {
            bool has_one = false;
            for (size_t v = 0; v < sheet->points->variant_count; v++)
                has_one = has_one || (is_same_line(sheet, sheet->lines[l].first, v) &&
                                      !isnan(sheet->cells[v][i].mean));
            has_values = has_values && has_one;
        }
        if (has_values)
            sheet->lines[kept++] = sheet->lines[l];
    }
    sheet->count = kept;
}

static weir_status draw_sheet(struct an_chart *chart, struct sheet *sheet)
{
    struct an_key keys[MOST_LINES];
    sheet->low = AN_INFINITY;
    sheet->high = -AN_INFINITY;
    for (size_t v = 0; v < sheet->points->variant_count; v++) {
        if (isnan(sheet->cells[v][0].mean))
            continue;
        sheet->low = fmin(sheet->low, x_of(sheet, v));
        sheet->high = fmax(sheet->high, x_of(sheet, v));
    }
    drop_empty(sheet);
    if (sheet->low > sheet->high || sheet->count == 0)
        return an_chart_empty(chart, "no point has a value");
    for (size_t l = 0; l < sheet->count; l++)
        keys[l] = (struct an_key){ sheet->lines[l].name, an_row_colors[l] };
    write_texts(chart, sheet);
    chart->height = 40.0 + 300.0 * (double)sheet->panels - 10.0;
    for (size_t i = 0; i < sheet->panels; i++) {
        const double y = 40.0 + 300.0 * (double)i;
        if (i == 0 && (sheet->count > 1 || sheet->lines[0].name[0] != '\0'))
            (void)an_rows_key(chart, keys, sheet->count,
                              &(struct an_label){ .x = 90, .y = chart->height - 8.0 });
        draw_panel(chart, sheet, i, &(struct an_box){ 90, y, 960, y + 220.0 });
    }
    return WEIR_OK;
}

static weir_status draw_points(struct an_chart *chart, const struct an_points *points,
                               struct weir_error *error)
{
    struct sheet sheet = { .points = points, .axis = an_points_run_along(points) };
    struct an_comparison *first = NULL;
    if (sheet.axis >= points->axis_count || points->point_count < 2)
        return an_chart_empty(chart, "the experiment has no axis with several points");
    sheet.cells = calloc(points->variant_count + 1, sizeof *sheet.cells);
    if (sheet.cells == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (size_t v = 0; v < points->variant_count; v++)
        for (size_t i = 0; i < MOST_PANELS; i++)
            sheet.cells[v][i].mean = AN_NAN;
    find_lines(&sheet);
    weir_status status = an_goal_read(chart->keeper.db, &sheet.goal, error);
    if (status == WEIR_OK)
        status = read_variants(chart, &sheet, &first, error);
    if (status == WEIR_OK)
        status = first == NULL || sheet.panels == 0
                     ? an_chart_empty(chart, "all runs of all points failed")
                     : draw_sheet(chart, &sheet);
    an_comparison_destroy(first);
    free(sheet.cells);
    return status;
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    return an_chart_of_points(chart, draw_points, error);
}

const struct an_plot_ops an_plot_axis = {
    { "axis", "How does the goal change along the axes of the experiment?" }, draw
};
