/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart node-heat: GPU use of each node over time, one row a node, sorted by mean use within its
 * type; grey where the node is down or away. Many nodes share rows (the mean of neighbours in that
 * order).
 */
#include "analysis/nan.h"
#include "analysis/plots/plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 240 };

static const char nodes_sql[] =
    "SELECT node, name, type, gpus FROM node WHERE run_id = :run AND gpus > 0 ORDER BY type, node";

/* In the order in which they lie in the file: by node would be a look into the file for each. */
static const char samples_sql[] =
    "SELECT node, t_s, dt_s, up, gpu_active FROM node_sample NOT INDEXED WHERE run_id = :run";
static const char count_sql[] =
    "SELECT count(*), (SELECT max(node) + 1 FROM node WHERE run_id = :run) FROM node_sample"
    " WHERE run_id = :run AND node = (SELECT min(node) FROM node WHERE run_id = :run AND gpus > 0)";

/* Why nodes may be grey: somebody gives them back, something fails. */
static const char why_grey_sql[] =
    "SELECT EXISTS (SELECT 1 FROM result WHERE run_id = :run AND metric = 'as.nodes'),"
    " EXISTS (SELECT 1 FROM happening WHERE run_id = :run AND kind IN ('node_fail', 'node_down',"
    " 'rack_fail', 'switch_fail'))";

/* A node: its place in the picture, and its use. */
struct node {
    size_t index; /* in the frame of nodes; SIZE_MAX = it has no GPU */
    double gpus, used, up;
};

struct heat {
    const struct an_frame *nodes;
    struct an_grid grid;
    double from_s;
    size_t count, ids;  /* nodes with GPUs; numbers of nodes */
    struct node *node;  /* by number */
    size_t *order;      /* indices of nodes as they stand in the picture */
    size_t rows, group; /* rows of the picture, nodes a row */
    /* Of share and time: of each bin all nodes, as samples come; then of each row all bins. */
    double *sums, *counts;
};

/* One sample of one node into the bins it lies in. */
static void add_sample(void *state, const double *sample)
{
    const struct heat *heat = state;
    if (!(sample[0] < (double)heat->ids) || heat->node[(size_t)sample[0]].index == SIZE_MAX)
        return;
    struct node *node = &heat->node[(size_t)sample[0]];
    const double start = sample[1];
    const double end = start + sample[2];
    if (start >= heat->from_s) {
        node->used += sample[4] * sample[2];
        node->up += node->gpus * sample[3] * sample[2];
    }
    if (!(sample[3] > 0.01))
        return;
    const double value = 100.0 * sample[4] / (node->gpus * sample[3]);
    const size_t last = an_grid_bin(&heat->grid, end - 1e-9 * heat->grid.step_s);
    for (size_t b = an_grid_bin(&heat->grid, start); b <= last; b++) {
        const double bin = heat->grid.from_s + (double)b * heat->grid.step_s;
        const double share = fmax(fmin(end, bin + heat->grid.step_s) - fmax(start, bin), 0.0);
        heat->sums[b * heat->count + node->index] += value * share;
        heat->counts[b * heat->count + node->index] += share;
    }
}

static const struct node *node_at(const struct heat *heat, size_t index)
{
    return &heat->node[(size_t)an_number(heat->nodes, index, 0)];
}

/* By type, then the most used first. */
static int compare_nodes(const void *a, const void *b, void *state)
{
    const struct heat *heat = state;
    const size_t x = *(const size_t *)a;
    const size_t y = *(const size_t *)b;
    const int type = strcmp(an_text(heat->nodes, x, 2), an_text(heat->nodes, y, 2));
    if (type != 0)
        return type;
    const double use_x = node_at(heat, x)->used / fmax(node_at(heat, x)->up, 1e-12);
    const double use_y = node_at(heat, y)->used / fmax(node_at(heat, y)->up, 1e-12);
    if (use_x < use_y || use_x > use_y)
        return use_x < use_y ? 1 : -1;
    return x < y ? -1 : 1;
}

/* Rows of neighbours in that order, in place of the nodes. */
static weir_status join_rows(struct an_chart *chart, struct heat *heat, struct weir_error *error)
{
    const size_t bins = heat->grid.bins;
    double *sums = NULL;
    double *counts = NULL;
    heat->order = calloc(heat->count, sizeof *heat->order);
    if (heat->order == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (size_t i = 0; i < heat->count; i++)
        heat->order[i] = i;
    qsort_r(heat->order, heat->count, sizeof *heat->order, compare_nodes, heat);
    heat->group = (heat->count + MOST_ROWS - 1) / MOST_ROWS;
    heat->rows = (heat->count + heat->group - 1) / heat->group;
    WEIR_TRY(an_keep_numbers(&chart->keeper, heat->rows * bins, &sums, error));
    WEIR_TRY(an_keep_numbers(&chart->keeper, heat->rows * bins, &counts, error));
    for (size_t b = 0; b < bins; b++)
        for (size_t i = 0; i < heat->count; i++) {
            const size_t from = b * heat->count + heat->order[i];
            sums[i / heat->group * bins + b] += heat->sums[from];
            counts[i / heat->group * bins + b] += heat->counts[from];
        }
    heat->sums = sums;
    heat->counts = counts;
    return WEIR_OK;
}

/* The first node of a row. */
static size_t first_of(const struct heat *heat, size_t row)
{
    return heat->order[row * heat->group];
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
            an_chart_cell(chart, an_text(heat->nodes, first_of(heat, row), 1));
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
        an_chart_name(chart, &name, an_text(heat->nodes, first_of(heat, row), 1), 132.0);
    }
    /* A white line between pools, the pool's name on the right. */
    size_t first = 0;
    for (size_t row = 1; row <= heat->rows; row++) {
        const char *type = an_text(heat->nodes, first_of(heat, first), 2);
        if (row < heat->rows && strcmp(an_text(heat->nodes, first_of(heat, row), 2), type) == 0)
            continue;
        const double middle = y0 + pitch * 0.5 * (double)(first + row);
        const struct an_label pool = { .x = 858, .y = middle, .size = 11 };
        an_chart_name(chart, &pool, type, 134.0);
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
    /* The first is no colour of the page's: the picture keeps its own in the dark, so the key must.
     */
    static const char *const colors[9] = { "#f3f6f8", "#dce8f1", "#b9d5e8", "#94c1dd", "#6babd0",
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

/* Room for what is added up. False: no node has samples. */
static weir_status prepare(struct an_chart *chart, struct heat *heat, bool *is_empty,
                           struct weir_error *error)
{
    const struct an_frame *count = NULL;
    WEIR_TRY(an_chart_query(chart, nodes_sql, NULL, &heat->nodes, error));
    WEIR_TRY(an_chart_query(chart, count_sql, NULL, &count, error));
    heat->count = heat->nodes->row_count;
    *is_empty = heat->count == 0 || an_number(count, 0, 0) < 0.5;
    if (*is_empty)
        return WEIR_OK;
    heat->from_s = chart->facts->from_s;
    heat->ids = (size_t)an_number(count, 0, 1);
    heat->grid = an_chart_grid(chart, (size_t)an_number(count, 0, 0));
    heat->node = calloc(heat->ids, sizeof *heat->node);
    if (heat->node == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (size_t i = 0; i < heat->ids; i++)
        heat->node[i].index = SIZE_MAX;
    for (size_t i = 0; i < heat->count; i++)
        heat->node[(size_t)an_number(heat->nodes, i, 0)] =
            (struct node){ .index = i, .gpus = an_number(heat->nodes, i, 3) };
    const size_t cells = heat->count * heat->grid.bins;
    WEIR_TRY(an_keep_numbers(&chart->keeper, cells, &heat->sums, error));
    return an_keep_numbers(&chart->keeper, cells, &heat->counts, error);
}

static weir_status draw_heat(struct an_chart *chart, struct heat *heat, struct weir_error *error)
{
    bool is_empty = false;
    WEIR_TRY(prepare(chart, heat, &is_empty, error));
    if (is_empty)
        return an_chart_empty(chart, "this run recorded no samples of nodes with GPUs");
    const struct an_args args = { .run = chart->run->run_id };
    WEIR_TRY(an_query_each(chart->keeper.db, samples_sql, &args, add_sample, heat, error));
    WEIR_TRY(join_rows(chart, heat, error));
    WEIR_TRY(an_chart_claim(chart, "nodes.one nodes.uneven nodes.even", error));
    const struct an_frame *why = NULL;
    WEIR_TRY(an_chart_query(chart, why_grey_sql, NULL, &why, error));
    an_chart_subtitle(chart,
                      "Share of each node's GPUs that work is given, {width} means · sorted by "
                      "mean use · grey: node %s",
                      !(an_number(why, 0, 0) > 0.5) ? "down"
                      : an_number(why, 0, 1) > 0.5  ? "away or down"
                                                    : "away");
    write_rows(chart, heat);
    return draw_picture(chart, heat, error);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    struct heat heat = { .nodes = NULL };
    const weir_status status = draw_heat(chart, &heat, error);
    free(heat.node);
    free(heat.order);
    return status;
}

const struct an_plot_ops an_plot_node_heat = {
    { "node-heat", "Which nodes idle, when, and how even is the load?" }, draw
};
