/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places workers on the first node with CPUs enough, whether they may be there or not. */
#include "hostile.h"

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    const uint32_t nodes = weir_cluster_node_count(query->cluster);

    (void)state;
    (void)error;
    *answer = (struct weir_place_answer){ .alloc = { .cpu_units = query->shape->cpu_units },
                                          .reused = WEIR_NO_INDEX };
    while (answer->alloc.node < nodes &&
           weir_cluster_node(query->cluster, answer->alloc.node)->cpu_free <
               query->shape->cpu_units)
        answer->alloc.node++;
    return answer->alloc.node < nodes ? WEIR_OK : WEIR_EBUSY;
}

HOSTILE_PLACEMENT_OPS(.place = place)
