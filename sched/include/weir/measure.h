/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measurements of finished tasks, and the rolling-window estimate of a pool's speed.
 *
 * One estimator a pool keeps (task start, duration) and (task start, returns). After each append
 * the oldest are evicted while they *started* more than `window_ns` before the newest task's start
 * and more than `min_points` remain; a query evicts with its own time. Speed = 1 / mean duration in
 * tasks per second; the last valid value is kept for ever. Sums are integers (ns, items), so the
 * means do not depend on how long the run is.
 *
 * A controller whose clock gives seconds as doubles may say so (duration_s). While every task in
 * the window does, the mean is that of these doubles, exact and rounded once: with noise of the
 * last bit in it, as a scheduler that subtracts such times has it.
 */
#ifndef WEIR_MEASURE_H
#define WEIR_MEASURE_H

#include "weir/cluster.h"

WEIR_BEGIN_DECLS

/* One finished task (= one batch of a pool on one worker). Unknown fields are WEIR_NO_INDEX or 0.
 */
struct weir_measurement {
    uint32_t size; /* sizeof, for growth */
    uint32_t pool;
    int64_t start_ns;
    int64_t end_ns;
    uint32_t returns; /* items it gave back */
    uint32_t batch;   /* items it took */
    uint32_t node;
    uint32_t gpu_type;
    uint64_t worker;
    double duration_s; /* as the controller's clock gives it; 0 = end_ns - start_ns */
};

struct weir_estimator;

struct weir_window {
    int64_t window_ns;   /* 180 s in the reference */
    uint32_t min_points; /* 5 in the reference */
};

WEIR_API weir_status weir_estimator_create(const struct weir_allocator *allocator,
                                           struct weir_window window,
                                           struct weir_estimator **estimator);
/* Another window from now on; points that are too old for it go at the next task or query. */
WEIR_API weir_status weir_estimator_set_window(struct weir_estimator *estimator,
                                               struct weir_window window);
WEIR_API void weir_estimator_destroy(struct weir_estimator *estimator);
/* O(1) amortised. WEIR_EINVAL for a task that ends before it starts, WEIR_ERANGE when the durations
 * in the window sum to more than 292 years. */
WEIR_API weir_status weir_estimator_add(struct weir_estimator *estimator,
                                        const struct weir_measurement *task);

struct weir_estimate {
    double batches_per_s;     /* NAN = unknown */
    double returns_per_batch; /* NAN = unknown */
    uint32_t points;          /* in the window */
    uint32_t reserved;
};
WEIR_API struct weir_estimate weir_estimator_query(struct weir_estimator *estimator,
                                                   int64_t now_ns);

WEIR_END_DECLS

#endif
