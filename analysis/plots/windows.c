/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart windows: the backlog of every variant over time, with the windows of the scenario behind it
 * and what happened from outside marked: what came and is not over, items in pipelines or jobs that
 * wait. Only where the scenario has windows.
 */
#include "analysis/plots/plots.h"

#include "analysis/windows.h"

#include <math.h>
#include <string.h>

enum { MOST = 6 };

static const char runs_sql[] =
    "SELECT run_id, variant FROM run WHERE replication = :id AND status IN ('complete', 'horizon',"
    " 'ended early') ORDER BY variant_order LIMIT 6";

/* At the end of each interval. */
static const char items_sql[] = "SELECT t_s, dt_s, sum(items_arrived - items_done - items_left) "
                                "OVER (ORDER BY t_s) FROM cluster_sample"
                                " WHERE run_id = :run ORDER BY t_s";
static const char jobs_sql[] = "SELECT t_s, dt_s, sum(waiting) FROM job_sample WHERE run_id = :run"
                               " GROUP BY t_s ORDER BY t_s";

static const char *color_of(size_t index)
{
    static const char *const colors[MOST] = { AN_VERMILLION, AN_ORANGE, AN_BLUE,
                                              AN_GREEN,      AN_PINK,   AN_GREY };
    return colors[index];
}

/* Of words, which need more contrast than lines. */
static const char *text_color_of(size_t index)
{
    static const char *const colors[MOST] = { AN_VERMILLION_TEXT, AN_ORANGE_TEXT, AN_BLUE,
                                              AN_GREEN_TEXT,      AN_INK,         AN_MUTED };
    return colors[index];
}

struct lines {
    const struct an_frame *runs;
    struct an_grid grid;
    double *series; /* by variant */
    size_t count;
};

static weir_status read_lines(struct an_chart *chart, struct lines *lines, struct weir_error *error)
{
    const char *sql = chart->facts->stage_count > 0 ? items_sql : jobs_sql;
    const struct an_args args = { .id = chart->run->replication };
    WEIR_TRY(an_chart_query(chart, runs_sql, &args, &lines->runs, error));
    for (size_t v = 0; v < lines->runs->row_count; v++) {
        const struct an_frame *frame = NULL;
        const struct an_args one = { .run = (int64_t)an_number(lines->runs, v, 0) };
        WEIR_TRY(an_chart_query(chart, sql, &one, &frame, error));
        if (lines->series == NULL && frame->row_count > 0) {
            lines->grid = an_chart_grid(chart, frame->row_count);
            WEIR_TRY(
                an_keep_numbers(&chart->keeper, MOST * lines->grid.bins, &lines->series, error));
        }
        if (lines->series == NULL)
            continue;
        const struct an_span span = { 0, frame->row_count };
        an_grid_means(&lines->grid, frame, span, 2, lines->series + v * lines->grid.bins);
        lines->count = v + 1;
    }
    return WEIR_OK;
}

static void write_labels(struct an_chart *chart, const struct lines *lines, double top,
                         const struct an_box *box)
{
    double y[MOST];
    for (size_t v = 0; v < lines->count; v++) {
        double last = 0.0;
        for (size_t b = 0; b < lines->grid.bins; b++) {
            const double value = lines->series[v * lines->grid.bins + b];
            last = isnan(value) ? last : value;
        }
        y[v] = box->y1 - (box->y1 - box->y0) * fmin(last / top, 1.0);
    }
    an_push_apart(y, lines->count, 18.0, box->y0, box->y1);
    for (size_t v = 0; v < lines->count; v++) {
        const struct an_label label = {
            .x = chart->right + 12.0, .y = y[v], .color = text_color_of(v), .is_bold = true
        };
        an_chart_name(chart, &label, an_text(lines->runs, v, 1), 992.0 - label.x);
    }
}

static weir_status draw_panel(struct an_chart *chart, const struct lines *lines,
                              struct weir_error *error)
{
    const struct an_box box = { 100, 28, 840, 300 };
    const double top =
        an_axis_top(fmax(an_largest(lines->series, lines->count * lines->grid.bins), 1.0));
    chart->height = 340.0;
    an_chart_panel(chart, &box);
    an_chart_time_axis(chart, true);
    write_labels(chart, lines, top, &box);
    WEIR_TRY(an_chart_happenings(chart, 26.0, box.y1, error));
    (void)fprintf(chart->body, "set yrange [0:%.9g]; set ytics 0,%.9g format '%%g'\nplot ", top,
                  an_axis_step(top, 5.0));
    for (size_t v = 0; v < lines->count; v++)
        (void)fprintf(chart->body, "%sDATA index 0 using 1:%zu with lines lc rgb '%s' lw 1.8",
                      v == 0 ? "" : ", \\\n ", v + 2, color_of(v));
    (void)fputc('\n', chart->body);
    an_chart_draw_end(chart);
    return WEIR_OK;
}

static void write_columns(const struct lines *lines, char *columns, size_t capacity)
{
    size_t used = (size_t)snprintf(columns, capacity, "t_s");
    for (size_t v = 0; v < lines->count && used < capacity; v++) {
        const size_t before = used;
        used +=
            (size_t)snprintf(columns + used, capacity - used, " %.40s", an_text(lines->runs, v, 1));
        for (size_t i = before + 1; i < used && i < capacity; i++)
            if (columns[i] == ' ')
                columns[i] = '_';
    }
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    struct an_windows windows;
    struct lines lines = { .series = NULL };
    char columns[400];
    WEIR_TRY(an_windows_read(chart->keeper.db, &windows, error));
    if (windows.count == 0)
        return an_chart_empty(chart, "the scenario has no windows (docs/windows.md)");
    WEIR_TRY(read_lines(chart, &lines, error));
    if (lines.series == NULL)
        return an_chart_empty(chart, "this run kept no samples: run it with metrics.keep: series");
    WEIR_TRY(an_chart_claim(chart, "incident.backlog incident.wait", error));
    an_chart_subtitle(chart, "%s, {width} means, replication %u of each variant · windows in turn",
                      chart->facts->stage_count > 0 ? "Items that came and are not finished"
                                                    : "Jobs that wait",
                      chart->run->replication);
    write_columns(&lines, columns, sizeof columns);
    (void)an_chart_block(chart, "backlog", columns);
    an_chart_rows(chart, &lines.grid, lines.series, lines.count);
    return draw_panel(chart, &lines, error);
}

const struct an_plot_ops an_plot_windows = {
    { "windows", "How high was the backlog before, during and after, with each variant?" }, draw
};
