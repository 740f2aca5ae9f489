/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Chart nodes: of groups whose nodes are asked for and given back how many are there and how many
 * on their way over time, stacked, against what the jobs ask for; below, those that their owner
 * took back. Dashed lines are other variants in the same replication.
 *
 * From happenings alone, which grow with what changes and not with the nodes there are; a node that
 * is down by a fault is there.
 */
#include "analysis/plots/plots.h"
#include "analysis/plots/rows.h"

#include "analysis/nan.h"

#include <math.h>
#include <string.h>

/* Groups beyond the last are joined; the last colour is that of nodes on their way. */
enum { OTHERS = 3, GROUPS = AN_ROWS - 1 };

/* The first row is all groups together, or the only one, as in weir_supply. */
static const char groups_sql[] =
    "WITH s AS (SELECT type, there, next_s > t_s AND next_s > :from AS lasts,"
    " max(next_s - max(t_s, :from), 0) AS span FROM weir_supply)"
    " SELECT type, sum(there * span) / nullif(sum(span), 0), max(iif(lasts, there, NULL)) FROM s"
    " GROUP BY type ORDER BY type";
static const char steps_sql[] = "SELECT dense_rank() OVER (ORDER BY type), t_s, next_s, there,"
                                " coming, taken FROM weir_supply";
/* Of another run the same groups, of which some may neither come nor go there. */
#define SAME                                                                                       \
    "(SELECT d.type FROM happening h JOIN node d ON d.run_id = h.run_id AND d.name = h.target"     \
    " WHERE h.run_id = :id AND h.kind IN ('node_came', 'node_requested', 'node_released',"         \
    " 'node_reclaimed'))"
static const char other_sql[] =
    "SELECT 1, t_s, next_s, there, coming, taken FROM weir_supply WHERE type IN " SAME
    " UNION ALL SELECT 1, 0.0, (SELECT end_s FROM run WHERE run_id = :run), count(*), 0, 0"
    " FROM node d WHERE run_id = :run AND type IN " SAME " AND type NOT IN (SELECT type FROM"
    " weir_supply) AND EXISTS (SELECT 1 FROM node_sample s WHERE s.run_id = :run AND s.node ="
    " d.node AND s.t_s <= 0 AND s.up > 0)";
static const char any_sql[] =
    "SELECT 1 FROM happening WHERE run_id = :run AND kind IN ('node_came', 'node_requested',"
    " 'node_released', 'node_reclaimed') LIMIT 1";
static const char others_sql[] =
    "SELECT run_id, variant, end_s FROM run WHERE run_id <> :run AND replication = :id"
    " ORDER BY variant_order LIMIT 3";
/* What a node has, where all are alike, all come and go, and only jobs work on them. */
static const char unit_sql[] =
    "SELECT iif(max(gpus) > 0, max(gpus), max(cpus)), max(gpus) > 0, EXISTS (SELECT 1 FROM job "
    "WHERE"
    " run_id = :run) FROM node WHERE run_id = :run HAVING min(gpus) = max(gpus) AND (max(gpus) > 0"
    " OR min(cpus) = max(cpus)) AND NOT max(type NOT IN (SELECT type FROM weir_supply))"
    " AND NOT EXISTS (SELECT 1 FROM stage WHERE run_id = :run)";
static const char jobs_sql[] =
    "SELECT submit_s, coalesce(j.end_s, r.end_s), gpus, cpus FROM job j JOIN run r USING (run_id)"
    " WHERE run_id = :run AND (j.end_s NOT NULL OR outcome IN ('waiting', 'running'))";

struct picture {
    struct an_grid grid;
    const struct an_frame *groups, *others;
    size_t first;                           /* row of the first group */
    size_t count;                           /* of groups that are drawn */
    double *there, *coming, *taken, *other; /* by bin; there: group after group */
    double *needed, unit;                   /* unit 0 = not known */
    bool is_of_gpus;
    double losses, counted, from_s; /* counted: after the warm-up, as means are */
    double top;
};

/* ---- what is there ---- */

/* Adds a value that holds from one time to another to the means of the bins; one that has no end,
 * in a run that has none, is left out. */
static void add(const struct an_grid *grid, double *means, double from_s, double to_s, double value)
{
    if (!(to_s > from_s))
        return;
    const size_t last = an_grid_bin(grid, to_s - 1e-9 * grid->step_s);
    for (size_t b = an_grid_bin(grid, from_s); b <= last; b++) {
        const double start = grid->from_s + (double)b * grid->step_s;
        const double end = fmin(start + grid->step_s, grid->to_s);
        const double part = fmin(to_s, end) - fmax(from_s, start);
        if (part > 0.0)
            means[b] += value * part / (end - start);
    }
}

static void add_step(void *state, const double *step)
{
    struct picture *picture = state;
    const struct an_grid *grid = &picture->grid;
    const size_t rank = (size_t)step[0] - 1;
    const size_t group = rank < picture->first ? 0 : rank - picture->first;
    if (rank >= picture->first)
        add(grid,
            picture->there + (group < picture->count ? group : picture->count - 1) * grid->bins,
            step[1], step[2], step[3]);
    if (rank > 0 || isnan(step[1]))
        return;
    add(grid, picture->coming, step[1], step[2], step[4]);
    picture->taken[an_grid_bin(grid, step[1])] += step[5];
    picture->losses += step[5];
    picture->counted += step[1] >= picture->from_s ? step[5] : 0.0;
}

static void add_other(void *state, const double *step)
{
    struct picture *picture = state;
    add(&picture->grid, picture->other, step[1], step[2], step[3]);
}

static void add_job(void *state, const double *job)
{
    struct picture *picture = state;
    add(&picture->grid, picture->needed, job[0], job[1],
        job[picture->is_of_gpus ? 2 : 3] / picture->unit);
}

static weir_status share(struct an_chart *chart, int64_t run, struct weir_error *error)
{
    return an_share(chart->keeper.db, &an_share_supply,
                    &(struct an_args){ .run = run, .from = chart->facts->from_s }, error);
}

static double width_of(const struct an_grid *grid, size_t bin, double end_s)
{
    const double start = grid->from_s + (double)bin * grid->step_s;
    return fmin(start + grid->step_s, fmin(end_s, grid->to_s)) - start;
}

/* Its line ends with its run, which may be before this one's. */
static void end_line(const struct an_grid *grid, double *means, double end_s)
{
    for (size_t b = 0; b < grid->bins; b++) {
        const double width = width_of(grid, b, end_s);
        means[b] = width > 0.0 ? means[b] * width_of(grid, b, grid->to_s) / width : AN_NAN;
    }
}

/* Over the bins from `first` on, as far as there is a line. */
static double mean_from(const struct an_grid *grid, const double *means, size_t first, double end_s)
{
    double sum = 0.0;
    double span = 0.0;
    for (size_t b = first; b < grid->bins && !isnan(means[b]); b++) {
        const double width = width_of(grid, b, end_s);
        sum += means[b] * width;
        span += width;
    }
    return sum / span;
}

/* The other variants; what is shared of the run itself takes their place. */
static weir_status read_others(struct an_chart *chart, struct picture *picture,
                               struct weir_error *error)
{
    double *others = picture->other;
    WEIR_TRY(an_chart_query(chart, others_sql, NULL, &picture->others, error));
    for (size_t v = 0; v < picture->others->row_count; v++) {
        const struct an_args args = { .run = (int64_t)an_number(picture->others, v, 0),
                                      .id = chart->run->run_id };
        WEIR_TRY(share(chart, args.run, error));
        picture->other = others + v * picture->grid.bins;
        WEIR_TRY(an_query_each(chart->keeper.db, other_sql, &args, add_other, picture, error));
        end_line(&picture->grid, picture->other, an_number(picture->others, v, 2));
    }
    picture->other = others;
    return WEIR_OK;
}

static weir_status read_needed(struct an_chart *chart, struct picture *picture,
                               struct weir_error *error)
{
    const struct an_frame *unit = NULL;
    const struct an_args args = { .run = chart->run->run_id };
    WEIR_TRY(an_chart_query(chart, unit_sql, NULL, &unit, error));
    if (unit->row_count == 0 || !(an_number(unit, 0, 2) > 0.5))
        return WEIR_OK;
    picture->unit = an_number(unit, 0, 0);
    if (!(picture->unit > 0.0))
        return WEIR_OK;
    picture->is_of_gpus = an_number(unit, 0, 1) > 0.5;
    return an_query_each(chart->keeper.db, jobs_sql, &args, add_job, picture, error);
}

/* ---- drawing ---- */

static const char *group_name(const struct picture *picture, size_t group)
{
    const bool is_rest =
        group + 1 == GROUPS && picture->groups->row_count > GROUPS + picture->first;
    return is_rest ? "others" : an_text(picture->groups, group + picture->first, 0);
}

static weir_status write_texts(struct an_chart *chart, const struct picture *picture,
                               struct weir_error *error)
{
    const bool has_others = picture->others->row_count > 0;
    char needed[144] = "";
    WEIR_TRY(an_chart_claim(chart, "supply.group supply.groups", error));
    if (has_others) {
        char text[sizeof chart->title];
        memcpy(text, chart->title, sizeof text);
        an_chart_title(chart, "%s: %s",
                       an_chart_word(chart, chart->run->variant, AN_NAME_MOST).text, text);
    }
    if (picture->unit > 0.0)
        (void)snprintf(needed, sizeof needed,
                       " · solid line: what jobs that wait or run ask for, in nodes of %s %s%s",
                       an_word_number(picture->unit).text, picture->is_of_gpus ? "GPU" : "CPU",
                       an_plural(picture->unit));
    an_chart_subtitle(chart, "Nodes that are there, {width} means%s%s · right: mean after warm-up",
                      needed, has_others ? " · dashed: other variants" : "");
    return WEIR_OK;
}

/* What is there group by group, what comes, what is needed, the others: one series after the other
 * in columns 2 on. */
static weir_status write_series(struct an_chart *chart, struct picture *picture, size_t *count,
                                double **series, struct weir_error *error)
{
    const size_t bins = picture->grid.bins;
    const size_t others = picture->others->row_count;
    char columns[AN_ROWS * 64 + 256] = "t_s";
    *count = picture->count + 2 + others;
    WEIR_TRY(an_keep_numbers(&chart->keeper, *count * bins, series, error));
    memcpy(*series, picture->there, picture->count * bins * sizeof **series);
    memcpy(*series + picture->count * bins, picture->coming, bins * sizeof **series);
    memcpy(*series + (picture->count + 1) * bins, picture->needed, bins * sizeof **series);
    memcpy(*series + (picture->count + 2) * bins, picture->other, others * bins * sizeof **series);
    for (size_t k = 0; k < *count; k++) {
        const size_t used = strlen(columns);
        const char *name = k < picture->count    ? group_name(picture, k)
                           : k == picture->count ? "coming"
                           : k == picture->count + 1
                               ? "needed"
                               : an_text(picture->others, k - picture->count - 2, 1);
        (void)snprintf(columns + used, sizeof columns - used, " \"%s\"",
                       an_chart_word(chart, name, AN_NAME_MOST).text);
    }
    for (size_t b = 0; b < bins; b++) {
        double sum = 0.0;
        for (size_t k = 0; k <= picture->count; k++)
            sum += (*series)[k * bins + b];
        picture->top = fmax(picture->top, sum);
    }
    picture->top =
        fmax(picture->top, an_largest(*series + (picture->count + 1) * bins, (1 + others) * bins));
    picture->top = an_axis_top(fmax(picture->top, 1.0));
    (void)an_chart_block(chart, "nodes", columns);
    an_chart_rows(chart, &picture->grid, *series, *count);
    return WEIR_OK;
}

/* Lines are read on a single group. */
static const char *color_of(const struct picture *picture, size_t layer)
{
    return layer == picture->count ? AN_PALE
           : picture->count == 1   ? "#a9cfe6"
                                   : an_row_colors[layer];
}

/* From the sum of all downwards, so that each covers the one behind it. */
static void plot_layers(struct an_chart *chart, const struct picture *picture)
{
    static const char *const dashes[OTHERS] = { "(6,3)", "(2,3)", "(9,3,2,3)" };
    FILE *out = chart->body;
    (void)fprintf(out, "set yrange [0:%.9g]; set ytics %.9g format '%%g'\nplot ", picture->top,
                  an_axis_step(picture->top, 4.0));
    for (size_t k = picture->count + 1; k-- > 0;) {
        (void)fputs("DATA index 0 using 1:(", out);
        for (size_t i = 0; i <= k; i++)
            (void)fprintf(out, "%s$%zu", i == 0 ? "" : "+", i + 2);
        (void)fprintf(out, ") with filledcurves y1=0 fc rgb '%s', \\\n ", color_of(picture, k));
    }
    for (size_t v = 0; v < picture->others->row_count && v < OTHERS; v++)
        (void)fprintf(out,
                      "DATA index 0 using 1:%zu with lines lc rgb '" AN_INK "' lw 1.1 dt %s, \\\n ",
                      picture->count + 4 + v, dashes[v]);
    if (picture->unit > 0.0)
        (void)fprintf(out, "DATA index 0 using 1:%zu with lines lc rgb '" AN_INK "' lw 1.2\n",
                      picture->count + 3);
    else
        (void)fputs("0 with lines lc rgb '" AN_MUTED "' lw 0.5\n", out);
}

/* All, group by group where there are several, and the other variants. */
static void label_means(struct an_chart *chart, const struct picture *picture, double y)
{
    struct an_label label = { .x = 860, .y = y, .is_bold = true };
    const struct an_frame *groups = picture->groups;
    an_chart_text(chart, &label, "mean %s", an_word_number(an_number(groups, 0, 1)).text);
    label.is_bold = false;
    label.size = 11.0;
    label.y += 17.0;
    an_chart_text(chart, &label, "most %.0f", an_number(groups, 0, 2));
    for (size_t g = 1; g < groups->row_count && g <= GROUPS; g++) {
        label.y += 17.0;
        an_chart_text(chart, &label, "%s %s, most %.0f",
                      an_chart_word(chart, an_text(groups, g, 0), 9).text,
                      an_word_number(an_number(groups, g, 1)).text, an_number(groups, g, 2));
    }
    label.color = AN_MUTED;
    const size_t warm = an_grid_bin(&picture->grid, chart->facts->from_s);
    for (size_t v = 0; v < picture->others->row_count; v++) {
        const double mean = mean_from(&picture->grid, picture->other + v * picture->grid.bins, warm,
                                      an_number(picture->others, v, 2));
        label.y += 17.0;
        an_chart_text(chart, &label, "%s %s", an_word_number(mean).text,
                      an_chart_word(chart, an_text(picture->others, v, 1), 15).text);
    }
}

static weir_status draw_nodes(struct an_chart *chart, struct picture *picture,
                              const struct an_box *box, struct weir_error *error)
{
    const char *names[AN_ROWS];
    struct an_key keys[AN_ROWS];
    double *series = NULL;
    size_t count = 0;
    WEIR_TRY(write_series(chart, picture, &count, &series, error));
    for (size_t k = 0; k <= picture->count; k++) {
        names[k] = k == picture->count ? "asked for, not there yet" : group_name(picture, k);
        keys[k] = (struct an_key){ names[k], color_of(picture, k) };
    }
    an_rows_key(chart, keys, picture->count + 1, &(struct an_label){ .x = 40, .y = 10 });
    an_chart_panel(chart, box);
    an_chart_time_axis(chart, !(picture->losses > 0.0));
    an_chart_track(chart, &(struct an_track){ .name = "nodes",
                                              .unit = "",
                                              .high = picture->top,
                                              .grid = &picture->grid,
                                              .series = series,
                                              .count = picture->count + 1,
                                              .names = names,
                                              .is_stacked = true });
    label_means(chart, picture, box->y0 + 12.0);
    WEIR_TRY(an_chart_happenings(chart, box->y0 - 2.0, box->y1, error));
    plot_layers(chart, picture);
    an_chart_draw_end(chart);
    return WEIR_OK;
}

static void draw_losses(struct an_chart *chart, const struct picture *picture,
                        const struct an_box *box)
{
    static const char *const name = "taken back";
    const double top = an_axis_top(an_largest(picture->taken, picture->grid.bins));
    const size_t block = an_chart_block(chart, "taken back by their owner", "t_s nodes");
    an_chart_rows(chart, &picture->grid, picture->taken, 1);
    an_chart_panel(chart, box);
    an_chart_text(chart, &(struct an_label){ .x = box->x0, .y = box->y0 - 12.0, .color = AN_MUTED },
                  "taken back by their owner, in each %s",
                  an_word_duration(picture->grid.step_s).text);
    an_chart_text(chart, &(struct an_label){ .x = 860, .y = box->y0 + 12.0, .is_bold = true },
                  "%.0f%s", picture->counted, picture->from_s > 0.0 ? " after warm-up" : " in all");
    an_chart_time_axis(chart, true);
    an_chart_track(chart, &(struct an_track){ .name = name,
                                              .unit = "",
                                              .high = top,
                                              .grid = &picture->grid,
                                              .series = picture->taken,
                                              .count = 1,
                                              .names = &name });
    (void)fprintf(chart->body,
                  "set yrange [0:%.9g]; set ytics %.9g format '%%g'\n"
                  "plot DATA index %zu using 1:2 with filledcurves y1=0 fc rgb '" AN_VERMILLION
                  "'\n",
                  top, fmax(an_axis_step(top, 2.0), 1.0), block);
    an_chart_draw_end(chart);
}

static weir_status draw(struct an_chart *chart, struct weir_error *error)
{
    struct picture picture = { .from_s = chart->facts->from_s };
    const struct an_args args = { .run = chart->run->run_id };
    const struct an_frame *any = NULL;
    WEIR_TRY(an_chart_query(chart, any_sql, NULL, &any, error));
    picture.grid = an_chart_grid(chart, AN_CHART_BINS);
    const size_t bins = picture.grid.bins;
    WEIR_TRY(an_keep_numbers(&chart->keeper, OTHERS * bins, &picture.other, error));
    if (any->row_count > 0)
        WEIR_TRY(read_others(chart, &picture, error));
    WEIR_TRY(share(chart, chart->run->run_id, error));
    WEIR_TRY(an_chart_query(chart, groups_sql, NULL, &picture.groups, error));
    const size_t rows = picture.groups->row_count;
    if (rows == 0)
        return an_chart_empty(chart, "no node of this run is asked for or given back");
    picture.first = rows > 1;
    picture.count = rows - picture.first < GROUPS ? rows - picture.first : GROUPS;
    WEIR_TRY(an_keep_numbers(&chart->keeper, picture.count * bins, &picture.there, error));
    WEIR_TRY(an_keep_numbers(&chart->keeper, bins, &picture.coming, error));
    WEIR_TRY(an_keep_numbers(&chart->keeper, bins, &picture.taken, error));
    WEIR_TRY(an_keep_numbers(&chart->keeper, bins, &picture.needed, error));
    WEIR_TRY(an_query_each(chart->keeper.db, steps_sql, &args, add_step, &picture, error));
    WEIR_TRY(read_needed(chart, &picture, error));
    WEIR_TRY(write_texts(chart, &picture, error));
    const struct an_box box = { 70, 64, 846, 264 };
    chart->height = picture.losses > 0.0 ? 398.0 : 300.0;
    WEIR_TRY(draw_nodes(chart, &picture, &box, error));
    if (picture.losses > 0.0)
        draw_losses(chart, &picture, &(struct an_box){ 70, 302, 846, 362 });
    return WEIR_OK;
}

const struct an_plot_ops an_plot_nodes = {
    { "nodes", "How many nodes are there and on their way, and how many go?" }, draw
};
