/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving reservations in advance: whose, when, of what; and which jobs name one.
 *
 * Tenants and jobs are known. A reservation of more nodes than there are is a mistake; one whose
 * nodes overlap in time with others is not, as long as there are enough for all.
 */
#include "sim/scenario/resolve/resolve.h"

#include "sim/scenario/read/draft.h"

#include <string.h>

static const struct draft_list *list_of(const struct sim_resolver *resolver)
{
    return &resolver->draft->reservations;
}

/* ---- what there is ---- */

static bool is_suitable(const struct sim_node_type *type, const struct sim_reservation *reservation)
{
    const struct weir_shape shape = { .gpu_type = reservation->gpu_type };
    if (type->gpus_count == 0)
        return reservation->gpus == 0 && reservation->gpu_type == 0;
    return reservation->gpu_type == 0 || weir_shape_takes_type(&shape, type->gpus[0].type);
}

/* Nodes, or GPUs, that could be reserved at all. */
static uint64_t amount_there(const struct sim_scenario *scenario,
                             const struct sim_reservation *reservation)
{
    uint64_t amount = 0;
    for (size_t g = 0; g < scenario->node_groups_count; g++) {
        const struct sim_node_group *group = &scenario->node_groups[g];
        const struct sim_node_type *type = &scenario->node_types[group->type];
        uint64_t gpus = 0;
        if (!is_suitable(type, reservation))
            continue;
        for (size_t i = 0; i < type->gpus_count; i++)
            gpus += type->gpus[i].count;
        amount += group->count * (reservation->gpus > 0 ? gpus : 1);
    }
    return amount;
}

static void check_amount(struct sim_resolver *resolver, const struct draft_reservation *draft,
                         const struct sim_reservation *reservation)
{
    const bool is_gpus = reservation->gpus > 0;
    const uint32_t wanted = is_gpus ? reservation->gpus : reservation->nodes;
    if (resolver->is_hardware_unclear || wanted == 0 || reservation->gpu_type == WEIR_GPU_TYPE_SET)
        return;
    const uint64_t there = amount_there(resolver->scenario, reservation);
    if (there < wanted)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, is_gpus ? "gpus" : "nodes"),
                         "the cluster has %llu %s%s", (unsigned long long)there,
                         is_gpus ? "GPUs" : "nodes",
                         reservation->gpu_type != 0 ? " of these types" : "");
}

/* ---- one ---- */

static uint32_t owner_of(struct sim_resolver *resolver, const struct draft_reservation *draft)
{
    if (draft->tenant == NULL)
        return 0;
    return sim_resolve_tenant(resolver, sim_draft_at(&draft->head, "tenant"), draft->tenant);
}

static void check_words(struct sim_resolver *resolver, const struct draft_reservation *draft)
{
    const bool has_nodes = draft->nodes != SIM_ABSENT_COUNT;
    const bool has_gpus = draft->gpus != SIM_ABSENT_COUNT;
    if (!has_nodes && !has_gpus)
        sim_report_error(resolver->report, draft->head.node, "says neither nodes nor gpus");
    if (has_nodes && has_gpus)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "gpus"),
                         "it is of nodes already: say nodes or gpus");
}

static uint32_t count_or_none(uint32_t count)
{
    return count == SIM_ABSENT_COUNT ? 0 : count;
}

static void add(struct sim_resolver *resolver, struct draft_reservation *draft)
{
    struct sim_scenario *scenario = resolver->scenario;
    const struct sim_reservation reservation = {
        .name = draft->head.name,
        .tenant = owner_of(resolver, draft),
        .start_ns = draft->start_ns,
        .end_ns = draft->start_ns + draft->duration_ns,
        .nodes = count_or_none(draft->nodes),
        .gpus = count_or_none(draft->gpus),
        .gpu_type = draft->gpu_types == NULL
                        ? 0
                        : sim_resolve_gpu_types(resolver, &draft->head, draft->gpu_types)
    };
    check_words(resolver, draft);
    check_amount(resolver, draft, &reservation);
    for (size_t i = 0; i < scenario->reservations_count && draft->head.name != NULL; i++)
        if (scenario->reservations[i].name != NULL &&
            strcmp(scenario->reservations[i].name, draft->head.name) == 0)
            sim_report_error(resolver->report, sim_draft_at(&draft->head, "name"),
                             "two reservations are called '%s'", draft->head.name);
    scenario->reservations =
        sim_arena_grow(resolver->arena, scenario->reservations, scenario->reservations_count,
                       sizeof *scenario->reservations);
    scenario->reservations[scenario->reservations_count++] = reservation;
}

/* ---- who names one ---- */

static void name_one(struct sim_resolver *resolver, const struct draft_job_class *draft,
                     struct sim_job_spec *job)
{
    const struct sim_scenario *scenario = resolver->scenario;
    for (uint32_t i = 0; i < scenario->reservations_count; i++)
        if (scenario->reservations[i].name != NULL &&
            strcmp(scenario->reservations[i].name, draft->reservation) == 0) {
            job->reservation = i + 1;
            return;
        }
    sim_report_near(resolver->report, sim_draft_at(&draft->head, "reservation"), SIM_AT_VALUE,
                    sim_near_draft(resolver, list_of(resolver), sizeof(struct draft_reservation),
                                   draft->reservation),
                    "there is no reservation '%s'", draft->reservation);
}

void sim_resolve_reservations(struct sim_resolver *resolver)
{
    const struct draft_list *list = list_of(resolver);
    const struct draft_list *jobs = &resolver->draft->jobs;
    const struct draft_jobs *drafts = jobs->items;
    sim_resolve_not_empty(resolver, sim_yaml_get(resolver->root, "reservations"),
                          "there are no reservations in it");
    for (size_t i = 0; i < list->count; i++)
        add(resolver, &((struct draft_reservation *)list->items)[i]);
    for (size_t w = 0; w < jobs->count; w++) {
        const struct draft_job_class *classes = drafts[w].source.classes.items;
        for (size_t c = 0; c < drafts[w].source.classes.count; c++)
            if (classes[c].reservation != NULL)
                name_one(resolver, &classes[c], &resolver->scenario->workloads[w].jobs[c]);
    }
}
