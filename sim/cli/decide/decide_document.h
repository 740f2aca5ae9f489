/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The documents of a file: one JSON object, an array of objects, or one object a line; with the
 * text they came from, so that a message can name line and column of any part of them.
 */
#ifndef SIM_CLI_DECIDE_DOCUMENT_H
#define SIM_CLI_DECIDE_DOCUMENT_H

#include "sim/cli/json_place.h"
#include "weir/status.h"

#include <jansson.h>
#include <stdio.h>

struct decide_documents {
    const char *path; /* for messages; the caller's */
    char *text;
    size_t *starts;  /* of each document in the text when each has a line of its own, else NULL */
    bool is_array;   /* the text is one array of them */
    bool is_session; /* a document may say what happened since the one before */
    json_t *list;    /* an array */
};

/* A file ("-" = standard input). WEIR_EIO, or WEIR_EFORMAT with file:line:column. Release with
 * decide_documents_clear, also after a failure. */
weir_status decide_documents_load(const char *path, struct decide_documents *documents,
                                  struct weir_error *error);
/* The same from a text, which is copied. */
weir_status decide_documents_parse(const char *path, const char *text, size_t length,
                                   struct decide_documents *documents, struct weir_error *error);
void decide_documents_clear(struct decide_documents *documents);

/* Where a part of the document `index` stands. Steps beyond SIM_JSON_STEPS are left out. */
enum { SIM_JSON_STEPS = 12 };
struct sim_json_place decide_documents_place(const struct decide_documents *documents, size_t index,
                                             const struct sim_json_step *steps, size_t count);

/* Prints a document, one line when `compact`. */
void decide_print(const json_t *document, bool compact, FILE *out);

#endif
