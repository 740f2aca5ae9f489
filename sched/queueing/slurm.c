/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "slurm": Slurm's two passes over jobs in the order of their multifactor priorities,
 * with its limits (sched/backfill of Slurm).
 *
 * The quick one, whenever something changes: the first `default_queue_depth` jobs, up to the first
 * that does not fit. The one that backfills, at every multiple of `bf_interval` after it: the first
 * `bf_max_job_test` jobs on a profile of what runs (start + limit) and of the reservations that it
 * made for those before. A job gets the earliest x with room for [x, x + limit rounded up to
 * `bf_resolution`). Now: it starts. Within `bf_window`: it is reserved. Later: it holds nobody.
 * Reservations last for one pass, so one may move later. Without limits of Slurm's that is
 * conservative backfill in that order, worked out anew each time.
 *
 * Reservations are of amounts. Jobs of which no limit is known are expected to run for ever.
 * Cost: quick O(waiting log waiting), the other O(bf_max_job_test x profile).
 */
#include "sched/queueing/queueings.h"

#include "sched/internal/alloc.h"
#include "sched/internal/later.h"
#include "sched/internal/made.h"
#include "sched/internal/memory.h"
#include "sched/internal/params.h"
#include "sched/queueing/multifactor.h"
#include "sched/queueing/parts/backfill.h"
#include "sched/queueing/parts/profile.h"
#include "sched/queueing/parts/ranked.h"

enum {
    PARAM_DEPTH = WEIR_MULTIFACTOR_PARAMS,
    PARAM_INTERVAL,
    PARAM_WINDOW,
    PARAM_RESOLUTION,
    PARAM_TEST,
    PARAM_USER,
    PARAM_START,
    PARAM_MIN_AGE,
    PARAM_COUNT
};

static const struct weir_param params[PARAM_COUNT] = {
    WEIR_MULTIFACTOR_TABLE,
    [PARAM_DEPTH] =
        WEIR_COUNT("default_queue_depth", "jobs", 1, 1e9, 100, "jobs that the quick pass looks at"),
    [PARAM_INTERVAL] =
        WEIR_DURATION("bf_interval", 1e-3, 1e9, 30, "between two passes that backfill"),
    [PARAM_WINDOW] = WEIR_DURATION("bf_window", 0, 1e9, 86400,
                                   "how far ahead a job may be to have a reservation"),
    [PARAM_RESOLUTION] =
        WEIR_DURATION("bf_resolution", 1e-9, 1e9, 60, "ends are rounded up to a multiple of it"),
    [PARAM_TEST] = WEIR_COUNT("bf_max_job_test", "jobs", 1, 1e9, 500,
                              "jobs that the pass that backfills looks at"),
    [PARAM_USER] =
        WEIR_COUNT("bf_max_job_user", "jobs", 0, 1e9, 0, "of them, jobs of one tenant; 0 = all"),
    [PARAM_START] =
        WEIR_COUNT("bf_max_job_start", "jobs", 0, 1e9, 0, "of them, jobs that start; 0 = all"),
    [PARAM_MIN_AGE] =
        WEIR_DURATION("bf_min_age_reserve", 0, 1e9, 0, "wait before a job has a reservation"),
};

struct slurm {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_multifactor factors;
    struct weir_listed queue;
    struct weir_profile profile;
    uint32_t *looked; /* by tenant: at jobs of it in this pass */
    uint32_t looked_capacity;
    int64_t filled_ns; /* the latest pass that backfilled; -1 = none */
    int64_t woken_ns;
};

struct pass {
    struct slurm *slurm;
    const struct weir_view *view;
    struct weir_placer *placer;
    struct weir_error *error;
    double started;
};

static const struct weir_made made = WEIR_MADE(struct slurm, params, PARAM_COUNT);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    struct slurm *const slurm = *state;
    weir_multifactor_open(&slurm->factors, allocator, slurm->values);
    weir_listed_open(&slurm->queue, allocator);
    weir_profile_open(&slurm->profile, allocator);
    slurm->filled_ns = -1;
    return WEIR_OK;
}

static void destroy(void *state)
{
    struct slurm *const slurm = state;

    weir_multifactor_close(&slurm->factors);
    weir_listed_close(&slurm->queue);
    weir_profile_close(&slurm->profile);
    weir_free(&slurm->allocator, slurm->looked);
    weir_made_destroy(state);
}

static int64_t param_ns(const struct slurm *slurm, uint32_t index)
{
    return (int64_t)(slurm->values[index] * 1e9 + 0.5);
}

static weir_status start(const struct pass *pass, const struct weir_job *job, bool *has_started)
{
    const weir_status status =
        weir_placer_start_job(pass->placer, job->workload, job->id, pass->error);

    *has_started = status == WEIR_OK;
    return weir_backfill_is_no_place(status) ? WEIR_OK : status;
}

/* ---- the quick pass ---- */

/* Marks those that started by a rank that is no number. */
static weir_status start_first(const struct pass *pass)
{
    struct weir_listed *const queue = &pass->slurm->queue;
    const double depth = pass->slurm->values[PARAM_DEPTH];
    struct weir_listed_job *next = NULL;

    for (uint32_t i = 0; i < depth; i++) {
        WEIR_TRY(weir_listed_at(queue, i, &next));
        if (next == NULL)
            break;
        const struct weir_job *const job = &next->job;
        const uint32_t limit = weir_view_quota_reason(pass->view, job);
        bool has_started;
        WEIR_TRY(start(pass, job, &has_started));
        if (has_started)
            next->rank = (double)NAN;
        else if (limit == WEIR_REASON_NONE)
            break;
    }
    return WEIR_OK;
}

/* ---- the pass that backfills ---- */

static weir_status draw_profile(const struct pass *pass)
{
    struct weir_profile *const profile = &pass->slurm->profile;
    const int64_t now_ns = pass->view->now_ns;
    const struct weir_amounts free = weir_cluster_free(weir_placer_scratch(pass->placer));
    struct weir_job job = { .size = sizeof job };

    WEIR_TRY(
        weir_profile_begin(profile, now_ns, (struct weir_room){ free.gpu_units, free.cpu_units }));
    for (bool more = weir_view_next_running(pass->view, NULL, &job); more;
         more = weir_view_next_running(pass->view, &job, &job)) {
        const struct weir_amounts need = weir_ranked_need(&job);
        const int64_t end_ns = weir_job_end_ns(&job, now_ns);
        if (end_ns != INT64_MAX)
            WEIR_TRY(weir_profile_add(profile, end_ns, INT64_MAX,
                                      (struct weir_room){ need.gpu_units, need.cpu_units }));
    }
    return WEIR_OK;
}

/* INT64_MAX = never. */
static int64_t round_up(int64_t at_ns, int64_t step_ns)
{
    const int64_t over_ns = at_ns % step_ns;

    if (at_ns > INT64_MAX - step_ns)
        return INT64_MAX;
    return over_ns == 0 ? at_ns : at_ns + step_ns - over_ns;
}

/* The earliest begin of a hole that lasts until its rounded end. */
static int64_t find_hole(const struct slurm *slurm, struct weir_room need, int64_t limit_ns,
                         int64_t now_ns, int64_t *end_ns)
{
    int64_t at_ns = now_ns;

    for (;;) {
        at_ns = weir_profile_find_from(&slurm->profile, at_ns, need, limit_ns);
        if (at_ns == INT64_MAX)
            return INT64_MAX;
        *end_ns = round_up(weir_later_ns(at_ns, limit_ns), param_ns(slurm, PARAM_RESOLUTION));
        const int64_t until_ns = weir_profile_until(&slurm->profile, at_ns, need);
        if (until_ns >= *end_ns)
            return at_ns;
        at_ns = until_ns;
    }
}

/* Starts it now, or reserves. */
static weir_status fill_in(struct pass *pass, const struct weir_job *job)
{
    struct slurm *const slurm = pass->slurm;
    const int64_t now_ns = pass->view->now_ns;
    const struct weir_amounts need = weir_ranked_need(job);
    const struct weir_room room = { need.gpu_units, need.cpu_units };
    const int64_t left_ns = weir_job_left_ns(job);
    int64_t end_ns = INT64_MAX;
    const int64_t at_ns = find_hole(slurm, room, left_ns > 0 ? left_ns : 1, now_ns, &end_ns);
    bool holds = at_ns < INT64_MAX - 1 && at_ns - now_ns < param_ns(slurm, PARAM_WINDOW) &&
                 now_ns - job->queued_ns >= param_ns(slurm, PARAM_MIN_AGE);

    if (at_ns == now_ns) {
        WEIR_TRY(start(pass, job, &holds)); /* it finds no places for what is there: nothing */
        pass->started += holds;
    }
    if (!holds)
        return WEIR_OK;
    /* From the one to the other, as it says.
     * NOLINTNEXTLINE(readability-suspicious-call-argument) */
    return weir_profile_add(&slurm->profile, at_ns, end_ns,
                            (struct weir_room){ -room.gpu_units, -room.cpu_units });
}

static bool is_one_too_many(const struct slurm *slurm, const struct weir_job *job)
{
    const double most = slurm->values[PARAM_USER];

    return most > 0 && slurm->looked[job->tenant]++ >= most;
}

static weir_status backfill(struct pass *pass)
{
    struct slurm *const slurm = pass->slurm;
    const uint32_t tenants = weir_view_tenants(pass->view);
    const double most = slurm->values[PARAM_START];
    struct weir_listed_job *next = NULL;
    double tested = 0;

    WEIR_TRY(draw_profile(pass));
    WEIR_ROOM(&slurm->allocator, slurm->looked, slurm->looked_capacity, tenants + 1);
    for (uint32_t t = 0; t <= tenants; t++)
        slurm->looked[t] = 0;
    for (uint32_t i = 0; tested < slurm->values[PARAM_TEST]; i++) {
        WEIR_TRY(weir_listed_at(&slurm->queue, i, &next));
        if (next == NULL)
            break;
        const struct weir_job *const job = &next->job;
        if (isnan(next->rank) || is_one_too_many(slurm, job) ||
            weir_view_quota_reason(pass->view, job) != WEIR_REASON_NONE)
            continue;
        tested++;
        WEIR_TRY(fill_in(pass, job));
        if (most > 0 && pass->started >= most)
            break;
    }
    slurm->filled_ns = pass->view->now_ns;
    return WEIR_OK;
}

/* ---- both ---- */

/* At the next multiple of the interval, while somebody waits. */
static weir_status wake(struct slurm *slurm, const struct weir_view *view, struct weir_plan *plan)
{
    const int64_t interval_ns = param_ns(slurm, PARAM_INTERVAL);
    const int64_t next_ns = view->now_ns - view->now_ns % interval_ns + interval_ns;

    if (weir_view_waiting_jobs(view) == 0 || slurm->woken_ns == next_ns)
        return WEIR_OK;
    slurm->woken_ns = next_ns;
    return weir_plan_wake(plan, next_ns);
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct slurm *const slurm = state;
    struct pass pass = { .slurm = slurm, .view = view, .placer = placer, .error = error };
    const bool is_due = view->now_ns % param_ns(slurm, PARAM_INTERVAL) == 0;

    WEIR_TRY(weir_multifactor_list(&slurm->factors, view, &slurm->queue));
    WEIR_TRY(start_first(&pass));
    if (is_due && slurm->filled_ns != view->now_ns)
        WEIR_TRY(backfill(&pass));
    if (error != NULL)
        error->text[0] = '\0'; /* that some found no place is no error */
    return wake(slurm, view, plan);
}

/* ---- from one decision to the next ---- */

static uint32_t save(const void *state, double *numbers, uint32_t capacity)
{
    const struct slurm *const slurm = state;

    if (capacity > 1) {
        numbers[0] = weir_memory_of_time(slurm->filled_ns);
        numbers[1] = weir_memory_of_time(slurm->woken_ns);
    }
    return 2;
}

static weir_status restore(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t count, struct weir_error *error)
{
    struct slurm *const slurm = state;

    (void)view;
    if (count != 2 || isnan(numbers[0]) || isnan(numbers[1]))
        return weir_fail(error, WEIR_EFORMAT, "slurm remembers two times, got %u numbers", count);
    slurm->filled_ns = weir_memory_to_time(numbers[0]);
    slurm->woken_ns = weir_memory_to_time(numbers[1]);
    return WEIR_OK;
}

const struct weir_queueing_ops weir_queueing_slurm = {
    .size = sizeof weir_queueing_slurm,
    .abi = WEIR_ABI_MAJOR,
    .name = "slurm",
    .summary = "Slurm: multifactor priorities, a quick pass, and one that backfills now and then",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .pass = pass,
    .save = save,
    .restore = restore,
};
