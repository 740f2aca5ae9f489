/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart frag-arrival: GPUs that stay unallocated, and GPUs that are fragmented, while ever more are
 * asked for; one line a variant, of up to three with a band from the least to the most. The
 * dashed line is what nobody can beat: all that was asked for is placed.
 */
#include "analysis/plots/plots.h"
#include "analysis/plots/rows.h"

#include <math.h>
#include <string.h>

enum { MOST_LINES = 12, MOST_BANDS = 3 /* more of them hide each other */ };

/* The panels, their columns of the query and those of the data. */
static const struct panel {
    size_t column;
    int mean, low, high;
    const char *text;
} panels[] = { { 2, 2, 5, 6, "unallocated" },
               { 3, 3, 7, 8, "fragmented: free, but not for the jobs that come" } };
enum { PANELS = sizeof panels / sizeof panels[0] };

static const char points_sql[] =
    "SELECT r.variant, s.arrived_pct, avg(100 - s.alloc_gpu_pct), avg(s.frag_gpu_pct),"
    " avg(s.failed), count(s.alloc_gpu_pct), min(100 - s.alloc_gpu_pct), max(100 - "
    "s.alloc_gpu_pct),"
    " min(s.frag_gpu_pct), max(s.frag_gpu_pct)"
    " FROM arrival_sample s JOIN run r USING (run_id)"
    " GROUP BY r.variant, s.arrived_pct HAVING count(s.alloc_gpu_pct) > 0"
    /* As far as all runs of the variant came: those that came further are the lucky ones. */
    " AND count(*) = (SELECT count(*) FROM run o WHERE o.variant = r.variant)"
    " ORDER BY min(r.variant_order), r.variant, s.arrived_pct";

/* Rows of one variant in the frame. */
struct line {
    const char *name;
    size_t first, rows;
    double end[PANELS]; /* at the last point, % */
};

struct lines {
    struct line line[MOST_LINES];
    size_t count;
    double from, to;    /* of the x axis */
    double top[PANELS]; /* of the y axes */
    bool has_bands;
};

static struct lines split(const struct an_frame *frame)
{
    struct lines lines = { .count = 0 };
    for (size_t row = 0; row < frame->row_count; row++) {
        const char *name = an_text(frame, row, 0);
        struct line *last = lines.count == 0 ? NULL : &lines.line[lines.count - 1];
        if (last == NULL || strcmp(last->name, name) != 0) {
            if (lines.count == MOST_LINES)
                break;
            last = &lines.line[lines.count++];
            *last = (struct line){ .name = name, .first = row };
        }
        last->rows++;
        for (size_t p = 0; p < PANELS; p++)
            last->end[p] = an_number(frame, row, panels[p].column);
        lines.has_bands |= an_number(frame, row, 5) > 1.5;
        lines.to = fmax(lines.to, an_number(frame, row, 1));
    }
    lines.has_bands = lines.has_bands && lines.count <= MOST_BANDS;
    /* Before that every policy places nearly everything. */
    lines.from = lines.to > 100 ? 80 : 0;
    return lines;
}

static void find_top(struct lines *lines, const struct an_frame *frame)
{
    for (size_t p = 0; p < PANELS; p++) {
        for (size_t row = 0; row < frame->row_count; row++)
            if (an_number(frame, row, 1) >= lines->from)
                lines->top[p] = fmax(lines->top[p], an_number(frame, row, 7 + 2 * p));
        lines->top[p] = an_axis_top(fmax(lines->top[p], 1.0));
    }
}

static weir_status write_texts(struct an_chart *chart, const struct lines *lines,
                               double replications, struct weir_error *error)
{
    WEIR_TRY(an_chart_claim(chart, "fill.curve", error));
    an_chart_subtitle(
        chart,
        "Share of all GPUs over the GPU demand that arrived · means of the arrivals at "
        "each percent, %g run%s a line%s · dashed: everything placed",
        replications, replications > 1 ? "s" : "",
        lines->has_bands ? ", bands from least to most" : "");
    return WEIR_OK;
}

static void write_data(struct an_chart *chart, const struct an_frame *frame,
                       const struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        const struct line *line = &lines->line[i];
        (void)an_chart_block(chart, line->name,
                             "arrived_pct unallocated_pct frag_pct failed unallocated_low "
                             "unallocated_high frag_low frag_high");
        for (size_t row = line->first; row < line->first + line->rows; row++)
            (void)fprintf(chart->data, "%.9g %.9g %.9g %.9g %.9g %.9g %.9g %.9g\n",
                          an_number(frame, row, 1), an_number(frame, row, 2),
                          an_number(frame, row, 3), an_number(frame, row, 4),
                          an_number(frame, row, 6), an_number(frame, row, 7),
                          an_number(frame, row, 8), an_number(frame, row, 9));
    }
}

static void label_lines(struct an_chart *chart, const struct lines *lines, size_t panel,
                        const struct an_box *box)
{
    double y[MOST_LINES];
    for (size_t i = 0; i < lines->count; i++)
        y[i] = box->y1 - (box->y1 - box->y0) * lines->line[i].end[panel] / lines->top[panel];
    /* Pushing apart keeps an order, so it wants them in order. */
    size_t order[MOST_LINES] = { 0 };
    double sorted[MOST_LINES];
    for (size_t i = 0; i < lines->count; i++) {
        size_t at = i;
        for (; at > 0 && y[order[at - 1]] > y[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (size_t i = 0; i < lines->count; i++)
        sorted[i] = y[order[i]] + 1e-3 * (double)i;
    an_push_apart(sorted, lines->count, 16.0, box->y0, box->y1);
    for (size_t i = 0; i < lines->count; i++) {
        const struct line *line = &lines->line[order[i]];
        const struct an_label label = { .x = box->x1 + 22.0, .y = sorted[i] };
        const struct an_box mark = { box->x1 + 9.0, sorted[i] - 4.0, box->x1 + 17.0,
                                     sorted[i] + 4.0 };
        an_chart_rectangle(chart, &mark, an_row_colors[order[i]], "front");
        an_chart_text(chart, &label, "%s %.1f %%", an_chart_word(chart, line->name, 16).text,
                      line->end[panel]);
    }
}

static void plot_lines(struct an_chart *chart, const struct lines *lines, size_t panel)
{
    for (size_t i = 0; i < lines->count && lines->has_bands; i++)
        (void)fprintf(chart->body,
                      ", \\\n DATA index %zu using 1:%d:%d with filledcurves fs transparent solid "
                      "0.18 noborder fc rgb '%s'",
                      i, panels[panel].low, panels[panel].high, an_row_colors[i]);
    for (size_t i = 0; i < lines->count; i++)
        (void)fprintf(chart->body,
                      ", \\\n DATA index %zu using 1:%d with lines lc rgb '%s' lw %s%s", i,
                      panels[panel].mean, an_row_colors[i], i == 0 ? "2.4" : "1.6",
                      i >= AN_ROWS / 2 ? " dt (6,3)" : "");
    (void)fputc('\n', chart->body);
}

static void draw_panel(struct an_chart *chart, const struct lines *lines, size_t panel,
                       const struct an_box *box)
{
    const struct an_label title = { .x = box->x0, .y = box->y0 - 14.0, .color = AN_MUTED };
    an_chart_panel(chart, box);
    an_chart_text(chart, &title, "%s", panels[panel].text);
    label_lines(chart, lines, panel, box);
    if (panel + 1 == PANELS) {
        const struct an_label x_label = {
            .x = 0.5 * (box->x0 + box->x1), .y = box->y1 + 40.0, .color = AN_MUTED, .align = 'c'
        };
        an_chart_text(chart, &x_label, "GPU demand that arrived, %% of all GPUs");
    }
    (void)fprintf(
        chart->body,
        "set xrange [%.9g:%.9g]; set xtics %.9g format '%%g %%%%'\n"
        "set yrange [0:%.9g]; set ytics 0,%.9g format '%%g %%%%'\n"
        "plot (%d && x < 100 ? 100 - x : 0) with lines lc rgb '" AN_GREY "' lw 1 dt (4,3)",
        lines->from, fmax(lines->to, lines->from + 1), an_axis_step(lines->to - lines->from, 6.0),
        lines->top[panel], an_axis_step(lines->top[panel], 5.0), panel == 0 ? 1 : 0);
    plot_lines(chart, lines, panel);
    an_chart_draw_end(chart);
}

static void draw_panels(struct an_chart *chart, const struct lines *lines)
{
    chart->height = 632.0;
    draw_panel(chart, lines, 0, &(struct an_box){ 80, 34, 830, 294 });
    draw_panel(chart, lines, 1, &(struct an_box){ 80, 354, 830, 578 });
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    chart->is_about_all = true;
    WEIR_TRY(an_chart_query(chart, points_sql, NULL, &frame, error));
    if (frame->row_count == 0)
        return an_chart_empty(chart, "no run places jobs of a static workload");
    struct lines lines = split(frame);
    if (!(lines.to > 0.0))
        return an_chart_empty(chart, "no job of this fill asks for a GPU");
    find_top(&lines, frame);
    double most = 1.0;
    for (size_t i = 0; i < frame->row_count; i++)
        most = fmax(most, an_number(frame, i, 5));
    WEIR_TRY(write_texts(chart, &lines, most, error));
    write_data(chart, frame, &lines);
    draw_panels(chart, &lines);
    return WEIR_OK;
}

const struct an_plot_ops an_plot_frag_arrival = {
    { "frag-arrival", "How many GPUs stay unallocated as demand grows?" }, draw
};
