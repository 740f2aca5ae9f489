/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cheapest assignment of every row to a column of its own (Kuhn 1955, Munkres 1957): the
 * shortest augmenting paths of Jonker and Volgenant (1987) with potentials. O(rows^2 x columns).
 */
#ifndef SCHED_SOLVE_ASSIGNMENT_H
#define SCHED_SOLVE_ASSIGNMENT_H

#include "weir/cluster.h"

/* `cost`: rows x columns, finite, rows <= columns. `column`: of each row. Of equals the one found
 * first. WEIR_ENOMEM; WEIR_EINVAL when there are more rows than columns. */
weir_status weir_assign(const struct weir_allocator *allocator, const double *cost, uint32_t rows,
                        uint32_t columns, uint32_t *column);

#endif
