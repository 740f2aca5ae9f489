/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory of the activities: records by index, runs of hooks, lists of resources, handles.
 *
 * Invariant: a record is live or in its free list; the generation of a slot grows when its activity
 * is gone, so a handle given out earlier never fits again. Nothing here knows of rates.
 */
#include "sim/engine/activity_state.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 16 };

static const sim_handle HANDLE_GENERATION = UINT64_C(1) << 32;

/* Doubles an array of records of `size` bytes. */
bool activity_array_grow(void **array, uint32_t *capacity, size_t size)
{
    const uint32_t wanted = *capacity ? 2 * *capacity : FIRST_CAPACITY;
    if (wanted < *capacity)
        return false;
    void *grown = realloc(*array, wanted * size);
    if (!grown)
        return false;
    *array = grown;
    *capacity = wanted;
    return true;
}

bool activity_index_push(struct activity_index *index, uint32_t entry)
{
    if (index->count == index->capacity &&
        !activity_array_grow((void **)&index->list, &index->capacity, sizeof *index->list))
        return false;
    index->list[index->count++] = entry;
    return true;
}

sim_handle activity_handle(const struct sim_activities *activities, uint32_t slot)
{
    return activities->list[slot].generation * HANDLE_GENERATION | (slot + 1);
}

/* The slot of a live handle, ACTIVITY_NONE for any other. */
uint32_t activity_slot(const struct sim_activities *activities, sim_handle handle)
{
    const uint32_t slot = (uint32_t)handle - 1;
    if (slot >= activities->list_count || activity_handle(activities, slot) != handle)
        return ACTIVITY_NONE;
    return slot;
}

uint32_t activity_slot_take(struct sim_activities *activities)
{
    const uint32_t slot = activities->list_free;
    if (slot != ACTIVITY_NONE) {
        activities->list_free = activities->list[slot].terms;
        return slot;
    }
    if (activities->list_count == activities->list_capacity &&
        !activity_array_grow((void **)&activities->list, &activities->list_capacity,
                             sizeof *activities->list))
        return ACTIVITY_NONE;
    activities->list[activities->list_count].generation = 1;
    return activities->list_count++;
}

void activity_slot_give(struct sim_activities *activities, uint32_t slot)
{
    struct activity *activity = &activities->list[slot];
    activity->generation++;
    activity->terms = activities->list_free;
    activities->list_free = slot;
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
        !activity_array_grow((void **)&activities->hooks, &activities->hooks_capacity,
                             sizeof *activities->hooks))
        return ACTIVITY_NONE;
    activities->hooks_count += length;
    return activities->hooks_count - length;
}

static uint32_t record_of_terms_take(struct sim_activities *activities)
{
    const uint32_t index = activities->terms_free;
    if (index != ACTIVITY_NONE) {
        activities->terms_free = activities->terms[index].hooks;
        return index;
    }
    if (activities->terms_count == activities->terms_capacity &&
        !activity_array_grow((void **)&activities->terms, &activities->terms_capacity,
                             sizeof *activities->terms))
        return ACTIVITY_NONE;
    return activities->terms_count++;
}

static void record_of_terms_give(struct sim_activities *activities, uint32_t index)
{
    activities->terms[index].hooks = activities->terms_free;
    activities->terms_free = index;
}

uint32_t activity_terms_take(struct sim_activities *activities,
                             const struct sim_activity_spec *spec)
{
    const uint32_t index = record_of_terms_take(activities);
    if (index == ACTIVITY_NONE)
        return ACTIVITY_NONE;
    const uint32_t hooks = hooks_take(activities, spec->resources);
    if (hooks == ACTIVITY_NONE) {
        record_of_terms_give(activities, index);
        return ACTIVITY_NONE;
    }
    activities->terms[index] = (struct activity_terms){
        .cap = spec->cap_qpns,
        .weight = spec->weight,
        .turn_cost = spec->turn_cost,
        .hooks = hooks,
        .group = ACTIVITY_NONE,
        .home = ACTIVITY_NONE,
        .bound_mille = spec->bound_mille,
        .priority = spec->priority,
        .resources = spec->resources,
    };
    for (uint32_t i = 0; i < spec->resources; i++)
        activities->hooks[hooks + i].resource = spec->resource[i];
    return index;
}

void activity_terms_give(struct sim_activities *activities, uint32_t index)
{
    const struct activity_terms *terms = &activities->terms[index];
    activities->hooks[terms->hooks].next = activities->hooks_free[terms->resources];
    activities->hooks_free[terms->resources] = terms->hooks;
    record_of_terms_give(activities, index);
}

void activity_hook_append(struct sim_activities *activities, uint32_t hook)
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

void activity_hook_remove(struct sim_activities *activities, uint32_t hook)
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
