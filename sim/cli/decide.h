/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `weir decide`: one scheduler decision on a JSON document, and the comparison with known answers.
 *
 * An input document names a command; the answer is a document too. What the scheduler refuses is
 * an answer ({"status": "error", ...}); what is not a valid input is a status with a message that
 * names the path. The formats are in docs/decide.md.
 */
#ifndef SIM_CLI_DECIDE_H
#define SIM_CLI_DECIDE_H

#include "weir/host.h"

#include <jansson.h>
#include <stdio.h>

int sim_cmd_decide(int argc, char **argv);

/* Answers one input document; the caller releases `*answer`. */
weir_status decide_answer(const json_t *input, json_t **answer, struct weir_error *error);

/* What a document may name besides the built-ins: the policies of plug-ins. */
struct sim_policies;
struct decide_question {
    const json_t *input;
    const struct sim_policies *policies; /* NULL = built-ins */
};
weir_status decide_answer_with(const struct decide_question *question, json_t **answer,
                               struct weir_error *error);

/* Prints a document, one line when `compact`. */
void decide_print(const json_t *document, bool compact, FILE *out);

struct decide_tally {
    uint32_t ok;
    uint32_t exact; /* of ok: with every placement as in the reference */
    uint32_t deviations;
    uint32_t failed;
};

/* Compares with the known answers of a file: a case, an array of cases, JSON lines, or tables. One
 * line a case to `out` (NULL = none). Status: WEIR_EIO or WEIR_EFORMAT with a message. */
weir_status decide_check_file(const char *path, FILE *out, struct decide_tally *tally,
                              struct weir_error *error);

/* The documents of a file ("-" = standard input): one, an array of them, or one a line. The caller
 * releases the array. Messages are file:line:column. */
weir_status decide_load(const char *path, json_t **documents, struct weir_error *error);
/* The same from a text with a zero behind its `length` bytes; `path` is for messages only. */
weir_status decide_parse(const char *path, const char *text, size_t length, json_t **documents,
                         struct weir_error *error);

#endif
