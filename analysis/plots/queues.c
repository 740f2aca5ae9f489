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

static void write_title(struct an_chart *chart)
{
    const struct an_facts *facts = chart->facts;
    size_t longest = 0;
    size_t pressed = 0;
    for (size_t i = 1; i < facts->stage_count; i++) {
        if (facts->stages[i].queue_mean > facts->stages[longest].queue_mean)
            longest = i;
        if (facts->stages[i].backpressured > facts->stages[pressed].backpressured)
            pressed = i;
    }
    const struct an_stage_facts *stage = &facts->stages[longest];
    const struct an_stage_facts *held = &facts->stages[pressed];
    if (!(stage->queue_max >= 1.0))
        an_chart_title(chart, "No queue to speak of in front of any stage");
    else if (held->backpressured > 0.05 && pressed != longest)
        an_chart_title(chart,
                       "Items pile up before %s (%s on average); %s is held back %s of the time",
                       an_shorten(stage->name, 20).text, an_word_number(stage->queue_mean).text,
                       an_shorten(held->name, 20).text, an_word_percent(held->backpressured).text);
    else
        an_chart_title(chart, "Items pile up before %s: %s on average, %s at most",
                       an_shorten(stage->name, 20).text, an_word_number(stage->queue_mean).text,
                       an_word_number(stage->queue_max).text);
    if (!an_chart_title_fits(chart))
        an_chart_title(chart, "Items pile up before %s, %s is held back %s",
                       an_shorten(stage->name, 20).text, an_shorten(held->name, 20).text,
                       an_word_percent(held->backpressured).text);
    an_chart_subtitle(
        chart,
        "Items waiting in front of each stage, %s means, each strip on its own scale · "
        "orange: held back by back-pressure",
        an_word_duration(chart->run->sample_s).text);
}

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
    (void)fprintf(
        chart->body,
        "set yrange [%.9g:%.9g]; set ytics ('' 0) scale 0\n"
        "plot DATA index %zu using 1:2 with filledcurves y1=0 fc rgb '" AN_PALE_BLUE "', \\\n"
        " '' index %zu using 1:2 with lines lc rgb '" AN_BLUE "' lw 1.4, \\\n"
        " '' index %zu using 1:($3>0.5 ? %.9g : 0) with filledcurves y1=0 fc rgb '" AN_ORANGE "'\n",
        -0.12 * top, 1.04 * top, strip->block, strip->block, strip->block, -0.1 * top);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    if (chart->facts->stage_count == 0)
        return an_chart_empty(chart, "this run has no stages");
    write_title(chart);
    const struct an_strips strips = { .sql = samples_sql,
                                      .columns = "t_s queue_items backpressured_frac",
                                      .series = 2,
                                      .stage_column = 4,
                                      .draw = draw_strip };
    return an_strips_draw(chart, &strips, error);
}

const struct an_plot_ops an_plot_queues = {
    { "queues", "Where do items wait, and which stages are held back?" }, draw
};
