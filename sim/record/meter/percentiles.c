/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Exact percentiles by selection, and the hand-over to the histogram.
 *
 * Invariant: either all `count` values are in the array and there is no histogram, or all are in
 * the histogram and there is no array.
 */
#include "sim/record/meter/percentiles.h"

#include "sim/engine/room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 1024 };

void sim_percentiles_close(struct sim_percentiles *percentiles)
{
    free(percentiles->values);
    free(percentiles->histogram);
    *percentiles = (struct sim_percentiles){ 0 };
}

void sim_percentiles_reset(struct sim_percentiles *percentiles)
{
    percentiles->stored = 0;
    percentiles->count = 0;
    percentiles->sum_ns = 0.0;
    percentiles->max_ns = 0;
    free(percentiles->histogram);
    percentiles->histogram = NULL;
}

void sim_percentiles_fill(const struct sim_percentiles *percentiles,
                          struct sim_histogram *histogram)
{
    for (size_t i = 0; i < percentiles->stored; i++)
        sim_histogram_add(histogram, percentiles->values[i]);
    if (percentiles->histogram)
        sim_histogram_merge(histogram, percentiles->histogram);
}

/* From now on the histogram alone: the first time it is there. Most are of few values. */
static void hand_over(struct sim_percentiles *percentiles)
{
    if (!percentiles->histogram)
        percentiles->histogram = calloc(1, sizeof *percentiles->histogram);
    if (!percentiles->histogram)
        abort(); /* as the arena does */
    for (size_t i = 0; i < percentiles->stored; i++)
        sim_histogram_add(percentiles->histogram, percentiles->values[i]);
    free(percentiles->values);
    percentiles->values = NULL;
    percentiles->stored = percentiles->capacity = 0;
}

void sim_percentiles_grow(struct sim_percentiles *percentiles, int64_t value_ns)
{
    const bool may_store = !percentiles->histogram && percentiles->stored < percentiles->limit;
    size_t capacity = percentiles->capacity ? 2 * percentiles->capacity : FIRST_CAPACITY;
    if (capacity > percentiles->limit)
        capacity = percentiles->limit;
    /* Without memory for the array the histogram still gives every percentile within 1 %. */
    int64_t *values = may_store ? realloc(percentiles->values, capacity * sizeof *values) : NULL;
    if (!values) {
        hand_over(percentiles);
        sim_histogram_add(percentiles->histogram, value_ns);
        return;
    }
    percentiles->values = values;
    percentiles->capacity = capacity;
    percentiles->values[percentiles->stored++] = value_ns;
}

static inline void swap(int64_t *values, ptrdiff_t i, ptrdiff_t j)
{
    const int64_t value = values[i];
    values[i] = values[j];
    values[j] = value;
}

static int64_t median_of_3(int64_t a, int64_t b, int64_t c)
{
    if (a > b)
        return b > c ? b : (a < c ? a : c);
    return a > c ? a : (b < c ? b : c);
}

/* The value at index `k` in sorted order (Hoare's FIND, CACM 4(7), 1961). Who equals the pivot
 * changes sides, so that ties halve the rest as other values do: all values equal is the common
 * case with constant service times. */
static int64_t select_value(int64_t *values, size_t count, size_t k)
{
    ptrdiff_t low = 0;
    ptrdiff_t high = (ptrdiff_t)count - 1; /* k is in [low, high] */
    while (low < high) {
        const int64_t pivot =
            median_of_3(values[low], values[low + (high - low) / 2], values[high]);
        ptrdiff_t i = low;
        ptrdiff_t j = high;
        while (i <= j) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i <= j)
                swap(values, i++, j--);
        }
        if ((ptrdiff_t)k <= j)
            high = j;
        else if ((ptrdiff_t)k >= i)
            low = i;
        else
            break; /* between them lies the pivot alone */
    }
    return values[k];
}

/* Rank among the known values alone, 1 = smallest. */
static int64_t known_rank(struct sim_percentiles *percentiles, uint64_t rank)
{
    if (sim_percentiles_is_exact(percentiles))
        return select_value(percentiles->values, percentiles->stored, (size_t)rank - 1);
    const int64_t value = sim_histogram_rank(percentiles->histogram, rank);
    return value < percentiles->max_ns ? value : percentiles->max_ns;
}

/* Rank among known values and ages together. */
static int64_t joint_rank(struct sim_percentiles *percentiles, const struct sim_censored *censored,
                          uint64_t rank)
{
    if (!censored->ages_ns) /* they count as 0, below all others */
        return rank > censored->count ? known_rank(percentiles, rank - censored->count) : 0;
    const size_t ages = (size_t)censored->count;
    if (!sim_percentiles_is_exact(percentiles)) {
        for (size_t i = 0; i < ages; i++)
            sim_histogram_add(percentiles->histogram, censored->ages_ns[i]);
        const int64_t value = sim_histogram_rank(percentiles->histogram, rank);
        for (size_t i = 0; i < ages; i++)
            sim_histogram_remove(percentiles->histogram, censored->ages_ns[i]);
        return value;
    }
    int64_t *all = malloc((percentiles->stored + ages) * sizeof *all);
    if (!all)
        return -1;
    if (percentiles->stored > 0)
        memcpy(all, percentiles->values, percentiles->stored * sizeof *all);
    memcpy(all + percentiles->stored, censored->ages_ns, ages * sizeof *all);
    const int64_t value = select_value(all, percentiles->stored + ages, (size_t)rank - 1);
    free(all);
    return value;
}

static uint64_t rank_of(double share, uint64_t all)
{
    /* The small term keeps 0.95 * 100 at 95 although 0.95 is a little more than 95/100. */
    double rank = ceil(share * (double)all - 1e-9 * (double)all);
    rank = rank < 1.0 ? 1.0 : rank;
    return rank > (double)all ? all : (uint64_t)rank;
}

/* A bound is no lower than a smaller percentile that stands beside it and is known. */
static int64_t above_known(struct sim_percentiles *percentiles, double share, uint64_t all,
                           int64_t bound)
{
    static const double reported[] = { 0.5, 0.95 };
    for (size_t i = 0; i < sizeof reported / sizeof reported[0]; i++) {
        const uint64_t rank = rank_of(reported[i], all);
        if (reported[i] >= share || rank > percentiles->count)
            continue;
        const int64_t known = known_rank(percentiles, rank);
        bound = known > bound ? known : bound;
    }
    return bound;
}

int64_t sim_percentiles_at(struct sim_percentiles *percentiles, double share,
                           const struct sim_censored *censored, bool *is_lower_bound)
{
    *is_lower_bound = false;
    const uint64_t all = percentiles->count + censored->count;
    if (all == 0)
        return -1;
    const uint64_t wanted = rank_of(share, all);
    if (wanted <= percentiles->count)
        return known_rank(percentiles, wanted);
    *is_lower_bound = true;
    return above_known(percentiles, share, all, joint_rank(percentiles, censored, wanted));
}

/* ---- what is not over ---- */

weir_status sim_ages_add(struct sim_ages *ages, int64_t age_ns)
{
    SIM_ROOM(ages->list, ages->capacity, ages->count + 1);
    ages->list[ages->count++] = age_ns;
    return WEIR_OK;
}

void sim_ages_clear(struct sim_ages *ages)
{
    free(ages->list);
    *ages = (struct sim_ages){ 0 };
}
