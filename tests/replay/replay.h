/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Known cases of the schedulers that weir repeats: answering their questions with libweir, and
 * judging the answers beside the stored ones. Formats and rules are in docs/replay.md.
 *
 * A question of version P has a key `command`, those of C and N have `op`. A question is turned
 * into a document of `weir decide` where there is one for it; the small ones (a shape, a score)
 * look at insides of libweir.
 */
#ifndef TESTS_REPLAY_REPLAY_H
#define TESTS_REPLAY_REPLAY_H

#include "sim/cli/decide/decide_input.h"

#include <math.h>
#include <stdio.h>

/* Answers one question; the caller releases `*answer`. What the scheduler refuses is an answer;
 * what is no question of the formats is WEIR_EFORMAT with the path of the key. */
weir_status replay_answer(const json_t *input, json_t **answer, struct weir_error *error);

/* Cases of one file, or of several. */
struct replay_tally {
    uint32_t ok;
    uint32_t exact;      /* of ok: with every placement as in the original */
    uint32_t deviations; /* ours differs on purpose, by a stated rule, and is right by it */
    uint32_t failed;
};

/* Judges the cases of a file: one, an array of them, JSON lines, or tables. One line a case to
 * `out` (NULL = none). WEIR_EIO or WEIR_EFORMAT with a message for what cannot be judged. */
weir_status replay_check_file(const char *path, FILE *out, struct replay_tally *tally,
                              struct weir_error *error);
/* The same of a text; `path` is for messages. */
struct decide_documents;
weir_status replay_check_documents(const struct decide_documents *documents, FILE *out,
                                   struct replay_tally *tally, struct weir_error *error);

/* ---- parts (input.c) ---- */

/* Whole numbers; what is beyond their range is none, and stands for the fallback. */
static inline uint32_t replay_count_or(const json_t *object, const char *key, uint32_t fallback)
{
    const double number = decide_number_or(object, key, fallback);
    return number >= 0 && number <= UINT32_MAX ? (uint32_t)number : fallback;
}
static inline int64_t replay_amount_or(const json_t *object, const char *key, int64_t fallback)
{
    const double number = decide_number_or(object, key, (double)fallback);
    return fabs(number) < 0x1p62 ? (int64_t)number : fallback;
}

/* The text of a key, "" when there is none. */
const char *replay_text(const json_t *object, const char *key);

weir_status replay_amounts(const json_t *json, struct weir_amounts *amounts,
                           struct weir_error *error);

/* The inventory of a question: its nodes, and its workers with ids 1, 2, ... in list order. Worker
 * stages are indices into `stages`, a list of names that grows when it may. */
weir_status replay_cluster(const json_t *input, json_t *stages, struct weir_cluster **cluster,
                           struct weir_error *error);

/* A mix with its memory; release with replay_mix_free. */
struct replay_mix {
    struct weir_mix mix;
    struct weir_shape *shapes;
    double *frequencies;
};
weir_status replay_mix(const json_t *input, struct replay_mix *mix, struct weir_error *error);
void replay_mix_free(struct replay_mix *mix);

/* ---- version P ---- */

/* The question as a document of `weir decide`: with the policies of version P. New reference. */
json_t *replay_document(const json_t *input);
weir_status replay_pass(const json_t *input, json_t **answer, struct weir_error *error);
/* The policy xenna, version P, whose counts of phase 0 are parameters: workers_0, workers_1, ... */
extern const struct weir_scaling_ops replay_given;
/* A shallow copy. */
json_t *replay_copy(const json_t *value);

#endif
