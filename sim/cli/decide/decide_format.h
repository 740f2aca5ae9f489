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

#include "sim/cli/decide/decide_document.h"
#include "sim/scenario/read/diagnostic.h"

enum { DECIDE_VERSION = 3 };
#define DECIDE_FORMAT "weir-decision"

enum decide_kind {                /* read into */
                   DECIDE_NUMBER, /* double */
                   DECIDE_UNITS,  /* int64_t: a number of CPUs or GPUs, in units */
                   DECIDE_COUNT,  /* uint32_t: a whole number */
                   DECIDE_WHOLE,  /* int64_t: the same */
                   DECIDE_WORD,   /* uint64_t: a whole number or a text of its digits */
                   DECIDE_FLAG,   /* uint32_t */
                   DECIDE_CHOICE, /* uint32_t: which of the words */
                   DECIDE_TEXT,   /* const char *: the document's */
                   DECIDE_NAME,   /* char[WEIR_MIG_NAME] */
                   DECIDE_ID,     /* a text, or a whole number that stands for its digits */
                   DECIDE_OBJECT, /* `of` says which */
                   DECIDE_LIST,   /* of such objects, or of `element` when there is no `of` */
                   DECIDE_PARAMS, /* of the policy that the key before the underscore names */
                   DECIDE_TYPES   /* null, a count, or a list of counts */
};

struct decide_keys;
struct decide_key {
    const char *name;
    enum decide_kind kind;
    enum decide_kind element;
    const struct decide_keys *of;
    const char *unit;
    const char *choices; /* "a|b|c" */
    double least, most;  /* numbers are within [least, most]; most 0 = no bound */
    size_t field;        /* where it is read to: 1 + offset; 0 = by hand */
    bool is_required;
    bool may_be_null;
    const char *help;
};
struct decide_keys {
    const char *name; /* of the object, in docs */
    const struct decide_key *keys;
    size_t count;
};

extern const struct decide_keys decide_document_keys, decide_offer_keys, decide_node_keys,
    decide_gpu_keys, decide_table_keys, decide_profile_keys, decide_instance_keys,
    decide_stage_keys, decide_shape_keys, decide_estimate_keys, decide_worker_keys,
    decide_workload_keys, decide_tenant_keys, decide_licence_keys, decide_reservation_keys,
    decide_kind_keys, decide_group_keys, decide_job_keys, decide_new_job_keys, decide_cut_keys,
    decide_policy_keys, decide_change_keys, decide_outcome_keys, decide_changed_stage_keys,
    decide_wake_keys;

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
