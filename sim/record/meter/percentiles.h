/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Percentiles of times: exact while at most `limit` values came, from a histogram after that.
 *
 * Values are kept in an array that grows in powers of two. The value after the limit moves all of
 * them into the histogram (1 % buckets) and the array is given back; mean, maximum and count stay
 * exact. Percentile p of n values is the nearest rank, the ceil(p n)-th smallest.
 */
#ifndef SIM_RECORD_PERCENTILES_H
#define SIM_RECORD_PERCENTILES_H

#include "sim/record/meter/histogram.h"
#include "weir/status.h"

#include <stdbool.h>

struct sim_percentiles {
    int64_t *values; /* NULL once the histogram took over */
    size_t stored, capacity, limit;
    uint64_t count;
    double sum_ns;
    int64_t max_ns;
    struct sim_histogram *histogram; /* NULL while values are stored */
};

/* `limit` = values kept before the histogram takes over (0 = histogram from the start). */
static inline struct sim_percentiles sim_percentiles_open(size_t limit)
{
    return (struct sim_percentiles){ .limit = limit };
}
void sim_percentiles_close(struct sim_percentiles *percentiles);
/* Forgets all values, keeps the limit. */
void sim_percentiles_reset(struct sim_percentiles *percentiles);

/* The rare half of sim_percentiles_add: no room in the array. */
void sim_percentiles_grow(struct sim_percentiles *percentiles, int64_t value_ns);

static inline void sim_percentiles_add(struct sim_percentiles *percentiles, int64_t value_ns)
{
    percentiles->count++;
    percentiles->sum_ns += (double)value_ns;
    if (value_ns > percentiles->max_ns)
        percentiles->max_ns = value_ns;
    if (percentiles->stored < percentiles->capacity)
        percentiles->values[percentiles->stored++] = value_ns;
    else
        sim_percentiles_grow(percentiles, value_ns);
}

static inline bool sim_percentiles_is_exact(const struct sim_percentiles *percentiles)
{
    return percentiles->histogram == NULL;
}

/* Values that are not known yet but at least this long (`ages_ns` may be NULL: at least 0). */
struct sim_censored {
    uint64_t count;
    const int64_t *ages_ns;
};

/* Ages at the end of what is not over, as they are told. */
struct sim_ages {
    int64_t *list;
    uint32_t count, capacity;
};
/* WEIR_ENOMEM: as before. */
weir_status sim_ages_add(struct sim_ages *ages, int64_t age_ns);
void sim_ages_clear(struct sim_ages *ages);
static inline struct sim_censored sim_ages_censored(const struct sim_ages *ages)
{
    return (struct sim_censored){ .count = ages->count, .ages_ns = ages->list };
}

/* Percentile `share` (0 < share <= 1) of the known and the censored values together, in ns. Below
 * the censored ones it is exact; when it reaches into them, `is_lower_bound` is set and the result
 * is the smallest value the ages allow. -1 when there is no value at all or no memory. Reorders
 * the stored values. O(n). */
int64_t sim_percentiles_at(struct sim_percentiles *percentiles, double share,
                           const struct sim_censored *censored, bool *is_lower_bound);

/* Adds all known values to a histogram. */
void sim_percentiles_fill(const struct sim_percentiles *percentiles,
                          struct sim_histogram *histogram);

#endif
