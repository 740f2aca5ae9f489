/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart tenant-share: GPUs that the jobs of each tenant held over time, from the rows of their
 * ranks; dotted what it had on average. Those with most first.
 */
#include "analysis/plots/plots.h"
#include "analysis/plots/strips.h"

#include <stdio.h>

/* Ranks with their tenant; what still runs ends with the run. */
#define RANKS                                                                                      \
    "WITH rank AS (SELECT j.tenant, w.created_s AS a,"                                             \
    "  coalesce(w.ended_s, (SELECT max(t_s + dt_s) FROM cluster_sample WHERE run_id = :run),"      \
    "   w.created_s) AS b, w.gpu_amount AS gpus"                                                   \
    "  FROM worker w JOIN job j ON j.run_id = w.run_id AND j.workload = w.workload"                \
    "  AND j.job = w.job WHERE w.run_id = :run AND w.stage IS NULL AND j.tenant <> ''),"           \
    " ends AS (SELECT max(b) AS b FROM rank),"                                                     \
    " tenant AS (SELECT tenant, total(gpus * max(0, b - max(a, :from))) AS gpu_s FROM rank GROUP " \
    "BY tenant),"                                                                                  \
    " place AS (SELECT tenant, gpu_s, row_number() OVER (ORDER BY gpu_s DESC, tenant) - 1 AS "     \
    "place FROM tenant)"

static const char tenants_sql[] = RANKS " SELECT tenant, gpu_s / (SELECT b - :from FROM ends), "
                                        "gpu_s / (SELECT total(gpu_s) FROM tenant)"
                                        " FROM place ORDER BY place";

/* From one change to the next. */
static const char levels_sql[] =
    RANKS ", change AS (SELECT tenant, 0.0 AS t, 0.0 AS d FROM tenant"
          "  UNION ALL SELECT tenant, a, gpus FROM rank UNION ALL SELECT tenant, b, -gpus FROM rank"
          "  UNION ALL SELECT tenant, (SELECT b FROM ends), 0.0 FROM tenant),"
          " level AS (SELECT tenant, t,"
          "  sum(total(d)) OVER (PARTITION BY tenant ORDER BY t) AS gpus,"
          "  lead(t) OVER (PARTITION BY tenant ORDER BY t) AS next FROM change GROUP BY tenant, t)"
          " SELECT t, next - t, gpus, NULL, gpu_s / (SELECT b - :from FROM ends), place"
          " FROM level JOIN place USING (tenant) WHERE next IS NOT NULL"
          " AND place < " AN_STRIPS_SHOWN_SQL " ORDER BY place, t";

static void draw_strip(struct an_chart *chart, const struct an_strip *strip)
{
    const struct an_frame *tenants = strip->state;
    char first[64];
    char second[128];
    (void)snprintf(first, sizeof first, "mean %s GPUs",
                   an_word_number(an_number(tenants, strip->stage, 1)).text);
    (void)snprintf(second, sizeof second, "%s of all, %s at most",
                   an_word_percent(an_number(tenants, strip->stage, 2)).text,
                   an_word_number(strip->largest).text);
    an_strip_texts(chart, strip, first, second);
    an_strip_level(chart, strip, strip->largest > 0 ? strip->largest : 1, false);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    static const struct an_strips strips = { .sql = levels_sql,
                                             .columns = "t_s gpus none mean_gpus",
                                             .unit = " GPUs",
                                             .words = "held",
                                             .series = 3,
                                             .stage_column = 5,
                                             .draw = draw_strip };
    const struct an_frame *tenants = NULL;
    WEIR_TRY(an_chart_query(chart, tenants_sql, NULL, &tenants, error));
    if (tenants->row_count == 0)
        return an_chart_empty(chart, "no job of a tenant has a row in this run");
    an_chart_subtitle(chart, "GPUs held by the jobs of each tenant, each to the most it held · "
                             "dotted: mean after warm-up");
    WEIR_TRY(an_chart_claim(chart, "tenants.most", error));
    return an_strips_of(chart, strips, tenants, error);
}

const struct an_plot_ops an_plot_tenant_share = {
    { "tenant-share", "How many GPUs does each tenant have, and when?" }, draw
};
