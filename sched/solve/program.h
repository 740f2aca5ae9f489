/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small dense linear programme: the largest c x with A x <= b, x >= 0.
 *
 * The simplex method on a dictionary (Cormen et al., Introduction to Algorithms, 29.3) with an
 * auxiliary variable where b has negative entries. The column that raises the goal fastest enters
 * (Dantzig); where that gains nothing for long Bland's rule picks the entering and the leaving
 * variable, so that it ends. The same programme always has the same answer. For tens to a few
 * hundreds of rows; larger ones are for a solver. Cost: O(rows x entries of the row) a pivot.
 */
#ifndef SCHED_SOLVE_PROGRAM_H
#define SCHED_SOLVE_PROGRAM_H

#include "weir/cluster.h"

#include <stdint.h>

struct weir_program {
    struct weir_allocator allocator;
    uint32_t rows, columns;
    uint32_t pivots; /* that the answer took */
    double *cells; /* (rows + 1) x (columns + 2): the last row the goal, then b, the last column */
    uint32_t *basic, *free; /* variables: x from 0 on, slacks behind them, the auxiliary one last */
    double *x;
    uint32_t *entries; /* of the row of a pivot */
    uint32_t cell_capacity, basic_capacity, free_capacity, x_capacity, entry_capacity;
};

void weir_program_open(struct weir_program *program, const struct weir_allocator *allocator);
void weir_program_close(struct weir_program *program);
/* An empty programme: all 0. WEIR_ENOMEM. */
weir_status weir_program_begin(struct weir_program *program, uint32_t rows, uint32_t columns);
/* Entries of A and b, and of c. */
double *weir_program_at(struct weir_program *program, uint32_t row, uint32_t column);
double *weir_program_bound(struct weir_program *program, uint32_t row);
double *weir_program_goal(struct weir_program *program, uint32_t column);
/* The answer is in x, the goal in *most. WEIR_EINFEASIBLE: no x; WEIR_ERANGE: there is no largest,
 * or rounding let it go round in circles. */
weir_status weir_program_solve(struct weir_program *program, double *most);

#endif
