/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Changing a YAML text here and there: names, values, entries; comments and layout stay.
 *
 * Changes are noted by the places of nodes and made all at once. Every function does nothing when
 * the rewrite is NULL or the node is not from the text.
 */
#ifndef SIM_SCENARIO_REWRITE_H
#define SIM_SCENARIO_REWRITE_H

#include "sim/scenario/report.h"

struct sim_rewrite_edit {
    size_t from, to; /* bytes of the text that go */
    const char *text;
};

struct sim_rewrite {
    struct sim_arena *arena;
    struct sim_report *report; /* of what cannot be rewritten; its text is the text */
    struct sim_rewrite_edit *edits;
    size_t count;
};

void sim_rewrite_key(struct sim_rewrite *rewrite, const struct sim_yaml *node, const char *key);
void sim_rewrite_value(struct sim_rewrite *rewrite, const struct sim_yaml *node, const char *text);
/* An entry of a mapping goes. */
void sim_rewrite_drop(struct sim_rewrite *rewrite, const struct sim_yaml *node);
/* A further entry "key: value" of the mapping: behind `node`, a single value; as the first; or
 * before an entry of the top level. */
void sim_rewrite_insert(struct sim_rewrite *rewrite, const struct sim_yaml *node, const char *text);
void sim_rewrite_insert_first(struct sim_rewrite *rewrite, const struct sim_yaml *mapping,
                              const char *text);
void sim_rewrite_insert_before(struct sim_rewrite *rewrite, const struct sim_yaml *node,
                               const char *text);
/* Something that only a person can do. */
void sim_rewrite_fail(struct sim_rewrite *rewrite, const struct sim_yaml *node,
                      const char *message);

char *sim_rewrite_apply(const struct sim_rewrite *rewrite);

#endif
