/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The scaling policy `command`: decisions made by a program in any language.
 *
 * The program runs as long as its run does. Each decision is one line of JSON on its standard input
 * (the document of `weir decide`) and one line back. It is started without a shell; whatever it
 * does wrong ends the run with WEIR_EPOLICY. Its plan is checked by the host as any other.
 *
 * Libweir knows parameters that are numbers and does no input or output. So the argument list and
 * the prepared question reach the policy through the state of the host's allocator, which is always
 * the one made here; a host without it cannot use this policy.
 */
#ifndef SIM_COMMAND_POLICY_H
#define SIM_COMMAND_POLICY_H

#include "weir/policy.h"

enum { SIM_COMMAND_TEXT = 160 };

/* Owned by whoever owns the host; outlives it. */
struct sim_command_setup {
    const char *const *argv; /* NULL at its end */
    const char *folder;      /* working directory of the program, NULL = ours */
    char *question;          /* one line with its newline */
    size_t question_length;
};

extern const struct weir_scaling_ops sim_command_scaling;

struct weir_allocator sim_command_allocator(struct sim_command_setup *setup);
void sim_command_clear(struct sim_command_setup *setup);

/* Makes the next question of `text`, the document of a decision; `word` becomes its `command`. */
weir_status sim_command_prepare(struct sim_command_setup *setup, const char *text,
                                const char *word);

/* The command line, cut where it is too long. */
void sim_command_text(const struct sim_command_setup *setup, char text[SIM_COMMAND_TEXT]);

/* command_answer.c: the plan that an answer asks for: all stops, then slots, then starts. */
weir_status sim_command_plan(const char *line, size_t length, const struct weir_view *view,
                             struct weir_plan *plan, struct weir_error *error);
/* Whether the answer says so itself: {"status": "error", "error_message": ...}. */
weir_status sim_command_accepted(const char *line, size_t length, struct weir_error *error);

#endif
