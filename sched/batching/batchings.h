/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in batching policies, one file each, for the registry, and what they share.
 */
#ifndef SCHED_BATCHING_BATCHINGS_H
#define SCHED_BATCHING_BATCHINGS_H

#include "weir/batching.h"

#include <stdbool.h>

extern const struct weir_batching_ops weir_batching_dynamic;
extern const struct weir_batching_ops weir_batching_fixed;

/* The requests in front that can go together: of one shape, and no more items than a batch takes.
 */
struct weir_batch_front {
    uint32_t count;
    uint64_t items;
    bool is_closed; /* the one behind them is of another shape, or too large */
};
struct weir_batch_front weir_batch_front_of(const struct weir_batch_view *view, uint32_t most);

#endif
