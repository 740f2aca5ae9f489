/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A list of remarks on input files, in the order of the text.
 *
 * One remark = file:line:column, a sentence (path of the key, what was expected, the value found),
 * and, where a name is near, a suggestion. Printing shows the source line and a caret.
 */
#ifndef SIM_SCENARIO_DIAGNOSTIC_H
#define SIM_SCENARIO_DIAGNOSTIC_H

#include "weir/version.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct sim_diagnostic {
    char *file;
    int line; /* from 1; 0 = whole file or a --set */
    int column;
    bool is_warning;
    char *message;     /* "pipelines[0].stages[2].service: mean must be > 0, got -3" */
    char *suggestion;  /* "fgd", or NULL */
    char *source_line; /* the text of the line, or NULL */
    int width;         /* columns to underline */
};

struct sim_diagnostics {
    struct sim_diagnostic *items;
    size_t count;
    size_t errors;
};

void sim_diagnostics_clear(struct sim_diagnostics *diagnostics);

/* Text: "file:line:column: error: message; did you mean 'x'?", source line, caret; ends with
 * "FILE: N errors". */
void sim_diagnostics_print(const struct sim_diagnostics *diagnostics, FILE *out);
void sim_diagnostics_print_json(const struct sim_diagnostics *diagnostics, FILE *out);

/* What is said of a text that is no mapping. */
#define SIM_NO_MAPPING                                                                             \
    "a scenario is a mapping of keys (schema: 2, name: ...); weir new pipeline NAME writes one"

/* The nearest of `names` within edit distance 2 (3 for names above 8 letters), or NULL; one that
 * the word begins is nearer than any. */
const char *sim_near_name(const char *word, const char *const *names, size_t count);

#endif
