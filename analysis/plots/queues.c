/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart queues: items waiting in front of each stage, one strip a stage, each on its own scale;
 * times under back-pressure are marked below.
 */
#include "analysis/plots/plots.h"
#include "analysis/plots/strips.h"

#include <math.h>

static const char samples_sql[] =
    "SELECT t_s, dt_s, queue_items, is_backpressured, stage FROM stage_sample"
    " WHERE run_id = :run ORDER BY stage, t_s";

static void draw_strip(struct an_chart *chart, const struct an_strip *strip)
{
    const struct an_stage_facts *stage = &chart->facts->stages[strip->stage];
    const bool is_long = strip->stage == chart->facts->bottleneck;
    struct an_label label = { .x = 858,
                              .y = strip->middle - (strip->is_tight ? 0.0 : 8.0),
                              .color = is_long ? AN_INK : AN_MUTED,
                              .is_bold = is_long };
    an_chart_text(chart, &label, "p95 %s", an_word_number(stage->queue_p95).text);
    label = (struct an_label){ .x = 858, .y = strip->middle + 9.0, .color = AN_MUTED, .size = 11 };
    if (!strip->is_tight)
        an_chart_text(chart, &label, "at most %s", an_word_number(stage->queue_max).text);
    const double top = fmax(strip->largest, 1.0);
    an_strip_track(chart, strip, -0.12 * top, 1.04 * top);
    (void)fprintf(
        chart->body,
        "set yrange [%.9g:%.9g]; set ytics ('' 0) scale 0\n"
        "plot DATA index %zu using 1:2 with filledcurves y1=0 fc rgb '" AN_PALE_BLUE "', \\\n"
        " '' index %zu using 1:2 with lines lc rgb '" AN_BLUE "' lw 1.4, \\\n"
        " '' index %zu using 1:($3>0.5 ? %.9g : 0) with filledcurves y1=0 fc rgb '" AN_ORANGE "'",
        -0.12 * top, 1.04 * top, strip->block, strip->block, strip->block, -0.1 * top);
    an_chart_curve(chart, strip->name, 1.0);
    (void)fputc('\n', chart->body);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    if (chart->facts->stage_count == 0)
        return an_chart_empty(chart, "this run has no stages");
    WEIR_TRY(an_chart_claim(chart, "queue.none queue.held queue.longest", error));
    an_chart_subtitle(chart,
                      "Items waiting in front of each stage, {width} means, each strip on its "
                      "own scale · orange: held back by back-pressure");
    const struct an_strips strips = { .sql = samples_sql,
                                      .columns = "t_s queue_items backpressured_frac",
                                      .unit = " items",
                                      .words = "waiting",
                                      .series = 2,
                                      .stage_column = 4,
                                      .draw = draw_strip };
    return an_strips_draw(chart, &strips, error);
}

const struct an_plot_ops an_plot_queues = {
    { "queues", "Where do items wait, and which stages are held back?" }, draw
};
