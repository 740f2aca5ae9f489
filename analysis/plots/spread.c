/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Charts of how waits, times in the system and slowdowns spread: the share of jobs (of items) up to
 * each value, by variant, and of one run by tenant, user, model, GPU type and class. A job that has
 * not started, or not ended, counts in what a share is of: its curve ends below 100 %.
 */
#include "analysis/nan.h"
#include "analysis/plots/curves.h"
#include "analysis/plots/plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As docs/metrics.md has them. Without run times, as in older files, there are no slowdowns. */
static const struct measure {
    const char *title, *value;
    enum an_curve_axis axis;
} measures[] = {
    { "% of jobs by wait until the first start", "first_start_s - submit_s", AN_AXIS_DURATION },
    { "% of jobs by time from arrival to end", "iif(outcome = 'done', j.end_s - submit_s, NULL)",
      AN_AXIS_DURATION },
    { "% of jobs by slowdown",
      "iif(outcome = 'done', max(1.0, (j.end_s - submit_s) / max(10.0, j.run_s)), NULL)",
      AN_AXIS_NUMBER },
};
enum { MEASURES = sizeof measures / sizeof measures[0] };

/* What a curve is of. Refused jobs never wait. */
struct split {
    const char *word;  /* "tenant" */
    const char *claim; /* about its groups */
    const char *group; /* SQL: its name */
    const char *order; /* SQL, over the jobs of a group */
    const char *where;
};

#define OF_RUN "j.run_id = :run AND j.outcome <> 'refused'"
static const struct split by_variant = {
    "variant",
    "spread.variant spread.jobs",
    "r.variant",
    "min(variant_order)",
    "r.replication = :id AND j.outcome <> 'refused'",
};
#define BY_COLUMN(word, column)                                                                    \
    {                                                                                              \
        word, "spread." #column, "j." #column, "count(*) DESC, g",                                 \
            OF_RUN " AND (SELECT count(DISTINCT " #column ") FROM job WHERE run_id = :run) > 1"    \
    }
static const struct split by_tenant = BY_COLUMN("tenant", tenant);
static const struct split by_user = BY_COLUMN("user", user);
static const struct split by_model = BY_COLUMN("model", model);
static const struct split by_type = BY_COLUMN("GPU type", gpu_types);
static const struct split by_class = {
    "class",
    "spread.class",
    "l.name",
    "CASE WHEN g = 'cpu only' THEN 0 WHEN g = 'share' THEN 0.5 WHEN g GLOB "
    "'[0-9]*gpu' THEN CAST(g AS INTEGER) ELSE 1e6 END, min(label)",
    OF_RUN " AND (SELECT count(DISTINCT label) FROM job WHERE run_id = :run) > 1",
};

/* About 120 points of each curve, the first and the last among them. */
static const char jobs_sql[] =
    "WITH j AS (SELECT coalesce(nullif(%s, ''), 'none given') AS g, %s AS v, r.variant_order,"
    "  j.label FROM job j JOIN run r USING (run_id) JOIN job_label l ON l.run_id = j.run_id"
    "  AND l.label = j.label WHERE %s),"
    " c AS (SELECT g, count(*) AS total, count(v) AS n, row_number() OVER (ORDER BY %s) AS place"
    "  FROM j GROUP BY g),"
    " k AS (SELECT g, v, row_number() OVER (PARTITION BY g ORDER BY v) AS k FROM j"
    "  WHERE v IS NOT NULL)"
    " SELECT c.g, k.v, 100.0 * k.k / c.total, c.total FROM c JOIN k USING (g) WHERE c.place <= 12"
    " AND (k.k = 1 OR k.k = c.n OR k.k * 120 / c.total <> (k.k - 1) * 120 / c.total)"
    " ORDER BY c.place, k.k";

/* Buckets of the histogram are 1 %% wide; its upper edge is a value that no item of it exceeds. */
static const char items_sql[] =
    "WITH h AS (SELECT r.variant AS g, min(r.variant_order) AS place, x.low * 1.01 AS v,"
    "  sum(x.count) AS n FROM histogram x JOIN run r USING (run_id) WHERE x.metric = 'lat.e2e'"
    "  AND x.label = '' AND r.replication = :id GROUP BY r.variant, x.low),"
    " t AS (SELECT r.variant AS g, max(x.n + x.censored) AS total FROM result x JOIN run r"
    "  USING (run_id) WHERE x.metric = 'lat.e2e.p50' AND x.label = '' AND r.replication = :id"
    "  GROUP BY r.variant),"
    " s AS (SELECT g, place, v, sum(n) OVER (PARTITION BY g ORDER BY v) AS k FROM h)"
    " SELECT s.g, s.v, min(100.0, 100.0 * s.k / t.total), t.total FROM s JOIN t USING (g)"
    " ORDER BY s.place, s.g, s.v";

/* ---- curves ---- */

static size_t group_of(struct an_curves *curves, const char *name)
{
    for (size_t g = 0; g < curves->count; g++)
        if (strcmp(curves->names[g], name) == 0)
            return g;
    if (curves->count == AN_CURVES_MOST)
        return SIZE_MAX;
    curves->names[curves->count] = name;
    return curves->count++;
}

/* Adds a panel of the rows "group, value, percent"; their groups follow each other. */
static void add_panel(struct an_chart *chart, struct an_curves *curves, const char *title,
                      enum an_curve_axis axis, const struct an_frame *frame)
{
    double least = AN_INFINITY;
    double most = 0.0;
    for (size_t i = 0; i < frame->row_count; i++) {
        const double value = an_number(frame, i, 1);
        most = fmax(most, value);
        least = value > 0.0 ? fmin(least, value) : least;
    }
    if (!(most > 0.0))
        return;
    struct an_curve_panel *panel = an_curve_panel(curves, title, axis);
    panel->top = 100.0;
    panel->unit = "%";
    panel->is_stepped = true;
    an_curve_range(panel, fmax(least, 1e-4 * most), most);
    for (size_t i = 0; i < frame->row_count; i++) {
        const char *name = an_text(frame, i, 0);
        const size_t group = group_of(curves, name);
        if (group == SIZE_MAX)
            break;
        if (panel->blocks[group] == SIZE_MAX) {
            panel->blocks[group] = an_chart_block(chart, name, "value percent");
            (void)fprintf(chart->data, "%.6g 0\n", fmax(an_number(frame, i, 1), panel->low));
        }
        (void)fprintf(chart->data, "%.6g %.5g\n", fmax(an_number(frame, i, 1), panel->low),
                      an_number(frame, i, 2));
    }
}

static weir_status read_panels(struct an_chart *chart, const struct split *split,
                               struct an_curves *curves, struct weir_error *error)
{
    for (size_t m = 0; m < MEASURES; m++) {
        char sql[2600];
        const struct an_frame *frame = NULL;
        (void)snprintf(sql, sizeof sql, jobs_sql, split->group, measures[m].value, split->where,
                       split->order);
        WEIR_TRY(an_chart_query(chart, sql, NULL, &frame, error));
        add_panel(chart, curves, measures[m].title, measures[m].axis, frame);
    }
    return WEIR_OK;
}

/* What is to say of the groups, else what it shows. */
static weir_status write_title(struct an_chart *chart, const struct split *split,
                               const struct an_curves *curves, struct weir_error *error)
{
    WEIR_TRY(an_chart_claim(chart, split->claim, error));
    if (chart->title[0] != '\0')
        return WEIR_OK;
    if (curves->count > 1)
        an_chart_title(chart, "Waits, times and slowdowns of jobs by %s", split->word);
    else
        an_chart_title(chart, "Waits, times and slowdowns of jobs");
    return WEIR_OK;
}

static void write_subtitle(struct an_chart *chart, const struct an_curves *curves)
{
    const size_t shown = curves->count > AN_CURVES_TOGETHER ? 1 : curves->panel_count;
    size_t logs = 0;
    for (size_t p = 0; p < shown; p++)
        logs += curves->panels[p].is_log ? 1 : 0;
    an_chart_subtitle(chart, "Share up to each value, of all that were not refused%s%s%s",
                      logs == 0      ? ""
                      : logs < shown ? " · some axes logarithmic, 0 at their left end"
                                     : " · logarithmic axes, 0 at their left end",
                      curves->count > AN_CURVES_TOGETHER
                          ? " · wait only, the other groups in grey"
                          : " · a curve ends below 100 % where some have not started or ended",
                      curves->count == AN_CURVES_MOST ? " · the first 12 groups" : "");
}

static weir_status draw_split(struct an_chart *chart, const struct split *split,
                              struct weir_error *error)
{
    struct an_curves curves = { .count = 0 };
    WEIR_TRY(read_panels(chart, split, &curves, error));
    if (curves.count < 2)
        return an_chart_empty(chart, "the jobs of this run have no %s, or all the same",
                              split->word);
    if (curves.panel_count == 0)
        return an_chart_empty(chart, "no job waits in this run");
    WEIR_TRY(write_title(chart, split, &curves, error));
    write_subtitle(chart, &curves);
    return an_curves_draw(chart, &curves, error);
}

static weir_status draw_tenant(struct an_chart *chart, struct weir_error *error)
{
    return draw_split(chart, &by_tenant, error);
}
static weir_status draw_user(struct an_chart *chart, struct weir_error *error)
{
    return draw_split(chart, &by_user, error);
}
static weir_status draw_model(struct an_chart *chart, struct weir_error *error)
{
    return draw_split(chart, &by_model, error);
}
static weir_status draw_type(struct an_chart *chart, struct weir_error *error)
{
    return draw_split(chart, &by_type, error);
}
static weir_status draw_class(struct an_chart *chart, struct weir_error *error)
{
    return draw_split(chart, &by_class, error);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    struct an_curves curves = { .count = 0 };
    const struct an_frame *items = NULL;
    chart->is_about_all = true;
    WEIR_TRY(an_chart_query(chart, items_sql, NULL, &items, error));
    add_panel(chart, &curves, "% of items by time from admission to end", AN_AXIS_DURATION, items);
    const bool has_items = curves.panel_count > 0;
    WEIR_TRY(read_panels(chart, &by_variant, &curves, error));
    if (curves.panel_count == 0)
        return an_chart_empty(chart, "no item or job has a time in this run");
    if (has_items && curves.panel_count == 1)
        WEIR_TRY(an_chart_claim(chart, "latency.two latency.one", error));
    else
        WEIR_TRY(write_title(chart, &by_variant, &curves, error));
    if (chart->title[0] == '\0')
        an_chart_title(chart, "Time of items in the pipeline%s",
                       curves.count > 1 ? " by variant" : "");
    write_subtitle(chart, &curves);
    return an_curves_draw(chart, &curves, error);
}

const struct an_plot_ops an_plot_cdf = { { "cdf", "How do waits, times and slowdowns spread?" },
                                         draw };
const struct an_plot_ops an_plot_cdf_class = {
    { "cdf-class", "Which classes of jobs wait, and how long is the tail of each?" }, draw_class
};
const struct an_plot_ops an_plot_cdf_tenant = {
    { "cdf-tenant", "Whose jobs wait, and how long is the tail of each tenant?" }, draw_tenant
};
const struct an_plot_ops an_plot_cdf_user = {
    { "cdf-user", "Whose jobs wait, and how long is the tail of each user?" }, draw_user
};
const struct an_plot_ops an_plot_cdf_model = {
    { "cdf-model", "Do jobs of some models wait longer?" }, draw_model
};
const struct an_plot_ops an_plot_cdf_gpu_type = {
    { "cdf-gpu-type", "Do jobs for some GPU types wait longer?" }, draw_type
};
