/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart who-waits: one bar for each group of jobs that waits, divided by who held the GPUs
 * meanwhile. Those who wait longest in all come first.
 */
#include "analysis/nan.h"
#include "analysis/plots/plots.h"
#include "analysis/plots/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HOLDERS = 9, FREE = HOLDERS + 1, PARTS = HOLDERS + 2 }; /* named, others, free */

/* A holder beyond the first is one of the others. */
static const char bars_sql[] =
    "WITH h AS (SELECT holder, row_number() OVER (ORDER BY sum(gpus * wait_s) DESC, holder) - 1"
    "  AS k FROM weir_waits WHERE holder IS NOT NULL GROUP BY holder)"
    " SELECT w.waiter, w.place, w.waits, w.wait_s, w.gpus, min(h.k, 9), h.holder,"
    "  (SELECT gpus FROM weir_waits c WHERE c.place = w.place AND c.holder IS NULL)"
    " FROM weir_waits w JOIN h USING (holder) ORDER BY w.place, h.k";
enum { WAITER, PLACE, WAITS, WAIT_S, GPUS, HOLDER, NAME, CAPACITY };

struct bars {
    const struct an_frame *frame;
    const char *names[PARTS];
    size_t rows; /* of bars */
    bool has_part[PARTS];
    double parts[8][PARTS];
    double most;
};

static void fill(struct bars *bars)
{
    const struct an_frame *frame = bars->frame;
    for (size_t i = 0; i < frame->row_count; i++) {
        const size_t row = (size_t)an_number(frame, i, PLACE) - 1;
        const size_t part = (size_t)an_number(frame, i, HOLDER);
        double *parts = bars->parts[row];
        bars->rows = row + 1;
        bars->most = fmax(bars->most, an_number(frame, i, CAPACITY));
        if (parts[FREE] <= 0.0)
            parts[FREE] = an_number(frame, i, CAPACITY);
        parts[part] += an_number(frame, i, GPUS);
        parts[FREE] = fmax(0.0, parts[FREE] - an_number(frame, i, GPUS));
        bars->names[part] = part < HOLDERS ? an_text(frame, i, NAME) : "others";
        bars->has_part[part] = true;
    }
    for (size_t row = 0; row < bars->rows; row++)
        bars->has_part[FREE] = bars->has_part[FREE] || bars->parts[row][FREE] > 0.005 * bars->most;
    bars->names[FREE] = "free";
}

static const char *color_of(size_t part)
{
    return part == FREE ? AN_PALE : an_row_colors[part];
}

static void write_key(struct an_chart *chart, const struct bars *bars, double *y)
{
    struct an_key keys[PARTS];
    size_t count = 0;
    for (size_t p = 0; p < PARTS; p++)
        if (bars->has_part[p])
            keys[count++] = (struct an_key){ bars->names[p], color_of(p) };
    *y = an_rows_key(chart, keys, count, &(struct an_label){ .x = 190, .y = 12 });
}

static void label_rows(struct an_chart *chart, const struct bars *bars, double y0, double pitch)
{
    for (size_t i = 0; i < bars->frame->row_count; i++) {
        const double row = an_number(bars->frame, i, PLACE) - 1.0;
        const double y = y0 + pitch * (row + 0.5);
        if (i > 0 && fabs(an_number(bars->frame, i - 1, PLACE) - row - 1.0) < 0.5)
            continue;
        struct an_label label = { .x = 180, .y = y, .size = 13, .align = 'r', .is_bold = true };
        an_chart_name(chart, &label, an_text(bars->frame, i, WAITER), 172.0);
        label = (struct an_label){ .x = 858, .y = y - 8.0, .color = AN_BLUE, .is_bold = true };
        an_chart_text(chart, &label, "%s job hours",
                      an_word_number(an_number(bars->frame, i, WAIT_S) / 3600.0).text);
        label = (struct an_label){ .x = 858, .y = y + 9.0, .color = AN_MUTED, .size = 11 };
        an_chart_text(chart, &label, "%s wait%s",
                      an_word_number(an_number(bars->frame, i, WAITS)).text,
                      an_plural(an_number(bars->frame, i, WAITS)));
    }
}

static void write_data(struct an_chart *chart, const struct bars *bars)
{
    for (size_t p = 0; p < PARTS; p++) {
        if (!bars->has_part[p])
            continue;
        (void)an_chart_block(chart, bars->names[p], "row from_gpus to_gpus");
        for (size_t row = 0; row < bars->rows; row++) {
            double from = 0.0;
            for (size_t before = 0; before < p; before++)
                from += bars->parts[row][before];
            (void)fprintf(chart->data, "%zu %.6g %.6g\n", row, from, from + bars->parts[row][p]);
        }
    }
}

static void plot(struct an_chart *chart, const struct bars *bars)
{
    size_t block = 0;
    (void)fprintf(chart->body,
                  "set border 1; unset grid; set grid xtics lc rgb '" AN_GRID "' lw 1 lt 1\n"
                  "set xrange [0:%.9g]; set xtics 0,%.9g format '%%g' scale 0\n"
                  "set yrange [%zu:0]; set ytics ('' 0) scale 0\nplot ",
                  1.001 * bars->most, an_axis_step(bars->most, 6.0), bars->rows);
    for (size_t p = 0; p < PARTS; p++) {
        if (!bars->has_part[p])
            continue;
        (void)fprintf(chart->body,
                      "%sDATA index %zu using ($2):($1+0.5):2:3:($1+0.22):($1+0.78) with "
                      "boxxyerror fs solid 1.0 noborder fc rgb '%s'",
                      block == 0 ? "" : ", \\\n ", block, color_of(p));
        block++;
    }
    (void)fputc('\n', chart->body);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    struct bars bars = { .rows = 0 };
    double y0 = 0.0;
    WEIR_TRY(an_share(chart->keeper.db, &an_share_waits,
                      &(struct an_args){ .run = chart->run->run_id }, error));
    WEIR_TRY(an_chart_query(chart, bars_sql, NULL, &bars.frame, error));
    if (bars.frame->row_count == 0)
        return an_chart_empty(chart, "no job waits while GPUs are held, or no rows of workers are "
                                     "kept");
    fill(&bars);
    WEIR_TRY(an_chart_claim(chart, "waits.holders", error));
    an_chart_subtitle(chart, "Who holds the GPUs while jobs of each wait, on average over the time "
                             "in which they do, weighted by how many wait · of nodes that are up");
    const double pitch = bars.rows > 5 ? 46.0 : 58.0;
    chart->height = 600.0; /* until the key is laid out */
    write_data(chart, &bars);
    /* Where the key ends decides the height, and the height where all is: measure it first. */
    FILE *body = chart->body;
    struct an_buffer trial;
    if (!an_buffer_open(&trial))
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    chart->body = trial.file;
    write_key(chart, &bars, &y0);
    free(an_buffer_take(&trial));
    chart->body = body;
    y0 += 22.0;
    const double y1 = y0 + pitch * (double)bars.rows;
    chart->height = y1 + 52.0;
    write_key(chart, &bars, &(double){ 0.0 });
    an_chart_panel(chart, &(struct an_box){ 190, y0, 846, y1 });
    label_rows(chart, &bars, y0, pitch);
    const struct an_label axis = { .x = 518, .y = y1 + 38.0, .color = AN_MUTED, .align = 'c' };
    an_chart_text(chart, &axis, "GPUs");
    plot(chart, &bars);
    an_chart_draw_end(chart);
    return WEIR_OK;
}

const struct an_plot_ops an_plot_who_waits = { { "who-waits", "Who waits for whom?" }, draw };
