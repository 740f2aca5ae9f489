/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points that are not all combinations; see the header. */
#include "sim/cli/experiment/design.h"

#include "sim/engine/random.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Latin hypercubes ---- */

/* Where in the range the k-th point lies, 0 .. 1: one in every part, in an order of its own. */
static void draw_places(const struct sim_axis *axis, size_t count, double *places)
{
    const struct sim_random root = { .seed = 1 };
    const struct sim_random own = sim_random_of(&root, SIM_NAME_CLASS, axis->path);
    struct sim_stream stream;
    sim_stream_open(&stream, &own, SIM_DRAW_ORDER, (struct sim_stream_key){ .item = count });
    for (size_t i = 0; i < count; i++)
        places[i] = ((double)i + sim_stream_uniform(&stream)) / (double)count;
    for (size_t i = count; i-- > 1;) { /* Fisher and Yates */
        const size_t other = (size_t)(sim_stream_uniform(&stream) * (double)(i + 1));
        const double kept = places[i];
        places[i] = places[other];
        places[other] = kept;
    }
}

static bool draw_axis(struct sim_axis *axis, size_t count, const double *places)
{
    struct sim_axis drawn = { .path = axis->path };
    bool is_fine = true;
    for (size_t i = 0; i < count && is_fine; i++) {
        char value[96];
        const double steps =
            axis->step > 0 ? floor((axis->to - axis->from) / axis->step + 1e-9) : 0;
        const double at = axis->step > 0 ? axis->from + axis->step * floor(places[i] * (steps + 1))
                                         : axis->from + places[i] * (axis->to - axis->from);
        if (axis->is_span)
            (void)snprintf(value, sizeof value, "%.6g%s", at, axis->unit);
        const char *text =
            axis->is_span ? value : axis->values[(size_t)(places[i] * (double)axis->count)];
        is_fine = sim_axis_add(&drawn, text, strlen(text));
    }
    for (size_t v = 0; v < axis->count; v++)
        free(axis->values[v]);
    free(axis->values);
    axis->values = drawn.values;
    axis->count = drawn.count;
    return is_fine;
}

static bool is_same_point(const struct sim_axes *axes, size_t one, size_t other)
{
    bool is_same = true;
    for (size_t a = 0; a < axes->count; a++) {
        char *const *values = axes->items[a].is_policy ? NULL : axes->items[a].values;
        is_same = is_same && (values == NULL || strcmp(values[one], values[other]) == 0);
    }
    return is_same;
}

bool sim_design_differs(const struct sim_axes *axes)
{
    const size_t points = sim_axes_points(axes);
    for (size_t p = 0; p < points; p++)
        for (size_t q = 0; q < p; q++)
            if (is_same_point(axes, p, q)) {
                (void)fprintf(stderr,
                              "weir: two of %zu points are the same: fewer points, or finer "
                              "steps\n",
                              points);
                return false;
            }
    return true;
}

bool sim_design_draw(struct sim_axes *axes)
{
    double *places = calloc(axes->drawn + 1, sizeof *places);
    bool is_fine = places != NULL;
    for (size_t a = 0; a < axes->count && is_fine; a++) {
        if (axes->items[a].is_policy)
            continue;
        draw_places(&axes->items[a], axes->drawn, places);
        is_fine = draw_axis(&axes->items[a], axes->drawn, places);
    }
    free(places);
    axes->design = SIM_DESIGN_LIST;
    return is_fine;
}

/* ---- one value at a time ---- */

/* "-20%": 0.8. NAN = it is no share. */
static double factor_of(const char *text)
{
    char *end = NULL;
    if (text[0] != '-' && text[0] != '+')
        return (double)NAN;
    const double percent = strtod(text, &end);
    return end != text && strcmp(end, "%") == 0 ? 1 + percent / 100 : (double)NAN;
}

/* "+-20%" is "-20%" and "+20%". */
static bool split_shares(struct sim_axis *axis)
{
    struct sim_axis split = { .values = NULL };
    bool is_fine = true;
    for (size_t v = 0; v < axis->count; v++) {
        const char *text = axis->values[v];
        const size_t sign = strncmp(text, "+-", 2) == 0 ? 2 : strncmp(text, "±", 2) == 0 ? 2 : 0;
        char low[64];
        char high[64];
        (void)snprintf(low, sizeof low, "-%s", text + sign);
        (void)snprintf(high, sizeof high, "+%s", text + sign);
        is_fine = is_fine && (sign == 0 ? sim_axis_add(&split, text, strlen(text))
                                        : sim_axis_add(&split, low, strlen(low)) &&
                                              sim_axis_add(&split, high, strlen(high)));
        free(axis->values[v]);
    }
    free(axis->values);
    axis->values = split.values;
    axis->count = split.count;
    return is_fine;
}

/* The only number in "exp(2 s)", "120/h", "4"; NULL when there is none, or another one. */
static const char *find_number(const char *text, const char **end)
{
    const char *found = NULL;
    for (const char *c = text; *c != '\0';) {
        char *behind = NULL;
        const bool begins = isdigit((unsigned char)*c) != 0;
        if (!begins || (c > text && (isalnum((unsigned char)c[-1]) != 0 || c[-1] == '_'))) {
            c++;
            continue;
        }
        if (found != NULL)
            return NULL;
        found = c;
        (void)strtod(c, &behind);
        *end = behind;
        c = behind;
    }
    return found;
}

/* Counts go to the next whole number, and at least one away from what they were. */
static double scaled(double value, double factor, bool is_whole)
{
    const double exact = value * factor;
    if (!is_whole)
        return exact;
    const double near = round(exact);
    return fabs(near - value) >= 1 ? near : value + (factor < 1 ? -1 : 1);
}

static char *scale(const struct sim_axis *axis, const char *base, double factor, bool is_whole)
{
    const char *end = NULL;
    const char *number = find_number(base, &end);
    char *text = NULL;
    const double value = number == NULL ? 0 : scaled(strtod(number, NULL), factor, is_whole);
    if (number == NULL || (is_whole && value < 1))
        (void)fprintf(stderr,
                      "weir: --vary: %s is %s, of which %g %% cannot be taken; say the values: "
                      "--vary %s=LOW,HIGH\n",
                      axis->path, base, 100 * factor, axis->path);
    else if (asprintf(&text, "%.*s%.9g%s", (int)(number - base), base, value, end) < 0)
        text = NULL;
    return text;
}

static bool settle_axis(struct sim_axis *axis, const struct sim_scenario *scenario)
{
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct sim_axis settled = { .values = NULL };
    bool is_whole = false;
    char *base = sim_scenario_value(scenario, axis->path, &is_whole, &diagnostics);
    sim_diagnostics_print(&diagnostics, stderr);
    sim_diagnostics_clear(&diagnostics);
    bool is_fine = base != NULL && split_shares(axis) && sim_axis_add(&settled, base, strlen(base));
    for (size_t v = 0; is_fine && v < axis->count; v++) {
        const double factor = factor_of(axis->values[v]);
        char *text = isnan(factor) ? strdup(axis->values[v]) : scale(axis, base, factor, is_whole);
        is_fine = text != NULL && sim_axis_add(&settled, text, strlen(text));
        free(text);
    }
    for (size_t v = 0; v < axis->count; v++)
        free(axis->values[v]);
    free(axis->values);
    free(base);
    axis->values = settled.values;
    axis->count = settled.count;
    return is_fine;
}

/* Of numbers that are whole whole ones are drawn, also where no step was given. */
static void settle_span(struct sim_axis *axis, const struct sim_scenario *scenario)
{
    struct sim_diagnostics diagnostics = { .items = NULL };
    bool is_whole = false;
    free(sim_scenario_value(scenario, axis->path, &is_whole, &diagnostics));
    sim_diagnostics_clear(&diagnostics); /* who reads the points says what is wrong with a path */
    axis->step = is_whole && axis->step <= 0 ? 1 : axis->step;
}

bool sim_design_settle(struct sim_axes *axes, const struct sim_scenario *scenario)
{
    const enum sim_design design = axes->design;
    for (size_t a = 0; a < axes->count; a++)
        if (design == SIM_DESIGN_LHS && axes->items[a].is_span)
            settle_span(&axes->items[a], scenario);
        else if (design == SIM_DESIGN_VARY && !settle_axis(&axes->items[a], scenario))
            return false;
    return design != SIM_DESIGN_LHS || (sim_design_draw(axes) && sim_design_differs(axes));
}
