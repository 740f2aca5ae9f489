/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The policies `command`: decisions made by programs in any language, one for each kind of policy.
 *
 * A program runs as long as its run does. Each question is one line of JSON on its standard input
 * and one line back. For scaling the question is the document of `weir decide`; for placement and
 * queueing the first line has the whole state and the others what changed since (command_state.h).
 * Whatever a program does wrong ends the run with WEIR_EPOLICY. Plans are checked by the host as
 * any other.
 *
 * Libweir knows parameters that are numbers and does no input or output. So argument lists and the
 * prepared question reach the policies through the state of the host's allocator, which is always
 * the one made here; a host without it cannot use these policies.
 */
#ifndef SIM_COMMAND_POLICY_H
#define SIM_COMMAND_POLICY_H

#include "sim/port/command_process.h"

#include "weir/job.h"

enum sim_command_kind {
    SIM_COMMAND_PLACEMENT,
    SIM_COMMAND_SCALING,
    SIM_COMMAND_QUEUEING,
    SIM_COMMAND_KINDS
};

/* Owned by whoever owns the host; outlives it. */
struct sim_commands {
    struct sim_command_setup of[SIM_COMMAND_KINDS];
    char *question; /* for scaling: one line with its newline */
    size_t question_length;
};

extern const struct weir_placement_ops sim_command_placement; /* command_placement.c */
extern const struct weir_scaling_ops sim_command_scaling;
extern const struct weir_queueing_ops sim_command_queueing; /* command_queueing.c */
/* How long the program may think; of queueing also whether jobs may pass. */
extern const struct weir_param sim_command_params[2];

struct weir_allocator sim_command_allocator(struct sim_commands *commands);
/* NULL = it is of another host. */
struct sim_commands *sim_commands_of(const struct weir_allocator *allocator);
void sim_commands_clear(struct sim_commands *commands);

/* Makes the next question for scaling of `text`, the document of a decision; `word` becomes its
 * `command`. */
weir_status sim_commands_prepare(struct sim_commands *commands, const char *text, const char *word);

/* Puts the command line that failed before the error; gives `status` back. */
weir_status sim_commands_name(const struct sim_commands *commands, weir_status status,
                              struct weir_error *error);

/* command_answer.c: the plan that an answer asks for: all stops, then slots, then starts. */
weir_status sim_command_plan(const char *line, size_t length, const struct weir_view *view,
                             struct weir_plan *plan, struct weir_error *error);
/* Whether the answer says so itself: {"status": "error", "error_message": ...}. */
weir_status sim_command_accepted(const char *line, size_t length, struct weir_error *error);
/* One worker's place, {"node": ID, ...}; *is_refused: {"node": null}. */
weir_status sim_command_place(struct sim_command_line line, const struct weir_place_query *query,
                              struct weir_alloc *alloc, bool *is_refused, struct weir_error *error);
/* Calls for every {"keys": {ID: NUMBER}}; stops at the first that fails. */
struct sim_command_key {
    const char *job; /* its id as it was told */
    double key;
};
weir_status sim_command_keys(struct sim_command_line line,
                             weir_status (*take)(void *state, const struct sim_command_key *key,
                                                 struct weir_error *error),
                             void *state, struct weir_error *error);

#endif
