/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of experiments with axes; see the header. */
#include "sim/cli/ask/compare_points.h"

#include "analysis/text.h"
#include "sim/cli/ask/compare_print.h"
#include "weir/version.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 3 /* measures a line holds */ };

/* All points compared, or what is left of them. */
struct page {
    const struct an_points *points;
    struct an_comparison **comparisons; /* by point; NULL = all of its runs failed */
    const struct an_comparison *first;  /* that has rows */
    bool *was_run;                      /* by point: a search leaves most of them out */
    enum sim_format format;
};

static void clear(struct page *page)
{
    for (size_t p = 0; page->comparisons != NULL && p < page->points->point_count; p++)
        an_comparison_destroy(page->comparisons[p]);
    free(page->comparisons);
    free(page->was_run);
}

static weir_status find_runs(struct an_db *db, struct page *page, struct weir_error *error)
{
    struct an_frame *frame = NULL;
    WEIR_TRY(an_query(
        db,
        "SELECT DISTINCT variant FROM run WHERE replication >="
        " coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'judged_from'), 0)",
        NULL, &frame, error));
    for (size_t i = 0; i < frame->row_count; i++)
        page->was_run[an_points_of(page->points, an_text(frame, i, 0))] = true;
    an_frame_destroy(frame);
    return WEIR_OK;
}

static weir_status compare_all(struct an_db *db, const struct an_compare_options *query,
                               struct page *page, struct weir_error *error)
{
    page->comparisons = calloc(page->points->point_count + 1, sizeof(struct an_comparison *));
    page->was_run = calloc(page->points->point_count + 1, sizeof *page->was_run);
    if (page->comparisons == NULL || page->was_run == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    WEIR_TRY(find_runs(db, page, error));
    for (size_t p = 0; p < page->points->point_count; p++) {
        WEIR_TRY(an_points_compare(db, page->points, p, query, &page->comparisons[p], error));
        if (page->first == NULL || page->first->row_count == 0)
            page->first = page->comparisons[p];
    }
    if (page->first == NULL)
        return weir_fail(error, WEIR_EINVAL, "not comparable: all runs of all points failed");
    return page->first->row_count > 0
               ? WEIR_OK
               : weir_fail(error, WEIR_EINVAL, "not comparable: the runs have no results");
}

/* The first variant on a point. */
static size_t variant_at(const struct an_points *points, size_t point)
{
    size_t v = 0;
    while (v < points->variant_count && points->point[v] != point)
        v++;
    return v;
}

static bool has_arms(const struct page *page)
{
    return page->points->variant_count > page->points->point_count;
}

/* ---- for people ---- */

struct heading {
    struct sim_column columns[SIM_AXES + SHOWN + 4];
    size_t count;
    const struct an_metric_row *rows[SHOWN];
    size_t shown;
};

static void add_column(struct heading *heading, const char *title)
{
    heading->columns[heading->count++] = (struct sim_column){ title, title, NULL, false, false };
}

static struct heading heading_of(const struct page *page)
{
    struct heading heading = { .count = 0 };
    for (size_t a = 0; a < page->points->axis_count; a++)
        if (!page->points->axes[a].is_policy)
            add_column(&heading, page->points->axes[a].name);
    if (has_arms(page))
        add_column(&heading, "variant");
    heading.shown = page->first->shown < SHOWN ? page->first->shown : SHOWN;
    for (size_t i = 0; i < heading.shown; i++) {
        heading.rows[i] = &page->first->rows[i];
        add_column(&heading, heading.rows[i]->label);
    }
    if (has_arms(page)) {
        add_column(&heading, "difference");
        add_column(&heading, "verdict");
    }
    return heading;
}

static void add_axes(struct sim_table *table, const struct page *page, size_t point, bool is_named)
{
    const struct an_points *points = page->points;
    const size_t variant = variant_at(points, point);
    for (size_t a = 0; a < points->axis_count; a++)
        if (!points->axes[a].is_policy)
            sim_table_add(table, is_named ? points->axes[a].text[variant] : "");
}

/* Difference and verdict are of the first measure. */
static void add_judged(struct sim_table *table, const struct an_comparison *comparison,
                       const struct an_metric_row *row, size_t variant)
{
    char verdict[SIM_COMPARE_CELL] = "";
    struct an_change change = { "", "" };
    if (row != NULL) {
        change = an_change_of(row, comparison->baseline, variant);
        sim_compare_verdict(&row->cells[variant], verdict);
    }
    sim_table_add(table, change.relative[0] == '\0' ? change.plain : change.relative);
    sim_table_add(table, verdict);
}

static void add_point(struct sim_table *table, const struct page *page,
                      const struct heading *heading, size_t point)
{
    assert(heading->rows[0] != NULL);
    const struct an_comparison *comparison = page->comparisons[point];
    for (size_t v = 0; comparison != NULL && v < comparison->variant_count; v++) {
        add_axes(table, page, point, v == 0 || page->format == SIM_FORMAT_MD);
        if (has_arms(page))
            sim_table_add(table, comparison->variants[v]);
        for (size_t i = 0; i < heading->shown; i++) {
            const struct an_metric_row *row =
                an_comparison_row(comparison, heading->rows[i]->metric);
            char mean[SIM_COMPARE_CELL] = "-";
            if (row != NULL)
                sim_compare_mean(row, &row->cells[v], mean);
            sim_table_add(table, mean);
        }
        if (has_arms(page))
            add_judged(table, comparison, an_comparison_row(comparison, heading->rows[0]->metric),
                       v);
    }
}

static size_t compared_points(const struct page *page)
{
    size_t count = 0;
    for (size_t p = 0; p < page->points->point_count; p++)
        count += page->comparisons[p] != NULL && page->comparisons[p]->row_count > 0 ? 1 : 0;
    return count;
}

/* Where several are compared and one is known to be best. */
static bool has_best(const struct an_metric_row *row, size_t variants)
{
    for (size_t v = 0; row != NULL && v < variants; v++)
        if (row->cells[v].is_best)
            return true;
    return false;
}

/* At how many points a variant is not beaten, and at how many anybody is known to be best. */
static size_t count_best(const struct page *page, size_t variant, size_t *judged)
{
    size_t best = 0;
    *judged = 0;
    for (size_t p = 0; p < page->points->point_count; p++) {
        const struct an_comparison *comparison = page->comparisons[p];
        const struct an_metric_row *row =
            an_comparison_row(comparison, page->first->rows[0].metric);
        if (row == NULL || variant >= comparison->variant_count ||
            !has_best(row, comparison->variant_count))
            continue;
        ++*judged;
        best += row->cells[variant].is_best || row->cells[variant].is_tied_with_best ? 1 : 0;
    }
    return best;
}

/* "fgd is not beaten at 5 of 8 points": which variant has the best mean, and where. */
static void print_winners(const struct page *page)
{
    const size_t compared = compared_points(page);
    size_t judged = 0;
    if (compared < 2 || !has_arms(page) || page->first->rows[0].better == 0) /* verdicts say it */
        return;
    for (size_t v = 0; v < page->first->variant_count; v++) {
        const size_t best = count_best(page, v, &judged);
        if (judged > 0)
            sim_table_say(
                page->format, stdout,
                "%s%s is best, or not distinguishable from the best, at %zu of %zu point%s",
                v == 0 ? "" : "; ", page->first->variants[v], best, judged, judged == 1 ? "" : "s");
    }
    if (judged > 0)
        (void)puts(".");
    if (judged < compared)
        printf("Nobody is known to be best at %zu point%s.\n", compared - judged,
               compared - judged == 1 ? "" : "s");
}

static void print_method(const struct page *page)
{
    const struct an_comparison *first = page->first;
    uint32_t least = UINT32_MAX;
    uint32_t most = 0;
    const size_t count = compared_points(page);
    for (size_t p = 0; p < page->points->point_count; p++) {
        const struct an_comparison *comparison = page->comparisons[p];
        if (comparison == NULL || comparison->row_count == 0)
            continue;
        const uint32_t n = comparison->rows[0].cells[0].n;
        least = n < least ? n : least;
        most = n > most ? n : most;
    }
    printf("%zu point%s, ", count, count == 1 ? "" : "s");
    if (least < most)
        printf("%u to ", least);
    sim_table_say(page->format, stdout,
                  "%u replication%s each, the same random numbers everywhere%s%s.", most,
                  most == 1 ? "" : "s",
                  first->varies[0] == '\0' ? "" : "; what varies: ", first->varies);
    (void)puts(has_arms(page) ? " Variants are compared within a point: paired t, Holm, alpha .05."
                              : " Nothing is compared across points.");
    if (first->goal[0] != '\0')
        sim_table_say(page->format, stdout, "Goal: %s.\n", first->goal);
    if (first->audit[0] != '\0')
        sim_table_say(page->format, stdout, "%s\n", first->audit);
}

static void print_left_out(const struct page *page)
{
    for (size_t p = 0; p < page->points->point_count; p++) {
        const struct an_comparison *comparison = page->comparisons[p];
        if (comparison == NULL && page->was_run[p])
            sim_table_say(page->format, stdout, "Lost: point %s, all of its runs failed.\n",
                          page->points->labels[variant_at(page->points, p)]);
        if (comparison != NULL && comparison->left_out[0] != '\0')
            sim_table_say(page->format, stdout, "Lost: %s\n", comparison->left_out);
        for (size_t v = 0; comparison != NULL && v < comparison->variant_count; v++)
            if (comparison->early[v].sentence != NULL)
                sim_table_say(page->format, stdout, "%s: %s.\n",
                              page->points->labels[variant_at(page->points, p)],
                              comparison->early[v].sentence);
    }
}

static void print_paper(const struct page *page)
{
    const struct heading heading = heading_of(page);
    struct sim_table *table = sim_table_create(heading.columns, heading.count);
    for (size_t p = 0; p < page->points->point_count; p++)
        add_point(table, page, &heading, p);
    sim_table_print(table, page->format, stdout);
    sim_table_destroy(table);
    sim_table_remarks(page->format, true, stdout);
    print_method(page);
    print_winners(page);
    print_left_out(page);
    sim_table_remarks(page->format, false, stdout);
}

/* ---- for programs ---- */

static void print_csv(const struct page *page)
{
    size_t axes = 0;
    struct sim_column *columns =
        calloc(page->points->axis_count + SIM_COMPARE_COLUMNS, sizeof *columns);
    if (columns == NULL)
        return;
    for (size_t a = 0; a < page->points->axis_count; a++)
        if (!page->points->axes[a].is_policy)
            columns[axes++] = (struct sim_column){ page->points->axes[a].path,
                                                   page->points->axes[a].path, NULL, false, false };
    memcpy(columns + axes, sim_compare_columns, SIM_COMPARE_COLUMNS * sizeof *columns);
    struct sim_table *table = sim_table_create(columns, axes + SIM_COMPARE_COLUMNS);
    for (size_t p = 0; p < page->points->point_count; p++) {
        const struct an_comparison *comparison = page->comparisons[p];
        for (size_t i = 0; comparison != NULL && i < comparison->row_count; i++)
            for (size_t v = 0; v < comparison->variant_count; v++) {
                add_axes(table, page, p, true);
                sim_compare_cells(table, &comparison->rows[i], &comparison->rows[i].cells[v],
                                  comparison->variants[v]);
            }
    }
    sim_table_print(table, SIM_FORMAT_CSV, stdout);
    sim_table_destroy(table);
    free(columns);
}

static void json_point(struct sim_json *json, const struct page *page, size_t point)
{
    const size_t variant = variant_at(page->points, point);
    sim_json_begin_object(json);
    sim_json_begin_object(sim_json_key(json, "values"));
    for (size_t a = 0; a < page->points->axis_count; a++) {
        const struct an_axis *axis = &page->points->axes[a];
        if (axis->is_policy)
            continue;
        if (isnan(axis->value[variant]))
            sim_json_string(sim_json_key(json, axis->path), axis->text[variant]);
        else
            sim_json_number(sim_json_key(json, axis->path), axis->value[variant]);
    }
    sim_json_end_object(json);
    if (page->comparisons[point] == NULL)
        sim_json_flag(sim_json_key(json, "is_lost"), true);
    else
        sim_compare_json(json, page->comparisons[point]);
    sim_json_end_object(json);
}

static void print_json(const struct page *page)
{
    struct sim_json json = { .out = stdout };
    sim_json_begin_object(&json);
    sim_json_integer(sim_json_key(&json, "schema"), 1);
    sim_json_string(sim_json_key(&json, "version"), WEIR_VERSION);
    sim_json_begin_array(sim_json_key(&json, "points"));
    for (size_t p = 0; p < page->points->point_count; p++)
        json_point(&json, page, p);
    sim_json_end_array(&json);
    sim_json_end_object(&json);
    (void)fputc('\n', stdout);
}

static bool ended_unexpected(const struct page *page)
{
    bool is_unexpected = false;
    for (size_t p = 0; p < page->points->point_count; p++)
        for (size_t v = 0; page->comparisons[p] != NULL && v < page->comparisons[p]->variant_count;
             v++)
            is_unexpected = is_unexpected || page->comparisons[p]->early[v].is_unexpected;
    return is_unexpected;
}

weir_status sim_points_print(struct an_db *db, const struct an_points *points,
                             const struct an_compare_options *query, enum sim_format format,
                             bool *is_unexpected, struct weir_error *error)
{
    struct page page = { .points = points, .format = format };
    struct an_compare_options asked = *query;
    asked.is_short = sim_format_is_text(format);
    const weir_status status = compare_all(db, &asked, &page, error);
    if (status == WEIR_OK) {
        assert(page.first != NULL);
        if (format == SIM_FORMAT_JSON)
            print_json(&page);
        else if (format == SIM_FORMAT_CSV)
            print_csv(&page);
        else
            print_paper(&page);
        *is_unexpected = ended_unexpected(&page);
    }
    clear(&page);
    return status;
}

/* ---- before anything is run ---- */

static const struct sim_column plan_columns[] = {
    { "point", "point", NULL, true, true },
    { "variant", "variant", NULL, false, false },
    { "runs", "runs", NULL, true, true },
    { "jobs a run", "jobs", NULL, true, true },
};

void sim_points_plan(const struct sim_experiment *experiment, enum sim_format format)
{
    const bool has_points = experiment->points.count > 0;
    const size_t variants = experiment->variant_count;
    const size_t runs = variants * experiment->replications;
    struct sim_table *table =
        sim_table_create(plan_columns, sizeof plan_columns / sizeof plan_columns[0]);
    for (size_t v = 0; v < variants; v++) {
        sim_table_addf(table, "%zu", has_points ? experiment->points.points[v].point + 1 : 1);
        sim_table_add(table, experiment->labels[v]);
        sim_table_addf(table, "%u", experiment->replications);
        sim_table_addf(table, "%.0f", sim_scenario_jobs(experiment->scenarios[v]));
    }
    sim_table_print(table, format, stdout);
    sim_table_destroy(table);
    if (sim_format_is_text(format))
        printf("%zu variant%s x %u replication%s = %zu run%s; none was made.\n", variants,
               an_plural((double)variants), experiment->replications,
               an_plural(experiment->replications), runs, an_plural((double)runs));
}
