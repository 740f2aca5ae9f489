/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What blocks say together; see the header. */
#include "sim/cli/compare_pool.h"

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
    double *values; /* [block * variants + variant] */
    size_t blocks, variants, lost;
};

struct pair {
    size_t one, other;
    struct an_paired paired; /* one - other */
    double adjusted, wilcoxon, effect;
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

/* False when the block lacks a variant or the measure. */
static bool take_block(struct pool *pool, const struct an_comparison *comparison)
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
        pool->values[pool->blocks * pool->variants + v] = row->cells[place].mean;
    }
    pool->blocks += row != NULL ? 1 : 0;
    return row != NULL;
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
    (void)column_of(pool, pair->other, other);
    pair->paired = an_paired_difference(other, one, pool->blocks, 0.95);
    for (size_t b = 0; b < pool->blocks; b++)
        one[b] -= other[b];
    pair->wilcoxon = an_wilcoxon(one, pool->blocks);
    pair->effect = pool->blocks > 1 ? pair->paired.difference / gsl_stats_sd(one, 1, pool->blocks)
                                    : (double)NAN;
}

static size_t judge_all(const struct pool *pool, struct pair pairs[PAIRS])
{
    double p_values[PAIRS];
    double adjusted[PAIRS];
    size_t count = 0;
    for (size_t i = 0; i < pool->variants; i++)
        for (size_t k = i + 1; k < pool->variants; k++) {
            pairs[count] = (struct pair){ .one = k, .other = i };
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
};

static void add_number(struct sim_table *table, double value, int digits)
{
    char text[40];
    sim_table_add(table, sim_table_number(value, digits, text, sizeof text));
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
}

/* Rank 1 is the best; where no direction is better the least. */
static void print_ranks(const struct pool *pool)
{
    double *turned = calloc(pool->blocks * pool->variants + 1, sizeof *turned);
    if (turned == NULL)
        return;
    for (size_t i = 0; i < pool->blocks * pool->variants; i++)
        turned[i] = pool->row->better > 0 ? -pool->values[i] : pool->values[i];
    const struct an_friedman test = an_friedman_test(turned, pool->blocks, pool->variants);
    printf("%s, mean rank over %zu blocks (1 is best):", name_of(pool), pool->blocks);
    for (size_t v = 0; v < pool->variants; v++)
        printf("%s %s %.2f", v == 0 ? "" : ",", pool->first->variants[v], test.mean_rank[v]);
    printf("; Friedman p %.3g", test.p_value);
    if (!isnan(test.critical_difference))
        printf(", ranks differ from %.2f on (Nemenyi, .05)", test.critical_difference);
    (void)puts(".");
    free(turned);
}

static weir_status check(const struct pool *pool, struct weir_error *error)
{
    if (pool->variants < 2 || pool->variants > AN_RANKS_VARIANTS)
        return weir_fail(error, WEIR_EINVAL, "--pool compares 2 to %d variants, found %zu",
                         AN_RANKS_VARIANTS, pool->variants);
    if (pool->blocks < 2)
        return weir_fail(error, WEIR_EINVAL,
                         "--pool needs two points with all variants, found %zu; a point is a block",
                         pool->blocks);
    return WEIR_OK;
}

static weir_status pool_row(struct pool *pool, struct an_comparison **comparisons, size_t count,
                            struct sim_table *table, struct weir_error *error)
{
    struct pair pairs[PAIRS];
    pool->metric = pool->row->metric;
    pool->blocks = pool->lost = 0;
    for (size_t p = 0; p < count && pool->blocks < AN_RANKS_BLOCKS; p++)
        pool->lost += take_block(pool, comparisons[p]) ? 0 : 1;
    WEIR_TRY(check(pool, error));
    const size_t found = judge_all(pool, pairs);
    for (size_t i = 0; i < found; i++)
        add_pair(table, pool, &pairs[i]);
    return WEIR_OK;
}

static weir_status print_rows(struct pool *pool, struct an_comparison **comparisons, size_t count,
                              bool all, enum sim_format format, struct weir_error *error)
{
    struct sim_table *table = sim_table_create(columns, sizeof columns / sizeof columns[0]);
    const size_t rows = all ? pool->first->row_count : 1;
    const bool is_paper = format == SIM_FORMAT_TABLE || format == SIM_FORMAT_MD;
    weir_status status = WEIR_OK;
    for (size_t r = 0; r < rows && status == WEIR_OK; r++) {
        pool->row = &pool->first->rows[r];
        status = pool_row(pool, comparisons, count, table, error);
    }
    if (status == WEIR_OK)
        sim_table_print(table, format, stdout);
    for (size_t r = 0; is_paper && r < rows && status == WEIR_OK; r++) {
        struct sim_table *rest = sim_table_create(columns, sizeof columns / sizeof columns[0]);
        pool->row = &pool->first->rows[r];
        status = pool_row(pool, comparisons, count, rest, error);
        if (status == WEIR_OK)
            print_ranks(pool);
        sim_table_destroy(rest);
    }
    sim_table_destroy(table);
    if (status == WEIR_OK && is_paper)
        printf(
            "A block is a point: one observation, whatever the replications behind it; t with "
            "%zu degrees of freedom, effect = mean over standard deviation of the differences.%s\n",
            pool->blocks - 1, pool->lost > 0 ? " Points without all variants are left out." : "");
    return status;
}

weir_status sim_pool_print(struct an_db *db, const struct an_points *points,
                           const struct an_compare_options *query, enum sim_format format,
                           struct weir_error *error)
{
    struct an_comparison **comparisons = calloc(points->point_count + 1, sizeof *comparisons);
    struct pool pool = { .first = NULL };
    weir_status status = WEIR_OK;
    if (comparisons == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (size_t p = 0; p < points->point_count && status == WEIR_OK; p++) {
        status = an_points_compare(db, points, p, query, &comparisons[p], error);
        if (pool.first == NULL && status == WEIR_OK && comparisons[p] != NULL)
            pool.first = comparisons[p];
    }
    if (status == WEIR_OK && (pool.first == NULL || pool.first->row_count == 0))
        status = weir_fail(error, WEIR_EINVAL, "--pool: no point has results");
    if (status == WEIR_OK) {
        assert(pool.first != NULL);
        pool.variants = pool.first->variant_count;
        pool.values = calloc(points->point_count * pool.variants + 1, sizeof *pool.values);
        status = pool.values == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory")
                                     : print_rows(&pool, comparisons, points->point_count,
                                                  query->metric_count > 0, format, error);
    }
    for (size_t p = 0; p < points->point_count; p++)
        an_comparison_destroy(comparisons[p]);
    free(comparisons);
    free(pool.values);
    return status;
}
