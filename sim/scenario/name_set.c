/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which names there were; see the header. */
#include "sim/scenario/name_set.h"

#include "sim/engine/random.h"

#include <string.h>

struct sim_name_set sim_name_set_open(struct sim_arena *arena, size_t count)
{
    size_t slots = 16;
    while (slots < 2 * count)
        slots *= 2;
    return (struct sim_name_set){ .slots = sim_arena_alloc(arena, slots, sizeof(const char *)),
                                  .mask = slots - 1 };
}

bool sim_name_set_add(struct sim_name_set *set, const char *name)
{
    if (name == NULL)
        return true;
    size_t at = sim_random_name(0, SIM_NAME_STAGE, name) & set->mask;
    for (; set->slots[at] != NULL; at = (at + 1) & set->mask)
        if (strcmp(set->slots[at], name) == 0)
            return false;
    set->slots[at] = name;
    return true;
}
