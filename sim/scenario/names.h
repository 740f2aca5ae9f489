/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names that own random numbers must have different hashes.
 *
 * Streams are named by the hash of a name (sim/engine/random.h). Two names with one hash would give
 * two workloads the same numbers; that is refused, so that no result hangs on it.
 */
#ifndef SIM_SCENARIO_NAMES_H
#define SIM_SCENARIO_NAMES_H

#include "sim/engine/random.h"

#include <stdbool.h>
#include <stddef.h>

struct sim_yaml;

struct sim_owner_name {
    uint64_t hash;
    uint64_t within; /* hash of the one it belongs to, 0 = none */
    enum sim_name_kind kind;
    const char *name;
    const struct sim_yaml *at; /* where it is given; NULL = nowhere */
};

/* Sorts the names; the first of two neighbours that share a hash and are not one and the same name
 * (which is refused elsewhere). False = there are none. Cost: n log n. */
bool sim_names_collide(struct sim_owner_name *names, size_t count, size_t *first);

#endif
