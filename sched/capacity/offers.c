/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a capacity policy sees and says: offers of nodes, and the two verbs for them.
 */
#include "weir/capacity.h"

#include <string.h>

uint32_t weir_view_offers(const struct weir_view *view)
{
    return view == NULL ? 0 : view->offer_count;
}

bool weir_view_offer(const struct weir_view *view, uint32_t index, struct weir_node_offer *offer)
{
    if (view == NULL || index >= view->offer_count)
        return false;
    const uint32_t size = offer->size < sizeof *offer ? offer->size : (uint32_t)sizeof *offer;
    memcpy(offer, &view->offers[index], size);
    offer->size = size;
    return true;
}

static struct weir_action about_nodes(uint32_t verb)
{
    return (struct weir_action){ .size = sizeof(struct weir_action),
                                 .verb = verb,
                                 .owner = { .kind = WEIR_OWNER_POOL, .index = WEIR_NO_INDEX },
                                 .node = WEIR_NO_INDEX,
                                 .choice = WEIR_NO_INDEX };
}

weir_status weir_plan_request_node(struct weir_plan *plan, uint32_t type)
{
    struct weir_action action = about_nodes(WEIR_VERB_REQUEST_NODE);

    action.value = type;
    return weir_plan_append(plan, &action);
}

weir_status weir_plan_release_node(struct weir_plan *plan, uint32_t node)
{
    struct weir_action action = about_nodes(WEIR_VERB_RELEASE_NODE);

    action.node = node;
    return weir_plan_append(plan, &action);
}
