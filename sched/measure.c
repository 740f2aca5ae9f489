/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rolling-window estimator of one pool: a ring of (task start, duration, returns).
 *
 * Durations and returns are whole numbers, so the running sums are exact whatever is added and
 * evicted: a mean is one division and does not depend on how long the run is. Durations that a
 * clock gave as doubles are summed anew at each query, with compensation, for the same reason.
 */
#include "weir/measure.h"

#include "sched/internal/alloc.h"

#include <math.h>
#include <string.h>

static const double NS_PER_S = 1e9;

struct point {
    int64_t start_ns;
    int64_t duration_ns;
    double duration_s; /* 0 = not given */
    uint32_t returns;
};

struct weir_estimator {
    struct weir_allocator allocator;
    struct weir_window window;
    struct point *points; /* ring */
    uint32_t capacity;
    uint32_t first;
    uint32_t count;
    uint32_t in_seconds; /* points with duration_s */
    int64_t duration_sum_ns;
    uint64_t returns_sum;
    double last_speed_per_s; /* the last valid ones, NAN before */
    double last_returns;
};

weir_status weir_estimator_create(const struct weir_allocator *allocator, struct weir_window window,
                                  struct weir_estimator **estimator)
{
    const struct weir_allocator memory = weir_allocator_copy(allocator);

    if (window.window_ns < 0)
        return WEIR_EINVAL;
    struct weir_estimator *const made = weir_alloc(&memory, 1, sizeof *made);
    if (made == NULL)
        return WEIR_ENOMEM;
    made->allocator = memory;
    made->window = window;
    made->last_speed_per_s = (double)NAN;
    made->last_returns = (double)NAN;
    *estimator = made;
    return WEIR_OK;
}

weir_status weir_estimator_set_window(struct weir_estimator *estimator, struct weir_window window)
{
    if (window.window_ns < 0)
        return WEIR_EINVAL;
    estimator->window = window;
    return WEIR_OK;
}

void weir_estimator_destroy(struct weir_estimator *estimator)
{
    if (estimator == NULL)
        return;
    const struct weir_allocator memory = estimator->allocator;
    weir_free(&memory, estimator->points);
    weir_free(&memory, estimator);
}

/* A larger ring. What lies between its first point and its end moves to the new end. */
static weir_status ring_grow(struct weir_estimator *estimator)
{
    const uint32_t old = estimator->capacity;
    uint32_t capacity = old;

    struct point *const points =
        weir_grow(&estimator->allocator, estimator->points, &capacity, old + 1, sizeof *points);
    if (points == NULL)
        return WEIR_ENOMEM;
    const uint32_t tail = old - estimator->first;
    memmove(points + capacity - tail, points + estimator->first, tail * sizeof *points);
    estimator->first = (capacity - tail) % capacity; /* an empty one begins at 0 */
    estimator->points = points;
    estimator->capacity = capacity;
    return WEIR_OK;
}

static void evict(struct weir_estimator *estimator, int64_t now_ns)
{
    while (estimator->count > estimator->window.min_points) {
        const struct point *const oldest = &estimator->points[estimator->first];
        int64_t age_ns;
        if (__builtin_sub_overflow(now_ns, oldest->start_ns, &age_ns))
            age_ns = now_ns > oldest->start_ns ? INT64_MAX : INT64_MIN;
        if (age_ns <= estimator->window.window_ns)
            break;
        estimator->duration_sum_ns -= oldest->duration_ns;
        estimator->returns_sum -= oldest->returns;
        estimator->in_seconds -= oldest->duration_s > 0;
        estimator->first = (estimator->first + 1) % estimator->capacity;
        estimator->count--;
    }
}

/* The mean of durations in seconds as if summed and divided exactly and rounded once: compensated
 * sum (Neumaier 1974), then a quotient corrected by its remainder. */
static double mean_of_seconds(const struct weir_estimator *estimator)
{
    const double count = estimator->count;
    double sum = 0;
    double lost = 0;

    for (uint32_t i = 0; i < estimator->count; i++) {
        const double next =
            estimator->points[(estimator->first + i) % estimator->capacity].duration_s;
        const double grown = sum + next;
        lost += sum >= next ? sum - grown + next : next - grown + sum;
        sum = grown;
    }
    const double quotient = (sum + lost) / count;
    return quotient + (fma(-quotient, count, sum) + lost) / count;
}

/* Keeps the last valid values: they outlive the points they came from. */
static void remember(struct weir_estimator *estimator)
{
    if (estimator->count == 0)
        return;
    const double count = estimator->count;
    if (estimator->in_seconds == estimator->count)
        estimator->last_speed_per_s = 1 / mean_of_seconds(estimator);
    else if (estimator->duration_sum_ns > 0)
        estimator->last_speed_per_s = count * NS_PER_S / (double)estimator->duration_sum_ns;
    estimator->last_returns = (double)estimator->returns_sum / count;
}

weir_status weir_estimator_add(struct weir_estimator *estimator,
                               const struct weir_measurement *task)
{
    struct point point = { .start_ns = task->start_ns, .returns = task->returns };
    int64_t sum_ns;

    if (task->size >= sizeof *task && task->duration_s > 0 && !isinf(task->duration_s))
        point.duration_s = task->duration_s;
    if (__builtin_sub_overflow(task->end_ns, task->start_ns, &point.duration_ns) ||
        point.duration_ns < 0)
        return WEIR_EINVAL;
    if (__builtin_add_overflow(estimator->duration_sum_ns, point.duration_ns, &sum_ns))
        return WEIR_ERANGE;
    if (estimator->count == estimator->capacity)
        WEIR_TRY(ring_grow(estimator));
    estimator->points[(estimator->first + estimator->count) % estimator->capacity] = point;
    estimator->count++;
    estimator->duration_sum_ns = sum_ns;
    estimator->returns_sum += point.returns;
    estimator->in_seconds += point.duration_s > 0;
    evict(estimator, task->start_ns);
    return WEIR_OK;
}

struct weir_estimate weir_estimator_query(struct weir_estimator *estimator, int64_t now_ns)
{
    if (estimator->window.min_points == 0)
        remember(estimator); /* the eviction may leave nothing */
    evict(estimator, now_ns);
    remember(estimator);
    return (struct weir_estimate){
        .batches_per_s = estimator->last_speed_per_s,
        .returns_per_batch = estimator->last_returns,
        .points = estimator->count,
    };
}
