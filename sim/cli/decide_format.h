/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The format of `weir decide`: one table of keys for each kind of object, from which reading is
 * checked and docs/decide.md is tested. A new part of the format (another list of the document) is
 * a table and one row.
 *
 * A document is checked whole before anything is read from it: unknown keys, missing keys, values
 * of a wrong type or out of range are all reported, each with line, column and a near name. After
 * that the readers of decide_input.h meet nothing unexpected but what several values say together.
 */
#ifndef SIM_CLI_DECIDE_FORMAT_H
#define SIM_CLI_DECIDE_FORMAT_H

#include "sim/cli/decide_document.h"
#include "sim/scenario/diagnostic.h"

/* Version 1 is the format without the keys `format` and `version`. */
enum { DECIDE_VERSION = 2 };
#define DECIDE_FORMAT "weir-decision"

enum decide_kind {
    DECIDE_NUMBER,
    DECIDE_COUNT, /* a whole number */
    DECIDE_TEXT,
    DECIDE_ID, /* a text, or a whole number that stands for its digits */
    DECIDE_FLAG,
    DECIDE_OBJECT, /* `of` says which */
    DECIDE_LIST,   /* of such objects, or of counts when there is no `of` */
    DECIDE_PARAMS, /* of the policy that the key before the underscore names */
    DECIDE_TYPES   /* null, a count, or a list of counts */
};

struct decide_keys;
struct decide_key {
    const char *name;
    enum decide_kind kind;
    const struct decide_keys *of;
    const char *unit;
    double most; /* numbers and counts are within [0, most]; 0 = no bound */
    bool is_required;
    bool may_be_null;
    const char *help;
};
struct decide_keys {
    const char *name; /* of the object, in docs */
    const struct decide_key *keys;
    size_t count;
};

/* Every kind of object; the document is the first. */
extern const struct decide_keys *const decide_formats[];
extern const size_t decide_formats_count;

/* Checks the document `index` and adds what is wrong to the diagnostics. Ids that are numbers
 * become texts. `policies` are those of plug-ins, or NULL. */
struct sim_policies;
void decide_format_check(const struct decide_documents *documents, size_t index,
                         const struct sim_policies *policies, struct sim_diagnostics *diagnostics);

/* Adds a message whose first words are the path of a value ("nodes[1].cpus: must be ..."), with the
 * place of that value. */
void decide_format_report(const struct decide_documents *documents, size_t index,
                          const char *message, struct sim_diagnostics *diagnostics);

#endif
