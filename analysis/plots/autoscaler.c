/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart autoscaler: workers over time, and the starts and stops that changed them.
 */
#include "analysis/plots/plots.h"

#include <math.h>

enum { BARS = 96 }; /* as the query says, too */

/* A worker that the end of the run ends was not stopped, one that its stage has no more work for
 * was neither stopped nor lost. Ranks of jobs begin and end with their job. */
static const char workers_sql[] =
    "WITH w AS (SELECT created_s, iif(end_reason IN ('', 'run ended', 'stage done', 'done'), NULL,"
    "  ended_s) AS ended_s, end_reason <> 'stopped' AS is_lost FROM worker WHERE run_id = :run"
    "  AND stage IS NOT NULL),"
    " e AS (SELECT CAST(created_s / :to * 96 AS INTEGER) AS bar, 0 AS kind FROM w UNION ALL"
    "  SELECT CAST(ended_s / :to * 96 AS INTEGER), 1 + is_lost FROM w WHERE ended_s IS NOT NULL)"
    " SELECT max(0, min(95, bar)), total(kind = 0), total(kind = 1), total(kind = 2) FROM e"
    " GROUP BY 1";

static const char samples_sql[] =
    "SELECT t_s, dt_s, sum(workers), sum(setup) FROM stage_sample WHERE run_id = :run GROUP BY t_s"
    " ORDER BY t_s";

struct changes {
    double started[BARS], stopped[BARS], lost[BARS];
    double starts, stops, losses;
    double most; /* in one bar */
};

static void count_changes(const struct an_frame *bars, struct changes *changes)
{
    *changes = (struct changes){ 0 };
    for (size_t i = 0; i < bars->row_count; i++) {
        const size_t bar = (size_t)an_number(bars, i, 0);
        changes->started[bar] = an_number(bars, i, 1);
        changes->stopped[bar] = an_number(bars, i, 2);
        changes->lost[bar] = an_number(bars, i, 3);
        changes->starts += changes->started[bar];
        changes->stops += changes->stopped[bar];
        changes->losses += changes->lost[bar];
        changes->most = fmax(
            changes->most, fmax(changes->started[bar], changes->stopped[bar] + changes->lost[bar]));
    }
}

static void write_bars(struct an_chart *chart, const struct changes *changes)
{
    const double width = chart->run->end_s / BARS;
    (void)an_chart_block(chart, "changes", "t_s dt_s started stopped lost");
    for (size_t i = 0; i < BARS; i++) {
        const bool is_quiet = changes->started[i] + changes->stopped[i] + changes->lost[i] <= 0.0;
        /* The first row stands even so: gnuplot wants data. */
        if (is_quiet && i > 0)
            continue;
        (void)fprintf(chart->data, "%.9g %.9g %.0f %.0f %.0f\n", (double)i * width, width,
                      changes->started[i], changes->stopped[i], changes->lost[i]);
    }
}

static void draw_bars(struct an_chart *chart, const struct changes *changes)
{
    const double top = an_axis_top(fmax(changes->most, 1.0));
    an_chart_panel(chart, &(struct an_box){ 100, 232, 840, 340 });
    an_chart_time_axis(chart, true);
    const struct an_label label = { .x = 852, .y = 262, .color = AN_BLUE, .is_bold = true };
    const struct an_label down = { .x = 852, .y = 310, .color = AN_ORANGE_TEXT };
    an_chart_text(chart, &label, "%.0f started", changes->starts);
    an_chart_text(chart, &down, "%.0f stopped or lost", changes->stops + changes->losses);
    (void)fprintf(
        chart->body,
        "set yrange [-%.9g:%.9g]; set ytics (%s'%g' -%.9g, '0' 0, '%g' %.9g)\nset border 2\n"
        "plot DATA index 1 using ($1+$2/2):($3/2):($2*0.4):($3/2) with boxxyerror fc rgb '" AN_BLUE
        "', \\\n"
        " '' index 1 using ($1+$2/2):(-$4/2):($2*0.4):($4/2) with boxxyerror fc rgb '" AN_ORANGE
        "', \\\n"
        " '' index 1 using ($1+$2/2):(-$4-$5/2):($2*0.4):($5/2) with boxxyerror fc rgb "
        "'" AN_VERMILLION "', 0 with lines lc rgb '" AN_GREY "' lw 0.8\n",
        top, top, "", top, top, top, top);
    an_chart_draw_end(chart);
}

static weir_status draw_workers(struct an_chart *chart, const struct an_grid *grid,
                                const double *series, struct weir_error *error)
{
    static const char *const names[2] = { "all", "in set-up" };
    double most = 1.0;
    for (size_t b = 0; b < grid->bins; b++)
        most = isnan(series[b]) ? most : fmax(most, series[b]);
    const double top = an_axis_top(most);
    an_chart_panel(chart, &(struct an_box){ 100, 28, 840, 208 });
    an_chart_time_axis(chart, false);
    an_chart_track(chart, &(struct an_track){ .name = "",
                                              .unit = " workers",
                                              .high = top,
                                              .grid = grid,
                                              .series = series,
                                              .count = 2,
                                              .names = names });
    const double last = series[grid->bins - 1];
    const struct an_label label = { .x = 852,
                                    .y = 208.0 - 180.0 * fmin(last / top, 1.0) + 6.0,
                                    .color = AN_BLUE,
                                    .is_bold = true };
    an_chart_text(chart, &label, "%s worker%s", an_word_number(last).text,
                  fabs(last - 1.0) < 1e-9 ? "" : "s");
    WEIR_TRY(an_chart_happenings(chart, 26.0, 340.0, error));
    (void)fprintf(chart->body,
                  "set yrange [0:%.9g]; set ytics 0,%.9g format '%%g'\n"
                  "plot DATA index 0 using 1:2 with filledcurves y1=0 fc rgb '#8fd0ba', \\\n"
                  " '' index 0 using 1:($2-$3) with filledcurves y1=0 fc rgb '" AN_PALE_BLUE
                  "', \\\n"
                  " '' index 0 using 1:2 with lines lc rgb '" AN_BLUE "' lw 1.6\n",
                  top, an_axis_step(top, 4.0));
    an_chart_draw_end(chart);
    return WEIR_OK;
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    const struct an_frame *workers = NULL;
    const struct an_frame *samples = NULL;
    struct changes changes;
    struct an_grid grid;
    double *series = NULL;
    const struct an_args args = { .run = chart->run->run_id, .to = fmax(chart->run->end_s, 1e-3) };
    WEIR_TRY(an_chart_query(chart, workers_sql, &args, &workers, error));
    WEIR_TRY(an_chart_query(chart, samples_sql, NULL, &samples, error));
    if (workers->row_count == 0 || samples->row_count == 0)
        return an_chart_empty(chart, "this run recorded no workers");
    WEIR_TRY(an_chart_means(chart, samples, 2, &grid, &series, error));
    chart->height = 366.0;
    count_changes(workers, &changes);
    WEIR_TRY(an_chart_claim(chart, "workers.lost workers.still workers.changes", error));
    an_chart_subtitle(chart,
                      "Above: workers of all stages, {width} means, green: in set-up · below: "
                      "starts up, stops (orange) and losses (red) down");
    (void)an_chart_block(chart, "workers", "t_s workers setup");
    an_chart_rows(chart, &grid, series, 2);
    write_bars(chart, &changes);
    WEIR_TRY(draw_workers(chart, &grid, series, error));
    draw_bars(chart, &changes);
    return WEIR_OK;
}

const struct an_plot_ops an_plot_autoscaler = {
    { "autoscaler", "How often are workers started and stopped?" }, draw
};
