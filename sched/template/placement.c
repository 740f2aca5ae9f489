/* SPDX-License-Identifier: Apache-2.0 */
/* template: the node with the fewest free CPUs. `score` is asked of every place that fits. */
#include "weir/policy.h"

static struct weir_score score(void *state, const struct weir_place_query *query,
                               const struct weir_alloc *place)
{
    const struct weir_node *node = weir_cluster_node(query->cluster, place->node);
    (void)state; /* there is none; `create` would make it */
    return (struct weir_score){ .primary = weir_units_amount(node->cpu_free) }; /* least wins */
}

static const struct weir_placement_ops policy = { .size = sizeof(struct weir_placement_ops),
                                                  .abi = WEIR_ABI_MAJOR,
                                                  .name = "template",
                                                  .summary = "the node with the fewest free CPUs",
                                                  .score = score };
WEIR_MODULE_OF_ONE(placement, "template", policy)
