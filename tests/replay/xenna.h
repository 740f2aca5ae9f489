/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decide documents of the later versions of the xenna scheduler: N (today's) and C (with codecs).
 *
 * Such a document has a key `op` instead of `command`; an array of them gives an array of answers.
 * It is turned into the parts of an ordinary document (nodes, workers, mix) with amounts on the
 * grid of the version, the core is asked, and its answer is turned back. Nodes and workers are
 * ranked by the bytes of their ids. The format is in docs/decide.md.
 */
#ifndef SIM_CLI_DECIDE_XENNA_H
#define SIM_CLI_DECIDE_XENNA_H

#include "sim/cli/decide_input.h"

bool decide_is_xenna(const json_t *input);
weir_status decide_xenna(const json_t *input, json_t **answer, struct weir_error *error);

/* One document being answered. */
struct decide_xenna {
    const json_t *input;
    bool is_codec; /* version C, else N */
    json_t *nodes; /* as an ordinary document has them, ascending by id; owned */
    uint32_t usual_gpus;
};

weir_status decide_xenna_open(struct decide_xenna *xenna, const json_t *input,
                              struct weir_error *error);
void decide_xenna_close(struct decide_xenna *xenna);

/* An amount on the grid of the version. */
double decide_xenna_amount(const struct decide_xenna *xenna, double amount);

/* A shape of the document. `*refusal` is the name of the reference's error, or NULL. */
weir_status decide_xenna_shape(const struct decide_xenna *xenna, const json_t *json,
                               struct weir_shape *shape, const char **refusal,
                               struct weir_error *error);
json_t *decide_xenna_shape_json(const struct decide_xenna *xenna, const struct weir_shape *shape);
/* The shape as decide_shape reads it. */
json_t *decide_xenna_plain_shape(const struct weir_shape *shape);

/* An allocation of the document as decide_alloc reads it; new reference. */
json_t *decide_xenna_worker(const struct decide_xenna *xenna, const json_t *json);
/* And an allocation of an ordinary answer as the document has it. */
json_t *decide_xenna_alloc_json(const struct decide_xenna *xenna, const json_t *plain);

/* What is used on nodes from the start, as workers that nobody asks about. */
json_t *decide_xenna_fillers(const struct decide_xenna *xenna);

/* A shallow copy. */
json_t *decide_xenna_copy(const json_t *value);
/* The entries of a list ascending by the bytes of their `id`; new reference. */
json_t *decide_xenna_sorted(const json_t *list);

/* Used CPUs and GPUs of every node; new reference. */
json_t *decide_xenna_cluster_json(const struct decide_xenna *xenna,
                                  const struct weir_cluster *cluster);
/* An inventory of the nodes, the fillers and these workers (ordinary ones, each with a stage). */
weir_status decide_xenna_cluster(const struct decide_xenna *xenna, const json_t *workers,
                                 struct weir_cluster **cluster, struct weir_error *error);

/* decide_xenna_autoscale.c */
weir_status decide_xenna_autoscale(struct decide_xenna *xenna, json_t **answer,
                                   struct weir_error *error);

/* decide_saturation.c */
weir_status decide_saturation(struct decide_xenna *xenna, json_t **answer,
                              struct weir_error *error);

#endif
