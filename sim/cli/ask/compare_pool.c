/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What blocks say together; see the header. */
#include "sim/cli/ask/compare_pool.h"

#include "analysis/metrics.h"
#include "analysis/ranks.h"
#include "analysis/statistics.h"

#include <assert.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = AN_RANKS_VARIANTS * (AN_RANKS_VARIANTS - 1) / 2 };

/* One measure: means over the replications, by block and variant. */
struct pool {
    const struct an_comparison *first; /* names and units */
    const struct an_metric_row *row;
    const char *metric;
    double *values;   /* [block * variants + variant] */
    bool *is_bound;   /* by variant: of some block the mean is one from below */
    bool *is_partial; /* or one of what was over alone */
    size_t blocks, variants, lost;
    bool has_baseline; /* pairs with it alone */
    size_t *block_of;  /* by point */
    size_t point_count, block_count;
    double min_effect;
};

struct pair {
    size_t one, other;
    struct an_paired paired; /* one - other */
    double adjusted, wilcoxon, effect;
    double matters; /* a difference from here on */
};

/* As tables of comparisons call it. */
static const char *name_of(const struct pool *pool)
{
    const struct an_metric *metric = an_metric_find(pool->row->metric);
    return metric == NULL ? pool->row->metric : metric->label;
}

/* ---- collecting ---- */

static size_t place_of(const struct an_comparison *comparison, const char *variant)
{
    size_t v = 0;
    while (v < comparison->variant_count && strcmp(comparison->variants[v], variant) != 0)
        v++;
    return v;
}

/* Adds the means of a point to `sums`; false when it lacks a variant or the measure. */
static bool take_point(const struct pool *pool, const struct an_comparison *comparison,
                       double *sums)
{
    const struct an_metric_row *row = NULL;
    for (size_t i = 0; comparison != NULL && i < comparison->row_count && row == NULL; i++)
        if (strcmp(comparison->rows[i].metric, pool->metric) == 0 &&
            strcmp(comparison->rows[i].label, pool->row->label) == 0)
            row = &comparison->rows[i];
    for (size_t v = 0; row != NULL && v < pool->variants; v++) {
        const size_t place = place_of(comparison, pool->first->variants[v]);
        if (place == comparison->variant_count || comparison->early[place].runs > 0 ||
            isnan(row->cells[place].mean))
            return false;
        sums[v] += row->cells[place].mean;
        pool->is_bound[v] = pool->is_bound[v] || row->cells[place].is_lower_bound;
        pool->is_partial[v] = pool->is_partial[v] || row->cells[place].is_partial;
    }
    return row != NULL;
}

/* The mean of all points of a block; one that lacks something takes its block with it. */
static void take_block(struct pool *pool, struct an_comparison **comparisons, size_t block)
{
    double *sums = &pool->values[pool->blocks * pool->variants];
    size_t points = 0;
    memset(sums, 0, pool->variants * sizeof *sums);
    for (size_t p = 0; p < pool->point_count; p++) {
        if (pool->block_of[p] != block)
            continue;
        if (!take_point(pool, comparisons[p], sums)) {
            pool->lost++;
            return;
        }
        points++;
    }
    for (size_t v = 0; v < pool->variants; v++)
        sums[v] /= (double)points;
    pool->blocks++;
}

/* ---- judging ---- */

static double column_of(const struct pool *pool, size_t variant, double *values)
{
    for (size_t b = 0; b < pool->blocks; b++)
        values[b] = pool->values[b * pool->variants + variant];
    return gsl_stats_mean(values, 1, pool->blocks);
}

static void judge_pair(const struct pool *pool, struct pair *pair)
{
    double one[AN_RANKS_BLOCKS];
    double other[AN_RANKS_BLOCKS];
    (void)column_of(pool, pair->one, one);
    pair->matters = pool->min_effect * fabs(column_of(pool, pair->other, other));
    pair->paired = an_paired_difference(other, one, pool->blocks, 0.95);
    for (size_t b = 0; b < pool->blocks; b++)
        one[b] -= other[b];
    pair->wilcoxon = an_wilcoxon(one, pool->blocks);
    pair->effect = !pair->paired.is_deterministic
                       ? pair->paired.difference / gsl_stats_sd(one, 1, pool->blocks)
                       : (double)NAN;
}

static size_t judge_all(const struct pool *pool, struct pair pairs[PAIRS])
{
    double p_values[PAIRS];
    double adjusted[PAIRS];
    size_t count = 0;
    for (size_t i = 0; i < pool->variants; i++)
        for (size_t k = i + 1; k < pool->variants; k++) {
            const bool is_turned = pool->has_baseline && k == pool->first->baseline;
            if (pool->has_baseline && !is_turned && i != pool->first->baseline)
                continue;
            pairs[count] = (struct pair){ .one = is_turned ? i : k, .other = is_turned ? k : i };
            judge_pair(pool, &pairs[count]);
            p_values[count] = pairs[count].paired.p_value;
            count++;
        }
    an_holm(p_values, count, adjusted);
    for (size_t i = 0; i < count; i++)
        pairs[i].adjusted = adjusted[i];
    return count;
}

/* ---- printing ---- */

static const struct sim_column columns[] = {
    { "metric", "metric", NULL, false, false },
    { "variant", "variant", NULL, false, false },
    { "against", "against", NULL, false, false },
    { "blocks", "blocks", NULL, true, true },
    { "difference", "difference", NULL, true, true },
    { "+-", "half_width", NULL, true, true },
    { "p (Holm)", "p_holm", NULL, true, true },
    { "p (Wilcoxon)", "p_wilcoxon", NULL, true, true },
    { "effect", "effect", NULL, true, true },
    { "verdict", "verdict", NULL, false, false },
};

static void add_number(struct sim_table *table, double value, int digits)
{
    char text[40];
    sim_table_add(table, sim_table_number(value, digits, text, sizeof text));
}

/* A bound from below shows that something is longer, never that it is shorter. */
static bool is_open(const struct pool *pool, const struct pair *pair, bool is_more)
{
    return pool->row->better < 0 && pool->is_bound[is_more ? pair->one : pair->other];
}

/* By p after Holm over all pairs, where blocks differ; then whether it matters, by the interval. */
static const char *verdict_of(const struct pool *pool, const struct pair *pair)
{
    const double d = pair->paired.difference;
    const double half = pair->paired.is_deterministic ? 0 : pair->paired.half_width;
    const bool is_small = pair->matters > 0 && fabs(d) + half <= pair->matters;
    const bool is_large = fabs(d) - half >= pair->matters;
    const bool is_more = d * pool->row->better > 0;
    const bool is_same = pair->paired.is_deterministic;
    if (pool->is_partial[pair->one] || pool->is_partial[pair->other])
        return "open";
    if (is_same && fabs(d) <= 0)
        return "no difference";
    if (!is_small && !is_same && !(pair->adjusted < 0.05))
        return "not distinguishable";
    if (is_open(pool, pair, is_more))
        return "open";
    if (is_small)
        return "too small to matter";
    if (pool->row->better == 0)
        return "another";
    if (is_large)
        return is_more ? "better" : "worse";
    return is_more ? "better, perhaps too little to matter" : "worse, perhaps too little to matter";
}

static void add_pair(struct sim_table *table, const struct pool *pool, const struct pair *pair)
{
    sim_table_add(table, name_of(pool));
    sim_table_add(table, pool->first->variants[pair->one]);
    sim_table_add(table, pool->first->variants[pair->other]);
    sim_table_addf(table, "%zu", pool->blocks);
    add_number(table, pair->paired.difference, 6);
    add_number(table, pair->paired.half_width, 3);
    add_number(table, pair->adjusted, 3);
    add_number(table, pair->wilcoxon, 3);
    add_number(table, pair->effect, 3);
    sim_table_add(table, verdict_of(pool, pair));
}

static bool has_bounds(const struct pool *pool)
{
    bool found = false;
    for (size_t v = 0; v < pool->variants; v++)
        found = found || (pool->row->better < 0 && pool->is_bound[v]) || pool->is_partial[v];
    return found;
}

/* Rank 1 is the best; where no direction is better the least. */
static void print_ranks(const struct pool *pool, enum sim_format format)
{
    double *turned = calloc(pool->blocks * pool->variants + 1, sizeof *turned);
    if (turned == NULL)
        return;
    for (size_t i = 0; i < pool->blocks * pool->variants; i++)
        turned[i] = pool->row->better > 0 ? -pool->values[i] : pool->values[i];
    const struct an_friedman test = an_friedman_test(turned, pool->blocks, pool->variants);
    printf("%s, mean rank over %zu blocks (1 is best):", name_of(pool), pool->blocks);
    for (size_t v = 0; v < pool->variants; v++)
        sim_table_say(format, stdout, "%s %s %.2f", v == 0 ? "" : ",", pool->first->variants[v],
                      test.mean_rank[v]);
    if (isnan(test.p_value))
        (void)fputs("; there is no difference in any block", stdout);
    else
        printf("; Friedman p %.3g", test.p_value);
    if (!isnan(test.p_value) && !isnan(test.critical_difference))
        printf(", ranks differ from %.2f on (Nemenyi, .05)", test.critical_difference);
    (void)puts(
        has_bounds(pool)
            ? "; not all work was done: bounds, and means without the rest, are ranked as they are."
            : ".");
    free(turned);
}

static weir_status check(const struct pool *pool, struct weir_error *error)
{
    if (pool->variants < 2 || pool->variants > AN_RANKS_VARIANTS)
        return weir_fail(error, WEIR_EINVAL, "--pool compares 2 to %d variants, found %zu",
                         AN_RANKS_VARIANTS, pool->variants);
    if (pool->blocks > AN_RANKS_BLOCKS)
        return weir_fail(error, WEIR_EINVAL, "--pool takes at most %d blocks, found %zu",
                         AN_RANKS_BLOCKS, pool->blocks);
    if (pool->blocks < 2)
        return weir_fail(error, WEIR_EINVAL, "--pool needs two %s with all variants, found %zu%s",
                         pool->block_count < pool->point_count ? "blocks" : "points", pool->blocks,
                         pool->block_count < pool->point_count ? "" : "; a point is a block");
    return WEIR_OK;
}

static weir_status pool_row(struct pool *pool, struct an_comparison **comparisons,
                            struct sim_table *table, struct weir_error *error)
{
    struct pair pairs[PAIRS];
    pool->metric = pool->row->metric;
    pool->blocks = pool->lost = 0;
    memset(pool->is_bound, 0, pool->variants * sizeof *pool->is_bound);
    memset(pool->is_partial, 0, pool->variants * sizeof *pool->is_partial);
    for (size_t b = 0; b < pool->block_count; b++)
        take_block(pool, comparisons, b);
    WEIR_TRY(check(pool, error));
    const size_t found = judge_all(pool, pairs);
    for (size_t i = 0; i < found; i++)
        add_pair(table, pool, &pairs[i]);
    return WEIR_OK;
}

static weir_status print_rows(struct pool *pool, struct an_comparison **comparisons, bool all,
                              enum sim_format format, struct weir_error *error)
{
    struct sim_table *table = sim_table_create(columns, sizeof columns / sizeof columns[0]);
    assert(pool->first != NULL);
    const size_t rows = all ? pool->first->row_count : 1;
    const bool is_paper = sim_format_is_text(format);
    weir_status status = WEIR_OK;
    for (size_t r = 0; r < rows && status == WEIR_OK; r++) {
        pool->row = &pool->first->rows[r];
        status = pool_row(pool, comparisons, table, error);
    }
    if (status == WEIR_OK)
        sim_table_print(table, format, stdout);
    for (size_t r = 0; is_paper && r < rows && status == WEIR_OK; r++) {
        struct sim_table *rest = sim_table_create(columns, sizeof columns / sizeof columns[0]);
        pool->row = &pool->first->rows[r];
        status = pool_row(pool, comparisons, rest, error);
        if (status == WEIR_OK)
            print_ranks(pool, format);
        sim_table_destroy(rest);
    }
    sim_table_destroy(table);
    if (status == WEIR_OK && is_paper)
        printf(
            "A block is %s: one observation, whatever the replications behind it; t with "
            "%zu degrees of freedom, effect = mean over standard deviation of the differences.%s\n",
            pool->block_count < pool->point_count ? "the mean of its points" : "a point",
            pool->blocks - 1, pool->lost > 0 ? " Blocks without all variants are left out." : "");
    for (size_t p = 0; status == WEIR_OK && is_paper && p < pool->point_count; p++)
        if (comparisons[p] != NULL && comparisons[p]->left_out[0] != '\0')
            sim_table_say(format, stdout, "Lost: %s\n", comparisons[p]->left_out);
    return status;
}

/* Which block each point is of. */
static weir_status find_blocks(struct pool *pool, const struct an_points *points, const char *block,
                               struct weir_error *error)
{
    size_t axis = 0;
    while (block != NULL && axis < points->axis_count &&
           strcmp(points->axes[axis].path, block) != 0 &&
           strcmp(points->axes[axis].name, block) != 0)
        axis++;
    if (block != NULL && axis == points->axis_count)
        return weir_fail(error, WEIR_EINVAL, "--block: there is no axis '%s'", block);
    pool->point_count = points->point_count;
    pool->block_of = calloc(points->point_count + 1, sizeof *pool->block_of);
    if (pool->block_of == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (size_t v = 0; v < points->variant_count; v++) {
        size_t same = 0; /* the first variant with that value */
        while (block != NULL &&
               strcmp(points->axes[axis].text[same], points->axes[axis].text[v]) != 0)
            same++;
        const bool is_new = block == NULL ? points->point[v] == pool->block_count : same == v;
        if (is_new)
            pool->block_of[points->point[v]] = pool->block_count++;
        else if (block != NULL)
            pool->block_of[points->point[v]] = pool->block_of[points->point[same]];
    }
    return WEIR_OK;
}

static weir_status compare_points(struct pool *pool, struct an_db *db,
                                  const struct an_points *points,
                                  const struct an_compare_options *query,
                                  struct an_comparison **comparisons, struct weir_error *error)
{
    for (size_t p = 0; p < points->point_count; p++) {
        WEIR_TRY(an_points_compare(db, points, p, query, &comparisons[p], error));
        /* Where one is lost the others tell its name. */
        if (comparisons[p] != NULL &&
            (pool->first == NULL || comparisons[p]->variant_count > pool->first->variant_count))
            pool->first = comparisons[p];
    }
    if (pool->first == NULL || pool->first->row_count == 0)
        return weir_fail(error, WEIR_EINVAL, "--pool: no point has results");
    pool->variants = pool->first->variant_count;
    pool->values = calloc((pool->block_count + 1) * (pool->variants + 1), sizeof *pool->values);
    pool->is_bound = calloc(pool->variants + 1, sizeof *pool->is_bound);
    pool->is_partial = calloc(pool->variants + 1, sizeof *pool->is_partial);
    return pool->values == NULL || pool->is_bound == NULL || pool->is_partial == NULL
               ? weir_fail(error, WEIR_ENOMEM, "out of memory")
               : WEIR_OK;
}

weir_status sim_pool_print(struct an_db *db, const struct an_points *points,
                           const struct sim_pool_options *options, struct weir_error *error)
{
    struct an_comparison **comparisons = calloc(points->point_count + 1, sizeof *comparisons);
    struct pool pool = { .min_effect = options->min_effect,
                         .has_baseline = options->query->baseline != NULL };
    if (comparisons == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_status status = find_blocks(&pool, points, options->block, error);
    if (status == WEIR_OK)
        status = compare_points(&pool, db, points, options->query, comparisons, error);
    if (status == WEIR_OK)
        status = print_rows(&pool, comparisons, options->query->metric_count > 0, options->format,
                            error);
    for (size_t p = 0; p < points->point_count; p++)
        an_comparison_destroy(comparisons[p]);
    free(comparisons);
    free(pool.block_of);
    free(pool.values);
    free(pool.is_bound);
    free(pool.is_partial);
    return status;
}
