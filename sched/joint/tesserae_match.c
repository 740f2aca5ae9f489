/* SPDX-License-Identifier: Apache-2.0 */
/* See the header. */
#include "sched/joint/tesserae_match.h"

#include "sched/internal/alloc.h"
#include "sched/solve/matching.h"

#include <stdlib.h>

/* The seats of the job of the first end before this; those of its node. */
static uint32_t job_end(const struct weir_seats *seats, uint32_t first)
{
    uint32_t end = first;

    while (end < seats->count && seats->all[end].job == seats->all[first].job)
        end++;
    return end;
}

static uint32_t node_end(const struct weir_seats *seats, uint32_t first)
{
    const uint32_t end = job_end(seats, first);
    uint32_t next = first;

    while (next < end && seats->all[next].node == seats->all[first].node)
        next++;
    return next;
}

/* ---- what may stay where it is ---- */

struct edges {
    struct weir_match_edge *all;
    uint32_t count, capacity;
};

/* The parts of a job that may stay, by its seats of the plan from `first` on and those that it
 * holds from `at` on. */
static weir_status add_job(const struct weir_allocator *allocator, const struct weir_match *match,
                           uint32_t first, uint32_t at, struct edges *edges)
{
    const struct weir_seats *const planned = match->planned;
    const struct weir_seats *const held = match->held;
    const uint32_t end = job_end(planned, first);
    const uint32_t held_end = job_end(held, at);

    for (uint32_t p = first; p < end; p = node_end(planned, p)) {
        const uint32_t wanted = node_end(planned, p) - p;
        for (uint32_t h = at; h < held_end; h = node_end(held, h)) {
            const uint32_t here = node_end(held, h) - h;
            const uint32_t row = planned->all[p].node;
            const uint32_t column = held->all[h].node;
            if (match->classes[row] != match->classes[column])
                continue;
            WEIR_ROOM(allocator, edges->all, edges->capacity, edges->count + 1);
            edges->all[edges->count++] =
                (struct weir_match_edge){ row, column,
                                          (double)(here < wanted ? here : wanted) / (end - first) };
        }
    }
    return WEIR_OK;
}

static int compare_edges(const void *left, const void *right)
{
    const struct weir_match_edge *const a = left;
    const struct weir_match_edge *const b = right;

    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    return a->column < b->column ? -1 : a->column > b->column;
}

static void join_equal(struct edges *edges)
{
    uint32_t last = 0;

    if (edges->count == 0)
        return;
    qsort(edges->all, edges->count, sizeof *edges->all, compare_edges);
    for (uint32_t e = 1; e < edges->count; e++)
        if (compare_edges(&edges->all[last], &edges->all[e]) == 0)
            edges->all[last].weight += edges->all[e].weight;
        else
            edges->all[++last] = edges->all[e];
    edges->count = last + 1;
}

static weir_status find_edges(const struct weir_allocator *allocator,
                              const struct weir_match *match, struct edges *edges)
{
    const struct weir_seats *const planned = match->planned;
    const struct weir_seats *const held = match->held;
    uint32_t h = 0;

    for (uint32_t p = 0; p < planned->count; p = job_end(planned, p)) {
        while (h < held->count && held->all[h].job < planned->all[p].job)
            h++;
        if (h < held->count && held->all[h].job == planned->all[p].job)
            WEIR_TRY(add_job(allocator, match, p, h, edges));
    }
    join_equal(edges);
    return WEIR_OK;
}

/* ---- nodes ---- */

/* Nodes of the plan on which nothing stays become those of their class that nobody has. `next`:
 * room for lists of them, by class. */
static void fill_up(const struct weir_match *match, uint32_t *first, uint32_t *next, uint32_t *real)
{
    for (uint32_t n = 0; n < match->nodes; n++) {
        first[n] = WEIR_NO_INDEX;
        next[n] = 0;
    }
    for (uint32_t n = 0; n < match->nodes; n++)
        if (real[n] != WEIR_NO_INDEX)
            next[real[n]] = 1;
    for (uint32_t n = match->nodes; n-- > 0;) {
        if (next[n] != 0)
            continue;
        next[n] = first[match->classes[n]];
        first[match->classes[n]] = n;
    }
    for (uint32_t n = 0; n < match->nodes; n++) {
        if (real[n] != WEIR_NO_INDEX)
            continue;
        real[n] = first[match->classes[n]];
        first[match->classes[n]] = next[real[n]];
    }
}

weir_status weir_seats_match(const struct weir_allocator *allocator, const struct weir_match *match,
                             uint32_t *real)
{
    uint32_t *const lists = weir_alloc(allocator, 2 * (size_t)match->nodes, sizeof *lists);
    struct edges edges = { .all = NULL };
    weir_status status = lists == NULL ? WEIR_ENOMEM : find_edges(allocator, match, &edges);

    if (status == WEIR_OK)
        status = weir_match_heaviest(allocator, edges.all, edges.count, match->nodes, match->nodes,
                                     real);
    if (status == WEIR_OK)
        fill_up(match, lists, lists + match->nodes, real);
    weir_free(allocator, lists);
    weir_free(allocator, edges.all);
    return status;
}
