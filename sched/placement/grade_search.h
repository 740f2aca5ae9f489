/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best node so far while grades are compared, and the answer it makes; see grades.h.
 */
#ifndef SCHED_PLACEMENT_GRADE_SEARCH_H
#define SCHED_PLACEMENT_GRADE_SEARCH_H

#include "sched/placement/grades.h"

struct weir_grade_search {
    struct weir_place_answer *answer;
    const struct weir_place_query *query;
    uint64_t order_seed;
    struct weir_grade best, second;
    uint32_t node, second_node;
    uint32_t tie; /* enum weir_tie */
};

struct weir_grade_search weir_grade_search_begin(const struct weir_grader *grader,
                                                 const struct weir_place_query *query,
                                                 struct weir_place_answer *answer);
/* One node that has room; nodes come in ascending order. */
void weir_grade_search_weigh(struct weir_grade_search *search, uint32_t node,
                             struct weir_grade grade);
/* WEIR_EBUSY when no node was weighed. */
weir_status weir_grade_search_end(const struct weir_grade_search *search, struct weir_error *error);

#endif
