/* SPDX-License-Identifier: Apache-2.0 */
/* The queue of the jobs a host knows: a heap for each kind, and the front of the kinds (jobs.h). */
#include "sched/host/jobs.h"

#include "sched/internal/alloc.h"

bool weir_jobs_is_before(const struct weir_jobs *jobs, uint32_t left, uint32_t right)
{
    const struct weir_job_record *const a = &jobs->records[left];
    const struct weir_job_record *const b = &jobs->records[right];

    if (a->key < b->key || a->key > b->key)
        return a->key < b->key;
    if (a->submit_ns != b->submit_ns)
        return a->submit_ns < b->submit_ns;
    return a->workload != b->workload ? a->workload < b->workload : a->id < b->id;
}

static void put(struct weir_jobs *jobs, struct weir_job_kind *kind, uint32_t place, uint32_t record)
{
    kind->heap[place] = record;
    jobs->records[record].place = place;
}

static void rise(struct weir_jobs *jobs, struct weir_job_kind *kind, uint32_t place)
{
    const uint32_t record = kind->heap[place];

    while (place > 0 && weir_jobs_is_before(jobs, record, kind->heap[(place - 1) / 2])) {
        put(jobs, kind, place, kind->heap[(place - 1) / 2]);
        place = (place - 1) / 2;
    }
    put(jobs, kind, place, record);
}

static void sink(struct weir_jobs *jobs, struct weir_job_kind *kind, uint32_t place)
{
    const uint32_t record = kind->heap[place];

    for (;;) {
        uint32_t child = 2 * place + 1;
        if (child + 1 < kind->count &&
            weir_jobs_is_before(jobs, kind->heap[child + 1], kind->heap[child]))
            child++;
        if (child >= kind->count || !weir_jobs_is_before(jobs, kind->heap[child], record))
            break;
        put(jobs, kind, place, kind->heap[child]);
        place = child;
    }
    put(jobs, kind, place, record);
}

/* ---- the front ---- */

static bool kind_is_before(const struct weir_jobs *jobs, uint32_t left, uint32_t right)
{
    return weir_jobs_is_before(jobs, jobs->kinds[left].heap[0], jobs->kinds[right].heap[0]);
}

static void put_front(struct weir_jobs *jobs, uint32_t place, uint32_t kind)
{
    jobs->front[place] = kind;
    jobs->kinds[kind].front = place;
}

/* What is at this place and behind it may not be settled. */
static void look_from(struct weir_jobs *jobs, uint32_t place)
{
    if (place < jobs->front_next)
        jobs->front_next = place;
}

static void leave_front(struct weir_jobs *jobs, uint32_t index)
{
    uint32_t place = jobs->kinds[index].front;

    look_from(jobs, place);
    jobs->kinds[index].front = WEIR_NO_INDEX;
    for (jobs->front_count--; place < jobs->front_count; place++)
        put_front(jobs, place, jobs->front[place + 1]);
}

/* Moves a kind whose first record has changed; all others are in their order. */
static void move_in_front(struct weir_jobs *jobs, uint32_t index)
{
    uint32_t place = jobs->kinds[index].front;

    look_from(jobs, place);
    for (; place > 0 && kind_is_before(jobs, index, jobs->front[place - 1]); place--)
        put_front(jobs, place, jobs->front[place - 1]);
    look_from(jobs, place);
    for (; place + 1 < jobs->front_count && kind_is_before(jobs, jobs->front[place + 1], index);
         place++)
        put_front(jobs, place, jobs->front[place + 1]);
    put_front(jobs, place, index);
}

/* After its first record has changed. */
static void update_front(struct weir_jobs *jobs, uint32_t index)
{
    const struct weir_job_kind *const kind = &jobs->kinds[index];

    const bool is_there = kind->count > 0 && kind->is_aside == 0;

    if (!is_there && kind->front != WEIR_NO_INDEX)
        leave_front(jobs, index);
    if (!is_there)
        return;
    if (kind->front == WEIR_NO_INDEX)
        put_front(jobs, jobs->front_count++, index);
    move_in_front(jobs, index);
}

/* ---- the queue ---- */

weir_status weir_jobs_reserve_waiting(struct weir_jobs *jobs, uint32_t index)
{
    struct weir_job_kind *const kind = &jobs->kinds[index];

    WEIR_ROOM(&jobs->allocator, kind->heap, kind->capacity, kind->count + 1);
    return WEIR_OK;
}

weir_status weir_jobs_push(struct weir_jobs *jobs, uint32_t record)
{
    const uint32_t index = jobs->records[record].kind;
    struct weir_job_kind *const kind = &jobs->kinds[index];
    WEIR_TRY(weir_jobs_reserve_waiting(jobs, index));
    put(jobs, kind, kind->count++, record);
    rise(jobs, kind, kind->count - 1);
    if (kind->heap[0] == record)
        update_front(jobs, index);
    weir_jobs_index_put(jobs, record);
    return WEIR_OK;
}

void weir_jobs_take_out(struct weir_jobs *jobs, uint32_t record)
{
    const uint32_t index = jobs->records[record].kind;
    struct weir_job_kind *const kind = &jobs->kinds[index];
    const uint32_t place = jobs->records[record].place;
    const uint32_t last = kind->heap[--kind->count];

    weir_jobs_index_drop(jobs, record);
    jobs->records[record].place = WEIR_NO_INDEX;
    if (place != kind->count) {
        put(jobs, kind, place, last);
        rise(jobs, kind, place);
        sink(jobs, kind, jobs->records[last].place);
    }
    if (place == 0)
        update_front(jobs, index);
}

weir_status weir_jobs_push_back(struct weir_jobs *jobs, uint32_t record)
{
    WEIR_TRY(weir_jobs_reserve_waiting(jobs, jobs->records[record].kind));
    weir_jobs_set_state(jobs, record, WEIR_JOB_WAITING);
    return weir_jobs_push(jobs, record);
}

void weir_jobs_settle(struct weir_jobs *jobs, uint32_t kind)
{
    jobs->kinds[kind].settled_at = jobs->given_back;
}

void weir_jobs_ask_again(struct weir_jobs *jobs)
{
    jobs->given_back++;
    jobs->front_next = 0;
}

void weir_jobs_unsettle(struct weir_jobs *jobs)
{
    jobs->freed++;
    jobs->has_refused = false;
    weir_jobs_ask_again(jobs);
}

void weir_jobs_set_aside(struct weir_jobs *jobs, uint32_t kind, bool is_aside)
{
    jobs->kinds[kind].is_aside = is_aside;
    update_front(jobs, kind);
}

void weir_jobs_hold(struct weir_jobs *jobs, uint32_t kind)
{
    jobs->kinds[kind].held_at = jobs->given_back;
    jobs->kinds[kind].held_turn = jobs->tenants.turn;
}

void weir_jobs_put_off(struct weir_jobs *jobs, uint32_t kind)
{
    jobs->kinds[kind].beyond_at = jobs->tenants.turn;
}

void weir_jobs_let_go(struct weir_jobs *jobs)
{
    jobs->puts_off = false;
    jobs->front_next = 0;
}

static bool is_put_off(const struct weir_jobs *jobs, uint32_t kind)
{
    return jobs->puts_off && jobs->kinds[kind].beyond_at == jobs->tenants.turn;
}

/* It has no place before something is given back, or not yet. */
static bool is_out(const struct weir_jobs *jobs, uint32_t kind)
{
    return weir_jobs_is_settled(jobs, kind) || is_put_off(jobs, kind) ||
           jobs->kinds[kind].held_at == jobs->given_back;
}

/* A limit of its own holds until something is given back. What is kept of a guarantee holds only
 * as long as there is room beside it, and who lacks room is in the way of others: so it is asked
 * again in every turn. */
static bool is_in_nobodys_way(const struct weir_jobs *jobs, uint32_t index)
{
    const struct weir_job_kind *const kind = &jobs->kinds[index];

    return is_put_off(jobs, index) ||
           (kind->held_at == jobs->given_back &&
            (kind->blocked_by != 0 || kind->held_turn == jobs->tenants.turn));
}

uint32_t weir_jobs_first(struct weir_jobs *jobs, bool is_strict)
{
    uint32_t place = 0;

    if (is_strict) {
        while (place < jobs->front_count && is_in_nobodys_way(jobs, jobs->front[place]))
            place++;
    } else {
        while (jobs->front_next < jobs->front_count && is_out(jobs, jobs->front[jobs->front_next]))
            jobs->front_next++;
        place = jobs->front_next;
    }
    return place < jobs->front_count ? jobs->kinds[jobs->front[place]].heap[0] : WEIR_NO_INDEX;
}

void weir_jobs_reorder(struct weir_jobs *jobs, uint32_t kind)
{
    for (uint32_t place = jobs->kinds[kind].count / 2; place-- > 0;)
        sink(jobs, &jobs->kinds[kind], place);
    update_front(jobs, kind);
    weir_jobs_index_renew(jobs, kind);
}

void weir_jobs_refuse(struct weir_jobs *jobs, uint32_t kind, uint32_t record)
{
    if (jobs->kinds[kind].is_refused == 0)
        jobs->refused[jobs->refused_count++] = kind;
    jobs->kinds[kind].is_refused = 1;
    jobs->kinds[kind].refused = record;
}

void weir_jobs_begin_pass(struct weir_jobs *jobs)
{
    while (jobs->refused_count > 0)
        jobs->kinds[jobs->refused[--jobs->refused_count]].is_refused = 0;
}

static weir_status check_heap(const struct weir_jobs *jobs, uint32_t index,
                              struct weir_error *error)
{
    const struct weir_job_kind *const kind = &jobs->kinds[index];

    for (uint32_t i = 0; i < kind->count; i++) {
        const struct weir_job_record *const job = &jobs->records[kind->heap[i]];
        if (job->is_used == 0 || job->place != i || job->kind != index ||
            job->state != WEIR_JOB_WAITING ||
            (i > 0 && weir_jobs_is_before(jobs, kind->heap[i], kind->heap[(i - 1) / 2])))
            return weir_fail(error, WEIR_EINVARIANT, "kind %u: place %u of its queue is wrong",
                             index, i);
    }
    const uint32_t place = kind->front;
    if ((place != WEIR_NO_INDEX) != (kind->count > 0 && kind->is_aside == 0) ||
        (place != WEIR_NO_INDEX &&
         (place >= jobs->front_count || jobs->front[place] != index ||
          (place > 0 && kind_is_before(jobs, index, jobs->front[place - 1])) ||
          (place < jobs->front_next && !is_out(jobs, index)))))
        return weir_fail(error, WEIR_EINVARIANT, "kind %u: its place in the front is wrong", index);
    return WEIR_OK;
}

weir_status weir_jobs_check_queue(const struct weir_jobs *jobs, struct weir_error *error)
{
    for (uint32_t k = 0; k < jobs->kind_count; k++)
        WEIR_TRY(check_heap(jobs, k, error));
    return WEIR_OK;
}
