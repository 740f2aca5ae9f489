/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All waiting jobs in an order of a policy's own: for passes that must see every job anyway, or in
 * another order than that of their keys. Cost: O(waiting log waiting) a list.
 */
#ifndef SCHED_QUEUEING_LISTED_H
#define SCHED_QUEUEING_LISTED_H

#include "weir/tenant.h"

struct weir_listed_job {
    struct weir_job job;
    double rank; /* the smallest first; of equals the one submitted first, then workload and id */
};

struct weir_listed {
    struct weir_allocator allocator;
    struct weir_listed_job *all;
    uint32_t count, capacity;
};

void weir_listed_open(struct weir_listed *listed, const struct weir_allocator *allocator);
void weir_listed_close(struct weir_listed *listed);
/* Of every waiting job, all ranks 0. WEIR_ENOMEM. */
weir_status weir_listed_fill(struct weir_listed *listed, const struct weir_view *view);
/* By their ranks. */
void weir_listed_sort(struct weir_listed *listed);

#endif
