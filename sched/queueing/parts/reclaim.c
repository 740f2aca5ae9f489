/* SPDX-License-Identifier: Apache-2.0 */
/* Taking back (see reclaim.h). */
#include "sched/queueing/parts/reclaim.h"

#include "sched/internal/alloc.h"
#include "sched/queueing/parts/backfill.h"

#include <stdlib.h>

void weir_reclaim_close(struct weir_reclaim *reclaim)
{
    weir_free(&reclaim->allocator, reclaim->jobs);
    reclaim->jobs = NULL;
    reclaim->capacity = 0;
}

/* ---- candidates ---- */

static int compare(const void *a, const void *b)
{
    const struct weir_job *const left = a;
    const struct weir_job *const right = b;

    if (left->priority != right->priority)
        return left->priority < right->priority ? -1 : 1;
    if (left->start_ns != right->start_ns)
        return left->start_ns > right->start_ns ? -1 : 1;
    if (left->workload != right->workload)
        return left->workload > right->workload ? -1 : 1;
    return left->id > right->id ? -1 : left->id < right->id;
}

static weir_status collect(struct weir_reclaim *reclaim)
{
    struct weir_job job = { .size = sizeof job };
    struct weir_job before;
    bool is_first = true;

    reclaim->job_count = 0;
    while (weir_view_next_running(reclaim->view, is_first ? NULL : &before, &job)) {
        before = job;
        is_first = false;
        /* Those of this plan are not there yet. */
        if (job.is_preempted != 0 || job.state != WEIR_JOB_RUNNING)
            continue;
        WEIR_ROOM(&reclaim->allocator, reclaim->jobs, reclaim->capacity, reclaim->job_count + 1);
        reclaim->jobs[reclaim->job_count++] = job;
    }
    if (reclaim->job_count > 1)
        qsort(reclaim->jobs, reclaim->job_count, sizeof *reclaim->jobs, compare);
    return WEIR_OK;
}

/* ---- choosing ---- */

static bool lifts(struct weir_reclaim *reclaim, const struct weir_job *victim)
{
    return weir_placer_lift_job(reclaim->placer, victim->workload, victim->id, NULL) == WEIR_OK;
}

static bool fits(struct weir_reclaim *reclaim, const struct weir_job *job)
{
    return weir_placer_fits_job(reclaim->placer, job->workload, job->id, NULL) == WEIR_OK;
}

/* Those that an earlier plan told to go, as if they had gone. */
static bool lift_leaving(struct weir_reclaim *reclaim)
{
    struct weir_job job = { .size = sizeof job };
    bool is_lifted = true;

    for (bool more = weir_view_next_running(reclaim->view, NULL, &job); more && is_lifted;
         more = weir_view_next_running(reclaim->view, &job, &job))
        is_lifted = job.is_preempted == 0 || lifts(reclaim, &job);
    return is_lifted;
}

/* Moves those that go to the front; how many, or 0 when they do not make room. Under a mark. */
static uint32_t choose(struct weir_reclaim *reclaim, const struct weir_job *job)
{
    uint32_t chosen = 0;

    if (!lift_leaving(reclaim) || fits(reclaim, job))
        return 0; /* it waits for them, and for nobody else */
    for (uint32_t i = 0; i < reclaim->job_count; i++) {
        const struct weir_job victim = reclaim->jobs[i];
        if (!reclaim->may_go(reclaim->state, &victim, job) || !lifts(reclaim, &victim))
            continue;
        reclaim->count(reclaim->state, &victim, 1);
        reclaim->jobs[i] = reclaim->jobs[chosen];
        reclaim->jobs[chosen++] = victim;
        if (fits(reclaim, job))
            return chosen;
    }
    for (uint32_t i = 0; i < chosen; i++)
        reclaim->count(reclaim->state, &reclaim->jobs[i], -1);
    return 0;
}

/* Whether the job fits when all of the first `chosen` but this one go. Under a mark. */
static bool fits_without(struct weir_reclaim *reclaim, const struct weir_job *job, uint32_t chosen,
                         uint32_t kept)
{
    if (!lift_leaving(reclaim))
        return false;
    for (uint32_t i = 0; i < chosen; i++)
        if (i != kept && !lifts(reclaim, &reclaim->jobs[i]))
            return false;
    return fits(reclaim, job);
}

static weir_status spare(struct weir_reclaim *reclaim, const struct weir_job *job, uint32_t *chosen)
{
    struct weir_cluster *const scratch = weir_placer_scratch(reclaim->placer);

    for (uint32_t i = *chosen; i-- > 0;) {
        if (weir_cluster_mark(scratch) != WEIR_OK)
            return WEIR_ENOMEM;
        const bool is_spared = fits_without(reclaim, job, *chosen, i);
        weir_cluster_rollback(scratch);
        if (!is_spared)
            continue;
        reclaim->count(reclaim->state, &reclaim->jobs[i], -1);
        reclaim->jobs[i] = reclaim->jobs[--*chosen];
    }
    return WEIR_OK;
}

static weir_status let_go(const struct weir_reclaim *reclaim, const struct weir_job *job,
                          struct weir_error *error)
{
    return reclaim->grace_ns > 0
               ? weir_placer_warn_job(reclaim->placer, job->workload, job->id, reclaim->grace_ns,
                                      error)
               : weir_placer_preempt_job(reclaim->placer, job->workload, job->id, error);
}

weir_status weir_reclaim_for(struct weir_reclaim *reclaim, const struct weir_job *job,
                             struct weir_error *error)
{
    struct weir_cluster *const scratch = weir_placer_scratch(reclaim->placer);

    if (collect(reclaim) != WEIR_OK || weir_cluster_mark(scratch) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (reclaim->arrange != NULL)
        reclaim->arrange(reclaim->state, reclaim->jobs, reclaim->job_count, job);
    uint32_t chosen = choose(reclaim, job);
    weir_cluster_rollback(scratch);
    if (chosen == 0)
        return WEIR_EBUSY;
    if (spare(reclaim, job, &chosen) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < chosen; i++)
        WEIR_TRY(let_go(reclaim, &reclaim->jobs[i], error));
    return WEIR_OK;
}

weir_status weir_reclaim_start(struct weir_reclaim *reclaim, const struct weir_job *job,
                               bool *is_over, struct weir_error *error)
{
    WEIR_TRY(weir_reclaim_for(reclaim, job, error));
    *is_over = reclaim->grace_ns > 0;
    return *is_over ? WEIR_EBUSY
                    : weir_placer_start_job(reclaim->placer, job->workload, job->id, error);
}

static weir_status offer(const struct weir_reclaim *reclaim, struct weir_walk *walk,
                         weir_reclaim_room *make_room, bool *is_over, struct weir_error *error)
{
    const struct weir_job *const job = weir_walk_free_job(walk, reclaim->placer);

    *is_over = job == NULL;
    if (job == NULL)
        return WEIR_OK;
    weir_status status = weir_placer_start_job(reclaim->placer, job->workload, job->id, error);
    if (weir_backfill_is_no_place(status))
        status = make_room(reclaim->state, job, is_over, error);
    if (status == WEIR_OK)
        weir_walk_next(walk, INT64_MAX);
    else if (weir_backfill_is_no_place(status))
        weir_walk_leave_kind(walk);
    return weir_backfill_is_no_place(status) ? WEIR_OK : status;
}

weir_status weir_reclaim_offer(struct weir_reclaim *reclaim, struct weir_walk *walk,
                               weir_reclaim_room *make_room, struct weir_error *error)
{
    bool is_over = false;

    WEIR_TRY(weir_walk_begin(walk, reclaim->view, INT64_MAX));
    while (!is_over)
        WEIR_TRY(offer(reclaim, walk, make_room, &is_over, error));
    if (error != NULL)
        error->text[0] = '\0'; /* that some found no place is no error */
    return WEIR_OK;
}
