/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart acceptance: the share of jobs that were placed, by what they ask for, one mark a variant.
 * One allocation number hides that large jobs are refused first.
 */
#include "analysis/plots/plots.h"
#include "analysis/plots/rows.h"

#include <math.h>
#include <string.h>

/* Size classes in the order of size; those that occur are shown. */
static const char *const classes[] = { "cpu only", "share",  "1 gpu",  "2 gpu", "3 gpu",
                                       "4 gpu",    "5 gpu",  "6 gpu",  "7 gpu", "8 gpu",
                                       "9 gpu",    "10 gpu", "12 gpu", "16 gpu" };
enum { CLASSES = sizeof classes / sizeof classes[0] };

static const double pitch_px = 40.0;

struct shown {
    size_t class[CLASSES];
    size_t count;
    double low; /* of the axis */
};

/* %, NAN when no such job arrived. */
static double accepted(const struct an_rows *rows, size_t variant, const char *label)
{
    const double arrived = an_rows_value(rows, variant, "jobs.arrived", label);
    const double failed = an_rows_value(rows, variant, "jobs.failed", label);
    return 100.0 * (1.0 - failed / arrived);
}

static struct shown find_shown(const struct an_rows *rows)
{
    struct shown shown = { .low = 100.0 };
    for (size_t c = 0; c < CLASSES; c++) {
        bool is_there = false;
        for (size_t v = 0; v < rows->count; v++) {
            const double value = accepted(rows, v, classes[c]);
            if (isnan(value))
                continue;
            is_there = true;
            shown.low = fmin(shown.low, value);
        }
        if (is_there)
            shown.class[shown.count++] = c;
    }
    shown.low = fmax(0.0, 10.0 * floor((shown.low - 1.0) / 10.0));
    return shown;
}

/* "2 GPUs" for "2 gpu". */
static struct an_word size_text(const char *label)
{
    struct an_word word;
    const char *blank = strchr(label, ' ');
    if (strcmp(label, "cpu only") == 0)
        (void)snprintf(word.text, sizeof word.text, "no GPU");
    else if (blank == NULL)
        (void)snprintf(word.text, sizeof word.text, "a share of a GPU");
    else
        (void)snprintf(word.text, sizeof word.text, "%.*s GPU%s", (int)(blank - label), label,
                       strncmp(label, "1 ", 2) == 0 ? "" : "s");
    return word;
}

static void write_texts(struct an_chart *chart, const struct an_rows *rows,
                        const struct shown *shown)
{
    size_t worst = 0;
    double least = 101.0;
    for (size_t i = 0; i < shown->count; i++) {
        const double value = accepted(rows, 0, classes[shown->class[i]]);
        if (value < least) {
            least = value;
            worst = shown->class[i];
        }
    }
    an_chart_title(chart, "%s places %.0f %% of the jobs that ask for %s, %.0f %% of all",
                   an_shorten(rows->variants[0], 20).text, least, size_text(classes[worst]).text,
                   accepted(rows, 0, ""));
    an_chart_subtitle(chart, "Share of the jobs that arrived and were placed, by size, %s",
                      an_rows_runs(rows).text);
}

static void write_data(struct an_chart *chart, const struct an_rows *rows,
                       const struct shown *shown)
{
    for (size_t v = 0; v < rows->count; v++) {
        (void)an_chart_block(chart, rows->variants[v], "row accepted_pct arrived size");
        for (size_t i = 0; i < shown->count; i++) {
            const char *label = classes[shown->class[i]];
            const double value = accepted(rows, v, label);
            if (isnan(value))
                continue;
            (void)fprintf(chart->data, "%zu %.6g %.9g ", i, value,
                          an_rows_value(rows, v, "jobs.arrived", label));
            an_chart_cell(chart, label);
            (void)fputc('\n', chart->data);
        }
    }
}

static void draw_rows(struct an_chart *chart, const struct an_rows *rows, const struct shown *shown)
{
    struct an_key keys[AN_ROWS];
    const struct an_box box = { 170, 36, 930, 36.0 + pitch_px * (double)shown->count };
    chart->height = box.y1 + 50.0;
    an_chart_panel(chart, &box);
    for (size_t v = 0; v < rows->count; v++)
        keys[v] = (struct an_key){ rows->variants[v], an_row_colors[v] };
    an_rows_key(chart, keys, rows->count, &(struct an_label){ .x = 40, .y = 10 });
    for (size_t i = 0; i < shown->count; i++) {
        const char *class = classes[shown->class[i]];
        const double y = box.y0 + pitch_px * ((double)i + 0.5);
        const struct an_label name = { .x = box.x0 - 12.0, .y = y - 6.0, .align = 'r' };
        const struct an_label count = {
            .x = box.x0 - 12.0, .y = y + 8.0, .color = AN_MUTED, .size = 10.5, .align = 'r'
        };
        an_chart_text(chart, &name, "%s", size_text(class).text);
        an_chart_text(chart, &count, "%s jobs",
                      an_word_number(an_rows_value(rows, 0, "jobs.arrived", class)).text);
    }
    const struct an_label x_label = {
        .x = 0.5 * (box.x0 + box.x1), .y = box.y1 + 38.0, .color = AN_MUTED, .align = 'c'
    };
    an_chart_text(chart, &x_label, "jobs placed, %% of those that arrived");
    (void)fprintf(chart->body,
                  "set border 0; unset grid; set grid xtics lc rgb '" AN_GRID "' lw 1 lt 1\n"
                  "set xrange [%.9g:100.5]; set xtics %.9g format '%%g %%%%' scale 0\n"
                  "set yrange [%.9g:0]; set ytics ('' 0) scale 0\nplot ",
                  shown->low, an_axis_step(100.0 - shown->low, 6.0), (double)shown->count);
    const double step = 0.56 / (double)rows->count;
    for (size_t v = 0; v < rows->count; v++)
        (void)fprintf(
            chart->body, "%sDATA index %zu using 2:($1+%.4g) with points pt 7 ps 1.1 lc rgb '%s'",
            v == 0 ? "" : ", \\\n ", v, 0.22 + step * ((double)v + 0.5), an_row_colors[v]);
    (void)fputc('\n', chart->body);
    an_chart_draw_end(chart);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    struct an_rows rows;
    chart->is_about_all = true;
    WEIR_TRY(an_rows_read(chart->db, "jobs.", &rows, error));
    const struct shown shown = find_shown(&rows);
    weir_status status = WEIR_OK;
    if (shown.count == 0) {
        status = an_chart_empty(chart, "no run places jobs of a static workload");
    } else {
        write_texts(chart, &rows, &shown);
        write_data(chart, &rows, &shown);
        draw_rows(chart, &rows, &shown);
    }
    an_rows_clear(&rows);
    return status;
}

const struct an_plot_ops an_plot_acceptance = {
    { "acceptance", "Which sizes of jobs are refused?" }, draw
};
