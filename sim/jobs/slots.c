/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slots of jobs by number; see the header. */
#include "sim/jobs/jobs.h"

#include <stdlib.h>

void sim_job_slots_open(struct sim_job_slots *slots)
{
    *slots = (struct sim_job_slots){ .jobs.size = sizeof(struct sim_job) };
}

void sim_job_slots_close(struct sim_job_slots *slots)
{
    sim_slab_clear(&slots->jobs);
    free(slots->table);
    sim_job_slots_open(slots);
}

static uint32_t home_of(const struct sim_job_slots *slots, uint32_t number)
{
    const uint64_t hash = (number * UINT64_C(0x9e3779b97f4a7c15)) >> 32;
    return (uint32_t)((hash & UINT32_MAX) * slots->table_capacity >> 32);
}

static uint32_t next_place(const struct sim_job_slots *slots, uint32_t place)
{
    return place + 1 == slots->table_capacity ? 0 : place + 1;
}

/* How far it is from one place on to another. */
static uint32_t distance(const struct sim_job_slots *slots, uint32_t from, uint32_t to)
{
    return to >= from ? to - from : to + slots->table_capacity - from;
}

static bool is_at(const struct sim_job_slots *slots, uint32_t place, uint64_t id)
{
    if (slots->table[place].number != (uint32_t)id)
        return false;
    const struct sim_job *job = sim_slab_at(&slots->jobs, slots->table[place].slot - 1);
    return job->id == id;
}

/* The place of the job in the table, or the empty one where it would be. */
static uint32_t place_of(const struct sim_job_slots *slots, uint64_t id)
{
    uint32_t place = home_of(slots, (uint32_t)id);
    while (slots->table[place].slot != 0 && !is_at(slots, place, id))
        place = next_place(slots, place);
    return place;
}

uint32_t sim_job_slots_find(const struct sim_job_slots *slots, uint64_t id)
{
    if (slots->table_capacity == 0)
        return WEIR_NO_INDEX;
    const uint32_t slot = slots->table[place_of(slots, id)].slot;
    return slot == 0 ? WEIR_NO_INDEX : slot - 1;
}

/* Puts an entry that is not there into the first empty place. */
static void put(struct sim_job_slots *slots, struct sim_job_entry entry)
{
    uint32_t place = home_of(slots, entry.number);
    while (slots->table[place].slot != 0)
        place = next_place(slots, place);
    slots->table[place] = entry;
}

static weir_status reserve_table(struct sim_job_slots *slots)
{
    if (slots->alive < slots->table_capacity / 8 * 7)
        return WEIR_OK;
    struct sim_job_entry *old = slots->table;
    const uint32_t old_capacity = slots->table_capacity;
    const uint32_t capacity = old_capacity == 0 ? 64 : old_capacity / 2 * 3;
    struct sim_job_entry *table = calloc(capacity, sizeof(*table));
    if (table == NULL)
        return WEIR_ENOMEM;
    slots->table = table;
    slots->table_capacity = capacity;
    for (uint32_t i = 0; i < old_capacity; i++)
        if (old[i].slot != 0)
            put(slots, old[i]);
    free(old);
    return WEIR_OK;
}

weir_status sim_job_slots_take(struct sim_job_slots *slots, uint64_t id, struct sim_job **job)
{
    void *record = NULL;
    WEIR_TRY(reserve_table(slots));
    WEIR_TRY(sim_slab_take(&slots->jobs, &record));
    *job = record;
    (*job)->id = id;
    put(slots, (struct sim_job_entry){ (uint32_t)id, (*job)->slot + 1 });
    slots->alive++;
    return WEIR_OK;
}

void sim_job_slots_give(struct sim_job_slots *slots, struct sim_job *job)
{
    uint32_t gap = place_of(slots, job->id);
    for (uint32_t place = next_place(slots, gap); slots->table[place].slot != 0;
         place = next_place(slots, place)) {
        const uint32_t home = home_of(slots, slots->table[place].number);
        if (distance(slots, home, place) < distance(slots, gap, place))
            continue; /* it is nearer to its home than the gap is */
        slots->table[gap] = slots->table[place];
        gap = place;
    }
    slots->table[gap].slot = 0;
    sim_slab_give(&slots->jobs, job);
    slots->alive--;
}
