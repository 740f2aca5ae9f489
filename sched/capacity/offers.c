/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a capacity policy sees and says: offers of nodes, the two verbs for them, and who is sent
 * away from a node.
 */
#include "weir/capacity.h"

#include "sched/internal/plan_state.h"

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

bool weir_plan_may_empty(const struct weir_plan *plan, const struct weir_view *view, uint32_t node)
{
    struct weir_worker worker;
    uint32_t cursor = 0;
    bool may = true;

    while (may && weir_cluster_node_worker(view->cluster, node, &cursor, &worker)) {
        struct weir_job job = { .size = sizeof job };
        may = worker.id < plan->store->first_worker &&
              (worker.owner.kind != WEIR_OWNER_JOB ||
               (weir_view_job(view, worker.owner.index, worker.owner.id, &job) &&
                job.is_preempted == 0));
    }
    return may;
}

/* Whether an action of the plan from `from` on is about this job. */
static bool is_about(const struct weir_plan *plan, uint32_t from, const struct weir_owner *job)
{
    bool is_found = false;

    for (uint32_t i = from; i < weir_plan_count(plan) && !is_found; i++)
        is_found = weir_owner_is(&weir_plan_action(plan, i)->owner, job);
    return is_found;
}

weir_status weir_plan_empty_node(struct weir_plan *plan, const struct weir_view *view,
                                 uint32_t node)
{
    const uint32_t before = weir_plan_count(plan);
    struct weir_worker worker;
    uint32_t cursor = 0;

    if (!weir_plan_may_empty(plan, view, node))
        return WEIR_EBUSY;
    while (weir_cluster_node_worker(view->cluster, node, &cursor, &worker)) {
        const bool is_job = worker.owner.kind == WEIR_OWNER_JOB;
        struct weir_action action = about_nodes(is_job ? WEIR_VERB_PREEMPT : WEIR_VERB_STOP);
        action.owner = worker.owner;
        action.node = node;
        action.worker = is_job ? 0 : worker.id;
        if (!is_job || !is_about(plan, before, &worker.owner))
            WEIR_TRY(weir_plan_append(plan, &action));
    }
    return WEIR_OK;
}

weir_status weir_plan_release_node(struct weir_plan *plan, uint32_t node)
{
    struct weir_action action = about_nodes(WEIR_VERB_RELEASE_NODE);

    action.node = node;
    return weir_plan_append(plan, &action);
}
