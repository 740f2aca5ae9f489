/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart gangs: a line of time for each job with more than one member: grey while it waits, blue
 * while all its members run, orange while a part of them does. Where there are none it shows the
 * other jobs. Of many those with most GPU time, waits included, in the order in which they came.
 */
#include "analysis/plots/plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 24, WAIT = 0, FULL, PART, BARS };

#define SHOWN_JOBS                                                                                 \
    "WITH last AS (SELECT coalesce(max(t_s + dt_s), 0.0) AS t FROM cluster_sample"                 \
    "  WHERE run_id = :run),"                                                                      \
    " pool AS (SELECT j.*, coalesce(j.end_s, t) AS until_s FROM job j, last WHERE run_id = :run"   \
    "  AND outcome <> 'refused' AND (members > 1 OR NOT EXISTS (SELECT 1 FROM job"                 \
    "   WHERE run_id = :run AND members > 1 AND outcome <> 'refused'))),"                          \
    " best AS (SELECT *, count(*) OVER () AS jobs FROM pool ORDER BY max(gpus, 1e-3 * cpus)"       \
    "  * (until_s - submit_s) DESC, workload, job LIMIT 24),"                                      \
    " shown AS (SELECT *, row_number() OVER (ORDER BY submit_s, workload, job) - 1 AS row"         \
    "  FROM best)"

static const char jobs_sql[] =
    SHOWN_JOBS " SELECT iif((SELECT count(*) FROM workload WHERE run_id = :run) > 1,"
               "  w.name || '/', '') || s.name, s.members, s.gpus, s.cpus,"
               "  coalesce(s.first_start_s, s.until_s) - s.submit_s, s.first_start_s IS NULL,"
               "  s.jobs, s.outcome FROM shown s JOIN workload w"
               "  ON w.run_id = :run AND w.workload = s.workload ORDER BY row";
enum { NAME, MEMBERS, GPUS, CPUS, WAITED, IS_OPEN, JOBS, OUTCOME };

/* From one change of the number of members that run to the next; of many the longest. */
static const char bars_sql[] = SHOWN_JOBS
    ", rank AS (SELECT s.row, s.members, s.submit_s, s.until_s, w.created_s AS a,"
    "  coalesce(w.ended_s, t) AS b FROM last, shown s JOIN worker w ON w.run_id = :run"
    "  AND w.workload = s.workload AND w.job = s.job),"
    " edge AS (SELECT row, a AS t, 1 AS d FROM rank UNION ALL SELECT row, b, -1 FROM rank"
    "  UNION ALL SELECT row, submit_s, 0 FROM shown"
    "  UNION ALL SELECT row, max(submit_s, until_s), 0 FROM shown),"
    " level AS (SELECT row, t, sum(total(d)) OVER (PARTITION BY row ORDER BY t) AS running,"
    "  lead(t) OVER (PARTITION BY row ORDER BY t) AS next FROM edge GROUP BY row, t),"
    " bar AS (SELECT l.row, l.t, l.next, CASE WHEN l.running <= 0 THEN 0 WHEN l.running >="
    "  s.members THEN 1 ELSE 2 END AS kind FROM level l JOIN shown s USING (row)"
    "  WHERE l.next > l.t ORDER BY l.next - l.t DESC LIMIT 480)"
    " SELECT kind, row, t, next FROM bar ORDER BY kind, row, t";

static const char *const colors[BARS] = { AN_PALE, AN_BLUE, AN_ORANGE };
static const char *const words[BARS] = { "waits", "all members run", "a part of them runs" };
static const double halves[BARS] = { 0.12, 0.36, 0.36 };

static void write_texts(struct an_chart *chart, const struct an_frame *jobs)
{
    const double all = an_number(jobs, 0, JOBS);
    const bool is_gang = an_number(jobs, 0, MEMBERS) > 1.5;
    char many[120] = "";
    if (all > SHOWN + 0.5)
        (void)snprintf(many, sizeof many, "the %d of %s with most GPU time and wait, ", SHOWN,
                       an_word_number(all).text);
    an_chart_subtitle(chart,
                      "%s in the order they came, %sgrey while they wait · right: what they "
                      "ask for and their wait until the first start",
                      is_gang ? "Jobs of more than one member" : "Jobs", many);
}

static void label_row(struct an_chart *chart, const struct an_frame *jobs, size_t row, double y)
{
    const double gpus = an_number(jobs, row, GPUS);
    const double amount = gpus > 0.0 ? gpus : an_number(jobs, row, CPUS);
    const double wait = an_number(jobs, row, WAITED);
    struct an_label label = { .x = 180, .y = y, .size = 11.5, .align = 'r' };
    an_chart_name(chart, &label, an_text(jobs, row, NAME), 172.0);
    label = (struct an_label){ .x = 856, .y = y, .color = AN_MUTED, .size = 11 };
    an_chart_text(chart, &label, "%s %s%s, %s%s", an_word_number(amount).text,
                  gpus > 0.0 ? "GPU" : "CPU", an_plural(amount),
                  an_number(jobs, row, IS_OPEN) > 0.5 ? "≥ " : "",
                  wait >= 1.0 ? an_word_duration(wait).text : "no wait");
}

/* The kinds that there are, each a block of its own. */
static size_t write_bars(struct an_chart *chart, const struct an_frame *bars, size_t blocks[BARS])
{
    size_t count = 0;
    for (size_t kind = 0; kind < BARS; kind++) {
        blocks[kind] = SIZE_MAX;
        for (size_t i = 0; i < bars->row_count; i++) {
            if ((size_t)an_number(bars, i, 0) != kind)
                continue;
            if (blocks[kind] == SIZE_MAX) {
                blocks[kind] = an_chart_block(chart, words[kind], "row from_s to_s");
                count++;
            }
            (void)fprintf(chart->data, "%.0f %.9g %.9g\n", an_number(bars, i, 1),
                          an_number(bars, i, 2), an_number(bars, i, 3));
        }
    }
    return count;
}

static void write_key(struct an_chart *chart, const size_t blocks[BARS])
{
    double x = 190.0;
    for (size_t kind = 0; kind < BARS; kind++) {
        if (blocks[kind] == SIZE_MAX)
            continue;
        an_chart_rectangle(chart, &(struct an_box){ x, 5.0, x + 11.0, 15.0 }, colors[kind],
                           "front");
        an_chart_text(chart, &(struct an_label){ .x = x + 17.0, .y = 10.0, .color = AN_MUTED },
                      "%s", words[kind]);
        x += 50.0 + 6.6 * (double)strlen(words[kind]);
    }
}

static void plot(struct an_chart *chart, const size_t blocks[BARS], size_t rows)
{
    const char *gap = "";
    (void)fprintf(chart->body,
                  "set border 1; unset grid; set yrange [%zu:0]; set ytics ('' 0) "
                  "scale 0\nplot ",
                  rows);
    for (size_t kind = 0; kind < BARS; kind++) {
        if (blocks[kind] == SIZE_MAX)
            continue;
        (void)fprintf(chart->body,
                      "%sDATA index %zu using 2:($1+0.5):2:3:($1+%.2f):($1+%.2f) with boxxyerror "
                      "fs solid 1.0 noborder fc rgb '%s'",
                      gap, blocks[kind], 0.5 - halves[kind], 0.5 + halves[kind], colors[kind]);
        gap = ", \\\n ";
    }
    (void)fputc('\n', chart->body);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    const struct an_frame *jobs = NULL;
    const struct an_frame *bars = NULL;
    size_t blocks[BARS];
    WEIR_TRY(an_chart_query(chart, jobs_sql, NULL, &jobs, error));
    if (jobs->row_count == 0)
        return an_chart_empty(chart, "no rows of jobs are kept of this run");
    WEIR_TRY(an_chart_query(chart, bars_sql, NULL, &bars, error));
    if (write_bars(chart, bars, blocks) == 0)
        return an_chart_empty(chart, "no job is there for any time");
    WEIR_TRY(an_chart_claim(chart, "gangs.wait gangs.start", error));
    write_texts(chart, jobs);
    const double pitch = jobs->row_count > 8 ? 20.0 : 30.0;
    const double y1 = 60.0 + pitch * (double)jobs->row_count;
    chart->height = y1 + 28.0;
    write_key(chart, blocks);
    an_chart_panel(chart, &(struct an_box){ 190, 60, 846, y1 });
    an_chart_time_axis(chart, true);
    for (size_t row = 0; row < jobs->row_count; row++)
        label_row(chart, jobs, row, 60.0 + pitch * ((double)row + 0.5));
    WEIR_TRY(an_chart_happenings(chart, 56.0, y1, error));
    plot(chart, blocks, jobs->row_count);
    an_chart_draw_end(chart);
    return WEIR_OK;
}

const struct an_plot_ops an_plot_gangs = {
    { "gangs", "Which gangs or jobs wait, which run, and which with a part of their members?" },
    draw
};
