/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart frag-time: free GPUs over time, and which of them no shape of the mix can use, by cause.
 */
#include "analysis/plots/plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRACTION, NO_CPU, NO_CODEC, NO_DEMAND, FREE, SERIES };

static const char samples_sql[] =
    "SELECT t_s, dt_s, frag_fraction, frag_no_cpu, frag_no_codec, frag_no_gpu_demand,"
    " gpu_capacity - gpu_assigned FROM cluster_sample WHERE run_id = :run ORDER BY t_s";

static const char *const cause_colors[FREE] = { AN_BLUE, AN_ORANGE, AN_GREEN, AN_GREY };
static const char *const cause_names[FREE] = { "GPUs too small, too few, other types",
                                               "CPUs are short", "codec engines are short",
                                               "the mix asks for no GPU" };

static void write_key(struct an_chart *chart, const struct an_grid *grid, const double *series,
                      double y)
{
    double x = 100.0;
    for (size_t i = 0; i < FREE; i++) {
        if (!(an_largest(series + i * grid->bins, grid->bins) > 0.0))
            continue;
        an_chart_rectangle(chart, &(struct an_box){ x, y - 5.0, x + 11.0, y + 5.0 },
                           cause_colors[i], "front");
        const struct an_label label = { .x = x + 17.0, .y = y, .size = 11.5 };
        an_chart_text(chart, &label, "%s", cause_names[i]);
        x += 50.0 + 6.9 * (double)strlen(cause_names[i]);
    }
}

static weir_status draw_panel(struct an_chart *chart, const struct an_grid *grid,
                              const double *series, struct weir_error *error)
{
    const struct an_box box = { 100, 28, 840, 290 };
    chart->height = 346.0;
    /* The start, when everything is free, would flatten the rest: it may leave the frame. */
    size_t first = (size_t)ceil(chart->facts->from_s / grid->step_s);
    first = first + 1 < grid->bins ? first : 0;
    const double top =
        an_axis_top(fmax(an_largest(series + FREE * grid->bins + first, grid->bins - first), 1.0));
    an_chart_panel(chart, &box);
    an_chart_time_axis(chart, true);
    an_chart_track(chart, &(struct an_track){ .name = "",
                                              .unit = " GPUs",
                                              .high = top,
                                              .grid = grid,
                                              .series = series + FREE * grid->bins,
                                              .count = 1,
                                              .names = &(const char *const){ "free" } });
    write_key(chart, grid, series, 332.0);
    double y[2] = { box.y1 - (box.y1 - box.y0) * series[(FREE + 1) * grid->bins - 1] / top,
                    box.y1 - (box.y1 - box.y0) * fmin(chart->facts->frag_gpus / top, 1.0) };
    y[1] = fmax(y[1], y[0] + 0.1);
    an_push_apart(y, 2, 18.0, box.y0, box.y1);
    struct an_label label = { .x = 852, .y = y[0], .color = AN_INK };
    an_chart_text(chart, &label, "free at end %s",
                  an_word_number(series[(FREE + 1) * grid->bins - 1]).text);
    label.y = y[1];
    label.is_bold = true;
    label.color = AN_BLUE;
    an_chart_text(chart, &label, "fragmented %s", an_word_number(chart->facts->frag_gpus).text);
    WEIR_TRY(an_chart_happenings(chart, 26.0, box.y1, error));
    (void)fprintf(chart->body,
                  "set yrange [0:%.9g]; set ytics 0,%.9g format '%%g'\n"
                  "plot DATA index 0 using 1:6 with filledcurves y1=0 fc rgb '#f1f3f5', \\\n",
                  top, an_axis_step(top, 5.0));
    static const char *const sums[FREE] = { "$2", "$2+$3", "$2+$3+$4", "$2+$3+$4+$5" };
    for (size_t i = FREE; i-- > 0;)
        (void)fprintf(chart->body,
                      " '' index 0 using 1:(%s) with filledcurves y1=0 fc rgb '%s', \\\n", sums[i],
                      cause_colors[i]);
    (void)fputs(" '' index 0 using 1:6 with lines lc rgb '" AN_INK "' lw 1.3\n", chart->body);
    an_chart_draw_end(chart);
    return WEIR_OK;
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    struct an_grid grid;
    double *series = NULL;
    if (!(chart->facts->resources[AN_GPU].capacity > 0.0))
        return an_chart_empty(chart, "this cluster has no GPU");
    WEIR_TRY(an_chart_query(chart, samples_sql, NULL, &frame, error));
    WEIR_TRY(an_chart_means(chart, frame, SERIES, &grid, &series, error));
    if (!(an_largest(series + FREE * grid.bins, grid.bins) > 0.0))
        return an_chart_empty(chart, "no GPU is ever free in this run");
    WEIR_TRY(an_chart_claim(chart, "free.hardly free.whole free.lost", error));
    an_chart_subtitle(
        chart,
        "Free GPUs (line) and the part no shape of the mix can use, by cause where one "
        "is known · {width} means · right: free at the end, fragmented on average · policy %s",
        chart->run->placement);
    (void)an_chart_block(chart, "fragmentation, GPUs",
                         "t_s too_small no_cpu no_codec no_gpu_demand free_gpus");
    an_chart_rows(chart, &grid, series, SERIES);
    return draw_panel(chart, &grid, series, error);
}

const struct an_plot_ops an_plot_frag_time = {
    { "frag-time", "How much free GPU capacity is unusable, and why?" }, draw
};
