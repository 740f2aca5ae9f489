/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See the header. An edge costs what it does not weigh; to have no column costs nothing.
 * Invariants: -weight - potential of row - potential of column is >= 0 along every edge, and 0
 * where a column has its row; potentials are <= 0, and 0 of rows and columns that are left over.
 */
#include "sched/solve/matching.h"

#include "sched/internal/alloc.h"

#include <math.h>
#include <string.h>

struct node {
    double potential, distance;
    uint32_t mate;                  /* a column's row, a row's column */
    uint32_t before;                /* the row that a column was reached from */
    uint32_t first;                 /* a row's edges; one more row ends them */
    uint8_t is_reached, is_through; /* of a column on the way */
};

struct search {
    const struct weir_match_edge *edges;
    struct node *rows, *columns;
    uint32_t *reached; /* columns */
    uint32_t count;
};

static void reach(struct search *search, uint32_t row, double distance)
{
    const struct node *const from = &search->rows[row];

    for (uint32_t e = from->first; e < from[1].first; e++) {
        const struct weir_match_edge *const edge = &search->edges[e];
        struct node *const column = &search->columns[edge->column];
        const double length = distance - edge->weight - from->potential - column->potential;
        if (column->is_through != 0 || (column->is_reached != 0 && !(length < column->distance)))
            continue; /* rounding makes nothing shorter that is settled */
        if (column->is_reached == 0)
            search->reached[search->count++] = edge->column;
        column->is_reached = 1;
        column->distance = length;
        column->before = row;
    }
}

static uint32_t nearest(const struct search *search)
{
    uint32_t best = WEIR_NO_INDEX;

    for (uint32_t i = 0; i < search->count; i++) {
        const uint32_t c = search->reached[i];
        if (search->columns[c].is_through == 0 &&
            (best == WEIR_NO_INDEX || search->columns[c].distance < search->columns[best].distance))
            best = c;
    }
    return best;
}

/* Potentials as the path of this length leaves them; what was reached is forgotten. */
static void settle(struct search *search, uint32_t row, double length)
{
    search->rows[row].potential += length;
    for (uint32_t i = 0; i < search->count; i++) {
        struct node *const column = &search->columns[search->reached[i]];
        if (column->is_through != 0) {
            column->potential -= length - column->distance;
            search->rows[column->mate].potential += length - column->distance;
        }
        column->is_reached = column->is_through = 0;
    }
    search->count = 0;
}

/* Rows along the path take the columns that they reached, back to `row`. */
static void take(struct search *search, uint32_t row, uint32_t column)
{
    for (uint32_t taker = WEIR_NO_INDEX; taker != row;) {
        taker = search->columns[column].before;
        const uint32_t given_up = search->rows[taker].mate;
        search->columns[column].mate = taker;
        search->rows[taker].mate = column;
        column = given_up;
    }
}

/* The path ends at a column that is free, or at a row that goes without one. */
static void place(struct search *search, uint32_t row)
{
    double least = -search->rows[row].potential;
    uint32_t last = row;
    uint32_t column = WEIR_NO_INDEX;

    reach(search, row, 0);
    while ((column = nearest(search)) != WEIR_NO_INDEX &&
           search->columns[column].distance < least &&
           search->columns[column].mate != WEIR_NO_INDEX) {
        struct node *const on_way = &search->columns[column];
        const double without = on_way->distance - search->rows[on_way->mate].potential;
        on_way->is_through = 1;
        if (without < least) {
            least = without;
            last = on_way->mate;
        }
        reach(search, on_way->mate, on_way->distance);
    }
    if (column != WEIR_NO_INDEX && search->columns[column].distance < least) {
        settle(search, row, search->columns[column].distance);
        take(search, row, column);
        return;
    }
    settle(search, row, least);
    column = search->rows[last].mate;
    search->rows[last].mate = WEIR_NO_INDEX;
    if (last != row)
        take(search, row, column);
}

/* Nothing lies below zero along the edges of a row when it comes: potentials of columns only fall.
 */
static void begin(struct search *search, uint32_t edge_count, uint32_t rows, uint32_t columns)
{
    uint32_t e = 0;

    for (uint32_t c = 0; c < columns; c++)
        search->columns[c].mate = WEIR_NO_INDEX;
    for (uint32_t r = 0; r <= rows; r++) {
        struct node *const row = &search->rows[r];
        row->mate = WEIR_NO_INDEX;
        row->first = e;
        for (; e < edge_count && search->edges[e].row == r; e++)
            row->potential = fmin(row->potential, -search->edges[e].weight);
    }
}

weir_status weir_match_heaviest(const struct weir_allocator *allocator,
                                const struct weir_match_edge *edges, uint32_t edge_count,
                                uint32_t rows, uint32_t columns, uint32_t *column)
{
    const size_t count = (size_t)rows + 1 + columns;
    struct node *const nodes = weir_alloc(allocator, count, sizeof *nodes);
    uint32_t *const reached = weir_alloc(allocator, (size_t)columns + 1, sizeof *reached);
    struct search search = { .edges = edges, .rows = nodes, .reached = reached };
    const weir_status status = nodes == NULL || reached == NULL ? WEIR_ENOMEM : WEIR_OK;

    if (status == WEIR_OK) {
        memset(nodes, 0, count * sizeof *nodes);
        search.columns = nodes + rows + 1;
        begin(&search, edge_count, rows, columns);
        for (uint32_t r = 0; r < rows; r++)
            place(&search, r);
        for (uint32_t r = 0; r < rows; r++)
            column[r] = nodes[r].mate;
    }
    weir_free(allocator, nodes);
    weir_free(allocator, reached);
    return status;
}
