/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which names there were, and their numbers: finds a name in the time of one look. */
#ifndef SIM_SCENARIO_NAME_SET_H
#define SIM_SCENARIO_NAME_SET_H

#include "sim/scenario/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_numbered_name {
    const char *name; /* NULL = the place is free */
    uint32_t number;
};

/* Open addressing, at most half full; grows in the arena. Names are borrowed. */
struct sim_name_set {
    struct sim_arena *arena;
    struct sim_numbered_name *slots; /* NULL = none yet */
    size_t mask;
    uint32_t count;
};

static inline struct sim_name_set sim_name_set_open(struct sim_arena *arena)
{
    return (struct sim_name_set){ .arena = arena };
}
/* Adds a name; false = it was there. NULL is no name, and never there. */
bool sim_name_set_add(struct sim_name_set *set, const char *name);
/* The names are numbered from 1 as they are added; 0 = it is not there. */
uint32_t sim_name_set_number(const struct sim_name_set *set, const char *name);

#endif
