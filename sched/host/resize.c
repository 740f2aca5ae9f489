/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that run with another number of ranks than they began with.
 *
 * What a job asks for is its kind, so one that has fewer ranks, or more, is a job of another kind
 * from then on: tenants are charged for what it has. The controller says what a job has after a
 * loss; a plan may give ranks back to it, one START each, up to the `ranks_max` of its first group
 * and before anybody who waits. Those that came first are served first.
 */
#include "sched/host/placer_state.h"
#include "sched/host/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/chooser.h"
#include "sched/internal/explain.h"
#include "sched/internal/hash.h"
#include "sched/internal/plan_state.h"
#include "sched/placement/parts/scan.h"

#include <string.h>

/* ---- another kind ---- */

/* The kind of jobs like this one, but for `ranks` in its first group, of which it may have `most`.
 */
static weir_status find_kind(struct weir_jobs *jobs, const struct weir_job_record *job,
                             const struct weir_rank_group *first, uint32_t *other,
                             struct weir_error *error)
{
    const struct weir_job_kind *const kind = &jobs->kinds[job->kind];
    const uint32_t count = kind->group_count;
    struct weir_rank_group *const groups = weir_alloc(&jobs->allocator, count, sizeof *groups);

    if (groups == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    memcpy(groups, kind->groups, count * sizeof *groups);
    groups[0] = *first;
    struct weir_job_spec spec = { .size = sizeof spec,
                                  .workload = job->workload,
                                  .groups = groups,
                                  .group_count = count,
                                  .strategy = kind->strategy,
                                  .tenant = job->tenant,
                                  .priority = job->priority,
                                  .reservation = kind->reservation };
    memcpy(spec.licences, kind->licences, sizeof spec.licences);
    const weir_status status = weir_jobs_find_kind(jobs, &spec, other, error);
    weir_free(&jobs->allocator, groups);
    return status;
}

/* The kind of a job that runs, with `ranks` in its first group. */
static weir_status find_resized(struct weir_jobs *jobs, uint32_t record, uint32_t ranks,
                                uint32_t most, uint32_t *other, struct weir_error *error)
{
    struct weir_rank_group first = jobs->kinds[jobs->records[record].kind].groups[0];

    first.ranks = ranks;
    first.ranks_max = most;
    return find_kind(jobs, &jobs->records[record], &first, other, error);
}

weir_status weir_jobs_set_ranks(struct weir_jobs *jobs, uint32_t record, uint32_t ranks,
                                struct weir_error *error)
{
    struct weir_rank_group first = jobs->kinds[jobs->records[record].kind].groups[0];
    uint32_t other = 0;

    if (first.ranks == ranks && first.ranks_max == ranks)
        return WEIR_OK;
    first.ranks = first.ranks_max = ranks;
    first.ranks_min = ranks < first.ranks_min ? ranks : first.ranks_min;
    WEIR_TRY(find_kind(jobs, &jobs->records[record], &first, &other, error));
    if (weir_jobs_reserve_waiting(jobs, other) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_jobs_take_out(jobs, record);
    weir_jobs_change_waiting(jobs, record, other);
    return weir_jobs_push(jobs, record);
}

static weir_status find_running(const struct weir_host *host, const struct weir_owner *job,
                                uint32_t *record, struct weir_error *error)
{
    *record = host == NULL ? WEIR_NO_INDEX : weir_jobs_find(&host->jobs, job->index, job->id);
    if (*record == WEIR_NO_INDEX || host->jobs.records[*record].state != WEIR_JOB_RUNNING)
        return weir_fail(error, WEIR_ENOTFOUND, "job %llu does not run",
                         (unsigned long long)job->id);
    return WEIR_OK;
}

weir_status weir_host_resize_job(struct weir_host *host, uint32_t workload, uint64_t id,
                                 uint32_t ranks, uint32_t ranks_max, struct weir_error *error)
{
    const struct weir_owner job = weir_job_owner(workload, id);
    uint32_t record = 0;
    uint32_t other = 0;

    WEIR_TRY(find_running(host, &job, &record, error));
    const struct weir_job_kind *const kind = &host->jobs.kinds[host->jobs.records[record].kind];
    if (kind->strategy > 0)
        return weir_fail(error, WEIR_EUNSUPPORTED, "job %llu is a placement group",
                         (unsigned long long)id);
    if (ranks < kind->groups[0].ranks_min || ranks == 0 || ranks > ranks_max)
        return weir_fail(error, WEIR_EINVAL, "job %llu: %u ranks must be within [%u, %u]",
                         (unsigned long long)id, ranks, kind->groups[0].ranks_min, ranks_max);
    WEIR_TRY(find_resized(&host->jobs, record, ranks, ranks_max, &other, error));
    weir_jobs_change_kind(&host->jobs, record, other);
    host->jobs.surprises++;
    weir_jobs_unsettle(&host->jobs);
    host->is_dirty = true;
    host->changes++;
    return WEIR_OK;
}

weir_status weir_host_rank_may_come(struct weir_host *host, uint32_t record, uint32_t *kind,
                                    struct weir_error *error)
{
    const struct weir_job_record *const job = &host->jobs.records[record];
    const struct weir_rank_group *const first = &host->jobs.kinds[job->kind].groups[0];

    *kind = job->kind;
    if (job->state != WEIR_JOB_RUNNING || !weir_job_kind_is_short(&host->jobs.kinds[job->kind]))
        return WEIR_OK;
    return find_resized(&host->jobs, record, first->ranks + 1, first->ranks_max, kind, error);
}

void weir_host_rank_came(struct weir_host *host, uint32_t record, uint32_t kind)
{
    weir_jobs_placed(&host->jobs, record)->started++;
    if (kind == host->jobs.records[record].kind)
        return;
    host->jobs.surprises++;
    weir_jobs_change_kind(&host->jobs, record, kind);
}

/* ---- ranks that come back ---- */

static weir_status find_place(struct weir_placer *placer, const struct weir_place_query *query,
                              struct weir_error *error)
{
    placer->counts.tried++;
    return weir_placer_ask(placer, query, error);
}

/* One rank more, the `nth` of this plan. WEIR_EBUSY: there is no place, or a limit forbids it. */
static weir_status give_rank(struct weir_host *host, uint32_t record, uint32_t nth,
                             struct weir_error *error)
{
    struct weir_placer *const placer = host->placer;
    const struct weir_job_record *const job = &host->jobs.records[record];
    const struct weir_job_kind *const kind = &host->jobs.kinds[job->kind];
    const struct weir_shape *const shape = &kind->groups[0].shape;
    const struct weir_amounts one = weir_shape_amounts(shape, 0, 0);
    const struct weir_amounts free = weir_cluster_free(host->inventory);
    struct weir_amounts need = { 0 };
    const uint64_t turn =
        (uint64_t)weir_jobs_attempts(&host->jobs, record) << 32 | (kind->ranks + nth);
    const struct weir_place_query query = { .size = sizeof query,
                                            .cluster = placer->bound.scratch,
                                            .mix = placer->bound.mix,
                                            .shape = shape,
                                            .owner = weir_job_owner(job->workload, job->id),
                                            .seed = weir_hash_add(job->seed, turn),
                                            .together = 1 };

    weir_amounts_count(&need, &one, nth + 1);
    if (weir_tenants_blocked(&host->jobs.tenants, kind->tenant, &need, &free) != WEIR_NO_INDEX)
        return WEIR_EBUSY;
    WEIR_TRY(find_place(placer, &query, error));
    const struct weir_explained explained = { placer->bound.ops, placer->bound.state, &query,
                                              &placer->answer };
    WEIR_TRY(weir_explain_start(placer->bound.plan, &explained));
    const struct weir_placer_start start = { .owner = query.owner,
                                             .alloc = &placer->answer.alloc,
                                             .choice = &placer->answer.choice };
    return weir_placer_start_fresh(placer, &start, error);
}

static weir_status give_ranks(struct weir_host *host, uint32_t record, struct weir_error *error)
{
    const struct weir_job_kind *const kind = &host->jobs.kinds[host->jobs.records[record].kind];
    const uint32_t missing = kind->groups[0].ranks_max - kind->groups[0].ranks;

    for (uint32_t i = 0; i < missing; i++) {
        const weir_status status = give_rank(host, record, i, error);
        if (status == WEIR_EBUSY || status == WEIR_EINFEASIBLE) {
            error->text[0] = '\0'; /* an answer */
            return WEIR_OK;
        }
        WEIR_TRY(status);
    }
    return WEIR_OK;
}

static bool comes_before(const struct weir_job_record *a, const struct weir_job_record *b)
{
    if (a->submit_ns != b->submit_ns)
        return a->submit_ns < b->submit_ns;
    return a->workload != b->workload ? a->workload < b->workload : a->id < b->id;
}

/* The first job behind `after` (WEIR_NO_INDEX = the first) that lacks ranks. */
static uint32_t next_short(const struct weir_jobs *jobs, uint32_t after)
{
    uint32_t next = WEIR_NO_INDEX;

    for (uint32_t i = 0; i < jobs->record_count; i++) {
        const struct weir_job_record *const job = &jobs->records[i];
        if (job->is_used == 0 || job->state != WEIR_JOB_RUNNING ||
            !weir_job_kind_is_short(&jobs->kinds[job->kind]) ||
            weir_jobs_placed(jobs, i)->is_preempted != 0 ||
            (after != WEIR_NO_INDEX && !comes_before(&jobs->records[after], job)))
            continue;
        if (next == WEIR_NO_INDEX || comes_before(job, &jobs->records[next]))
            next = i;
    }
    return next;
}

weir_status weir_host_heal(struct weir_host *host, struct weir_error *error)
{
    uint32_t record = next_short(&host->jobs, WEIR_NO_INDEX);

    for (; record != WEIR_NO_INDEX; record = next_short(&host->jobs, record))
        WEIR_TRY(give_ranks(host, record, error));
    return WEIR_OK;
}
