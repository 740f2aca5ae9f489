/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart frag-arrival: GPUs that stay unallocated while ever more are asked for, one line a variant.
 * The dashed line is what nobody can beat: all that was asked for is placed.
 */
#include "analysis/plots/plots.h"

#include <math.h>
#include <string.h>

enum { MOST_LINES = 12 };

static const char points_sql[] =
    "SELECT r.variant, s.arrived_pct, avg(100 - s.alloc_gpu_pct), avg(s.frag_gpu_pct),"
    " avg(s.failed), count(*) FROM arrival_sample s JOIN run r USING (run_id)"
    " WHERE s.alloc_gpu_pct IS NOT NULL GROUP BY r.variant, s.arrived_pct"
    " ORDER BY min(r.variant_order), r.variant, s.arrived_pct";

static const char *const colors[] = {
    AN_BLUE, AN_ORANGE, AN_GREEN, AN_VERMILLION, AN_SKY, AN_GREY
};
enum { COLORS = sizeof colors / sizeof colors[0] };

/* Rows of one variant in the frame. */
struct line {
    const char *name;
    size_t first, rows;
    double end; /* unallocated at the last point, % */
};

struct lines {
    struct line line[MOST_LINES];
    size_t count;
    double from, to; /* of the x axis */
    double top;      /* of the y axis */
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
        last->end = an_number(frame, row, 2);
        lines.to = fmax(lines.to, an_number(frame, row, 1));
    }
    /* Before that every policy places nearly everything. */
    lines.from = lines.to > 100 ? 80 : 0;
    return lines;
}

static void find_top(struct lines *lines, const struct an_frame *frame)
{
    for (size_t row = 0; row < frame->row_count; row++)
        if (an_number(frame, row, 1) >= lines->from)
            lines->top = fmax(lines->top, an_number(frame, row, 2));
    lines->top = an_axis_top(fmax(lines->top, 1.0));
}

static void write_title(struct an_chart *chart, const struct lines *lines, double replications)
{
    const struct line *best = &lines->line[0];
    const struct line *worst = best;
    for (size_t i = 1; i < lines->count; i++) {
        best = lines->line[i].end < best->end ? &lines->line[i] : best;
        worst = lines->line[i].end > worst->end ? &lines->line[i] : worst;
    }
    if (best == worst)
        an_chart_title(chart, "%s leaves %.1f %% of the GPUs unallocated",
                       an_shorten(best->name, 20).text, best->end);
    else
        an_chart_title(chart, "%s leaves %.1f %% of the GPUs unallocated, %s %.1f %%",
                       an_shorten(best->name, 20).text, best->end, an_shorten(worst->name, 20).text,
                       worst->end);
    an_chart_subtitle(chart,
                      "Unallocated share of all GPUs over the GPU demand that arrived · means of "
                      "the arrivals at each percent, %g run%s a line · dashed: everything placed",
                      replications, replications > 1 ? "s" : "");
}

static void write_data(struct an_chart *chart, const struct an_frame *frame,
                       const struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++) {
        const struct line *line = &lines->line[i];
        (void)an_chart_block(chart, line->name, "arrived_pct unallocated_pct frag_pct failed");
        for (size_t row = line->first; row < line->first + line->rows; row++)
            (void)fprintf(chart->data, "%.9g %.9g %.9g %.9g\n", an_number(frame, row, 1),
                          an_number(frame, row, 2), an_number(frame, row, 3),
                          an_number(frame, row, 4));
    }
}

static void label_lines(struct an_chart *chart, const struct lines *lines, const struct an_box *box)
{
    double y[MOST_LINES];
    for (size_t i = 0; i < lines->count; i++)
        y[i] = box->y1 - (box->y1 - box->y0) * lines->line[i].end / lines->top;
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
        const struct an_label label = { .x = box->x1 + 10.0,
                                        .y = sorted[i],
                                        .color = colors[order[i] % COLORS] };
        an_chart_text(chart, &label, "%s %.1f %%", an_shorten(line->name, 16).text, line->end);
    }
}

static void draw_panel(struct an_chart *chart, const struct lines *lines)
{
    const struct an_box box = { 80, 20, 830, 320 };
    chart->height = 372.0;
    an_chart_panel(chart, &box);
    label_lines(chart, lines, &box);
    const struct an_label x_label = {
        .x = 0.5 * (box.x0 + box.x1), .y = 360, .color = AN_MUTED, .align = 'c'
    };
    an_chart_text(chart, &x_label, "GPU demand that arrived, %% of all GPUs");
    (void)fprintf(chart->body,
                  "set xrange [%.9g:%.9g]; set xtics %.9g format '%%g %%%%'\n"
                  "set yrange [0:%.9g]; set ytics 0,%.9g format '%%g %%%%'\n"
                  "plot (x < 100 ? 100 - x : 0) with lines lc rgb '" AN_GREY "' lw 1 dt (4,3)",
                  lines->from, fmax(lines->to, lines->from + 1),
                  an_axis_step(lines->to - lines->from, 6.0), lines->top,
                  an_axis_step(lines->top, 5.0));
    for (size_t i = 0; i < lines->count; i++)
        (void)fprintf(chart->body, ", \\\n DATA index %zu using 1:2 with lines lc rgb '%s' lw %s%s",
                      i, colors[i % COLORS], i == 0 ? "2.4" : "1.6",
                      i >= COLORS ? " dt (6,3)" : "");
    (void)fputc('\n', chart->body);
    an_chart_draw_end(chart);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    struct an_frame *frame = NULL;
    chart->is_about_all = true;
    WEIR_TRY(an_query(chart->db, points_sql, NULL, &frame, error));
    weir_status status = WEIR_OK;
    if (frame->row_count == 0) {
        status = an_chart_empty(chart, "no run places jobs of a static workload");
    } else {
        struct lines lines = split(frame);
        find_top(&lines, frame);
        write_title(chart, &lines, an_number(frame, frame->row_count - 1, 5));
        write_data(chart, frame, &lines);
        draw_panel(chart, &lines);
    }
    an_frame_destroy(frame);
    return status;
}

const struct an_plot_ops an_plot_frag_arrival = {
    { "frag-arrival", "How many GPUs stay unallocated as demand grows?" }, draw
};
