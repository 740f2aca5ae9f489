/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A scenario that extends another (`extends: base.yaml`): what it says goes over what the base
 * says, before anything else is done with the tree. The base may extend a further one; a circle is
 * refused. Nodes remember their files, so that a mistake is said in the file that holds it.
 *
 * Mappings are merged key by key, lists of things with a name (or type, or label) entry by entry;
 * any other list is replaced. `-` or null removes what the base has: a key, or an entry by its name
 * (`stages: {caption: -}`).
 */
#ifndef SIM_SCENARIO_EXTENDS_H
#define SIM_SCENARIO_EXTENDS_H

#include "sim/scenario/report.h"

struct sim_extends {
    struct sim_arena *arena;
    struct sim_report *report; /* of the file that `root` is from */
    const char *folder;        /* of that file */
    /* Told of each base that is read. */
    void (*found)(void *state, const char *path, const char *text, size_t length);
    void *state;
};

/* The tree with its bases below it; `root` itself where it extends nothing, NULL where that was no
 * scenario. */
struct sim_yaml *sim_extends_apply(const struct sim_extends *extends, struct sim_yaml *root);

/* Whether a value stands for the removal of what it is given to: `-` or null. */
bool sim_is_removal(const struct sim_yaml *value);

#endif
