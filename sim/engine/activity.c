/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Activities: starts, stops, changes, ends.
 *
 * Idea: where the demand of a resource fits into its capacity everybody there is carried on its own
 * (activity_run.c) and no one is affected by who comes and goes, so a start is one event. When it
 * no longer fits the resource turns to sharing (activity_share.c) or, with activities that use
 * several, to flows (activity_flow.c), and stays there until it is idle. Changes of such a resource
 * mark it; marked ones are filled once an instant, however many changes there were.
 *
 * Invariant: an activity on its own has exactly one event, at its end, unless it is endless; the
 * demand of a resource in own mode is at most its capacity; a resource is marked if and only if it
 * waits in the list of the settlement.
 *
 * Cost: O(1) and one engine operation a start, an end, a change where nothing is scarce;
 * O(activities there) when the capacity of a resource changes.
 */
#include "sim/engine/activity.h"

#include "sim/engine/activity_heap.h"
#include "sim/engine/activity_state.h"

#include <assert.h>
#include <stdlib.h>

static const uint64_t WEIGHTS_LIMIT = UINT64_C(1) << 32;

struct sim_activities *sim_activities_create(struct sim_engine *engine, uint16_t kind)
{
    struct sim_activities *activities = calloc(1, sizeof *activities);
    if (!activities)
        return NULL;
    activities->engine = engine;
    activities->kind = kind;
    activities->list_free = activities->groups_free = ACTIVITY_NONE;
    for (uint32_t length = 0; length < SIM_ACTIVITY_RESOURCES; length++)
        activities->further_free[length] = ACTIVITY_NONE;
    return activities;
}

void sim_activities_destroy(struct sim_activities *activities)
{
    if (!activities)
        return;
    for (uint32_t i = 0; i < activities->groups_count; i++)
        tag_heap_free(&activities->groups[i].heap);
    for (uint32_t i = 0; i < activities->resources_count; i++)
        if (activities->resources[i].group_capacity > RESOURCE_FEW_GROUPS)
            free(activities->resources[i].groups.many);
    free(activities->list);
    free(activities->terms);
    free(activities->hooks);
    free(activities->places);
    free(activities->found);
    free(activities->further);
    free(activities->resources);
    free(activities->groups);
    free(activities->ended);
    free(activities->ending);
    free(activities->dirty.list);
    free(activities->links.list);
    free(activities->flows.list);
    free(activities->touched.list);
    free(activities->shares);
    free(activities);
}

weir_status sim_resource_add(struct sim_activities *activities, enum sim_share share, uint64_t qpns,
                             uint32_t *index)
{
    if (qpns >= SIM_CAPACITY_LIMIT || activities->resources_count >= ACTIVITY_TARGET_RESOURCE - 1)
        return WEIR_ERANGE;
    if (activities->resources_count == activities->resources_capacity &&
        !activity_array_grow((void **)&activities->resources, &activities->resources_capacity,
                             sizeof *activities->resources))
        return WEIR_ENOMEM;
    *index = activities->resources_count++;
    activities->resources[*index] = (struct activity_resource){
        .capacity = qpns,
        .head = ACTIVITY_NONE,
        .tail = ACTIVITY_NONE,
        .share = (uint8_t)share,
    };
    return WEIR_OK;
}

sim_quanta sim_resource_delivered(const struct sim_activities *activities, uint32_t index)
{
    if (index >= activities->resources_count)
        return 0;
    const struct activity_resource *resource = &activities->resources[index];
    sim_quanta delivered = resource->delivered;
    for (uint32_t hook = resource->head; hook != ACTIVITY_NONE; hook = hook_next(activities, hook))
        delivered += activity_done(activities, hook_activity(activities, hook));
    return delivered;
}

/* --- membership ------------------------------------------------------------------------------ */

/* What an activity runs at where nothing is scarce: its cap, or all of its narrowest resource. */
static uint64_t terms_wanted(const struct sim_activities *activities,
                             const struct activity_terms *terms)
{
    uint64_t rate = terms->cap;
    for (uint32_t i = 0; i < terms->resources; i++) {
        const uint64_t capacity = terms_resource(activities, terms, i)->capacity;
        rate = capacity < rate ? capacity : rate;
    }
    return rate;
}

/* What one counts for in the weights of a resource: of several, all of one law, in each the same.
 */
static uint32_t weight_on(const struct activity_resource *resource, uint32_t weight,
                          uint32_t turn_cost)
{
    return weight + (resource->share == SIM_SHARE_TURNS ? turn_cost : 0);
}

/* Enters what it asks for in the sums of a resource, or takes it out. */
static void demand_add(struct activity_resource *resource, uint64_t wanted, uint32_t weighs)
{
    resource->demand += wanted;
    resource->weights += weighs;
}

static void demand_take(struct activity_resource *resource, uint64_t wanted, uint32_t weighs)
{
    resource->demand -= wanted;
    resource->weights -= weighs;
}

/* What it asks for is something else from now on: in the sums of all its resources. */
static void terms_ask(struct sim_activities *activities, struct activity_terms *terms,
                      uint32_t weight, uint64_t cap)
{
    struct activity *activity = &activities->list[terms - activities->terms];
    for (uint32_t i = 0; i < terms->resources; i++)
        demand_take(terms_resource(activities, terms, i), terms->wanted, activity->weighs);
    terms->weight = weight;
    terms->cap = cap;
    terms->wanted = terms_wanted(activities, terms);
    activity->weighs = weight_on(terms_resource(activities, terms, 0), weight, terms->turn_cost);
    for (uint32_t i = 0; i < terms->resources; i++)
        demand_add(terms_resource(activities, terms, i), terms->wanted, activity->weighs);
}

/* True when the rates on a link depend on one another, or did until now: it must be filled. */
static bool link_touch(struct sim_activities *activities, uint32_t index)
{
    struct activity_resource *resource = &activities->resources[index];
    if (resource->mode == RESOURCE_SHARED)
        activity_share_end(activities, index);
    else if (!resource->was_bound && !resource_is_scarce(resource))
        return resource->is_dirty && resource->mode == RESOURCE_FLOW;
    resource->mode = RESOURCE_FLOW;
    activity_resource_dirty(activities, index);
    return true;
}

/* Touches all links it uses. */
static bool links_touch(struct sim_activities *activities, const struct activity_terms *terms)
{
    bool is_touched = false;
    for (uint32_t i = 0; i < terms->resources; i++)
        is_touched |= link_touch(activities, terms_index(activities, terms, i));
    return is_touched;
}

static bool is_flow(const struct activity_resource *resource)
{
    return resource->networked > 0 || resource->mode == RESOURCE_FLOW;
}

/* Carries one whose terms are new: on its own, in a class, or as the settlement will find. */
static weir_status activity_carry(struct sim_activities *activities, uint32_t slot)
{
    const struct activity_terms *terms = &activities->terms[slot];
    const uint32_t index = activities->list[slot].resource;
    const struct activity_resource *resource = &activities->resources[index];
    if (terms->resources > 1 || is_flow(resource)) {
        if (!links_touch(activities, terms))
            activity_run(activities, slot, terms->wanted);
        return WEIR_OK;
    }
    if (resource->mode == RESOURCE_SHARED) {
        activity_resource_dirty(activities, index);
        return activity_share_enter(activities, slot);
    }
    if (resource_is_scarce(resource))
        return activity_share_begin(activities, index);
    activity_run(activities, slot, terms->wanted);
    return WEIR_OK;
}

static weir_status join_resources(struct sim_activities *activities, uint32_t slot,
                                  const struct sim_activity_spec *spec)
{
    WEIR_TRY(activity_terms_take(activities, slot, spec));
    struct activity *activity = &activities->list[slot];
    struct activity_terms *terms = &activities->terms[slot];
    activity->resources = spec->resources;
    activity->resource = spec->resource[0];
    activity->weighs =
        weight_on(terms_resource(activities, terms, 0), spec->weight, spec->turn_cost);
    terms->wanted = terms_wanted(activities, terms);
    for (uint32_t i = 0; i < terms->resources; i++) {
        struct activity_resource *resource = terms_resource(activities, terms, i);
        demand_add(resource, terms->wanted, activity->weighs);
        activity_hook_append(activities, resource, terms_hook(terms, slot, i));
        resource->networked += terms->resources > 1;
    }
    return activity_carry(activities, slot);
}

/* The same where it uses one resource on which nobody is affected: false, and nothing has happened,
 * where there may be more to do. */
static bool join_plainly(struct sim_activities *activities, uint32_t slot,
                         const struct sim_activity_spec *spec)
{
    struct activity_resource *resource = &activities->resources[spec->resource[0]];
    if (spec->resources > 1 || resource->mode != RESOURCE_OWN || resource->networked > 0 ||
        slot >= activities->terms_capacity)
        return false;
    const uint64_t wanted =
        spec->cap_qpns < resource->capacity ? spec->cap_qpns : resource->capacity;
    const uint32_t weighs = weight_on(resource, spec->weight, spec->turn_cost);
    if (is_scarce_with(resource, resource->demand + wanted, (uint64_t)resource->weights + weighs,
                       resource->count + 1))
        return false;
    struct activity *activity = &activities->list[slot];
    (void)activity_terms_take(activities, slot, spec);
    activities->terms[slot].wanted = wanted;
    activity->resources = 1;
    activity->resource = spec->resource[0];
    activity->weighs = weighs;
    demand_add(resource, wanted, weighs);
    activity_hook_append(activities, resource, slot);
    activity_begin(activities, slot, wanted);
    return true;
}

/* An idle resource starts afresh; on one that is scarce the others get what is free now. */
static void resource_left(struct sim_activities *activities, uint32_t index)
{
    struct activity_resource *resource = &activities->resources[index];
    if (resource->count == 0) {
        if (resource->mode != RESOURCE_OWN)
            activity_groups_clear(activities, index);
        resource->mode = RESOURCE_OWN;
        resource->was_bound = false;
    } else if (resource->mode == RESOURCE_SHARED) {
        activity_resource_dirty(activities, index);
    } else if (resource->mode == RESOURCE_FLOW) {
        (void)link_touch(activities, index);
    }
}

static void leave_resources(struct sim_activities *activities, uint32_t slot)
{
    const struct activity *activity = &activities->list[slot];
    const struct activity_terms *terms = &activities->terms[slot];
    for (uint32_t i = 0; i < terms->resources; i++) {
        struct activity_resource *resource = terms_resource(activities, terms, i);
        demand_take(resource, terms->wanted, activity->weighs);
        activity_hook_remove(activities, resource, terms_hook(terms, slot, i));
        resource->networked -= terms->resources > 1;
    }
    for (uint32_t i = 0; i < terms->resources; i++)
        resource_left(activities, terms_index(activities, terms, i));
    activity_terms_give(activities, slot);
}

/* One on its own has come to its end, where it used one resource and nobody is affected: nothing
 * but its record is looked at. False, and nothing has happened, where there may be more to do. */
static bool leave_plainly(struct sim_activities *activities, uint32_t slot)
{
    const struct activity *activity = &activities->list[slot];
    struct activity_resource *resource = &activities->resources[activity->resource];
    if (activity->resources != 1 || resource->mode != RESOURCE_OWN)
        return false;
    resource->delivered += activity_own_done(activities, activity);
    demand_take(resource, activity->rate, activity->weighs);
    activity_hook_remove(activities, resource, slot);
    return true;
}

/* Takes away one that is halted. */
static void activity_remove(struct sim_activities *activities, uint32_t slot)
{
    if (activities->list[slot].resources > 0)
        leave_resources(activities, slot);
    activity_slot_give(activities, slot);
    activities->running--;
}

/* Takes away one whose own end has come. */
static void activity_remove_own(struct sim_activities *activities, uint32_t slot)
{
    if (activities->list[slot].resources == 0 || leave_plainly(activities, slot)) {
        activity_slot_give(activities, slot);
        activities->running--;
        return;
    }
    activity_end_own(activities, slot);
    activity_remove(activities, slot);
}

/* --- starts ---------------------------------------------------------------------------------- */

/* Whether the sum of the weights stays small enough for the clocks. */
static weir_status check_weights(const struct activity_resource *resource, uint64_t added,
                                 struct weir_error *error)
{
    if (resource->weights + added >= WEIGHTS_LIMIT)
        return weir_fail(error, WEIR_ERANGE, "the sum of weights must be below 2^32");
    return WEIR_OK;
}

static weir_status check_resources(const struct sim_activities *activities,
                                   const struct sim_activity_spec *spec, struct weir_error *error)
{
    for (uint32_t i = 0; i < spec->resources; i++) {
        const uint32_t index = spec->resource[i];
        if (index >= activities->resources_count)
            return weir_fail(error, WEIR_ENOTFOUND, "resource %u does not exist", index);
        const enum sim_share share = activities->resources[index].share;
        if (share != SIM_SHARE_WEIGHTS && spec->resources > 1)
            return weir_fail(error, WEIR_EINVAL, "resource %u: its law knows one resource", index);
        if (spec->priority > 0 && (share != SIM_SHARE_WEIGHTS || spec->resources > 1))
            return weir_fail(error, WEIR_EINVAL, "resource %u: no priorities there", index);
        WEIR_TRY(check_weights(
            &activities->resources[index],
            weight_on(&activities->resources[index], spec->weight, spec->turn_cost), error));
        for (uint32_t j = 0; j < i; j++) {
            if (spec->resource[j] == index)
                return weir_fail(error, WEIR_EINVAL, "resource %u is named twice", index);
        }
    }
    return WEIR_OK;
}

static weir_status check_amounts(const struct sim_activity_spec *spec, struct weir_error *error)
{
    if (spec->work >= SIM_WORK_LIMIT && spec->work != SIM_WORK_ENDLESS)
        return weir_fail(error, WEIR_ERANGE, "work must be below 2^102 quanta, or endless");
    if (spec->resources == 0) {
        if (spec->cap_qpns == SIM_UNCAPPED)
            return weir_fail(error, WEIR_EINVAL, "work on no resource must have a cap");
        if (spec->cap_qpns >= SIM_CAPACITY_LIMIT)
            return weir_fail(error, WEIR_ERANGE, "rate %llu must be below 2^60",
                             (unsigned long long)spec->cap_qpns);
        return WEIR_OK;
    }
    if (spec->resources > SIM_ACTIVITY_RESOURCES)
        return weir_fail(error, WEIR_ERANGE, "resources must be <= %d, got %d",
                         SIM_ACTIVITY_RESOURCES, spec->resources);
    if (spec->weight == 0)
        return weir_fail(error, WEIR_EINVAL, "weight must be > 0, got 0");
    if (spec->weight > SIM_WEIGHT_LIMIT || spec->turn_cost > SIM_WEIGHT_LIMIT)
        return weir_fail(error, WEIR_ERANGE, "weight %u and turn cost %u must be <= 2^20",
                         spec->weight, spec->turn_cost);
    if (spec->bound_mille > SIM_BOUND_WHOLE)
        return weir_fail(error, WEIR_ERANGE, "bound_mille must be <= 1000, got %d",
                         spec->bound_mille);
    return WEIR_OK;
}

/* Within all bounds at a glance: most are. Who is not is looked at closely. */
static bool is_plain(const struct sim_activities *activities, const struct sim_activity_spec *spec)
{
    if (spec->work >= SIM_WORK_LIMIT || spec->resources > 1)
        return false;
    if (spec->resources == 0)
        return spec->cap_qpns < SIM_CAPACITY_LIMIT;
    if (spec->resource[0] >= activities->resources_count)
        return false;
    const struct activity_resource *resource = &activities->resources[spec->resource[0]];
    return resource->share == SIM_SHARE_WEIGHTS && spec->weight - 1 < SIM_WEIGHT_LIMIT &&
           spec->turn_cost <= SIM_WEIGHT_LIMIT && spec->bound_mille <= SIM_BOUND_WHOLE &&
           (uint64_t)resource->weights + spec->weight < WEIGHTS_LIMIT;
}

weir_status sim_activity_start(struct sim_activities *activities,
                               const struct sim_activity_spec *spec, sim_handle *handle,
                               struct weir_error *error)
{
    if (!is_plain(activities, spec)) {
        WEIR_TRY(check_amounts(spec, error));
        WEIR_TRY(check_resources(activities, spec, error));
    }
    const uint32_t slot = activity_slot_take(activities);
    if (slot == ACTIVITY_NONE)
        return weir_fail(error, WEIR_ENOMEM, "no room for one more activity");
    struct activity *activity = &activities->list[slot];
    *activity = (struct activity){
        .work = spec->work,
        .owner = spec->owner,
        .since_ns = sim_engine_now(activities->engine),
        .generation = activity->generation,
    };
    activities->running++;
    activities->created++;
    weir_status status = WEIR_OK;
    if (spec->resources == 0)
        activity_begin(activities, slot, spec->cap_qpns);
    else if (!join_plainly(activities, slot, spec))
        status = join_resources(activities, slot, spec);
    status = status == WEIR_OK ? activities->fault : status;
    if (status != WEIR_OK) {
        activity_halt(activities, slot);
        activity_remove(activities, slot);
        return weir_fail(error, status, "no room for one more activity");
    }
    *handle = activity_handle(activities, slot);
    return WEIR_OK;
}

/* --- changes --------------------------------------------------------------------------------- */

bool sim_activity_stop(struct sim_activities *activities, sim_handle handle, sim_quanta *left)
{
    if (handle == SIM_NO_HANDLE)
        return false;
    const uint32_t slot = activity_slot(activities, handle);
    if (slot == ACTIVITY_NONE) {
        activities->stale++;
        return false;
    }
    if (left)
        *left = activity_left(activities, slot);
    activity_halt(activities, slot);
    activity_remove(activities, slot);
    return true;
}

bool sim_activity_left(const struct sim_activities *activities, sim_handle handle, sim_quanta *left)
{
    const uint32_t slot = activity_slot(activities, handle);
    if (slot == ACTIVITY_NONE)
        return false;
    *left = activity_left(activities, slot);
    return true;
}

int64_t sim_activity_end_ns(const struct sim_activities *activities, sim_handle handle)
{
    const uint32_t slot = activity_slot(activities, handle);
    if (slot == ACTIVITY_NONE)
        return SIM_TIME_MAX;
    return activity_is_tagged(activities, slot) ? activity_tagged_end_ns(activities, slot)
                                                : activity_own_end_ns(activities, slot);
}

/* From `hook` on, events at `end_ns` come after that of an activity created before them which has
 * just been moved there. */
static void ends_by_creation(struct sim_activities *activities, uint32_t hook, int64_t end_ns)
{
    for (; hook != ACTIVITY_NONE; hook = hook_next(activities, hook)) {
        const uint32_t slot = hook_activity(activities, hook);
        const struct activity *activity = &activities->list[slot];
        if (activity->event != SIM_NO_HANDLE && activity_own_end_ns(activities, slot) == end_ns)
            (void)sim_engine_reschedule(activities->engine, activity->event, end_ns);
    }
}

static weir_status terms_set(struct sim_activities *activities, uint32_t slot, uint32_t weight,
                             uint64_t cap)
{
    struct activity_terms *terms = &activities->terms[slot];
    if (terms->group != ACTIVITY_NONE)
        activity_halt(activities, slot);
    const uint64_t before = activities->list[slot].rate;
    terms_ask(activities, terms, weight, cap);
    WEIR_TRY(activity_carry(activities, slot));
    const struct activity *activity = &activities->list[slot];
    if (activity->event == SIM_NO_HANDLE || activity->rate == before)
        return activities->fault;
    for (uint32_t i = 0; i < terms->resources; i++)
        ends_by_creation(activities, hook_next(activities, terms_hook(terms, slot, i)),
                         activity_own_end_ns(activities, slot));
    return activities->fault;
}

weir_status sim_activity_set(struct sim_activities *activities, sim_handle handle, uint32_t weight,
                             uint64_t cap_qpns)
{
    const uint32_t slot = activity_slot(activities, handle);
    if (slot == ACTIVITY_NONE) {
        activities->stale++;
        return WEIR_ENOTFOUND;
    }
    if (activities->list[slot].resources == 0) {
        if (cap_qpns >= SIM_CAPACITY_LIMIT)
            return cap_qpns == SIM_UNCAPPED ? WEIR_EINVAL : WEIR_ERANGE;
        activity_run(activities, slot, cap_qpns);
        return activities->fault;
    }
    const struct activity_terms *terms = &activities->terms[slot];
    if (weight == terms->weight && cap_qpns == terms->cap)
        return WEIR_OK;
    if (weight == 0)
        return WEIR_EINVAL;
    if (weight > SIM_WEIGHT_LIMIT)
        return WEIR_ERANGE;
    for (uint32_t i = 0; i < terms->resources; i++) {
        const struct activity_resource *resource = terms_resource(activities, terms, i);
        if (weight > terms->weight)
            WEIR_TRY(check_weights(resource, weight - terms->weight, NULL));
    }
    return terms_set(activities, slot, weight, cap_qpns);
}

/* --- the capacity of a resource -------------------------------------------------------------- */

/* What those on the resource want, anew, after its capacity has changed. */
static void resource_want(struct sim_activities *activities, uint32_t index)
{
    uint32_t hook = activities->resources[index].head;
    for (; hook != ACTIVITY_NONE; hook = hook_next(activities, hook)) {
        struct activity_terms *terms = &activities->terms[hook_activity(activities, hook)];
        terms_ask(activities, terms, terms->weight, terms->cap);
    }
}

/* Runs those of a resource where nothing is scarce at what they want. From the first whose rate
 * changes on, all events are moved, so that equal ends stay in the order of creation. */
static void resource_run(struct sim_activities *activities, uint32_t index)
{
    bool is_moved = false;
    uint32_t hook = activities->resources[index].head;
    for (; hook != ACTIVITY_NONE; hook = hook_next(activities, hook)) {
        const uint32_t slot = hook_activity(activities, hook);
        const struct activity *activity = &activities->list[slot];
        const uint64_t wanted = activities->terms[slot].wanted;
        if (wanted == activity->rate && is_moved && activity->event != SIM_NO_HANDLE)
            (void)sim_engine_reschedule(activities->engine, activity->event,
                                        activity_own_end_ns(activities, slot));
        is_moved |= wanted != activity->rate;
        activity_run(activities, slot, wanted);
    }
}

/* Marks the links that the change concerns, and runs those that use none of them. */
static void resource_run_flows(struct sim_activities *activities, uint32_t index)
{
    uint32_t hook = activities->resources[index].head;
    for (; hook != ACTIVITY_NONE; hook = hook_next(activities, hook))
        (void)links_touch(activities, &activities->terms[hook_activity(activities, hook)]);
    for (hook = activities->resources[index].head; hook != ACTIVITY_NONE;
         hook = hook_next(activities, hook)) {
        const uint32_t slot = hook_activity(activities, hook);
        const struct activity_terms *terms = &activities->terms[slot];
        if (!links_touch(activities, terms))
            activity_run(activities, slot, terms->wanted);
    }
}

weir_status sim_resource_set_capacity(struct sim_activities *activities, uint32_t index,
                                      uint64_t qpns)
{
    if (index >= activities->resources_count)
        return WEIR_ENOTFOUND;
    if (qpns >= SIM_CAPACITY_LIMIT)
        return WEIR_ERANGE;
    struct activity_resource *resource = &activities->resources[index];
    if (resource->capacity == qpns)
        return WEIR_OK;
    /* There the weight of a member is its speed, which changes. */
    const bool begins_anew =
        resource->mode == RESOURCE_SHARED && resource->share == SIM_SHARE_BANDWIDTH;
    if (begins_anew)
        activity_share_end(activities, index);
    resource->capacity = qpns;
    resource_want(activities, index);
    if (is_flow(resource))
        resource_run_flows(activities, index);
    else if (begins_anew || (resource->mode == RESOURCE_OWN && resource_is_scarce(resource)))
        WEIR_TRY(activity_share_begin(activities, index));
    else if (resource->mode == RESOURCE_SHARED)
        activity_resource_dirty(activities, index);
    else
        resource_run(activities, index);
    return activities->fault;
}

/* The sum of the weights there if a switch cost so much. */
static uint64_t weights_with(const struct sim_activities *activities, uint32_t index,
                             uint32_t turn_cost)
{
    uint64_t weights = 0;
    for (uint32_t hook = activities->resources[index].head; hook != ACTIVITY_NONE;
         hook = hook_next(activities, hook))
        weights += (uint64_t)activities->terms[hook_activity(activities, hook)].weight + turn_cost;
    return weights;
}

weir_status sim_resource_set_turn_cost(struct sim_activities *activities, uint32_t index,
                                       uint32_t turn_cost)
{
    if (index >= activities->resources_count)
        return WEIR_ENOTFOUND;
    struct activity_resource *resource = &activities->resources[index];
    if (resource->share != SIM_SHARE_TURNS)
        return WEIR_EINVAL;
    const uint64_t weights = weights_with(activities, index, turn_cost);
    if (turn_cost > SIM_WEIGHT_LIMIT || weights >= WEIGHTS_LIMIT)
        return WEIR_ERANGE;
    resource->weights = (uint32_t)weights;
    for (uint32_t hook = resource->head; hook != ACTIVITY_NONE;
         hook = hook_next(activities, hook)) {
        struct activity_terms *terms = &activities->terms[hook_activity(activities, hook)];
        struct activity *activity = &activities->list[hook_activity(activities, hook)];
        activity->weighs = weight_on(resource, terms->weight, turn_cost);
        terms->turn_cost = turn_cost;
    }
    if (resource->mode == RESOURCE_SHARED)
        activity_resource_dirty(activities, index);
    return activities->fault;
}

/* --- events ---------------------------------------------------------------------------------- */

weir_status sim_activities_settle(struct sim_activities *activities)
{
    for (uint32_t i = 0; i < activities->dirty.count; i++) {
        const uint32_t index = activities->dirty.list[i];
        if (activities->resources[index].mode == RESOURCE_SHARED)
            WEIR_TRY(activity_share_fill(activities, index));
    }
    WEIR_TRY(activity_flow_fill(activities));
    for (uint32_t i = 0; i < activities->dirty.count; i++)
        activities->resources[activities->dirty.list[i]].is_dirty = false;
    activities->dirty.count = 0;
    return activities->fault;
}

/* Names an ended activity, which is still there, as the next of `count`. */
static weir_status ended_add(struct sim_activities *activities, uint32_t slot, uint32_t *count)
{
    if (*count == activities->ended_capacity &&
        !activity_array_grow((void **)&activities->ended, &activities->ended_capacity,
                             sizeof *activities->ended))
        return WEIR_ENOMEM;
    activities->ended[(*count)++] =
        (struct sim_ended){ activity_handle(activities, slot), activities->list[slot].owner };
    return WEIR_OK;
}

static weir_status fire_resource(struct sim_activities *activities, uint32_t index, uint32_t *count)
{
    activities->resources[index].event = SIM_NO_HANDLE;
    WEIR_TRY(activity_share_due(activities, index));
    for (uint32_t i = 0; i < activities->ending_count; i++) {
        WEIR_TRY(ended_add(activities, activities->ending[i].slot, count));
        activity_remove(activities, activities->ending[i].slot);
    }
    if (activities->resources[index].count > 0)
        activity_resource_dirty(activities, index);
    return WEIR_OK;
}

weir_status sim_activities_fire(struct sim_activities *activities, const struct sim_event *event,
                                const struct sim_ended **ended, uint32_t *count)
{
    *count = 0;
    if (event->target == ACTIVITY_TARGET_SETTLE) {
        WEIR_TRY(sim_activities_settle(activities));
    } else if (event->target & ACTIVITY_TARGET_RESOURCE) {
        WEIR_TRY(fire_resource(activities, event->target & ~ACTIVITY_TARGET_RESOURCE, count));
    } else {
        assert(event->target < activities->list_count);
        WEIR_TRY(ended_add(activities, event->target, count));
        activity_remove_own(activities, event->target);
    }
    *ended = activities->ended;
    return activities->fault;
}

uint64_t sim_activities_running(const struct sim_activities *activities)
{
    return activities->running;
}

uint64_t sim_activities_stale(const struct sim_activities *activities)
{
    return activities->stale;
}
