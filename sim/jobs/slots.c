/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slots of jobs by number; see the header. */
#include "sim/jobs/jobs.h"

#include <stdlib.h>

void sim_job_slots_close(struct sim_job_slots *slots)
{
    free(slots->jobs);
    free(slots->free);
    free(slots->table);
    *slots = (struct sim_job_slots){ .jobs = NULL };
}

static uint32_t home_of(const struct sim_job_slots *slots, uint64_t id)
{
    return (uint32_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (slots->table_capacity - 1);
}

/* The place of the number in the table, or the empty one where it would be. */
static uint32_t place_of(const struct sim_job_slots *slots, uint64_t id)
{
    uint32_t place = home_of(slots, id);
    while (slots->table[place] != 0 && slots->jobs[slots->table[place] - 1].id != id)
        place = (place + 1) & (slots->table_capacity - 1);
    return place;
}

uint32_t sim_job_slots_find(const struct sim_job_slots *slots, uint64_t id)
{
    if (slots->table_capacity == 0)
        return WEIR_NO_INDEX;
    const uint32_t place = place_of(slots, id);
    return slots->table[place] == 0 ? WEIR_NO_INDEX : slots->table[place] - 1;
}

static weir_status reserve_table(struct sim_job_slots *slots)
{
    if ((slots->alive + 1) * 2 <= slots->table_capacity)
        return WEIR_OK;
    uint32_t *old = slots->table;
    const uint32_t old_capacity = slots->table_capacity;
    const uint32_t capacity = old_capacity == 0 ? 64 : old_capacity * 2;
    uint32_t *table = calloc(capacity, sizeof(*table));
    if (table == NULL)
        return WEIR_ENOMEM;
    slots->table = table;
    slots->table_capacity = capacity;
    for (uint32_t i = 0; i < old_capacity; i++)
        if (old[i] != 0)
            table[place_of(slots, slots->jobs[old[i] - 1].id)] = old[i];
    free(old);
    return WEIR_OK;
}

static weir_status reserve_slot(struct sim_job_slots *slots)
{
    if (slots->free_count > 0 || slots->used < slots->capacity)
        return WEIR_OK;
    const uint32_t capacity = slots->capacity * 2 + 64;
    struct sim_job *jobs = realloc(slots->jobs, capacity * sizeof(*jobs));
    if (jobs != NULL)
        slots->jobs = jobs;
    uint32_t *list = realloc(slots->free, capacity * sizeof(*list));
    if (list != NULL)
        slots->free = list;
    if (jobs == NULL || list == NULL)
        return WEIR_ENOMEM;
    slots->capacity = capacity;
    return WEIR_OK;
}

weir_status sim_job_slots_take(struct sim_job_slots *slots, uint64_t id, uint32_t *slot)
{
    WEIR_TRY(reserve_slot(slots));
    WEIR_TRY(reserve_table(slots));
    *slot = slots->free_count > 0 ? slots->free[--slots->free_count] : slots->used++;
    slots->jobs[*slot] = (struct sim_job){ .id = id };
    slots->table[place_of(slots, id)] = *slot + 1;
    slots->alive++;
    return WEIR_OK;
}

void sim_job_slots_give(struct sim_job_slots *slots, uint32_t slot)
{
    const uint32_t mask = slots->table_capacity - 1;
    uint32_t gap = place_of(slots, slots->jobs[slot].id);
    for (uint32_t place = (gap + 1) & mask; slots->table[place] != 0; place = (place + 1) & mask) {
        const uint32_t home = home_of(slots, slots->jobs[slots->table[place] - 1].id);
        if (((place - home) & mask) < ((place - gap) & mask))
            continue; /* it is nearer to its home than the gap is */
        slots->table[gap] = slots->table[place];
        gap = place;
    }
    slots->table[gap] = 0;
    slots->free[slots->free_count++] = slot;
    slots->alive--;
}
