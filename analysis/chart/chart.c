/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sheet a chart is drawn on: pixels to gnuplot's screen coordinates, texts, time axes and the
 * lines of what happened. See the header.
 */
#include "analysis/chart/chart.h"

#include "analysis/chart/gnuplot.h"
#include "analysis/nan.h"
#include "analysis/windows.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double screen_x(double px)
{
    return px / AN_CHART_WIDTH;
}

static double screen_y(const struct an_chart *chart, double px)
{
    return 1.0 - (chart->header + px) / (chart->header + chart->height + chart->footer);
}

void an_chart_title(struct an_chart *chart, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(chart->title, sizeof chart->title, format, arguments);
    va_end(arguments);
}

weir_status an_chart_claim(struct an_chart *chart, const char *names, struct weir_error *error)
{
    const struct an_claim_about about = { .db = chart->keeper.db,
                                          .run = chart->run,
                                          .from_s = chart->facts->from_s,
                                          .at_s = chart->at_s };
    struct an_claim claim;
    WEIR_TRY(an_claim_first(&about, names, &claim, error));
    an_chart_title(chart, "%s", claim.text);
    return WEIR_OK;
}

void an_chart_subtitle(struct an_chart *chart, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(chart->subtitle, sizeof chart->subtitle, format, arguments);
    va_end(arguments);
}

weir_status an_chart_empty(struct an_chart *chart, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(chart->empty, sizeof chart->empty, format, arguments);
    va_end(arguments);
    return WEIR_OK;
}

/* ---- queries ---- */

weir_status an_chart_query(struct an_chart *chart, const char *sql, const struct an_args *args,
                           const struct an_frame **frame, struct weir_error *error)
{
    const struct an_args of_run = { .run = chart->run->run_id,
                                    .id = chart->run->replication,
                                    .from = chart->facts->from_s };
    return an_keep_query(&chart->keeper, sql, args == NULL ? &of_run : args, frame, error);
}

/* ---- data ---- */

size_t an_chart_block(struct an_chart *chart, const char *title, const char *columns)
{
    (void)fprintf(chart->data, "%s# ", chart->blocks == 0 ? "" : "\n\n");
    for (const char *c = title; *c != '\0'; c++)
        (void)fputc((unsigned char)*c < ' ' ? ' ' : *c, chart->data);
    (void)fprintf(chart->data, "\n# %s\n", columns);
    return chart->blocks++;
}

void an_chart_cell(struct an_chart *chart, const char *text)
{
    (void)fputc('"', chart->data);
    for (const char *c = text; *c != '\0'; c++)
        (void)fputc(*c == '"'                               ? '\''
                    : (unsigned char)*c < ' ' || *c == '\\' ? ' '
                                                            : *c,
                    chart->data);
    (void)fputs("\" ", chart->data);
}

/* ---- panels and texts ---- */

void an_chart_panel(struct an_chart *chart, const struct an_box *box)
{
    chart->left = box->x0;
    chart->right = box->x1;
    chart->top = box->y0;
    chart->bottom = box->y1;
    (void)fprintf(chart->body,
                  "set lmargin at screen %.5f; set rmargin at screen %.5f\n"
                  "set tmargin at screen %.5f; set bmargin at screen %.5f\n",
                  screen_x(box->x0), screen_x(box->x1), screen_y(chart, box->y0),
                  screen_y(chart, box->y1));
}

void an_chart_draw_end(struct an_chart *chart)
{
    (void)fputs("unset label; unset arrow; unset object\n", chart->body);
}

void an_chart_text(struct an_chart *chart, const struct an_label *label, const char *format, ...)
{
    char text[400];
    va_list arguments;
    if (isnan(label->y)) /* beside a figure that there is none of */
        return;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    (void)fputs("set label ", chart->body);
    if (label->is_bold)
        an_gnuplot_quote_bold(chart->body, text);
    else
        an_gnuplot_quote(chart->body, text);
    const char *align = label->align == 'r' ? "right" : label->align == 'c' ? "center" : "left";
    (void)fprintf(
        chart->body, " at screen %.5f,%.5f %s %s textcolor rgb '%s' font ',%g' front %s\n",
        screen_x(label->x), screen_y(chart, label->y), align,
        label->is_upright ? "rotate by 90" : "norotate",
        label->color == NULL ? AN_INK : label->color, label->size > 0.0 ? label->size : 12.0,
        label->is_bold ? "enhanced" : "noenhanced");
}

static void write_rectangle(const struct an_chart *chart, FILE *out, const struct an_box *box,
                            const char *color, const char *layer)
{
    (void)fprintf(out,
                  "set object rectangle from screen %.5f,%.5f to screen %.5f,%.5f "
                  "fc rgb '%s' fs solid 1.0 noborder %s\n",
                  screen_x(box->x0), screen_y(chart, box->y0), screen_x(box->x1),
                  screen_y(chart, box->y1), color, layer);
}

/* ---- names ---- */

/* What is shown whole anyway cannot be taken for something else. */
static const char names_sql[] = "SELECT DISTINCT variant FROM run WHERE length(variant) > 8"
                                " UNION SELECT name FROM stage WHERE length(name) > 8"
                                " UNION SELECT name FROM node WHERE length(name) > 8"
                                " UNION SELECT DISTINCT label FROM result WHERE length(label) > 8";

static void read_names(struct an_chart *chart)
{
    const struct an_frame *frame = NULL;
    struct weir_error error = { .phase = -1, .pool = -1 };
    if (an_chart_query(chart, names_sql, NULL, &frame, &error) != WEIR_OK)
        return; /* names are cut each by itself then */
    chart->names = calloc(frame->row_count + 1, sizeof *chart->names);
    if (chart->names == NULL)
        return;
    chart->name_count = frame->row_count;
    for (size_t i = 0; i < frame->row_count; i++)
        chart->names[i] = an_text(frame, i, 0);
}

void an_chart_forget_names(struct an_chart *chart)
{
    free(chart->names);
    chart->names = NULL;
    chart->name_count = 0;
}

struct an_word an_chart_word(struct an_chart *chart, const char *name, size_t characters)
{
    const struct an_word whole = an_shorten(name, characters);
    if (strcmp(whole.text, name) == 0)
        return whole;
    if (chart->names == NULL)
        read_names(chart);
    return an_shorten_among(name, characters, chart->names, chart->name_count);
}

/* About how wide a text is, in sizes of its letters, by three kinds of them: a little too much
 * rather than too little. */
static double width_of(const char *text, bool is_bold)
{
    double width = 0.0;
    for (const char *c = text; *c != '\0'; c++) {
        const bool is_part = ((unsigned char)*c & 0xc0) == 0x80; /* of a letter that was counted */
        width += is_part                                 ? 0.0
                 : strchr("fijlrt.,:;'|! -", *c) != NULL ? 0.45
                 : strchr("mwMW@%", *c) != NULL          ? 1.0
                                                         : 0.66;
    }
    return is_bold ? 1.1 * width : width;
}

void an_chart_name(struct an_chart *chart, const struct an_label *label, const char *name,
                   double room)
{
    static const double least_size = 9.5;
    struct an_label fitted = *label;
    const double length = (double)an_characters(name);
    const double width = width_of(name, label->is_bold);
    const double each = width / fmax(length, 1.0);
    fitted.size = label->size > 0.0 ? label->size : 12.0;
    if (width * fitted.size > room)
        fitted.size = fmin(fitted.size, fmax(least_size, room / width));
    an_chart_text(chart, &fitted, "%s",
                  an_chart_word(chart, name, (size_t)(room / (each * fitted.size) + 0.01)).text);
}

void an_chart_rectangle(struct an_chart *chart, const struct an_box *box, const char *color,
                        const char *layer)
{
    write_rectangle(chart, chart->body, box, color, layer);
}

void an_push_apart(double *y, size_t count, double gap, double low, double high)
{
    enum { MOST = 16 };
    size_t order[MOST] = { 0 };
    if (count > MOST)
        return;
    for (size_t i = 1; i < count; i++) {
        size_t at = i;
        for (; at > 0 && y[order[at - 1]] > y[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    /* Neighbours share what they lack; a few labels settle at once. */
    for (size_t round = 0; round < 50; round++)
        for (size_t i = 0; i + 1 < count; i++) {
            double *above = &y[order[i]];
            double *below = &y[order[i + 1]];
            *above = fmin(fmax(*above, low), high);
            *below = fmin(fmax(*below, low), high);
            const double lack = gap - (*below - *above);
            if (lack <= 0.0)
                continue;
            *above -= 0.5 * lack;
            *below += 0.5 * lack;
        }
}

/* ---- time ---- */

struct an_grid an_chart_grid(struct an_chart *chart, size_t samples)
{
    struct an_grid grid = { .from_s = 0.0, .to_s = fmax(chart->run->end_s, 1e-3) };
    grid.bins = samples < AN_CHART_BINS ? samples : AN_CHART_BINS;
    /* With regular samples the bins are the samples themselves. */
    const double regular = grid.to_s / fmax(chart->run->sample_s, 1e-9);
    if (regular >= 1.0 && ceil(regular - 1e-9) <= (double)grid.bins && samples > 0) {
        grid.bins = (size_t)ceil(regular - 1e-9);
        grid.step_s = chart->run->sample_s;
    } else {
        grid.bins = grid.bins == 0 ? 1 : grid.bins;
        grid.step_s = grid.to_s / (double)grid.bins;
    }
    chart->point_s = grid.step_s;
    return grid;
}

size_t an_grid_bin(const struct an_grid *grid, double t_s)
{
    const double bin = floor((t_s - grid->from_s) / grid->step_s + 1e-9);
    if (bin <= 0.0)
        return 0;
    return bin >= (double)grid->bins ? grid->bins - 1 : (size_t)bin;
}

void an_grid_means(const struct an_grid *grid, const struct an_frame *frame, struct an_span span,
                   size_t column, double *means)
{
    double weights[AN_CHART_BINS] = { 0 };
    for (size_t b = 0; b < grid->bins; b++)
        means[b] = 0.0;
    for (size_t i = span.first; i < span.first + span.rows; i++) {
        const double start = an_number(frame, i, 0);
        const double end = start + an_number(frame, i, 1);
        const double value = an_number(frame, i, column);
        if (isnan(value) || !(end > start))
            continue;
        const size_t last = an_grid_bin(grid, end - 1e-9 * grid->step_s);
        for (size_t b = an_grid_bin(grid, start); b <= last; b++) {
            const double bin_start = grid->from_s + (double)b * grid->step_s;
            const double share = fmin(end, bin_start + grid->step_s) - fmax(start, bin_start);
            means[b] += value * fmax(share, 0.0);
            weights[b] += fmax(share, 0.0);
        }
    }
    for (size_t b = 0; b < grid->bins; b++)
        means[b] = weights[b] > 0.0 ? means[b] / weights[b] : AN_NAN;
}

weir_status an_chart_means(struct an_chart *chart, const struct an_frame *frame, size_t count,
                           struct an_grid *grid, double **series, struct weir_error *error)
{
    *grid = an_chart_grid(chart, frame->row_count);
    WEIR_TRY(an_keep_numbers(&chart->keeper, grid->bins * count, series, error));
    for (size_t k = 0; k < count; k++)
        an_grid_means(grid, frame, (struct an_span){ 0, frame->row_count }, 2 + k,
                      *series + k * grid->bins);
    return WEIR_OK;
}

/* The values of one bin as they stand in the data file. */
static void bin_text(const struct an_grid *grid, const double *series, size_t count, size_t bin,
                     char text[240])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count && used < 200; i++)
        used += (size_t)snprintf(text + used, 240 - used, " %.5g", series[i * grid->bins + bin]);
}

/* Two rows a run of equal bins, at its start and its end: lines become steps, areas one closed path
 * without needless corners. */
void an_chart_rows(struct an_chart *chart, const struct an_grid *grid, const double *series,
                   size_t count)
{
    char values[240];
    char next[240];
    size_t first = 0;
    bin_text(grid, series, count, 0, values);
    for (size_t b = 1; b <= grid->bins; b++) {
        if (b < grid->bins)
            bin_text(grid, series, count, b, next);
        if (b < grid->bins && strcmp(next, values) == 0)
            continue;
        const double from = grid->from_s + (double)first * grid->step_s;
        const double to = fmin(grid->from_s + (double)b * grid->step_s, grid->to_s);
        (void)fprintf(chart->data, "%.9g%s\n%.9g%s\n", from, values, to, values);
        first = b;
        memcpy(values, next, sizeof values);
    }
}

static double time_span(const struct an_chart *chart)
{
    return fmax(chart->span_s > 0.0 ? chart->span_s : chart->run->end_s, 1e-3);
}

static double chart_time_px(const struct an_chart *chart, double t_s)
{
    const double span = time_span(chart);
    return chart->left + (chart->right - chart->left) * fmin(fmax(t_s / span, 0.0), 1.0);
}

double an_duration_step(double span_s)
{
    static const double steps[] = { 0.001,   0.002,   0.005,   0.01,     0.02,     0.05,
                                    0.1,     0.2,     0.5,     1,        2,        5,
                                    10,      15,      30,      60,       120,      300,
                                    600,     900,     1800,    3600,     7200,     10800,
                                    21600,   43200,   86400,   172800,   604800,   1209600,
                                    2419200, 4320000, 8640000, 17280000, 43200000, 86400000 };
    const size_t count = sizeof steps / sizeof steps[0];
    for (size_t i = 0; i < count; i++) {
        const bool is_odd = span_s >= 10800.0 && steps[i] < 3600.0;
        if (!is_odd && span_s / steps[i] <= 9.01)
            return steps[i];
    }
    return span_s / 8.0;
}

static void tick_text(const struct an_chart *chart, double t_s, double step_s, char text[32])
{
    const double span = time_span(chart);
    if (chart->run->start_unix_s != 0) {
        const time_t moment = (time_t)(chart->run->start_unix_s + (int64_t)llround(t_s));
        struct tm parts = { 0 };
        (void)gmtime_r(&moment, &parts);
        if (step_s >= 86400.0 || (span > 172800.0 && parts.tm_hour == 0))
            (void)strftime(text, 32, "%d %b", &parts);
        else
            (void)strftime(text, 32, step_s >= 60.0 ? "%H:%M" : "%H:%M:%S", &parts);
        return;
    }
    if (step_s >= 86400.0)
        (void)snprintf(text, 32, "%g d", t_s / 86400.0);
    else if (step_s >= 3600.0)
        (void)snprintf(text, 32, "%g h", t_s / 3600.0);
    else if (step_s >= 60.0)
        (void)snprintf(text, 32, "%g min", t_s / 60.0);
    else
        (void)snprintf(text, 32, "%g s", t_s);
}

void an_chart_time_axis(struct an_chart *chart, bool has_labels)
{
    const double span = time_span(chart);
    const double step = an_duration_step(span);
    /* Clock ticks lie on round clock times, not on round times since the start. */
    const double offset = step >= 1.0 ? fmod((double)chart->run->start_unix_s, step) : 0.0;
    const double first = offset > 0.0 ? step - offset : 0.0;
    const double last = span * (1.0 + 1e-9);
    const unsigned ticks = first > last ? 0 : (unsigned)((last - first) / step) + 1;
    (void)fprintf(chart->body, "set xrange [0:%.9g]\nset xtics (", span);
    for (unsigned i = 0; i < ticks; i++) {
        const double t = first + step * i;
        char text[32] = "";
        if (has_labels)
            tick_text(chart, t, step, text);
        (void)fprintf(chart->body, "%s'%s' %.9g", i == 0 ? "" : ", ", text, t);
    }
    (void)fputs(")\n", chart->body);
}

double an_time_unit(double most_s, const char **word)
{
    static const struct {
        double s;
        const char *word;
    } units[] = { { 86400.0, "days" }, { 3600.0, "hours" }, { 60.0, "minutes" }, { 1.0, "s" } };
    size_t i = 0;
    while (i < 3 && most_s < 2.0 * units[i].s)
        i++;
    *word = units[i].word;
    return units[i].s;
}

double an_axis_step(double top, double count)
{
    if (!(top > 0.0))
        return 1.0;
    const double raw = top / count;
    const double power = pow(10.0, floor(log10(raw)));
    const double rest = raw / power;
    return power * (rest <= 1.0 ? 1.0 : rest <= 2.0 ? 2.0 : rest <= 5.0 ? 5.0 : 10.0);
}

double an_largest(const double *values, size_t count)
{
    double most = 0.0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, values[i]);
    return most;
}

double an_axis_top(double largest)
{
    if (!(largest > 0.0))
        return 1.0;
    const double step = an_axis_step(largest, 4.0);
    return step * ceil(largest / step - 1e-9);
}

/* ---- what happened ---- */

static void happening_line(struct an_chart *chart, double t_s, double y0, double y1)
{
    const double x = screen_x(chart_time_px(chart, t_s));
    (void)fprintf(chart->body,
                  "set arrow from screen %.5f,%.5f to screen %.5f,%.5f nohead front "
                  "lc rgb '" AN_VERMILLION "' lw 0.9 dt (4,3)\n",
                  x, screen_y(chart, y0), x, screen_y(chart, y1));
}

/* A row of labels: what is left of it. */
struct label_row {
    double taken, end;
};

/* Middle of a label of this text between its lines, kept within the panel and in what is left of
 * the row. NAN = no room. */
static double happening_place(const struct an_chart *chart, double middle, const char *text,
                              const struct label_row *row)
{
    const double half = 3.5 * (double)strlen(text) + 4.0;
    double x = fmin(middle, fmin(chart->right + 100.0, row->end) - half);
    x = fmax(x, fmax(chart->left, row->taken) + half);
    return fabs(x - middle) > 120.0 || x + half > row->end ? AN_NAN : x;
}

enum { WINDOW_ROW = 13 }; /* px: the names of windows stand below the labels of what happened */

weir_status an_chart_head_room(struct an_chart *chart, struct weir_error *error)
{
    struct an_windows windows;
    WEIR_TRY(an_windows_read(chart->keeper.db, &windows, error));
    chart->window_row = windows.count > 0 ? WINDOW_ROW : 0.0;
    chart->header += chart->window_row;
    return WEIR_OK;
}

/* Puts a label into the lower of two rows that has room. */
static bool put_label(struct an_chart *chart, double middle, const char *text, double y0,
                      struct label_row rows[2])
{
    for (size_t row = 0; row < 2; row++) {
        const double x = happening_place(chart, middle, text, &rows[row]);
        if (isnan(x))
            continue;
        const struct an_label label = { .x = x,
                                        .y = y0 - 8.0 - chart->window_row - 12.0 * (double)row,
                                        .color = AN_VERMILLION_TEXT,
                                        .size = 10.5,
                                        .align = 'c' };
        an_chart_text(chart, &label, "%s", text);
        rows[row].taken = x + 3.5 * (double)strlen(text) + 8.0;
        return true;
    }
    return false;
}

/* What happened at one place: two names or one, and how many more. */
struct together {
    const char *first, *second; /* second NULL = the first alone */
    size_t more;
    double middle;
};

/* Both names if they have room in full. Else the first alone, which gets shorter rather than lost.
 */
static void happening_label(struct an_chart *chart, const struct together *here, double y0,
                            struct label_row rows[2])
{
    static const size_t lengths[] = { AN_NAME_MOST, 26, 16, 8 };
    char more[32] = "";
    char label[2 * sizeof(struct an_word) + sizeof more];
    if (here->more > 0)
        (void)snprintf(more, sizeof more, " +%zu more", here->more);
    if (here->second != NULL) {
        (void)snprintf(label, sizeof label, "%s, %s%s", an_shorten(here->first, AN_NAME_MOST).text,
                       an_shorten(here->second, AN_NAME_MOST).text, more);
        if (put_label(chart, here->middle, label, y0, rows))
            return;
        (void)snprintf(more, sizeof more, " +%zu more", here->more + 1);
    }
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        (void)snprintf(label, sizeof label, "%s%s", an_shorten(here->first, lengths[i]).text, more);
        if (put_label(chart, here->middle, label, y0, rows))
            return;
    }
}

/* Where the label of what happened goes. */
static double happening_middle(const struct an_chart *chart, const struct an_frame *frame,
                               size_t row)
{
    const double from = an_number(frame, row, 0);
    const double until = an_number(frame, row, 1);
    const bool has_end = !isnan(until) && until <= chart->run->end_s;
    return chart_time_px(chart, has_end ? 0.5 * (from + until) : from);
}

/* What happened at one place shares a label: the rows from `row` on that lie there. */
static size_t count_together(const struct an_chart *chart, const struct an_frame *frame, size_t row)
{
    const double near_px = 8.0;
    const double place = happening_middle(chart, frame, row);
    size_t count = 1;
    while (row + count < frame->row_count &&
           fabs(happening_middle(chart, frame, row + count) - place) < near_px)
        count++;
    return count;
}

static void draw_lines(struct an_chart *chart, const struct an_frame *frame, double y0, double y1)
{
    for (size_t i = 0; i < frame->row_count; i++) {
        const double until = an_number(frame, i, 1);
        happening_line(chart, an_number(frame, i, 0), y0, y1);
        if (!isnan(until) && until <= chart->run->end_s)
            happening_line(chart, until, y0, y1);
    }
}

static void label_happenings(struct an_chart *chart, const struct an_frame *frame, double y0,
                             double end)
{
    struct label_row rows[2] = { { 0.0, end }, { 0.0, AN_CHART_WIDTH } };
    for (size_t i = 0, count = 0; i < frame->row_count; i += count) {
        count = count_together(chart, frame, i);
        const char *first = an_text(frame, i, 2);
        const bool is_pair = count > 1 && strcmp(first, an_text(frame, i + 1, 2)) != 0;
        const struct together here = { .first = first,
                                       .second = is_pair ? an_text(frame, i + 1, 2) : NULL,
                                       .more = count - 1 - is_pair,
                                       .middle = happening_middle(chart, frame, i) };
        happening_label(chart, &here, y0, rows);
    }
}

/* The windows of the scenario: shades below all that is drawn, every other one, with their names
 * over them. */
static weir_status draw_windows(struct an_chart *chart, double y0, double y1,
                                struct weir_error *error)
{
    struct an_windows windows;
    WEIR_TRY(an_windows_read(chart->keeper.db, &windows, error));
    for (size_t i = 0; i < windows.count; i++) {
        const struct an_window *window = &windows.list[i];
        const double to_s = isnan(window->to_s) ? chart->run->end_s : window->to_s;
        const double x0 = chart_time_px(chart, window->from_s);
        const double x1 = chart_time_px(chart, to_s);
        if (i % 2 == 1)
            write_rectangle(chart, chart->under, &(struct an_box){ x0, y0, x1, y1 }, "#f1f3f5",
                            "behind");
        const struct an_label label = {
            .x = 0.5 * (x0 + x1), .y = y0 - 8.0, .color = AN_MUTED, .size = 10.5, .align = 'c'
        };
        if (x1 - x0 > 7.0 * (double)strlen(window->name))
            an_chart_text(chart, &label, "%s", window->name);
    }
    return WEIR_OK;
}

/* Of many happenings the less common ones alone are marked: without nodes that their owner took
 * back, then changes of policy. The first of many would mislead. */
#define HAPPENINGS(what)                                                                           \
    "SELECT t_s, until_s, iif(kind = 'set', replace(text, 'set sched.', ''), text),"               \
    " max(kind LIKE '%_repair') OVER () FROM happening WHERE run_id = :run AND kind NOT "          \
    "IN " AN_SUPPLY_SQL what " ORDER BY t_s, kind <> 'set', text"

enum { ALL, OTHERS, SET, MARKS };
static const char *const marks_sql[MARKS] = {
    [ALL] = HAPPENINGS(""),
    [OTHERS] = HAPPENINGS(" AND kind <> 'node_reclaimed'"),
    [SET] = HAPPENINGS(" AND kind = 'set'"),
};

/* What there is, and what of it is drawn; returns the left end of the text. */
static double caption_happenings(struct an_chart *chart, const struct an_frame *const marks[MARKS],
                                 size_t drawn, double y)
{
    const size_t others = marks[OTHERS]->row_count;
    const size_t taken = marks[ALL]->row_count - others;
    const struct an_label label = {
        .x = AN_CHART_WIDTH - 4.0, .y = y, .color = AN_VERMILLION_TEXT, .size = 10.5, .align = 'r'
    };
    char text[128];
    int used = snprintf(text, sizeof text, "%s",
                        drawn == ALL || (drawn == OTHERS && others > 0) ? "dashed: " : "");
    if (others > 0)
        used += snprintf(text + used, sizeof text - (size_t)used, "%zu %s", others,
                         an_number(marks[OTHERS], 0, 3) > 0.5 ? "faults, repairs, changes"
                         : others == 1                        ? "fault or change"
                                                              : "faults, changes");
    if (taken > 0)
        used +=
            snprintf(text + used, sizeof text - (size_t)used, "%s%zu node%s taken back by %s owner",
                     others == 0       ? ""
                     : drawn == OTHERS ? "; not dashed: "
                                       : ", ",
                     taken, taken == 1 ? "" : "s", taken == 1 ? "its" : "their");
    an_chart_text(chart, &label, "%s", text);
    return label.x - 7.0 * used - 8.0;
}

weir_status an_chart_happenings(struct an_chart *chart, double y0, double y1,
                                struct weir_error *error)
{
    enum { MANY = 12, MOST_LINES = 80 };
    const struct an_frame *marks[MARKS] = { NULL };
    size_t drawn = ALL;
    size_t named = ALL;
    WEIR_TRY(draw_windows(chart, y0, y1, error));
    for (size_t i = 0; i < MARKS && named == i; i++) {
        WEIR_TRY(an_chart_query(chart, marks_sql[i], NULL, &marks[i], error));
        drawn += i < SET && drawn == i && marks[i]->row_count > MOST_LINES;
        named += i < SET && marks[i]->row_count > MANY;
    }
    draw_lines(chart, marks[drawn], y0, y1);
    double end = AN_CHART_WIDTH;
    if (named != ALL)
        end = caption_happenings(chart, marks, drawn, y0 - 8.0);
    if (marks[named]->row_count <= MANY)
        label_happenings(chart, marks[named], y0, chart->window_row > 0.0 ? AN_CHART_WIDTH : end);
    return WEIR_OK;
}

weir_status an_chart_of_points(struct an_chart *chart,
                               weir_status (*draw)(struct an_chart *chart,
                                                   const struct an_points *points,
                                                   struct weir_error *error),
                               struct weir_error *error)
{
    struct an_points points;
    chart->is_about_all = true;
    weir_status status = an_points_read(chart->keeper.db, &points, error);
    if (status == WEIR_OK)
        status = draw(chart, &points, error);
    an_points_clear(&points);
    return status;
}
