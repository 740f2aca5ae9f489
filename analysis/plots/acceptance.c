/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart acceptance: the share of jobs that were placed, by what they ask for, one mark a variant;
 * of jobs in time also how long those that started had waited. One number for all jobs hides that
 * large ones are refused first, or wait for small ones.
 */
#include "analysis/plots/plots.h"
#include "analysis/plots/rows.h"

#include "analysis/nan.h"

#include <math.h>
#include <string.h>

enum { MOST_LABELS = 18 };

/* Sizes in the order of size, then classes of jobs in time in their order, then others by how often
 * they come. */
static const char labels_sql[] =
    "SELECT x.label FROM result x LEFT JOIN job_label g ON g.run_id = x.run_id"
    " AND g.name = x.label WHERE x.metric = 'jobs.arrived' AND x.label <> '' GROUP BY x.label"
    " ORDER BY CASE WHEN x.label = 'cpu only' THEN 0 WHEN x.label = 'share' THEN 0.5"
    "  WHEN x.label GLOB '[0-9]*gpu' THEN CAST(x.label AS INTEGER) ELSE 1e9 END,"
    " min(g.label), sum(x.value) DESC, x.label";

static double pitch_of(size_t variants)
{
    return fmax(40.0, 12.0 + 8.0 * (double)variants); /* no blob of many */
}

struct shown {
    struct an_rows counts, waits;
    const struct an_frame *names;
    const char *label[MOST_LABELS];
    size_t count;
    double low;                   /* of the axis of acceptance */
    double longest_s, shortest_s; /* of the waits; shortest: above 0 */
    bool is_in_time;
};

/* %, NAN when no such job arrived. */
static double accepted(const struct shown *shown, size_t variant, const char *label)
{
    const struct an_rows *rows = &shown->counts;
    const double arrived = an_rows_value(rows, variant, "jobs.arrived", label);
    const char *metric = shown->is_in_time ? "jobs.refused" : "jobs.failed";
    const double refused = an_rows_value(rows, variant, metric, label);
    return arrived > 0 ? 100.0 * (1.0 - refused / arrived) : AN_NAN;
}

/* A variant all of whose jobs wait has no waits. */
static double wait_s(const struct shown *shown, size_t variant, const char *metric,
                     const char *label)
{
    for (size_t v = 0; v < shown->waits.count; v++)
        if (strcmp(shown->waits.variants[v], shown->counts.variants[variant]) == 0)
            return an_rows_value(&shown->waits, v, metric, label);
    return AN_NAN;
}

static void show_label(struct shown *shown, const char *label)
{
    bool is_there = false;
    if (shown->count == MOST_LABELS)
        return;
    for (size_t v = 0; v < shown->counts.count; v++) {
        const double value = accepted(shown, v, label);
        if (isnan(value))
            continue;
        is_there = true;
        shown->low = fmin(shown->low, value);
        shown->longest_s = fmax(shown->longest_s, wait_s(shown, v, "wait.job.p95", label));
        const double mean_s = wait_s(shown, v, "wait.job.mean", label);
        if (mean_s > 0.0)
            shown->shortest_s = fmin(shown->shortest_s, mean_s);
    }
    if (is_there)
        shown->label[shown->count++] = label;
}

static void find_shown(struct shown *shown)
{
    shown->low = 100.0;
    shown->shortest_s = AN_INFINITY;
    shown->is_in_time =
        shown->counts.count > 0 && !isnan(an_rows_value(&shown->counts, 0, "jobs.refused", ""));
    if (shown->is_in_time)
        show_label(shown, "");
    for (size_t i = 0; i < shown->names->row_count; i++)
        show_label(shown, an_text(shown->names, i, 0));
    shown->low = fmax(0.0, 10.0 * floor((shown->low - 1.0) / 10.0));
}

/* ---- texts ---- */

static weir_status write_static_texts(struct an_chart *chart, const struct shown *shown,
                                      struct weir_error *error)
{
    WEIR_TRY(an_chart_claim(chart, "fill.placed", error));
    if (shown->count < shown->names->row_count)
        an_chart_subtitle(chart,
                          "Share of the jobs that arrived and were placed, %zu of %zu classes, %s",
                          shown->count, shown->names->row_count, an_rows_runs(&shown->counts).text);
    else
        an_chart_subtitle(chart, "Share of the jobs that arrived and were placed, by size, %s",
                          an_rows_runs(&shown->counts).text);
    return WEIR_OK;
}

static weir_status write_time_texts(struct an_chart *chart, const struct shown *shown,
                                    struct weir_error *error)
{
    WEIR_TRY(an_chart_claim(chart, "jobs.all_refused waits.none waits.two waits.longest", error));
    an_chart_subtitle(chart,
                      "Jobs not refused, of those that arrived, and waits of those that started "
                      "(full: mean, ring: p95), %s",
                      an_rows_runs(&shown->counts).text);
    return WEIR_OK;
}

static void write_data(struct an_chart *chart, const struct shown *shown)
{
    const struct an_rows *rows = &shown->counts;
    for (size_t v = 0; v < rows->count; v++) {
        (void)an_chart_block(chart, rows->variants[v],
                             shown->is_in_time
                                 ? "row accepted_pct arrived wait_mean_s wait_p95_s size"
                                 : "row accepted_pct arrived size");
        for (size_t i = 0; i < shown->count; i++) {
            const char *label = shown->label[i];
            const double value = accepted(shown, v, label);
            if (isnan(value))
                continue;
            (void)fprintf(chart->data, "%zu %.6g %.9g ", i, value,
                          an_rows_value(rows, v, "jobs.arrived", label));
            if (shown->is_in_time)
                (void)fprintf(chart->data, "%.6g %.6g ", wait_s(shown, v, "wait.job.mean", label),
                              wait_s(shown, v, "wait.job.p95", label));
            an_chart_cell(chart, an_word_size(label).text);
            (void)fputc('\n', chart->data);
        }
    }
}

/* ---- panels ---- */

static void label_rows(struct an_chart *chart, const struct shown *shown, const struct an_box *box)
{
    struct an_key keys[AN_ROWS];
    const struct an_rows *rows = &shown->counts;
    for (size_t v = 0; v < rows->count; v++)
        keys[v] = (struct an_key){ rows->variants[v], an_row_colors[v] };
    an_rows_key(chart, keys, rows->count, &(struct an_label){ .x = 40, .y = 10 });
    for (size_t i = 0; i < shown->count; i++) {
        const double y = box->y0 + pitch_of(rows->count) * ((double)i + 0.5);
        const struct an_label name = {
            .x = box->x0 - 12.0, .y = y - 6.0, .align = 'r', .is_bold = shown->label[i][0] == '\0'
        };
        const struct an_label count = {
            .x = box->x0 - 12.0, .y = y + 8.0, .color = AN_MUTED, .size = 10.5, .align = 'r'
        };
        an_chart_name(chart, &name, an_word_size(shown->label[i]).text, name.x - 8.0);
        const double jobs = an_rows_value(rows, 0, "jobs.arrived", shown->label[i]);
        an_chart_text(chart, &count, "%s job%s", an_word_number(jobs).text, an_plural(jobs));
    }
}

static void label_axis(struct an_chart *chart, const struct an_box *box, const char *text)
{
    const struct an_label label = {
        .x = 0.5 * (box->x0 + box->x1), .y = box->y1 + 38.0, .color = AN_MUTED, .align = 'c'
    };
    an_chart_text(chart, &label, "%s", text);
}

/* Where the marks of a variant lie within a row. */
static double offset_of(const struct shown *shown, size_t variant)
{
    return 0.22 + 0.56 / (double)shown->counts.count * ((double)variant + 0.5);
}

static void draw_acceptance(struct an_chart *chart, const struct shown *shown,
                            const struct an_box *box)
{
    an_chart_panel(chart, box);
    label_rows(chart, shown, box);
    label_axis(chart, box,
               shown->is_in_time ? "jobs not refused, % of those that arrived"
                                 : "jobs placed, % of those that arrived");
    (void)fprintf(chart->body,
                  "set border 0; unset grid; set grid xtics lc rgb '" AN_GRID "' lw 1 lt 1\n"
                  "set xrange [%.9g:100.5]; set xtics %.9g format '%%g %%%%' scale 0\n"
                  "set yrange [%.9g:0]; set ytics ('' 0) scale 0\nplot ",
                  shown->low, an_axis_step(100.0 - shown->low, shown->is_in_time ? 4.0 : 6.0),
                  (double)shown->count);
    for (size_t v = 0; v < shown->counts.count; v++)
        (void)fprintf(chart->body,
                      "%sDATA index %zu using 2:($1+%.4g) with points pt 7 ps 1.1 lc rgb '%s'",
                      v == 0 ? "" : ", \\\n ", v, offset_of(shown, v), an_row_colors[v]);
    (void)fputc('\n', chart->body);
    an_chart_draw_end(chart);
}

/* Ticks in the units people use; a wait of 0 lies at the left end. */
static void write_log_axis(struct an_chart *chart, double low, double high)
{
    static const double ticks[] = {
        0.01, 0.1, 1, 10, 60, 600, 3600, 21600, 86400, 604800, 2592000
    };
    const char *gap = "";
    (void)fprintf(chart->body, "set logscale x; set xrange [%.6g:%.6g]; set xtics (", low, high);
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
        if (ticks[i] < low || ticks[i] > high)
            continue;
        (void)fprintf(chart->body, "%s'%s' %.9g", gap, an_word_duration(ticks[i]).text, ticks[i]);
        gap = ", ";
    }
    (void)fputs(") scale 0\nplot ", chart->body);
}

static void draw_waits(struct an_chart *chart, const struct shown *shown, const struct an_box *box)
{
    const char *word = NULL;
    double unit_s = an_time_unit(shown->longest_s, &word);
    const double top = an_axis_top(shown->longest_s / unit_s);
    char label[32];
    (void)snprintf(label, sizeof label, "wait, %s", word);
    const bool is_log = shown->longest_s > 100.0 * shown->shortest_s;
    an_chart_panel(chart, box);
    if (is_log) {
        label_axis(chart, box, "wait, logarithmic");
        unit_s = 1;
        write_log_axis(chart, fmax(0.5 * shown->shortest_s, 1e-3), 2.0 * shown->longest_s);
    } else {
        label_axis(chart, box, label);
        (void)fprintf(chart->body,
                      "set xrange [0:%.9g]; set xtics 0,%.9g format '%%g' scale 0\nplot ",
                      top * 1.01, an_axis_step(top, 4.0));
    }
    for (size_t v = 0; v < shown->counts.count; v++) {
        const double offset = offset_of(shown, v);
        (void)fprintf(chart->body,
                      "%sDATA index %zu using ($4/%g):($1+%.4g):(($5-$4)/%g):(0) with vectors "
                      "nohead lc rgb '%s' lw 1",
                      v == 0 ? "" : ", \\\n ", v, unit_s, offset, unit_s, an_row_colors[v]);
        for (int column = 4; column <= 5; column++)
            (void)fprintf(chart->body,
                          ", \\\n DATA index %zu using ($%d/%g):($1+%.4g) with points pt %d ps 1.1 "
                          "lc rgb '%s'",
                          v, column, unit_s, offset, column == 4 ? 7 : 6, an_row_colors[v]);
    }
    (void)fputs(is_log ? "\nunset logscale\n" : "\n", chart->body);
    an_chart_draw_end(chart);
}

static weir_status draw_rows(struct an_chart *chart, const struct shown *shown,
                             struct weir_error *error)
{
    const double y1 = 36.0 + pitch_of(shown->counts.count) * (double)shown->count;
    chart->height = y1 + 50.0;
    if (!shown->is_in_time) {
        WEIR_TRY(write_static_texts(chart, shown, error));
        draw_acceptance(chart, shown, &(struct an_box){ 170, 36, 930, y1 });
        return WEIR_OK;
    }
    WEIR_TRY(write_time_texts(chart, shown, error));
    draw_acceptance(chart, shown, &(struct an_box){ 170, 36, 520, y1 });
    draw_waits(chart, shown, &(struct an_box){ 580, 36, 960, y1 });
    return WEIR_OK;
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    struct shown shown = { .count = 0 };
    chart->is_about_all = true;
    WEIR_TRY(an_chart_query(chart, labels_sql, NULL, &shown.names, error));
    WEIR_TRY(an_rows_read(chart, "jobs.", &shown.counts, error));
    WEIR_TRY(an_rows_read(chart, "wait.job.", &shown.waits, error));
    find_shown(&shown);
    if (shown.count == 0)
        return an_chart_empty(chart, "no run places jobs");
    write_data(chart, &shown);
    return draw_rows(chart, &shown, error);
}

const struct an_plot_ops an_plot_acceptance = {
    { "acceptance", "Which sizes of jobs are refused, and which wait?" }, draw
};
