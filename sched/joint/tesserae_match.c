/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See the header. One assignment does for all classes: a node of another class costs more than
 * moving everything, and to stay as it is costs less.
 */
#include "sched/joint/tesserae_match.h"

#include "sched/internal/alloc.h"
#include "sched/solve/assignment.h"

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

/* What a job costs by its seats of the plan from `first` on, that holds those from `at` on. */
static void add_job(const struct weir_match *match, uint32_t first, uint32_t at, double *cost)
{
    const struct weir_seats *const planned = match->planned;
    const struct weir_seats *const held = match->held;
    const uint32_t end = job_end(planned, first);
    const uint32_t held_end = job_end(held, at);

    for (uint32_t p = first; p < end; p = node_end(planned, p)) {
        const uint32_t wanted = node_end(planned, p) - p;
        double *const row = cost + (size_t)planned->all[p].node * match->nodes;
        for (uint32_t n = 0; n < match->nodes; n++)
            row[n] += (double)wanted / (end - first);
        for (uint32_t h = at; h < held_end; h = node_end(held, h)) {
            const uint32_t here = node_end(held, h) - h;
            row[held->all[h].node] -= (double)(here < wanted ? here : wanted) / (end - first);
        }
    }
}

weir_status weir_seats_match(const struct weir_allocator *allocator, const struct weir_match *match,
                             uint32_t *real)
{
    const struct weir_seats *const planned = match->planned;
    const struct weir_seats *const held = match->held;
    const uint32_t nodes = match->nodes;
    double *const cost = weir_alloc(allocator, (size_t)nodes * nodes, sizeof *cost);
    uint32_t h = 0;

    if (cost == NULL)
        return WEIR_ENOMEM;
    for (uint32_t u = 0; u < nodes; u++)
        for (uint32_t v = 0; v < nodes; v++)
            cost[(size_t)u * nodes + v] =
                match->classes[u] == match->classes[v] ? 0 : planned->count + 1.;
    for (uint32_t p = 0; p < planned->count; p = job_end(planned, p)) {
        while (h < held->count && held->all[h].job < planned->all[p].job)
            h++;
        if (h < held->count && held->all[h].job == planned->all[p].job)
            add_job(match, p, h, cost);
    }
    const weir_status status = weir_assign(allocator, cost, nodes, nodes, real);
    weir_free(allocator, cost);
    return status;
}
