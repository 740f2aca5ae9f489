/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs grouped by what they need. */
#include "weir/needs.h"

#include "sim/engine/random.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdio.h>

enum { JOBS = 1000, DIMS = 4 };

/* Inference: few CPUs, half a GPU, minutes; training: eight GPUs, hours; 10 % of deviation each. */
static void plant(double *values, uint64_t seed)
{
    static const double means[2][DIMS] = { { 0.5, 4, 16, 300 }, { 8, 64, 512, 20000 } };
    struct sim_stream stream;
    sim_stream_open(&stream, &(struct sim_random){ .seed = seed }, SIM_DRAW_ARRIVAL,
                    (struct sim_stream_key){ .item = seed });
    for (size_t i = 0; i < JOBS; i++)
        for (size_t d = 0; d < DIMS; d++)
            values[i * DIMS + d] = means[i % 3 == 0][d] * (1 + 0.1 * sim_stream_normal(&stream));
}

/* covers: S1.112 */
static void two_planted_kinds_are_found(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        static double values[JOBS * DIMS];
        uint32_t group[JOBS];
        uint32_t found = 0;
        size_t right = 0;
        plant(values, seed);
        const struct weir_needs needs = {
            .size = sizeof needs, .count = JOBS, .dims = DIMS, .groups = 2, .values = values
        };
        CHECK_I64(weir_needs_group(&needs, NULL, group, &found, NULL), WEIR_OK);
        CHECK_I64(found, 2);
        for (size_t i = 0; i < JOBS; i++)
            right += (group[i] == group[0]) == (i % 3 == 0);
        if (!CHECK(right >= JOBS * 99 / 100))
            printf("seed %llu: %zu\n", (unsigned long long)seed, right);
    }
}

/* Bytes and GPUs count the same: without a common scale the bytes alone would decide. */
static void no_unit_counts_more_than_another(void)
{
    static const double values[] = { 1, 100e9, 1, 104e9, 8, 101e9, 8, 103e9 };
    uint32_t group[4];
    uint32_t found = 0;
    const struct weir_needs needs = {
        .size = sizeof needs, .count = 4, .dims = 2, .groups = 2, .values = values
    };
    CHECK_I64(weir_needs_group(&needs, NULL, group, &found, NULL), WEIR_OK);
    CHECK(group[2] == group[3]);
    CHECK(group[0] != group[2] || group[1] != group[2]);
}

static void there_are_no_more_groups_than_kinds(void)
{
    static const double values[] = { 1, 1, 2, 2, 2 };
    uint32_t group[5];
    uint32_t found = 0;
    struct weir_needs needs = {
        .size = sizeof needs, .count = 5, .dims = 1, .groups = 4, .values = values
    };
    CHECK_I64(weir_needs_group(&needs, NULL, group, &found, NULL), WEIR_OK);
    CHECK_I64(found, 2);
    CHECK(group[0] == group[1] && group[2] == group[4] && group[0] != group[2]);
    needs.groups = 9;
    CHECK_I64(weir_needs_group(&needs, NULL, group, &found, NULL), WEIR_OK);
    CHECK_I64(found, 2);
    needs.count = 1;
    CHECK_I64(weir_needs_group(&needs, NULL, group, &found, NULL), WEIR_OK);
    CHECK_I64(found, 1);
}

static void what_is_no_need_is_refused(void)
{
    double values[] = { 1, (double)NAN };
    uint32_t group[2];
    uint32_t found = 0;
    struct weir_error error = { .phase = -1 };
    struct weir_needs needs = {
        .size = sizeof needs, .count = 2, .dims = 1, .groups = 1, .values = values
    };
    CHECK_I64(weir_needs_group(&needs, NULL, group, &found, &error), WEIR_EINVAL);
    CHECK_STR(error.text, "vector 1: nan is no need");
    needs.groups = 0;
    CHECK_I64(weir_needs_group(&needs, NULL, group, &found, &error), WEIR_EINVAL);
    CHECK_I64(weir_needs_group(NULL, NULL, group, &found, &error), WEIR_EINVAL);
    needs.size = 0;
    CHECK_I64(weir_needs_group(&needs, NULL, group, &found, &error), WEIR_EABI);
}

static const struct test tests[] = {
    { "two planted kinds are found", two_planted_kinds_are_found },
    { "no unit counts more than another", no_unit_counts_more_than_another },
    { "there are no more groups than kinds", there_are_no_more_groups_than_kinds },
    { "what is no need is refused", what_is_no_need_is_refused },
};
TEST_MAIN(tests)
