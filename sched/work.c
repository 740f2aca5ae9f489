/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reaching into a view. Modules call these instead of indexing, so that the structs may grow.
 */
#include "weir/work.h"

#include "sched/host/jobs.h"
#include "sched/host/pools.h"

#include <string.h>

const struct weir_pool_view *weir_view_pool(const struct weir_view *view, uint32_t pool)
{
    if (pool >= view->pool_count)
        return NULL;
    return view->live != NULL ? weir_pools_read(view->live, pool) : &view->pools[pool];
}

struct weir_amounts weir_view_supply(const struct weir_view *view)
{
    struct weir_amounts supply = weir_cluster_total(view->cluster);

    if (view->jobs == NULL)
        return supply;
    const struct weir_amounts *const held = &view->jobs->held;
    supply.cpu_units -= held->cpu_units;
    supply.gpu_units -= held->gpu_units;
    supply.nvdecs -= held->nvdecs;
    supply.nvencs -= held->nvencs;
    supply.ram_bytes -= held->ram_bytes;
    supply.gpu_mem_bytes -= held->gpu_mem_bytes;
    return supply;
}

uint32_t weir_view_jobs(const struct weir_view *view)
{
    return view->jobs == NULL ? 0 : view->jobs->ids.count;
}

uint32_t weir_view_waiting_jobs(const struct weir_view *view)
{
    return view->jobs == NULL ? 0 : view->jobs->counts[WEIR_JOB_WAITING];
}

static bool describe(const struct weir_jobs *jobs, uint32_t record, struct weir_job *job)
{
    if (record != WEIR_NO_INDEX && job != NULL)
        weir_jobs_describe(jobs, record, job);
    return record != WEIR_NO_INDEX;
}

bool weir_view_next_job(const struct weir_view *view, uint32_t *cursor, struct weir_job *job)
{
    if (view->jobs == NULL)
        return false;
    while (*cursor < view->jobs->record_count && view->jobs->records[*cursor].is_used == 0)
        (*cursor)++;
    if (*cursor >= view->jobs->record_count)
        return false;
    weir_jobs_describe(view->jobs, (*cursor)++, job);
    return true;
}

bool weir_view_job(const struct weir_view *view, uint32_t workload, uint64_t id,
                   struct weir_job *job)
{
    return view->jobs != NULL &&
           describe(view->jobs, weir_jobs_find(view->jobs, workload, id), job);
}

int64_t weir_job_left_ns(const struct weir_job *job)
{
    if (job->estimate_ns == WEIR_UNKNOWN_TIME)
        return INT64_MAX;
    return job->estimate_ns > job->done_ns ? job->estimate_ns - job->done_ns : 0;
}

int64_t weir_job_end_ns(const struct weir_job *job, int64_t now_ns)
{
    const int64_t left_ns = weir_job_left_ns(job);
    int64_t end_ns = 0;

    if (left_ns == INT64_MAX || __builtin_add_overflow(job->start_ns, left_ns, &end_ns))
        return INT64_MAX;
    return end_ns > now_ns ? end_ns : now_ns;
}

bool weir_view_waiting(const struct weir_view *view, uint32_t index, struct weir_waiting *waiting)
{
    if (view->jobs == NULL || index >= view->jobs->front_count)
        return false;
    const struct weir_job_kind *const kind = &view->jobs->kinds[view->jobs->front[index]];
    const struct weir_waiting all = { .jobs = kind->count,
                                      .tenant = kind->tenant,
                                      .strategy = kind->strategy,
                                      .groups = kind->groups,
                                      .group_count = kind->group_count,
                                      .ranks = kind->ranks,
                                      .need = kind->need };
    const uint32_t size = waiting->size < sizeof all ? waiting->size : (uint32_t)sizeof all;
    memcpy(waiting, &all, size);
    waiting->size = size;
    return true;
}

/* ---- for a policy that walks ---- */

bool weir_view_find_waiting(const struct weir_view *view, const struct weir_waiting_query *query,
                            struct weir_job *job)
{
    return view->jobs != NULL &&
           describe(view->jobs, weir_jobs_find_waiting(view->jobs, query), job);
}

uint32_t weir_view_waiting_kinds(const struct weir_view *view)
{
    return view->jobs == NULL || !view->jobs->is_indexed ? 0 : view->jobs->front_count;
}

uint32_t weir_view_waiting_kind(const struct weir_view *view, uint32_t index)
{
    return index < weir_view_waiting_kinds(view) ? view->jobs->front[index] : WEIR_NO_INDEX;
}

bool weir_view_next_running(const struct weir_view *view, const struct weir_job *after,
                            struct weir_job *job)
{
    return view->jobs != NULL &&
           describe(view->jobs, weir_jobs_next_running(view->jobs, after), job);
}

uint64_t weir_view_surprises(const struct weir_view *view)
{
    return view->jobs == NULL ? 0 : view->jobs->surprises;
}

const struct weir_shape *weir_view_rank_shape(const struct weir_view *view,
                                              const struct weir_owner *job, uint32_t rank)
{
    const uint32_t record =
        view->jobs == NULL ? WEIR_NO_INDEX : weir_jobs_find(view->jobs, job->index, job->id);

    return record == WEIR_NO_INDEX
               ? NULL
               : weir_job_kind_shape(&view->jobs->kinds[view->jobs->records[record].kind], rank);
}
