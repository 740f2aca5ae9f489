/* SPDX-License-Identifier: Apache-2.0 */
/* Since when something holds; see the header. */
#include "sched/capacity/parts/since.h"

#include "sched/internal/alloc.h"

void weir_since_follow(int64_t *since_ns, bool holds, int64_t now_ns)
{
    if (!holds)
        *since_ns = WEIR_UNKNOWN_TIME;
    else if (*since_ns == WEIR_UNKNOWN_TIME)
        *since_ns = now_ns;
}

void weir_since_remember(struct weir_memory *memory, int64_t *time_ns)
{
    const bool is_known = weir_memory_count(memory, *time_ns != WEIR_UNKNOWN_TIME, 0) > 0;
    int64_t amount_ns = is_known && *time_ns > 0 ? *time_ns : 0;

    weir_memory_amount(memory, &amount_ns);
    *time_ns = is_known ? amount_ns : WEIR_UNKNOWN_TIME;
}

weir_status weir_node_since_grow(struct weir_node_since *since,
                                 const struct weir_allocator *allocator,
                                 const struct weir_view *view)
{
    const uint32_t count = weir_cluster_node_count(view->cluster);

    WEIR_ROOM(allocator, since->ns, since->capacity, count);
    for (; since->count < count; since->count++)
        since->ns[since->count] = WEIR_UNKNOWN_TIME;
    return WEIR_OK;
}

void weir_node_since_remember(struct weir_node_since *since, struct weir_memory *memory)
{
    since->count = weir_memory_length(memory, since->count);
    for (uint32_t n = 0; n < since->count; n++)
        weir_since_remember(memory, &since->ns[n]);
}
