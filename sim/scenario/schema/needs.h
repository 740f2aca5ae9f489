/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a key needs beside it to act (field.needs): one of some conditions, joined by " or ".
 *
 *     KEY            that key is given, and not empty
 *     no KEY         it is not
 *     KEY > N        its value, or its default, is larger
 *     KEY: a|b       it is one of these words
 *
 * KEY stands beside the key that needs it, or further out, or is a path from there, where [] means
 * any entry: "timeline[].action: head_down".
 */
#ifndef SIM_SCENARIO_NEEDS_H
#define SIM_SCENARIO_NEEDS_H

#include "sim/scenario/read/yaml.h"
#include "sim/scenario/schema/schema.h"

/* A mapping on the way from the root to where somebody is. */
struct sim_needs_step {
    const struct sim_needs_step *above;
    const struct sim_yaml *node; /* NULL = not given */
    const struct sim_section *section;
};

/* A plain "KEY: a|b", which the canonical text follows without exception. */
bool sim_needs_is_word(const char *needs);

struct sim_needs {
    struct sim_arena *arena;
    const char *text;
    bool sets_may;    /* what comes from a --set or a variant counts as met */
    const char *here; /* out: the word, or words, that stand there instead; NULL = none */
};

/* What nobody can tell counts as met: a law, a default that depends on others, a word of no key on
 * the way. */
bool sim_needs_met(struct sim_needs *needs, const struct sim_needs_step *step);

/* Whether some variant, or a change in the run, sets what is needed, a part of it or it as a part
 * of a mapping. */
bool sim_needs_is_varied(const struct sim_yaml *root, const char *needs);

/* Whether the text is the default, which the canonical text says where it acts on nothing too. */
bool sim_needs_is_default(const struct sim_field *field, const char *text);

/* A parameter of a policy that needs others or that others need, as a field; NULL = it is none. */
const struct sim_field *sim_needs_of_param(uint32_t policy, const char *name);

#endif
