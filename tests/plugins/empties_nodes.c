/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A capacity policy that gives nodes back while nobody waits, whoever is there. */
#include "weir/capacity.h"

static weir_status decide(void *state, const struct weir_view *view, struct weir_plan *plan,
                          struct weir_error *error)
{
    struct weir_node_offer offer = { .size = sizeof offer };

    (void)state, (void)error;
    if (!weir_view_offer(view, 0, &offer) || offer.coming > 0)
        return WEIR_OK;
    if (weir_view_waiting_jobs(view) > 0)
        return offer.up < offer.max ? weir_plan_request_node(plan, offer.type) : WEIR_OK;
    for (uint32_t n = weir_cluster_node_count(view->cluster); offer.up > offer.min && n-- > 0;) {
        const struct weir_node *const node = weir_cluster_node(view->cluster, n);
        if (node->type != offer.type || node->flags != WEIR_NODE_UP)
            continue;
        const weir_status status = weir_plan_empty_node(plan, view, n);
        if (status != WEIR_EBUSY)
            return status == WEIR_OK ? weir_plan_release_node(plan, n) : status;
    }
    return WEIR_OK;
}

static const struct weir_capacity_ops policy = { sizeof policy, WEIR_ABI_MAJOR,
                                                 .name = "empties_nodes",
                                                 .summary = "nodes while jobs wait, and none else",
                                                 .decide = decide };
WEIR_MODULE_OF_ONE(capacity, "empties_nodes", policy)
