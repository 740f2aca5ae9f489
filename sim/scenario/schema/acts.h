/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A key acts or is refused: what each key of the schema acts on (field.acts, .word_acts) and with
 * which other settings (field.needs), held against the work a scenario has.
 *
 * Refused is what is *given* and would change nothing. What a key needs is not asked of a scenario
 * with a variant that sets the other key: then it may act there. Of a scenario with sets it is
 * asked of keys that these give, and not where a set gives the other key too: an axis may go over
 * both.
 */
#ifndef SIM_SCENARIO_ACTS_H
#define SIM_SCENARIO_ACTS_H

#include "sim/scenario/report.h"
#include "sim/scenario/schema/schema.h"

/* The kinds of work in a tree: enum sim_acts. */
uint32_t sim_acts_present(const struct sim_yaml *root);

/* What the walk meets: a key that acts on none of the work there is. The node may be removed. */
typedef void (*sim_acts_found)(void *state, struct sim_yaml *node, const char *sentence);

struct sim_acts_walk {
    struct sim_arena *arena;
    struct sim_yaml *root;
    bool has_needs;          /* whether settings count too, not work alone */
    const char *const *sets; /* else they count for the keys that these sets give */
    size_t sets_count;
    sim_acts_found found;
    void *state;
};
void sim_acts_visit(const struct sim_acts_walk *walk);

/* "semantics: event|tick" apart: whether `key` is the key, and whether `word` is one of the words.
 */
bool sim_needs_is_key(const char *needs, const char *key);
bool sim_needs_has_word(const char *needs, const char *word);
/* Whether some job exchanges or, for what acts on pipelines too, saves to a store; also where a key
 * with these `acts` asks for neither. */
bool sim_needs_sync_met(struct sim_arena *arena, const struct sim_yaml *root, uint32_t acts,
                        uint32_t there);
/* "pipelines and jobs in time" for 3. */
const char *sim_acts_words(struct sim_arena *arena, uint32_t acts);

#endif
