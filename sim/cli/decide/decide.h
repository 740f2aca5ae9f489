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

/* What nodes and workers are called: by lists of objects with an `id`, or of texts. */
struct decide_names {
    const json_t *nodes;
    const json_t *workers; /* of the workers 1, 2, ... */
    uint64_t first_new;    /* this worker and those after it are n0, n1, ... */
    bool is_numbered;      /* or workers are called by their numbers */
};
/* The actions of a plan in their order, with all that a controller has to know. */
json_t *decide_actions_json(const struct weir_plan *plan, const struct decide_names *names);

#endif
