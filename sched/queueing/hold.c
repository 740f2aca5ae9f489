/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The policy "hold": jobs that fit pass those that do not, and one gang at a time may hold what it
 * finds, for a while.
 *
 * The most urgent first, then by submission. The first job of several ranks that does not fit
 * becomes the holder: what those before it in the order leave free is its own, and nobody behind it
 * starts. If it still does not fit `hold` seconds later it gives everything back in that same pass
 * and is not asked for `silent` seconds. With hold: 0 this is first_fit, with a hold without end
 * fcfs for those behind. There is one holder at most, so two gangs that each have a half never wait
 * for each other. Too short a hold is worse than none.
 *
 * Cost of a pass: as of first_fit.
 */
#include "sched/queueing/queueings.h"

#include "sched/internal/alloc.h"
#include "sched/internal/later.h"
#include "sched/internal/made.h"
#include "sched/internal/memory.h"
#include "sched/internal/params.h"
#include "sched/queueing/parts/backfill.h"
#include "sched/queueing/parts/walk.h"

enum { PARAM_HOLD, PARAM_SILENT, PARAM_COUNT };

static const struct weir_param params[PARAM_COUNT] = {
    [PARAM_HOLD] =
        WEIR_DURATION("hold", 0, 1e9, 60, "how long a gang that does not fit holds what it finds"),
    [PARAM_SILENT] = WEIR_DURATION("silent", 0, 1e9, 60, "how long it is not asked after that"),
};

struct name {
    uint32_t workload;
    uint64_t id;
};

/* Gave back what it held, and holds nothing before this time. */
struct silent {
    struct name name;
    int64_t until_ns;
};

struct hold {
    struct weir_allocator allocator;
    double values[PARAM_COUNT];
    struct weir_walk walk;
    bool has_holder;
    struct name holder;
    int64_t since_ns;
    struct silent *silent;
    uint32_t silent_count, silent_capacity;
    int64_t woken_ns;
};

struct pass {
    struct hold *hold;
    const struct weir_view *view;
    struct weir_placer *placer;
    struct weir_error *error;
    bool is_over;
};

static const struct weir_made made = WEIR_MADE(struct hold, params, PARAM_COUNT);

static weir_status create(const struct weir_params *given, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    WEIR_TRY(weir_made_create(&made, given, allocator, state, error));
    weir_walk_open(&((struct hold *)*state)->walk, allocator);
    return WEIR_OK;
}

static void destroy(void *state)
{
    struct hold *const hold = state;

    weir_walk_close(&hold->walk);
    weir_free(&hold->allocator, hold->silent);
    weir_made_destroy(state);
}

static double key(void *state, const struct weir_job *job, int64_t now_ns)
{
    (void)state;
    (void)now_ns;
    return -(double)job->priority;
}

/* ---- who holds, who is silent ---- */

static bool is_named(const struct name *name, const struct weir_job *job)
{
    return name->workload == job->workload && name->id == job->id;
}

static int64_t param_ns(const struct hold *hold, uint32_t index)
{
    return (int64_t)(hold->values[index] * 1e9 + 0.5);
}

/* Those whose time is over or that do not wait any more are forgotten. */
static void forget_silent(struct hold *hold, const struct weir_view *view)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < hold->silent_count; i++) {
        struct weir_job job = { .size = sizeof job };
        const struct name *const name = &hold->silent[i].name;
        if (hold->silent[i].until_ns > view->now_ns &&
            weir_view_job(view, name->workload, name->id, &job) && job.state == WEIR_JOB_WAITING)
            hold->silent[kept++] = hold->silent[i];
    }
    hold->silent_count = kept;
}

static bool is_silent(const struct hold *hold, const struct weir_job *job)
{
    for (uint32_t i = 0; i < hold->silent_count; i++)
        if (is_named(&hold->silent[i].name, job))
            return true;
    return false;
}

/* Its time is over: it gives everything back. */
static weir_status give_back(struct hold *hold, int64_t now_ns)
{
    const int64_t until_ns = weir_later_ns(now_ns, param_ns(hold, PARAM_SILENT));

    hold->has_holder = false;
    if (until_ns == now_ns)
        return WEIR_OK;
    WEIR_ROOM(&hold->allocator, hold->silent, hold->silent_capacity, hold->silent_count + 1);
    hold->silent[hold->silent_count++] = (struct silent){ hold->holder, until_ns };
    return WEIR_OK;
}

static bool is_time_over(const struct hold *hold, int64_t now_ns)
{
    return weir_later_ns(hold->since_ns, param_ns(hold, PARAM_HOLD)) <= now_ns;
}

/* It found no place. */
static weir_status hold_or_pass(struct pass *pass, const struct weir_job *job)
{
    struct hold *const hold = pass->hold;
    const int64_t now_ns = pass->view->now_ns;
    const bool is_holder = hold->has_holder && is_named(&hold->holder, job);

    if (is_holder && is_time_over(hold, now_ns))
        return give_back(hold, now_ns);
    if (!is_holder && (hold->has_holder || job->ranks < 2 || hold->values[PARAM_HOLD] <= 0))
        return WEIR_OK;
    if (!is_holder) {
        hold->has_holder = true;
        hold->holder = (struct name){ job->workload, job->id };
        hold->since_ns = now_ns;
    }
    pass->is_over = true;
    return WEIR_OK;
}

/* ---- the pass ---- */

static weir_status offer(struct pass *pass, const struct weir_job *job)
{
    struct hold *const hold = pass->hold;
    const bool is_holder = hold->has_holder && is_named(&hold->holder, job);
    if (is_silent(hold, job)) {
        weir_walk_next(&hold->walk, INT64_MAX);
        return WEIR_OK;
    }
    const weir_status status =
        weir_placer_start_job(pass->placer, job->workload, job->id, pass->error);

    if (status == WEIR_OK) {
        hold->has_holder = hold->has_holder && !is_holder;
        weir_walk_next(&hold->walk, INT64_MAX);
        return WEIR_OK;
    }
    if (!weir_backfill_is_no_place(status))
        return status;
    WEIR_TRY(hold_or_pass(pass, job));
    /* behind it may stand the one that holds, of the same kind */
    if (hold->has_holder && !pass->is_over)
        weir_walk_next(&hold->walk, INT64_MAX);
    else
        weir_walk_leave_kind(&hold->walk);
    return WEIR_OK;
}

/* The next time at which something is over. */
static weir_status wake(struct hold *hold, int64_t now_ns, struct weir_plan *plan)
{
    int64_t next_ns =
        hold->has_holder ? weir_later_ns(hold->since_ns, param_ns(hold, PARAM_HOLD)) : INT64_MAX;

    for (uint32_t i = 0; i < hold->silent_count; i++)
        if (hold->silent[i].until_ns < next_ns)
            next_ns = hold->silent[i].until_ns;
    if (next_ns == INT64_MAX || (hold->woken_ns > now_ns && hold->woken_ns <= next_ns))
        return WEIR_OK;
    hold->woken_ns = next_ns;
    return weir_plan_wake(plan, next_ns);
}

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    struct hold *const hold = state;
    struct pass pass = { .hold = hold, .view = view, .placer = placer, .error = error };
    struct weir_job holder = { .size = sizeof holder };
    const struct weir_job *job;

    forget_silent(hold, view);
    hold->has_holder = hold->has_holder &&
                       weir_view_job(view, hold->holder.workload, hold->holder.id, &holder) &&
                       holder.state == WEIR_JOB_WAITING;
    WEIR_TRY(weir_walk_begin(&hold->walk, view, INT64_MAX));
    while (!pass.is_over && (job = weir_walk_free_job(&hold->walk, placer)) != NULL)
        WEIR_TRY(offer(&pass, job));
    if (hold->has_holder && is_time_over(hold, view->now_ns))
        WEIR_TRY(give_back(hold, view->now_ns)); /* a limit kept it from being asked */
    if (error != NULL)
        error->text[0] = '\0'; /* that some found no place is no error */
    return wake(hold, view->now_ns, plan);
}

/* ---- from one decision to the next ---- */

enum { HEAD = 5, EACH = 3 };

static uint32_t save(const void *state, double *numbers, uint32_t capacity)
{
    const struct hold *const hold = state;
    const uint32_t count = HEAD + EACH * hold->silent_count;
    const double head[HEAD] = { hold->has_holder, hold->holder.workload, (double)hold->holder.id,
                                weir_memory_of_time(hold->since_ns),
                                weir_memory_of_time(hold->woken_ns) };

    if (capacity < count)
        return count;
    for (uint32_t i = 0; i < HEAD; i++)
        numbers[i] = head[i];
    for (uint32_t i = 0; i < hold->silent_count; i++) {
        numbers[HEAD + EACH * i] = hold->silent[i].name.workload;
        numbers[HEAD + EACH * i + 1] = (double)hold->silent[i].name.id;
        numbers[HEAD + EACH * i + 2] = weir_memory_of_time(hold->silent[i].until_ns);
    }
    return count;
}

static weir_status restore(void *state, const struct weir_view *view, const double *numbers,
                           uint32_t count, struct weir_error *error)
{
    struct hold *const hold = state;
    bool is_sound = count >= HEAD && (count - HEAD) % EACH == 0;

    (void)view;
    for (uint32_t i = 0; is_sound && i < count; i++)
        is_sound = numbers[i] > -2; /* times of today are below 0 */
    if (!is_sound)
        return weir_fail(error, WEIR_EFORMAT, "%u numbers are no holder and those silent", count);
    hold->has_holder = numbers[0] > 0;
    hold->holder = (struct name){ (uint32_t)numbers[1], (uint64_t)numbers[2] };
    hold->since_ns = weir_memory_to_time(numbers[3]);
    hold->woken_ns = weir_memory_to_time(numbers[4]);
    hold->silent_count = 0;
    for (uint32_t i = HEAD; i < count; i += EACH) {
        WEIR_ROOM(&hold->allocator, hold->silent, hold->silent_capacity, hold->silent_count + 1);
        hold->silent[hold->silent_count++] =
            (struct silent){ { (uint32_t)numbers[i], (uint64_t)numbers[i + 1] },
                             weir_memory_to_time(numbers[i + 2]) };
    }
    return WEIR_OK;
}

const struct weir_queueing_ops weir_queueing_hold = {
    .size = sizeof weir_queueing_hold,
    .abi = WEIR_ABI_MAJOR,
    .name = "hold",
    .summary = "whoever fits; one gang at a time holds what it finds, for a bounded time",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = destroy,
    .key = key,
    .pass = pass,
    .save = save,
    .restore = restore,
};
