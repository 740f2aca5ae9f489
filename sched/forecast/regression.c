/* SPDX-License-Identifier: Apache-2.0 */
/* Least squares on features; see the header. */
#include "sched/forecast/regression.h"

#include "sched/internal/alloc.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = WEIR_REGRESSION_COLUMNS, OWN = WEIR_REGRESSION_OWN };
static const double RIDGE = 1e-4;

weir_status weir_regression_open(struct weir_regression *regression,
                                 const struct weir_allocator *allocator)
{
    const size_t reach = regression->reach;

    regression->rows = weir_alloc(allocator, (reach + 1) * COLUMNS, sizeof(double));
    regression->with = weir_alloc(allocator, reach * COLUMNS, sizeof(double));
    return regression->rows == NULL || regression->with == NULL ? WEIR_ENOMEM : WEIR_OK;
}

void weir_regression_close(struct weir_regression *regression,
                           const struct weir_allocator *allocator)
{
    weir_free(allocator, regression->rows);
    weir_free(allocator, regression->with);
}

/* The row of so many intervals ago, 0 = the latest. */
static double *row(const struct weir_regression *regression, uint32_t ago)
{
    const uint64_t ring = (uint64_t)regression->reach + 1;

    return &regression->rows[(regression->seen + 2 * ring - 1 - ago) % ring * COLUMNS];
}

uint64_t weir_regression_learned(const struct weir_regression *regression)
{
    return regression->seen > regression->reach ? regression->seen - regression->reach : 0;
}

/* The oldest row, all of whose followers are known by now. */
static void learn(struct weir_regression *regression)
{
    const double *const oldest = row(regression, regression->reach);

    for (uint32_t i = 0; i < COLUMNS; i++)
        for (uint32_t j = 0; j <= i; j++) {
            double *const sum = &regression->products[i * COLUMNS + j];
            *sum = *sum * regression->kept + oldest[i] * oldest[j];
        }
    for (uint32_t k = 0; k < regression->reach; k++) {
        double *const sums = &regression->with[(size_t)k * COLUMNS];
        const double value = row(regression, regression->reach - 1 - k)[1];
        for (uint32_t i = 0; i < COLUMNS; i++)
            sums[i] = sums[i] * regression->kept + oldest[i] * value;
    }
}

void weir_regression_add(struct weir_regression *regression, double value, const double *features)
{
    const double before = regression->seen > 0 ? row(regression, 0)[1] : value;

    regression->seen++;
    double *const latest = row(regression, 0);
    latest[0] = 1;
    latest[1] = value;
    latest[2] = before;
    for (uint32_t i = 0; i < WEIR_FEATURE_COUNT; i++)
        latest[OWN + i] = features[i];
    regression->largest = fmax(regression->largest, value);
    if (regression->seen > regression->reach)
        learn(regression);
}

/* ---- the answer ---- */

static uint32_t group_of(uint32_t column)
{
    return column < OWN ? (uint32_t)WEIR_FEATURE_HISTORY : weir_feature_at(column - OWN)->group;
}

static bool is_read(const struct weir_regression *regression, uint32_t column)
{
    const bool is_week =
        column == OWN + WEIR_FEATURE_WEEK_SIN || column == OWN + WEIR_FEATURE_WEEK_COS;

    if (is_week && weir_regression_learned(regression) < regression->week)
        return false;
    return column == 0 || (regression->groups >> group_of(column) & 1) != 0;
}

struct system {
    uint32_t count;
    uint32_t columns[COLUMNS];
    double scales[COLUMNS];
    double factor[COLUMNS][COLUMNS]; /* below and on the diagonal */
    double weights[COLUMNS];
};

static void choose(const struct weir_regression *regression, struct system *system)
{
    for (uint32_t i = 0; i < COLUMNS; i++) {
        const double square = regression->products[i * COLUMNS + i];
        if (!is_read(regression, i) || !(square > 0))
            continue;
        system->columns[system->count] = i;
        system->scales[system->count++] = sqrt(square);
    }
}

/* Cholesky of the scaled products and the ridge. */
static void factorise(const struct weir_regression *regression, struct system *system)
{
    for (uint32_t i = 0; i < system->count; i++)
        for (uint32_t j = 0; j <= i; j++) {
            const uint32_t at = system->columns[i] * COLUMNS + system->columns[j];
            double sum = regression->products[at] / (system->scales[i] * system->scales[j]);
            for (uint32_t k = 0; k < j; k++)
                sum -= system->factor[i][k] * system->factor[j][k];
            if (i == j)
                system->factor[i][i] = sqrt(fmax(sum, 0) + RIDGE);
            else
                system->factor[i][j] = sum / system->factor[j][j];
        }
}

static void solve(const double *with, struct system *system)
{
    double *const of = system->weights;

    for (uint32_t i = 0; i < system->count; i++) {
        of[i] = with[system->columns[i]] / system->scales[i];
        for (uint32_t k = 0; k < i; k++)
            of[i] -= system->factor[i][k] * of[k];
        of[i] /= system->factor[i][i];
    }
    for (uint32_t i = system->count; i-- > 0;) {
        for (uint32_t k = i + 1; k < system->count; k++)
            of[i] -= system->factor[k][i] * of[k];
        of[i] /= system->factor[i][i];
    }
}

double weir_regression_at(const struct weir_regression *regression, uint32_t ahead)
{
    const uint32_t k = (ahead < regression->reach ? ahead : regression->reach) - 1;
    const double *const latest = row(regression, 0);
    struct system system = { .count = 0 };
    double sum = 0;

    choose(regression, &system);
    factorise(regression, &system);
    solve(&regression->with[(size_t)k * COLUMNS], &system);
    for (uint32_t i = 0; i < system.count; i++)
        sum += system.weights[i] * latest[system.columns[i]] / system.scales[i];
    return fmax(0, fmin(sum, 2 * regression->largest));
}

void weir_regression_remember(struct weir_regression *regression, struct weir_memory *memory)
{
    const size_t reach = regression->reach;

    regression->seen = (uint64_t)weir_memory_count(memory, (int64_t)regression->seen, 0);
    weir_memory_number(memory, &regression->largest);
    for (size_t i = 0; i < (reach + 1) * COLUMNS; i++)
        weir_memory_number(memory, &regression->rows[i]);
    for (size_t i = 0; i < reach * COLUMNS; i++)
        weir_memory_number(memory, &regression->with[i]);
    for (size_t i = 0; i < (size_t)COLUMNS * COLUMNS; i++)
        weir_memory_number(memory, &regression->products[i]);
}
