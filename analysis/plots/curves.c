/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Curves of several groups; see the header. */
#include "analysis/plots/curves.h"

#include "analysis/nan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double log_span = 100.0; /* from here on a linear axis hides the lower half */
/* Over a panel in time: its title, and below it what happened in two lines and the names of
 * windows. */
static const double above = 50.0;

static const char *const dashes[AN_CURVES_TOGETHER] = { "1",     "(9,3)",     "(5,3)",
                                                        "(2,2)", "(9,3,2,3)", "(14,4)" };

/* ---- axes ---- */

static double log_px(const struct an_box *box, double value, double low, double high)
{
    return box->x0 + (box->x1 - box->x0) * log(value / low) / log(high / low);
}

void an_log_axis(struct an_chart *chart, const struct an_box *box, double low, double high,
                 bool is_duration)
{
    static const double durations[] = { 0.001, 0.003, 0.01,  0.03,  0.1,    0.3,    1,
                                        3,     10,    30,    60,    180,    600,    1800,
                                        3600,  10800, 36000, 86400, 259200, 864000, 2592000 };
    static const double numbers[] = { 0.001, 0.003, 0.01, 0.03, 0.1,  0.3,   1,     3,   10,
                                      30,    100,   300,  1000, 3000, 10000, 30000, 1e5, 1e6 };
    const double *ticks = is_duration ? durations : numbers;
    const size_t count =
        is_duration ? sizeof durations / sizeof durations[0] : sizeof numbers / sizeof numbers[0];
    (void)fprintf(chart->body, "set logscale x; set xrange [%.6g:%.6g]; set xtics (", low, high);
    double last_px = -AN_INFINITY;
    for (size_t i = 0; i < count; i++) {
        const double px = log_px(box, ticks[i], low, high);
        if (ticks[i] < low || ticks[i] > high || px < last_px + 52.0)
            continue;
        (void)fprintf(chart->body, "%s'%s' %.9g", isinf(last_px) ? "" : ", ",
                      is_duration ? an_word_duration(ticks[i]).text : an_word_number(ticks[i]).text,
                      ticks[i]);
        last_px = px;
    }
    (void)fputs(")\n", chart->body);
}

void an_curve_range(struct an_curve_panel *panel, double least, double most)
{
    panel->is_log = most >= log_span * least && least < AN_INFINITY;
    panel->low = panel->is_log ? fmax(0.8 * least, 1e-6 * most) : 0.0;
    panel->high = panel->is_log ? 1.25 * most : fmax(1.05 * most, 1e-9);
}

/* Round ticks of a linear axis, in units of time where it is one. */
static void linear_axis(struct an_chart *chart, const struct an_curve_panel *panel)
{
    const bool is_duration = panel->axis == AN_AXIS_DURATION;
    const double step =
        is_duration ? an_duration_step(2.5 * panel->high) : an_axis_step(panel->high, 4.0);
    (void)fprintf(chart->body, "unset logscale x; set xrange [0:%.9g]; set xtics (", panel->high);
    for (unsigned i = 0; step * i <= panel->high * (1.0 + 1e-9); i++) {
        const double value = step * i;
        const struct an_word word = is_duration ? an_word_duration(value) : an_word_number(value);
        (void)fprintf(chart->body, "%s'%s' %.9g", i == 0 ? "" : ", ", i == 0 ? "0" : word.text,
                      value);
    }
    (void)fputs(")\n", chart->body);
}

static void write_axes(struct an_chart *chart, const struct an_curve_panel *panel,
                       const struct an_box *box)
{
    if (panel->axis == AN_AXIS_TIME)
        an_chart_time_axis(chart, true);
    else if (panel->is_log)
        an_log_axis(chart, box, panel->low, panel->high, panel->axis == AN_AXIS_DURATION);
    else
        linear_axis(chart, panel);
    (void)fprintf(chart->body, "set yrange [0:%.9g]; set ytics 0,%.9g format '%%g%s'\n", panel->top,
                  an_axis_step(panel->top, box->y1 - box->y0 > 150.0 ? 4.0 : 2.0),
                  panel->unit[0] == '%' ? " %%" : "");
}

/* ---- panels ---- */

static void plot_one(struct an_chart *chart, const struct an_curve_panel *panel, size_t group,
                     const char *color, const char *dash, double width)
{
    if (panel->blocks[group] != SIZE_MAX)
        (void)fprintf(chart->body, "DATA index %zu using 1:2 with %s lc rgb '%s' lw %g dt %s, ",
                      panel->blocks[group], panel->is_stepped ? "steps" : "lines", color, width,
                      dash);
}

struct an_curve_panel *an_curve_panel(struct an_curves *curves, const char *title,
                                      enum an_curve_axis axis)
{
    struct an_curve_panel *panel = &curves->panels[curves->panel_count++];
    *panel = (struct an_curve_panel){ .title = title, .axis = axis, .unit = "" };
    for (size_t g = 0; g < AN_CURVES_MOST; g++)
        panel->blocks[g] = SIZE_MAX;
    return panel;
}

weir_status an_curve_means(struct an_chart *chart, struct an_curve_panel *panel, size_t group,
                           const struct an_grid *grid, const double *means,
                           struct weir_error *error)
{
    double *kept = NULL;
    WEIR_TRY(an_keep_numbers(&chart->keeper, grid->bins, &kept, error));
    memcpy(kept, means, grid->bins * sizeof *kept);
    panel->grids[group] = *grid;
    panel->series[group] = kept;
    panel->blocks[group] = an_chart_block(chart, panel->title, "t_s value");
    an_chart_rows(chart, grid, means, 1);
    panel->top = fmax(panel->top, an_largest(means, grid->bins));
    return WEIR_OK;
}

static void tell_panel(struct an_chart *chart, const struct an_curves *curves,
                       const struct an_curve_panel *panel, size_t own)
{
    for (size_t g = 0; g < curves->count; g++)
        if (panel->series[g] != NULL && (own == SIZE_MAX || own == g))
            an_chart_track(chart, &(struct an_track){ .name = "",
                                                      .unit = "",
                                                      .high = panel->top,
                                                      .grid = &panel->grids[g],
                                                      .series = panel->series[g],
                                                      .count = 1,
                                                      .names = &curves->names[g],
                                                      .is_stacked = true });
}

/* `own` in colour before the others in grey; SIZE_MAX = each in its own. */
static weir_status draw_panel(struct an_chart *chart, const struct an_curves *curves,
                              const struct an_curve_panel *panel, const struct an_box *box,
                              size_t own, struct weir_error *error)
{
    const bool is_small = own != SIZE_MAX;
    const struct an_label title = { .x = box->x0,
                                    .y = box->y0 -
                                         (panel->axis == AN_AXIS_TIME && !is_small ? above : 12.0),
                                    .color = is_small ? AN_INK : AN_MUTED,
                                    .is_bold = is_small };
    an_chart_panel(chart, box);
    an_chart_text(chart, &title, "%s",
                  is_small ? an_chart_word(chart, curves->names[own], 34).text : panel->title);
    write_axes(chart, panel, box);
    tell_panel(chart, curves, panel, own);
    if (panel->axis == AN_AXIS_TIME && !is_small)
        WEIR_TRY(an_chart_happenings(chart, box->y0 - 2.0, box->y1, error));
    (void)fputs("plot ", chart->body);
    for (size_t g = 0; g < curves->count; g++)
        if (!is_small)
            plot_one(chart, panel, g, an_row_colors[g], dashes[g % AN_CURVES_TOGETHER],
                     g == 0 ? 2.2 : 1.6);
        else if (g != own)
            plot_one(chart, panel, g, AN_PALE, "1", 1.0);
    if (is_small)
        plot_one(chart, panel, own, AN_BLUE, "1", 2.0);
    (void)fputs("NaN\nunset logscale x\n", chart->body);
    an_chart_draw_end(chart);
    return WEIR_OK;
}

static struct an_box place(const struct an_curves *curves, size_t index, size_t count, double y0)
{
    const size_t columns = curves->is_wide ? 1 : count < 3 ? count : count == 4 ? 2 : 3;
    const double pitch_x = (AN_CHART_WIDTH - 50.0) / (double)columns;
    const double pitch_y = curves->is_wide ? 200.0 + above : count > 4 ? 186.0 : 270.0;
    const size_t row = index / columns;
    const double x0 = 62.0 + pitch_x * (double)(index % columns);
    const double top = y0 + pitch_y * (double)row + (curves->is_wide ? above + 10.0 : 28.0);
    return (struct an_box){ x0, top, x0 + pitch_x - 62.0,
                            top + pitch_y - (curves->is_wide ? above + 46.0 : 66.0) };
}

static double draw_key(struct an_chart *chart, const struct an_curves *curves)
{
    struct an_key keys[AN_CURVES_MOST];
    if (curves->count < 2 || curves->count > AN_CURVES_TOGETHER)
        return 0.0;
    for (size_t g = 0; g < curves->count; g++)
        keys[g] = (struct an_key){ curves->names[g], an_row_colors[g] };
    return an_rows_key(chart, keys, curves->count, &(struct an_label){ .x = 62, .y = 12 }) + 14.0;
}

weir_status an_curves_draw(struct an_chart *chart, const struct an_curves *curves,
                           struct weir_error *error)
{
    const bool is_small = curves->count > AN_CURVES_TOGETHER;
    const size_t count = is_small ? curves->count : curves->panel_count;
    /* Small ones are never as wide as the sheet. */
    struct an_curves laid = *curves;
    laid.is_wide = curves->is_wide && !is_small;
    /* The key's lines decide where panels begin, and the height where all is: measure it first. */
    FILE *body = chart->body;
    struct an_buffer trial;
    if (!an_buffer_open(&trial))
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    chart->body = trial.file;
    const double y0 = draw_key(chart, curves);
    free(an_buffer_take(&trial));
    chart->body = body;
    chart->height = place(&laid, count - 1, count, y0).y1 + 40.0;
    (void)draw_key(chart, curves);
    for (size_t i = 0; i < count; i++) {
        const struct an_box box = place(&laid, i, count, y0);
        const struct an_curve_panel *panel = &curves->panels[is_small ? 0 : i];
        WEIR_TRY(draw_panel(chart, curves, panel, &box, is_small ? i : SIZE_MAX, error));
    }
    return WEIR_OK;
}
