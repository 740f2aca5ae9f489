/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart tornado: what was varied one value at a time, the measure of the goal at each value, the
 * widest bar on top.
 */
#include "analysis/tornado.h"
#include "analysis/plots/plots.h"

#include <math.h>

enum { ROW_PX = 44, LEFT_PX = 300, RIGHT_PX = 940, TOP_PX = 40 };

struct sheet {
    const struct an_metric_row *row;
    struct an_tornado tornado;
    double base, low, high; /* of the axis */
};

/* A rectangle from the scenario as it is to every value. */
static size_t write_data(struct an_chart *chart, const struct sheet *sheet)
{
    const size_t block = an_chart_block(chart, sheet->row->label, "row mean path value");
    for (size_t b = 0; b < sheet->tornado.count; b++) {
        const struct an_tornado_bar *bar = &sheet->tornado.bars[b];
        for (size_t i = 0; i < bar->count; i++) {
            (void)fprintf(chart->data, "%zu %.6g ", b, sheet->row->cells[bar->variants[i]].mean);
            an_chart_cell(chart, bar->axis->path);
            an_chart_cell(chart, bar->axis->text[bar->points[i]]);
            (void)fputc('\n', chart->data);
        }
    }
    return block;
}

static double x_of(const struct sheet *sheet, double value)
{
    return LEFT_PX +
           (value - sheet->low) / (sheet->high - sheet->low) * (double)(RIGHT_PX - LEFT_PX);
}

static void label_bar(struct an_chart *chart, const struct sheet *sheet, size_t index)
{
    const struct an_tornado_bar *bar = &sheet->tornado.bars[index];
    const double y = TOP_PX + ROW_PX * ((double)index + 0.5);
    const struct an_label path = { .x = LEFT_PX - 12.0, .y = y - 7.0, .align = 'r', .size = 11.5 };
    const struct an_label from = {
        .x = LEFT_PX - 12.0, .y = y + 9.0, .align = 'r', .size = 10.5, .color = AN_MUTED
    };
    an_chart_name(chart, &path, bar->axis->path, path.x - 8.0);
    an_chart_text(chart, &from, "%s as it is", bar->axis->text[0]);
    for (size_t i = 0; i < bar->count; i++) {
        const double mean = sheet->row->cells[bar->variants[i]].mean;
        const bool is_left = mean < sheet->base;
        const struct an_label value = { .x = x_of(sheet, mean) + (is_left ? -5.0 : 5.0),
                                        .y = y + (i % 2 == 0 ? -7.0 : 7.0),
                                        .align = is_left ? 'r' : 'l',
                                        .size = 10.5 };
        an_chart_text(chart, &value, "%s",
                      an_chart_word(chart, bar->axis->text[bar->points[i]], 16).text);
    }
}

static void choose_span(struct sheet *sheet)
{
    sheet->low = sheet->high = sheet->base;
    for (size_t b = 0; b < sheet->tornado.count; b++) {
        sheet->low = fmin(sheet->low, sheet->tornado.bars[b].low);
        sheet->high = fmax(sheet->high, sheet->tornado.bars[b].high);
    }
    const double margin = sheet->high > sheet->low ? 0.18 * (sheet->high - sheet->low) : 1.0;
    sheet->low -= margin;
    sheet->high += margin;
}

static void draw_bars(struct an_chart *chart, const struct an_comparison *comparison,
                      struct sheet *sheet)
{
    struct an_claim claim;
    const double bottom = TOP_PX + ROW_PX * (double)sheet->tornado.count;
    choose_span(sheet);
    an_tornado_claim(&sheet->tornado, comparison, sheet->row, &claim);
    an_chart_title(chart, "%s", claim.text);
    const size_t block = write_data(chart, sheet);
    an_chart_subtitle(chart, "%s, one value changed at a time; the line is the scenario as it is",
                      sheet->row->label);
    chart->height = bottom + 44.0;
    an_chart_panel(chart, &(struct an_box){ LEFT_PX, TOP_PX, RIGHT_PX, bottom });
    for (size_t b = 0; b < sheet->tornado.count; b++)
        label_bar(chart, sheet, b);
    (void)fprintf(chart->body,
                  "set border 0; unset grid; set grid xtics lc rgb '" AN_GRID "' lw 1 lt 1\n"
                  "set xrange [%.9g:%.9g]; set yrange [%zu:0]; set ytics ('' 0) scale 0\n"
                  "set xtics %.9g format '%%g' scale 0\n"
                  "set arrow from first %.9g, graph 0 to first %.9g, graph 1 nohead front "
                  "lc rgb '" AN_GREY "' lw 1.2\n"
                  "plot DATA index %zu using (%.9g):($1+0.5):($2-%.9g):(0) with vectors nohead "
                  "lw 14 lc rgb '" AN_SKY "'\n",
                  sheet->low, sheet->high, sheet->tornado.count,
                  an_axis_step(sheet->high - sheet->low, 6.0), sheet->base, sheet->base, block,
                  sheet->base, sheet->base);
    an_chart_draw_end(chart);
}

static weir_status draw_points(struct an_chart *chart, const struct an_points *points,
                               struct weir_error *error)
{
    struct an_comparison *comparison = NULL;
    if (!points->is_varied)
        return an_chart_empty(chart, "nothing was varied: weir compare --vary PATH=+-20%%");
    WEIR_TRY(an_points_compare(chart->keeper.db, points, 0, NULL, &comparison, error));
    if (comparison == NULL || comparison->row_count == 0) {
        an_comparison_destroy(comparison);
        return an_chart_empty(chart, "the runs have no results");
    }
    struct sheet sheet = { .row = &comparison->rows[0],
                           .base = comparison->rows[0].cells[comparison->baseline].mean };
    an_tornado_make(points, comparison, sheet.row, &sheet.tornado);
    weir_status status = WEIR_OK;
    if (sheet.tornado.count == 0 || isnan(sheet.base))
        status = an_chart_empty(chart, "no value that was tried has a result");
    else
        draw_bars(chart, comparison, &sheet);
    an_comparison_destroy(comparison);
    return status;
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    return an_chart_of_points(chart, draw_points, error);
}

const struct an_plot_ops an_plot_tornado = {
    { "tornado", "Which value of the scenario moves the goal most?" }, draw
};
