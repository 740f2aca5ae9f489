/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The layout of strips; see the header. Height per stage shrinks with their number, so that forty
 * stages still fit on a page.
 */
#include "analysis/plots/strips.h"

#include <math.h>

static struct an_span stage_rows(const struct an_frame *frame, size_t column, size_t stage)
{
    struct an_span span = { 0, 0 };
    for (size_t i = 0; i < frame->row_count; i++) {
        if ((size_t)an_number(frame, i, column) != stage)
            continue;
        if (span.rows == 0)
            span.first = i;
        span.rows++;
    }
    return span;
}

static double strip_pitch(size_t stages)
{
    if (stages <= 4)
        return 96.0;
    return fmax(22.0, fmin(80.0, 560.0 / (double)stages));
}

static size_t strip_count(const struct an_chart *chart, const struct an_strips *strips)
{
    return strips->names == NULL ? chart->facts->stage_count : strips->name_count;
}

static const char *strip_name(const struct an_chart *chart, const struct an_strips *strips,
                              size_t index)
{
    return strips->names == NULL ? chart->facts->stages[index].name : strips->names[index];
}

static void draw_name(struct an_chart *chart, const struct an_strip *strip, const char *text)
{
    const struct an_label name = { .x = 180,
                                   .y = strip->middle,
                                   .size = strip->is_tight ? 11.5 : 13,
                                   .align = 'r',
                                   .is_bold = true };
    an_chart_name(chart, &name, text, 172.0);
}

/* As many as the longest has, or as there would be of one that is there from the start. */
static size_t sample_count(const struct an_chart *chart, const struct an_frame *frame,
                           size_t column, size_t count)
{
    size_t most = (size_t)ceil(chart->run->end_s / fmax(chart->run->sample_s, 1e-9) - 1e-9);
    for (size_t i = 0; i < count; i++) {
        const size_t rows = stage_rows(frame, column, i).rows;
        most = rows > most ? rows : most;
    }
    return most;
}

static weir_status draw_strips(struct an_chart *chart, const struct an_strips *strips,
                               const struct an_frame *frame, double *series,
                               struct weir_error *error)
{
    const size_t count = strip_count(chart, strips);
    /* Many thin strips need fewer bins each. */
    const size_t samples = sample_count(chart, frame, strips->stage_column, count);
    const size_t most = count < 6 ? AN_CHART_BINS : count < 12 ? 160 : 120;
    const struct an_grid grid = an_chart_grid(chart, samples < most ? samples : most);
    const double pitch = strip_pitch(count);
    const double gap = pitch > 40.0 ? 16.0 : 5.0;
    const double end = 30.0 + pitch * (double)count;
    chart->height = end + (strips->draw_key == NULL ? 22.0 : 50.0);
    (void)fputs("set border 1; unset grid\n", chart->body);
    for (size_t i = 0; i < count; i++) {
        const struct an_span span = stage_rows(frame, strips->stage_column, i);
        for (size_t k = 0; k < strips->series; k++)
            an_grid_means(&grid, frame, span, 2 + k, series + k * grid.bins);
        const char *name = strip_name(chart, strips, i);
        struct an_strip strip = { .stage = i,
                                  .state = strips->state,
                                  .strips = strips,
                                  .name = name,
                                  .grid = &grid,
                                  .series = series,
                                  .y0 = 30.0 + pitch * (double)i };
        strip.y1 = strip.y0 + pitch - gap;
        strip.middle = 0.5 * (strip.y0 + strip.y1);
        strip.is_tight = pitch - gap < 36.0;
        strip.largest = an_largest(series, grid.bins);
        strip.block = an_chart_block(chart, name, strips->columns);
        an_chart_rows(chart, &grid, series, strips->series);
        an_chart_panel(chart, &(struct an_box){ 190, strip.y0, 846, strip.y1 });
        an_chart_time_axis(chart, i + 1 == count);
        draw_name(chart, &strip, name);
        if (i + 1 == count) {
            WEIR_TRY(an_chart_happenings(chart, 26.0, strip.y1, error));
            if (strips->draw_key != NULL)
                strips->draw_key(chart, end + 34.0);
        }
        strips->draw(chart, &strip);
        an_chart_draw_end(chart);
    }
    return WEIR_OK;
}

void an_strip_track(struct an_chart *chart, const struct an_strip *strip, double low, double high)
{
    enum { MOST = 8 };
    char words[160];
    const char *names[MOST];
    size_t count = 0;
    (void)snprintf(words, sizeof words, "%s", strip->strips->words);
    for (char *word = words; word != NULL && count < MOST && count < strip->strips->series;) {
        names[count++] = word;
        word = strchr(word, '|');
        if (word != NULL)
            *word++ = '\0';
    }
    an_chart_track(chart, &(struct an_track){ .name = strip->name,
                                              .unit = strip->strips->unit,
                                              .low = low,
                                              .high = high,
                                              .grid = strip->grid,
                                              .series = strip->series,
                                              .count = count,
                                              .names = names,
                                              .is_stacked = strip->strips->is_stacked });
}

void an_strip_level(struct an_chart *chart, const struct an_strip *strip, double top,
                    bool has_second)
{
    an_strip_track(chart, strip, 0.0, 1.06 * top);
    (void)fprintf(chart->body,
                  "set yrange [0:%.9g]; set ytics ('' 0) scale 0\n"
                  "plot DATA index %zu using 1:2 with filledcurves y1=0 fc rgb '" AN_PALE_BLUE
                  "', \\\n '' index %zu using 1:2 with lines lc rgb '" AN_BLUE "' lw 1.4",
                  1.06 * top, strip->block, strip->block);
    if (has_second)
        (void)fprintf(chart->body,
                      ", \\\n '' index %zu using 1:3 with lines lc rgb '" AN_GREY "' lw 1.0",
                      strip->block);
    (void)fprintf(chart->body,
                  ", \\\n '' index %zu using 1:4 with lines lc rgb '" AN_VERMILLION
                  "' lw 1.2 dt (3,3)",
                  strip->block);
    an_chart_curve(chart, strip->name, 1.0);
    (void)fputc('\n', chart->body);
}

void an_strip_texts(struct an_chart *chart, const struct an_strip *strip, const char *first,
                    const char *second)
{
    struct an_label label = { .x = 858, .y = strip->middle, .color = AN_BLUE, .is_bold = true };
    if (!strip->is_tight && second[0] != '\0')
        label.y -= 8.0;
    an_chart_text(chart, &label, "%s", first);
    label = (struct an_label){ .x = 858, .y = strip->middle + 9.0, .color = AN_MUTED, .size = 11 };
    if (!strip->is_tight && second[0] != '\0')
        an_chart_text(chart, &label, "%s", second);
}

weir_status an_strips_draw(struct an_chart *chart, const struct an_strips *strips,
                           struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    double *series = NULL;
    WEIR_TRY(an_chart_query(chart, strips->sql, NULL, &frame, error));
    if (frame->row_count == 0)
        return an_chart_empty(chart, "%s",
                              strips->nothing == NULL ? "this run recorded no samples of its stages"
                                                      : strips->nothing);
    WEIR_TRY(an_keep_numbers(&chart->keeper, AN_CHART_BINS * strips->series, &series, error));
    return draw_strips(chart, strips, frame, series, error);
}

size_t an_strips_shown(const struct an_frame *things)
{
    return things->row_count < AN_STRIPS_SHOWN ? things->row_count : AN_STRIPS_SHOWN;
}

weir_status an_strips_of(struct an_chart *chart, struct an_strips strips,
                         const struct an_frame *things, struct weir_error *error)
{
    const char *names[AN_STRIPS_SHOWN];
    strips.names = names;
    strips.name_count = an_strips_shown(things);
    strips.state = things;
    for (size_t i = 0; i < strips.name_count; i++)
        names[i] = an_text(things, i, 0);
    return an_strips_draw(chart, &strips, error);
}
