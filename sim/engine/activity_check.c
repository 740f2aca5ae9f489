/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The self-check of the activities, for tests: lists, sums, heaps, and that no resource gives more
 * than it has. Rates are compared as the fractions they are; every sum is found anew.
 */
#include "sim/engine/activity_heap.h"
#include "sim/engine/activity_state.h"

static const struct activity_group *group_at(const struct sim_activities *activities,
                                             const struct activity_terms *terms)
{
    return terms->group == ACTIVITY_NONE ? NULL : &activities->groups[terms->group];
}

static const struct activity_terms *terms_at(const struct sim_activities *activities, uint32_t hook)
{
    return &activities->terms[hook_activity(activities, hook)];
}

/* Its cap, or all of the narrowest resource on its way. */
static bool wants_what_it_can_get(const struct sim_activities *activities,
                                  const struct activity_terms *terms)
{
    uint64_t least = terms->cap;
    for (uint32_t i = 0; i < terms->resources; i++) {
        const uint64_t capacity = terms_resource(activities, terms, i)->capacity;
        least = capacity < least ? capacity : least;
    }
    return terms->wanted == least;
}

static weir_status check_list(const struct sim_activities *activities, uint32_t index,
                              struct weir_error *error)
{
    const struct activity_resource *resource = &activities->resources[index];
    sim_quanta demand = 0;
    uint64_t weights = 0;
    uint32_t count = 0;
    uint32_t networked = 0;
    uint32_t previous = ACTIVITY_NONE;
    for (uint32_t hook = resource->head; hook != ACTIVITY_NONE;
         hook = hook_next(activities, hook)) {
        const struct activity_terms *terms = terms_at(activities, hook);
        const uint32_t used = hook & ACTIVITY_FURTHER
                                  ? activities->further[hook & ~ACTIVITY_FURTHER].resource
                                  : activities->list[hook].resource;
        if (activity_hook(activities, hook)->previous != previous || used != index ||
            ++count > resource->count)
            return weir_fail(error, WEIR_EINVARIANT, "resource %u: its list is broken", index);
        if (!wants_what_it_can_get(activities, terms))
            return weir_fail(error, WEIR_EINVARIANT, "resource %u: a user of it wants %llu", index,
                             (unsigned long long)terms->wanted);
        demand += terms->wanted;
        weights += terms->weight;
        if (resource->share == SIM_SHARE_TURNS)
            weights += terms->turn_cost;
        networked += terms->resources > 1;
        previous = hook;
    }
    if (count != resource->count || previous != resource->tail || demand != resource->demand ||
        weights != resource->weights || networked != resource->networked)
        return weir_fail(error, WEIR_EINVARIANT, "resource %u: its sums are wrong", index);
    return WEIR_OK;
}

/* Whether the group was met on the resource before this hook. */
static bool is_met(const struct sim_activities *activities, uint32_t hook, uint32_t group)
{
    uint32_t before = activity_hook(activities, hook)->previous;
    while (before != ACTIVITY_NONE && terms_at(activities, before)->group != group)
        before = activity_hook(activities, before)->previous;
    return before != ACTIVITY_NONE;
}

/* What the members of the group take of the resource on which `hook` is the first of them, in whole
 * quanta a ns, rounded up; of the resource's own groups the exact sum is what counts. */
static sim_quanta group_takes(const struct sim_activities *activities, uint32_t hook)
{
    const uint32_t index = terms_at(activities, hook)->group;
    const struct activity_group *group = &activities->groups[index];
    const struct service_clock *clock =
        group->pooled ? &activities->resources[group->resource].pool : &group->clock;
    sim_quanta weights = 0;
    for (; hook != ACTIVITY_NONE; hook = hook_next(activities, hook)) {
        if (terms_at(activities, hook)->group == index)
            weights += terms_at(activities, hook)->weight;
    }
    return (weights * clock->num + clock->den - 1) / clock->den;
}

/* The pool is counted once: its classes together take what it gives. */
static weir_status check_rates(const struct sim_activities *activities, uint32_t index,
                               struct weir_error *error)
{
    const struct activity_resource *resource = &activities->resources[index];
    sim_quanta taken = 0;
    sim_quanta pooled = 0;
    if (resource->share == SIM_SHARE_BANDWIDTH)
        return WEIR_OK;
    for (uint32_t hook = resource->head; hook != ACTIVITY_NONE;
         hook = hook_next(activities, hook)) {
        const struct activity_terms *terms = terms_at(activities, hook);
        const struct activity_group *group = group_at(activities, terms);
        if (!group)
            taken += activities->list[hook_activity(activities, hook)].rate;
        else if (group->pooled && group->resource == index)
            pooled += terms->weight;
        else if (!is_met(activities, hook, terms->group))
            taken += group_takes(activities, hook);
    }
    /* As fractions: taken + pooled x num / den <= capacity. */
    if (taken > resource->capacity ||
        pooled * resource->pool.num > (resource->capacity - taken) * resource->pool.den)
        return weir_fail(error, WEIR_EINVARIANT, "resource %u gives more than it has", index);
    return WEIR_OK;
}

static weir_status check_group(const struct sim_activities *activities, uint32_t index,
                               struct weir_error *error)
{
    const struct activity_group *group = &activities->groups[index];
    sim_quanta caps = 0;
    uint64_t weights = 0;
    for (uint32_t i = 0; i < group->heap.count; i++) {
        const uint32_t slot = tag_heap_slots(&group->heap)[i];
        const struct activity_terms *terms = &activities->terms[slot];
        if (terms->group != index || activities->places[slot] != i ||
            (i > 0 && group->heap.tags[(i - 1) / TAG_HEAP_WAYS] > group->heap.tags[i]))
            return weir_fail(error, WEIR_EINVARIANT, "group %u: its heap is broken", index);
        caps += terms->cap;
        weights += activities->resources[group->resource].share == SIM_SHARE_BANDWIDTH
                       ? terms->wanted
                       : terms->weight;
    }
    if (caps != group->caps || weights != group->weights)
        return weir_fail(error, WEIR_EINVARIANT, "group %u: its sums are wrong", index);
    return WEIR_OK;
}

static weir_status check_resource(const struct sim_activities *activities, uint32_t index,
                                  struct weir_error *error)
{
    const struct activity_resource *resource = &activities->resources[index];
    WEIR_TRY(check_list(activities, index, error));
    for (uint32_t i = 0; i < resource->group_count; i++)
        WEIR_TRY(check_group(activities, resource_groups(resource)[i], error));
    if (resource->count == 0 &&
        (resource->mode != RESOURCE_OWN || resource->group_count > 0 || resource->was_bound))
        return weir_fail(error, WEIR_EINVARIANT, "resource %u is idle and not as new", index);
    if (resource->mode == RESOURCE_OWN && resource_is_scarce(resource))
        return weir_fail(error, WEIR_EINVARIANT, "resource %u is scarce and shares nothing", index);
    return activities->dirty.count > 0 ? WEIR_OK : check_rates(activities, index, error);
}

/* A resource is marked once for a settlement, and only until then. */
static weir_status check_marks(const struct sim_activities *activities, struct weir_error *error)
{
    uint32_t marked = 0;
    for (uint32_t index = 0; index < activities->resources_count; index++)
        marked += activities->resources[index].is_dirty ? 1 : 0;
    for (uint32_t i = 0; i < activities->dirty.count; i++) {
        if (!activities->resources[activities->dirty.list[i]].is_dirty)
            return weir_fail(error, WEIR_EINVARIANT, "resource %u waits unmarked",
                             activities->dirty.list[i]);
    }
    if (marked != activities->dirty.count)
        return weir_fail(error, WEIR_EINVARIANT, "%u resources are marked, %u wait", marked,
                         activities->dirty.count);
    return WEIR_OK;
}

weir_status sim_activities_check(const struct sim_activities *activities, struct weir_error *error)
{
    for (uint32_t index = 0; index < activities->resources_count; index++)
        WEIR_TRY(check_resource(activities, index, error));
    WEIR_TRY(check_marks(activities, error));
    uint64_t slots = activities->running;
    uint32_t slot = activities->list_free;
    for (; slot != ACTIVITY_NONE; slot = activities->list[slot].resource) {
        if (slot >= activities->list_count || ++slots > activities->list_count)
            return weir_fail(error, WEIR_EINVARIANT, "the free list is broken at slot %u", slot);
    }
    if (slots != activities->list_count)
        return weir_fail(error, WEIR_EINVARIANT, "%u slots are used, %llu are accounted for",
                         activities->list_count, (unsigned long long)slots);
    return WEIR_OK;
}
