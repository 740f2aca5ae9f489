/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart variants: all variants over time in one picture, in the same replication: what they finish
 * and how much is unfinished; of jobs how many wait and the GPUs they hold.
 */
#include "analysis/nan.h"
#include "analysis/plots/curves.h"
#include "analysis/plots/plots.h"

#include <math.h>
#include <string.h>

/* Other columns than the time are read from the third on. */
static const char items_sql[] =
    "SELECT s.t_s, s.dt_s, s.items_done / s.dt_s, sum(s.items_arrived - s.items_done - "
    "s.items_left) OVER"
    " (PARTITION BY s.run_id ORDER BY s.t_s), r.variant, r.end_s"
    " FROM cluster_sample s JOIN run r USING (run_id) WHERE r.replication = :id"
    " ORDER BY r.variant_order, r.variant, s.t_s";
static const char jobs_sql[] =
    "SELECT s.t_s, s.dt_s, sum(s.waiting), sum(s.gpus), r.variant, r.end_s"
    " FROM job_sample s JOIN run r USING (run_id) WHERE r.replication = :id"
    " GROUP BY s.run_id, s.t_s ORDER BY r.variant_order, r.variant, s.t_s";

static const struct kind {
    const char *sql;
    const char *titles[2];
} kinds[2] = {
    { items_sql, { "items finished per second", "items that are in and not done" } },
    { jobs_sql, { "jobs waiting", "GPUs held by jobs" } },
};

/* The samples of one variant, from row `*at` on, which becomes the one behind. */
static weir_status add_variant(struct an_chart *chart, struct an_curves *curves, size_t panels_from,
                               const struct an_frame *frame, size_t *at, struct weir_error *error)
{
    const size_t first = *at;
    const char *name = an_text(frame, first, 4);
    struct an_span span = { .first = first };
    while (first + span.rows < frame->row_count &&
           strcmp(an_text(frame, first + span.rows, 4), name) == 0)
        span.rows++;
    *at = first + span.rows;
    size_t group = 0;
    while (group < curves->count && strcmp(curves->names[group], name) != 0)
        group++;
    if (group == AN_CURVES_MOST)
        return WEIR_OK;
    curves->names[group] = name;
    curves->count = group == curves->count ? group + 1 : curves->count;
    /* Half as many bins as a chart of one run: lines of several must not become a carpet. */
    struct an_grid grid = { .to_s = an_number(frame, first, 5) };
    grid.bins = span.rows < AN_CHART_BINS / 2 ? span.rows : AN_CHART_BINS / 2;
    grid.step_s = grid.to_s / (double)grid.bins;
    chart->point_s = fmax(chart->point_s, grid.step_s);
    chart->span_s = fmax(chart->span_s, grid.to_s);
    double means[AN_CHART_BINS];
    for (size_t p = 0; p < 2; p++) {
        an_grid_means(&grid, frame, span, 2 + p, means);
        WEIR_TRY(
            an_curve_means(chart, &curves->panels[panels_from + p], group, &grid, means, error));
    }
    return WEIR_OK;
}

static weir_status add_kind(struct an_chart *chart, struct an_curves *curves,
                            const struct kind *kind, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    const size_t from = curves->panel_count;
    WEIR_TRY(an_chart_query(chart, kind->sql, NULL, &frame, error));
    if (frame->row_count == 0)
        return WEIR_OK;
    for (size_t p = 0; p < 2; p++)
        (void)an_curve_panel(curves, kind->titles[p], AN_AXIS_TIME);
    for (size_t row = 0; row < frame->row_count;)
        WEIR_TRY(add_variant(chart, curves, from, frame, &row, error));
    for (size_t p = 0; p < 2; p++)
        curves->panels[from + p].top = an_axis_top(curves->panels[from + p].top);
    return WEIR_OK;
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    struct an_curves curves = { .is_wide = true };
    chart->is_about_all = true;
    if (chart->facts->stage_count > 0)
        WEIR_TRY(add_kind(chart, &curves, &kinds[0], error));
    WEIR_TRY(add_kind(chart, &curves, &kinds[1], error));
    if (curves.count < 2)
        return an_chart_empty(chart, "there is one variant, which the other charts show");
    WEIR_TRY(an_chart_claim(chart, "variants.undone", error));
    an_chart_subtitle(
        chart, "Replication %u of each variant, means of at most {width}%s%s",
        chart->run->replication,
        curves.count > AN_CURVES_TOGETHER ? " · " : " · dashed red: what happened in ",
        curves.count > AN_CURVES_TOGETHER ? curves.panels[0].title : chart->run->variant);
    return an_curves_draw(chart, &curves, error);
}

const struct an_plot_ops an_plot_variants = {
    { "variants", "How do the variants differ over time?" }, draw
};
