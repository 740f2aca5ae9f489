/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving how GPUs are shared: MIG tables of GPU types, the cut of nodes, requests for instances,
 * turns.
 *
 * A request names a profile as its GPU type does; "1g" and "1/7" are replaced by the full name,
 * which must then be the same on every type that is cut.
 */
#include "sim/scenario/catalog/catalog_mig.h"
#include "sim/scenario/resolve/resolve.h"

#include <math.h>
#include <string.h>

/* ---- tables ---- */

static const char *near_table(const char *name)
{
    const char *names[16];
    size_t count = 0;
    for (; count < sim_catalog_mig_count() && count < 16; count++)
        names[count] = sim_catalog_mig_at(count)->name;
    return sim_near_name(name, names, count);
}

const struct weir_mig *sim_resolve_mig_table(struct sim_resolver *resolver,
                                             const struct draft_gpu_type *draft)
{
    if (draft->mig == NULL)
        return sim_catalog_mig_find(draft->head.name);
    const struct weir_mig *table = sim_catalog_mig_find(draft->mig);
    if (table == NULL && strcmp(draft->mig, "none") != 0)
        sim_report_near(resolver->report, sim_draft_at(&draft->head, "mig"), SIM_AT_VALUE,
                        near_table(draft->mig), "there is no MIG table '%s'", draft->mig);
    return table;
}

/* ---- nodes ---- */

/* The layout of one GPU type that the partition asks for; what cannot be is reported. */
static weir_mig_layout cut_of(struct sim_resolver *resolver, const struct draft_node_group *group,
                              const struct weir_mig *table)
{
    const struct draft_instance *instances = group->partition.items;
    uint32_t counts[WEIR_MIG_PROFILES] = { 0 };
    struct weir_error error = { .phase = -1 };
    weir_mig_layout cut = 0;
    bool is_known = true;
    for (size_t i = 0; i < group->partition.count; i++) {
        uint32_t profile = 0;
        if (instances[i].profile == NULL) {
            is_known = false;
        } else if (weir_mig_find(table, instances[i].profile, &profile, &error) != WEIR_OK) {
            sim_report_error(resolver->report, instances[i].head.node, "%s", error.text);
            is_known = false;
        }
        counts[profile]++;
    }
    if (is_known && weir_mig_arrange(table, counts, &cut, &error) != WEIR_OK)
        sim_report_error(resolver->report, sim_draft_at(&group->head, "partition"), "%s",
                         error.text);
    return cut;
}

static void resolve_cuts(struct sim_resolver *resolver, const struct draft_node_group *group,
                         struct sim_node_type *type)
{
    const bool is_cut = group->partition.count > 0;
    if (is_cut)
        type->cuts = sim_arena_alloc(resolver->arena, type->gpus_count + 1, sizeof *type->cuts);
    for (size_t i = 0; i < type->gpus_count; i++) {
        const struct sim_gpu_type *gpu = &resolver->scenario->gpu_types[type->gpus[i].type];
        if (gpu->mig == NULL)
            sim_report_error(resolver->report, sim_draft_at(&group->head, "share"),
                             "%s has no MIG table: it cannot be cut", gpu->name);
        else if (is_cut)
            type->cuts[i] = cut_of(resolver, group, gpu->mig);
    }
    if (type->gpus_count == 0)
        sim_report_error(resolver->report, sim_draft_at(&group->head, "share"),
                         "there is no GPU to cut");
}

static int64_t time_or(int64_t given_ns, int64_t initial_ns)
{
    return given_ns == SIM_ABSENT_TIME ? initial_ns : given_ns;
}

static struct sim_timeslice turns_of(const struct sim_timeslice *given)
{
    return (struct sim_timeslice){
        .quantum_ns = time_or(given->quantum_ns, 100 * INT64_C(1000000)),
        .switch_ns = time_or(given->switch_ns, INT64_C(1000000)),
        .switch_memory_ns = time_or(given->switch_memory_ns, 9 * INT64_C(1000000)),
    };
}

/* A guess: of two clients of MPS on an A100 each took 1.9 times as long, of five 2.7, of seven 3.6
 * (Nebuly 2023), as if the GPU had more than one of them can use. */
static const double MPS_OVERHEAD = 1.05;

/* Keys of a way of sharing that was not chosen. */
static void refuse_keys(struct sim_resolver *resolver, const struct draft_node_group *group,
                        uint32_t share)
{
    const struct sim_yaml *partition = sim_yaml_get(group->head.node, "partition");
    const struct sim_yaml *timeslice = sim_yaml_get(group->head.node, "timeslice");
    const struct sim_yaml *overhead = sim_yaml_get(group->head.node, "mps_overhead");
    if (partition != NULL && share != SIM_SHARING_MIG)
        sim_report_near(resolver->report, partition, SIM_AT_KEY, NULL, "belongs to share: mig");
    if (overhead != NULL && share != SIM_SHARING_MPS)
        sim_report_near(resolver->report, overhead, SIM_AT_KEY, NULL, "belongs to share: mps");
    if (timeslice != NULL && share != SIM_SHARING_TIMESLICE)
        sim_report_near(resolver->report, timeslice, SIM_AT_KEY, NULL,
                        "belongs to share: timeslice");
}

/* What the group says, else the cluster; nodes without GPUs share nothing. */
static uint32_t share_of(const struct sim_resolver *resolver, const struct draft_node_group *group,
                         const struct sim_node_type *type)
{
    const uint32_t of_all = resolver->draft->cluster.share;
    if (group->share != SIM_ABSENT_COUNT)
        return group->share;
    return of_all == SIM_ABSENT_COUNT || type->gpus_count == 0 ? SIM_SHARING_FRACTION : of_all;
}

/* A request has one shape on all nodes, so GPUs are exclusive everywhere or nowhere; those that are
 * cut are for requests of their own. */
static void note_exclusive(struct sim_resolver *resolver, const struct draft_node_group *group,
                           uint32_t share)
{
    const bool is_exclusive = share == SIM_SHARING_EXCLUSIVE;
    if (resolver->has_gpus && is_exclusive != resolver->is_exclusive)
        sim_report_error(resolver->report, sim_draft_at(&group->head, "share"),
                         "GPUs are exclusive all or none (but for share: mig), since a request "
                         "takes the same everywhere; those above are %s",
                         is_exclusive ? "not" : "exclusive");
    resolver->has_gpus = true;
    resolver->is_exclusive = is_exclusive;
}

uint32_t sim_resolve_share(struct sim_resolver *resolver, const struct draft_node_group *group,
                           uint32_t type)
{
    struct sim_scenario *scenario = resolver->scenario;
    const uint32_t share = share_of(resolver, group, &scenario->node_types[type]);
    if (scenario->node_types[type].gpus_count > 0 && share != SIM_SHARING_MIG)
        note_exclusive(resolver, group, share);
    refuse_keys(resolver, group, share);
    if (share == SIM_SHARING_FRACTION || share == SIM_SHARING_EXCLUSIVE)
        return type; /* which of them: see sim_resolve_exclusive */
    struct sim_node_type *shared = &scenario->node_types[scenario->node_types_count];
    *shared = scenario->node_types[type];
    shared->share = share;
    if (share == SIM_SHARING_MIG)
        resolve_cuts(resolver, group, shared);
    else if (share == SIM_SHARING_MPS)
        shared->mps_overhead = isnan(group->mps_overhead) ? MPS_OVERHEAD : group->mps_overhead;
    else
        shared->timeslice = turns_of(&group->timeslice.to);
    return (uint32_t)scenario->node_types_count++;
}

/* A part of one GPU: of its compute, or engines alone, whose GPU somebody else may hold. */
static bool is_part(const struct weir_shape *shape)
{
    return shape->kind == WEIR_SHAPE_FRACTIONAL || shape->kind == WEIR_SHAPE_CODEC;
}

static bool asks_for_parts(const struct sim_scenario *scenario)
{
    for (size_t p = 0; p < scenario->pipelines_count; p++)
        for (size_t s = 0; s < scenario->pipelines[p].stages_count; s++)
            if (is_part(&scenario->pipelines[p].stages[s].shape))
                return true;
    for (size_t w = 0; w < scenario->workloads_count; w++)
        for (size_t j = 0; j < scenario->workloads[w].jobs_count; j++)
            for (uint32_t r = 0; r <= scenario->workloads[w].jobs[j].more_count; r++)
                if (is_part(r == 0 ? &scenario->workloads[w].jobs[j].shape
                                   : &scenario->workloads[w].jobs[j].more[r - 1].shape))
                    return true;
    return false;
}

static bool says_fraction(const struct draft_cluster *cluster)
{
    const struct draft_node_group *groups = cluster->nodes.items;
    bool says = cluster->share == SIM_SHARING_FRACTION;
    for (size_t i = 0; i < cluster->nodes.count; i++)
        says = says || groups[i].share == SIM_SHARING_FRACTION;
    return says;
}

/* GPUs are exclusive unless somebody says otherwise, or asks for a part of one. */
void sim_resolve_exclusive(struct sim_resolver *resolver)
{
    struct sim_scenario *scenario = resolver->scenario;
    const bool is_exclusive =
        resolver->is_exclusive ||
        (!says_fraction(&resolver->draft->cluster) && !asks_for_parts(scenario));
    for (size_t i = 0; is_exclusive && i < scenario->node_types_count; i++)
        if (scenario->node_types[i].share == SIM_SHARING_FRACTION)
            scenario->node_types[i].share = SIM_SHARING_EXCLUSIVE;
}

static bool has_cuts(const struct sim_scenario *scenario)
{
    for (size_t i = 0; i < scenario->node_types_count; i++)
        if (scenario->node_types[i].cuts != NULL)
            return true;
    return false;
}

void sim_resolve_repartition(struct sim_resolver *resolver)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const struct sim_yaml *at = sim_draft_at(&resolver->draft->sched.repartition.head, "policy");
    if (scenario->sched.repartition.policy == SIM_REPARTITION_OFF)
        return;
    if (!has_cuts(scenario) && !resolver->is_hardware_unclear)
        sim_report_error(resolver->report, at,
                         "needs nodes with share: mig and a partition to begin with");
}

/* ---- requests ---- */

/* The n-th table of the GPUs of nodes that are cut, or NULL when there are fewer. */
static const struct weir_mig *table_at(const struct sim_scenario *scenario, size_t n)
{
    for (size_t g = 0; g < scenario->node_groups_count; g++) {
        const struct sim_node_type *type = &scenario->node_types[scenario->node_groups[g].type];
        if (type->share != SIM_SHARING_MIG)
            continue;
        for (size_t i = 0; i < type->gpus_count; i++) {
            const struct weir_mig *table = scenario->gpu_types[type->gpus[i].type].mig;
            if (table != NULL && n-- == 0)
                return table;
        }
    }
    return NULL;
}

/* Of the GPUs that are cut: a need is counted as the smallest share it can be. */
static uint32_t most_slices(const struct sim_scenario *scenario)
{
    const struct weir_mig *table;
    uint32_t most = 0;
    for (size_t n = 0; (table = table_at(scenario, n)) != NULL; n++)
        most = table->slices > most ? table->slices : most;
    return most;
}

/* What the text means on the types that are cut; false when that is nothing or several things. */
static bool find_profile(struct sim_resolver *resolver, const struct sim_yaml *at, const char *text,
                         struct weir_request *request)
{
    const struct weir_mig *table;
    struct weir_error error = { .phase = -1 };
    const char *gpu = NULL;
    for (size_t n = 0; (table = table_at(resolver->scenario, n)) != NULL; n++) {
        uint32_t profile = 0;
        if (weir_mig_find(table, text, &profile, &error) != WEIR_OK)
            continue;
        const struct weir_mig_profile *found = &table->profiles[profile];
        if (gpu != NULL && strcmp(request->mig_profile, found->name) != 0)
            return sim_report_error(resolver->report, at,
                                    "'%s' is %s on %s and %s on %s: name one of them", text,
                                    request->mig_profile, gpu, found->name, table->name);
        gpu = table->name;
        memcpy(request->mig_profile, found->name, sizeof request->mig_profile);
        request->mig_slices = found->slices;
        request->mig_slices_all = table->slices;
    }
    if (gpu != NULL)
        return true;
    return sim_report_error(resolver->report, at, "%s", error.text);
}

bool sim_resolve_mig_row(struct sim_resolver *resolver, const struct sim_yaml *at,
                         const char *profile, struct weir_request *request)
{
    if (resolver->is_hardware_unclear)
        return false;
    if (table_at(resolver->scenario, 0) != NULL)
        return find_profile(resolver, at, profile, request);
    return sim_report_error(resolver->report, at,
                            "a row asks for the MIG instance %s, and no nodes have share: mig",
                            profile);
}

bool sim_resolve_mig_request(struct sim_resolver *resolver, const struct sim_yaml *at,
                             struct draft_request *draft, struct weir_request *request)
{
    const bool has_slices = draft->mig_slices != SIM_ABSENT_COUNT && draft->mig_slices > 0;
    const struct sim_yaml *key = sim_yaml_get(at, draft->mig == NULL ? "mig_slices" : "mig");
    at = key == NULL ? at : key;
    if (draft->mig == NULL && !has_slices)
        return true;
    if (resolver->is_hardware_unclear)
        return false;
    const struct weir_mig *table = table_at(resolver->scenario, 0);
    if (draft->mig != NULL && has_slices)
        return sim_report_error(resolver->report, at, "mig excludes mig_slices; give one of them");
    if (table == NULL)
        return sim_report_error(resolver->report, at,
                                "asks for a MIG instance, and no nodes have share: mig");
    if (has_slices) {
        request->mig_slices = draft->mig_slices;
        request->mig_slices_all = most_slices(resolver->scenario);
        return true;
    }
    if (!find_profile(resolver, at, draft->mig, request))
        return false;
    draft->mig = sim_arena_copy(resolver->arena, request->mig_profile);
    return true;
}
