/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files words*.c share. For them alone. */
#ifndef SIM_SCENARIO_WORDS_PARTS_H
#define SIM_SCENARIO_WORDS_PARTS_H

#include "sim/scenario/schema/rewrite.h"
#include "sim/scenario/schema/words.h"

/* words.c */
void sim_words_rename(struct sim_words *words, struct sim_yaml *node, const char *key);
void sim_words_settle_section(struct sim_words *words, struct sim_yaml *node,
                              const struct sim_section *section);
void sim_words_settle_field(struct sim_words *words, struct sim_yaml *node,
                            const struct sim_field *field);

/* words_old.c: `workloads` becomes `jobs` and `fill`; paths and values of `set`; the rest, when
 * nothing more can change. */
void sim_words_settle_work(struct sim_words *words);
void sim_words_settle_sets(struct sim_words *words, struct sim_yaml *sets);
void sim_words_settle_rest(struct sim_words *words);

#endif
