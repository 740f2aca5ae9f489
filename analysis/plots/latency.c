/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart latency: p50, p95 and p99 of each variant on one logarithmic axis, means over the
 * replications. A percentile that reaches into unfinished items is a lower bound and says so.
 */
#include "analysis/nan.h"
#include "analysis/plots/curves.h"
#include "analysis/plots/plots.h"

#include <math.h>
#include <string.h>

static const char latency_sql[] =
    "SELECT r.variant, avg(CASE metric WHEN 'lat.e2e.p50' THEN value END),"
    " avg(CASE metric WHEN 'lat.e2e.p95' THEN value END),"
    " avg(CASE metric WHEN 'lat.e2e.p99' THEN value END),"
    " max(CASE metric WHEN 'lat.e2e.p99' THEN is_lower_bound END), max(x.censored),"
    " count(DISTINCT r.replication), max(r.status = 'ended early'),"
    " max(CASE metric WHEN 'lat.e2e.p50' THEN is_lower_bound END),"
    " max(CASE metric WHEN 'lat.e2e.p95' THEN is_lower_bound END), min(x.censored)"
    " FROM run r JOIN result x USING (run_id) WHERE x.metric IN ('lat.e2e.p50', 'lat.e2e.p95',"
    " 'lat.e2e.p99') AND x.value > 0 AND (x.label = '' OR (SELECT count(DISTINCT label) FROM result"
    " WHERE metric = x.metric) = 1)"
    " GROUP BY r.variant HAVING count(DISTINCT metric) = 3"
    " ORDER BY min(r.variant_order), r.variant";

/* Percentiles of the chosen run by stage or pipeline are in the table of results; this is about
 * variants. */
static bool is_early(const struct an_frame *frame, size_t row)
{
    return an_number(frame, row, 7) > 0.5;
}

/* Whether the percentile, 0 of p50 to 2 of p99, or one below it, reaches into unfinished items. */
static bool is_bound_at(const struct an_frame *frame, size_t row, size_t percentile)
{
    static const size_t columns[] = { 8, 9, 4 };
    for (size_t i = 0; i <= percentile; i++)
        if (an_number(frame, row, columns[i]) > 0.5)
            return true;
    return false;
}

static double to_px(double value, double low, double high)
{
    return 190.0 + 640.0 * log(value / low) / log(high / low);
}

static void draw_row(struct an_chart *chart, const struct an_frame *frame, size_t row,
                     const double range[2])
{
    static const char *const names[3] = { "p50", "p95", "p99" };
    const double y = 52.0 + 46.0 * (double)row;
    const struct an_label name = { .x = 180, .y = y, .size = 13, .align = 'r' };
    an_chart_name(chart, &name, an_text(frame, row, 0), 172.0);
    double x[3];
    for (size_t i = 0; i < 3; i++)
        x[i] = to_px(an_number(frame, row, 1 + i), range[0], range[1]);
    /* Equal values still need an order to be pushed apart in. */
    x[1] = fmax(x[1], x[0] + 0.01);
    x[2] = fmax(x[2], x[1] + 0.01);
    an_push_apart(x, 3, 64.0, 190.0, 850.0);
    /* What all percentiles are is said once, in the middle. */
    const bool is_one = row > 0 && strcmp(an_word_duration(an_number(frame, row, 1)).text,
                                          an_word_duration(an_number(frame, row, 3)).text) == 0;
    for (size_t i = is_one; i < (is_one ? 2 : 3); i++) {
        const bool is_bound = is_bound_at(frame, row, i);
        struct an_label label = { .x = x[i],
                                  .y = y - 15.0,
                                  .size = 10.5,
                                  .align = 'c',
                                  .color = i == 1 ? AN_BLUE : AN_MUTED,
                                  .is_bold = i == 1 };
        an_chart_text(chart, &label, "%s%s", is_bound ? "≥ " : "",
                      an_word_duration(an_number(frame, row, 1 + i)).text);
        label.y = y - 31.0;
        if (row == 0)
            an_chart_text(chart, &label, "%s", names[i]);
    }
    const double censored = an_number(frame, row, 5);
    const struct an_label note = { .x = 860, .y = y, .size = 10.5, .color = AN_ORANGE_TEXT };
    if (is_early(frame, row))
        an_chart_text(chart, &note, "ended early");
    else if (censored > 0.0)
        an_chart_text(chart, &note, "%s%s unfinished",
                      an_number(frame, row, 10) < censored ? "up to " : "",
                      an_word_number(censored).text);
}

static void draw_rows(struct an_chart *chart, const struct an_frame *frame)
{
    double range[2] = { AN_INFINITY, 0.0 };
    (void)an_chart_block(chart, "latency, s",
                         "row p50_s p95_s p99_s p50_is_bound p95_is_bound p99_is_bound variant");
    for (size_t i = 0; i < frame->row_count; i++) {
        range[0] = fmin(range[0], an_number(frame, i, 1));
        range[1] = fmax(range[1], an_number(frame, i, 3));
        (void)fprintf(chart->data, "%zu %.6g %.6g %.6g %d %d %d ", i, an_number(frame, i, 1),
                      an_number(frame, i, 2), an_number(frame, i, 3), is_bound_at(frame, i, 0),
                      is_bound_at(frame, i, 1), is_bound_at(frame, i, 2));
        an_chart_cell(chart, an_text(frame, i, 0));
        (void)fputc('\n', chart->data);
    }
    /* At least a factor of twelve, so that two ticks are always in sight. */
    const double widen = fmax(1.6, sqrt(12.0 * range[0] / range[1]));
    range[0] /= widen;
    range[1] *= widen;
    const double end = 28.0 + 46.0 * (double)frame->row_count + 6.0;
    chart->height = end + 30.0;
    const struct an_box box = { 190, 28, 830, end };
    an_chart_panel(chart, &box);
    an_log_axis(chart, &box, range[0], range[1], true);
    (void)fputs("set border 0; unset grid; set grid xtics lc rgb '" AN_GRID "' lw 1 lt 1\n",
                chart->body);
    for (size_t i = 0; i < frame->row_count; i++)
        draw_row(chart, frame, i, range);
    /* Rows sit at y = 52 + 46 row px of a panel that starts at 28. */
    (void)fprintf(
        chart->body,
        "set yrange [%.6f:0]; set ytics ('' 0) scale 0\n"
        "Y(r) = 24 + 46 * r\n"
        "plot DATA index 0 using 2:(Y($1)):($4-$2):(0) with vectors nohead lc rgb '" AN_PALE
        "' lw 5, \\\n"
        " '' index 0 using 2:(Y($1)) with points pt 7 ps 1.1 lc rgb '" AN_GREY "', \\\n"
        " '' index 0 using 3:(Y($1)) with points pt 7 ps 1.3 lc rgb '" AN_BLUE "', \\\n"
        " '' index 0 using 4:(Y($1)) with points pt 7 ps 1.1 lc rgb '" AN_GREY "'\n"
        "unset logscale\n",
        end - 28.0);
    an_chart_draw_end(chart);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    chart->is_about_all = true;
    WEIR_TRY(an_chart_query(chart, latency_sql, NULL, &frame, error));
    if (frame->row_count == 0)
        return an_chart_empty(chart, "no run measured end-to-end latency");
    WEIR_TRY(an_chart_claim(chart, "latency.two latency.one", error));
    an_chart_subtitle(chart,
                      "End-to-end time of an item from admission · p50, p95, p99, means over %.0f "
                      "replication%s · logarithmic axis · ≥: reaches into unfinished items",
                      an_number(frame, 0, 6), an_number(frame, 0, 6) > 1.5 ? "s" : "");
    draw_rows(chart, frame);
    return WEIR_OK;
}

const struct an_plot_ops an_plot_latency = {
    { "latency", "How long do items take, and how long is the tail?" }, draw
};
