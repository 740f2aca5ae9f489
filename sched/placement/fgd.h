/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fragmentation gradient descent: the rules, the plain implementation, and the fast one.
 *
 * Place: the candidate with the smallest change of F (frag.h); ties by the node's stock after it,
 * then by order (workers to reuse first, then nodes, then candidates). Evict: the worker whose
 * release changes F least; ties by its node's stock before, then the oldest. Changes of F are
 * rounded to a grid before they are compared, so that rounding noise never decides.
 *
 * fgd_plain.c recomputes everything for a place, fgd_single.c in 32-bit floats: the oracles of the
 * tests ask them. fgd_fast.c gives the same answers and keeps the best of every node in a
 * tournament a shape (or a pool, to evict), which is brought up to date only where the inventory
 * changed. Its counts in the choice report differ: it counts candidates that differ, per node;
 * `ties` is the number within the chosen node plus one when the second best node is equal.
 */
#ifndef SCHED_PLACEMENT_FGD_H
#define SCHED_PLACEMENT_FGD_H

#include "sched/placement/parts/frag_state.h"
#include "sched/placement/parts/grades.h"
#include "sched/placement/parts/tournament.h"
#include "weir/policy.h"

/* The first three for changes and grades, the others for grades alone (as enum weir_tie). */
enum weir_fgd_tie {
    WEIR_FGD_MOST_FREE,
    WEIR_FGD_MOST_USED,
    WEIR_FGD_FIRST,
    WEIR_FGD_RANDOM,
    WEIR_FGD_BEST_FIT,
    WEIR_FGD_LEAST_GPUS,
    WEIR_FGD_LEAST_CPUS,
    WEIR_FGD_MOST_CPUS,
    WEIR_FGD_LEAST_FRAG,
    WEIR_FGD_TIE_COUNT
};
enum weir_fgd_bonus { WEIR_FGD_EVERYONE, WEIR_FGD_REUSED };
enum weir_fgd_evict_tie { WEIR_FGD_EMPTIEST, WEIR_FGD_FULLEST, WEIR_FGD_EMPTIEST_AFTER };
enum weir_fgd_precision { WEIR_FGD_DOUBLE, WEIR_FGD_SINGLE };
enum weir_fgd_whole { WEIR_FGD_ALL_WHOLE, WEIR_FGD_FIRST_FREE };
enum weir_fgd_engines { WEIR_FGD_FREE_ENGINES, WEIR_FGD_LOWEST_ENGINES };
enum weir_fgd_reuse { WEIR_FGD_REUSE_NEVER, WEIR_FGD_REUSE_SAME_TIE, WEIR_FGD_REUSE_MOST_USED };
enum weir_fgd_score { WEIR_FGD_SCORE_CHANGE, WEIR_FGD_SCORE_GRADE };
enum weir_fgd_device_score { WEIR_FGD_DEVICE_CUT, WEIR_FGD_DEVICE_FULL };

struct weir_fgd_rules {
    uint32_t metric;        /* enum weir_frag_metric */
    uint32_t tie;           /* enum weir_fgd_tie */
    uint32_t bonus_applies; /* enum weir_fgd_bonus */
    uint32_t evict_tie;     /* enum weir_fgd_evict_tie */
    uint32_t precision;     /* enum weir_fgd_precision; the rest only matters when it is single */
    uint32_t whole;         /* enum weir_fgd_whole */
    uint32_t engines;       /* enum weir_fgd_engines, of WHOLE */
    uint32_t reuse;         /* enum weir_fgd_reuse */
    uint32_t score;         /* enum weir_fgd_score */
    uint32_t device_score;  /* enum weir_fgd_device_score */
    double bonus;           /* GPUs */
    double resolution;      /* GPUs */
    double steps;           /* of grades */
    uint64_t order_seed;    /* of grades: draws the order of nodes, 0 = as they are */
};

/* The parameter table of the policy, in the order of these indices. */
enum {
    WEIR_FGD_PARAM_METRIC,
    WEIR_FGD_PARAM_TIE,
    WEIR_FGD_PARAM_BONUS,
    WEIR_FGD_PARAM_BONUS_APPLIES,
    WEIR_FGD_PARAM_EVICT_TIE,
    WEIR_FGD_PARAM_RESOLUTION,
    WEIR_FGD_PARAM_PRECISION,
    WEIR_FGD_PARAM_WHOLE,
    WEIR_FGD_PARAM_ENGINES,
    WEIR_FGD_PARAM_REUSE,
    WEIR_FGD_PARAM_SCORE,
    WEIR_FGD_PARAM_STEPS,
    WEIR_FGD_PARAM_DEVICE_SCORE,
    WEIR_FGD_PARAM_ORDER,
    WEIR_FGD_PARAM_COUNT
};

struct weir_fgd_rules weir_fgd_rules_read(const struct weir_params *values);

/* A change of F in steps of the resolution, nearest. */
int64_t weir_fgd_steps(const struct weir_fgd_rules *rules, double gpus);
/* The second key for a place: the node's stock after it, `stock_free` and `stock_total` being the
 * node's before. */
int64_t weir_fgd_place_tie(const struct weir_fgd_rules *rules, int64_t stock_free_after,
                           int64_t stock_total);
int64_t weir_fgd_evict_tie_key(const struct weir_fgd_rules *rules, int64_t stock_free,
                               int64_t stock_total);

/* ---- plain ---- */
struct weir_score weir_fgd_plain_score(const struct weir_fgd_rules *rules,
                                       const struct weir_place_query *query,
                                       const struct weir_alloc *candidate);

/* ---- by grades (score GRADE, always with the metric PAPER) ---- */
/* Place: nodes are graded by the logistic function of the fall of F, cut to `steps`; of equal nodes
 * the tie rule, then the first. A share goes to the GPU with the best grade, cut or in full. */
struct weir_grade weir_fgd_grade(const void *rules, const struct weir_grade_site *site);
/* The same with the rules for ties; `rules` must stay. */
struct weir_grader weir_fgd_grader(const struct weir_fgd_rules *rules);

/* ---- single precision, every place looked at: the later versions of the reference ---- */
/* A change of one node: F before and after, the node's stock before, and what of it moves. */
struct weir_fgd_single_change {
    struct weir_frag_singles frag;
    int64_t stock_free, stock_total, stock_moved;
};
struct weir_score weir_fgd_single_of_place(const struct weir_fgd_rules *rules,
                                           const struct weir_fgd_single_change *change,
                                           bool is_reused);
struct weir_score weir_fgd_single_of_victim(const struct weir_fgd_rules *rules,
                                            const struct weir_fgd_single_change *change);
/* Whether the rules refuse the place: not engines 0 to k-1 of every GPU. */
bool weir_fgd_single_refuses(const struct weir_fgd_rules *rules, const struct weir_shape *shape,
                             const struct weir_alloc *candidate);

struct weir_score weir_fgd_single_score(const struct weir_fgd_rules *rules,
                                        const struct weir_place_query *query,
                                        const struct weir_alloc *candidate, bool is_reused);
/* Smaller is removed first. */
struct weir_score weir_fgd_single_victim(const struct weir_fgd_rules *rules,
                                         const struct weir_evict_query *query,
                                         const struct weir_alloc *held);

/* ---- fast, in either precision ---- */
struct weir_fgd;

weir_status weir_fgd_create(const struct weir_fgd_rules *rules,
                            const struct weir_allocator *allocator, struct weir_fgd **fgd);
void weir_fgd_destroy(struct weir_fgd *fgd);
const struct weir_fgd_rules *weir_fgd_rules(const struct weir_fgd *fgd);
weir_status weir_fgd_place(struct weir_fgd *fgd, const struct weir_place_query *query,
                           struct weir_place_answer *answer, struct weir_error *error);
weir_status weir_fgd_evict(struct weir_fgd *fgd, const struct weir_evict_query *query,
                           uint64_t *worker, struct weir_error *error);

#endif
