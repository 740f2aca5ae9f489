/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading and merging of the log-bucket histogram; adding is inline in the header.
 *
 * Bucket b >= 256 covers (128 + b % 128) << (b / 128 - 1) and the values up to the next bucket;
 * smaller ones hold a single integer.
 */
#include "sim/record/meter/histogram.h"

#include <assert.h>

int64_t sim_histogram_low(size_t bucket)
{
    if (bucket < SIM_HISTOGRAM_PARTS)
        return (int64_t)bucket;
    const size_t shift = (bucket >> SIM_HISTOGRAM_BITS) - 1;
    const uint64_t part = SIM_HISTOGRAM_PARTS + (bucket & (SIM_HISTOGRAM_PARTS - 1));
    return (int64_t)(part << shift);
}

int64_t sim_histogram_width(size_t bucket)
{
    if (bucket < SIM_HISTOGRAM_PARTS)
        return 1;
    return INT64_C(1) << ((bucket >> SIM_HISTOGRAM_BITS) - 1);
}

void sim_histogram_merge(struct sim_histogram *histogram, const struct sim_histogram *from)
{
    histogram->count += from->count;
    for (size_t b = 0; b < SIM_HISTOGRAM_BUCKETS; b++)
        histogram->buckets[b] += from->buckets[b];
}

int64_t sim_histogram_rank(const struct sim_histogram *histogram, uint64_t rank)
{
    assert(rank >= 1 && rank <= histogram->count);
    uint64_t seen = 0;
    size_t bucket = 0;
    while (seen + histogram->buckets[bucket] < rank)
        seen += histogram->buckets[bucket++];
    return sim_histogram_low(bucket) + sim_histogram_width(bucket) / 2;
}
