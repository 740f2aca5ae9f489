/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A document of `weir decide` as a host: all that it says is told, and the host is ready for the
 * call that the document is about.
 *
 * With `next_worker` (as hosts export) ids of nodes and workers are the host's own; else they are
 * names, and workers have the numbers 1, 2, ... in list order.
 */
#ifndef SIM_CLI_DECIDE_HOST_H
#define SIM_CLI_DECIDE_HOST_H

#include "sim/cli/decide/decide_input.h"

struct decide_host {
    const struct decide_question *question;
    const json_t *input; /* the document that is told */
    json_t *nodes;
    json_t *stages;
    const json_t *workers;
    struct decide_document head;
    struct decide_tables tables;
    json_t *kinds; /* of jobs */
    struct decide_speeds *speeds;
    bool is_numbered;
    struct weir_host *host;
    struct weir_call call;
    const struct weir_plan *plan; /* of the last decision, NULL = there is none */
    size_t changes;               /* told of this document */
};

/* Whatever comes, release it with decide_host_close. WEIR_EFORMAT and the like with the path of
 * what is wrong. */
weir_status decide_host_open(struct decide_host *made, const struct decide_question *question,
                             struct weir_error *error);
void decide_host_close(struct decide_host *host);
/* What happened since: a document of the command `next`, which was checked. When it fails what was
 * told before the failure stays, `changes` in number. */
weir_status decide_host_change(struct decide_host *made, const json_t *change,
                               struct weir_error *error);
/* The decision that the host is ready for; the caller releases `*answer`. */
weir_status decide_host_answer(struct decide_host *host, json_t **answer, struct weir_error *error);

/* ---- between the files that tell a host ---- */
typedef weir_status (*decide_take)(struct decide_host *made, const json_t *json, size_t place,
                                   struct weir_error *error);
/* Every element of a list of the document; messages name it. */
weir_status decide_take_all(struct decide_host *made, const char *key, decide_take take,
                            struct weir_error *error);
weir_status decide_take_new_node(struct decide_host *made, const json_t *json, size_t place,
                                 struct weir_error *error);
weir_status decide_take_offer(struct decide_host *made, const json_t *json, size_t place,
                              struct weir_error *error);
weir_status decide_take_estimate(struct decide_host *made, const json_t *json, size_t place,
                                 struct weir_error *error);
weir_status decide_take_submitted(struct decide_host *made, const json_t *json, size_t place,
                                  struct weir_error *error);
/* The node that the text under a key names. */
weir_status decide_node_named(const struct decide_host *made, const json_t *json, const char *key,
                              uint32_t *index, struct weir_error *error);
/* When and why the document asks. */
void decide_read_call(struct decide_host *made);

#endif
