/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart placement: the GPUs of every node at one moment, coloured by the stage that holds them, or
 * as jobs; a shared GPU is split in proportion. The moment is the one with most GPUs at work, or
 * at_s.
 */
#include "analysis/plots/plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NODES = 192, MOST_GPUS = 64, COLORS = 8 };

static const char busiest_sql[] =
    "SELECT t_s + dt_s / 2 FROM cluster_sample WHERE run_id = :run ORDER BY gpu_active DESC, t_s"
    " LIMIT 1";
static const char nodes_sql[] =
    "SELECT node, name, gpus FROM node WHERE run_id = :run AND gpus > 0 ORDER BY node";
/* Of the nodes that are drawn: the first 192. */
static const char workers_sql[] =
    "SELECT node, stage, gpu_mask, gpu_amount FROM weir_moment WHERE node <= (SELECT max(node) FROM"
    " (SELECT node FROM node WHERE run_id = :run AND gpus > 0 ORDER BY node LIMIT 192))"
    " ORDER BY node, stage, worker";
static const char holders_sql[] =
    "SELECT NULL, stage, NULL, sum(gpu_amount) FROM weir_moment GROUP BY stage";

/* Four hues, each dark and light: neighbours differ in lightness too. */
static const char *const slot_colors[COLORS] = { AN_BLUE,   AN_ORANGE, AN_GREEN,  AN_GREY,
                                                 "#9fc8e8", "#f2cf8a", "#93d5bd", "#c5ccd3" };

struct layout {
    double cell, pitch; /* px: one GPU, one row */
    size_t rows, columns;
    double column_width;
    double top;
};

static struct layout plan_layout(const struct an_frame *nodes)
{
    double gpus = 1.0;
    for (size_t i = 0; i < nodes->row_count; i++)
        gpus = fmax(gpus, an_number(nodes, i, 2));
    const size_t count = nodes->row_count < MOST_NODES ? nodes->row_count : MOST_NODES;
    struct layout layout = { .top = 14.0 };
    layout.columns = count <= 12 ? 1 : count <= 48 ? 2 : 4;
    layout.rows = (count + layout.columns - 1) / layout.columns;
    layout.column_width = 920.0 / (double)layout.columns;
    layout.cell = fmin(76.0, (layout.column_width - 100.0) / gpus);
    layout.pitch = fmin(44.0, fmax(10.0, 480.0 / (double)layout.rows));
    return layout;
}

/* Who holds the worker of a row: a stage, or past all stages the jobs. */
static size_t holder_of(const struct an_chart *chart, const struct an_frame *workers, size_t row)
{
    const double stage = an_number(workers, row, 1);
    const double stages = (double)chart->facts->stage_count;
    return stage >= 0.0 && stage < stages ? (size_t)stage : chart->facts->stage_count;
}

static const char *holder_name(const struct an_chart *chart, size_t holder)
{
    return holder < chart->facts->stage_count ? chart->facts->stages[holder].name : "jobs";
}

/* Colour of a holder: by its rank among the stages that hold GPUs at all. */
static const char *holder_color(const struct an_chart *chart, size_t holder)
{
    size_t rank = 0;
    for (size_t i = 0; i < holder; i++)
        rank += chart->facts->stages[i].gpus > 0.0 ? 1 : 0;
    return slot_colors[rank % COLORS];
}

/* Fills the share of a worker into the first room of each of its GPUs. */
static void draw_worker(struct an_chart *chart, const struct layout *layout,
                        const struct an_frame *workers, size_t row, size_t place, double *used)
{
    const uint64_t mask = (uint64_t)an_number(workers, row, 2);
    const double amount = an_number(workers, row, 3);
    const size_t holder = holder_of(chart, workers, row);
    const double gpus = (double)__builtin_popcountll(mask);
    const double share = gpus > 0.0 ? amount / gpus : 0.0;
    const size_t column = place / layout->rows;
    const double x0 = 40.0 + layout->column_width * (double)column + 86.0;
    const double y0 = layout->top + layout->pitch * (double)(place % layout->rows);
    for (size_t gpu = 0; gpu < MOST_GPUS; gpu++) {
        if ((mask >> gpu & 1) == 0)
            continue;
        const double inner = layout->cell - 4.0;
        const double x = x0 + layout->cell * (double)gpu + inner * used[gpu];
        const struct an_box box = { x, y0 + 2.0, x + inner * share - (share < 1.0 ? 1.0 : 0.0),
                                    y0 + layout->pitch - 4.0 };
        an_chart_rectangle(chart, &box, holder_color(chart, holder), "front");
        used[gpu] += share;
        (void)fprintf(chart->data, "%zu %zu %zu %.4g ", place, gpu, holder, share);
        an_chart_cell(chart, holder_name(chart, holder));
        (void)fputc('\n', chart->data);
    }
}

static void draw_node(struct an_chart *chart, const struct layout *layout,
                      const struct an_frame *nodes, size_t place)
{
    const size_t column = place / layout->rows;
    const double x0 = 40.0 + layout->column_width * (double)column;
    const double y0 = layout->top + layout->pitch * (double)(place % layout->rows);
    const struct an_label name = { .x = x0 + 78.0,
                                   .y = y0 + 0.5 * (layout->pitch - 2.0),
                                   .size = layout->pitch < 14.0 ? 9.0 : 12.0,
                                   .align = 'r' };
    an_chart_name(chart, &name, an_text(nodes, place, 1), 76.0);
    for (size_t gpu = 0; gpu < (size_t)an_number(nodes, place, 2); gpu++) {
        const double x = x0 + 86.0 + layout->cell * (double)gpu;
        an_chart_rectangle(
            chart,
            &(struct an_box){ x, y0 + 2.0, x + layout->cell - 4.0, y0 + layout->pitch - 4.0 },
            "#eef1f4", "behind");
    }
}

static void draw_nodes(struct an_chart *chart, const struct layout *layout,
                       const struct an_frame *nodes, const struct an_frame *workers)
{
    const size_t shown = nodes->row_count < MOST_NODES ? nodes->row_count : MOST_NODES;
    size_t i = 0; /* both are ordered by node */
    for (size_t place = 0; place < shown; place++) {
        const int64_t node = (int64_t)an_number(nodes, place, 0);
        double used[MOST_GPUS] = { 0 };
        draw_node(chart, layout, nodes, place);
        for (; i < workers->row_count && (int64_t)an_number(workers, i, 0) <= node; i++)
            if ((int64_t)an_number(workers, i, 0) == node)
                draw_worker(chart, layout, workers, i, place, used);
    }
}

/* Holders in the picture, as coloured words, three a line at most. */
static double draw_key(struct an_chart *chart, const struct an_frame *holders, double y)
{
    double x = 126.0;
    for (size_t holder = 0; holder <= chart->facts->stage_count; holder++) {
        double gpus = 0.0;
        for (size_t i = 0; i < holders->row_count; i++)
            gpus += holder_of(chart, holders, i) == holder ? an_number(holders, i, 3) : 0.0;
        if (!(gpus > 0.0))
            continue;
        if (x > 700.0) {
            x = 126.0;
            y += 20.0;
        }
        an_chart_rectangle(chart, &(struct an_box){ x, y - 5.0, x + 11.0, y + 5.0 },
                           holder_color(chart, holder), "front");
        const struct an_word name = an_chart_word(chart, holder_name(chart, holder), 22);
        const struct an_label label = { .x = x + 17.0, .y = y, .size = 11.5 };
        an_chart_text(chart, &label, "%s %s GPUs", name.text, an_word_number(gpus).text);
        x += 240.0;
    }
    return y;
}

static weir_status write_texts(struct an_chart *chart, const struct an_frame *nodes,
                               struct weir_error *error)
{
    const bool is_cut = nodes->row_count > MOST_NODES;
    WEIR_TRY(an_chart_claim(chart, "moment.held", error));
    an_chart_subtitle(chart,
                      "GPUs of each node, coloured by who holds them, %s · pale: "
                      "free%s",
                      isnan(chart->options->at_s) ? "at the busiest moment"
                                                  : "at the time asked for",
                      is_cut ? " · the first 192 nodes" : "");
    return WEIR_OK;
}

static weir_status find_moment(struct an_chart *chart, struct weir_error *error)
{
    if (!isnan(chart->at_s))
        return WEIR_OK;
    const struct an_frame *frame = NULL;
    WEIR_TRY(an_chart_query(chart, busiest_sql, NULL, &frame, error));
    chart->at_s = frame->row_count > 0 ? an_number(frame, 0, 0) : 0.5 * chart->run->end_s;
    return WEIR_OK;
}

static void draw_all(struct an_chart *chart, const struct an_frame *nodes,
                     const struct an_frame *workers, const struct an_frame *holders)
{
    const struct layout layout = plan_layout(nodes);
    const double end = layout.top + layout.pitch * (double)layout.rows;
    (void)an_chart_block(chart, "GPU slots", "place gpu stage share name");
    /* The key's last line decides the height, and the height all positions: measure it first. */
    FILE *body = chart->body;
    struct an_buffer trial;
    chart->height = end + 40.0;
    if (an_buffer_open(&trial)) {
        chart->body = trial.file;
        chart->height = draw_key(chart, holders, end + 18.0) + 16.0;
        free(an_buffer_take(&trial));
    }
    chart->body = body;
    an_chart_panel(chart, &(struct an_box){ 40, 0, 960, end });
    draw_nodes(chart, &layout, nodes, workers);
    (void)draw_key(chart, holders, end + 18.0);
    (void)fputs("unset border; unset tics; unset grid; set xrange [0:1]; set yrange [0:1]\n"
                "plot NaN notitle\n",
                chart->body);
    an_chart_draw_end(chart);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    WEIR_TRY(find_moment(chart, error));
    const struct an_args args = { .run = chart->run->run_id, .to = chart->at_s };
    const struct an_frame *nodes = NULL;
    const struct an_frame *workers = NULL;
    const struct an_frame *holders = NULL;
    WEIR_TRY(an_chart_query(chart, nodes_sql, &args, &nodes, error));
    WEIR_TRY(an_share(chart->keeper.db, &an_share_moment, &args, error));
    WEIR_TRY(an_chart_query(chart, workers_sql, &args, &workers, error));
    WEIR_TRY(an_chart_query(chart, holders_sql, &args, &holders, error));
    if (nodes->row_count == 0)
        return an_chart_empty(chart, "this cluster has no GPU");
    if (holders->row_count == 0)
        return an_chart_empty(chart, "no worker holds a GPU at %s",
                              an_word_duration(chart->at_s).text);
    WEIR_TRY(write_texts(chart, nodes, error));
    draw_all(chart, nodes, workers, holders);
    return WEIR_OK;
}

const struct an_plot_ops an_plot_placement = {
    { "placement", "What does the cluster look like at one moment?" }, draw
};
