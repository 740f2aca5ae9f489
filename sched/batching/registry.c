/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The batching policies this library brings. The first is the default. A new policy is one file and
 * one line here.
 */
#include "sched/batching/batchings.h"

#include "sched/internal/registry.h"

static const struct weir_batching_ops *const BATCHINGS[] = {
    &weir_batching_dynamic,
    &weir_batching_fixed,
};

WEIR_REGISTRY(batching, BATCHINGS)

struct weir_batch_front weir_batch_front_of(const struct weir_batch_view *view, uint32_t most)
{
    struct weir_batch_front front = { .count = 0 };

    for (; front.count < view->count; front.count++) {
        const struct weir_batch_request *const next = &view->requests[front.count];
        front.is_closed =
            front.items + next->items > most || next->shape != view->requests[0].shape;
        if (front.is_closed)
            break;
        front.items += next->items;
    }
    return front;
}
