/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A log-bucket histogram of times: mergeable, fixed size, one addition a value.
 *
 * Values are nanoseconds >= 0. Below 128 ns every value has its own bucket; above, each power of
 * two is cut into 128 equal parts, so that a bucket [low, low + width) has width / low < 1 % and a
 * value needs a few bit operations, no logarithm. Histograms with equal counts are equal, in
 * whatever order values came or parts were merged.
 */
#ifndef SIM_RECORD_HISTOGRAM_H
#define SIM_RECORD_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

enum {
    SIM_HISTOGRAM_BITS = 7,
    SIM_HISTOGRAM_PARTS = 1 << SIM_HISTOGRAM_BITS,
    SIM_HISTOGRAM_BUCKETS = (64 - SIM_HISTOGRAM_BITS) * SIM_HISTOGRAM_PARTS
};

/* 57 KiB; the owner zeroes it. Invariant: count = sum of buckets. */
struct sim_histogram {
    uint64_t count;
    uint64_t buckets[SIM_HISTOGRAM_BUCKETS];
};

/* The bucket of a value; negative values count as 0. */
static inline size_t sim_histogram_bucket(int64_t value_ns)
{
    const uint64_t value = value_ns > 0 ? (uint64_t)value_ns : 0;
    if (value < SIM_HISTOGRAM_PARTS)
        return (size_t)value;
    const unsigned shift = 63U - (unsigned)__builtin_clzll(value) - SIM_HISTOGRAM_BITS;
    /* The leading bit of value >> shift carries into the number of the octave. */
    return ((size_t)shift << SIM_HISTOGRAM_BITS) + (size_t)(value >> shift);
}

static inline void sim_histogram_add(struct sim_histogram *histogram, int64_t value_ns)
{
    histogram->count++;
    histogram->buckets[sim_histogram_bucket(value_ns)]++;
}

/* Takes back one value that was added before. */
static inline void sim_histogram_remove(struct sim_histogram *histogram, int64_t value_ns)
{
    histogram->count--;
    histogram->buckets[sim_histogram_bucket(value_ns)]--;
}

/* The smallest value of a bucket, and the number of integers in it. */
int64_t sim_histogram_low(size_t bucket);
int64_t sim_histogram_width(size_t bucket);

/* Adds all counts of `from`. */
void sim_histogram_merge(struct sim_histogram *histogram, const struct sim_histogram *from);

/* The middle of the bucket that holds the value of this rank (1 = smallest): within 0.4 % of it.
 * `rank` must be in 1..count. O(buckets). */
int64_t sim_histogram_rank(const struct sim_histogram *histogram, uint64_t rank);

#endif
