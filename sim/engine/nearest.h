/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * "Did you mean": the known name nearest to an unknown one.
 *
 * Distance = insertions, deletions and substitutions of bytes (Levenshtein). At most 2, and less
 * than the length of the word, so that a short word is not turned into any other. A name that the
 * word begins (a100 of a100-80) is nearer than any that is spelt otherwise, and nearer still is one
 * that differs in its capitals alone, or that others call so (memory: ram).
 */
#ifndef SIM_ENGINE_NEAREST_H
#define SIM_ENGINE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

struct sim_word {
    const char *start; /* not terminated */
    size_t length;
};

enum { SIM_NEAREST_LIMIT = 2 };

/* Whether people say `word` for `name`: in other capitals, or as other systems call it. */
bool sim_is_called(struct sim_word word, const char *name);

/* Whether it is what stands before a sign that joins words: a100 of a100-80. */
bool sim_begins_name(struct sim_word word, const char *name);

/* Edits between `word` and `name`; SIZE_MAX when either is longer than 63 bytes. */
size_t sim_edit_distance(struct sim_word word, const char *name);

/* For a search through any table: `name` when it is nearer to `word` than `best` (NULL: none yet),
 * else `best`. Start with NULL; NULL at the end means that nothing is near. */
const char *sim_nearer(struct sim_word word, const char *best, const char *name);

#endif
