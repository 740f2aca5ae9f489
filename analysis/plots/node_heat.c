/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart node-heat: GPU use of each node over time, one row a node, sorted by mean use within its
 * type; grey where the node is down. Many nodes share rows (the mean of neighbours in that order).
 */
#include "analysis/nan.h"
#include "analysis/plots/plots.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 240 };

static const char nodes_sql[] =
    "SELECT n.node, n.name, n.type, sum(s.gpu_active * s.dt_s) / nullif(sum(n.gpus * s.up * s.dt_s)"
    ", 0), min(s.up) FROM node n JOIN node_sample s ON s.run_id = n.run_id AND s.node = n.node"
    " WHERE n.run_id = :run AND n.gpus > 0 AND s.t_s >= :from GROUP BY n.node"
    " ORDER BY n.type, 4 DESC, n.node";

static const char samples_sql[] =
    "SELECT s.t_s, s.dt_s, CASE WHEN s.up > 0.01 THEN 100.0 * s.gpu_active / (n.gpus * s.up) END,"
    " s.node FROM node_sample s JOIN node n ON n.run_id = s.run_id AND n.node = s.node"
    " WHERE s.run_id = :run AND n.gpus > 0 ORDER BY s.node, s.t_s";

struct heat {
    const struct an_frame *nodes, *samples;
    struct an_grid grid;
    size_t rows, group;    /* rows of the picture, nodes a row */
    double *sums, *counts; /* rows x bins */
};

static size_t row_of_node(const struct heat *heat, double node)
{
    for (size_t i = 0; i < heat->nodes->row_count; i++)
        if ((int64_t)an_number(heat->nodes, i, 0) == (int64_t)node)
            return i / heat->group;
    return heat->rows;
}

static void add_node(const struct heat *heat, struct an_span span)
{
    double means[AN_CHART_BINS];
    const size_t row = row_of_node(heat, an_number(heat->samples, span.first, 3));
    if (row == heat->rows)
        return;
    an_grid_means(&heat->grid, heat->samples, span, 2, means);
    for (size_t b = 0; b < heat->grid.bins; b++) {
        if (isnan(means[b]))
            continue;
        heat->sums[row * heat->grid.bins + b] += means[b];
        heat->counts[row * heat->grid.bins + b] += 1.0;
    }
}

static void write_rows(struct an_chart *chart, const struct heat *heat)
{
    (void)an_chart_block(chart, "GPU use by node", "t_s row gpu_active_pct node");
    for (size_t row = 0; row < heat->rows; row++)
        for (size_t b = 0; b < heat->grid.bins; b++) {
            const size_t at = row * heat->grid.bins + b;
            const double t_s = heat->grid.from_s + ((double)b + 0.5) * heat->grid.step_s;
            (void)fprintf(chart->data, "%.9g %zu ", t_s, row);
            if (heat->counts[at] > 0.0)
                (void)fprintf(chart->data, "%.4g ", heat->sums[at] / heat->counts[at]);
            else
                (void)fputs("NaN ", chart->data);
            an_chart_cell(chart, an_text(heat->nodes, row * heat->group, 1));
            (void)fputc('\n', chart->data);
        }
}

static void write_names(struct an_chart *chart, const struct heat *heat, double y0, double pitch)
{
    /* As many names as fit, at least 16 px apart. */
    const size_t every = (size_t)ceil(16.0 / pitch);
    for (size_t row = 0; row < heat->rows; row += every) {
        const struct an_label name = { .x = 140,
                                       .y = y0 + pitch * ((double)row + 0.5),
                                       .color = AN_MUTED,
                                       .size = 11,
                                       .align = 'r' };
        an_chart_text(chart, &name, "%s",
                      an_shorten(an_text(heat->nodes, row * heat->group, 1), 14).text);
    }
    /* A white line between pools, the pool's name on the right. */
    size_t first = 0;
    for (size_t row = 1; row <= heat->rows; row++) {
        const char *type = an_text(heat->nodes, first * heat->group, 2);
        if (row < heat->rows && strcmp(an_text(heat->nodes, row * heat->group, 2), type) == 0)
            continue;
        const double middle = y0 + pitch * 0.5 * (double)(first + row);
        const struct an_label pool = { .x = 858, .y = middle, .size = 11 };
        an_chart_text(chart, &pool, "%s", an_shorten(type, 12).text);
        if (row < heat->rows)
            an_chart_rectangle(chart,
                               &(struct an_box){ 150, y0 + pitch * (double)row - 1.5, 846,
                                                 y0 + pitch * (double)row + 1.5 },
                               "#ffffff", "front");
        first = row;
    }
}

/* The scale stands as a row of nine fields below the picture. */
static void write_scale(struct an_chart *chart, double y)
{
    static const char *const colors[9] = { "#f4f6f8", "#dce8f1", "#b9d5e8", "#94c1dd", "#6babd0",
                                           "#458fbf", "#1f6aa5", "#124a80", "#0b2f5b" };
    for (size_t i = 0; i < 9; i++) {
        const double x = 150.0 + 26.0 * (double)i;
        an_chart_rectangle(chart, &(struct an_box){ x, y - 5.0, x + 26.0, y + 5.0 }, colors[i],
                           "front");
    }
    const struct an_label low = { .x = 140, .y = y, .color = AN_MUTED, .size = 11, .align = 'r' };
    const struct an_label high = { .x = 392, .y = y, .color = AN_MUTED, .size = 11 };
    an_chart_text(chart, &low, "0 %%");
    an_chart_text(chart, &high, "100 %% of the node's GPUs used");
    (void)fputs("set palette defined (", chart->body);
    for (size_t i = 0; i < 9; i++)
        (void)fprintf(chart->body, "%s%zu '%s'", i == 0 ? "" : ", ", i, colors[i]);
    (void)fputs(") maxcolors 9\nset cbrange [-6.25:106.25]\n", chart->body);
}

static weir_status draw_picture(struct an_chart *chart, const struct heat *heat,
                                struct weir_error *error)
{
    const double pitch = fmax(1.8, fmin(56.0, 440.0 / (double)heat->rows));
    const double end = 28.0 + pitch * (double)heat->rows;
    const struct an_box box = { 150, 28, 846, end };
    chart->height = end + 58.0;
    an_chart_panel(chart, &box);
    an_chart_time_axis(chart, true);
    write_names(chart, heat, 28.0, pitch);
    write_scale(chart, end + 42.0);
    WEIR_TRY(an_chart_happenings(chart, 26.0, end, error));
    an_chart_rectangle(chart, &box, "#b8bfc6", "behind");
    (void)fprintf(chart->body,
                  "set border 0; unset grid; set yrange [%zu.5:-0.5]; set ytics ('' 0) scale 0\n"
                  "set xtics out\n",
                  heat->rows - 1);
    if (heat->rows > 1 && heat->grid.bins > 1)
        (void)fputs("plot DATA index 0 using 1:2:3 with image\n", chart->body);
    else /* gnuplot draws no image of a single row or column */
        (void)fprintf(chart->body,
                      "plot DATA index 0 using 1:2:(%.9g):(0.5):3 with boxxyerror fs solid 1.0 "
                      "noborder fc palette\n",
                      0.505 * heat->grid.step_s); /* no seams */
    an_chart_draw_end(chart);
    return WEIR_OK;
}

/* Adds up the nodes, whose samples follow each other. */
static void add_nodes(const struct heat *heat)
{
    const struct an_frame *samples = heat->samples;
    size_t first = 0;
    for (size_t i = 1; i <= samples->row_count; i++) {
        const bool is_end = i == samples->row_count || (int64_t)an_number(samples, i, 3) !=
                                                           (int64_t)an_number(samples, first, 3);
        if (!is_end)
            continue;
        add_node(heat, (struct an_span){ first, i - first });
        first = i;
    }
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    struct heat heat = { .nodes = NULL };
    WEIR_TRY(an_chart_query(chart, nodes_sql, NULL, &heat.nodes, error));
    WEIR_TRY(an_chart_query(chart, samples_sql, NULL, &heat.samples, error));
    const size_t nodes = heat.nodes->row_count;
    if (nodes == 0 || heat.samples->row_count == 0)
        return an_chart_empty(chart, "this run recorded no samples of nodes with GPUs");
    heat.group = (nodes + MOST_ROWS - 1) / MOST_ROWS;
    heat.rows = (nodes + heat.group - 1) / heat.group;
    heat.grid = an_chart_grid(chart, heat.samples->row_count / nodes);
    WEIR_TRY(an_keep_numbers(&chart->keeper, heat.rows * heat.grid.bins, &heat.sums, error));
    WEIR_TRY(an_keep_numbers(&chart->keeper, heat.rows * heat.grid.bins, &heat.counts, error));
    add_nodes(&heat);
    WEIR_TRY(an_chart_claim(chart, "nodes.one nodes.uneven nodes.even", error));
    an_chart_subtitle(chart,
                      "Share of each node's GPUs that work is given, {width} means · sorted by "
                      "mean use · grey: node down");
    write_rows(chart, &heat);
    return draw_picture(chart, &heat, error);
}

const struct an_plot_ops an_plot_node_heat = {
    { "node-heat", "Which nodes idle, when, and how even is the load?" }, draw
};
