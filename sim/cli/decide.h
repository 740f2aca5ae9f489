/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `weir decide`: one scheduler decision on a JSON document.
 *
 * The answer is a document too. What the scheduler refuses is an answer ({"status": "error", ...});
 * what is not a valid input is a status with a message that names the path. The format is in
 * decide_format.h and docs/decide.md.
 */
#ifndef SIM_CLI_DECIDE_H
#define SIM_CLI_DECIDE_H

#include "weir/host.h"

#include <jansson.h>

int sim_cmd_decide(int argc, char **argv);

/* One document, and what it may name besides the built-ins: the policies of plug-ins. */
struct sim_policies;
struct decide_question {
    const json_t *input;
    const struct sim_policies *policies; /* NULL = built-ins */
};

/* Answers a document that was checked; the caller releases `*answer`. */
weir_status decide_answer(const struct decide_question *question, json_t **answer,
                          struct weir_error *error);

#endif
