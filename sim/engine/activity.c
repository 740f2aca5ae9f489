/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Activities: starts, stops, changes, ends; the own path, where nothing is scarce.
 *
 * Idea: on the own path an activity delivers rate x time, all whole numbers, so what is left is
 * exact however often it is looked at, and its end is now + ceil(left / rate). A change of rate
 * settles what is left and moves the one end event; the same rate again is no change.
 *
 * Invariant: an activity on its own path has exactly one event, at its end, unless it is endless;
 * the demand of a resource is the sum of the rates on it and at most its capacity; what it has
 * delivered is the work done by its activities, all that ever were there.
 *
 * Cost: O(1) and one engine operation a start, an end, a change; O(activities there) when the
 * capacity of a resource changes.
 */
#include "sim/engine/activity.h"

#include "sim/engine/activity_state.h"

#include <assert.h>
#include <stdlib.h>

static const sim_handle HANDLE_GENERATION = UINT64_C(1) << 32;

/* --- records ------------------------------------------------------------------------------ */

/* Doubles `array` of records of `size` bytes. */
static bool array_grow(void **array, uint32_t *capacity, size_t size)
{
    const uint32_t wanted = *capacity ? 2 * *capacity : ACTIVITY_FIRST_CAPACITY;
    if (wanted < *capacity)
        return false;
    void *grown = realloc(*array, wanted * size);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

struct sim_activities *sim_activities_create(struct sim_engine *engine, uint16_t kind)
{
    struct sim_activities *activities = calloc(1, sizeof *activities);
    if (!activities)
        return NULL;
    activities->engine = engine;
    activities->kind = kind;
    activities->list_free = activities->terms_free = ACTIVITY_NONE;
    for (uint32_t length = 0; length <= SIM_ACTIVITY_RESOURCES; length++)
        activities->hooks_free[length] = ACTIVITY_NONE;
    return activities;
}

void sim_activities_destroy(struct sim_activities *activities)
{
    if (!activities)
        return;
    free(activities->list);
    free(activities->terms);
    free(activities->hooks);
    free(activities->resources);
    free(activities);
}

/* Generation and slot, as the engine does it. A free record holds the generation to come. */
static sim_handle handle_of(const struct sim_activities *activities, uint32_t slot)
{
    return activities->list[slot].generation * HANDLE_GENERATION | (slot + 1);
}

/* The slot of a live handle, ACTIVITY_NONE for any other. */
static uint32_t slot_of(const struct sim_activities *activities, sim_handle handle)
{
    const uint32_t slot = (uint32_t)handle - 1;
    if (slot >= activities->list_count || handle_of(activities, slot) != handle)
        return ACTIVITY_NONE;
    return slot;
}

static uint32_t slot_take(struct sim_activities *activities)
{
    const uint32_t slot = activities->list_free;
    if (slot != ACTIVITY_NONE) {
        activities->list_free = activities->list[slot].terms;
        return slot;
    }
    if (activities->list_count == activities->list_capacity &&
        !array_grow((void **)&activities->list, &activities->list_capacity,
                    sizeof *activities->list))
        return ACTIVITY_NONE;
    activities->list[activities->list_count].generation = 1;
    return activities->list_count++;
}

static void slot_give(struct sim_activities *activities, uint32_t slot)
{
    struct activity *activity = &activities->list[slot];
    activity->generation++;
    activity->terms = activities->list_free;
    activities->list_free = slot;
}

static uint32_t terms_take(struct sim_activities *activities)
{
    const uint32_t index = activities->terms_free;
    if (index != ACTIVITY_NONE) {
        activities->terms_free = activities->terms[index].hooks;
        return index;
    }
    if (activities->terms_count == activities->terms_capacity &&
        !array_grow((void **)&activities->terms, &activities->terms_capacity,
                    sizeof *activities->terms))
        return ACTIVITY_NONE;
    return activities->terms_count++;
}

static void terms_give(struct sim_activities *activities, uint32_t index)
{
    activities->terms[index].hooks = activities->terms_free;
    activities->terms_free = index;
}

/* A run of `length` neighbours. */
static uint32_t hooks_take(struct sim_activities *activities, uint32_t length)
{
    const uint32_t first = activities->hooks_free[length];
    if (first != ACTIVITY_NONE) {
        activities->hooks_free[length] = activities->hooks[first].next;
        return first;
    }
    if (activities->hooks_capacity - activities->hooks_count < length &&
        !array_grow((void **)&activities->hooks, &activities->hooks_capacity,
                    sizeof *activities->hooks))
        return ACTIVITY_NONE;
    activities->hooks_count += length;
    return activities->hooks_count - length;
}

static void hooks_give(struct sim_activities *activities, uint32_t first, uint32_t length)
{
    activities->hooks[first].next = activities->hooks_free[length];
    activities->hooks_free[length] = first;
}

/* --- time --------------------------------------------------------------------------------- */

int64_t sim_work_ns(sim_quanta work, uint64_t qpns)
{
    if (qpns == 0 || work == SIM_WORK_ENDLESS)
        return SIM_TIME_MAX;
    if (work >> 64 == 0) {
        const uint64_t narrow = (uint64_t)work;
        const uint64_t ns = narrow / qpns + (narrow % qpns != 0);
        return ns < (uint64_t)SIM_TIME_MAX ? (int64_t)ns : SIM_TIME_MAX;
    }
    const sim_quanta ns = (work + (qpns - 1)) / qpns;
    return ns < (sim_quanta)SIM_TIME_MAX ? (int64_t)ns : SIM_TIME_MAX;
}

static int64_t activity_end_ns(const struct activity *activity)
{
    const int64_t ns = sim_work_ns(activity->work, activity->rate);
    return ns < SIM_TIME_MAX - activity->since_ns ? activity->since_ns + ns : SIM_TIME_MAX;
}

static sim_quanta activity_left(const struct activity *activity, int64_t now_ns)
{
    if (activity->work == SIM_WORK_ENDLESS)
        return SIM_WORK_ENDLESS;
    const sim_quanta done = (sim_quanta)activity->rate * (uint64_t)(now_ns - activity->since_ns);
    return done < activity->work ? activity->work - done : 0;
}

/* --- resources where nothing is scarce ---------------------------------------------------- */

static struct activity_resource *resource_of(struct sim_activities *activities,
                                             const struct activity_terms *terms, uint32_t which)
{
    return &activities->resources[activities->hooks[terms->hooks + which].resource];
}

static void resource_meter(struct activity_resource *resource, int64_t now_ns)
{
    resource->delivered += resource->demand * (uint64_t)(now_ns - resource->metered_ns);
    resource->metered_ns = now_ns;
}

static void resource_append(struct sim_activities *activities, uint32_t hook)
{
    struct activity_hook *hooks = activities->hooks;
    struct activity_resource *resource = &activities->resources[hooks[hook].resource];
    hooks[hook].next = ACTIVITY_NONE;
    hooks[hook].previous = resource->tail;
    if (resource->tail == ACTIVITY_NONE)
        resource->head = hook;
    else
        hooks[resource->tail].next = hook;
    resource->tail = hook;
    resource->count++;
}

static void resource_remove(struct sim_activities *activities, uint32_t hook)
{
    struct activity_hook *hooks = activities->hooks;
    struct activity_resource *resource = &activities->resources[hooks[hook].resource];
    if (hooks[hook].previous == ACTIVITY_NONE)
        resource->head = hooks[hook].next;
    else
        hooks[hooks[hook].previous].next = hooks[hook].next;
    if (hooks[hook].next == ACTIVITY_NONE)
        resource->tail = hooks[hook].previous;
    else
        hooks[hooks[hook].next].previous = hooks[hook].previous;
    resource->count--;
}

/* What an activity runs at where nothing is scarce: its cap, or all of its narrowest resource. */
static uint64_t terms_rate(struct sim_activities *activities, const struct activity_terms *terms)
{
    uint64_t rate = terms->cap;
    for (uint32_t i = 0; i < terms->resources; i++) {
        const uint64_t capacity = resource_of(activities, terms, i)->capacity;
        rate = capacity < rate ? capacity : rate;
    }
    return rate;
}

/* Brings the meters of all it uses up to now. */
static void terms_meter(struct sim_activities *activities, const struct activity_terms *terms)
{
    for (uint32_t i = 0; i < terms->resources; i++)
        resource_meter(resource_of(activities, terms, i), sim_engine_now(activities->engine));
}

weir_status sim_resource_add(struct sim_activities *activities, enum sim_share share, uint64_t qpns,
                             uint32_t *index)
{
    if (qpns >= SIM_CAPACITY_LIMIT)
        return WEIR_ERANGE;
    if (activities->resources_count == activities->resources_capacity &&
        !array_grow((void **)&activities->resources, &activities->resources_capacity,
                    sizeof *activities->resources))
        return WEIR_ENOMEM;
    *index = activities->resources_count++;
    activities->resources[*index] = (struct activity_resource){
        .metered_ns = sim_engine_now(activities->engine),
        .capacity = qpns,
        .head = ACTIVITY_NONE,
        .tail = ACTIVITY_NONE,
        .share = share,
    };
    return WEIR_OK;
}

sim_quanta sim_resource_delivered(const struct sim_activities *activities, uint32_t index)
{
    if (index >= activities->resources_count)
        return 0;
    struct activity_resource resource = activities->resources[index];
    resource_meter(&resource, sim_engine_now(activities->engine));
    return resource.delivered;
}

/* --- events ------------------------------------------------------------------------------- */

static bool activity_schedule(struct sim_activities *activities, uint32_t slot)
{
    struct activity *activity = &activities->list[slot];
    activity->event = SIM_NO_HANDLE;
    if (activity->work == SIM_WORK_ENDLESS)
        return true;
    const struct sim_event event = {
        .time_ns = activity_end_ns(activity),
        .argument = activity->owner,
        .target = slot,
        .kind = activities->kind,
        .phase = SIM_PHASE_COMPLETION,
    };
    activity->event = sim_engine_schedule(activities->engine, &event);
    return activity->event != SIM_NO_HANDLE;
}

/* Makes `work` what is left now. What the meters counted beyond the work (a part of its last ns,
 * when its end is due now) is taken back. */
static void activity_settle(struct sim_activities *activities, uint32_t slot)
{
    struct activity *activity = &activities->list[slot];
    const int64_t now_ns = sim_engine_now(activities->engine);
    const sim_quanta counted = (sim_quanta)activity->rate * (uint64_t)(now_ns - activity->since_ns);
    const sim_quanta excess = counted > activity->work ? counted - activity->work : 0;
    activity->work = activity_left(activity, now_ns);
    activity->since_ns = now_ns;
    if (activity->terms == ACTIVITY_NONE)
        return;
    const struct activity_terms *terms = &activities->terms[activity->terms];
    terms_meter(activities, terms);
    for (uint32_t i = 0; i < terms->resources; i++)
        resource_of(activities, terms, i)->delivered -= excess;
}

/* A new rate from now on. */
static void activity_rerate(struct sim_activities *activities, uint32_t slot, uint64_t rate)
{
    struct activity *activity = &activities->list[slot];
    if (rate == activity->rate)
        return;
    activity_settle(activities, slot);
    if (activity->terms != ACTIVITY_NONE) {
        const struct activity_terms *terms = &activities->terms[activity->terms];
        for (uint32_t i = 0; i < terms->resources; i++) {
            struct activity_resource *resource = resource_of(activities, terms, i);
            resource->demand += rate;
            resource->demand -= activity->rate;
        }
    }
    activity->rate = rate;
    if (activity->event != SIM_NO_HANDLE)
        (void)sim_engine_reschedule(activities->engine, activity->event, activity_end_ns(activity));
}

/* --- starts ------------------------------------------------------------------------------- */

static weir_status check_resources(const struct sim_activities *activities,
                                   const struct sim_activity_spec *spec, struct weir_error *error)
{
    for (uint32_t i = 0; i < spec->resources; i++) {
        const uint32_t index = spec->resource[i];
        if (index >= activities->resources_count)
            return weir_fail(error, WEIR_ENOTFOUND, "resource %u does not exist", index);
        const enum sim_share share = activities->resources[index].share;
        if (share != SIM_SHARE_WEIGHTS && (spec->resources > 1 || spec->priority > 0))
            return weir_fail(error, WEIR_EINVAL, "resource %u: its law knows no %s", index,
                             spec->resources > 1 ? "second resource" : "priorities");
        if (share == SIM_SHARE_TURNS && spec->cap_qpns != SIM_UNCAPPED)
            return weir_fail(error, WEIR_EINVAL, "resource %u: no cap where turns are taken",
                             index);
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

/* What it asks for must be there beside what the others have; one by itself takes what there is. */
static weir_status check_room(const struct sim_activities *activities,
                              const struct sim_activity_spec *spec, struct weir_error *error)
{
    if (spec->resources > 1)
        return weir_fail(error, WEIR_EUNSUPPORTED, "several resources at once are not modelled");
    for (uint32_t i = 0; i < spec->resources; i++) {
        const struct activity_resource *resource = &activities->resources[spec->resource[i]];
        if (resource->count > 0 && spec->cap_qpns > resource->capacity - resource->demand)
            return weir_fail(error, WEIR_EUNSUPPORTED, "resource %u: has less than is asked for",
                             spec->resource[i]);
    }
    return WEIR_OK;
}

/* Terms and hooks of a new activity, not yet in any list; ACTIVITY_NONE: out of memory. */
static uint32_t terms_create(struct sim_activities *activities, uint32_t slot,
                             const struct sim_activity_spec *spec)
{
    const uint32_t index = terms_take(activities);
    if (index == ACTIVITY_NONE)
        return ACTIVITY_NONE;
    const uint32_t hooks = hooks_take(activities, spec->resources);
    if (hooks == ACTIVITY_NONE) {
        terms_give(activities, index);
        return ACTIVITY_NONE;
    }
    activities->terms[index] = (struct activity_terms){
        .cap = spec->cap_qpns,
        .weight = spec->weight,
        .hooks = hooks,
        .turn_cost = spec->turn_cost,
        .bound_mille = spec->bound_mille,
        .priority = spec->priority,
        .resources = spec->resources,
    };
    for (uint32_t i = 0; i < spec->resources; i++)
        activities->hooks[hooks + i] = (struct activity_hook){ slot, spec->resource[i], 0, 0 };
    return index;
}

/* Enters the lists of its resources and runs at its cap. */
static weir_status join_resources(struct sim_activities *activities, uint32_t slot,
                                  const struct sim_activity_spec *spec)
{
    const uint32_t index = terms_create(activities, slot, spec);
    if (index == ACTIVITY_NONE)
        return WEIR_ENOMEM;
    const struct activity_terms *terms = &activities->terms[index];
    activities->list[slot].terms = index;
    activities->list[slot].rate = terms_rate(activities, terms);
    terms_meter(activities, terms);
    for (uint32_t i = 0; i < terms->resources; i++) {
        resource_of(activities, terms, i)->demand += activities->list[slot].rate;
        resource_append(activities, terms->hooks + i);
    }
    return WEIR_OK;
}

/* Leaves the lists of its resources. */
static void leave_resources(struct sim_activities *activities, uint32_t slot)
{
    const struct activity *activity = &activities->list[slot];
    if (activity->terms == ACTIVITY_NONE)
        return;
    const struct activity_terms *terms = &activities->terms[activity->terms];
    activity_settle(activities, slot);
    for (uint32_t i = 0; i < terms->resources; i++) {
        resource_of(activities, terms, i)->demand -= activity->rate;
        resource_remove(activities, terms->hooks + i);
    }
    hooks_give(activities, terms->hooks, terms->resources);
    terms_give(activities, activity->terms);
}

weir_status sim_activity_start(struct sim_activities *activities,
                               const struct sim_activity_spec *spec, sim_handle *handle,
                               struct weir_error *error)
{
    WEIR_TRY(check_amounts(spec, error));
    WEIR_TRY(check_resources(activities, spec, error));
    WEIR_TRY(check_room(activities, spec, error));
    const uint32_t slot = slot_take(activities);
    if (slot == ACTIVITY_NONE)
        return WEIR_ENOMEM;
    struct activity *activity = &activities->list[slot];
    *activity = (struct activity){
        .work = spec->work,
        .owner = spec->owner,
        .number = activities->created,
        .since_ns = sim_engine_now(activities->engine),
        .rate = spec->cap_qpns,
        .generation = activity->generation,
        .terms = ACTIVITY_NONE,
    };
    weir_status status = spec->resources ? join_resources(activities, slot, spec) : WEIR_OK;
    if (status == WEIR_OK && !activity_schedule(activities, slot)) {
        leave_resources(activities, slot);
        status = WEIR_ENOMEM;
    }
    if (status != WEIR_OK) {
        slot_give(activities, slot);
        return weir_fail(error, status, "no room for one more activity");
    }
    activities->created++;
    activities->running++;
    *handle = handle_of(activities, slot);
    return WEIR_OK;
}

/* --- changes and ends --------------------------------------------------------------------- */

static void activity_remove(struct sim_activities *activities, uint32_t slot)
{
    leave_resources(activities, slot);
    slot_give(activities, slot);
    activities->running--;
}

bool sim_activity_stop(struct sim_activities *activities, sim_handle handle, sim_quanta *left)
{
    if (handle == SIM_NO_HANDLE)
        return false;
    const uint32_t slot = slot_of(activities, handle);
    if (slot == ACTIVITY_NONE) {
        activities->stale++;
        return false;
    }
    const struct activity *activity = &activities->list[slot];
    if (left)
        *left = activity_left(activity, sim_engine_now(activities->engine));
    (void)sim_engine_cancel(activities->engine, activity->event);
    activity_remove(activities, slot);
    return true;
}

bool sim_activity_left(const struct sim_activities *activities, sim_handle handle, sim_quanta *left)
{
    const uint32_t slot = slot_of(activities, handle);
    if (slot == ACTIVITY_NONE)
        return false;
    *left = activity_left(&activities->list[slot], sim_engine_now(activities->engine));
    return true;
}

int64_t sim_activity_end_ns(const struct sim_activities *activities, sim_handle handle)
{
    const uint32_t slot = slot_of(activities, handle);
    return slot == ACTIVITY_NONE ? SIM_TIME_MAX : activity_end_ns(&activities->list[slot]);
}

/* Applies a cap of one on resources. */
static weir_status terms_set_cap(struct sim_activities *activities, uint32_t slot, uint64_t cap)
{
    struct activity_terms *terms = &activities->terms[activities->list[slot].terms];
    const struct activity_resource *resource = resource_of(activities, terms, 0);
    const sim_quanta others = resource->demand - activities->list[slot].rate;
    if (resource->count > 1 && cap > resource->capacity - others)
        return WEIR_EUNSUPPORTED;
    terms->cap = cap;
    activity_rerate(activities, slot, terms_rate(activities, terms));
    return WEIR_OK;
}

weir_status sim_activity_set(struct sim_activities *activities, sim_handle handle, uint32_t weight,
                             uint64_t cap_qpns)
{
    const uint32_t slot = slot_of(activities, handle);
    if (slot == ACTIVITY_NONE) {
        activities->stale++;
        return WEIR_ENOTFOUND;
    }
    const uint32_t index = activities->list[slot].terms;
    if (index != ACTIVITY_NONE) {
        if (weight == 0)
            return WEIR_EINVAL;
        if (weight > SIM_WEIGHT_LIMIT)
            return WEIR_ERANGE;
        WEIR_TRY(terms_set_cap(activities, slot, cap_qpns));
        activities->terms[index].weight = weight;
        return WEIR_OK;
    }
    if (cap_qpns >= SIM_CAPACITY_LIMIT)
        return cap_qpns == SIM_UNCAPPED ? WEIR_EINVAL : WEIR_ERANGE;
    activity_rerate(activities, slot, cap_qpns);
    return WEIR_OK;
}

/* What the activities of a resource would run at together if its capacity were `qpns`. */
static sim_quanta demand_at(const struct sim_activities *activities, uint32_t index, uint64_t qpns)
{
    sim_quanta demand = 0;
    uint32_t hook = activities->resources[index].head;
    for (; hook != ACTIVITY_NONE; hook = activities->hooks[hook].next) {
        const struct activity *activity = &activities->list[activities->hooks[hook].activity];
        const uint64_t cap = activities->terms[activity->terms].cap;
        demand += cap < qpns ? cap : qpns;
    }
    return demand;
}

weir_status sim_resource_set_capacity(struct sim_activities *activities, uint32_t index,
                                      uint64_t qpns)
{
    if (index >= activities->resources_count)
        return WEIR_ENOTFOUND;
    if (qpns >= SIM_CAPACITY_LIMIT)
        return WEIR_ERANGE;
    if (demand_at(activities, index, qpns) > qpns)
        return WEIR_EUNSUPPORTED;
    activities->resources[index].capacity = qpns;
    uint32_t hook = activities->resources[index].head;
    for (; hook != ACTIVITY_NONE; hook = activities->hooks[hook].next) {
        const uint32_t slot = activities->hooks[hook].activity;
        const struct activity_terms *terms = &activities->terms[activities->list[slot].terms];
        activity_rerate(activities, slot, terms_rate(activities, terms));
    }
    return WEIR_OK;
}

weir_status sim_activities_fire(struct sim_activities *activities, const struct sim_event *event,
                                const struct sim_ended **ended, uint32_t *count)
{
    const uint32_t slot = event->target;
    assert(slot < activities->list_count && activities->list[slot].event != SIM_NO_HANDLE);
    activities->ended =
        (struct sim_ended){ handle_of(activities, slot), activities->list[slot].owner };
    activities->list[slot].event = SIM_NO_HANDLE;
    activity_remove(activities, slot);
    *ended = &activities->ended;
    *count = 1;
    return WEIR_OK;
}

/* Where nothing is scarce a change takes effect at once: nothing is ever due here. */
weir_status sim_activities_settle(struct sim_activities *activities)
{
    assert(activities);
    return WEIR_OK;
}

uint64_t sim_activities_running(const struct sim_activities *activities)
{
    return activities->running;
}

uint64_t sim_activities_stale(const struct sim_activities *activities)
{
    return activities->stale;
}

/* --- self-check --------------------------------------------------------------------------- */

static weir_status check_resource(const struct sim_activities *activities, uint32_t index,
                                  struct weir_error *error)
{
    const struct activity_resource *resource = &activities->resources[index];
    sim_quanta demand = 0;
    uint32_t count = 0;
    uint32_t previous = ACTIVITY_NONE;
    uint32_t hook = resource->head;
    for (; hook != ACTIVITY_NONE; hook = activities->hooks[hook].next) {
        const struct activity_hook *at = &activities->hooks[hook];
        if (at->previous != previous || at->resource != index || ++count > resource->count)
            return weir_fail(error, WEIR_EINVARIANT, "resource %u: its list is broken", index);
        demand += activities->list[at->activity].rate;
        previous = hook;
    }
    if (count != resource->count || previous != resource->tail || demand != resource->demand)
        return weir_fail(error, WEIR_EINVARIANT, "resource %u: its sums are wrong", index);
    if (demand > resource->capacity)
        return weir_fail(error, WEIR_EINVARIANT, "resource %u gives more than it has", index);
    return WEIR_OK;
}

weir_status sim_activities_check(const struct sim_activities *activities, struct weir_error *error)
{
    for (uint32_t index = 0; index < activities->resources_count; index++)
        WEIR_TRY(check_resource(activities, index, error));
    uint64_t slots = activities->running;
    uint32_t slot = activities->list_free;
    for (; slot != ACTIVITY_NONE; slot = activities->list[slot].terms) {
        if (slot >= activities->list_count || ++slots > activities->list_count)
            return weir_fail(error, WEIR_EINVARIANT, "the free list is broken at slot %u", slot);
    }
    if (slots != activities->list_count)
        return weir_fail(error, WEIR_EINVARIANT, "%u slots are used, %llu are accounted for",
                         activities->list_count, (unsigned long long)slots);
    return WEIR_OK;
}
