/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart alloc-vs-used: of each resource, how much is there, how much is assigned, how much works.
 * Capacity follows the nodes that are up. Used is the compute that work is given (docs/metrics.md),
 * not SM activity.
 */
#include "analysis/plots/plots.h"

#include <math.h>

enum { CAPACITY, ASSIGNED, ACTIVE, SERIES };

static const char samples_sql[] =
    "SELECT t_s, dt_s, cpu_capacity, cpu_assigned, cpu_active, gpu_capacity, gpu_assigned,"
    " gpu_active, nvdec_capacity, nvdec_assigned, nvdec_active, nvenc_capacity, nvenc_assigned,"
    " nvenc_active FROM cluster_sample WHERE run_id = :run ORDER BY t_s";

/* Of each resource what all nodes have, those that are away or down included. */
static const char installed_sql[] =
    "SELECT sum(cpus), sum(gpus), sum(nvdecs), sum(nvencs) FROM node WHERE run_id = :run";

/* Whether those that are up are not all the time all. */
static bool is_part(const struct an_chart *chart, enum an_resource resource, double installed)
{
    return chart->facts->resources[resource].capacity < 0.9995 * installed;
}

static weir_status write_texts(struct an_chart *chart, bool is_part, struct weir_error *error)
{
    const double nodes = (double)chart->facts->node_count;
    char all[64] = "installed capacity";
    WEIR_TRY(an_chart_claim(
        chart, "use.jobs_wait use.unassigned use.jobs use.idle use.well use.shares", error));
    if (is_part)
        (void)snprintf(all, sizeof all, "what all nodes have, up or not");
    an_chart_subtitle(chart,
                      "Share of %s, {width} means · dotted: nodes that are up · %.0f "
                      "node%s, %s GPU%s · used = given to work, not SM activity",
                      all, nodes, an_plural(nodes), an_word_number(chart->facts->gpu_count).text,
                      an_plural(chart->facts->gpu_count));
    return WEIR_OK;
}

/* Shares of what is installed, as the curves are; which part of it is up, where that is not all. */
static void label_ends(struct an_chart *chart, enum an_resource resource, double y0, double y1,
                       double installed)
{
    const struct an_resource_facts *facts = &chart->facts->resources[resource];
    const double up = facts->capacity / installed;
    const struct {
        const char *word, *color;
        double share;
    } ends[] = { { "used", AN_BLUE, facts->active * up },
                 { "assigned", AN_MUTED, facts->assigned * up },
                 { "up", AN_INK, up } };
    const size_t count = is_part(chart, resource, installed) ? 3 : 2;
    double y[3];
    for (size_t i = 0; i < count; i++) {
        y[i] = y1 - (y1 - y0) * ends[i].share;
        y[i] = i == 0 ? y[i] : fmin(y[i], y[i - 1] - 0.1);
    }
    an_push_apart(y, count, 17.0, y0 + 4.0, y1 - 4.0);
    struct an_label label = { .x = chart->right + 12.0 };
    for (size_t i = 0; i < count; i++) {
        label.y = y[i];
        label.color = ends[i].color;
        label.is_bold = i == 0;
        an_chart_text(chart, &label, "%s %s", ends[i].word, an_word_percent(ends[i].share).text);
    }
    label = (struct an_label){ .x = 40, .y = 0.5 * (y0 + y1), .size = 13, .is_bold = true };
    an_chart_text(chart, &label, "%s", an_resource_name(resource));
}

/* Drawn in percent of what is installed, told in pieces. */
static void tell_panel(struct an_chart *chart, enum an_resource resource,
                       const struct an_grid *grid, const double *series, double installed)
{
    static const char *const names[2] = { "used", "assigned" };
    double values[2 * AN_CHART_BINS];
    for (size_t b = 0; b < grid->bins; b++) {
        values[b] = series[ACTIVE * grid->bins + b];
        values[grid->bins + b] = series[ASSIGNED * grid->bins + b];
    }
    an_chart_track(chart, &(struct an_track){ .name = an_resource_name(resource),
                                              .unit = "",
                                              .high = 1.03 * installed,
                                              .grid = grid,
                                              .series = values,
                                              .count = 2,
                                              .names = names });
}

static void draw_panel(struct an_chart *chart, enum an_resource resource, size_t block,
                       const struct an_box *box, double installed)
{
    an_chart_panel(chart, box);
    label_ends(chart, resource, box->y0, box->y1, installed);
    (void)fprintf(chart->body,
                  "set yrange [0:103]; set ytics 0,50,100 format '%%g %%%%'\n"
                  "TOP = %.9g / 100.0\n"
                  "plot DATA index %zu using 1:($3/TOP) with filledcurves y1=0 fc rgb '" AN_PALE
                  "', \\\n"
                  " '' index %zu using 1:($4/TOP) with filledcurves y1=0 fc rgb '#a9cfe6', \\\n"
                  " '' index %zu using 1:($4/TOP) with lines lc rgb '" AN_BLUE "' lw 1.6, \\\n"
                  " '' index %zu using 1:($3/TOP) with lines lc rgb '" AN_GREY "' lw 1.2, \\\n"
                  " '' index %zu using 1:($2/TOP) with lines lc rgb '" AN_INK "' lw 0.8 dt (2,2)\n",
                  installed, block, block, block, block, block);
    an_chart_draw_end(chart);
}

/* Resources the cluster has and someone holds; CPUs and GPUs always. */
static size_t present_resources(const struct an_facts *facts, enum an_resource *present)
{
    size_t count = 0;
    for (size_t i = 0; i < AN_RESOURCES; i++)
        if (facts->resources[i].capacity > 0.0 &&
            (i == AN_CPU || i == AN_GPU || facts->resources[i].assigned > 0.0))
            present[count++] = (enum an_resource)i;
    return count;
}

static weir_status draw_panels(struct an_chart *chart, const struct an_frame *frame,
                               const struct an_frame *nodes, struct weir_error *error)
{
    enum an_resource present[AN_RESOURCES];
    const size_t count = present_resources(chart->facts, present);
    struct an_grid grid;
    double *all = NULL;
    WEIR_TRY(an_chart_means(chart, frame, (size_t)SERIES * AN_RESOURCES, &grid, &all, error));
    const double pitch = count > 2 ? 112.0 : 170.0;
    chart->height = 28.0 + pitch * (double)count + 12.0;
    for (size_t i = 0; i < count; i++) {
        const struct an_box box = { 150, 28.0 + pitch * (double)i, 850,
                                    28.0 + pitch * (double)(i + 1) - 22.0 };
        const double *series = all + SERIES * (size_t)present[i] * grid.bins;
        const size_t block =
            an_chart_block(chart, an_resource_name(present[i]), "t_s capacity assigned used");
        an_chart_rows(chart, &grid, series, SERIES);
        chart->left = box.x0;
        chart->right = box.x1;
        an_chart_time_axis(chart, i + 1 == count);
        if (i + 1 == count)
            WEIR_TRY(an_chart_happenings(chart, 26.0, box.y1, error));
        const double installed =
            fmax(an_number(nodes, 0, present[i]), an_largest(series, grid.bins));
        draw_panel(chart, present[i], block, &box, installed);
        tell_panel(chart, present[i], &grid, series, installed);
    }
    return WEIR_OK;
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    WEIR_TRY(an_chart_query(chart, samples_sql, NULL, &frame, error));
    if (frame->row_count == 0)
        return an_chart_empty(chart, "this run recorded no samples of the cluster");
    const struct an_frame *nodes = NULL;
    WEIR_TRY(an_chart_query(chart, installed_sql, NULL, &nodes, error));
    const enum an_resource main = chart->facts->gpu_count > 0.0 ? AN_GPU : AN_CPU;
    WEIR_TRY(write_texts(chart, is_part(chart, main, an_number(nodes, 0, main)), error));
    return draw_panels(chart, frame, nodes, error);
}

const struct an_plot_ops an_plot_alloc_vs_used = {
    { "alloc-vs-used", "How much of what is set aside does work?" }, draw
};
