/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The heaviest matching of a bipartite graph with few edges: shortest augmenting paths with
 * potentials (Jonker and Volgenant 1987) that go along edges only. The same with all edges:
 * assignment.h.
 */
#ifndef SCHED_SOLVE_MATCHING_H
#define SCHED_SOLVE_MATCHING_H

#include "weir/cluster.h"

struct weir_match_edge {
    uint32_t row, column;
    double weight; /* > 0 */
};

/* `edges`: by row, each row and column at most once. `column`: of each row, WEIR_NO_INDEX = none.
 * Of equal answers the one found first. WEIR_ENOMEM. A row costs what its paths reach: the edges
 * there, and the square of the columns. */
weir_status weir_match_heaviest(const struct weir_allocator *allocator,
                                const struct weir_match_edge *edges, uint32_t edge_count,
                                uint32_t rows, uint32_t columns, uint32_t *column);

#endif
