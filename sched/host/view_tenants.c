/* SPDX-License-Identifier: Apache-2.0 */
/* Tenants in a view: what policies read of them. */
#include "sched/host/jobs.h"
#include "sched/internal/aside.h"

#include <math.h>
#include <string.h>

uint32_t weir_view_tenants(const struct weir_view *view)
{
    return view->jobs == NULL ? 0 : view->jobs->tenants.count;
}

bool weir_view_tenant(const struct weir_view *view, uint32_t number, struct weir_tenant *tenant)
{
    if (number >= weir_view_tenants(view))
        return false;
    const struct weir_tenants *const tenants = &view->jobs->tenants;
    const struct weir_tenant_entry *const entry = &tenants->all[number];
    const double siblings = tenants->all[entry->parent].weights_below;
    const double share = siblings > 0 ? entry->weight / siblings : 0;
    const struct weir_tenant full = { .size = tenant->size,
                                      .number = number,
                                      .parent = entry->parent,
                                      .depth = entry->depth,
                                      .name = entry->name == NULL ? "" : entry->name,
                                      .weight = entry->weight,
                                      .tickets = entry->tickets,
                                      .share = number == 0 ? 1 : share,
                                      .guarantee = entry->guarantee,
                                      .hard = entry->hard,
                                      .soft = entry->soft,
                                      .borrow = entry->borrow,
                                      .lend = entry->lend,
                                      .used = entry->used,
                                      .wanted = entry->wanted,
                                      .running = entry->running,
                                      .waiting = entry->waiting,
                                      .devices = weir_units_amount(entry->device_units),
                                      .device_s = weir_tenants_past(tenants, number),
                                      .bandwidth = weir_units_amount(entry->bandwidth_units),
                                      .links = weir_units_amount(entry->link_units),
                                      .priority = entry->priority };
    memcpy(tenant, &full, tenant->size < sizeof full ? tenant->size : sizeof full);
    return true;
}

bool weir_view_tenant_job(const struct weir_view *view, uint32_t number, bool beyond_soft,
                          struct weir_job *job)
{
    const struct weir_jobs *const jobs = view->jobs;
    uint32_t best = WEIR_NO_INDEX;

    if (number >= weir_view_tenants(view))
        return false;
    for (uint32_t k = jobs->tenants.all[number].first_kind; k != WEIR_NO_INDEX;
         k = jobs->kinds[k].next_of_tenant) {
        const struct weir_job_kind *const kind = &jobs->kinds[k];
        /* One that was refused and then got room, by a preemption, says nothing of the next. */
        const bool is_refused =
            kind->is_refused != 0 && jobs->records[kind->refused].state == WEIR_JOB_WAITING;
        if (kind->count == 0 || is_refused ||
            (!beyond_soft && weir_tenants_is_beyond_soft(&jobs->tenants, number, &kind->need)))
            continue;
        if (best == WEIR_NO_INDEX || kind->front < jobs->kinds[best].front)
            best = k;
    }
    if (best != WEIR_NO_INDEX)
        weir_jobs_describe(jobs, jobs->kinds[best].heap[0], job);
    return best != WEIR_NO_INDEX;
}

bool weir_view_is_aside(const struct weir_view *view, const struct weir_job *job)
{
    return job->state == WEIR_JOB_WAITING && view->jobs != NULL &&
           job->kind < view->jobs->kind_count && view->jobs->kinds[job->kind].is_aside != 0;
}

uint32_t weir_view_aside_jobs(const struct weir_view *view)
{
    uint32_t count = 0;

    for (uint32_t k = 0; view->jobs != NULL && k < view->jobs->kind_count; k++)
        count += view->jobs->kinds[k].is_aside != 0 ? view->jobs->kinds[k].count : 0;
    return count;
}

uint32_t weir_view_quota_reason(const struct weir_view *view, const struct weir_job *job)
{
    if (view->jobs == NULL)
        return WEIR_REASON_NONE;
    if (weir_view_is_aside(view, job))
        return WEIR_REASON_INFEASIBLE;
    const struct weir_amounts need = weir_job_amounts(job);
    const struct weir_amounts free = weir_cluster_free(view->cluster);
    const struct weir_tenants *const tenants = &view->jobs->tenants;
    const struct weir_job_kind *const kind = &view->jobs->kinds[job->kind];
    if (kind->is_barred != 0 || weir_licences_lack(&view->jobs->licences, kind->licences))
        return weir_job_kind_limit(kind, WEIR_BY_LICENCE);
    const uint32_t number = weir_tenants_of(tenants, job->tenant);
    return weir_job_kind_limit(kind, weir_tenants_blocked(tenants, number, &need, &free));
}

struct weir_amounts weir_job_amounts(const struct weir_job *job)
{
    struct weir_amounts sum = { 0 };

    for (uint32_t g = 0; g < job->group_count; g++) {
        const struct weir_amounts rank = weir_shape_amounts(&job->groups[g].shape, 0, 0);
        weir_amounts_count(&sum, &rank, job->groups[g].ranks);
    }
    return sum;
}

double weir_job_devices(const struct weir_job *job)
{
    return weir_units_amount(weir_rank_group_devices(job->groups, job->group_count));
}

static double larger_part(double share, int64_t amount, int64_t whole)
{
    const double part = whole > 0 ? (double)amount / (double)whole : 0;

    return part > share ? part : share;
}

double weir_view_dominant_share(const struct weir_view *view, const struct weir_amounts *amounts)
{
    const struct weir_amounts all = weir_cluster_total(view->cluster);
    double share = 0;

    share = larger_part(share, amounts->gpu_units, all.gpu_units);
    share = larger_part(share, amounts->cpu_units, all.cpu_units);
    share = larger_part(share, amounts->ram_bytes, all.ram_bytes);
    share = larger_part(share, amounts->gpu_mem_bytes, all.gpu_mem_bytes);
    share = larger_part(share, amounts->nvdecs, all.nvdecs);
    return larger_part(share, amounts->nvencs, all.nvencs);
}

double weir_view_tenant_share(const struct weir_view *view, const struct weir_tenant *tenant)
{
    const double gpus = weir_units_amount(weir_cluster_total(view->cluster).gpu_units);
    const double share = weir_view_dominant_share(view, &tenant->used);

    return gpus > 0 ? fmax(share, fmax(tenant->bandwidth, tenant->links) / gpus) : share;
}
