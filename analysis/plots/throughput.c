/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart throughput: items finished per second against the items that enter, and against the
 * steady rate.
 */
#include "analysis/plots/plots.h"

#include <math.h>
#include <string.h>

enum { DONE, ARRIVED, SERIES };

static const char samples_sql[] =
    "SELECT t_s, dt_s, items_done / dt_s, items_arrived / dt_s FROM cluster_sample"
    " WHERE run_id = :run ORDER BY t_s";

/* A backlog that is all there at the start is no offered rate. */
static bool has_demand(const struct an_facts *facts)
{
    return facts->offered_per_s > 0.0;
}

static void write_labels(struct an_chart *chart, double top, double y0, double y1)
{
    const struct an_facts *facts = chart->facts;
    const bool is_offered = has_demand(facts);
    const bool has_steady = !isnan(facts->steady_per_s);
    double y[3] = { y1 - (y1 - y0) * facts->throughput_per_s / top,
                    y1 - (y1 - y0) * (is_offered ? facts->offered_per_s : 0.0) / top,
                    y1 - (y1 - y0) * (has_steady ? facts->steady_per_s : 0.0) / top };
    /* Only labels that are shown push each other. */
    const size_t shown[3] = { 0, is_offered ? 1 : 9, has_steady ? 2 : 9 };
    double used[3];
    size_t count = 0;
    for (size_t i = 0; i < 3; i++)
        if (shown[i] != 9)
            used[count++] = y[i];
    an_push_apart(used, count, 18.0, y0, y1);
    count = 0;
    struct an_label label = {
        .x = chart->right + 12.0, .y = used[count++], .color = AN_BLUE, .is_bold = true
    };
    an_chart_text(chart, &label, "finished %s/s", an_word_number(facts->throughput_per_s).text);
    label.is_bold = false;
    label.color = AN_ORANGE_TEXT;
    if (is_offered) {
        label.y = used[count++];
        an_chart_text(chart, &label, "entering %s/s", an_word_number(facts->offered_per_s).text);
    }
    label.color = AN_MUTED;
    if (has_steady) {
        label.y = used[count];
        an_chart_text(chart, &label, "steady %s/s", an_word_number(facts->steady_per_s).text);
    }
}

static weir_status draw_panel(struct an_chart *chart, const struct an_grid *grid,
                              const double *series, struct weir_error *error)
{
    static const char *const names[SERIES] = { "finished", "entering" };
    const struct an_box box = { 100, 28, 840, 300 };
    chart->height = 332.0;
    /* What is over in the last instant lies in no bin. */
    double top = fmax(an_largest(series, grid->bins), fmax(chart->facts->throughput_per_s, 0.0));
    if (has_demand(chart->facts))
        top = fmax(top, fmin(an_largest(series + grid->bins, grid->bins), 3.0 * top));
    top = an_axis_top(top > 0.0 ? top : 1.0);
    an_chart_panel(chart, &box);
    an_chart_time_axis(chart, true);
    an_chart_track(chart, &(struct an_track){ .name = "",
                                              .unit = "/s",
                                              .high = top,
                                              .grid = grid,
                                              .series = series,
                                              .count = has_demand(chart->facts) ? 2 : 1,
                                              .names = names });
    write_labels(chart, top, box.y0, box.y1);
    WEIR_TRY(an_chart_happenings(chart, 26.0, box.y1, error));
    (void)fprintf(chart->body,
                  "set yrange [0:%.9g]; set ytics 0,%.9g format '%%g'\n"
                  "plot DATA index 0 using 1:2 with filledcurves y1=0 fc rgb '" AN_PALE_BLUE
                  "', \\\n"
                  " '' index 0 using 1:2 with lines lc rgb '" AN_BLUE "' lw 1.8",
                  top, an_axis_step(top, 5.0));
    if (has_demand(chart->facts))
        (void)fputs(", \\\n '' index 0 using 1:3 with lines lc rgb '" AN_ORANGE "' lw 1.4 dt (6,3)",
                    chart->body);
    if (!isnan(chart->facts->steady_per_s))
        (void)fprintf(chart->body, ", \\\n %.9g with lines lc rgb '" AN_GREY "' lw 1 dt (2,3)",
                      chart->facts->steady_per_s);
    an_chart_curve(chart, "finished", 1.0);
    (void)fputc('\n', chart->body);
    an_chart_draw_end(chart);
    return WEIR_OK;
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    struct an_grid grid;
    double *series = NULL;
    if (chart->facts->stage_count == 0)
        return an_chart_empty(chart, "this run has no pipeline; job-queue shows its jobs");
    WEIR_TRY(an_chart_query(chart, samples_sql, NULL, &frame, error));
    if (frame->row_count == 0)
        return an_chart_empty(chart, "this run recorded no samples of the cluster");
    WEIR_TRY(an_chart_means(chart, frame, SERIES, &grid, &series, error));
    WEIR_TRY(an_chart_claim(chart, "flow.nothing flow.piles_up flow.lost flow.keeps_up flow.rate",
                            error));
    an_chart_subtitle(chart, "Items finished per second, {width} means%s%s",
                      has_demand(chart->facts) ? " · dashed: items that enter" : "",
                      chart->run->is_steady || strcmp(chart->run->status, "horizon") != 0
                          ? ""
                          : " · not steady: depends on the horizon");
    (void)an_chart_block(chart, "throughput", "t_s finished_per_s entering_per_s");
    an_chart_rows(chart, &grid, series, SERIES);
    return draw_panel(chart, &grid, series, error);
}

const struct an_plot_ops an_plot_throughput = {
    { "throughput", "Does the pipeline keep up with the items that enter?" }, draw
};
