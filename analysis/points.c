/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Points of experiments; see the header. */
#include "analysis/points.h"

#include "analysis/nan.h"
#include "analysis/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char axes_sql[] =
    "SELECT json_extract(a.value, '$.path'), json_extract(a.value, '$.name'),"
    " json_extract(a.value, '$.is_policy'), json_extract(m.value, '$.is_varied')"
    " FROM meta m, json_each(m.value, '$.axes') a"
    " WHERE m.key = 'axes' ORDER BY a.key";
static const char variants_sql[] =
    "SELECT json_extract(p.value, '$.label'), json_extract(p.value, '$.variant'),"
    " json_extract(p.value, '$.point') FROM meta m, json_each(m.value, '$.points') p"
    " WHERE m.key = 'axes' ORDER BY p.key";
/* Whether they are what a program writes: see check_variants. */
static const char broken_sql[] =
    "WITH p AS (SELECT json_extract(x.value, '$.label') AS label,"
    " json_extract(x.value, '$.variant') AS arm, json_extract(x.value, '$.point') AS point"
    " FROM meta m, json_each(m.value, '$.points') x WHERE m.key = 'axes')"
    " SELECT count(*) = 0 OR count(DISTINCT label) < count(*) OR min(point) <> 0"
    " OR max(point) <> count(DISTINCT point) - 1"
    " OR max(typeof(label) || typeof(arm) || typeof(point) <> 'texttextinteger')"
    " OR EXISTS (SELECT 1 FROM main.run WHERE variant NOT IN (SELECT label FROM p)) FROM p";
/* One row a variant and axis, variant by variant. */
static const char values_sql[] =
    "SELECT v.atom, CAST(v.atom AS TEXT) FROM meta m, json_each(m.value, '$.points') p,"
    " json_each(p.value, '$.values') v WHERE m.key = 'axes' ORDER BY p.key, v.key";

/* What was tuned on is no evidence. */
#define JUDGED_FROM                                                                                \
    "coalesce((SELECT CAST(value AS INTEGER) FROM main.meta WHERE key = 'judged_from'), 0)"

static void *keep(struct an_points *points, size_t count, size_t size, struct weir_error *error)
{
    double *numbers = NULL;
    const size_t words = count * size / sizeof *numbers + 1;
    return an_keep_numbers(&points->keeper, words, &numbers, error) == WEIR_OK ? numbers : NULL;
}

static weir_status read_axes(struct an_points *points, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    WEIR_TRY(an_keep_query(&points->keeper, axes_sql, NULL, &frame, error));
    if (frame->row_count > AN_AXES)
        return weir_fail(error, WEIR_EIO, "%s: has more than %d axes",
                         an_db_path(points->keeper.db), AN_AXES);
    points->axes = keep(points, frame->row_count, sizeof *points->axes, error);
    if (points->axes == NULL)
        return WEIR_ENOMEM;
    points->axis_count = frame->row_count;
    points->is_varied = frame->row_count > 0 && an_number(frame, 0, 3) > 0.5;
    for (size_t a = 0; a < frame->row_count; a++)
        points->axes[a] = (struct an_axis){ .path = an_text(frame, a, 0),
                                            .name = an_text(frame, a, 1),
                                            .is_policy = an_number(frame, a, 2) > 0.5,
                                            .is_number = true };
    return WEIR_OK;
}

/* Points are numbered from 0 without a gap, a label is of one variant, and every run has one of
 * them. */
static weir_status check_variants(const struct an_points *points, struct weir_error *error)
{
    struct an_frame *frame = NULL;
    WEIR_TRY(an_query(points->keeper.db, broken_sql, NULL, &frame, error));
    const bool is_broken = points->axis_count > 0 && an_number(frame, 0, 0) > 0.5;
    an_frame_destroy(frame);
    return !is_broken ? WEIR_OK
                      : weir_fail(error, WEIR_EIO,
                                  "%s is damaged: the points of its axes are not those of its runs",
                                  an_db_path(points->keeper.db));
}

static weir_status read_variants(struct an_points *points, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    WEIR_TRY(check_variants(points, error));
    WEIR_TRY(an_keep_query(&points->keeper, variants_sql, NULL, &frame, error));
    const size_t count = frame->row_count;
    points->labels = keep(points, count, sizeof *points->labels, error);
    points->arms = keep(points, count, sizeof *points->arms, error);
    points->point = keep(points, count, sizeof *points->point, error);
    if (points->labels == NULL || points->arms == NULL || points->point == NULL)
        return WEIR_ENOMEM;
    points->variant_count = count;
    for (size_t v = 0; v < count; v++) {
        points->labels[v] = an_text(frame, v, 0);
        points->arms[v] = an_text(frame, v, 1);
        points->point[v] = (size_t)an_number(frame, v, 2);
        if (points->point[v] >= points->point_count)
            points->point_count = points->point[v] + 1;
    }
    return WEIR_OK;
}

static weir_status read_values(struct an_points *points, struct weir_error *error)
{
    const struct an_frame *frame = NULL;
    const size_t axes = points->axis_count;
    WEIR_TRY(an_keep_query(&points->keeper, values_sql, NULL, &frame, error));
    if (frame->row_count != axes * points->variant_count)
        return weir_fail(error, WEIR_EIO, "%s: its points are not all there",
                         an_db_path(points->keeper.db));
    for (size_t a = 0; a < axes; a++) {
        struct an_axis *axis = &points->axes[a];
        axis->text = keep(points, points->variant_count, sizeof *axis->text, error);
        axis->value = keep(points, points->variant_count, sizeof *axis->value, error);
        if (axis->text == NULL || axis->value == NULL)
            return WEIR_ENOMEM;
        for (size_t v = 0; v < points->variant_count; v++) {
            axis->text[v] = an_text(frame, v * axes + a, 1);
            axis->value[v] = an_number(frame, v * axes + a, 0);
            axis->is_number = axis->is_number && !isnan(axis->value[v]);
        }
    }
    return WEIR_OK;
}

weir_status an_points_read(struct an_db *db, struct an_points *points, struct weir_error *error)
{
    *points = (struct an_points){ .keeper = { .db = db } };
    WEIR_TRY(read_axes(points, error));
    WEIR_TRY(read_variants(points, error));
    return read_values(points, error);
}

void an_points_clear(struct an_points *points)
{
    an_keep_clear(&points->keeper);
    *points = (struct an_points){ .axes = NULL };
}

size_t an_points_of(const struct an_points *points, const char *variant)
{
    for (size_t v = 0; variant != NULL && v < points->variant_count; v++)
        if (strcmp(points->labels[v], variant) == 0)
            return points->point[v];
    return 0;
}

/* ---- lines ---- */

size_t an_points_run_along(const struct an_points *points)
{
    size_t axis = 0;
    while (axis < points->axis_count && points->axes[axis].is_policy)
        axis++;
    return axis;
}

bool an_points_is_same_line(const struct an_points *points, size_t axis, size_t a, size_t b)
{
    bool is_same = strcmp(points->arms[a], points->arms[b]) == 0;
    for (size_t i = 0; i < points->axis_count; i++)
        is_same =
            is_same && (i == axis || strcmp(points->axes[i].text[a], points->axes[i].text[b]) == 0);
    return is_same;
}

void an_points_name_line(const struct an_points *points, size_t axis, size_t variant, char *name,
                         size_t size)
{
    const bool has_arms = points->variant_count > points->point_count;
    size_t used = (size_t)snprintf(name, size, "%s", has_arms ? points->arms[variant] : "");
    for (size_t i = 0; i < points->axis_count && used < size; i++)
        if (i != axis && !points->axes[i].is_policy)
            used += (size_t)snprintf(name + used, size - used, "%s%s %s", used == 0 ? "" : ", ",
                                     points->axes[i].name, points->axes[i].text[variant]);
}

/* ---- what is asked about ---- */

static weir_status command(struct an_db *db, const char *sql, struct weir_error *error)
{
    struct an_frame *nothing = NULL;
    WEIR_TRY(an_query(db, sql, NULL, &nothing, error));
    an_frame_destroy(nothing);
    return WEIR_OK;
}

static void write_quoted(FILE *out, const char *text)
{
    (void)fputc('\'', out);
    for (const char *c = text; *c != '\0'; c++)
        (void)fputs(*c == '\'' ? "''" : (const char[]){ *c, '\0' }, out);
    (void)fputc('\'', out);
}

/* A view of the runs that stands before the table, in this connection alone. */
static weir_status look_at_runs(struct an_db *db, struct an_buffer *sql, struct weir_error *error)
{
    char *text = an_buffer_take(sql);
    const weir_status status =
        text == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory") : command(db, text, error);
    free(text);
    return status;
}

/* Its variants stand in the view by name: looked up in the JSON they were read again by every
 * query, so that a table of n points took n * n. */
static weir_status focus(struct an_db *db, size_t point, bool judged, struct weir_error *error)
{
    struct an_buffer sql;
    struct an_frame *labels = NULL;
    WEIR_TRY(command(db, "DROP VIEW IF EXISTS temp.run", error));
    if (point == SIZE_MAX)
        return WEIR_OK;
    WEIR_TRY(an_query(db,
                      "SELECT json_extract(p.value, '$.label') FROM main.meta m,"
                      " json_each(m.value, '$.points') p WHERE m.key = 'axes'"
                      " AND json_extract(p.value, '$.point') = :id",
                      &(struct an_args){ .id = (int64_t)point }, &labels, error));
    if (!an_buffer_open(&sql)) {
        an_frame_destroy(labels);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    (void)fputs("CREATE TEMP VIEW run AS SELECT * FROM main.run WHERE variant IN (", sql.file);
    for (size_t i = 0; i < labels->row_count; i++) {
        (void)fputs(i == 0 ? "" : ", ", sql.file);
        write_quoted(sql.file, an_text(labels, i, 0));
    }
    (void)fprintf(sql.file, ")%s", judged ? " AND replication >= " JUDGED_FROM : "");
    an_frame_destroy(labels);
    return look_at_runs(db, &sql, error);
}

weir_status an_points_focus(struct an_db *db, size_t point, struct weir_error *error)
{
    return focus(db, point, false, error);
}

weir_status an_points_focus_runs(struct an_db *db, const char *variant, uint32_t first,
                                 uint32_t count, struct weir_error *error)
{
    struct an_buffer sql;
    WEIR_TRY(command(db, "DROP VIEW IF EXISTS temp.run", error));
    if (!an_buffer_open(&sql))
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    (void)fputs("CREATE TEMP VIEW run AS SELECT * FROM main.run WHERE variant = ", sql.file);
    write_quoted(sql.file, variant);
    (void)fprintf(sql.file, " AND replication >= %u AND replication < %u", first, first + count);
    return look_at_runs(db, &sql, error);
}

weir_status an_points_judged(struct an_db *db, char **variant, uint32_t *replication,
                             struct weir_error *error)
{
    static const char sql[] =
        "SELECT variant, replication FROM main.run WHERE " JUDGED_FROM " > 0 AND replication >="
        " " JUDGED_FROM " AND status <> 'failed' ORDER BY variant_order, replication LIMIT 1";
    struct an_frame *frame = NULL;
    WEIR_TRY(an_query(db, sql, NULL, &frame, error));
    const bool is_there = frame->row_count > 0;
    *variant = is_there ? strdup(an_text(frame, 0, 0)) : NULL;
    *replication = is_there ? (uint32_t)an_number(frame, 0, 1) : 0;
    an_frame_destroy(frame);
    return is_there && *variant == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory") : WEIR_OK;
}

/* Who was only tuned is looked at among those who were, too. */
static weir_status look_at_point(struct an_db *db, size_t point, const char *variant,
                                 struct weir_error *error)
{
    struct an_frame *frame = NULL;
    WEIR_TRY(focus(db, point, true, error));
    WEIR_TRY(an_query(db, "SELECT count(*) FROM run WHERE variant = :text",
                      &(struct an_args){ .text = variant }, &frame, error));
    const bool is_judged = an_number(frame, 0, 0) > 0.5;
    an_frame_destroy(frame);
    return is_judged ? WEIR_OK : focus(db, point, false, error);
}

weir_status an_points_look_at(struct an_db *db, const char *variant, struct weir_error *error)
{
    struct an_points points;
    weir_status status = an_points_read(db, &points, error);
    if (status == WEIR_OK && points.axis_count > 0)
        status = look_at_point(db, an_points_of(&points, variant), variant, error);
    an_points_clear(&points);
    return status;
}

/* ---- comparing ---- */

static const char *baseline_of(const struct an_points *points, size_t point, const char *wanted)
{
    const char *first = NULL;
    for (size_t v = 0; v < points->variant_count; v++) {
        if (points->point[v] != point)
            continue;
        if (first == NULL)
            first = points->labels[v];
        if (wanted != NULL && strcmp(points->arms[v], wanted) == 0)
            return points->labels[v];
    }
    return wanted == NULL ? first : wanted;
}

/* Labels become names within the point. */
static weir_status rename_variants(const struct an_points *points, struct an_comparison *comparison,
                                   struct weir_error *error)
{
    for (size_t i = 0; i < comparison->variant_count; i++)
        for (size_t v = 0; v < points->variant_count; v++)
            if (strcmp(points->labels[v], comparison->variants[i]) == 0) {
                char *arm = strdup(points->arms[v]);
                if (arm == NULL)
                    return weir_fail(error, WEIR_ENOMEM, "out of memory");
                free(comparison->variants[i]);
                comparison->variants[i] = arm;
                break;
            }
    return WEIR_OK;
}

/* NULL where no run is in focus. */
static weir_status compare_focused(struct an_db *db, const struct an_compare_options *options,
                                   struct an_comparison **comparison, struct weir_error *error)
{
    struct an_frame *frame = NULL;
    *comparison = NULL;
    WEIR_TRY(
        an_query(db, "SELECT count(*), sum(status <> 'failed') FROM run", NULL, &frame, error));
    const bool has_runs = an_number(frame, 0, 1) > 0.5;
    an_frame_destroy(frame);
    return has_runs ? an_compare(db, options, comparison, error) : WEIR_OK;
}

static weir_status compare_point(struct an_db *db, const struct an_points *points, size_t point,
                                 const struct an_compare_options *options,
                                 struct an_comparison **comparison, struct weir_error *error)
{
    struct an_compare_options here = { 0 };
    if (options != NULL)
        here = *options;
    here.baseline = baseline_of(points, point, here.baseline);
    WEIR_TRY(focus(db, point, true, error));
    WEIR_TRY(compare_focused(db, &here, comparison, error)); /* leaves it NULL when it fails */
    return *comparison == NULL ? WEIR_OK : rename_variants(points, *comparison, error);
}

/* What stands before the table of runs now, to stand there again. */
static weir_status read_focus(struct an_db *db, char **sql, struct weir_error *error)
{
    struct an_frame *frame = NULL;
    WEIR_TRY(an_query(db,
                      "SELECT 'CREATE TEMP VIEW run AS ' || substr(sql, instr(sql, 'SELECT'))"
                      " FROM temp.sqlite_schema WHERE type = 'view' AND name = 'run'",
                      NULL, &frame, error));
    *sql = frame->row_count == 0 ? NULL : strdup(an_text(frame, 0, 0));
    const bool is_lost = frame->row_count > 0 && *sql == NULL;
    an_frame_destroy(frame);
    return is_lost ? weir_fail(error, WEIR_ENOMEM, "out of memory") : WEIR_OK;
}

/* Puts the focus back that was there before, whatever came of what was asked meanwhile. */
static weir_status focus_again(struct an_db *db, char *before, weir_status status,
                               struct weir_error *error)
{
    weir_status back = an_points_focus(db, SIZE_MAX, status == WEIR_OK ? error : NULL);
    if (back == WEIR_OK && before != NULL)
        back = command(db, before, status == WEIR_OK ? error : NULL);
    free(before);
    return status == WEIR_OK ? back : status;
}

weir_status an_points_compare(struct an_db *db, const struct an_points *points, size_t point,
                              const struct an_compare_options *options,
                              struct an_comparison **comparison, struct weir_error *error)
{
    char *before = NULL;
    WEIR_TRY(read_focus(db, &before, error));
    return focus_again(db, before, compare_point(db, points, point, options, comparison, error),
                       error);
}

weir_status an_points_alone(struct an_db *db, const struct an_points *points, size_t variant,
                            const struct an_compare_options *options,
                            struct an_comparison **comparison, struct weir_error *error)
{
    char *before = NULL;
    WEIR_TRY(read_focus(db, &before, error));
    weir_status status = an_points_focus_runs(db, points->labels[variant], 0, UINT32_MAX, error);
    if (status == WEIR_OK)
        status = compare_focused(db, options, comparison, error);
    return focus_again(db, before, status, error);
}
