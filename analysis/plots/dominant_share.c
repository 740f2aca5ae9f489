/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart dominant-share: the largest part of CPUs, GPUs or memory of the cluster that the jobs of
 * each tenant hold over time, their part of the GPUs, and dotted the part that is guaranteed to it.
 */
#include "analysis/plots/plots.h"
#include "analysis/plots/strips.h"

#include <math.h>
#include <stdio.h>

static const char tenants_sql[] =
    "SELECT s.tenant, sum(s.dominant * max(0, s.next - max(s.t, :from))) /"
    " nullif(sum(max(0, s.next - max(s.t, :from))), 0), max(s.dominant),"
    " max(g.value) / nullif((SELECT total(gpus) FROM node WHERE run_id = :run), 0), max(g.value)"
    " FROM weir_shares s LEFT JOIN result g ON g.run_id = :run AND g.metric = 'tenant.guarantee'"
    " AND g.label = s.tenant GROUP BY s.tenant ORDER BY 2 DESC, s.tenant";
enum { TENANT, MEAN, MOST, GUARANTEE, GUARANTEED_GPUS };

static const char levels_sql[] =
    "WITH m AS (SELECT tenant, row_number() OVER (ORDER BY sum(dominant * max(0, next -"
    "  max(t, :from))) / nullif(sum(max(0, next - max(t, :from))), 0) DESC, tenant) - 1 AS place "
    "FROM weir_shares GROUP BY tenant)"
    " SELECT s.t, s.next - s.t, 100.0 * s.dominant, 100.0 * s.gpu, 100.0 * g.value /"
    "  nullif((SELECT total(gpus) FROM node WHERE run_id = :run), 0), m.place FROM weir_shares s"
    " JOIN m USING (tenant) LEFT JOIN result g ON g.run_id = :run"
    "  AND g.metric = 'tenant.guarantee' AND g.label = s.tenant"
    " WHERE m.place < " AN_STRIPS_SHOWN_SQL " ORDER BY m.place, s.t";

/* All strips have one scale: shares are compared. */
static double top_of(const struct an_frame *tenants)
{
    double most = 0.05;
    for (size_t i = 0; i < tenants->row_count; i++)
        most = fmax(most, fmax(an_number(tenants, i, MOST), an_number(tenants, i, GUARANTEE)));
    return 100.0 * most;
}

static void draw_strip(struct an_chart *chart, const struct an_strip *strip)
{
    const struct an_frame *tenants = strip->state;
    const double guarantee = an_number(tenants, strip->stage, GUARANTEED_GPUS);
    char first[64];
    char second[64];
    (void)snprintf(first, sizeof first, "mean %.12s",
                   an_word_percent(an_number(tenants, strip->stage, MEAN)).text);
    if (guarantee > 0.0)
        (void)snprintf(second, sizeof second, "guaranteed %.16s GPUs",
                       an_word_number(guarantee).text);
    else
        (void)snprintf(second, sizeof second, "%.12s at most",
                       an_word_percent(an_number(tenants, strip->stage, MOST)).text);
    an_strip_texts(chart, strip, first, second);
    an_strip_level(chart, strip, top_of(tenants), true);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    static const struct an_strips strips = { .sql = levels_sql,
                                             .columns = "t_s dominant_pct gpu_pct guarantee_pct",
                                             .unit = " %",
                                             .words = "dominant|GPUs",
                                             .series = 3,
                                             .stage_column = 5,
                                             .nothing = "no job of a tenant has a row in this run",
                                             .draw = draw_strip };
    const struct an_frame *tenants = NULL;
    WEIR_TRY(an_share(chart->keeper.db, &an_share_tenants,
                      &(struct an_args){ .run = chart->run->run_id }, error));
    WEIR_TRY(an_chart_query(chart, tenants_sql, NULL, &tenants, error));
    if (tenants->row_count == 0)
        return an_chart_empty(chart, "no job of a tenant has a row in this run");
    WEIR_TRY(an_chart_claim(chart, "tenants.short tenants.dominant", error));
    an_chart_subtitle(chart, "Largest part of the cluster's CPUs, GPUs or memory that the jobs of "
                             "each tenant hold, one scale · grey: of the GPUs · dotted: guaranteed "
                             "· mean after warm-up");
    return an_strips_of(chart, strips, tenants, error);
}

const struct an_plot_ops an_plot_dominant_share = {
    { "dominant-share", "Which part of the cluster does each tenant have, and is it guaranteed?" },
    draw
};
