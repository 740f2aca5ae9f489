/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words of a scenario file: before it is read, its tree is brought into the one form that the
 * schema's tables know.
 *
 * In every file: other names of a key (`scheduler`), mappings by name in place of lists, lists of
 * words. In files of schema 1 also: the names keys had there (field.was), `workloads` with its
 * kinds and modes, and placement policies whose defaults depended on the kind of work. Nodes keep
 * their places and, for messages, the names that the text gives them.
 *
 * With a rewrite the same changes are noted for the text, comments and all: so a file of schema 1
 * becomes one of today (weir check --write).
 */
#ifndef SIM_SCENARIO_WORDS_H
#define SIM_SCENARIO_WORDS_H

#include "sim/scenario/report.h"
#include "sim/scenario/schema/schema.h"

struct sim_rewrite;

struct sim_words {
    struct sim_arena *arena;
    struct sim_report *report;
    struct sim_yaml *root;
    struct sim_rewrite *rewrite; /* NULL = the text is of no interest */
};

/* Whether the tree is that of a file of schema 1. */
bool sim_words_are_old(const struct sim_yaml *root);

/* Before paths are followed; again after, for what they brought. */
void sim_words_settle(struct sim_words *words);
/* When everything is there: what depends on the whole. Settles first. */
void sim_words_finish(struct sim_words *words);

/* What a component of a path below `section` is called today. */
const char *sim_words_today(const struct sim_yaml *root, const struct sim_section *section,
                            const char *component);
/* A key of schema 1 that no table knows any more, but that a path may still set. */
bool sim_words_is_gone(const struct sim_yaml *root, const struct sim_section *section,
                       const char *component);

#endif
