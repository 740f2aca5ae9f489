/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which names there were: finds a name that is given twice in the time of one look. */
#ifndef SIM_SCENARIO_NAME_SET_H
#define SIM_SCENARIO_NAME_SET_H

#include "sim/scenario/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* Open addressing, at most half full; grows in the arena. Names are borrowed. */
struct sim_name_set {
    struct sim_arena *arena;
    const char **slots; /* NULL = none yet */
    size_t mask, count;
};

static inline struct sim_name_set sim_name_set_open(struct sim_arena *arena)
{
    return (struct sim_name_set){ .arena = arena };
}
/* Adds a name; false = it was there. NULL is no name, and never there. */
bool sim_name_set_add(struct sim_name_set *set, const char *name);

#endif
