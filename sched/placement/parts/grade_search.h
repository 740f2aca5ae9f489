/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best node so far while grades are compared, and the answer it makes; see grades.h.
 */
#ifndef SCHED_PLACEMENT_GRADE_SEARCH_H
#define SCHED_PLACEMENT_GRADE_SEARCH_H

#include "sched/placement/parts/grades.h"

/* The outcome of comparing some nodes. */
struct weir_grade_tally {
    struct weir_grade best, second;
    uint32_t node, second_node; /* WEIR_NO_INDEX = none */
    uint32_t ties;
};

/* How many nodes took part, and why the others did not. */
struct weir_grade_counts {
    uint32_t candidates;
    uint32_t rejected[WEIR_REASON_ROOM];
};

struct weir_grade_search {
    const struct weir_place_query *query;
    uint64_t order_seed;
    uint32_t tie; /* enum weir_tie */
    struct weir_grade_tally tally;
    struct weir_grade_counts counts;
};

struct weir_grade_search weir_grade_search_begin(const struct weir_grader *grader,
                                                 const struct weir_place_query *query);
/* One node that has room, or none; nodes come in ascending order. */
void weir_grade_search_weigh(struct weir_grade_search *search, uint32_t node,
                             struct weir_grade grade);
void weir_grade_search_reject(struct weir_grade_search *search, uint32_t reason);
/* A node that is counted already, or the best of `ties` equal ones, meets the best so far; or it
 * has too little memory after all. */
void weir_grade_search_meet(struct weir_grade_search *search, uint32_t node,
                            struct weir_grade grade, uint32_t ties);
void weir_grade_search_lack_ram(struct weir_grade_search *search);
/* One that lost already against the best so far may be the second. Of runners-up with the same
 * grade another one may be named than weighing one by one would. */
void weir_grade_search_offer_second(struct weir_grade_search *search, uint32_t node,
                                    struct weir_grade grade);
/* Whether a node comes before another one of the same grade. */
bool weir_grade_goes_before(uint64_t order_seed, const struct weir_cluster *cluster, uint32_t node,
                            uint32_t other);
/* WEIR_EBUSY when no node was weighed. */
weir_status weir_grade_search_end(const struct weir_grade_search *search,
                                  struct weir_place_answer *answer, struct weir_error *error);

#endif
