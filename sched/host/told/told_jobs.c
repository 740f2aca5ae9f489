/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the controller tells a host of jobs: submitted, withdrawn, started, ended.
 */
#include "sched/cluster/state.h"
#include "sched/host/state.h"

#include "sched/internal/alloc.h"
#include "sched/placement/parts/group.h"

#include <string.h>

weir_status weir_host_add_workload(struct weir_host *host, const char *name, uint32_t *index,
                                   struct weir_error *error)
{
    if (host == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host");
    return weir_jobs_add_workload(&host->jobs, name, index, error);
}

weir_status weir_host_set_mix(struct weir_host *host, const struct weir_mix *mix)
{
    if (host == NULL || mix == NULL ||
        (mix->count > 0 && (mix->shapes == NULL || mix->frequencies == NULL)))
        return WEIR_EINVAL;
    struct weir_shape *const shapes = weir_alloc(&host->allocator, mix->count, sizeof *shapes);
    double *const frequencies = weir_alloc(&host->allocator, mix->count, sizeof *frequencies);
    if (shapes == NULL || frequencies == NULL) {
        weir_free(&host->allocator, shapes);
        weir_free(&host->allocator, frequencies);
        return WEIR_ENOMEM;
    }
    if (mix->count > 0) {
        memcpy(shapes, mix->shapes, mix->count * sizeof *shapes);
        memcpy(frequencies, mix->frequencies, mix->count * sizeof *frequencies);
    }
    weir_free(&host->allocator, host->mix.shapes);
    weir_free(&host->allocator, host->mix.frequencies);
    host->mix = (struct weir_host_mix){ shapes, frequencies, mix->count };
    return WEIR_OK;
}

/* ---- whether it can ever fit ---- */

/* Nodes that labels let some rank use. */
static uint32_t usable_nodes(const struct weir_host *host, const struct weir_job_kind *kind)
{
    uint32_t count = 0;

    for (uint32_t n = 0; n < host->inventory->node_count; n++) {
        bool takes = false;
        for (uint32_t g = 0; g < kind->group_count; g++)
            takes |= weir_node_takes(host->inventory, n, &kind->groups[g].shape);
        count += takes;
    }
    return count;
}

/* As if all nodes were up: what is asked of STRICT_SPREAD is a node for every rank. */
static weir_status group_room(const struct weir_host *host, const struct weir_job_kind *kind,
                              struct weir_error *error)
{
    const bool is_apart = kind->strategy == WEIR_GROUP_STRICT_SPREAD + 1;
    struct weir_shape *const bundles = weir_alloc(&host->allocator, kind->ranks, sizeof *bundles);
    struct weir_group_answer answer = { 0 };
    uint32_t count = 0;

    if (bundles == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (uint32_t g = 0; g < kind->group_count; g++)
        for (uint32_t i = 0; i < kind->groups[g].ranks; i++)
            bundles[count++] = kind->groups[g].shape;
    const struct weir_group_query query = { .size = sizeof(struct weir_group_query),
                                            .scratch = host->inventory,
                                            .bundles = bundles,
                                            .bundle_count = kind->ranks,
                                            .strategy = is_apart ? (uint32_t)WEIR_GROUP_SPREAD
                                                                 : kind->strategy - 1,
                                            .report = host->group_report };
    const weir_status status = weir_group_check_room(&query, &answer, error);
    weir_free(&host->allocator, bundles);
    if (status == WEIR_OK && is_apart && kind->ranks > usable_nodes(host, kind))
        return weir_fail(error, WEIR_EINFEASIBLE, "%u ranks need as many nodes", kind->ranks);
    return status;
}

static weir_status ranks_room(const struct weir_host *host, const struct weir_job_kind *kind,
                              struct weir_error *error)
{
    for (uint32_t g = 0; g < kind->group_count; g++) {
        const struct weir_rank_group *const group = &kind->groups[g];
        if (weir_cluster_room(host->inventory, &group->shape, group->ranks) < group->ranks)
            return weir_fail(error, WEIR_EINFEASIBLE,
                             "does not fit the cluster, even an empty one");
    }
    return WEIR_OK;
}

/* Whether it may fit when GPUs are cut anew: then it waits. What no cut can give must be there. */
static bool fits_cut_anew(const struct weir_host *host, const struct weir_job_kind *kind)
{
    bool is_served = false;

    for (uint32_t g = 0; g < kind->group_count; g++) {
        const struct weir_shape *const shape = &kind->groups[g].shape;
        const bool serves = weir_host_cuts_serve(host, shape);
        is_served = is_served || serves;
        if (!serves && weir_cluster_room(host->inventory, shape, 1) == 0)
            return false;
    }
    return is_served;
}

/* Whether one of its ranks fits a GPU of which others keep all of their pools. */
static weir_status pools_room(const struct weir_host *host, const struct weir_job_kind *kind,
                              struct weir_error *error)
{
    const int64_t kept = weir_tenants_pooled(&host->jobs.tenants, kind->tenant);

    for (uint32_t g = 0; kept > 0 && g < kind->group_count; g++) {
        struct weir_shape shape = kind->groups[g].shape;
        if (shape.gpu_mem_bytes == 0 || shape.kind == WEIR_SHAPE_SLICE)
            continue;
        shape.gpu_mem_bytes += kept;
        if (weir_cluster_room(host->inventory, &shape, 1) == 0)
            return weir_fail(error, WEIR_EINFEASIBLE, "tenants keep too much of every GPU");
    }
    return WEIR_OK;
}

static weir_status any_room(const struct weir_host *host, const struct weir_job_kind *kind,
                            struct weir_error *error)
{
    WEIR_TRY(pools_room(host, kind, error));
    return kind->strategy > 0 ? group_room(host, kind, error) : ranks_room(host, kind, error);
}

static weir_status ask_room(struct weir_host *host, struct weir_job_kind *kind)
{
    struct weir_error refused = { .phase = -1, .pool = -1 };
    const weir_status room = any_room(host, kind, &refused);

    if (room == WEIR_ENOMEM)
        return room;
    kind->room = room == WEIR_EINFEASIBLE && fits_cut_anew(host, kind) ? WEIR_OK : room;
    kind->room_known = 1;
    return WEIR_OK;
}

/* Asked once a kind, as long as no node changes. */
static weir_status check_room(struct weir_host *host, uint32_t index, struct weir_error *error)
{
    struct weir_job_kind *const kind = &host->jobs.kinds[index];

    if (kind->room_known == 0 && ask_room(host, kind) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (kind->room != WEIR_EINFEASIBLE || host->keeps_infeasible)
        return WEIR_OK;
    return weir_fail(error, WEIR_EINFEASIBLE, "does not fit the cluster, even an empty one");
}

weir_status weir_host_set_aside(struct weir_host *host)
{
    for (uint32_t k = 0; k < host->jobs.kind_count; k++) {
        struct weir_job_kind *const kind = &host->jobs.kinds[k];
        if (host->keeps_infeasible && kind->room_known == 0)
            WEIR_TRY(ask_room(host, kind));
        weir_jobs_set_aside(&host->jobs, k,
                            host->keeps_infeasible && kind->room == WEIR_EINFEASIBLE);
    }
    return WEIR_OK;
}

weir_status weir_host_keep_infeasible(struct weir_host *host, bool is_kept)
{
    if (host == NULL)
        return WEIR_EINVAL;
    host->keeps_infeasible = is_kept;
    host->changes++;
    host->is_dirty = true;
    weir_jobs_unsettle(&host->jobs);
    return is_kept ? WEIR_OK : weir_host_set_aside(host);
}

/* ---- the life of a job ---- */

weir_status weir_host_submit(struct weir_host *host, const struct weir_job_spec *job,
                             struct weir_error *error)
{
    uint32_t record = 0;

    if (host == NULL || job == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host or no job");
    if (job->size >= offsetof(struct weir_job_spec, done_ns) && job->group_count > 0 &&
        job->groups == NULL)
        return weir_fail(error, WEIR_EINVAL, "job %llu: %u groups of ranks and no list of them",
                         (unsigned long long)job->id, job->group_count);
    weir_status status = weir_jobs_add(&host->jobs, job, &record, error);
    if (status == WEIR_OK) {
        if (host->jobs.kinds[host->jobs.records[record].kind].room_known == 0)
            weir_host_note_kind(host, host->jobs.records[record].kind); /* it may be a new one */
        weir_host_settle_labels(host);
        status = check_room(host, host->jobs.records[record].kind, error);
        if (status == WEIR_OK)
            status = weir_host_queue_job(host, record, error);
        if (status == WEIR_OK && weir_host_note_fresh(host, record) != WEIR_OK)
            status = weir_fail(error, WEIR_ENOMEM, "out of memory");
        if (status == WEIR_OK)
            host->changes++;
        if (status != WEIR_OK && host->jobs.records[record].place != WEIR_NO_INDEX)
            weir_jobs_take_out(&host->jobs, record);
        if (status != WEIR_OK)
            weir_jobs_remove(&host->jobs, record);
    }
    if (status != WEIR_OK)
        weir_error_wrap(error, "job %llu", (unsigned long long)job->id);
    return status;
}

weir_status weir_host_withdraw(struct weir_host *host, uint32_t workload, uint64_t id)
{
    const uint32_t record =
        host == NULL ? WEIR_NO_INDEX : weir_jobs_find(&host->jobs, workload, id);

    if (record == WEIR_NO_INDEX)
        return WEIR_ENOTFOUND;
    if (host->jobs.records[record].state == WEIR_JOB_STARTING &&
        weir_jobs_placed(&host->jobs, record)->started == 0) {
        weir_jobs_unsettle(&host->jobs); /* others may have its places */
        return weir_host_ended(host, workload, id, NULL);
    }
    if (host->jobs.records[record].state != WEIR_JOB_WAITING)
        return WEIR_ENOTFOUND;
    weir_jobs_take_out(&host->jobs, record);
    weir_jobs_remove(&host->jobs, record);
    host->changes++;
    host->is_dirty = true; /* it may have stood in the way */
    return WEIR_OK;
}

weir_status weir_host_ended(struct weir_host *host, uint32_t workload, uint64_t id,
                            struct weir_error *error)
{
    const uint32_t record =
        host == NULL ? WEIR_NO_INDEX : weir_jobs_find(&host->jobs, workload, id);

    if (record == WEIR_NO_INDEX || host->jobs.records[record].state == WEIR_JOB_WAITING)
        return weir_fail(error, WEIR_ENOTFOUND, "job %llu does not run", (unsigned long long)id);
    const uint32_t ranks = weir_jobs_placed(&host->jobs, record)->started;
    if (ranks > 0)
        return weir_fail(error, WEIR_EBUSY, "job %llu: %u of its ranks are still there",
                         (unsigned long long)id, ranks);
    weir_jobs_remove(&host->jobs, record);
    if (weir_jobs_has_limits(&host->jobs))
        weir_jobs_unsettle(&host->jobs); /* others may have more now */
    host->is_dirty = true;
    return WEIR_OK;
}

/* The truth did not have what the plan wanted: it waits again, as after a try that failed. */
static weir_status take_back(struct weir_host *host, uint32_t record, struct weir_error *error)
{
    host->jobs.surprises++;
    if (weir_jobs_push_back(&host->jobs, record) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (weir_jobs_has_limits(&host->jobs))
        weir_jobs_unsettle(&host->jobs);
    weir_jobs_settle(&host->jobs, host->jobs.records[record].kind);
    host->jobs.has_refused = true;
    return WEIR_OK;
}

weir_status weir_host_job_may_start(struct weir_host *host, const struct weir_owner *owner,
                                    uint32_t *kind, struct weir_error *error)
{
    const uint32_t record = weir_jobs_find(&host->jobs, owner->index, owner->id);

    if (record == WEIR_NO_INDEX)
        return weir_fail(error, WEIR_ENOTFOUND, "job %llu of workload %u is not known",
                         (unsigned long long)owner->id, owner->index);
    if (host->jobs.records[record].state == WEIR_JOB_WAITING)
        return weir_fail(error, WEIR_EINVAL, "job %llu of workload %u waits; no plan started it",
                         (unsigned long long)owner->id, owner->index);
    return weir_host_rank_may_come(host, record, kind, error);
}

weir_status weir_host_job_outcome(struct weir_host *host, const struct weir_outcome *outcome,
                                  uint32_t kind, struct weir_error *error)
{
    const uint32_t record = weir_jobs_find(&host->jobs, outcome->owner.index, outcome->owner.id);

    if (record == WEIR_NO_INDEX || host->jobs.records[record].state == WEIR_JOB_WAITING)
        return WEIR_OK; /* a worker adopted without its job, or of an earlier start; withdrawn */
    const struct weir_job_record *const job = &host->jobs.records[record];
    struct weir_placed_job *const placed = weir_jobs_placed(&host->jobs, record);
    switch ((enum weir_outcome_kind)outcome->kind) {
    case WEIR_OUTCOME_STARTED:
        if (job->state == WEIR_JOB_RUNNING) {
            weir_host_rank_came(host, record, kind);
            return WEIR_OK;
        }
        if (outcome->worker < placed->first_worker)
            placed->first_worker = outcome->worker;
        if (++placed->started < host->jobs.kinds[job->kind].ranks ||
            job->state != WEIR_JOB_STARTING)
            return WEIR_OK;
        placed->attempts++;
        host->jobs.surprises += placed->start_ns != outcome->time_ns;
        weir_jobs_set_state(&host->jobs, record, WEIR_JOB_RUNNING);
        if (placed->start_ns != outcome->time_ns)
            weir_jobs_set_start(&host->jobs, record, outcome->time_ns);
        return WEIR_OK;
    case WEIR_OUTCOME_REFUSED:
        return job->state == WEIR_JOB_STARTING && placed->started == 0
                   ? take_back(host, record, error)
                   : WEIR_OK;
    case WEIR_OUTCOME_STOPPED:
    case WEIR_OUTCOME_LOST:
        if (placed->started > 0)
            placed->started--;
        host->jobs.surprises += !weir_jobs_ends_at(&host->jobs, record, outcome->time_ns);
        return WEIR_OK;
    case WEIR_OUTCOME_CUT:
    case WEIR_OUTCOME_UNCUT:
    case WEIR_OUTCOME_CAME:
    case WEIR_OUTCOME_FAILED:
    case WEIR_OUTCOME_GONE:
        break;
    }
    return weir_fail(error, WEIR_EINVAL, "outcome %u is not of a job", outcome->kind);
}
