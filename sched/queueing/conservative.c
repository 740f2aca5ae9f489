/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "conservative": every job that waits has a reservation, and none may delay another
 * (Mu'alem and Feitelson, IEEE TPDS 12(6), 2001).
 *
 * A job that comes gets the earliest hole of the profile, all other reservations standing, and
 * starts when its time has come. When a running job ends early, the jobs that wait are taken in
 * their order, once each: the reservation is lifted and put into the earliest hole with all others
 * standing, so that none moves later. With `replan` all are lifted first and put again in order,
 * which may move one later.
 *
 * Reservations are of amounts (CPUs, GPUs, and GPUs of the types that a job insists on); the
 * placement finds the places at the start. Where
 * it finds none although the amounts are there, or somebody overruns his estimate, the promise
 * cannot be kept: the job goes on to the next hole. Jobs without an estimate are expected to run
 * for ever. Who a limit keeps waiting, of its tenant or of a licence, is promised nothing as long
 * as it does: the holes are for those who may start.
 *
 * The host asks for the key of each job when it comes; that is how its arrival is noticed. A count
 * of those that wait tells when somebody left, and then all are looked at.
 * Cost: O(profile) a job that comes and one that starts; a surprise costs that for each that waits.
 */
#include "sched/queueing/queueings.h"

#include "sched/cluster/id_table.h"
#include "sched/internal/alloc.h"
#include "sched/internal/aside.h"
#include "sched/internal/job_name.h"
#include "sched/internal/made.h"
#include "sched/internal/memory.h"
#include "sched/internal/params.h"
#include "sched/queueing/parts/backfill.h"
#include "sched/queueing/parts/profile.h"
#include "sched/queueing/parts/ranked.h"
#include "sched/queueing/parts/typed_room.h"

#include <math.h>
#include <stdlib.h>

enum { PARAM_ORDER, PARAM_REPLAN, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_ORDER] = WEIR_BACKFILL_ORDER,
    [PARAM_REPLAN] =
        WEIR_FLAG("replan", 0, "after an early end plan all reservations anew, in order"),
};

struct reservation {
    uint64_t name; /* workload and id */
    int64_t start_ns, duration_ns;
    int64_t submit_ns;
    struct weir_room need;
    struct weir_typed_need typed;
    uint32_t place; /* in the heap of those to come */
};

struct arrival {
    struct weir_job job;
};

struct conservative {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_walk walk;
    struct weir_profile profile;
    struct weir_typed_room typed;
    struct weir_id_table names; /* to reservations */
    struct reservation *reservations;
    uint32_t *heap; /* of reservations by start, submission, name */
    struct weir_owner *arrived;
    struct arrival *fresh; /* the same, once they are looked up */
    uint32_t count, reservation_capacity, heap_capacity;
    uint32_t arrived_count, arrived_capacity, fresh_capacity;
    uint64_t surprises;
    int64_t woken_ns;   /* a call was asked for */
    bool is_stale;      /* all has to be looked at */
    bool has_held;      /* in this pass: a limit keeps somebody waiting, */
    bool was_promised;  /* who had a reservation that others may have now */
    bool is_taken_over; /* its reservations are those of another host: there is no profile yet */
};

struct pass {
    struct conservative *own;
    const struct weir_view *view;
    struct weir_placer *placer;
    struct weir_error *error;
};

static const struct weir_made made = WEIR_MADE(struct conservative, params, PARAM_COUNT);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    struct conservative *const own = *state;
    own->is_stale = true;
    weir_walk_open(&own->walk, allocator);
    weir_profile_open(&own->profile, allocator);
    weir_typed_open(&own->typed, allocator);
    return WEIR_OK;
}

static void destroy(void *state)
{
    struct conservative *const own = state;
    const struct weir_allocator *const allocator = &own->allocator;

    weir_walk_close(&own->walk);
    weir_profile_close(&own->profile);
    weir_typed_close(&own->typed);
    weir_id_table_free(&own->names, allocator);
    weir_free(allocator, own->reservations);
    weir_free(allocator, own->heap);
    weir_free(allocator, own->arrived);
    weir_free(allocator, own->fresh);
    weir_made_destroy(state);
}

static weir_status note_arrival(struct conservative *own, const struct weir_job *job)
{
    WEIR_ROOM(&own->allocator, own->arrived, own->arrived_capacity, own->arrived_count + 1);
    own->arrived[own->arrived_count++] = weir_job_owner(job->workload, job->id);
    return WEIR_OK;
}

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    struct conservative *const own = state;

    (void)now_ns;
    if (!own->is_stale && note_arrival(own, job) != WEIR_OK)
        own->is_stale = true;
    return weir_backfill_key((uint32_t)own->values[PARAM_ORDER], job);
}

/* ---- those that have a reservation ---- */

static uint64_t name_of(const struct weir_job *job)
{
    return weir_job_name(job->workload, job->id);
}

static bool is_sooner(const struct reservation *a, const struct reservation *b)
{
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    return a->submit_ns != b->submit_ns ? a->submit_ns < b->submit_ns : a->name < b->name;
}

static void put(struct conservative *own, uint32_t place, uint32_t index)
{
    own->heap[place] = index;
    own->reservations[index].place = place;
}

static void rise(struct conservative *own, uint32_t place)
{
    const uint32_t index = own->heap[place];

    for (; place > 0 &&
           is_sooner(&own->reservations[index], &own->reservations[own->heap[(place - 1) / 2]]);
         place = (place - 1) / 2)
        put(own, place, own->heap[(place - 1) / 2]);
    put(own, place, index);
}

static void sink(struct conservative *own, uint32_t place)
{
    const uint32_t index = own->heap[place];

    for (uint32_t child = 2 * place + 1; child < own->count; child = 2 * place + 1) {
        if (child + 1 < own->count && is_sooner(&own->reservations[own->heap[child + 1]],
                                                &own->reservations[own->heap[child]]))
            child++;
        if (!is_sooner(&own->reservations[own->heap[child]], &own->reservations[index]))
            break;
        put(own, place, own->heap[child]);
        place = child;
    }
    put(own, place, index);
}

static void move(struct conservative *own, uint32_t index)
{
    rise(own, own->reservations[index].place);
    sink(own, own->reservations[index].place);
}

/* The last one takes its place in the list. */
static void forget(struct conservative *own, uint32_t index)
{
    const uint32_t place = own->reservations[index].place;
    const uint32_t last = --own->count;
    const uint32_t moved = own->heap[last];

    weir_id_table_remove(&own->names, own->reservations[index].name);
    if (place != last) {
        put(own, place, moved);
        move(own, moved);
    }
    if (index == last)
        return;
    own->reservations[index] = own->reservations[last];
    own->heap[own->reservations[index].place] = index;
    weir_id_table_put(&own->names, own->reservations[index].name, index);
}

static int64_t end_of(const struct reservation *reservation)
{
    int64_t end_ns = 0;

    if (reservation->start_ns == INT64_MAX ||
        __builtin_add_overflow(reservation->start_ns, reservation->duration_ns, &end_ns))
        return INT64_MAX;
    return end_ns;
}

/* In the profile, or out of it. One that can never start is not in it. */
static weir_status enter(struct conservative *own, const struct reservation *reservation,
                         int64_t sign)
{
    const struct weir_room more = { sign * reservation->need.gpu_units,
                                    sign * reservation->need.cpu_units };

    if (reservation->start_ns == INT64_MAX)
        return WEIR_OK;
    WEIR_TRY(weir_typed_change(&own->typed, &reservation->typed, reservation->start_ns,
                               end_of(reservation), (int)sign));
    return weir_profile_add(&own->profile, reservation->start_ns, end_of(reservation), more);
}

/* None for now: a limit keeps the job waiting. */
static bool is_held(const struct pass *pass, const struct weir_job *job)
{
    const uint32_t limit = weir_walk_limit(pass->view, job);

    if (limit == WEIR_REASON_NONE)
        return false;
    (void)weir_placer_deny_job(pass->placer, job->workload, job->id, limit);
    pass->own->has_held = true;
    return true;
}

/* At the earliest hole, all others standing. */
static weir_status reserve(struct conservative *own, struct reservation *reservation)
{
    int64_t at_ns = weir_profile_find(&own->profile, reservation->need, reservation->duration_ns);

    for (int64_t before_ns = -1; at_ns != before_ns && at_ns != INT64_MAX;) {
        before_ns = at_ns; /* until a hole of all GPUs is one of its types, too */
        at_ns = weir_typed_find(&own->typed, &reservation->typed, at_ns, reservation->duration_ns);
        if (at_ns != INT64_MAX)
            at_ns = weir_profile_find_from(&own->profile, at_ns, reservation->need,
                                           reservation->duration_ns);
    }
    reservation->start_ns = at_ns;
    return enter(own, reservation, -1);
}

/* How long it is expected to run. Of one that was lost near the end of its estimate, or behind it,
 * little is known: the tenth part of the estimate. */
static int64_t duration_of(const struct weir_job *job)
{
    const int64_t left_ns = weir_job_left_ns(job);
    const int64_t least_ns = left_ns == INT64_MAX ? 1 : job->estimate_ns / 10;

    return left_ns > least_ns ? left_ns : least_ns > 0 ? least_ns : 1;
}

/* One without a start yet, the last of the list. */
static weir_status list(struct conservative *own, const struct weir_job *job)
{
    const struct weir_amounts need = weir_ranked_need(job);
    const uint32_t index = own->count;

    WEIR_ROOM(&own->allocator, own->reservations, own->reservation_capacity, index + 1);
    WEIR_ROOM(&own->allocator, own->heap, own->heap_capacity, index + 1);
    WEIR_TRY(weir_id_table_reserve(&own->names, &own->allocator, 1));
    own->reservations[index] = (struct reservation){ .name = name_of(job),
                                                     .start_ns = INT64_MAX,
                                                     .duration_ns = duration_of(job),
                                                     .submit_ns = job->submit_ns,
                                                     .need = { need.gpu_units, need.cpu_units } };
    (void)weir_typed_find_need(&own->typed, job, &own->reservations[index].typed);
    weir_id_table_put(&own->names, name_of(job), index);
    put(own, own->count++, index);
    return WEIR_OK;
}

static weir_status add(const struct pass *pass, const struct weir_job *job)
{
    struct conservative *const own = pass->own;
    const uint32_t index = own->count;

    WEIR_TRY(list(own, job));
    if (!is_held(pass, job))
        WEIR_TRY(reserve(own, &own->reservations[index]));
    move(own, index);
    return WEIR_OK;
}

/* ---- looking at all ---- */

/* From what runs, and the reservations as they are if they are kept. */
static weir_status draw_profile(const struct pass *pass, bool keeps)
{
    struct conservative *const own = pass->own;
    const int64_t now_ns = pass->view->now_ns;
    const struct weir_amounts free = weir_cluster_free(weir_placer_scratch(pass->placer));
    struct weir_job job = { .size = sizeof job };

    WEIR_TRY(weir_profile_begin(&own->profile, now_ns,
                                (struct weir_room){ free.gpu_units, free.cpu_units }));
    for (bool more = weir_view_next_running(pass->view, NULL, &job); more;
         more = weir_view_next_running(pass->view, &job, &job)) {
        const struct weir_amounts need = weir_ranked_need(&job);
        const int64_t end_ns = weir_job_end_ns(&job, now_ns);
        if (end_ns != INT64_MAX)
            WEIR_TRY(weir_profile_add(&own->profile, end_ns, INT64_MAX,
                                      (struct weir_room){ need.gpu_units, need.cpu_units }));
    }
    WEIR_TRY(weir_typed_draw(&own->typed, pass->view, weir_placer_scratch(pass->placer)));
    for (uint32_t i = 0; keeps && i < own->count; i++) {
        if (own->reservations[i].start_ns < now_ns)
            own->reservations[i].start_ns = now_ns;
        WEIR_TRY(enter(own, &own->reservations[i], -1));
    }
    return WEIR_OK;
}

/* Those that do not wait any more. */
static void forget_gone(const struct pass *pass)
{
    struct conservative *const own = pass->own;

    for (uint32_t i = own->count; i-- > 0;) {
        const uint64_t name = own->reservations[i].name;
        struct weir_job job = { .size = sizeof job };
        const bool is_known =
            weir_view_job(pass->view, weir_job_name_workload(name), weir_job_name_id(name), &job);
        if (!is_known || job.state != WEIR_JOB_WAITING || weir_view_is_aside(pass->view, &job))
            forget(own, i);
    }
}

/* One job that waits, in its turn. */
static weir_status look_at(const struct pass *pass, const struct weir_job *job)
{
    struct conservative *const own = pass->own;
    const uint32_t index = weir_id_table_find(&own->names, name_of(job));

    if (index == WEIR_NO_INDEX)
        return WEIR_OK; /* it comes after all that have one */
    struct reservation *const reservation = &own->reservations[index];
    if (own->values[PARAM_REPLAN] <= 0)
        WEIR_TRY(enter(own, reservation, 1));
    reservation->start_ns = INT64_MAX;
    if (!is_held(pass, job))
        WEIR_TRY(reserve(own, reservation));
    move(own, index);
    return WEIR_OK;
}

/* A profile for every set of types that somebody who waits insists on, and for nobody else. */
static weir_status find_types(const struct pass *pass)
{
    struct conservative *const own = pass->own;
    const uint32_t kinds = weir_view_waiting_kinds(pass->view);
    struct weir_job job = { .size = sizeof job };

    weir_typed_forget(&own->typed);
    for (uint32_t i = 0; i < kinds; i++) {
        const struct weir_waiting_query query = { .size = sizeof query,
                                                  .kind = weir_view_waiting_kind(pass->view, i),
                                                  .most_ns = INT64_MAX };
        if (weir_view_find_waiting(pass->view, &query, &job))
            WEIR_TRY(weir_typed_add_need(&own->typed, &job));
    }
    for (uint32_t i = 0; i < own->count; i++) {
        const uint64_t name = own->reservations[i].name;
        own->reservations[i].typed = (struct weir_typed_need){ 0 };
        if (weir_view_job(pass->view, weir_job_name_workload(name), weir_job_name_id(name), &job))
            (void)weir_typed_find_need(&own->typed, &job, &own->reservations[i].typed);
    }
    return WEIR_OK;
}

/* Lifts and puts each reservation once, then gives one to who has none. */
static weir_status look_at_all(const struct pass *pass)
{
    struct conservative *const own = pass->own;

    forget_gone(pass);
    WEIR_TRY(find_types(pass));
    WEIR_TRY(draw_profile(pass, own->values[PARAM_REPLAN] <= 0));
    own->is_stale = false;
    own->is_taken_over = false;
    own->arrived_count = 0;
    own->surprises = weir_view_surprises(pass->view);
    for (uint32_t round = 0; round < 2; round++) {
        WEIR_TRY(weir_walk_begin(&own->walk, pass->view, INT64_MAX));
        for (const struct weir_job *job = weir_walk_job(&own->walk); job != NULL;
             job = weir_walk_job(&own->walk)) {
            if (round == 0)
                WEIR_TRY(look_at(pass, job));
            else if (weir_id_table_find(&own->names, name_of(job)) == WEIR_NO_INDEX)
                WEIR_TRY(add(pass, job));
            weir_walk_next(&own->walk, INT64_MAX);
        }
    }
    return WEIR_OK;
}

/* ---- those that came ---- */

static int compare_fresh(const void *left, const void *right)
{
    const struct arrival *const a = left;
    const struct arrival *const b = right;

    return weir_walk_is_before(&a->job, &b->job) ? -1 : 1;
}

/* Lists those that came, as `fresh`; *count of them. */
static weir_status list_arrivals(const struct pass *pass, uint32_t *count)
{
    struct conservative *const own = pass->own;

    *count = 0;
    WEIR_ROOM(&own->allocator, own->fresh, own->fresh_capacity, own->arrived_count + 1);
    for (uint32_t i = 0; i < own->arrived_count; i++) {
        struct weir_job *const job = &own->fresh[*count].job;
        job->size = sizeof *job;
        if (weir_view_job(pass->view, own->arrived[i].index, own->arrived[i].id, job) &&
            job->state == WEIR_JOB_WAITING && !weir_view_is_aside(pass->view, job) &&
            weir_id_table_find(&own->names, name_of(job)) == WEIR_NO_INDEX)
            ++*count;
    }
    own->arrived_count = 0;
    if (*count > 1)
        qsort(own->fresh, *count, sizeof *own->fresh, compare_fresh);
    return WEIR_OK;
}

/* One that came, left and came again before anybody looked is listed twice. */
static uint32_t count_once(const struct conservative *own, uint32_t count)
{
    uint32_t once = count > 0 ? 1 : 0;

    for (uint32_t i = 1; i < count; i++)
        once += name_of(&own->fresh[i].job) != name_of(&own->fresh[i - 1].job);
    return once;
}

/* On types that no profile is of. */
static bool insists_on_more(const struct conservative *own, uint32_t count)
{
    struct weir_typed_need need;
    bool found = false;

    for (uint32_t i = 0; i < count && !found; i++)
        found = !weir_typed_find_need(&own->typed, &own->fresh[i].job, &need);
    return found;
}

/* Gives them reservations, all others standing; unless somebody left, too. */
static weir_status take_arrivals(const struct pass *pass)
{
    struct conservative *const own = pass->own;
    uint32_t count = 0;

    WEIR_TRY(list_arrivals(pass, &count));
    own->is_stale = own->count + count_once(own, count) + weir_view_aside_jobs(pass->view) !=
                        weir_view_waiting_jobs(pass->view) ||
                    insists_on_more(own, count);
    for (uint32_t i = 0; i < count && !own->is_stale; i++)
        if (weir_id_table_find(&own->names, name_of(&own->fresh[i].job)) == WEIR_NO_INDEX)
            WEIR_TRY(add(pass, &own->fresh[i].job));
    return WEIR_OK;
}

/* ---- the pass ---- */

static bool is_limited(const struct pass *pass, const struct reservation *reservation)
{
    struct weir_job job = { .size = sizeof job };

    return weir_view_job(pass->view, weir_job_name_workload(reservation->name),
                         weir_job_name_id(reservation->name), &job) &&
           is_held(pass, &job);
}

/* It found no place: the next hole is after the next release. */
static weir_status put_off(const struct pass *pass, uint32_t index)
{
    struct conservative *const own = pass->own;
    struct reservation *const reservation = &own->reservations[index];
    struct weir_job first = { .size = sizeof first };
    const int64_t now_ns = pass->view->now_ns;

    WEIR_TRY(enter(own, reservation, 1));
    if (is_limited(pass, reservation)) {
        reservation->start_ns = INT64_MAX;
        own->was_promised = true;
        move(own, index);
        return WEIR_OK;
    }
    bool more = weir_view_next_running(pass->view, NULL, &first);
    while (more && weir_job_end_ns(&first, now_ns) <= now_ns)
        more = weir_view_next_running(pass->view, &first, &first);
    reservation->start_ns = more ? weir_job_end_ns(&first, now_ns) : INT64_MAX;
    if (own->typed.count > 0 && more) /* what others have reserved stays theirs */
        reservation->start_ns = weir_profile_find_from(&own->profile, reservation->start_ns,
                                                       reservation->need, reservation->duration_ns);
    own->is_stale = true; /* all are looked at when something changes */
    WEIR_TRY(enter(own, reservation, -1));
    move(own, index);
    return WEIR_OK;
}

static weir_status start(const struct pass *pass, uint64_t name)
{
    struct conservative *const own = pass->own;
    const uint32_t workload = weir_job_name_workload(name);
    const uint64_t id = weir_job_name_id(name);
    struct weir_job job = { .size = sizeof job };

    if (own->typed.count == 0 || !weir_view_job(pass->view, workload, id, &job))
        return weir_placer_start_job(pass->placer, workload, id, pass->error);
    return weir_typed_start(&own->typed, pass->placer, &job, pass->view->now_ns, pass->error);
}

static weir_status start_due(const struct pass *pass)
{
    struct conservative *const own = pass->own;

    while (own->count > 0 && own->reservations[own->heap[0]].start_ns <= pass->view->now_ns) {
        const uint32_t index = own->heap[0];
        const uint64_t name = own->reservations[index].name;
        const weir_status status = start(pass, name);
        if (status == WEIR_OK) {
            forget(own, index);
            /* it may hold GPUs that others insist on */
            own->is_stale = own->is_stale || own->typed.count > 0;
            if (own->typed.count > 0)
                WEIR_TRY(draw_profile(pass, true));
        } else if (weir_backfill_is_no_place(status)) {
            WEIR_TRY(put_off(pass, index));
        } else {
            return status;
        }
    }
    return WEIR_OK;
}

/* The next reservation may begin when nobody ends: who was to end then ended before. */
static weir_status wake(struct conservative *own, int64_t now_ns, struct weir_plan *plan)
{
    const int64_t next_ns = own->count == 0 ? INT64_MAX : own->reservations[own->heap[0]].start_ns;

    if (next_ns == INT64_MAX || next_ns <= now_ns ||
        (own->woken_ns > now_ns && own->woken_ns <= next_ns))
        return WEIR_OK;
    own->woken_ns = next_ns;
    return weir_plan_wake(plan, next_ns);
}

static bool is_overrun(const struct pass *pass)
{
    struct weir_job first = { .size = sizeof first };

    return weir_view_next_running(pass->view, NULL, &first) &&
           weir_job_end_ns(&first, INT64_MIN) < pass->view->now_ns;
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct conservative *const own = state;
    const struct pass pass = { own, view, placer, error };

    if (own->surprises != weir_view_surprises(view) || is_overrun(&pass))
        own->is_stale = true;
    if (!own->is_stale && own->is_taken_over)
        WEIR_TRY(draw_profile(&pass, true));
    own->is_taken_over = false;
    if (!own->is_stale) {
        weir_profile_advance(&own->profile, view->now_ns);
        weir_typed_advance(&own->typed, view->now_ns);
        WEIR_TRY(take_arrivals(&pass));
    }
    own->has_held = false;
    do {
        if (own->is_stale || own->was_promised)
            WEIR_TRY(look_at_all(&pass));
        own->was_promised = false;
        WEIR_TRY(start_due(&pass));
    } while (own->was_promised);
    own->is_stale = own->is_stale || own->has_held; /* a limit may let him go at any time */
    WEIR_TRY(wake(own, view->now_ns, plan));
    error->text[0] = '\0'; /* that some found no place is no error */
    return WEIR_OK;
}

enum { HEAD = 3, EACH = 3 };

/* The call that was asked for, whether all has to be looked at and since which surprise; then what
 * was promised: workload, id and start of each. */
static uint32_t save(const void *state, double *numbers, uint32_t capacity)
{
    const struct conservative *const own = state;
    const uint32_t count = HEAD + EACH * own->count;

    if (capacity < count)
        return count;
    numbers[0] = weir_memory_of_time(own->woken_ns);
    numbers[1] = own->is_stale;
    numbers[2] = (double)own->surprises;
    for (uint32_t i = 0; i < own->count; i++) {
        const struct reservation *const reservation = &own->reservations[i];
        double *const parts = numbers + HEAD + (size_t)EACH * i;
        parts[0] = weir_job_name_workload(reservation->name);
        parts[1] = (double)weir_job_name_id(reservation->name);
        parts[2] = reservation->start_ns == INT64_MAX ? (double)NAN
                                                      : weir_memory_of_time(reservation->start_ns);
    }
    return count;
}

static weir_status restore_one(struct conservative *own, const struct weir_view *view,
                               const double *parts, struct weir_error *error)
{
    struct weir_job job = { .size = sizeof job };
    const uint32_t index = own->count;

    if (!(parts[0] >= 0 && parts[1] >= 0))
        return weir_fail(error, WEIR_EFORMAT, "a reservation of job %g of workload %g", parts[1],
                         parts[0]);
    if (!weir_view_job(view, (uint32_t)parts[0], (uint64_t)parts[1], &job) ||
        job.state != WEIR_JOB_WAITING ||
        weir_id_table_find(&own->names, name_of(&job)) != WEIR_NO_INDEX) {
        own->is_stale = true; /* it has left since */
        return WEIR_OK;
    }
    if (weir_typed_add_need(&own->typed, &job) != WEIR_OK || list(own, &job) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    own->reservations[index].start_ns = weir_memory_to_time(parts[2]);
    move(own, index);
    return WEIR_OK;
}

/* Those who come after this are told by their keys: they were waiting when these numbers were
 * saved, or came since. */
static weir_status note_unlisted(struct conservative *own, const struct weir_view *view)
{
    struct weir_job job = { .size = sizeof job };
    uint32_t cursor = 0;

    while (weir_view_next_job(view, &cursor, &job))
        if (job.state == WEIR_JOB_WAITING &&
            weir_id_table_find(&own->names, name_of(&job)) == WEIR_NO_INDEX)
            WEIR_TRY(note_arrival(own, &job));
    return WEIR_OK;
}

static weir_status restore(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t count, struct weir_error *error)
{
    struct conservative *const own = state;

    if (count < HEAD || (count - HEAD) % EACH != 0 || !(numbers[2] >= 0))
        return weir_fail(error, WEIR_EFORMAT, "%u numbers are no list of reservations", count);
    own->woken_ns = weir_memory_to_time(numbers[0]);
    own->is_stale = numbers[1] > 0;
    own->surprises = (uint64_t)numbers[2];
    for (uint32_t i = HEAD; i < count; i += EACH)
        WEIR_TRY(restore_one(own, view, numbers + i, error));
    own->is_taken_over = true;
    own->arrived_count = 0;
    return note_unlisted(own, view);
}

const struct weir_queueing_ops weir_queueing_conservative = {
    .size = sizeof weir_queueing_conservative,
    .abi = WEIR_ABI_MAJOR,
    .name = "conservative",
    .summary = "every job has a reservation; others pass it when they delay nobody",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .key = key,
    .pass = pass,
    .save = save,
    .restore = restore,
};
