/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart warm-up: is the start over when results begin to count? The mean over all replications,
 * smoothed (Welch, The Statistical Analysis of Simulation Results, 1983), and in the title where
 * MSER-5 would cut (White, Cobb and Spratt, WSC 2000): of two measures the later one.
 */
#include "analysis/nan.h"
#include "analysis/plots/curves.h"
#include "analysis/plots/plots.h"
#include "analysis/statistics.h"

#include <math.h>
#include <string.h>

enum { RUN = 4, MEASURES = 2, SMOOTH = 20 }; /* the moving average is over two in SMOOTH bins */
enum { COUNTED, RAW, BEFORE, LINES };

/* Of all replications of the variant that have samples, in their order. */
#define RUNS(table)                                                                                \
    " FROM " table " s JOIN run r USING (run_id) WHERE r.variant ="                                \
    " (SELECT variant FROM run WHERE run_id = :run) AND r.end_s > r.warmup_s"
static const char items_sql[] = "SELECT s.t_s, s.dt_s, s.items_done / s.dt_s, sum(s.items_arrived "
                                "- s.items_done - s.items_left) OVER"
                                " (PARTITION BY s.run_id ORDER BY s.t_s), s.run_id" RUNS(
                                    "cluster_sample") " ORDER BY s.run_id, s.t_s";
static const char jobs_sql[] = "SELECT s.t_s, s.dt_s, sum(s.waiting), sum(s.gpus), s.run_id" RUNS(
    "job_sample") " GROUP BY s.run_id, s.t_s ORDER BY s.run_id, s.t_s";

static const struct kind {
    const char *sql;
    const char *titles[MEASURES];
} kinds[] = {
    { items_sql, { "items finished per second", "items in and not done" } },
    { jobs_sql, { "jobs waiting", "GPUs held by jobs" } },
};

struct start {
    struct an_curves curves;
    struct an_grid grid;
    size_t runs;
    size_t cut; /* bins to leave out */
    bool is_too_short;
    char name[48]; /* of the mean that is not smoothed */
};

/* The samples of one run, from a row on. */
static struct an_span run_rows(const struct an_frame *frame, size_t row)
{
    struct an_span span = { .first = row };
    while (row + span.rows < frame->row_count &&
           an_number(frame, row + span.rows, RUN) < an_number(frame, row, RUN) + 0.5)
        span.rows++;
    return span;
}

/* Mean of each bin over the runs that have a value there; how many runs. */
static size_t average(const struct start *start, const struct an_frame *frame, size_t column,
                      double *means)
{
    double counts[AN_CHART_BINS] = { 0 };
    double one[AN_CHART_BINS];
    size_t runs = 0;
    for (size_t b = 0; b < start->grid.bins; b++)
        means[b] = 0.0;
    for (size_t row = 0; row < frame->row_count; runs++) {
        const struct an_span span = run_rows(frame, row);
        row += span.rows;
        an_grid_means(&start->grid, frame, span, column, one);
        for (size_t b = 0; b < start->grid.bins; b++) {
            means[b] += isnan(one[b]) ? 0.0 : one[b];
            counts[b] += isnan(one[b]) ? 0.0 : 1.0;
        }
    }
    for (size_t b = 0; b < start->grid.bins; b++)
        means[b] = counts[b] > 0.0 ? means[b] / counts[b] : AN_NAN;
    return runs;
}

/* Where the measure's start ends: bins without a value, behind the last sample, are none. */
static void judge(struct start *start, const double *means)
{
    size_t n = start->grid.bins;
    while (n > 0 && isnan(means[n - 1]))
        n--;
    const struct an_mser mser = an_mser5(means, n);
    start->cut = mser.truncated > start->cut ? mser.truncated : start->cut;
    start->is_too_short = start->is_too_short || mser.is_too_short;
}

static weir_status add_measure(struct an_chart *chart, struct start *start,
                               const struct an_frame *frame, const struct kind *kind,
                               size_t measure, struct weir_error *error)
{
    struct an_curve_panel *panel =
        an_curve_panel(&start->curves, kind->titles[measure], AN_AXIS_TIME);
    const struct an_grid *grid = &start->grid;
    double *lines[LINES];
    double *smooth = NULL;
    for (size_t g = 0; g < LINES; g++)
        WEIR_TRY(an_keep_numbers(&chart->keeper, grid->bins, &lines[g], error));
    WEIR_TRY(an_keep_numbers(&chart->keeper, grid->bins, &smooth, error));
    start->runs = average(start, frame, 2 + measure, lines[RAW]);
    judge(start, lines[RAW]);
    const size_t count = an_welch_average(lines[RAW], grid->bins, 1 + grid->bins / SMOOTH, smooth);
    for (size_t b = 0; b < grid->bins; b++) {
        const bool is_before = grid->from_s + (double)b * grid->step_s < chart->run->warmup_s;
        const double value = b < count ? smooth[b] : AN_NAN;
        lines[BEFORE][b] = is_before ? value : AN_NAN;
        lines[COUNTED][b] = is_before ? AN_NAN : value;
    }
    for (size_t g = 0; g < start->curves.count; g++)
        WEIR_TRY(an_curve_means(chart, panel, g, grid, lines[g], error));
    panel->top = an_axis_top(panel->top);
    return WEIR_OK;
}

static void write_title(struct an_chart *chart, const struct start *start)
{
    struct an_claim claim = { .name = NULL };
    const double cut_s = (double)start->cut * start->grid.step_s;
    an_claim_put(&claim, "cut", cut_s);
    an_claim_put(&claim, "warmup", chart->run->warmup_s);
    an_claim_give(start->is_too_short                                       ? "start.unknown"
                  : start->cut == 0                                         ? "start.none"
                  : cut_s > chart->run->warmup_s + 0.5 * start->grid.step_s ? "start.counted"
                                                                            : "start.over",
                  &claim);
    an_chart_title(chart, "%s", claim.text);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    struct start start = { .curves = { .is_wide = true } };
    const struct kind *kind = &kinds[chart->facts->stage_count > 0 ? 0 : 1];
    const struct an_frame *frame = NULL;
    if (strcmp(chart->run->status, "horizon") != 0 && !(chart->run->warmup_s > 0.0))
        return an_chart_empty(chart, "the run ends with its work, and all of it counts");
    if (chart->is_bare && !(chart->run->warmup_s > 0.0)) /* a page is about what was asked */
        return an_chart_empty(chart, "there is no warm-up; weir plot DB warm-up shows the start");
    WEIR_TRY(an_chart_query(chart, kind->sql, NULL, &frame, error));
    if (frame->row_count == 0)
        return an_chart_empty(chart, "nothing was sampled over time in this run");
    start.grid = an_chart_grid(chart, run_rows(frame, 0).rows);
    start.curves.count = chart->run->warmup_s > 0.0 ? LINES : BEFORE;
    for (size_t m = 0; m < MEASURES; m++)
        WEIR_TRY(add_measure(chart, &start, frame, kind, m, error));
    (void)snprintf(start.name, sizeof start.name,
                   start.runs == 1 ? "the only replication" : "mean of %zu replications",
                   start.runs);
    start.curves.names[COUNTED] = "smoothed, counted";
    start.curves.names[BEFORE] = "smoothed, in the warm-up";
    start.curves.names[RAW] = start.name;
    write_title(chart, &start);
    an_chart_subtitle(chart, "{width} means · smoothed: Welch's moving average · the start ends "
                             "where MSER-5 cuts, of both panels the later");
    return an_curves_draw(chart, &start.curves, error);
}

const struct an_plot_ops an_plot_warm_up = {
    { "warm-up", "Is the start over when results begin to count?" }, draw
};
