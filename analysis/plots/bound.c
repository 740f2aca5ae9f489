/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart bound: how far every variant is from the most GPU that any scheduler could have allocated.
 * The dot is what was allocated, the bar ends at the bound.
 */
#include "analysis/plots/plots.h"
#include "analysis/plots/rows.h"

#include <math.h>

static const char *const labels[] = { "100 % arrived", "" };
static const char *const names[] = { "100 % asked", "end" };
enum { TIMES = sizeof labels / sizeof labels[0] };

static const double pitch_px = 46.0;

static double bound_of(const struct an_rows *rows, size_t variant, size_t time)
{
    return an_rows_value(rows, variant, "alloc.bound_pct", labels[time]);
}

static double gap_of(const struct an_rows *rows, size_t variant, size_t time)
{
    return an_rows_value(rows, variant, "alloc.gap_pp", labels[time]);
}

/* When all GPUs were asked for, if that was ever so. */
static size_t telling_time(const struct an_rows *rows)
{
    return isnan(gap_of(rows, 0, 0)) ? 1U : 0U;
}

static weir_status write_texts(struct an_chart *chart, const struct an_rows *rows,
                               struct weir_error *error)
{
    WEIR_TRY(an_chart_claim(chart, "fill.bound", error));
    an_chart_subtitle(chart,
                      "Allocated GPUs (dot) and the most any scheduler could place of the jobs "
                      "that arrived (end of the bar; linear program), %s",
                      an_rows_runs(rows).text);
    return WEIR_OK;
}

static double write_data(struct an_chart *chart, const struct an_rows *rows)
{
    double low = 100.0;
    (void)an_chart_block(chart, "distance to the bound",
                         "y_px allocated_pct bound_pct gap_pp variant demand");
    for (size_t v = 0; v < rows->count; v++)
        for (size_t t = 0; t < TIMES; t++) {
            const double bound = bound_of(rows, v, t);
            const double gap = gap_of(rows, v, t);
            if (isnan(bound) || isnan(gap))
                continue;
            low = fmin(low, bound - gap);
            (void)fprintf(chart->data, "%g %.6g %.6g %.6g ",
                          pitch_px * (double)v + 18.0 * (double)t + 10.0, bound - gap, bound, gap);
            an_chart_cell(chart, rows->variants[v]);
            an_chart_cell(chart, names[t]);
            (void)fputc('\n', chart->data);
        }
    return fmax(0.0, 5.0 * floor((low - 0.5) / 5.0));
}

static void label_rows(struct an_chart *chart, const struct an_rows *rows, const struct an_box *box,
                       double low)
{
    for (size_t v = 0; v < rows->count; v++)
        for (size_t t = 0; t < TIMES; t++) {
            const double bound = bound_of(rows, v, t);
            const double y = box->y0 + pitch_px * (double)v + 18.0 * (double)t + 10.0;
            const struct an_label name = { .x = box->x0 - 100.0, .y = y + 9.0, .align = 'r' };
            const struct an_label time = {
                .x = box->x0 - 12.0, .y = y, .color = AN_MUTED, .size = 11, .align = 'r'
            };
            const struct an_label value = {
                .x = box->x0 + (box->x1 - box->x0) * (bound - low) / (100.0 - low) + 8.0,
                .y = y,
                .size = 11
            };
            if (isnan(bound))
                continue;
            if (t == telling_time(rows))
                an_chart_name(chart, &name, rows->variants[v], name.x - 8.0);
            an_chart_text(chart, &time, "%s", names[t]);
            an_chart_text(chart, &value, "%.1f points", gap_of(rows, v, t));
        }
}

static void draw_rows(struct an_chart *chart, const struct an_rows *rows)
{
    const struct an_box box = { 230, 14, 920, 14.0 + pitch_px * (double)rows->count };
    chart->height = box.y1 + 50.0;
    an_chart_panel(chart, &box);
    const double low = write_data(chart, rows);
    label_rows(chart, rows, &box, low);
    const struct an_label x_label = {
        .x = 0.5 * (box.x0 + box.x1), .y = box.y1 + 38.0, .color = AN_MUTED, .align = 'c'
    };
    an_chart_text(chart, &x_label, "allocated, %% of all GPUs");
    (void)fprintf(chart->body,
                  "set border 0; unset grid; set grid xtics lc rgb '" AN_GRID "' lw 1 lt 1\n"
                  "set xrange [%.9g:100]; set xtics %.9g format '%%g %%%%' scale 0\n"
                  "set yrange [%.9g:0]; set ytics ('' 0) scale 0\n"
                  "plot DATA using (($2+$3)/2):1:2:3:($1-4):($1+4) with boxxyerror fs solid "
                  "noborder fc rgb '" AN_PALE_BLUE "', \\\n"
                  " '' using 3:($1-6):(0):(12) with vectors nohead lw 2 lc rgb '" AN_INK "', \\\n"
                  " '' using 2:1 with points pt 7 ps 1.2 lc rgb '" AN_BLUE "'\n",
                  low, an_axis_step(100.0 - low, 6.0), box.y1 - box.y0);
    an_chart_draw_end(chart);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    struct an_rows rows;
    chart->is_about_all = true;
    WEIR_TRY(an_rows_read(chart, "alloc.", &rows, error));
    if (rows.count == 0 || isnan(gap_of(&rows, 0, 1)))
        return an_chart_empty(chart, "no run has a bound on its allocation");
    WEIR_TRY(write_texts(chart, &rows, error));
    draw_rows(chart, &rows);
    return WEIR_OK;
}

const struct an_plot_ops an_plot_bound = {
    { "bound", "How far is the allocation from the best possible?" }, draw
};
