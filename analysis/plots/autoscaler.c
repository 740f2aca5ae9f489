/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart autoscaler: workers over time, and the starts and stops that changed them.
 */
#include "analysis/plots/plots.h"

#include <math.h>

enum { BARS = 96 };

/* A worker that the end of the run ends was not stopped, one that its stage has no more work for
 * was neither stopped nor lost, one that is renewed was stopped for another. Ranks of jobs begin
 * and end with their job. */
static const char workers_sql[] =
    "SELECT created_s, CASE WHEN end_reason = '' OR end_reason = 'run ended' OR " AN_OVER_SQL
    " THEN NULL ELSE ended_s END, end_reason <> 'stopped' AND NOT " AN_RENEWED_SQL
    " FROM worker NOT INDEXED WHERE run_id = :run AND stage IS NOT NULL";

static const char samples_sql[] =
    "SELECT t_s, dt_s, sum(workers), sum(setup) FROM stage_sample WHERE run_id = :run GROUP BY t_s"
    " ORDER BY t_s";

struct changes {
    double bars_per_s;
    double started[BARS], stopped[BARS], lost[BARS];
    double starts, stops, losses;
    double most; /* in one bar */
};

static size_t bar_of(const struct changes *changes, double t_s)
{
    return (size_t)fmax(0.0, fmin(BARS - 1, t_s * changes->bars_per_s));
}

/* One worker, as workers_sql has it. */
static void count_worker(void *state, const double *worker)
{
    struct changes *changes = state;
    changes->started[bar_of(changes, worker[0])]++;
    changes->starts++;
    if (isnan(worker[1]))
        return;
    const bool is_lost = worker[2] > 0.5;
    (is_lost ? changes->lost : changes->stopped)[bar_of(changes, worker[1])]++;
    *(is_lost ? &changes->losses : &changes->stops) += 1.0;
}

static weir_status count_changes(const struct an_chart *chart, struct changes *changes,
                                 struct weir_error *error)
{
    const struct an_args args = { .run = chart->run->run_id };
    *changes = (struct changes){ .bars_per_s = BARS / fmax(chart->run->end_s, 1e-3) };
    WEIR_TRY(an_query_each(chart->keeper.db, workers_sql, &args, count_worker, changes, error));
    for (size_t i = 0; i < BARS; i++)
        changes->most =
            fmax(changes->most, fmax(changes->started[i], changes->stopped[i] + changes->lost[i]));
    return WEIR_OK;
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
    const struct an_frame *samples = NULL;
    struct changes changes;
    struct an_grid grid;
    double *series = NULL;
    WEIR_TRY(count_changes(chart, &changes, error));
    WEIR_TRY(an_chart_query(chart, samples_sql, NULL, &samples, error));
    if (!(changes.starts > 0.0) || samples->row_count == 0)
        return an_chart_empty(chart, "this run recorded no workers");
    WEIR_TRY(an_chart_means(chart, samples, 2, &grid, &series, error));
    chart->height = 366.0;
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
