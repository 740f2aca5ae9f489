/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving tenants: who there is, parents before their children, and whose each job is.
 *
 * A name that a user writes must be in the list, when there is one. The names of a trace need not
 * be: who is not in the list has no limits. Without a list and without a job that says its tenant
 * there are none, and the names of a trace are only kept.
 */
#include "sim/scenario/resolve/resolve.h"

#include <math.h>
#include <string.h>

/* ---- amounts ---- */

static int64_t units_or(double amount, int64_t absent)
{
    return isnan(amount) ? absent : llround(amount * (double)WEIR_ONE);
}

static struct weir_quota quota_of(const struct draft_quota *draft, int64_t absent)
{
    if (draft->head.node == NULL)
        return (struct weir_quota){ absent, absent, absent };
    return (struct weir_quota){
        .gpu_units = units_or(draft->gpus, absent),
        .cpu_units = units_or(draft->cpus, absent),
        .ram_bytes = draft->ram_bytes == SIM_ABSENT_BYTES ? absent : draft->ram_bytes,
    };
}

static int64_t bytes_or(int64_t bytes, int64_t absent)
{
    return bytes == SIM_ABSENT_BYTES ? absent : bytes;
}

/* As its parent has it, but for what it says itself. */
static void take_memory(const struct draft_gpu_memory *draft, const struct sim_tenant *parent,
                        uint32_t number, struct sim_tenant *tenant)
{
    static const int64_t usual_free_ns = INT64_C(1000000);
    tenant->pool = parent == NULL ? 0 : parent->pool;
    tenant->process_bytes = parent == NULL ? INT64_MAX : parent->process_bytes;
    tenant->free_ns = parent == NULL ? 0 : parent->free_ns;
    if (draft == NULL || draft->head.node == NULL)
        return;
    tenant->pool_bytes = bytes_or(draft->pool_bytes, 0);
    tenant->pool = tenant->pool_bytes > 0 ? number : tenant->pool;
    tenant->process_bytes = bytes_or(draft->process_bytes, tenant->process_bytes);
    if (draft->reuse > REUSE_NONE) /* nothing was said */
        return;
    const int64_t free_ns = draft->free_ns == SIM_ABSENT_TIME ? usual_free_ns : draft->free_ns;
    tenant->free_ns = draft->reuse == REUSE_NONE ? free_ns : 0;
}

static struct sim_tenant tenant_of(const struct draft_tenant *draft)
{
    return (struct sim_tenant){ .name = draft->head.name,
                                .weight = isnan(draft->weight) ? 1 : draft->weight,
                                .tickets = isnan(draft->tickets) ? 0 : draft->tickets,
                                .priority = (int32_t)draft->priority,
                                .guarantee = quota_of(&draft->guarantee, 0),
                                .hard = quota_of(&draft->quota.hard, WEIR_NO_QUOTA),
                                .soft = quota_of(&draft->quota.soft, WEIR_NO_QUOTA),
                                .borrow = quota_of(&draft->borrow, WEIR_NO_QUOTA),
                                .lend = quota_of(&draft->lend, WEIR_NO_QUOTA) };
}

static uint32_t add_tenant(struct sim_resolver *resolver, const struct sim_tenant *tenant)
{
    struct sim_scenario *scenario = resolver->scenario;
    scenario->tenants = sim_arena_grow(resolver->arena, scenario->tenants, scenario->tenants_count,
                                       sizeof *scenario->tenants);
    scenario->tenants[scenario->tenants_count++] = *tenant;
    (void)sim_name_set_add(&resolver->tenants, tenant->name);
    return (uint32_t)scenario->tenants_count;
}

/* ---- the list ---- */

static struct sim_name_set check_names(struct sim_resolver *resolver)
{
    const struct draft_list *list = &resolver->draft->tenants;
    const struct draft_tenant *drafts = list->items;
    struct sim_name_set names = sim_name_set_open(resolver->arena);
    for (size_t i = 0; i < list->count; i++) {
        const struct draft_tenant *tenant = &drafts[i];
        if (!sim_name_set_add(&names, tenant->head.name))
            sim_report_error(resolver->report, sim_draft_at(&tenant->head, "name"),
                             "two tenants are called '%s'", tenant->head.name);
    }
    for (size_t i = 0; i < list->count; i++) {
        const struct draft_tenant *tenant = &drafts[i];
        if (tenant->parent != NULL && sim_name_set_number(&names, tenant->parent) == 0)
            sim_report_near(resolver->report, sim_draft_at(&tenant->head, "parent"), SIM_AT_VALUE,
                            sim_near_draft(resolver, &resolver->draft->tenants,
                                           sizeof(struct draft_tenant), tenant->parent),
                            "there is no tenant '%s'", tenant->parent);
    }
    return names;
}

/* Whether it can be added: it is not there, its parent is. */
static bool is_next(const struct sim_name_set *tenants, const struct draft_tenant *draft)
{
    return draft->head.name != NULL && sim_name_set_number(tenants, draft->head.name) == 0 &&
           (draft->parent == NULL || sim_name_set_number(tenants, draft->parent) > 0);
}

/* Those whose parents are never there are their own ancestors, or below such. */
static void report_rings(struct sim_resolver *resolver, const struct sim_name_set *names)
{
    const struct draft_list *list = &resolver->draft->tenants;
    const struct draft_tenant *drafts = list->items;
    for (size_t i = 0; i < list->count; i++) {
        const struct draft_tenant *tenant = &drafts[i];
        if (tenant->head.name != NULL && tenant->parent != NULL &&
            sim_name_set_number(names, tenant->parent) > 0 &&
            sim_name_set_number(&resolver->tenants, tenant->head.name) == 0)
            sim_report_error(resolver->report, sim_draft_at(&tenant->head, "parent"),
                             "'%s' is a part of itself, by way of its parents", tenant->head.name);
    }
}

static void add_list(struct sim_resolver *resolver)
{
    const struct draft_list *list = &resolver->draft->tenants;
    const struct draft_tenant *drafts = list->items;
    const struct sim_name_set *tenants = &resolver->tenants;
    struct sim_scenario *scenario = resolver->scenario;
    bool has_more = true;
    while (has_more) {
        has_more = false;
        for (size_t i = 0; i < list->count; i++) {
            if (!is_next(tenants, &drafts[i]))
                continue;
            struct sim_tenant tenant = tenant_of(&drafts[i]);
            tenant.parent = sim_name_set_number(tenants, drafts[i].parent);
            take_memory(&drafts[i].gpu_memory,
                        tenant.parent == 0 ? NULL : &scenario->tenants[tenant.parent - 1],
                        (uint32_t)scenario->tenants_count + 1, &tenant);
            (void)add_tenant(resolver, &tenant);
            has_more = true;
        }
    }
}

/* A guarantee above a hard limit can never be met. */
static void check_limits(struct sim_resolver *resolver)
{
    const struct draft_list *list = &resolver->draft->tenants;
    const struct draft_tenant *drafts = list->items;
    for (size_t i = 0; i < list->count; i++) {
        const struct sim_tenant tenant = tenant_of(&drafts[i]);
        if (tenant.guarantee.gpu_units > tenant.hard.gpu_units ||
            tenant.guarantee.cpu_units > tenant.hard.cpu_units ||
            tenant.guarantee.ram_bytes > tenant.hard.ram_bytes)
            sim_report_error(resolver->report, sim_draft_at(&drafts[i].head, "guarantee"),
                             "is more than the hard limit");
        if (drafts[i].lend.head.node != NULL && drafts[i].guarantee.head.node == NULL)
            sim_report_error(resolver->report, sim_draft_at(&drafts[i].head, "lend"),
                             "is a part of the guarantee, and there is none");
        if (drafts[i].borrow.head.node != NULL && drafts[i].guarantee.head.node == NULL)
            sim_report_error(resolver->report, sim_draft_at(&drafts[i].head, "borrow"),
                             "is what goes beyond the guarantee, and there is none; an end by "
                             "itself is quota.hard");
    }
}

void sim_resolve_tenants(struct sim_resolver *resolver)
{
    sim_resolve_not_empty(resolver, sim_yaml_get(resolver->root, "tenants"),
                          "there are no tenants in it");
    const struct sim_name_set names = check_names(resolver);
    resolver->tenants = sim_name_set_open(resolver->arena);
    add_list(resolver);
    report_rings(resolver, &names);
    check_limits(resolver);
    for (size_t t = 0; t < resolver->scenario->tenants_count; t++)
        resolver->scenario->has_gpu_memory_of_tenants |=
            resolver->scenario->tenants[t].pool > 0 ||
            resolver->scenario->tenants[t].process_bytes < INT64_MAX;
}

/* ---- whose jobs they are ---- */

/* Of a job that says this name at this place; NULL = the rows of a trace say it. */
uint32_t sim_resolve_tenant(struct sim_resolver *resolver, const struct sim_yaml *at,
                            const char *name)
{
    const uint32_t number = sim_name_set_number(&resolver->tenants, name);
    if (number > 0)
        return number;
    if (at != NULL && resolver->draft->tenants.count > 0) {
        sim_report_near(
            resolver->report, at, SIM_AT_VALUE,
            sim_near_draft(resolver, &resolver->draft->tenants, sizeof(struct draft_tenant), name),
            "there is no tenant '%s'", name);
        return 0;
    }
    const struct sim_tenant tenant = {
        .name = name,
        .weight = 1,
        .hard = { WEIR_NO_QUOTA, WEIR_NO_QUOTA, WEIR_NO_QUOTA },
        .soft = { WEIR_NO_QUOTA, WEIR_NO_QUOTA, WEIR_NO_QUOTA },
        .borrow = { WEIR_NO_QUOTA, WEIR_NO_QUOTA, WEIR_NO_QUOTA },
        .lend = { WEIR_NO_QUOTA, WEIR_NO_QUOTA, WEIR_NO_QUOTA },
        .process_bytes = INT64_MAX,
    };
    return add_tenant(resolver, &tenant);
}

/* Where the name stands. */
static const struct sim_yaml *place_of(const struct draft_jobs *draft, size_t job)
{
    const struct draft_job_class *classes = draft->source.classes.items;
    if (job < draft->source.classes.count && classes[job].tenant != NULL)
        return sim_draft_at(&classes[job].head, "tenant");
    return draft->tenant == NULL ? NULL : sim_draft_at(&draft->head, "tenant");
}

static bool says_tenant(const struct draft_jobs *draft)
{
    const struct draft_job_class *classes = draft->source.classes.items;
    for (size_t i = 0; i < draft->source.classes.count; i++)
        if (classes[i].tenant != NULL)
            return true;
    return draft->tenant != NULL;
}

/* Rows that follow one another mostly are of one tenant, whose name is kept once. */
static void name_owners(struct sim_resolver *resolver, const struct draft_jobs *draft,
                        struct sim_workload *workload)
{
    const struct sim_job_spec *before = NULL;
    for (size_t i = 0; i < workload->jobs_count; i++) {
        struct sim_job_spec *job = &workload->jobs[i];
        if (draft->tenant != NULL &&
            (job->tenant == NULL || job->tenant[0] == '\0' || draft->source.classes.count == 0))
            job->tenant = draft->tenant;
        if (job->tenant == NULL || job->tenant[0] == '\0')
            continue;
        job->tenant_number = before != NULL && before->tenant == job->tenant
                                 ? before->tenant_number
                                 : sim_resolve_tenant(resolver, place_of(draft, i), job->tenant);
        before = job;
    }
}

/* ---- what they have of the memory of GPUs ---- */

static void check_memory(struct sim_resolver *resolver, const struct draft_job_class *draft,
                         const struct sim_job_spec *job)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const int64_t most = job->tenant_number == 0
                             ? INT64_MAX
                             : scenario->tenants[job->tenant_number - 1].process_bytes;
    if (job->activation_bytes > 0 && job->shape.gpu_count == 0)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "activations"),
                         "is memory of GPUs, and these jobs ask for none");
    if (job->shape.gpu_mem_bytes > most)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "request"),
                         "asks for %.4g GB of the memory of a GPU, a process of tenant %s has "
                         "%.4g GB at most (tenants[].gpu_memory.process)",
                         1e-9 * (double)job->shape.gpu_mem_bytes, job->tenant, 1e-9 * (double)most);
}

/* Whether jobs of the tenant, or of one below it, give memory back after every step. */
static bool gives_back(const struct sim_scenario *scenario, uint32_t tenant)
{
    for (size_t w = 0; w < scenario->workloads_count; w++)
        for (size_t j = 0; j < scenario->workloads[w].jobs_count; j++) {
            const struct sim_job_spec *job = &scenario->workloads[w].jobs[j];
            uint32_t number = job->tenant_number;
            while (number != 0 && number != tenant)
                number = scenario->tenants[number - 1].parent;
            if (number == tenant && job->step != NULL && job->activation_bytes > 0)
                return true;
        }
    return false;
}

static void check_reuse(struct sim_resolver *resolver)
{
    const struct draft_list *list = &resolver->draft->tenants;
    const struct draft_tenant *drafts = list->items;
    for (size_t i = 0; i < list->count; i++) {
        const struct draft_head *head = &drafts[i].gpu_memory.head;
        const uint32_t number = head->node == NULL || drafts[i].head.name == NULL
                                    ? 0
                                    : sim_name_set_number(&resolver->tenants, drafts[i].head.name);
        if (drafts[i].gpu_memory.reuse > REUSE_NONE && number != 0 && /* not said */
            sim_yaml_get(head->node, "free") != NULL)
            sim_report_error(resolver->report, sim_draft_at(head, "free"), "acts with reuse: none");
        if (number != 0 && drafts[i].gpu_memory.reuse <= REUSE_NONE &&
            !gives_back(resolver->scenario, number))
            sim_report_error(resolver->report, sim_draft_at(head, "reuse"),
                             "acts on jobs in steps with activations, and none is of this tenant");
    }
}

/* An average needs samples that lose weight. */
static void check_usage(struct sim_resolver *resolver)
{
    const struct draft_head *head = &resolver->draft->sched.head;
    const struct sim_sched *sched = &resolver->scenario->sched;
    if (sched->usage_rule == WEIR_USAGE_AVERAGE && sched->usage_period_ns == 0)
        sim_report_error(resolver->report, sim_draft_at(head, "usage_period"),
                         "must be above 0 with usage_rule: average");
    if (sched->usage_rule == WEIR_USAGE_AVERAGE && sched->half_life_ns == 0)
        sim_report_error(resolver->report, sim_draft_at(head, "usage_half_life"),
                         "must be above 0 with usage_rule: average");
}

static void check_jobs(struct sim_resolver *resolver, const struct draft_jobs *draft,
                       const struct sim_workload *workload)
{
    const struct draft_job_class *classes = draft->source.classes.items;
    for (size_t i = 0; i < draft->source.classes.count && i < workload->jobs_count; i++)
        check_memory(resolver, &classes[i], &workload->jobs[i]);
}

void sim_resolve_owners(struct sim_resolver *resolver)
{
    const struct draft_list *list = &resolver->draft->jobs;
    const struct draft_jobs *drafts = list->items;
    bool has_tenants = resolver->draft->tenants.count > 0;
    check_usage(resolver);
    for (size_t i = 0; i < list->count; i++)
        has_tenants = has_tenants || says_tenant(&drafts[i]);
    for (size_t i = 0; i < list->count && has_tenants; i++)
        name_owners(resolver, &drafts[i], &resolver->scenario->workloads[i]);
    for (size_t i = 0; i < list->count; i++)
        check_jobs(resolver, &drafts[i], &resolver->scenario->workloads[i]);
    check_reuse(resolver);
}
