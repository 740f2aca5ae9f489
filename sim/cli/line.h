/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A command line that one command gives to another: what has a new name is done by what did it
 * before. Words are copies. A line takes so many words as there are; what is beyond is left out
 * and the line says so when it is run.
 */
#ifndef SIM_CLI_LINE_H
#define SIM_CLI_LINE_H

#include "sim/cli/options.h"

struct sim_line {
    char **words;
    size_t count;
    bool is_short; /* out of memory */
};

/* `option` and `value`; either may be NULL = none. */
void sim_line_add(struct sim_line *line, const char *option, const char *value);
/* `option` before every one of them. */
void sim_line_add_all(struct sim_line *line, const char *option, const struct sim_words *values);
/* --set, --plugin, --in-process and --limit; --format when it is another than the first. */
void sim_line_add_options(struct sim_line *line, const struct sim_options *options);
/* Runs it and frees it; the exit code. */
int sim_line_run(struct sim_line *line, int (*run)(int argc, char **argv));

#endif
