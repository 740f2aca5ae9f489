/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting jobs in an order of a policy's own (see listed.h). */
#include "sched/queueing/parts/listed.h"

#include "sched/internal/alloc.h"
#include "sched/internal/aside.h"
#include "sched/internal/by_age.h"

#include <stdlib.h>

void weir_listed_open(struct weir_listed *listed, const struct weir_allocator *allocator)
{
    *listed = (struct weir_listed){ .allocator = *allocator };
}

void weir_listed_close(struct weir_listed *listed)
{
    weir_free(&listed->allocator, listed->all);
    weir_free(&listed->allocator, listed->heads);
}

weir_status weir_listed_fill(struct weir_listed *listed, const struct weir_view *view)
{
    struct weir_job job = { .size = sizeof job };
    uint32_t cursor = 0;

    listed->count = 0;
    while (weir_view_next_job(view, &cursor, &job)) {
        if (job.state != WEIR_JOB_WAITING || weir_view_is_aside(view, &job))
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

/* ---- as it is read ---- */

static void sink(struct weir_listed *listed, uint32_t place)
{
    const struct weir_listed_job head = listed->heads[place];

    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child + 1 < listed->head_count &&
            compare(&listed->heads[child + 1], &listed->heads[child]) < 0)
            child++;
        if (child >= listed->head_count || compare(&listed->heads[child], &head) > 0)
            break;
        listed->heads[place] = listed->heads[child];
        place = child;
    }
    listed->heads[place] = head;
}

/* The next job of a kind in the heads' place; false when there is none. */
static bool find_next(const struct weir_listed *listed, uint32_t kind, const struct weir_job *after,
                      struct weir_listed_job *next)
{
    const struct weir_waiting_query query = {
        .size = sizeof query, .kind = kind, .most_ns = INT64_MAX, .after = after
    };
    struct weir_job job = { .size = sizeof job };

    if (!weir_view_find_waiting(listed->view, &query, &job))
        return false;
    *next =
        (struct weir_listed_job){ .job = job,
                                  .rank = listed->rank(listed->state, &job, listed->view->now_ns) };
    return true;
}

static weir_status begin_heads(struct weir_listed *listed)
{
    const uint32_t kinds = weir_view_waiting_kinds(listed->view);

    WEIR_ROOM(&listed->allocator, listed->heads, listed->head_capacity, kinds + 1);
    for (uint32_t i = 0; i < kinds; i++)
        listed->head_count += find_next(listed, weir_view_waiting_kind(listed->view, i), NULL,
                                        &listed->heads[listed->head_count]);
    for (uint32_t place = listed->head_count / 2; place-- > 0;)
        sink(listed, place);
    return WEIR_OK;
}

void weir_listed_leave_kind(struct weir_listed *listed, uint32_t kind)
{
    uint32_t place = 0;

    while (place < listed->head_count && listed->heads[place].job.kind != kind)
        place++;
    if (place == listed->head_count)
        return;
    listed->heads[place] = listed->heads[--listed->head_count];
    for (place = listed->head_count / 2; place-- > 0;)
        sink(listed, place);
}

weir_status weir_listed_begin(struct weir_listed *listed, const struct weir_view *view,
                              weir_listed_rank rank, const void *state, bool is_by_age)
{
    listed->count = listed->head_count = 0;
    listed->view = view;
    listed->rank = rank;
    listed->state = state;
    if (is_by_age && weir_view_is_by_age(view))
        return begin_heads(listed);
    WEIR_TRY(weir_listed_fill(listed, view));
    for (uint32_t i = 0; i < listed->count; i++)
        listed->all[i].rank = rank(state, &listed->all[i].job, view->now_ns);
    weir_listed_sort(listed);
    return WEIR_OK;
}

weir_status weir_listed_at(struct weir_listed *listed, uint32_t place,
                           struct weir_listed_job **found)
{
    *found = NULL;
    if (place >= listed->count && listed->head_count == 0)
        return WEIR_OK;
    if (place >= listed->count) {
        WEIR_ROOM(&listed->allocator, listed->all, listed->capacity, listed->count + 1);
        listed->all[listed->count] = listed->heads[0];
        const struct weir_job *const before = &listed->all[listed->count++].job;
        if (!find_next(listed, before->kind, before, &listed->heads[0]))
            listed->heads[0] = listed->heads[--listed->head_count];
        if (listed->head_count > 1)
            sink(listed, 0);
    }
    *found = &listed->all[place];
    return WEIR_OK;
}
