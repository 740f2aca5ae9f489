/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The program behind a policy `command`: started without a shell in a sandbox, asked by one line of
 * JSON, heard when it answers with one. Whatever it does wrong is WEIR_EPOLICY and its setup is
 * blamed.
 */
#ifndef SIM_COMMAND_PROCESS_H
#define SIM_COMMAND_PROCESS_H

#include "weir/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { SIM_COMMAND_TEXT = 160 };

struct sim_command_setup {
    const char *const *argv; /* NULL at its end; NULL = the policy is another one */
    const char *folder;      /* working directory of the program, NULL = ours */
    bool is_blamed;          /* it was its program that went wrong */
};

/* A line with its newline. */
struct sim_command_line {
    const char *text;
    size_t length;
};

struct sim_command;

/* `setup` outlives it; NULL = the host is none of ours, WEIR_EUNSUPPORTED. */
weir_status sim_command_start(struct sim_command_setup *setup, double timeout_s,
                              struct sim_command **made, struct weir_error *error);
void sim_command_end(struct sim_command *command);
/* The answer is good until the next question. */
weir_status sim_command_ask(struct sim_command *command, struct sim_command_line question,
                            struct sim_command_line *answer, struct weir_error *error);
/* The same; the question is what `write` writes. */
weir_status sim_command_ask_written(struct sim_command *command,
                                    weir_status (*write)(void *state, FILE *out), void *state,
                                    struct sim_command_line *answer, struct weir_error *error);
/* Its answer was wrong. */
void sim_command_blame(struct sim_command *command);

/* The command line, cut where it is too long. */
void sim_command_text(const struct sim_command_setup *setup, char text[SIM_COMMAND_TEXT]);

#endif
