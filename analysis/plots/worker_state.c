/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart worker-state: of each stage, what its workers do: busy, blocked (output full, or an answer
 * is awaited), starved (no input), set-up; 100 % stacked.
 */
#include "analysis/plots/plots.h"
#include "analysis/plots/strips.h"

#include <math.h>

enum { BUSY, BLOCKED, SETUP, IDLE, STATES };

static const char samples_sql[] =
    "SELECT t_s, dt_s, 100.0 * busy / nullif(workers, 0), 100.0 * blocked / nullif(workers, 0),"
    " 100.0 * setup / nullif(workers, 0),"
    " 100.0 * max(0, workers - busy - blocked - setup) / nullif(workers, 0), stage"
    " FROM stage_sample WHERE run_id = :run ORDER BY stage, t_s";

static const char *const state_colors[STATES] = { AN_BLUE, AN_ORANGE, AN_GREEN, AN_PALE };
static const char *const state_names[STATES] = { "busy", "blocked: waits with work in hand",
                                                 "set-up", "idle or starved: no input" };

static void draw_strip(struct an_chart *chart, const struct an_strip *strip)
{
    const struct an_stage_facts *stage = &chart->facts->stages[strip->stage];
    struct an_label label = {
        .x = 858, .y = strip->middle - 8.0, .color = AN_BLUE, .is_bold = true
    };
    if (!strip->is_tight) {
        an_chart_text(chart, &label, "busy %s", an_word_percent(stage->busy).text);
        label =
            (struct an_label){ .x = 858, .y = strip->middle + 9.0, .color = AN_MUTED, .size = 11 };
        an_chart_text(chart, &label, "%s worker%s", an_word_number(stage->workers_mean).text,
                      fabs(stage->workers_mean - 1.0) < 1e-9 ? "" : "s");
    } else {
        label.y = strip->middle;
        an_chart_text(chart, &label, "busy %s", an_word_percent(stage->busy).text);
    }
    /* From the sum of all states downwards, so that each covers the one behind it. */
    static const char *const sums[STATES] = { "$2", "$2+$3", "$2+$3+$4", "$2+$3+$4+$5" };
    an_strip_track(chart, strip, 0.0, 100.0);
    (void)fputs("set yrange [0:100]; set ytics ('' 0, '' 100) scale 0\nplot ", chart->body);
    for (size_t i = STATES; i-- > 0;)
        (void)fprintf(chart->body, "%s index %zu using 1:(%s) with filledcurves y1=0 fc rgb '%s'%s",
                      i + 1 == STATES ? "DATA" : "''", strip->block, sums[i], state_colors[i],
                      i > 0 ? ", \\\n " : "\n");
}

/* The key stands as coloured words under the last strip. */
static void draw_key(struct an_chart *chart, double y)
{
    double x = 190.0;
    for (size_t i = 0; i < STATES; i++) {
        an_chart_rectangle(chart, &(struct an_box){ x, y - 5.0, x + 11.0, y + 5.0 },
                           state_colors[i], "front");
        const struct an_label label = { .x = x + 17.0, .y = y, .color = AN_INK, .size = 11.5 };
        an_chart_text(chart, &label, "%s", state_names[i]);
        x += 60.0 + 6.6 * (double)strlen(state_names[i]);
    }
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    if (chart->facts->stage_count == 0)
        return an_chart_empty(chart, "this run has no stages");
    WEIR_TRY(an_chart_claim(
        chart, "workers.idle workers.blocked workers.setup workers.one workers.busiest", error));
    an_chart_subtitle(chart,
                      "Share of worker time by stage, {width} means · right: mean after warm-up");
    const struct an_strips strips = { .sql = samples_sql,
                                      .columns = "t_s busy_pct blocked_pct setup_pct idle_pct",
                                      .unit = " %",
                                      .words = "busy|blocked|set-up|idle",
                                      .is_stacked = true,
                                      .series = STATES,
                                      .stage_column = 2 + STATES,
                                      .draw = draw_strip,
                                      .draw_key = draw_key };
    return an_strips_draw(chart, &strips, error);
}

const struct an_plot_ops an_plot_worker_state = {
    { "worker-state", "Are workers busy, blocked, starved, or starting?" }, draw
};
