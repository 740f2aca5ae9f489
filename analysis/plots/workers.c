/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart workers: workers of each stage over time, one strip a stage, each on its own scale; the
 * line below is those that are ready. What is between them is in set-up.
 */
#include "analysis/nan.h"
#include "analysis/plots/plots.h"
#include "analysis/plots/strips.h"

#include <math.h>

static const char samples_sql[] =
    "SELECT t_s, dt_s, workers, workers - setup, NULL, stage FROM stage_sample"
    " WHERE run_id = :run ORDER BY stage, t_s";

static void draw_strip(struct an_chart *chart, const struct an_strip *strip)
{
    const struct an_stage_facts *stage = &chart->facts->stages[strip->stage];
    char first[64];
    char second[64];
    (void)snprintf(first, sizeof first, "mean %s", an_word_number(stage->workers_mean).text);
    (void)snprintf(second, sizeof second, "at most %s", an_word_number(stage->workers_max).text);
    an_strip_texts(chart, strip, first, second);
    an_strip_level(chart, strip, fmax(strip->largest, 1.0), true);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    if (chart->facts->stage_count == 0)
        return an_chart_empty(chart, "this run has no stages");
    WEIR_TRY(an_chart_claim(chart, "workers.same workers.range", error));
    an_chart_subtitle(chart, "Workers of each stage, {width} means, each strip on its own scale · "
                             "grey: those that are ready, the rest is in set-up");
    const struct an_strips strips = { .sql = samples_sql,
                                      .columns = "t_s workers ready none",
                                      .unit = "",
                                      .words = "workers|ready",
                                      .series = 3,
                                      .stage_column = 5,
                                      .draw = draw_strip };
    return an_strips_draw(chart, &strips, error);
}

const struct an_plot_ops an_plot_workers = {
    { "workers", "How many workers does each stage have, and when?" }, draw
};
