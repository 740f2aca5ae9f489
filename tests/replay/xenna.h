/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Questions of the later versions of the xenna scheduler: N (today's) and C (with codecs).
 *
 * Such a question has a key `op` instead of `command`; an array of them gives an array of answers.
 * It is turned into the parts of a document of `weir decide` (nodes, workers, mix) with amounts on
 * the grid of the version, the core is asked, and its answer is turned back. Nodes and workers are
 * ranked by the bytes of their ids. The format is in docs/replay.md.
 */
#ifndef TESTS_REPLAY_XENNA_H
#define TESTS_REPLAY_XENNA_H

#include "tests/replay/replay.h"

bool replay_is_xenna(const json_t *input);
weir_status replay_xenna(const json_t *input, json_t **answer, struct weir_error *error);

/* One document being answered. */
struct replay_xenna {
    const json_t *input;
    bool is_codec; /* version C, else N */
    json_t *nodes; /* as an ordinary document has them, ascending by id; owned */
    uint32_t usual_gpus;
};

weir_status replay_xenna_open(struct replay_xenna *xenna, const json_t *input,
                              struct weir_error *error);
void replay_xenna_close(struct replay_xenna *xenna);

/* An amount on the grid of the version. */
double replay_xenna_amount(const struct replay_xenna *xenna, double amount);

/* A shape of the document. `*refusal` is the name of the reference's error, or NULL. */
weir_status replay_xenna_shape(const struct replay_xenna *xenna, const json_t *json,
                               struct weir_shape *shape, const char **refusal,
                               struct weir_error *error);
json_t *replay_xenna_shape_json(const struct replay_xenna *xenna, const struct weir_shape *shape);
/* The shape as decide_shape reads it. */
json_t *replay_xenna_plain_shape(const struct weir_shape *shape);

/* An allocation of the document as decide_alloc reads it; new reference. */
json_t *replay_xenna_worker(const struct replay_xenna *xenna, const json_t *json);
/* And an allocation of an ordinary answer as the document has it. */
json_t *replay_xenna_alloc_json(const struct replay_xenna *xenna, const json_t *plain);

/* What is used on nodes from the start, as workers that nobody asks about. */
json_t *replay_xenna_fillers(const struct replay_xenna *xenna);

/* The entries of a list ascending by the bytes of their `id`; new reference. */
json_t *replay_xenna_sorted(const json_t *list);

/* Used CPUs and GPUs of every node; new reference. */
json_t *replay_xenna_cluster_json(const struct replay_xenna *xenna,
                                  const struct weir_cluster *cluster);
/* An inventory of the nodes, the fillers and these workers (ordinary ones, each with a stage). */
weir_status replay_xenna_cluster(const struct replay_xenna *xenna, const json_t *workers,
                                 struct weir_cluster **cluster, struct weir_error *error);

/* One step of an allocator: workers to add (all or none), or ids of workers to remove. The key is
 * `add` or `remove`, also with an ending (`add_workers`); the value one of them or a list.
 * WEIR_EFORMAT for any other step. */
struct replay_step {
    bool is_add;
    json_t *list; /* new reference */
};
weir_status replay_step_read(const json_t *json, struct replay_step *step,
                             struct weir_error *error);

/* allocator.c */
weir_status replay_allocator(struct replay_xenna *xenna, json_t **answer, struct weir_error *error);

/* xenna_autoscale.c */
weir_status replay_xenna_autoscale(struct replay_xenna *xenna, json_t **answer,
                                   struct weir_error *error);

/* saturation.c */
weir_status replay_saturation(struct replay_xenna *xenna, json_t **answer,
                              struct weir_error *error);

#endif
