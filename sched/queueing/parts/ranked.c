/* SPDX-License-Identifier: Apache-2.0 */
/* A pass that ranks all jobs; see ranked.h. */
#include "sched/queueing/parts/ranked.h"

#include "sched/internal/alloc.h"

#include <math.h>
#include <stdlib.h>

/* One pass. */
struct pass {
    struct weir_ranked *ranked;
    const struct weir_view *view;
    struct weir_placer *placer;
    struct weir_error *error;
};

struct weir_amounts weir_ranked_need(const struct weir_job *job)
{
    struct weir_amounts need = { 0 };

    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct weir_shape *const shape = &job->groups[g].shape;
        const int64_t units = shape->kind == WEIR_SHAPE_SLICE ? 0 : shape->gpu_units;
        need.cpu_units += shape->cpu_units * job->groups[g].ranks;
        need.gpu_units += units * shape->gpu_count * job->groups[g].ranks;
    }
    return need;
}

double weir_ranked_gpus(const struct weir_job *job)
{
    double gpus = 0;

    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct weir_shape *const shape = &job->groups[g].shape;
        const double of_rank = weir_units_amount(shape->gpu_units * shape->gpu_count);
        gpus += job->groups[g].ranks * (of_rank > 0 ? of_rank : 1);
    }
    return gpus;
}

double weir_ranked_processors(const struct weir_job *job)
{
    for (uint32_t g = 0; g < job->group_count; g++)
        if (job->groups[g].shape.gpu_count > 0)
            return weir_ranked_gpus(job);
    return weir_units_amount(weir_ranked_need(job).cpu_units);
}

void weir_ranked_open(struct weir_ranked *ranked, const struct weir_allocator *allocator)
{
    ranked->allocator = *allocator;
    weir_walk_open(&ranked->walk, allocator);
}

void weir_ranked_close(struct weir_ranked *ranked)
{
    weir_walk_close(&ranked->walk);
    weir_free(&ranked->allocator, ranked->running);
    weir_free(&ranked->allocator, ranked->gone);
}

/* ---- those that run ---- */

/* The worst first. */
static int compare(const void *left, const void *right)
{
    const struct weir_ranked_job *const a = left;
    const struct weir_ranked_job *const b = right;

    if (a->rank < b->rank || a->rank > b->rank)
        return a->rank > b->rank ? -1 : 1;
    if (a->since_ns != b->since_ns)
        return a->since_ns > b->since_ns ? -1 : 1;
    if (a->turn < b->turn || a->turn > b->turn)
        return a->turn > b->turn ? -1 : 1;
    if (a->submit_ns != b->submit_ns)
        return a->submit_ns > b->submit_ns ? -1 : 1;
    if (a->workload != b->workload)
        return a->workload > b->workload ? -1 : 1;
    return a->id > b->id ? -1 : 1;
}

void weir_ranked_sort(struct weir_ranked_job *jobs, uint32_t count)
{
    if (count > 1)
        qsort(jobs, count, sizeof *jobs, compare);
}

static weir_status rank_running(const struct pass *pass)
{
    struct weir_ranked *const ranked = pass->ranked;
    struct weir_job job = { .size = sizeof job };

    ranked->count = ranked->gone_count = 0;
    ranked->is_sorted = 0;
    for (bool more = weir_view_next_running(pass->view, NULL, &job); more;
         more = weir_view_next_running(pass->view, &job, &job)) {
        if (job.is_preempted != 0 || job.state != WEIR_JOB_RUNNING)
            continue;
        const double rank = ranked->rank(ranked->state, &job, pass->view->now_ns);
        if (isnan(rank))
            return weir_fail(pass->error, WEIR_EPOLICY, "job %llu gets no rank",
                             (unsigned long long)job.id);
        WEIR_ROOM(&ranked->allocator, ranked->running, ranked->capacity, ranked->count + 1);
        const struct weir_amounts need = weir_ranked_need(&job);
        ranked->running[ranked->count++] =
            (struct weir_ranked_job){ .rank = rank,
                                      .workload = job.workload,
                                      .id = job.id,
                                      .submit_ns = job.submit_ns,
                                      .gpu_units = need.gpu_units,
                                      .cpu_units = need.cpu_units,
                                      .start_ns = job.start_ns,
                                      .attained_ns = job.attained_ns,
                                      .gpus = weir_ranked_gpus(&job) };
    }
    return WEIR_OK;
}

/* When somebody is to go; few passes come so far. */
static void sort_running(struct weir_ranked *ranked)
{
    for (uint32_t i = 0; ranked->is_sorted == 0 && ranked->turn != NULL && i < ranked->count; i++)
        ranked->turn(ranked->state, &ranked->running[i]);
    if (ranked->is_sorted == 0)
        weir_ranked_sort(ranked->running, ranked->count);
    ranked->is_sorted = 1;
}

/* ---- making room ---- */

static weir_status lift(const struct pass *pass, uint32_t index)
{
    const struct weir_ranked_job *const job = &pass->ranked->running[index];

    return weir_placer_lift_job(pass->placer, job->workload, job->id, pass->error);
}

/* Whether a job that runs has to go before this one waits. */
static bool is_behind(const struct weir_ranked_job *running, const struct weir_job *job)
{
    if (running->rank < job->key || running->rank > job->key)
        return running->rank > job->key;
    if (running->submit_ns != job->submit_ns)
        return running->submit_ns > job->submit_ns;
    return running->workload != job->workload ? running->workload > job->workload
                                              : running->id > job->id;
}

/* How many rank behind this job, in whatever order, and what they hold together. */
static uint32_t victims_of(const struct weir_ranked *ranked, const struct weir_job *job,
                           struct weir_amounts *held)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < ranked->count; i++) {
        if (!is_behind(&ranked->running[i], job))
            continue;
        held->gpu_units += ranked->running[i].gpu_units;
        held->cpu_units += ranked->running[i].cpu_units;
        count++;
    }
    return count;
}

/* What is free once so much more is, less what the job needs. */
static struct weir_amounts spare(const struct pass *pass, const struct weir_job *job,
                                 const struct weir_amounts *more)
{
    struct weir_amounts free = weir_cluster_free(weir_placer_scratch(pass->placer));
    const struct weir_amounts need = weir_ranked_need(job);

    free.gpu_units += more->gpu_units - need.gpu_units;
    free.cpu_units += more->cpu_units - need.cpu_units;
    return free;
}

/* The same once the first `count` are gone. */
static struct weir_amounts spare_without(const struct pass *pass, const struct weir_job *job,
                                         uint32_t count)
{
    struct weir_amounts held = { 0 };

    for (uint32_t i = 0; i < count; i++) {
        held.gpu_units += pass->ranked->running[i].gpu_units;
        held.cpu_units += pass->ranked->running[i].cpu_units;
    }
    return spare(pass, job, &held);
}

static weir_status fits(const struct pass *pass, const struct weir_job *job)
{
    return weir_placer_fits_job(pass->placer, job->workload, job->id, pass->error);
}

static bool is_no_place(weir_status status)
{
    return status == WEIR_EBUSY || status == WEIR_EINFEASIBLE;
}

/* Lifts the worst ones until the job fits; *needed = how many. */
static weir_status lift_until(const struct pass *pass, const struct weir_job *job, uint32_t most,
                              uint32_t *needed)
{
    weir_status status = WEIR_EBUSY;
    uint32_t count = 0;

    if (weir_cluster_mark(weir_placer_scratch(pass->placer)) != WEIR_OK)
        return weir_fail(pass->error, WEIR_ENOMEM, "out of memory");
    while (is_no_place(status) && count < most) {
        status = lift(pass, count++);
        const struct weir_amounts free = spare_without(pass, job, 0);
        if (status == WEIR_OK)
            status = free.gpu_units < 0 || free.cpu_units < 0 ? WEIR_EBUSY : fits(pass, job);
    }
    weir_cluster_rollback(weir_placer_scratch(pass->placer));
    *needed = count;
    return status;
}

/* Whether the job fits without those that are marked as lifted. */
static weir_status fits_without(const struct pass *pass, const struct weir_job *job, uint32_t count)
{
    weir_status status = WEIR_OK;

    if (weir_cluster_mark(weir_placer_scratch(pass->placer)) != WEIR_OK)
        return weir_fail(pass->error, WEIR_ENOMEM, "out of memory");
    for (uint32_t i = 0; status == WEIR_OK && i < count; i++)
        if (pass->ranked->running[i].is_lifted != 0)
            status = lift(pass, i);
    if (status == WEIR_OK)
        status = fits(pass, job);
    weir_cluster_rollback(weir_placer_scratch(pass->placer));
    return status;
}

/* Of the `count` worst, the best first, those stay without whom the job fits. The last that was
 * lifted made the difference, and goes. */
static weir_status spare_some(const struct pass *pass, const struct weir_job *job, uint32_t count)
{
    struct weir_amounts room = spare_without(pass, job, count);

    for (uint32_t i = 0; i < count; i++)
        pass->ranked->running[i].is_lifted = 1;
    for (uint32_t i = count - 1; i-- > 0;) {
        struct weir_ranked_job *const victim = &pass->ranked->running[i];
        if (victim->gpu_units > room.gpu_units || victim->cpu_units > room.cpu_units)
            continue;
        victim->is_lifted = 0;
        const weir_status status = fits_without(pass, job, count);
        if (status != WEIR_OK && !is_no_place(status))
            return status;
        if (status != WEIR_OK) {
            victim->is_lifted = 1;
            continue;
        }
        room.gpu_units -= victim->gpu_units;
        room.cpu_units -= victim->cpu_units;
    }
    return WEIR_OK;
}

/* Those that are lifted are preempted, and the list is closed up. */
static weir_status preempt_lifted(const struct pass *pass, uint32_t count)
{
    struct weir_ranked *const ranked = pass->ranked;
    uint32_t kept = 0;

    WEIR_ROOM(&ranked->allocator, ranked->gone, ranked->gone_capacity, ranked->gone_count + count);
    for (uint32_t i = 0; i < ranked->count; i++) {
        const struct weir_ranked_job job = ranked->running[i];
        if (i >= count || job.is_lifted == 0) {
            ranked->running[kept++] = job;
            continue;
        }
        ranked->gone[ranked->gone_count++] = job;
        WEIR_TRY(weir_placer_preempt_job(pass->placer, job.workload, job.id, pass->error));
    }
    ranked->count = kept;
    return WEIR_OK;
}

/* WEIR_EBUSY: those that rank behind it do not give room enough. */
static weir_status make_room(const struct pass *pass, const struct weir_job *job)
{
    struct weir_amounts held = { 0 };
    const uint32_t most = victims_of(pass->ranked, job, &held);
    const struct weir_amounts free = spare(pass, job, &held);
    uint32_t needed = 0;

    if (most == 0 || free.gpu_units < 0 || free.cpu_units < 0)
        return WEIR_EBUSY;
    sort_running(pass->ranked);
    WEIR_TRY(lift_until(pass, job, most, &needed));
    WEIR_TRY(spare_some(pass, job, needed));
    return preempt_lifted(pass, needed);
}

/* ---- the pass ---- */

static weir_status start(const struct pass *pass, const struct weir_job *job)
{
    return weir_placer_start_job(pass->placer, job->workload, job->id, pass->error);
}

/* Where there is room, or where others make it. */
static weir_status run(const struct pass *pass, const struct weir_job *job)
{
    const weir_status status = start(pass, job);

    if (!is_no_place(status))
        return status;
    WEIR_TRY(make_room(pass, job));
    return start(pass, job);
}

weir_status weir_ranked_pass(struct weir_ranked *ranked, const struct weir_view *view,
                             struct weir_placer *placer, struct weir_error *error)
{
    const struct pass pass = { ranked, view, placer, error };

    WEIR_TRY(rank_running(&pass));
    WEIR_TRY(weir_walk_begin(&ranked->walk, view, INT64_MAX));
    for (const struct weir_job *job = weir_walk_free_job(&ranked->walk, placer); job != NULL;
         job = weir_walk_free_job(&ranked->walk, placer)) {
        const weir_status status = run(&pass, job);
        if (status == WEIR_OK && ranked->starts != NULL)
            ranked->starts(ranked->state, job, view->now_ns);
        if (status == WEIR_OK)
            weir_walk_next(&ranked->walk, INT64_MAX);
        else if (is_no_place(status))
            weir_walk_leave_kind(&ranked->walk); /* who comes later has fewer behind him */
        else
            return status;
    }
    if (error != NULL)
        error->text[0] = '\0'; /* that some found no place is no error */
    return WEIR_OK;
}
