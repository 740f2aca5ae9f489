/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points of an experiment; see the header. */
#include "sim/cli/experiment/points.h"

#include "sim/cli/json_writer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what may not be said twice ---- */

static bool sets_path(const struct sim_variant *variant, const char *path)
{
    const size_t length = strlen(path);
    for (size_t i = 0; variant != NULL && i < variant->sets_count; i++) {
        const char *set = variant->sets[i];
        if (strncmp(set, path, length) == 0 && strchr("=.[", set[length]) != NULL)
            return true;
    }
    return false;
}

static bool check_arms(const struct sim_axes *axes, const struct sim_variant *const *arms,
                       size_t count)
{
    for (size_t a = 0; a < axes->count; a++)
        for (size_t v = 0; v < count; v++)
            if (sets_path(arms[v], axes->items[a].path)) {
                (void)fprintf(stderr,
                              "weir: --axis: %s is what variant '%s' of the scenario changes; an "
                              "axis is what all variants go along (--set compare=- leaves the "
                              "variants out)\n",
                              axes->items[a].path, arms[v]->label);
                return false;
            }
    return true;
}

/* ---- one variant ---- */

/* A value as a part of a label: of "{policy: fgd}" the policy; what names cannot hold goes. */
static void write_value(FILE *out, const char *value)
{
    const char *policy = value[0] == '{' ? strstr(value, "policy:") : NULL;
    if (policy != NULL) {
        value = policy + 7 + strspn(policy + 7, " ");
        (void)fprintf(out, "%.*s", (int)strcspn(value, ",} "), value);
        value += strcspn(value, ",}");
        if (*value != ',')
            return;
    }
    for (const char *c = value; *c != '\0'; c++)
        if (strchr("/\\'\"`<>|$;{}", *c) == NULL)
            (void)fputc(*c, out);
        else if (*c == '/')
            (void)fputc('-', out);
}

/* "jobs" of "../reference/jobs.yaml". */
static void write_file(FILE *out, const char *path)
{
    const char *name = strrchr(path, '/') == NULL ? path : strrchr(path, '/') + 1;
    (void)fprintf(out, "%.*s", (int)strcspn(name, "."), name);
}

/* Policies alone, or all but them: "fgd", "count=4, load=90%". */
static void write_values(FILE *out, const struct sim_points *points, size_t variant, bool policies,
                         const char *gap)
{
    const struct sim_axes *axes = points->axes;
    for (size_t a = 0; a < axes->count; a++) {
        if (axes->items[a].is_policy != policies)
            continue;
        (void)fputs(gap, out);
        gap = ", ";
        if (!policies)
            (void)fprintf(out, "%s=", axes->items[a].name);
        if (strcmp(axes->items[a].path, SIM_AXIS_SCENARIO) == 0)
            write_file(out, points->points[variant].values[a]);
        else
            write_value(out, points->points[variant].values[a]);
    }
}

static char *text_of(const struct sim_points *points, size_t variant, const char *arm, bool is_arm)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    if (arm != NULL)
        (void)fputs(arm, out);
    if (is_arm)
        write_values(out, points, variant, true, arm == NULL ? "" : ", ");
    else
        write_values(out, points, variant, false, arm == NULL || arm[0] == '\0' ? "" : ", ");
    return fclose(out) == 0 ? text : NULL;
}

/* "fgd, count=4"; within its point "fgd". What is alone there has no name of its own. */
static bool name_variant(struct sim_points *points, size_t index, const struct sim_variant *arm)
{
    struct sim_point *point = &points->points[index];
    char *own = text_of(points, index, arm == NULL ? NULL : arm->label, true);
    if (own == NULL)
        return false;
    points->variants[index].label = text_of(points, index, own, false);
    point->arm = own[0] == '\0' ? strdup("base") : strdup(own);
    free(own);
    return points->variants[index].label != NULL && point->arm != NULL;
}

static bool set_variant(struct sim_points *points, size_t index, const struct sim_variant *arm)
{
    const struct sim_axes *axes = points->axes;
    const size_t own = arm == NULL ? 0 : arm->sets_count;
    struct sim_variant *variant = &points->variants[index];
    variant->sets = calloc(own + axes->count + 1, sizeof *variant->sets);
    if (variant->sets == NULL)
        return false;
    for (size_t i = 0; i < own; i++) {
        variant->sets[variant->sets_count] = strdup(arm->sets[i]);
        if (variant->sets[variant->sets_count++] == NULL)
            return false;
    }
    for (size_t a = 0; a < axes->count; a++) {
        char *set = NULL;
        if (asprintf(&set, "%s=%s", axes->items[a].path, points->points[index].values[a]) < 0)
            return false;
        variant->sets[variant->sets_count++] = set;
    }
    return true;
}

/* ---- all of them ---- */

/* How many combinations the axes of policies have, or all other ones. */
static size_t product(const struct sim_axes *axes, bool policies)
{
    size_t count = 1;
    for (size_t a = 0; a < axes->count; a++)
        count *= axes->items[a].is_policy == policies ? axes->items[a].count : 1;
    return count;
}

/* The index-th value of every axis that is none of policies. */
static void choose_listed(const struct sim_points *points, size_t variant, size_t index)
{
    for (size_t a = 0; a < points->axes->count; a++)
        if (!points->axes->items[a].is_policy)
            points->points[variant].values[a] = points->axes->items[a].values[index];
}

/* The index-th combination of one kind of axes, the last axis fastest. */
static void choose(const struct sim_points *points, size_t variant, bool policies, size_t index)
{
    for (size_t a = points->axes->count; a-- > 0;) {
        const struct sim_axis *axis = &points->axes->items[a];
        if (axis->is_policy != policies)
            continue;
        points->points[variant].values[a] = axis->values[index % axis->count];
        index /= axis->count;
    }
}

static bool fill(struct sim_points *points, const struct sim_variant *const *arms,
                 size_t arms_count)
{
    const size_t policies = product(points->axes, true);
    for (size_t i = 0; i < points->count; i++) {
        struct sim_point *point = &points->points[i];
        const size_t within = i % (arms_count * policies);
        const struct sim_variant *arm = arms[within / policies];
        point->point = i / (arms_count * policies);
        point->values = calloc(points->axes->count + 1, sizeof *point->values);
        if (point->values == NULL)
            return false;
        if (points->axes->design == SIM_DESIGN_LIST)
            choose_listed(points, i, point->point);
        else
            choose(points, i, false, point->point);
        choose(points, i, true, within % policies);
        if (!name_variant(points, i, arm) || !set_variant(points, i, arm))
            return false;
    }
    return true;
}

/* ---- one value at a time ---- */

static size_t count_changes(const struct sim_axes *axes)
{
    size_t count = 0;
    for (size_t a = 0; a < axes->count; a++)
        count += axes->items[a].count - 1;
    return count;
}

/* All values are those of the scenario, the first of their axes, but one. */
static bool fill_change(struct sim_points *points, size_t index, size_t axis, size_t value)
{
    const struct sim_axes *axes = points->axes;
    struct sim_variant *variant = &points->variants[index];
    struct sim_point *point = &points->points[index];
    point->values = calloc(axes->count + 1, sizeof *point->values);
    variant->sets = calloc(2, sizeof *variant->sets);
    if (point->values == NULL || variant->sets == NULL)
        return false;
    for (size_t a = 0; a < axes->count; a++)
        point->values[a] = axes->items[a].values[0];
    if (value == 0) {
        variant->label = strdup("as it is");
    } else {
        char *label = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&label, &size);
        point->values[axis] = axes->items[axis].values[value];
        if (out == NULL ||
            asprintf(&variant->sets[0], "%s=%s", axes->items[axis].path, point->values[axis]) < 0)
            return false;
        variant->sets_count = 1;
        (void)fprintf(out, "%s=", axes->items[axis].name);
        write_value(out, point->values[axis]);
        if (fclose(out) != 0)
            return false;
        variant->label = label;
    }
    point->arm = variant->label == NULL ? NULL : strdup(variant->label);
    return point->arm != NULL;
}

static bool fill_changes(struct sim_points *points)
{
    size_t index = 0;
    if (!fill_change(points, index++, 0, 0))
        return false;
    for (size_t a = 0; a < points->axes->count; a++)
        for (size_t v = 1; v < points->axes->items[a].count; v++)
            if (!fill_change(points, index++, a, v))
                return false;
    return true;
}

bool sim_points_make(const struct sim_axes *axes, const struct sim_variant *const *arms,
                     size_t arms_count, struct sim_points *points)
{
    const size_t point_count = sim_axes_points(axes);
    const size_t count = axes->design == SIM_DESIGN_VARY
                             ? count_changes(axes) + 1
                             : point_count * product(axes, true) * arms_count;
    *points = (struct sim_points){ .axes = axes, .point_count = point_count };
    if (!check_arms(axes, arms, arms_count))
        return false;
    points->variants = calloc(count + 1, sizeof *points->variants);
    points->points = calloc(count + 1, sizeof *points->points);
    if (points->variants == NULL || points->points == NULL)
        return false;
    points->count = count;
    if (axes->design == SIM_DESIGN_VARY)
        return fill_changes(points);
    return fill(points, arms, arms_count);
}

void sim_points_clear(struct sim_points *points)
{
    for (size_t i = 0; i < points->count; i++) {
        struct sim_variant *variant = &points->variants[i];
        for (size_t s = 0; s < variant->sets_count; s++)
            free(variant->sets[s]);
        free(variant->sets);
        free(variant->label);
        free(points->points[i].arm);
        free(points->points[i].values);
    }
    free(points->variants);
    free(points->points);
    *points = (struct sim_points){ 0 };
}

/* ---- for the database ---- */

/* A plain number as a number: what has a unit stays text. */
static void write_cell(struct sim_json *json, const char *value)
{
    char *end = NULL;
    const double number = strtod(value, &end);
    const bool is_number = end != value && *end == '\0' && isalpha((unsigned char)*value) == 0;
    if (is_number)
        sim_json_number(json, number);
    else
        sim_json_string(json, value);
}

static void write_points(FILE *out, const struct sim_points *points)
{
    struct sim_json json = { .out = out, .compact = true };
    sim_json_begin_object(&json);
    sim_json_begin_array(sim_json_key(&json, "axes"));
    for (size_t a = 0; a < points->axes->count; a++) {
        const struct sim_axis *axis = &points->axes->items[a];
        sim_json_begin_object(&json);
        sim_json_string(sim_json_key(&json, "path"), axis->path);
        sim_json_string(sim_json_key(&json, "name"), axis->name);
        sim_json_flag(sim_json_key(&json, "is_policy"), axis->is_policy);
        sim_json_end_object(&json);
    }
    sim_json_end_array(&json);
    sim_json_flag(sim_json_key(&json, "is_varied"), points->axes->design == SIM_DESIGN_VARY);
    sim_json_begin_array(sim_json_key(&json, "points"));
    for (size_t i = 0; i < points->count; i++) {
        sim_json_begin_object(&json);
        sim_json_string(sim_json_key(&json, "label"), points->variants[i].label);
        sim_json_unsigned(sim_json_key(&json, "point"), points->points[i].point);
        sim_json_string(sim_json_key(&json, "variant"), points->points[i].arm);
        sim_json_begin_array(sim_json_key(&json, "values"));
        for (size_t a = 0; a < points->axes->count; a++)
            write_cell(&json, points->points[i].values[a]);
        sim_json_end_array(&json);
        sim_json_end_object(&json);
    }
    sim_json_end_array(&json);
    sim_json_end_object(&json);
}

/* A column is called as its path; quotes are doubled. */
static void write_view(FILE *out, const struct sim_points *points)
{
    (void)fputs("CREATE VIEW v_point AS SELECT r.run_id, r.replication,"
                " json_extract(p.value, '$.point') AS point,"
                " json_extract(p.value, '$.variant') AS variant",
                out);
    for (size_t a = 0; a < points->axes->count; a++) {
        (void)fprintf(out, ", json_extract(p.value, '$.values[%zu]') AS \"", a);
        for (const char *c = points->axes->items[a].path; *c != '\0'; c++)
            (void)fputs(*c == '"' ? "\"\"" : (const char[]){ *c, '\0' }, out);
        (void)fputc('"', out);
    }
    (void)fputs(" FROM meta m JOIN json_each(m.value, '$.points') p"
                " JOIN run r ON r.variant = json_extract(p.value, '$.label') WHERE m.key = 'axes'",
                out);
}

static char *written(void (*write)(FILE *, const struct sim_points *),
                     const struct sim_points *points)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    write(out, points);
    return fclose(out) == 0 ? text : NULL;
}

char *sim_points_json(const struct sim_points *points)
{
    return written(write_points, points);
}

char *sim_points_view(const struct sim_points *points)
{
    return written(write_view, points);
}
