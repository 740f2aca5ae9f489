/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting jobs in an order of a policy's own (see listed.h). */
#include "sched/queueing/listed.h"

#include "sched/internal/alloc.h"

#include <stdlib.h>

void weir_listed_open(struct weir_listed *listed, const struct weir_allocator *allocator)
{
    *listed = (struct weir_listed){ .allocator = *allocator };
}

void weir_listed_close(struct weir_listed *listed)
{
    weir_free(&listed->allocator, listed->all);
}

weir_status weir_listed_fill(struct weir_listed *listed, const struct weir_view *view)
{
    struct weir_job job = { .size = sizeof job };
    uint32_t cursor = 0;

    listed->count = 0;
    while (weir_view_next_job(view, &cursor, &job)) {
        if (job.state != WEIR_JOB_WAITING)
            continue;
        WEIR_ROOM(&listed->allocator, listed->all, listed->capacity, listed->count + 1);
        listed->all[listed->count++] = (struct weir_listed_job){ .job = job };
    }
    return WEIR_OK;
}

static int compare(const void *left, const void *right)
{
    const struct weir_listed_job *const a = left;
    const struct weir_listed_job *const b = right;

    if (a->rank < b->rank || a->rank > b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->job.submit_ns != b->job.submit_ns)
        return a->job.submit_ns < b->job.submit_ns ? -1 : 1;
    if (a->job.workload != b->job.workload)
        return a->job.workload < b->job.workload ? -1 : 1;
    return a->job.id < b->job.id ? -1 : 1;
}

void weir_listed_sort(struct weir_listed *listed)
{
    if (listed->count > 1)
        qsort(listed->all, listed->count, sizeof *listed->all, compare);
}
