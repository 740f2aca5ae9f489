/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory of the activities: records by slot, runs of hooks, lists of resources, handles.
 *
 * Invariant: a record is live or in its free list; the generation of a slot grows when its activity
 * is gone, so a handle given out earlier never fits again. Nothing here knows of rates.
 */
#include "sim/engine/activity_state.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 16 };

bool activity_array_reserve(void **array, uint32_t *capacity, size_t size, uint32_t wanted)
{
    if (wanted <= *capacity)
        return true;
    const size_t bytes = (wanted * size + ACTIVITY_LINE - 1) / ACTIVITY_LINE * ACTIVITY_LINE;
    char *grown = aligned_alloc(ACTIVITY_LINE, bytes);
    if (!grown)
        return false;
    if (*capacity > 0)
        memcpy(grown, *array, *capacity * size);
    memset(grown + *capacity * size, 0, bytes - *capacity * size);
    free(*array);
    *array = grown;
    *capacity = wanted;
    return true;
}

/* Doubles an array of records of `size` bytes. */
bool activity_array_grow(void **array, uint32_t *capacity, size_t size)
{
    const uint32_t wanted = *capacity ? 2 * *capacity : FIRST_CAPACITY;
    return wanted > *capacity && activity_array_reserve(array, capacity, size, wanted);
}

bool activity_index_push(struct activity_index *index, uint32_t entry)
{
    if (index->count == index->capacity &&
        !activity_array_grow((void **)&index->list, &index->capacity, sizeof *index->list))
        return false;
    index->list[index->count++] = entry;
    return true;
}

uint32_t activity_slot_fresh(struct sim_activities *activities)
{
    if (activities->list_count == activities->list_capacity &&
        (activities->list_count == ACTIVITY_FURTHER ||
         !activity_array_grow((void **)&activities->list, &activities->list_capacity,
                              sizeof *activities->list)))
        return ACTIVITY_NONE;
    activities->list[activities->list_count].generation = 1;
    return activities->list_count++;
}

/* A run of `length` neighbours. */
static uint32_t further_take(struct sim_activities *activities, uint32_t length)
{
    const uint32_t first = activities->further_free[length];
    if (first != ACTIVITY_NONE) {
        activities->further_free[length] = activities->further[first].hook.next;
        return first;
    }
    if (activities->further_capacity - activities->further_count < length &&
        !activity_array_grow((void **)&activities->further, &activities->further_capacity,
                             sizeof *activities->further))
        return ACTIVITY_NONE;
    activities->further_count += length;
    return activities->further_count - length;
}

/* Terms, hooks and places for as many activities as there is room for. */
static bool terms_reserve(struct sim_activities *activities)
{
    const uint32_t wanted = activities->list_capacity;
    uint32_t hooks = activities->terms_capacity;
    uint32_t places = hooks;
    return activity_array_reserve((void **)&activities->hooks, &hooks, sizeof *activities->hooks,
                                  wanted) &&
           activity_array_reserve((void **)&activities->places, &places, sizeof *activities->places,
                                  wanted) &&
           activity_array_reserve((void **)&activities->terms, &activities->terms_capacity,
                                  sizeof *activities->terms, wanted);
}

weir_status activity_terms_take(struct sim_activities *activities, uint32_t slot,
                                const struct sim_activity_spec *spec)
{
    if (slot >= activities->terms_capacity && !terms_reserve(activities))
        return WEIR_ENOMEM;
    struct activity_terms *terms = &activities->terms[slot];
    *terms = (struct activity_terms){
        .cap = spec->cap_qpns,
        .number = activities->created,
        .weight = spec->weight,
        .turn_cost = spec->turn_cost,
        .group = ACTIVITY_NONE,
        .bound_mille = spec->bound_mille,
        .priority = spec->priority,
        .resources = spec->resources,
    };
    if (spec->resources == 1)
        return WEIR_OK;
    terms->further = further_take(activities, spec->resources - 1U);
    if (terms->further == ACTIVITY_NONE)
        return WEIR_ENOMEM;
    for (uint32_t i = 1; i < spec->resources; i++) {
        struct further_hook *further = &activities->further[terms->further + i - 1];
        further->activity = slot;
        further->resource = spec->resource[i];
    }
    return WEIR_OK;
}

void activity_terms_give(struct sim_activities *activities, uint32_t slot)
{
    const struct activity_terms *terms = &activities->terms[slot];
    if (terms->resources == 1)
        return;
    activities->further[terms->further].hook.next = activities->further_free[terms->resources - 1];
    activities->further_free[terms->resources - 1] = terms->further;
}
