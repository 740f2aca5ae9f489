/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words that people meet: what `weir list` lists and `weir help` explains, one kind a row. A
 * new kind is a row in words.c.
 */
#ifndef SIM_CLI_WORDS_H
#define SIM_CLI_WORDS_H

#include "sim/cli/options.h"

#include <stddef.h>

struct sim_word_kind {
    const char *name, *one; /* "policies", "policy" */
    const char *summary;
    /* Names of this kind into `names`, at most `capacity`. */
    size_t (*names)(const char **names, size_t capacity);
    /* Prints what is known of a word; false = it is none of this kind. */
    bool (*explain)(const char *word);
    int (*list)(const struct sim_options *options); /* exit code */
};

extern const struct sim_word_kind sim_word_kinds[];
extern const size_t sim_word_kinds_count;

/* plot.c, policies.c: what those commands list. */
int sim_list_plots(const struct sim_options *options);
size_t sim_policy_names(const char **names, size_t capacity);

#endif
