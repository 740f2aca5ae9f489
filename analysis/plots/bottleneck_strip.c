/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart bottleneck-strip: which stage limits the pipeline, when. One row a stage, a mark while it
 * is the slowest, its share of time on the right; stages that never limit share one line of text.
 */
#include "analysis/plots/plots.h"

#include <math.h>

static const char samples_sql[] =
    "SELECT t_s, dt_s, is_bottleneck, stage FROM stage_sample WHERE run_id = :run"
    " AND stage = :id ORDER BY t_s";

enum { MOST_ROWS = 12 };

/* Stages that limit at all, longest first. */
static size_t limiting_stages(const struct an_facts *facts, size_t *stages)
{
    size_t count = 0;
    for (size_t i = 0; i < facts->stage_count; i++) {
        if (!(facts->stages[i].bottleneck >= 0.0005) || facts->stages[i].is_alone)
            continue;
        size_t at = count < MOST_ROWS ? count : MOST_ROWS - 1;
        if (count >= MOST_ROWS &&
            facts->stages[stages[at]].bottleneck >= facts->stages[i].bottleneck)
            continue;
        while (at > 0 && facts->stages[stages[at - 1]].bottleneck < facts->stages[i].bottleneck) {
            stages[at] = stages[at - 1];
            at--;
        }
        stages[at] = i;
        count = count < MOST_ROWS ? count + 1 : count;
    }
    return count;
}

static weir_status write_row(struct an_chart *chart, size_t stage, size_t row,
                             struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    const struct an_args args = { .run = chart->run->run_id, .id = (int64_t)stage };
    struct an_grid grid;
    double *means = NULL;
    WEIR_TRY(an_chart_query(chart, samples_sql, &args, &frame, error));
    WEIR_TRY(an_chart_means(chart, frame, 1, &grid, &means, error));
    for (size_t b = 0; b < grid.bins;) {
        /* Equal neighbours become one bar: no seams. */
        size_t next = b + 1;
        while (next < grid.bins && fabs(means[next] - means[b]) < 1e-3)
            next++;
        (void)fprintf(chart->data, "%.9g %.9g %zu %.4g ", grid.from_s + (double)b * grid.step_s,
                      (double)(next - b) * grid.step_s, row, means[b]);
        an_chart_cell(chart, chart->facts->stages[stage].name);
        (void)fputc('\n', chart->data);
        b = next;
    }
    return WEIR_OK;
}

static void write_labels(struct an_chart *chart, const size_t *stages, size_t count, double pitch)
{
    for (size_t i = 0; i < count; i++) {
        const struct an_stage_facts *stage = &chart->facts->stages[stages[i]];
        const double y = 28.0 + pitch * ((double)i + 0.5);
        const struct an_label name = { .x = 180, .y = y, .align = 'r', .is_bold = i == 0 };
        const struct an_label share = {
            .x = 858, .y = y, .color = i == 0 ? AN_BLUE : AN_MUTED, .is_bold = i == 0
        };
        an_chart_name(chart, &name, stage->name, 172.0);
        an_chart_text(chart, &share, "%s of the time", an_word_percent(stage->bottleneck).text);
    }
    const size_t silent = chart->facts->stage_count - count;
    if (silent == 0)
        return;
    const struct an_label never = {
        .x = 190, .y = 28.0 + pitch * (double)count + 40.0, .color = AN_MUTED, .size = 11
    };
    an_chart_text(chart, &never, "%zu other stage%s never or hardly ever the bottleneck", silent,
                  silent == 1 ? " is" : "s are");
}

static weir_status draw_rows(struct an_chart *chart, const size_t *stages, size_t count,
                             struct weir_error *error)
{
    const double pitch = count > 6 ? 26.0 : 36.0;
    const double end = 28.0 + pitch * (double)count;
    chart->height = end + 56.0;
    (void)an_chart_block(chart, "bottleneck", "t_s dt_s row bottleneck_frac stage");
    for (size_t i = 0; i < count; i++)
        WEIR_TRY(write_row(chart, stages[i], i, error));
    an_chart_panel(chart, &(struct an_box){ 190, 28, 846, end });
    an_chart_time_axis(chart, true);
    write_labels(chart, stages, count, pitch);
    WEIR_TRY(an_chart_happenings(chart, 26.0, end, error));
    /* Opacity is not portable: the share of an interval becomes the height of its bar. */
    (void)fprintf(chart->body,
                  "set border 1; unset grid; set yrange [%zu:0]; set ytics ('' 0) scale 0\n"
                  "plot DATA index 0 using ($1+$2/2):($3+0.5):($2/2):(0.38*$4) with boxxyerror "
                  "fc rgb '" AN_BLUE "'\n",
                  count);
    an_chart_draw_end(chart);
    return WEIR_OK;
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    size_t stages[MOST_ROWS] = { 0 };
    const size_t count = limiting_stages(chart->facts, stages);
    if (count == 0)
        return an_chart_empty(chart,
                              "of no pipeline with several stages one was recorded as the slowest");
    /* Whose turn it is not has no workers, and looks like the slowest. */
    WEIR_TRY(an_chart_claim(chart, "limit.turns", error));
    if (chart->title[0] != '\0')
        return an_chart_empty(chart, "stages take turns in this run: none waits for another");
    WEIR_TRY(
        an_chart_claim(chart, "limit.pipelines limit.stage limit.arrivals limit.slowest", error));
    an_chart_subtitle(chart,
                      "The stage with the least capacity (workers x speed), {width} intervals · "
                      "right: share of the time after warm-up");
    return draw_rows(chart, stages, count, error);
}

const struct an_plot_ops an_plot_bottleneck_strip = {
    { "bottleneck-strip", "Which stage limits the pipeline, and when?" }, draw
};
