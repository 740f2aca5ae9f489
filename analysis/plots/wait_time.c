/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart wait-time: how long those that come at each time wait, and take: jobs by when they came,
 * median and 95 %; items of a pipeline by when they end, from the counts of what came and what is
 * done, as if all went in the order in which they came.
 */
#include "analysis/nan.h"
#include "analysis/plots/curves.h"
#include "analysis/plots/plots.h"

#include <math.h>
#include <string.h>

enum { SLOTS = 48 };

/* Of jobs that came in a slot and wait still, the wait so far is a lower bound: it stands. */
static const char jobs_sql[] =
    "WITH j AS (SELECT min(%d - 1, CAST(submit_s / :to * %d AS INTEGER)) AS slot, %s AS v FROM job"
    "  WHERE run_id = :run AND outcome <> 'refused'),"
    " k AS (SELECT slot, v, row_number() OVER (PARTITION BY slot ORDER BY v) AS k,"
    "  count(*) OVER (PARTITION BY slot) AS n FROM j)"
    " SELECT slot, min(iif(k >= 0.5 * n, v, NULL)), min(iif(k >= 0.95 * n, v, NULL)) FROM k"
    " GROUP BY slot ORDER BY slot";

static const struct measure {
    const char *title, *value;
} measures[] = {
    { "wait of the jobs that come then", "coalesce(first_start_s, :to) - submit_s" },
    { "time until they end", "coalesce(end_s, :to) - submit_s" },
};

static const char items_sql[] =
    "SELECT t_s + dt_s, sum(items_arrived) OVER (ORDER BY t_s), sum(items_done + items_left) OVER"
    " (ORDER BY t_s), dt_s"
    " FROM cluster_sample WHERE run_id = :run ORDER BY t_s";

static weir_status add_jobs(struct an_chart *chart, struct an_curves *curves,
                            const struct measure *measure, char title[96], struct weir_error *error)
{
    char sql[1200];
    const struct an_frame *frame = NULL;
    const struct an_args args = { .run = chart->run->run_id, .to = fmax(chart->run->end_s, 1e-3) };
    (void)snprintf(sql, sizeof sql, jobs_sql, SLOTS, SLOTS, measure->value);
    WEIR_TRY(an_chart_query(chart, sql, &args, &frame, error));
    if (frame->row_count == 0)
        return WEIR_OK;
    double series[2 * SLOTS];
    for (size_t i = 0; i < (size_t)2 * SLOTS; i++)
        series[i] = AN_NAN;
    for (size_t i = 0; i < frame->row_count; i++)
        for (size_t k = 0; k < 2; k++)
            series[k * SLOTS + (size_t)an_number(frame, i, 0)] = an_number(frame, i, 1 + k);
    const char *word = NULL;
    const double unit = an_time_unit(an_largest(series, (size_t)2 * SLOTS), &word);
    (void)snprintf(title, 96, "%s, %s", measure->title, word);
    struct an_curve_panel *panel = an_curve_panel(curves, title, AN_AXIS_TIME);
    const struct an_grid grid = { .to_s = args.to, .step_s = args.to / SLOTS, .bins = SLOTS };
    chart->point_s = grid.step_s;
    for (size_t i = 0; i < (size_t)2 * SLOTS; i++)
        series[i] /= unit;
    for (size_t k = 0; k < 2; k++)
        WEIR_TRY(an_curve_means(chart, panel, k, &grid, series + k * SLOTS, error));
    panel->top = an_axis_top(panel->top);
    curves->names[0] = "half of them at most";
    curves->names[1] = "95 % of them at most";
    curves->count = 2;
    return WEIR_OK;
}

/* When as many had come as are done at the end of row `i`; NAN before the first. */
static double came_at(const struct an_frame *frame, double done)
{
    double before_t = 0.0;
    double before = 0.0;
    for (size_t i = 0; i < frame->row_count; i++) {
        const double t_s = an_number(frame, i, 0);
        const double came = an_number(frame, i, 1);
        if (came >= done)
            return came > before ? before_t + (t_s - before_t) * (done - before) / (came - before)
                                 : t_s;
        before_t = t_s;
        before = came;
    }
    return AN_NAN;
}

static weir_status add_items(struct an_chart *chart, struct an_curves *curves, char title[96],
                             struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    double *ages = NULL;
    double most = 0.0;
    double longer = 0.0; /* than an interval */
    size_t points = 0;
    WEIR_TRY(an_chart_query(chart, items_sql, NULL, &frame, error));
    WEIR_TRY(an_keep_numbers(&chart->keeper, frame->row_count + 1, &ages, error));
    for (size_t i = 0; i < frame->row_count; i++) {
        const double done = an_number(frame, i, 2);
        ages[i] = done > 0.0 ? an_number(frame, i, 0) - came_at(frame, done) : AN_NAN;
        most = fmax(most, ages[i]);
        longer += ages[i] > an_number(frame, i, 3) ? 1.0 : 0.0;
        points += isnan(ages[i]) ? 0 : 1;
    }
    /* A line of two points says nothing of when, and within an interval counts tell no time. */
    if (points < 3 || longer < 0.5 * (double)points)
        return WEIR_OK;
    const char *word = NULL;
    const double unit = an_time_unit(most, &word);
    (void)snprintf(title, 96, "time from admission to end of the item that is done then, %s", word);
    struct an_curve_panel *panel = an_curve_panel(curves, title, AN_AXIS_TIME);
    panel->top = an_axis_top(most / unit);
    panel->blocks[0] = an_chart_block(chart, title, "t_s time");
    const size_t every = 1 + frame->row_count / AN_CHART_BINS;
    for (size_t i = 0; i < frame->row_count; i += every)
        if (!isnan(ages[i]))
            (void)fprintf(chart->data, "%.9g %.6g\n", an_number(frame, i, 0), ages[i] / unit);
    chart->point_s = chart->run->end_s / (double)frame->row_count * (double)every;
    curves->count = curves->count == 0 ? 1 : curves->count;
    curves->names[0] = curves->names[0] == NULL ? "items" : curves->names[0];
    return WEIR_OK;
}

/* Counts of two pipelines together would be the order of neither. */
static bool is_one_pipeline(const struct an_facts *facts)
{
    for (size_t i = 1; i < facts->stage_count; i++)
        if (strcmp(facts->stages[i].pipeline, facts->stages[0].pipeline) != 0)
            return false;
    return facts->stage_count > 0;
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    char titles[3][96];
    struct an_curves curves = { .is_wide = true };
    for (size_t m = 0; m < 2; m++)
        WEIR_TRY(add_jobs(chart, &curves, &measures[m], titles[m], error));
    const bool has_jobs = curves.panel_count > 0;
    if (is_one_pipeline(chart->facts) && chart->facts->offered_per_s > 0.0)
        WEIR_TRY(add_items(chart, &curves, titles[2], error));
    if (curves.panel_count == 0)
        return an_chart_empty(
            chart,
            "nothing arrives over time in this run, or items are through within an interval");
    WEIR_TRY(an_chart_claim(
        chart, has_jobs ? "spread.halves spread.jobs" : "run.grows flow.piles_up", error));
    if (chart->title[0] == '\0')
        an_chart_title(chart,
                       has_jobs ? "Waits and times of the jobs, by when they come"
                                : "Time of the items from admission to end, by when they are done");
    an_chart_subtitle(chart, "Points {width} apart%s%s",
                      has_jobs ? " · of jobs that still wait or run, the time so far" : "",
                      curves.panel_count == (has_jobs ? 2U : 0U)
                          ? ""
                          : " · items from counts, as if all went in the order they came");
    return an_curves_draw(chart, &curves, error);
}

const struct an_plot_ops an_plot_wait_time = {
    { "wait-time", "How long do jobs and items wait and take, by when they come?" }, draw
};
