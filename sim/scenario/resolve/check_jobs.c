/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs that can never run on this cluster: a rank that no node holds, or more ranks than all nodes
 * together. A run refuses them one by one and counts them, and some experiments are about just
 * that; so it is a warning, a class at its place, the rows of a trace with a count and the first.
 * What a fill refuses is its result, and is not told.
 */
#include "sim/scenario/resolve/check.h"

#include "weir/group.h"

#include <string.h>

enum { NOT_ONE_NODE = WEIR_GROUP_STRATEGY_COUNT };

/* How many of the shape the nodes hold at once, as a group with this strategy. */
static uint64_t most_at_once(const struct sim_scenario *scenario, const struct weir_shape *shape,
                             uint32_t strategy)
{
    uint64_t all = 0;
    for (size_t i = 0; i < scenario->node_groups_count; i++) {
        const struct sim_node_group *group = &scenario->node_groups[i];
        const uint32_t nodes = sim_check_nodes(scenario, group, shape);
        const uint64_t most =
            nodes == 0 ? 0 : sim_check_most(scenario, &scenario->node_types[group->type], shape);
        uint64_t here = 0;
        if (strategy == WEIR_GROUP_STRICT_PACK)
            all = most > all ? most : all;
        else if (strategy == WEIR_GROUP_STRICT_SPREAD)
            here = most > 0 ? nodes : 0;
        else if (__builtin_mul_overflow(most, nodes, &here))
            return UINT64_MAX;
        if (__builtin_add_overflow(all, here, &all))
            return UINT64_MAX;
    }
    return all;
}

static const char *why_members(struct sim_resolver *resolver, const struct sim_job_spec *job)
{
    const uint32_t strategy = job->group == 0 ? NOT_ONE_NODE : job->group - 1;
    const uint64_t most = most_at_once(resolver->scenario, &job->shape, strategy);
    if (job->members <= most)
        return NULL;
    return sim_arena_printf(resolver->arena,
                            "needs %u members at once%s, there is room for %llu; ask for fewer, or "
                            "add nodes",
                            job->members,
                            strategy == WEIR_GROUP_STRICT_PACK     ? " on one node"
                            : strategy == WEIR_GROUP_STRICT_SPREAD ? " on a node each"
                                                                   : "",
                            (unsigned long long)most);
}

/* The ranks of a placement group on one node, as one worker that takes any of its GPUs. */
static struct weir_shape joined(const struct sim_job_spec *job)
{
    struct weir_shape sum = { .cpu_units = job->shape.cpu_units * job->members,
                              .ram_bytes = job->shape.ram_bytes * job->members,
                              .gpu_units = WEIR_ONE };
    int64_t gpu_units = job->shape.gpu_units * job->shape.gpu_count * job->members;
    for (size_t i = 0; i < job->more_count; i++) {
        const struct weir_shape *shape = &job->more[i].shape;
        sum.cpu_units += shape->cpu_units * job->more[i].members;
        sum.ram_bytes += shape->ram_bytes * job->more[i].members;
        gpu_units += shape->gpu_units * shape->gpu_count * job->more[i].members;
    }
    sum.gpu_count = (uint32_t)((gpu_units + WEIR_ONE - 1) / WEIR_ONE);
    sum.kind = sum.gpu_count > 0 ? WEIR_SHAPE_WHOLE : WEIR_SHAPE_CPU;
    return sum;
}

/* Unequal ranks that are to be together on a node, or on a node each. */
static const char *why_together(struct sim_resolver *resolver, const struct sim_job_spec *job)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const struct weir_shape sum = joined(job);
    uint64_t nodes = 0;
    uint64_t ranks = job->members;
    bool fits_one = false;
    for (size_t i = 0; i < scenario->node_groups_count; i++) {
        const struct sim_node_group *group = &scenario->node_groups[i];
        fits_one |= sim_check_most(scenario, &scenario->node_types[group->type], &sum) > 0;
        nodes += group->count;
    }
    for (size_t i = 0; i < job->more_count; i++)
        ranks += job->more[i].members;
    if (job->group == WEIR_GROUP_STRICT_PACK + 1 && !fits_one)
        return sim_arena_printf(resolver->arena,
                                "needs %.10g CPUs and %u GPUs on one node, no node has them; ask "
                                "for less, or for pack",
                                weir_units_amount(sum.cpu_units), sum.gpu_count);
    if (job->group == WEIR_GROUP_STRICT_SPREAD + 1 && ranks > nodes)
        return sim_arena_printf(resolver->arena,
                                "needs %llu nodes, one for each of its ranks, there are %llu; ask "
                                "for fewer, or for spread",
                                (unsigned long long)ranks, (unsigned long long)nodes);
    return NULL;
}

/* An instance that no GPU has may come when they are cut anew. */
static const char *why_shape(struct sim_resolver *resolver, const struct weir_shape *shape)
{
    return shape->kind == WEIR_SHAPE_SLICE &&
                   resolver->scenario->sched.repartition.policy == SIM_REPARTITION_DEMAND
               ? NULL
               : sim_check_shape(resolver, shape);
}

static const char *why_never(struct sim_resolver *resolver, const struct sim_job_spec *job)
{
    const char *reason = why_shape(resolver, &job->shape);
    for (size_t i = 0; reason == NULL && i < job->more_count; i++)
        reason = why_shape(resolver, &job->more[i].shape);
    if (reason == NULL && job->shape.kind == WEIR_SHAPE_SLICE)
        return NULL;
    if (reason == NULL && job->more_count > 0)
        reason = why_together(resolver, job);
    return reason != NULL ? reason : why_members(resolver, job);
}

static void check_classes(struct sim_resolver *resolver, const struct sim_workload *workload,
                          const struct draft_jobs *draft)
{
    const struct draft_job_class *classes = draft->source.classes.items;
    for (size_t i = 0; i < workload->jobs_count; i++) {
        const char *reason = why_never(resolver, &workload->jobs[i]);
        if (reason != NULL)
            sim_report_warning(resolver->report, sim_draft_at(&classes[i].head, "request"),
                               "can never run: %s", reason);
    }
}

/* Those that accept no GPU of the cluster have been counted where models are read. */
static bool is_stranger(const struct sim_job_spec *job)
{
    return job->shape.gpu_type == WEIR_GPU_TYPE_SET;
}

static bool is_alike(const struct sim_job_spec *a, const struct sim_job_spec *b)
{
    return a->members == b->members && memcmp(&a->shape, &b->shape, sizeof a->shape) == 0;
}

static void check_rows(struct sim_resolver *resolver, const struct sim_workload *workload,
                       const struct draft_jobs *draft)
{
    const struct sim_job_spec *first = NULL;
    const char *why = NULL;
    const char *reason = NULL;
    size_t count = 0;
    for (size_t i = 0; i < workload->jobs_count; i++) {
        const struct sim_job_spec *job = &workload->jobs[i];
        if (is_stranger(job))
            continue;
        if (i == 0 || is_stranger(job - 1) || !is_alike(job, job - 1))
            reason = why_never(resolver, job);
        if (reason != NULL && count++ == 0) {
            first = job;
            why = reason;
        }
    }
    if (count > 0)
        sim_report_warning(resolver->report, sim_draft_at(&draft->head, "trace"),
                           "%zu of %zu jobs can never run; the first, '%s', %s", count,
                           workload->jobs_count, first->name, why);
}

/* ---- nodes without work ---- */

static bool fits_group(const struct sim_scenario *scenario, const struct sim_node_group *group,
                       const struct weir_shape *shape)
{
    return sim_check_nodes(scenario, group, shape) > 0 &&
           sim_check_most(scenario, &scenario->node_types[group->type], shape) > 0;
}

static bool fits_pools(const struct sim_scenario *scenario, const struct sim_node_group *group)
{
    for (size_t p = 0; p < scenario->pipelines_count; p++)
        for (size_t i = 0; i < scenario->pipelines[p].stages_count; i++)
            if (fits_group(scenario, group, &scenario->pipelines[p].stages[i].shape))
                return true;
    for (size_t a = 0; a < scenario->actors_count; a++)
        for (size_t i = 0; i < scenario->actors[a].sets_count; i++)
            if (fits_group(scenario, group, &scenario->actors[a].sets[i].shape))
                return true;
    return false;
}

static bool fits_job(const struct sim_scenario *scenario, const struct sim_node_group *group,
                     const struct sim_job_spec *job)
{
    bool fits = fits_group(scenario, group, &job->shape);
    for (size_t k = 0; k < job->more_count && !fits; k++)
        fits = fits_group(scenario, group, &job->more[k].shape);
    return fits;
}

static bool is_of_use(const struct sim_scenario *scenario, const struct sim_node_group *group)
{
    bool fits = fits_pools(scenario, group);
    for (size_t w = 0; w < scenario->workloads_count; w++)
        for (size_t i = 0; i < scenario->workloads[w].jobs_count && !fits; i++)
            fits = fits_job(scenario, group, &scenario->workloads[w].jobs[i]);
    return fits;
}

/* Groups of nodes that nothing fits. */
static void check_groups(struct sim_resolver *resolver)
{
    const struct sim_scenario *scenario = resolver->scenario;
    for (size_t i = 0; i < scenario->node_groups_count; i++) {
        const struct sim_node_group *group = &scenario->node_groups[i];
        const struct sim_node_type *type = &scenario->node_types[group->type];
        if (!is_of_use(scenario, group))
            sim_report_warning(resolver->report, sim_draft_at(&resolver->draft->head, "cluster"),
                               "no stage and no job fits the nodes '%s' (%u of them): they stay "
                               "empty; change what is asked for, or leave them out",
                               group->name == NULL ? type->name : group->name, group->count);
    }
}

void sim_check_jobs(struct sim_resolver *resolver)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const struct draft_jobs *drafts = resolver->draft->jobs.items;
    if (resolver->is_hardware_unclear || scenario->node_groups_count == 0 ||
        resolver->report->out->errors > 0)
        return;
    for (size_t i = 0; i < resolver->draft->jobs.count; i++) {
        const struct sim_workload *workload = &scenario->workloads[i];
        if (workload->kind == SIM_WORKLOAD_GENERATED)
            check_classes(resolver, workload, &drafts[i]);
        else
            check_rows(resolver, workload, &drafts[i]);
    }
    check_groups(resolver);
}
