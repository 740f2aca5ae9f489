/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The log-bucket histogram and the percentiles that hand over to it.
 */
#include "sim/record/meter/histogram.h"
#include "sim/record/meter/percentiles.h"
#include "tests/support/check.h"

#include <stdlib.h>
#include <string.h>

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void buckets_tile_the_line(void)
{
    for (size_t b = 0; b + 1 < SIM_HISTOGRAM_BUCKETS; b++) {
        const int64_t low = sim_histogram_low(b);
        const int64_t width = sim_histogram_width(b);
        if (low + width != sim_histogram_low(b + 1) || sim_histogram_bucket(low) != b ||
            sim_histogram_bucket(low + width - 1) != b) {
            CHECK_I64(b, -1); /* names the bucket */
            return;
        }
        if (width > 1)
            CHECK((double)width / (double)low < 0.01);
    }
    CHECK_I64(sim_histogram_bucket(INT64_MAX), SIM_HISTOGRAM_BUCKETS - 1);
    CHECK_I64(sim_histogram_bucket(-5), 0);
}

static void merging_parts_in_any_order_gives_the_whole(void)
{
    struct sim_histogram *parts = calloc(4, sizeof *parts);
    uint64_t state = 7;
    for (int i = 0; i < 30000; i++) {
        const int64_t value = (int64_t)(next_random(&state) >> (state % 50 + 2));
        sim_histogram_add(&parts[i % 3], value);
        sim_histogram_add(&parts[3], value);
    }
    struct sim_histogram *sums = calloc(2, sizeof *sums);
    for (int i = 0; i < 3; i++) {
        sim_histogram_merge(&sums[0], &parts[i]);
        sim_histogram_merge(&sums[1], &parts[2 - i]);
    }
    CHECK(memcmp(&sums[0], &parts[3], sizeof *sums) == 0);
    CHECK(memcmp(&sums[1], &parts[3], sizeof *sums) == 0);
    free(sums);
    free(parts);
}

static bool percentile_is(struct sim_percentiles *p, double share, int64_t expected)
{
    bool is_lower_bound = true;
    const int64_t value =
        sim_percentiles_at(p, share, &(struct sim_censored){ 0 }, &is_lower_bound);
    return CHECK_I64(value, expected) && CHECK(!is_lower_bound);
}

static void percentiles_of_few_values_are_nearest_ranks(void)
{
    struct sim_percentiles p;
    p = sim_percentiles_open(100);
    percentile_is(&p, 0.5, -1);
    for (int64_t i = 100; i >= 1; i--)
        sim_percentiles_add(&p, i * 10);
    CHECK(sim_percentiles_is_exact(&p));
    percentile_is(&p, 0.5, 500);
    percentile_is(&p, 0.95, 950);
    percentile_is(&p, 0.99, 990);
    percentile_is(&p, 0.991, 1000);
    percentile_is(&p, 1.0, 1000);
    percentile_is(&p, 0.0001, 10);
    CHECK_I64(p.max_ns, 1000);
    CHECK_NEAR(p.sum_ns, 50500.0, 0.0);
    sim_percentiles_close(&p);
}

static void percentiles_of_equal_values_are_that_value(void)
{
    struct sim_percentiles p;
    p = sim_percentiles_open(1000000);
    for (int i = 0; i < 100000; i++)
        sim_percentiles_add(&p, 42);
    percentile_is(&p, 0.5, 42);
    percentile_is(&p, 0.99, 42);
    sim_percentiles_close(&p);
}

static int compare(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a;
    const int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void percentiles_agree_with_sorting_and_the_histogram_within_one_percent(void)
{
    enum { COUNT = 20011 };
    struct sim_percentiles exact;
    struct sim_percentiles coarse;
    int64_t *sorted = malloc(COUNT * sizeof *sorted);
    exact = sim_percentiles_open(COUNT);
    coarse = sim_percentiles_open(5000);
    uint64_t state = 99;
    for (size_t i = 0; i < COUNT; i++) {
        sorted[i] = (int64_t)(next_random(&state) >> (20 + state % 30));
        sim_percentiles_add(&exact, sorted[i]);
        sim_percentiles_add(&coarse, sorted[i]);
    }
    qsort(sorted, COUNT, sizeof *sorted, compare);
    CHECK(sim_percentiles_is_exact(&exact));
    CHECK(!sim_percentiles_is_exact(&coarse));
    CHECK_I64(coarse.count, COUNT);
    CHECK_I64(coarse.histogram->count, COUNT);
    for (int percent = 1; percent <= 100; percent++) {
        const size_t rank = ((size_t)percent * COUNT + 99) / 100;
        const double expected = (double)sorted[rank - 1];
        percentile_is(&exact, percent / 100.0, sorted[rank - 1]);
        bool is_lower_bound = false;
        const int64_t near = sim_percentiles_at(&coarse, percent / 100.0,
                                                &(struct sim_censored){ 0 }, &is_lower_bound);
        CHECK_NEAR((double)near, expected, 0.005 * expected + 1.0);
    }
    free(sorted);
    sim_percentiles_close(&exact);
    sim_percentiles_close(&coarse);
}

static void a_percentile_among_censored_values_is_a_lower_bound(void)
{
    struct sim_percentiles stored;
    struct sim_percentiles bucketed;
    stored = sim_percentiles_open(100);
    bucketed = sim_percentiles_open(0);
    for (int64_t i = 1; i <= 90; i++) {
        sim_percentiles_add(&stored, i);
        sim_percentiles_add(&bucketed, i);
    }
    int64_t ages[10];
    for (int i = 0; i < 10; i++)
        ages[i] = 51 + 10 * i; /* 51 .. 141: five of them above 90 */
    const struct sim_censored inside = { 10, ages };
    struct sim_percentiles *both[] = { &stored, &bucketed };
    for (int i = 0; i < 2; i++) {
        bool is_lower_bound = true;
        CHECK_I64(sim_percentiles_at(both[i], 0.9, &inside, &is_lower_bound), 90);
        CHECK(!is_lower_bound);
        /* rank 95 of 100: 85 + five ages lie below 91, so it is the smallest age of the rest */
        const int64_t p96 = sim_percentiles_at(both[i], 0.96, &inside, &is_lower_bound);
        CHECK_NEAR((double)p96, 101.0, 0.0);
        CHECK(is_lower_bound);
        const int64_t p100 = sim_percentiles_at(both[i], 1.0, &inside, &is_lower_bound);
        CHECK_NEAR((double)p100, 141.0, 1.0);
        CHECK(is_lower_bound);
        CHECK_I64(both[i]->count, 90);
        const struct sim_censored ageless = { 10, NULL };
        CHECK_I64(sim_percentiles_at(both[i], 0.95, &ageless, &is_lower_bound), 85);
        CHECK(is_lower_bound);
    }
    sim_percentiles_close(&stored);
    sim_percentiles_close(&bucketed);
}

/* Of 95 that are over, 1 to 95, and five that have just begun: the 95th is known, and rank 96 of
 * all would be the 91st of the known. */
static void a_bound_is_not_below_a_percentile_that_is_known(void)
{
    const int64_t ages[5] = { 0 };
    for (size_t keep = 0; keep <= 100; keep += 100) {
        struct sim_percentiles values;
        bool is_lower_bound = false;
        values = sim_percentiles_open(keep);
        for (int64_t i = 1; i <= 95; i++)
            sim_percentiles_add(&values, i);
        CHECK_I64(
            sim_percentiles_at(&values, 0.96, &(struct sim_censored){ 5, ages }, &is_lower_bound),
            95);
        CHECK(is_lower_bound);
        sim_percentiles_close(&values);
    }
}

/* The rank is the least that covers the share, whatever the share is in binary. */
static void ranks_are_those_of_whole_percents(void)
{
    struct sim_percentiles values;
    const struct sim_censored none = { .count = 0 };
    bool is_bound = false;
    values = sim_percentiles_open(4096);
    for (int64_t n = 1; n <= 300; n++) {
        sim_percentiles_add(&values, n);
        for (int64_t percent = 1; percent <= 100; percent++) {
            const int64_t rank = (percent * n + 99) / 100;
            if (sim_percentiles_at(&values, (double)percent / 100, &none, &is_bound) != rank) {
                CHECK_I64(n, percent); /* names the case */
                return;
            }
        }
    }
    CHECK_I64(values.count, 300);
    sim_percentiles_close(&values);
}

static void no_percentile_is_above_the_greatest_value(void)
{
    const struct sim_censored none = { .count = 0 };
    bool is_bound = false;
    for (int64_t value = 900; value < 1100; value++) {
        struct sim_percentiles values;
        values = sim_percentiles_open(0);
        sim_percentiles_add(&values, value);
        CHECK(sim_percentiles_at(&values, 0.99, &none, &is_bound) <= value);
        sim_percentiles_close(&values);
    }
}

static const struct test tests[] = {
    { "buckets tile the line and are narrower than one percent", buckets_tile_the_line },
    { "merging parts in any order gives the whole", merging_parts_in_any_order_gives_the_whole },
    { "percentiles of few values are nearest ranks", percentiles_of_few_values_are_nearest_ranks },
    { "percentiles of equal values are that value", percentiles_of_equal_values_are_that_value },
    { "percentiles agree with sorting, the histogram within one percent",
      percentiles_agree_with_sorting_and_the_histogram_within_one_percent },
    { "a percentile among censored values is a lower bound",
      a_percentile_among_censored_values_is_a_lower_bound },
    { "a bound is not below a percentile that is known",
      a_bound_is_not_below_a_percentile_that_is_known },
    { "ranks are those of whole percents", ranks_are_those_of_whole_percents },
    { "no percentile is above the greatest value", no_percentile_is_above_the_greatest_value },
};
TEST_MAIN(tests)
