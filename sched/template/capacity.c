/* SPDX-License-Identifier: Apache-2.0 */
/* template: one node more at every look while jobs wait; who is idle while nobody waits goes. */
#include "weir/capacity.h"

static weir_status decide(void *state, const struct weir_view *view, struct weir_plan *plan,
                          struct weir_error *error)
{
    struct weir_node_offer offer = { .size = sizeof offer };
    uint64_t worker;
    (void)state, (void)error; /* there is no state; `create` would make it */
    if (!weir_view_offer(view, 0, &offer) || offer.coming > 0)
        return WEIR_OK;
    if (weir_view_waiting_jobs(view) > 0)
        return offer.up < offer.max ? weir_plan_request_node(plan, offer.type) : WEIR_OK;
    for (uint32_t n = weir_cluster_node_count(view->cluster); offer.up > offer.min && n-- > 0;)
        if (weir_cluster_node(view->cluster, n)->type == offer.type &&
            !weir_cluster_node_worker_id(view->cluster, n, &worker))
            return weir_plan_release_node(plan, n);
    return WEIR_OK;
}

static const struct weir_capacity_ops policy = { sizeof policy, WEIR_ABI_MAJOR, .name = "template",
                                                 .summary = "nodes while jobs wait",
                                                 .decide = decide };
WEIR_MODULE_OF_ONE(capacity, "template", policy)
