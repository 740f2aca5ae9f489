/* SPDX-License-Identifier: Apache-2.0 */
/* Whose workers a placement policy sees on the cluster, as far as the host was told of them. */
#include "sched/host/jobs.h"
#include "sched/internal/later.h"

static uint32_t record_of(const struct weir_place_query *query, const struct weir_owner *owner)
{
    const bool is_job = query != NULL && query->jobs != NULL && owner->kind == WEIR_OWNER_JOB;

    return is_job ? weir_jobs_find(query->jobs, owner->index, owner->id) : WEIR_NO_INDEX;
}

struct weir_traffic weir_place_traffic(const struct weir_place_query *query,
                                       const struct weir_owner *owner)
{
    static const struct weir_traffic none;
    const uint32_t record = record_of(query, owner);

    return record == WEIR_NO_INDEX ? none : weir_jobs_traffic(query->jobs, record);
}

bool weir_place_job(const struct weir_place_query *query, const struct weir_owner *owner,
                    struct weir_job *job)
{
    const uint32_t record = record_of(query, owner);

    if (record != WEIR_NO_INDEX)
        weir_jobs_describe(query->jobs, record, job);
    return record != WEIR_NO_INDEX;
}

int64_t weir_place_now_ns(const struct weir_place_query *query)
{
    return query->jobs == NULL ? WEIR_UNKNOWN_TIME : query->jobs->tenants.now_ns;
}

int64_t weir_place_end_ns(const struct weir_place_query *query, const struct weir_owner *owner)
{
    struct weir_job job = { .size = sizeof job };

    if (!weir_place_job(query, owner, &job))
        return INT64_MAX;
    const int64_t now_ns = weir_place_now_ns(query);
    const int64_t left_ns = weir_job_left_ns(&job);
    if (job.state != WEIR_JOB_WAITING)
        return weir_job_end_ns(&job, now_ns);
    return weir_later_ns(now_ns, left_ns);
}
