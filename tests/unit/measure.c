/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The estimator: which tasks count, what is remembered, and that sums stay exact.
 */
#include "weir/measure.h"
#include "tests/support/check.h"
#include "tests/support/pipeline.h"

#include <math.h>

static const int64_t S = 1000000000;

static struct weir_estimator *make(int64_t window_s, uint32_t min_points)
{
    const struct weir_window window = { .window_ns = window_s * S, .min_points = min_points };
    struct weir_estimator *estimator = NULL;

    CHECK(weir_estimator_create(NULL, window, &estimator) == WEIR_OK);
    return estimator;
}

static weir_status add(struct weir_estimator *estimator, int64_t start_ns, int64_t end_ns,
                       uint32_t returns)
{
    const struct weir_measurement task = {
        .size = sizeof task, .start_ns = start_ns, .end_ns = end_ns, .returns = returns
    };

    return weir_estimator_add(estimator, &task);
}

static void nothing_is_unknown(void)
{
    struct weir_estimator *const estimator = make(180, 5);
    const struct weir_estimate estimate = weir_estimator_query(estimator, 0);

    CHECK(isnan(estimate.batches_per_s) && isnan(estimate.returns_per_batch));
    CHECK_I64(estimate.points, 0);
    weir_estimator_destroy(estimator);
}

/* covers: S0.32 */
static void five_points_outlive_the_window(void)
{
    struct weir_estimator *const estimator = make(180, 5);

    for (int64_t i = 0; i < 10; i++)
        CHECK(add(estimator, 2 * i * S, (2 * i + 2) * S, 1) == WEIR_OK);
    CHECK_I64(weir_estimator_query(estimator, 20 * S).points, 10);
    const struct weir_estimate later = weir_estimator_query(estimator, 620 * S);
    CHECK_I64(later.points, 5);
    CHECK_NEAR(later.batches_per_s, 0.5, 0);
    weir_estimator_destroy(estimator);
}

/* covers: S0.32 */
static void a_task_longer_than_the_window_counts_when_it_ends(void)
{
    struct weir_estimator *const estimator = make(180, 0);

    CHECK(add(estimator, 0, 400 * S, 1) == WEIR_OK);
    const struct weir_estimate at_end = weir_estimator_query(estimator, 400 * S);
    CHECK_NEAR(at_end.batches_per_s, 1.0 / 400, 1e-18);
    CHECK_I64(at_end.points, 0); /* old by its start, remembered all the same */
    weir_estimator_destroy(estimator);
}

static void age_counts_from_the_start_and_strictly(void)
{
    struct weir_estimator *const estimator = make(10, 1);

    CHECK(add(estimator, 0, 1 * S, 1) == WEIR_OK);
    CHECK(add(estimator, 10 * S, 13 * S, 1) == WEIR_OK);
    CHECK_I64(weir_estimator_query(estimator, 10 * S).points, 2);
    CHECK_I64(weir_estimator_query(estimator, 10 * S + 1).points, 1);
    CHECK_NEAR(weir_estimator_query(estimator, 11 * S).batches_per_s, 1.0 / 3, 1e-17);
    weir_estimator_destroy(estimator);
}

static void bad_tasks_are_refused(void)
{
    struct weir_estimator *const estimator = make(180, 5);

    CHECK_I64(add(estimator, 5, 4, 1), WEIR_EINVAL);
    CHECK(add(estimator, 0, INT64_MAX, 1) == WEIR_OK);
    CHECK_I64(add(estimator, 0, INT64_MAX, 1), WEIR_ERANGE);
    CHECK_I64(weir_estimator_query(estimator, 0).points, 1);
    weir_estimator_destroy(estimator);
}

/* A million points through a small window leave no rounding behind. */
static void sums_stay_exact_however_long(void)
{
    struct weir_estimator *const estimator = make(1, 3);

    for (int64_t i = 0; i < 300000; i++)
        CHECK(add(estimator, i * S / 10, i * S / 10 + (i % 7 + 1) * 333333333, 3) == WEIR_OK);
    for (int64_t i = 0; i < 8; i++)
        CHECK(add(estimator, (40000 + i) * S, (40001 + i) * S, 2) == WEIR_OK);
    const struct weir_estimate estimate = weir_estimator_query(estimator, 40007 * S);
    CHECK_NEAR(estimate.batches_per_s, 1.0, 0);
    CHECK_NEAR(estimate.returns_per_batch, 2.0, 0);
    CHECK_I64(estimate.points, 3);
    weir_estimator_destroy(estimator);
}

/* Slow tasks, so that the oldest are gone and the list has come round, then so many at once that it
 * must grow again and again: all that started in the last 1000 s count. */
static void many_points_after_few_all_count(void)
{
    enum { SLOW = 5000, FAST = 60000, KEPT = 1001 };
    struct weir_estimator *const estimator = make(KEPT - 1, 1);
    int64_t sum_s = 0;

    for (int64_t i = 0; i < SLOW + FAST; i++) {
        const int64_t start_s = i < SLOW ? i : SLOW - 1;
        const int64_t length_s = i % 11 + 1;
        sum_s += i >= SLOW - KEPT ? length_s : 0;
        if (!CHECK(add(estimator, start_s * S, (start_s + length_s) * S, 1) == WEIR_OK))
            break;
    }
    const struct weir_estimate estimate = weir_estimator_query(estimator, (SLOW - 1) * S);
    CHECK_I64(estimate.points, KEPT + FAST);
    CHECK_NEAR(estimate.batches_per_s, (KEPT + FAST) / (double)sum_s, 1e-15);
    weir_estimator_destroy(estimator);
}

/* Five tasks of 3.9 s by a clock that counts tenths in doubles. Expected is 1 / statistics.mean of
 * Python, which sums fractions; a plain sum of the doubles, and the exact 3.9 s, differ from it. */
static void the_noise_of_a_clock_is_kept(void)
{
    struct weir_estimator *const estimator = make(180, 5);

    for (int64_t i = 0; i < 5; i++) {
        const struct weir_measurement task = {
            .size = sizeof task,
            .start_ns = i * S / 10,
            .end_ns = (i + 39) * S / 10,
            .returns = 1,
            .duration_s = (double)(i + 39) * 0.1 - (double)i * 0.1,
        };
        CHECK_I64(weir_estimator_add(estimator, &task), WEIR_OK);
    }
    CHECK_NEAR(weir_estimator_query(estimator, 4 * S).batches_per_s, 0x1.069069069069p-2, 0);
    CHECK(add(estimator, 0, S, 1) == WEIR_OK); /* by another clock: whole ns for all */
    CHECK_NEAR(weir_estimator_query(estimator, 4 * S).batches_per_s, 6e9 / 20.5e9, 0);
    weir_estimator_destroy(estimator);
}

static void running_out_of_memory_leaves_it_whole(void)
{
    struct test_memory memory = { .fail_at = 2 };
    const struct weir_allocator allocator = test_allocator(&memory);
    const struct weir_window window = { .window_ns = S, .min_points = 1 };
    struct weir_estimator *estimator = NULL;

    CHECK(weir_estimator_create(&allocator, window, &estimator) == WEIR_OK);
    CHECK_I64(add(estimator, 0, S, 1), WEIR_ENOMEM);
    CHECK(add(estimator, 0, 2 * S, 1) == WEIR_OK);
    CHECK_NEAR(weir_estimator_query(estimator, 0).batches_per_s, 0.5, 0);
    weir_estimator_destroy(estimator);
    CHECK_I64(memory.blocks, 0);
}

static const struct test tests[] = {
    { "an estimator without tasks knows nothing", nothing_is_unknown },
    { "five points outlive the window", five_points_outlive_the_window },
    { "a task longer than the window counts when it ends",
      a_task_longer_than_the_window_counts_when_it_ends },
    { "age counts from the start, strictly", age_counts_from_the_start_and_strictly },
    { "tasks that end before they start or overflow are refused", bad_tasks_are_refused },
    { "sums stay exact however long it runs", sums_stay_exact_however_long },
    { "many points after few all count", many_points_after_few_all_count },
    { "the noise of a controller's clock is kept", the_noise_of_a_clock_is_kept },
    { "running out of memory leaves an estimator whole", running_out_of_memory_leaves_it_whole },
};

TEST_MAIN(tests)
