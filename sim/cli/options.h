/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Options that many commands share, as argp children, and the one way to parse a command line.
 *
 * A command lists the children it wants with headings of its own and hands a pointer to a struct
 * sim_options to them through state->child_inputs. sim_options_parse() refuses unknown options with
 * the nearest known one before argp sees them. Wrong usage ends the program with code 2.
 */
#ifndef SIM_CLI_OPTIONS_H
#define SIM_CLI_OPTIONS_H

#include "sim/cli/table.h"

#include <argp.h>
#include <stddef.h>

enum sim_exit {
    SIM_EXIT_OK = 0,
    SIM_EXIT_CHECK = 1,     /* a check or an expectation failed */
    SIM_EXIT_USAGE = 2,     /* usage or invalid scenario */
    SIM_EXIT_INPUT = 3,     /* input file or database */
    SIM_EXIT_POLICY = 4,    /* scheduler module */
    SIM_EXIT_INVARIANT = 5, /* broken invariant */
    SIM_EXIT_INTERRUPTED = 130
};

struct sim_options {
    enum sim_format format; /* --format; what it was before when not given */
    const char **sets;      /* --set path=value, in order */
    size_t sets_count;
    const char **plugins; /* --plugin FILE, in order */
    size_t plugins_count;
};

/* --format table|json|csv|md */
extern const struct argp sim_options_format_argp;
/* --plugin FILE alone */
extern const struct argp sim_options_plugin_argp;
/* --set PATH=VALUE, --plugin FILE */
extern const struct argp sim_options_scenario_argp;

/* The only word of a command line that makes sim_options_parse() print the long options, one a
 * line, and end the program: how completion learns them. */
#define SIM_OPTIONS_LIST "--list-options"

/* argp_parse with order kept, code 2 for wrong usage and "did you mean" for unknown options.
 * words[0] is the subcommand's name; messages begin with "weir NAME". */
void sim_options_parse(const struct argp *argp, int argc, char **words, void *input);

/* Index of `word` among `count` names, or -1. */
int sim_options_choice(const char *word, const char *const *names, size_t count);

void sim_options_clear(struct sim_options *options);

#endif
