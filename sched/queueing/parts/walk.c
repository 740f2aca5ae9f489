/* SPDX-License-Identifier: Apache-2.0 */
/* A walk over the waiting jobs; see walk.h. */
#include "sched/queueing/parts/walk.h"

#include "sched/internal/alloc.h"

bool weir_walk_is_before(const struct weir_job *left, const struct weir_job *right)
{
    if (left->key < right->key || left->key > right->key)
        return left->key < right->key;
    if (left->submit_ns != right->submit_ns)
        return left->submit_ns < right->submit_ns;
    return left->workload != right->workload ? left->workload < right->workload
                                             : left->id < right->id;
}

void weir_walk_open(struct weir_walk *walk, const struct weir_allocator *allocator)
{
    *walk = (struct weir_walk){ .allocator = *allocator };
}

void weir_walk_close(struct weir_walk *walk)
{
    weir_free(&walk->allocator, walk->heads);
}

static void sink(struct weir_walk *walk, uint32_t place)
{
    const struct weir_job job = walk->heads[place];

    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child + 1 < walk->count &&
            weir_walk_is_before(&walk->heads[child + 1], &walk->heads[child]))
            child++;
        if (child >= walk->count || !weir_walk_is_before(&walk->heads[child], &job))
            break;
        walk->heads[place] = walk->heads[child];
        place = child;
    }
    walk->heads[place] = job;
}

weir_status weir_walk_begin(struct weir_walk *walk, const struct weir_view *view, int64_t most_ns)
{
    const uint32_t kinds = weir_view_waiting_kinds(view);

    WEIR_ROOM(&walk->allocator, walk->heads, walk->capacity, kinds + 1);
    walk->view = view;
    walk->count = 0;
    for (uint32_t i = 0; i < kinds; i++) {
        const struct weir_waiting_query query = { .size = sizeof query,
                                                  .kind = weir_view_waiting_kind(view, i),
                                                  .most_ns = most_ns };
        walk->heads[walk->count].size = sizeof walk->heads[0];
        walk->count += weir_view_find_waiting(view, &query, &walk->heads[walk->count]);
    }
    for (uint32_t place = walk->count / 2; place-- > 0;)
        sink(walk, place);
    return WEIR_OK;
}

void weir_walk_leave_kind(struct weir_walk *walk)
{
    walk->heads[0] = walk->heads[--walk->count];
    if (walk->count > 0)
        sink(walk, 0);
}

void weir_walk_next(struct weir_walk *walk, int64_t most_ns)
{
    struct weir_job next = { .size = sizeof next };
    const struct weir_waiting_query query = { .size = sizeof query,
                                              .kind = walk->heads[0].kind,
                                              .most_ns = most_ns,
                                              .after = &walk->heads[0] };

    if (!weir_view_find_waiting(walk->view, &query, &next)) {
        weir_walk_leave_kind(walk);
        return;
    }
    walk->heads[0] = next;
    sink(walk, 0);
}

const struct weir_job *weir_walk_free_job(struct weir_walk *walk, struct weir_placer *placer)
{
    const struct weir_job *job = weir_walk_job(walk);

    while (job != NULL) {
        const uint32_t reason = weir_walk_limit(walk->view, job);
        if (reason == WEIR_REASON_NONE)
            break;
        (void)weir_placer_deny_job(placer, job->workload, job->id, reason);
        weir_walk_leave_kind(walk);
        job = weir_walk_job(walk);
    }
    return job;
}
