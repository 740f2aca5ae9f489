/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asking a placement policy, with the documented defaults for operations it does not have.
 *
 * The default `place` offers workers to reuse first, then nodes in order, then a node's candidates
 * in the order of candidates.h; the first strictly best by (primary, secondary) wins. GPUs of a
 * node that are in the same state are interchangeable, so only the first of candidates that differ
 * merely by such GPUs is offered. The default `evict` takes the youngest worker.
 *
 * What is here keeps no state; fgd.c has a place of its own that follows changes.
 */
#ifndef SCHED_PLACEMENT_SCAN_H
#define SCHED_PLACEMENT_SCAN_H

#include "sched/placement/parts/candidates.h"
#include "weir/policy.h"

/* The policy's `place`, or the default one. On WEIR_EBUSY answer->choice is filled. */
weir_status weir_placement_place(const struct weir_placement_ops *ops, void *state,
                                 const struct weir_place_query *query,
                                 struct weir_place_answer *answer, struct weir_error *error);

/* The policy's `evict`, or the youngest candidate. */
weir_status weir_placement_evict(const struct weir_placement_ops *ops, void *state,
                                 const struct weir_evict_query *query, uint64_t *worker,
                                 struct weir_error *error);

/* The default `place` by itself. `score` may be given another meaning than the policy's. */
typedef struct weir_score (*weir_score_function)(void *state, const struct weir_place_query *query,
                                                 const struct weir_alloc *candidate);
struct weir_scan {
    weir_score_function score;
    void *state;
    double reuse_bonus; /* taken off the primary score of reused workers */
    uint32_t mode;      /* enum weir_candidate_mode */
    bool first_whole;   /* WHOLE: only the first candidate of a node */
    /* NULL = `score` and the bonus; else the score of reused workers, ties to the lowest id. */
    weir_score_function reuse_score;
};
weir_status weir_scan_place(const struct weir_scan *scan, const struct weir_place_query *query,
                            struct weir_place_answer *answer, struct weir_error *error);

/* Index of the worker to reuse that stood at exactly this place, or WEIR_NO_INDEX. */
uint32_t weir_scan_find_reused(const struct weir_place_query *query,
                               const struct weir_alloc *alloc);

/* The first candidate of a node; of a share of a GPU the one on the GPU with least free, as Ray
 * chooses. False (and nothing filled) when there is none. */
bool weir_place_tightest(const struct weir_place_query *query, uint32_t node,
                         struct weir_alloc *alloc);

/* Nothing seen, nothing reused. */
void weir_answer_begin(struct weir_place_answer *answer);

/* Fails with WEIR_EBUSY and says which reason was the most frequent. */
weir_status weir_scan_busy(const struct weir_choice *choice, struct weir_error *error);

/* Candidates of an evict query: how many, and the n-th one's id. */
uint32_t weir_evict_count(const struct weir_evict_query *query);
uint64_t weir_evict_candidate(const struct weir_evict_query *query, uint32_t position);
/* WEIR_ENOTFOUND with a sentence. */
weir_status weir_evict_nobody(const struct weir_evict_query *query, struct weir_error *error);

#endif
