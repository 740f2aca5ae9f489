/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Axes of the command line; see the header. */
#include "sim/cli/experiment/axis_option.h"

#include "sim/cli/experiment/design.h"
#include "sim/cli/experiment/variant_option.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static bool refuse(const char *word, const char *format, ...)
{
    va_list arguments;
    (void)fprintf(stderr, "weir: '%s' ", word);
    va_start(arguments, format);
    (void)vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void)fputs("; it is PATH=value,value or PATH=from..to:step, for example "
                "'cluster.nodes.dgx.count=2..8:2'\n",
                stderr);
    return false;
}

bool sim_axis_add(struct sim_axis *axis, const char *text, size_t length)
{
    char **grown = reallocarray(axis->values, axis->count + 1, sizeof *grown);
    if (grown == NULL)
        return false;
    axis->values = grown;
    grown[axis->count] = strndup(text, length);
    return grown[axis->count++] != NULL;
}

/* ---- ranges ---- */

/* A number and what stands behind it. */
struct end {
    double value;
    char unit[32];
};

static bool read_end(const char *text, size_t length, struct end *end)
{
    char copy[64];
    char *rest = NULL;
    if (length == 0 || length >= sizeof copy)
        return false;
    (void)snprintf(copy, sizeof copy, "%.*s", (int)length, text);
    end->value = strtod(copy, &rest);
    (void)snprintf(end->unit, sizeof end->unit, "%s", rest);
    return rest != copy && isfinite(end->value);
}

/* "50%..90%:10%": both ends belong to it; the last step may fall short of the end. */
static bool add_range(const char *word, struct sim_axis *axis, const char *text, size_t length)
{
    const char *dots = memmem(text, length, "..", 2);
    const char *colon = memchr(text, ':', length);
    struct end from;
    struct end to;
    struct end step = { .value = 1 };
    if (dots == NULL)
        return false;
    const size_t to_length =
        colon == NULL ? length - (size_t)(dots + 2 - text) : (size_t)(colon - dots - 2);
    if (!read_end(text, (size_t)(dots - text), &from) || !read_end(dots + 2, to_length, &to))
        return refuse(word, "has a range with an end that is no number");
    (void)snprintf(step.unit, sizeof step.unit, "%s", to.unit);
    if (colon != NULL && !read_end(colon + 1, length - (size_t)(colon + 1 - text), &step))
        return refuse(word, "has a step that is no number");
    if (strcmp(from.unit, to.unit) != 0 || strcmp(step.unit, to.unit) != 0)
        return refuse(word, "has a range in several units (%s, %s, %s)", from.unit, to.unit,
                      step.unit);
    if (!(step.value > 0) || !(to.value >= from.value))
        return refuse(word, "has a range that does not go up");
    axis->from = from.value;
    axis->to = to.value;
    axis->step = colon == NULL ? 0 : step.value;
    memcpy(axis->unit, to.unit, sizeof axis->unit);
    if (axis->is_span)
        return axis->count == 0 || refuse(word, "has a range and values");
    const double steps = floor((to.value - from.value) / step.value + 1e-9);
    if (steps >= SIM_AXIS_VALUES)
        return refuse(word, "has more than %d values", SIM_AXIS_VALUES);
    for (uint32_t i = 0; (double)i <= steps; i++) {
        char value[96];
        const int written =
            snprintf(value, sizeof value, "%.12g%s", from.value + i * step.value, to.unit);
        if (!sim_axis_add(axis, value, (size_t)written))
            return false;
    }
    return true;
}

static bool is_range(const char *text, size_t length)
{
    const char *dots = memmem(text, length, "..", 2);
    struct end from;
    return dots != NULL && read_end(text, (size_t)(dots - text), &from);
}

/* ---- one axis ---- */

static bool read_values(const char *word, struct sim_axis *axis, const char *rest)
{
    while (*(rest += strspn(rest, " ")) != '\0') {
        size_t length = sim_setting_length(rest);
        const char *next = rest + length + (rest[length] == ',' ? 1 : 0);
        while (length > 0 && rest[length - 1] == ' ')
            length--;
        if (length == 0)
            return refuse(word, "has an empty value");
        if (is_range(rest, length) ? !add_range(word, axis, rest, length)
                                   : !sim_axis_add(axis, rest, length))
            return false;
        rest = next;
    }
    axis->is_span = axis->is_span && axis->count == 0;
    return axis->count > 0 || axis->is_span ? true : refuse(word, "has no values");
}

/* Of a list a value may stand at several points. */
static bool check_values(const char *word, const struct sim_axis *axis)
{
    for (size_t i = 0; i < axis->count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(axis->values[i], axis->values[k]) == 0)
                return refuse(word, "has the value %s twice", axis->values[i]);
    return true;
}

/* "KIND" or "KIND.policy". */
static bool is_kind(const char *path, const char *kind)
{
    const size_t length = strlen(kind);
    return strncmp(path, kind, length) == 0 &&
           (path[length] == '\0' || strcmp(path + length, ".policy") == 0);
}

bool sim_axis_is_policy(const char *path)
{
    static const char *const kinds[] = { "placement",  "scaling",  "queueing",
                                         "preemption", "capacity", "batching" };
    const char *kind = strncmp(path, "sched.", 6) == 0        ? path + 6
                       : strncmp(path, "scheduler.", 10) == 0 ? path + 10
                                                              : "";
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (is_kind(kind, kinds[i]))
            return true;
    const char *batching = strstr(path, ".batching"); /* a service has its own */
    return strncmp(path, "services", 8) == 0 && batching != NULL &&
           is_kind(batching + 1, "batching");
}

static bool parse_one(const char *word, enum sim_design design, struct sim_axis *axis)
{
    const char *equals = strchr(word, '=');
    const char *end = equals;
    if (equals == NULL)
        return refuse(word, "has no values");
    while (end > word && end[-1] == ' ')
        end--;
    if (end == word)
        return refuse(word, "has no path");
    axis->path = strndup(word, (size_t)(end - word));
    if (axis->path == NULL)
        return false;
    axis->is_policy = sim_axis_is_policy(axis->path);
    axis->is_span = design == SIM_DESIGN_LHS && !axis->is_policy && strstr(equals, "..") != NULL;
    return read_values(word, axis, equals + 1) &&
           ((design == SIM_DESIGN_LIST && !axis->is_policy) || check_values(word, axis));
}

/* ---- their names ---- */

/* The last `parts` keys of a path. */
static const char *tail_of(const char *path, size_t parts)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): an axis that was read has a path */
    const char *at = path + strlen(path);
    while (at > path && parts > 0) {
        at--;
        parts -= *at == '.' ? 1 : 0;
    }
    return *at == '.' ? at + 1 : at;
}

static bool is_shared(const struct sim_axes *axes, size_t index, size_t parts)
{
    for (size_t i = 0; i < axes->count; i++)
        if (i != index && strcmp(tail_of(axes->items[i].path, parts),
                                 tail_of(axes->items[index].path, parts)) == 0)
            return true;
    return false;
}

static bool name_all(struct sim_axes *axes)
{
    for (size_t i = 0; i < axes->count; i++) {
        struct sim_axis *axis = &axes->items[i];
        size_t parts = 1;
        while (is_shared(axes, i, parts) && tail_of(axis->path, parts) != axis->path)
            parts++;
        if (is_shared(axes, i, parts))
            return refuse(axis->path, "is the path of two axes");
        axis->name = strdup(tail_of(axis->path, parts));
        if (axis->name == NULL)
            return false;
    }
    return true;
}

/* Of a list and what becomes one: every axis has a value for every point. */
static bool check_list(const struct sim_axes *axes)
{
    const size_t points = sim_axes_points(axes);
    for (size_t i = 0; i < axes->count; i++)
        if (!axes->items[i].is_policy && axes->items[i].count != points)
            return refuse(axes->items[i].path,
                          "has %zu values for %zu points: --design list takes the k-th value of "
                          "every axis",
                          axes->items[i].count, points);
    return sim_design_differs(axes);
}

size_t sim_axes_points(const struct sim_axes *axes)
{
    size_t count = 1;
    if (axes->design == SIM_DESIGN_LHS)
        return axes->drawn;
    for (size_t a = 0; a < axes->count && axes->design != SIM_DESIGN_VARY; a++) {
        if (axes->items[a].is_policy)
            continue;
        if (axes->design != SIM_DESIGN_GRID)
            return axes->items[a].count;
        count *= axes->items[a].count;
    }
    return count;
}

bool sim_axes_parse(const struct sim_words *words, struct sim_axes *axes)
{
    double points = 1;
    if (words->count > SIM_AXES)
        return refuse(words->items[SIM_AXES], "is one axis more than %d", SIM_AXES);
    axes->items = calloc(words->count + 1, sizeof *axes->items);
    for (size_t i = 0; axes->items != NULL && i < words->count; i++) {
        axes->count = i + 1;
        if (!parse_one(words->items[i], axes->design, &axes->items[i]))
            return false;
        points *= axes->design == SIM_DESIGN_GRID ? (double)axes->items[i].count : 1;
    }
    if (points > SIM_AXIS_VALUES)
        return refuse(words->items[0], "and the other axes make %.0f points, more than %d", points,
                      SIM_AXIS_VALUES);
    return axes->items != NULL && (axes->design != SIM_DESIGN_LIST || check_list(axes)) &&
           name_all(axes);
}

void sim_axes_clear(struct sim_axes *axes)
{
    for (size_t i = 0; axes->items != NULL && i < axes->count; i++) {
        for (size_t v = 0; v < axes->items[i].count; v++)
            free(axes->items[i].values[v]);
        free(axes->items[i].values);
        free(axes->items[i].path);
        free(axes->items[i].name);
    }
    free(axes->items);
    *axes = (struct sim_axes){ 0 };
}
