/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which names there were; see the header. */
#include "sim/scenario/read/name_set.h"

#include "sim/engine/random.h"

#include <string.h>

/* Where it is, or would be. */
static struct sim_numbered_name *slot_of(const struct sim_name_set *set, const char *name)
{
    size_t at = sim_random_name(0, SIM_NAME_STAGE, name) & set->mask;
    while (set->slots[at].name != NULL && strcmp(set->slots[at].name, name) != 0)
        at = (at + 1) & set->mask;
    return &set->slots[at];
}

static void grow(struct sim_name_set *set)
{
    const struct sim_name_set old = *set;
    const size_t slots = old.slots == NULL ? 16 : 2 * (old.mask + 1);
    set->slots = sim_arena_alloc(set->arena, slots, sizeof *set->slots);
    set->mask = slots - 1;
    for (size_t i = 0; old.slots != NULL && i <= old.mask; i++)
        if (old.slots[i].name != NULL)
            *slot_of(set, old.slots[i].name) = old.slots[i];
}

bool sim_name_set_add(struct sim_name_set *set, const char *name)
{
    if (name == NULL)
        return true;
    if (set->slots == NULL || 2 * (size_t)set->count > set->mask)
        grow(set);
    struct sim_numbered_name *slot = slot_of(set, name);
    if (slot->name != NULL)
        return false;
    *slot = (struct sim_numbered_name){ name, ++set->count };
    return true;
}

uint32_t sim_name_set_number(const struct sim_name_set *set, const char *name)
{
    return name == NULL || set->slots == NULL ? 0 : slot_of(set, name)->number;
}
