/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart headroom: GPUs that jobs ask for, held or waited for, as the work grows by the scenario's
 * `growth:`, beside the GPUs there are; of pipelines the devices that are busy, of the kind of
 * which there is least to spare. Quantiles are over time after the warm-up; growth multiplies them:
 * twice the work asks for twice as much at every moment.
 */
#include "analysis/nan.h"
#include "analysis/plots/plots.h"
#include "analysis/report/review.h"

#include <math.h>

enum { QUANTILES = 3, LEAST_WEEKS = 12, MOST_WEEKS = 156 };

static const struct quantile {
    const char *name, *color, *text_color;
} quantiles[QUANTILES] = { { "p50", AN_GREEN, AN_GREEN_TEXT },
                           { "p95", AN_BLUE, AN_BLUE },
                           { "p99", AN_ORANGE, AN_ORANGE_TEXT } };

/* What is asked for changes when a job comes or goes; one that is refused asked for nothing. */
static const char asked_sql[] =
    "WITH edge AS (SELECT submit_s AS t, gpus AS d FROM job WHERE run_id = :run AND outcome <> "
    "'refused'"
    "  UNION ALL SELECT coalesce(end_s, :to), -gpus FROM job WHERE run_id = :run AND outcome <> "
    "'refused'"
    "  UNION ALL SELECT 0, 0),"
    " level AS (SELECT t, sum(total(d)) OVER (ORDER BY t) AS gpus,"
    "  lead(t, 1, :to) OVER (ORDER BY t) AS next FROM edge GROUP BY t),"
    " part AS (SELECT gpus, min(next, :to) - max(t, :from) AS dt FROM level"
    "  WHERE min(next, :to) > max(t, :from)),"
    " rank AS (SELECT gpus, sum(total(dt)) OVER (ORDER BY gpus) / (SELECT sum(dt) FROM part) AS "
    "share"
    "  FROM part GROUP BY gpus)"
    " SELECT min(iif(share >= 0.5, gpus, NULL)), min(iif(share >= 0.95, gpus, NULL)),"
    " min(iif(share >= 0.99, gpus, NULL)),"
    " (SELECT count(*) FROM job WHERE run_id = :run AND gpus > 0) FROM rank";

/* Means of the intervals. */
#define BUSY(name, column)                                                                         \
    "SELECT '" name "' AS name, " column "_active AS used, " column                                \
    "_capacity AS there, dt_s AS dt FROM cluster_sample WHERE run_id = :run AND t_s >= :from"
#define BUSY_DEVICES                                                                               \
    BUSY("GPUs", "gpu")                                                                            \
    " UNION ALL " BUSY("CPUs", "cpu") " UNION ALL " BUSY("NVDECs", "nvdec") " UNION ALL " BUSY(    \
        "NVENCs", "nvenc")
static const char busy_sql[] =
    "WITH part AS (" BUSY_DEVICES "),"
    " rank AS (SELECT name, used, max(there) OVER (PARTITION BY name) AS there,"
    "  sum(dt) OVER (PARTITION BY name ORDER BY used) / sum(dt) OVER (PARTITION BY name) AS share"
    "  FROM part)"
    " SELECT min(iif(share >= 0.5, used, NULL)), min(iif(share >= 0.95, used, NULL)),"
    " min(iif(share >= 0.99, used, NULL)), there, name FROM rank WHERE there > 0"
    " GROUP BY name ORDER BY 2 / there DESC, name LIMIT 1";

struct sheet {
    const char *devices;
    bool is_busy; /* what is used, and not what is asked for */
    double asked[QUANTILES], growth_month, installed, weeks; /* until the 95 % quantile is there */
    double span;                                             /* of the chart, weeks */
};

static double asked_in(const struct sheet *sheet, size_t quantile, double week)
{
    return sheet->asked[quantile] * pow(1.0 + sheet->growth_month, week * 7.0 / 30.0);
}

static void write_texts(struct an_chart *chart, const struct sheet *sheet)
{
    struct an_claim claim = { .name = NULL };
    an_claim_put(&claim, "growth", sheet->growth_month);
    an_claim_put(&claim, "weeks", sheet->weeks);
    an_claim_put(&claim, "p95", sheet->asked[1]);
    an_claim_put(&claim, "installed", sheet->installed);
    an_claim_put_word(&claim, "devices", sheet->devices);
    an_claim_give(sheet->is_busy ? "review.busy" : "review.exhaustion", &claim);
    an_chart_title(chart, "%s", claim.text);
    an_chart_subtitle(chart,
                      "%s that %s: half, 95 %% and 99 %% of the time it is at most that; %s more a "
                      "month · dashed: %s there are",
                      sheet->devices, sheet->is_busy ? "are busy" : "jobs hold or wait for",
                      an_word_percent(sheet->growth_month).text, sheet->devices);
}

static void label_lines(struct an_chart *chart, const struct sheet *sheet, const struct an_box *box,
                        double top)
{
    double places[QUANTILES + 1];
    for (size_t i = 0; i <= QUANTILES; i++) {
        const double value = i < QUANTILES ? asked_in(sheet, i, sheet->span) : sheet->installed;
        places[i] = box->y1 - (box->y1 - box->y0) * value / top;
    }
    an_push_apart(places, QUANTILES + 1, 15.0, box->y0, box->y1);
    for (size_t i = 0; i <= QUANTILES; i++) {
        const struct an_label label = { .x = box->x1 + 10.0,
                                        .y = places[i],
                                        .color = i < QUANTILES ? quantiles[i].text_color : AN_INK,
                                        .is_bold = i == 1 };
        if (i < QUANTILES)
            an_chart_text(chart, &label, "%s, now %s", quantiles[i].name,
                          an_word_number(sheet->asked[i]).text);
        else
            an_chart_text(chart, &label, "there: %s", an_word_number(sheet->installed).text);
    }
}

static void draw_lines(struct an_chart *chart, const struct sheet *sheet)
{
    const struct an_box box = { 90, 20, 830, 300 };
    const double top =
        an_axis_top(fmax(asked_in(sheet, QUANTILES - 1, sheet->span), sheet->installed));
    (void)an_chart_block(chart, sheet->is_busy ? "busy" : "GPUs asked for", "week p50 p95 p99");
    for (uint32_t i = 0; (double)i <= sheet->span; i++) {
        const double week = (double)i;
        (void)fprintf(chart->data, "%g %.6g %.6g %.6g\n", week, asked_in(sheet, 0, week),
                      asked_in(sheet, 1, week), asked_in(sheet, 2, week));
    }
    chart->height = box.y1 + 44.0;
    an_chart_panel(chart, &box);
    const struct an_label below = {
        .x = 0.5 * (box.x0 + box.x1), .y = box.y1 + 32.0, .color = AN_MUTED, .align = 'c'
    };
    an_chart_text(chart, &below, "weeks from now");
    label_lines(chart, sheet, &box, top);
    (void)fprintf(chart->body,
                  "set xrange [0:%.9g]; set xtics %.9g format '%%g'\n"
                  "set yrange [0:%.9g]; set ytics 0,%.9g format '%%g'\nplot ",
                  sheet->span, an_axis_step(sheet->span, 8.0), top, an_axis_step(top, 5.0));
    for (size_t i = 0; i < QUANTILES; i++)
        (void)fprintf(chart->body, "DATA using 1:%zu with lines lw %s lc rgb '%s', ", i + 2,
                      i == 1 ? "2.4" : "1.6", quantiles[i].color);
    (void)fprintf(chart->body, "%.9g with lines lw 1.4 dt (6,3) lc rgb '" AN_INK "'\n",
                  sheet->installed);
    an_chart_draw_end(chart);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    struct sheet sheet = { .devices = "GPUs", .installed = chart->facts->gpu_count };
    WEIR_TRY(an_review_growth(chart->keeper.db, &sheet.growth_month, error));
    if (!(sheet.growth_month > 0.0))
        return an_chart_empty(chart, "the scenario does not say that its work grows "
                                     "(growth: 3%%/month)");
    const struct an_args args = { .run = chart->run->run_id,
                                  .from = chart->facts->from_s,
                                  .to = chart->run->end_s };
    WEIR_TRY(an_chart_query(chart, asked_sql, &args, &frame, error));
    if (!(an_number(frame, 0, 3) > 0.5) || !(an_number(frame, 0, 2) > 0.0)) {
        if (chart->facts->stage_count == 0)
            return an_chart_empty(chart, "no job that asks for GPUs has a row in this run");
        WEIR_TRY(an_chart_query(chart, busy_sql, &args, &frame, error));
        if (frame->row_count == 0)
            return an_chart_empty(chart, "nothing was sampled over time in this run");
        sheet.installed = an_number(frame, 0, 3);
        sheet.devices = an_text(frame, 0, 4);
        sheet.is_busy = true;
    }
    for (size_t i = 0; i < QUANTILES; i++)
        sheet.asked[i] = an_number(frame, 0, i);
    sheet.weeks = sheet.asked[1] > 0.0
                      ? an_review_weeks(sheet.growth_month, sheet.installed / sheet.asked[1])
                      : AN_INFINITY;
    if (isinf(sheet.weeks))
        return an_chart_empty(chart, "nothing is used 95 %% of the time");
    sheet.span = fmin(fmax(ceil(1.25 * sheet.weeks), LEAST_WEEKS), MOST_WEEKS);
    write_texts(chart, &sheet);
    draw_lines(chart, &sheet);
    return WEIR_OK;
}

const struct an_plot_ops an_plot_headroom = {
    { "headroom", "When does the work outgrow the devices there are?" }, draw
};
