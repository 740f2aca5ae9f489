/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See the header. Rows and columns count from 1 inside, 0 is the root of a path. Invariant: cost -
 * potential of row - potential of column is >= 0 everywhere, and 0 where a column has its row.
 */
#include "sched/solve/assignment.h"

#include "sched/internal/alloc.h"

#include <math.h>
#include <string.h>

struct search {
    const double *cost;
    uint32_t rows, columns;
    double *of_row, *of_column, *slack; /* potentials; least reduced cost on the way to a column */
    uint32_t *row, *before; /* of a column: its row, 0 = none; where the path came from */
    uint8_t *is_seen;
};

/* One column further: those seen give way by the least slack. */
static uint32_t step(struct search *search, uint32_t at)
{
    const uint32_t row = search->row[at];
    double least = HUGE_VAL;
    uint32_t next = 0;

    search->is_seen[at] = 1;
    for (uint32_t c = 1; c <= search->columns; c++) {
        if (search->is_seen[c] != 0)
            continue;
        const double reduced = search->cost[(size_t)(row - 1) * search->columns + c - 1] -
                               search->of_row[row] - search->of_column[c];
        if (reduced < search->slack[c]) {
            search->slack[c] = reduced;
            search->before[c] = at;
        }
        if (search->slack[c] < least) {
            least = search->slack[c];
            next = c;
        }
    }
    for (uint32_t c = 0; c <= search->columns; c++) {
        if (search->is_seen[c] != 0) {
            search->of_row[search->row[c]] += least;
            search->of_column[c] -= least;
        } else {
            search->slack[c] -= least;
        }
    }
    return next;
}

static void place(struct search *search, uint32_t row)
{
    uint32_t at = 0;

    search->row[0] = row;
    memset(search->is_seen, 0, search->columns + 1);
    for (uint32_t c = 0; c <= search->columns; c++)
        search->slack[c] = HUGE_VAL;
    do
        at = step(search, at);
    while (search->row[at] != 0);
    while (at != 0) {
        search->row[at] = search->row[search->before[at]];
        at = search->before[at];
    }
}

weir_status weir_assign(const struct weir_allocator *allocator, const double *cost, uint32_t rows,
                        uint32_t columns, uint32_t *column)
{
    const size_t numbers = (size_t)rows + 2 * ((size_t)columns + 1) + 1;
    double *const reals = weir_alloc(allocator, numbers, sizeof *reals);
    uint32_t *const indices = weir_alloc(allocator, 2 * ((size_t)columns + 1), sizeof *indices);
    uint8_t *const seen = weir_alloc(allocator, (size_t)columns + 1, 1);
    weir_status status = rows > columns ? WEIR_EINVAL : WEIR_OK;

    if (reals == NULL || indices == NULL || seen == NULL)
        status = WEIR_ENOMEM;
    if (status == WEIR_OK) {
        struct search search = { .cost = cost,
                                 .rows = rows,
                                 .columns = columns,
                                 .of_row = reals,
                                 .of_column = reals + rows + 1,
                                 .slack = reals + rows + 1 + columns + 1,
                                 .row = indices,
                                 .before = indices + columns + 1,
                                 .is_seen = seen };
        memset(reals, 0, numbers * sizeof *reals);
        memset(indices, 0, 2 * ((size_t)columns + 1) * sizeof *indices);
        for (uint32_t r = 1; r <= rows; r++)
            place(&search, r);
        for (uint32_t c = 1; c <= columns; c++)
            if (search.row[c] != 0)
                column[search.row[c] - 1] = c - 1;
    }
    weir_free(allocator, reals);
    weir_free(allocator, indices);
    weir_free(allocator, seen);
    return status;
}
