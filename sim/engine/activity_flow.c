/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Activities over several links: who limits whom, found by progressive filling.
 *
 * Idea: the rates of all grow together, in proportion to the weights, until a link is full; that
 * link limits those on it, they stop growing, and the rest goes on (max-min fairness: Bertsekas and
 * Gallager, Data Networks, 1992, 6.5.2). So the link with the least share left / (weights still
 * growing) is taken again and again. Those on it that want no more than this share get what they
 * want and are carried on their own; the others become the link's group, whose rate per weight is
 * the share, a fraction. What a group takes of another link is rounded up to whole quanta a ns, so
 * shares stay quotients of whole numbers and no link gives more than it has; a link is short by
 * less than a quantum a ns for each group on it (2^-16 of a byte a second).
 *
 * A link can limit anybody only if what those on it want, at most the least capacity of the path of
 * each, is more than its capacity. Only such links are filled, and only they connect: what has to
 * be filled after a change is the component of links and flows that reach one another through them.
 * A link that has just stopped to be scarce is walked once more, for those it limited until now.
 *
 * Invariant: every flow runs at what it wants, or is in the group of a link that is full and on
 * which no one has more per weight. One that stays in its group keeps its tag.
 *
 * Cost: O(hooks of the component x log links) a filling, at most one an instant.
 */
#include "sim/engine/activity_state.h"

#include <assert.h>

static const uint32_t LIMITS = UINT32_MAX; /* as a version: the link has been filled */

/* --- heap of shares: least first, ties by link ----------------------------------------------- */

static bool share_before(const struct flow_share *a, const struct flow_share *b)
{
    const sim_quanta left = (sim_quanta)a->left * b->weights;
    const sim_quanta right = (sim_quanta)b->left * a->weights;
    return left != right ? left < right : a->resource < b->resource;
}

static weir_status share_push(struct sim_activities *activities, uint32_t index)
{
    const struct activity_resource *link = &activities->resources[index];
    if (activities->shares_count == activities->shares_capacity &&
        !activity_array_grow((void **)&activities->shares, &activities->shares_capacity,
                             sizeof *activities->shares))
        return WEIR_ENOMEM;
    const struct flow_share share = { link->left, link->left_weights, index, link->version };
    struct flow_share *heap = activities->shares;
    uint32_t at = activities->shares_count++;
    for (; at > 0 && share_before(&share, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = share;
    return WEIR_OK;
}

static struct flow_share share_pop(struct sim_activities *activities)
{
    struct flow_share *heap = activities->shares;
    const struct flow_share least = heap[0];
    const struct flow_share last = heap[--activities->shares_count];
    const uint32_t count = activities->shares_count;
    uint32_t at = 0;
    for (uint32_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && share_before(&heap[child + 1], &heap[child]))
            child++;
        if (!share_before(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return least;
}

/* --- the component ---------------------------------------------------------------------------- */

/* A link of the component: in the filling only if it is scarce. */
static weir_status link_visit(struct sim_activities *activities, uint32_t index)
{
    struct activity_resource *link = &activities->resources[index];
    if (link->visit == activities->visit)
        return WEIR_OK;
    assert(link->mode == RESOURCE_FLOW);
    link->visit = activities->visit;
    link->was_bound = resource_is_scarce(link);
    link->left = link->capacity;
    link->left_weights = link->weights;
    link->taken_weights = 0;
    link->version = 0;
    return activity_index_push(&activities->links, index) ? WEIR_OK : WEIR_ENOMEM;
}

static weir_status flow_visit(struct sim_activities *activities, uint32_t slot)
{
    const struct activity_terms *terms = &activities->terms[slot];
    struct flow_found *found = &activities->found[slot];
    if (found->visit == activities->visit)
        return WEIR_OK;
    *found = (struct flow_found){ terms->wanted, ACTIVITY_NONE, activities->visit };
    for (uint32_t i = 0; i < terms->resources; i++) {
        const uint32_t index = terms_index(activities, terms, i);
        if (!resource_is_scarce(&activities->resources[index]))
            continue;
        found->rate = SIM_UNCAPPED;
        WEIR_TRY(link_visit(activities, index));
    }
    return activity_index_push(&activities->flows, slot) ? WEIR_OK : WEIR_ENOMEM;
}

/* All that is reached from a link through scarce links. */
static weir_status component_find(struct sim_activities *activities, uint32_t index)
{
    activities->links.count = 0;
    activities->flows.count = 0;
    WEIR_TRY(link_visit(activities, index));
    for (uint32_t i = 0; i < activities->links.count; i++) {
        uint32_t hook = activities->resources[activities->links.list[i]].head;
        for (; hook != ACTIVITY_NONE; hook = hook_next(activities, hook))
            WEIR_TRY(flow_visit(activities, hook_activity(activities, hook)));
    }
    return WEIR_OK;
}

/* --- filling -----------------------------------------------------------------------------------
 */

/* A link that has stopped to be scarce still says was_bound until it is visited. */
static bool is_filled(const struct sim_activities *activities, const struct activity_resource *link)
{
    return link->was_bound && link->visit == activities->visit;
}

static bool is_open(const struct flow_found *found)
{
    return found->home == ACTIVITY_NONE && found->rate == SIM_UNCAPPED;
}

/* Takes the weight of a flow that has its rate off all links of its path that are being filled. */
static weir_status flow_take_weight(struct sim_activities *activities,
                                    const struct activity_terms *terms)
{
    for (uint32_t i = 0; i < terms->resources; i++) {
        struct activity_resource *link = terms_resource(activities, terms, i);
        if (!is_filled(activities, link) || link->version == LIMITS)
            continue;
        if (link->taken_weights == 0 &&
            !activity_index_push(&activities->touched, terms_index(activities, terms, i)))
            return WEIR_ENOMEM;
        link->taken_weights += terms->weight;
    }
    return WEIR_OK;
}

/* Shares of the links that were touched, anew. */
static weir_status touched_push(struct sim_activities *activities)
{
    for (uint32_t i = 0; i < activities->touched.count; i++) {
        const uint32_t index = activities->touched.list[i];
        struct activity_resource *link = &activities->resources[index];
        link->left_weights -= link->taken_weights;
        link->taken_weights = 0;
        link->version++;
        if (link->left_weights > 0)
            WEIR_TRY(share_push(activities, index));
    }
    activities->touched.count = 0;
    return WEIR_OK;
}

/* Gives those on the link who want no more than its share what they want; how many. */
static weir_status fix_content(struct sim_activities *activities,
                               const struct activity_resource *link, uint32_t *fixed)
{
    const uint64_t left = link->left;
    for (uint32_t hook = link->head; hook != ACTIVITY_NONE; hook = hook_next(activities, hook)) {
        const uint32_t slot = hook_activity(activities, hook);
        const struct activity_terms *terms = &activities->terms[slot];
        struct flow_found *found = &activities->found[slot];
        if (!is_open(found) ||
            (sim_quanta)terms->wanted * link->left_weights > (sim_quanta)left * terms->weight)
            continue;
        found->rate = terms->wanted;
        WEIR_TRY(flow_take_weight(activities, terms));
        for (uint32_t i = 0; i < terms->resources; i++) {
            struct activity_resource *used = terms_resource(activities, terms, i);
            if (is_filled(activities, used))
                used->left -= terms->wanted;
        }
        ++*fixed;
    }
    return WEIR_OK;
}

/* Those on the link who are left are limited by it. */
static weir_status fix_limited(struct sim_activities *activities, uint32_t index)
{
    struct activity_resource *link = &activities->resources[index];
    link->version = LIMITS;
    for (uint32_t hook = link->head; hook != ACTIVITY_NONE; hook = hook_next(activities, hook)) {
        const uint32_t slot = hook_activity(activities, hook);
        if (!is_open(&activities->found[slot]))
            continue;
        activities->found[slot].home = index;
        WEIR_TRY(flow_take_weight(activities, &activities->terms[slot]));
    }
    for (uint32_t i = 0; i < activities->touched.count; i++) {
        struct activity_resource *other = &activities->resources[activities->touched.list[i]];
        const sim_quanta taken = (sim_quanta)other->taken_weights * link->left;
        other->left -= (uint64_t)((taken + link->left_weights - 1) / link->left_weights);
    }
    return WEIR_OK;
}

static weir_status component_fill(struct sim_activities *activities)
{
    activities->shares_count = 0;
    activities->touched.count = 0;
    for (uint32_t i = 0; i < activities->links.count; i++) {
        if (activities->resources[activities->links.list[i]].was_bound)
            WEIR_TRY(share_push(activities, activities->links.list[i]));
    }
    while (activities->shares_count > 0) {
        const struct flow_share share = share_pop(activities);
        const struct activity_resource *link = &activities->resources[share.resource];
        if (share.version != link->version)
            continue;
        uint32_t fixed = 0;
        WEIR_TRY(fix_content(activities, link, &fixed));
        if (fixed == 0)
            WEIR_TRY(fix_limited(activities, share.resource));
        WEIR_TRY(touched_push(activities));
    }
    return WEIR_OK;
}

/* --- what was found, applied --------------------------------------------------------------------
 */

/* Those who are limited elsewhere from now on leave their groups; the others run. */
static void flows_leave(struct sim_activities *activities)
{
    for (uint32_t i = 0; i < activities->flows.count; i++) {
        const uint32_t slot = activities->flows.list[i];
        const struct flow_found *found = &activities->found[slot];
        const uint32_t group = activities->terms[slot].group;
        if (found->home == ACTIVITY_NONE) {
            if (group != ACTIVITY_NONE)
                activity_halt(activities, slot);
            activity_run(activities, slot, found->rate);
        } else if (group == ACTIVITY_NONE || activities->groups[group].resource != found->home) {
            activity_halt(activities, slot);
        }
    }
}

/* The one group of a link that limits somebody, at its new rate. */
static weir_status link_set_rate(struct sim_activities *activities, uint32_t index)
{
    struct activity_resource *link = &activities->resources[index];
    if (link->group_count == 0) {
        const uint32_t group = activity_group_add(activities, index, 0);
        if (group == ACTIVITY_NONE)
            return WEIR_ENOMEM;
        activities->groups[group].pooled = true;
    }
    activity_pool_set_rate(activities, link, link->left, link->left_weights);
    return WEIR_OK;
}

static weir_status component_apply(struct sim_activities *activities)
{
    flows_leave(activities);
    for (uint32_t i = 0; i < activities->links.count; i++) {
        const uint32_t index = activities->links.list[i];
        if (activities->resources[index].version == LIMITS)
            WEIR_TRY(link_set_rate(activities, index));
    }
    for (uint32_t i = 0; i < activities->flows.count; i++) {
        const uint32_t slot = activities->flows.list[i];
        const uint32_t home = activities->found[slot].home;
        if (home != ACTIVITY_NONE && activities->terms[slot].group == ACTIVITY_NONE)
            WEIR_TRY(activity_enter_group(activities, slot,
                                          resource_groups(&activities->resources[home])[0]));
    }
    for (uint32_t i = 0; i < activities->links.count; i++) {
        const uint32_t index = activities->links.list[i];
        if (activities->resources[index].version == LIMITS)
            WEIR_TRY(activity_share_schedule(activities, index));
        else
            activity_groups_clear(activities, index);
    }
    return WEIR_OK;
}

weir_status activity_flow_fill(struct sim_activities *activities)
{
    activities->visit++;
    for (uint32_t i = 0; i < activities->dirty.count; i++) {
        const uint32_t index = activities->dirty.list[i];
        const struct activity_resource *link = &activities->resources[index];
        if (link->mode != RESOURCE_FLOW || link->visit == activities->visit)
            continue;
        if (!activity_array_reserve((void **)&activities->found, &activities->found_capacity,
                                    sizeof *activities->found, activities->list_capacity))
            return WEIR_ENOMEM;
        WEIR_TRY(component_find(activities, index));
        WEIR_TRY(component_fill(activities));
        WEIR_TRY(component_apply(activities));
    }
    return WEIR_OK;
}
