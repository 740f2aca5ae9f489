/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart job-queue: jobs that wait, jobs that run and the GPUs they hold over time, stacked by label
 * (sizes of the jobs of a trace, names of classes). Dashed lines are the sums of other variants in
 * the same replication.
 */
#include "analysis/plots/plots.h"
#include "analysis/plots/rows.h"

#include "analysis/nan.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { OTHERS = 3, PANELS = 3 };

/* Columns 2 to 4 of the frames. */
static const struct panel {
    const char *text, *metric;
} panels[PANELS] = { { "jobs waiting", "queue.len.mean" },
                     { "jobs running", "jobs.running.mean" },
                     { "GPUs held", "gpus.held.mean" } };

/* Of many labels those with the fewest jobs are joined. */
static const char labels_sql[] =
    "WITH weight AS (SELECT label, sum((waiting + running) * dt_s) AS jobs FROM job_sample"
    "  WHERE run_id = :run GROUP BY label),"
    " place AS (SELECT label, row_number() OVER (ORDER BY jobs DESC, label) AS k,"
    "  count(*) OVER () AS n FROM weight),"
    " part AS (SELECT s.t_s, s.dt_s, s.waiting, s.running, s.gpus,"
    "  iif(p.n <= 12 OR p.k < 12, s.label, 1e9) AS label,"
    "  iif(p.n <= 12 OR p.k < 12, g.name, 'others') AS name"
    "  FROM job_sample s JOIN place p USING (label)"
    "  JOIN job_label g ON g.run_id = s.run_id AND g.label = s.label WHERE s.run_id = :run)"
    " SELECT t_s, dt_s, sum(waiting), sum(running), sum(gpus), name FROM part"
    " GROUP BY label, t_s ORDER BY CASE WHEN name = 'cpu only' THEN 0 WHEN name = 'share' THEN 0.5"
    "  WHEN name GLOB '[0-9]*gpu' THEN CAST(name AS INTEGER) ELSE 1e6 END, label, t_s";

static const char others_sql[] =
    "SELECT s.t_s, s.dt_s, sum(s.waiting), sum(s.running), sum(s.gpus), r.variant"
    " FROM job_sample s JOIN run r USING (run_id)"
    " WHERE r.run_id <> :run AND r.replication = :id"
    " GROUP BY r.variant, s.t_s ORDER BY min(r.variant_order), r.variant, s.t_s";

/* Rows of a frame that belong together. */
struct layer {
    const char *name;
    struct an_span span;
};

struct layers {
    struct layer layer[AN_ROWS];
    size_t count;
};

struct picture {
    const struct an_frame *labels, *others;
    struct layers parts, variants;
    struct an_grid grid;
    double *series; /* of one panel: parts, then variants */
};

static struct layers split(const struct an_frame *frame, size_t most)
{
    struct layers layers = { .count = 0 };
    for (size_t row = 0; row < frame->row_count; row++) {
        const char *name = an_text(frame, row, 5);
        struct layer *last = layers.count == 0 ? NULL : &layers.layer[layers.count - 1];
        if (last == NULL || strcmp(last->name, name) != 0) {
            if (layers.count == most)
                break;
            last = &layers.layer[layers.count++];
            *last = (struct layer){ .name = name, .span = { .first = row } };
        }
        last->span.rows++;
    }
    return layers;
}

/* ---- texts ---- */

static weir_status write_texts(struct an_chart *chart, const struct picture *picture,
                               struct weir_error *error)
{
    WEIR_TRY(an_chart_claim(chart, "jobs.hardly_wait jobs.wait", error));
    if (picture->variants.count > 0) {
        char text[sizeof chart->title];
        memcpy(text, chart->title, sizeof text);
        an_chart_title(chart, "%s: %s",
                       an_chart_word(chart, chart->run->variant, AN_NAME_MOST).text, text);
    }
    an_chart_subtitle(chart,
                      "Jobs and their GPUs, stacked by label, {width} means%s · right: mean after "
                      "warm-up",
                      picture->variants.count > 0 ? " · dashed: all jobs of other variants" : "");
    return WEIR_OK;
}

/* ---- panels ---- */

static double *series_of(const struct picture *picture, size_t layer)
{
    return picture->series + layer * picture->grid.bins;
}

/* Fills the series of a panel, writes its block and returns the top of its axis. */
static double write_panel(struct an_chart *chart, const struct picture *picture, size_t panel)
{
    char columns[AN_ROWS * 64] = "t_s";
    const size_t count = picture->parts.count + picture->variants.count;
    for (size_t k = 0; k < count; k++) {
        const bool is_part = k < picture->parts.count;
        const struct layer *layer =
            is_part ? &picture->parts.layer[k] : &picture->variants.layer[k - picture->parts.count];
        const size_t used = strlen(columns);
        an_grid_means(&picture->grid, is_part ? picture->labels : picture->others, layer->span,
                      2 + panel, series_of(picture, k));
        (void)snprintf(columns + used, sizeof columns - used, " \"%s\"",
                       an_chart_word(chart, layer->name, AN_NAME_MOST).text);
    }
    double top = 0.0;
    for (size_t bin = 0; bin < picture->grid.bins; bin++) {
        double sum = 0.0;
        for (size_t k = 0; k < picture->parts.count; k++)
            sum += series_of(picture, k)[bin];
        top = fmax(top, isnan(sum) ? 0.0 : sum);
        for (size_t k = picture->parts.count; k < count; k++)
            top = fmax(top, series_of(picture, k)[bin]);
    }
    (void)an_chart_block(chart, panels[panel].text, columns);
    an_chart_rows(chart, &picture->grid, picture->series, count);
    return an_axis_top(fmax(top, panel == 2 ? chart->facts->gpu_count : 1.0));
}

/* "$2+$3" up to a layer. */
static void write_sum(FILE *out, size_t last)
{
    for (size_t k = 0; k <= last; k++)
        (void)fprintf(out, "%s$%zu", k == 0 ? "" : "+", k + 2);
}

/* From the sum of all downwards, so that each covers the one behind it. */
static void plot_layers(struct an_chart *chart, const struct picture *picture, size_t panel,
                        double top)
{
    static const char *const dashes[OTHERS] = { "(6,3)", "(2,3)", "(9,3,2,3)" };
    FILE *out = chart->body;
    assert(picture->variants.count <= OTHERS);
    (void)fprintf(out, "set yrange [0:%.9g]; set ytics %.9g format '%%g'\nplot ", top,
                  an_axis_step(top, 4.0));
    for (size_t k = picture->parts.count; k-- > 0;) {
        (void)fprintf(out, "DATA index %zu using 1:(", panel);
        write_sum(out, k);
        (void)fprintf(out, ") with filledcurves y1=0 fc rgb '%s', \\\n ", an_row_colors[k]);
    }
    for (size_t v = 0; v < picture->variants.count; v++)
        (void)fprintf(
            out, "DATA index %zu using 1:%zu with lines lc rgb '" AN_INK "' lw 1.1 dt %s, \\\n ",
            panel, picture->parts.count + v + 2, dashes[v]);
    if (panel == 2 && chart->facts->gpu_count > 0)
        (void)fprintf(out, "%.9g with lines lc rgb '" AN_MUTED "' lw 0.9\n",
                      chart->facts->gpu_count);
    else
        (void)fputs("0 with lines lc rgb '" AN_MUTED "' lw 0.5\n", out);
}

/* The mean of this run and of the others, at the right. */
static weir_status label_means(struct an_chart *chart, const struct picture *picture, size_t panel,
                               double y, struct weir_error *error)
{
    static const char sql[] =
        "SELECT r.variant, x.value, r.run_id = :run FROM result x JOIN run r USING (run_id)"
        " WHERE x.metric = :text AND x.label = '' AND r.replication = :id"
        " ORDER BY r.run_id <> :run, r.variant_order";
    const struct an_frame *frame = NULL;
    const struct an_args args = { .run = chart->run->run_id,
                                  .id = chart->run->replication,
                                  .text = panels[panel].metric };
    WEIR_TRY(an_chart_query(chart, sql, &args, &frame, error));
    for (size_t row = 0; row < frame->row_count && row <= picture->variants.count; row++) {
        const struct an_label label = { .x = 860,
                                        .y = y + 18.0 * (double)row,
                                        .color = row == 0 ? AN_INK : AN_MUTED,
                                        .size = row == 0 ? 12.0 : 11.0,
                                        .is_bold = row == 0 };
        const struct an_word mean = an_word_number(an_number(frame, row, 1));
        const size_t room = (row == 0 ? 16 : 20) - (strlen(mean.text) < 8 ? strlen(mean.text) : 8);
        an_chart_text(chart, &label, "%s %s", mean.text,
                      picture->variants.count > 0
                          ? an_chart_word(chart, an_text(frame, row, 0), room).text
                          : "");
    }
    return WEIR_OK;
}

/* Its layers by name; the sum of all is what other variants lie over. */
static void tell_panel(struct an_chart *chart, const struct picture *picture, size_t panel,
                       double top)
{
    static const char *const all = "all";
    const char *names[AN_ROWS];
    double sums[AN_CHART_BINS] = { 0 };
    const size_t bins = picture->grid.bins;
    for (size_t k = 0; k < picture->parts.count; k++) {
        names[k] = picture->parts.layer[k].name;
        for (size_t b = 0; b < bins; b++)
            sums[b] += isnan(series_of(picture, k)[b]) ? 0.0 : series_of(picture, k)[b];
    }
    struct an_track track = { .name = panels[panel].text,
                              .unit = "",
                              .high = top,
                              .grid = &picture->grid,
                              .series = sums,
                              .count = 1,
                              .names = &all };
    an_chart_track(chart, &track);
    track.series = picture->series;
    track.names = names;
    track.count = picture->parts.count;
    track.is_stacked = true;
    if (track.count > 1)
        an_chart_track(chart, &track);
}

static weir_status draw_panel(struct an_chart *chart, const struct picture *picture, size_t panel,
                              const struct an_box *box, struct weir_error *error)
{
    const struct an_label name = { .x = box->x0, .y = box->y0 - 12.0, .color = AN_MUTED };
    const double gpus = chart->facts->gpu_count;
    const double top = write_panel(chart, picture, panel);
    an_chart_panel(chart, box);
    if (panel == 2 && gpus > 0)
        an_chart_text(chart, &name, "%s, of %s", panels[panel].text, an_word_number(gpus).text);
    else
        an_chart_text(chart, &name, "%s", panels[panel].text);
    an_chart_time_axis(chart, panel + 1 == PANELS);
    tell_panel(chart, picture, panel, top);
    WEIR_TRY(label_means(chart, picture, panel, box->y0 + 12.0, error));
    if (panel == 0)
        WEIR_TRY(an_chart_happenings(chart, box->y0 - 14.0, box->y1, error));
    plot_layers(chart, picture, panel, top);
    an_chart_draw_end(chart);
    return WEIR_OK;
}

static weir_status draw_panels(struct an_chart *chart, struct picture *picture,
                               struct weir_error *error)
{
    struct an_key keys[AN_ROWS];
    const size_t count = picture->parts.count + picture->variants.count;
    picture->grid = an_chart_grid(chart, picture->parts.layer[0].span.rows);
    WEIR_TRY(an_keep_numbers(&chart->keeper, picture->grid.bins * count, &picture->series, error));
    WEIR_TRY(write_texts(chart, picture, error));
    for (size_t k = 0; k < picture->parts.count; k++)
        keys[k] = (struct an_key){ picture->parts.layer[k].name, an_row_colors[k] };
    chart->height = 590.0;
    an_rows_key(chart, keys, picture->parts.count, &(struct an_label){ .x = 40, .y = 10 });
    for (size_t p = 0; p < PANELS; p++) {
        const double y0 = 64.0 + 172.0 * (double)p;
        WEIR_TRY(draw_panel(chart, picture, p, &(struct an_box){ 70, y0, 846, y0 + 140.0 }, error));
    }
    return WEIR_OK;
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    struct picture picture = { .labels = NULL };
    WEIR_TRY(an_chart_query(chart, labels_sql, NULL, &picture.labels, error));
    WEIR_TRY(an_chart_query(chart, others_sql, NULL, &picture.others, error));
    if (picture.labels->row_count == 0)
        return an_chart_empty(chart, "this run has no jobs in time");
    picture.parts = split(picture.labels, AN_ROWS);
    picture.variants = split(picture.others, OTHERS);
    return draw_panels(chart, &picture, error);
}

const struct an_plot_ops an_plot_job_queue = {
    { "job-queue", "Which jobs wait, which run, and who holds the GPUs?" }, draw
};
