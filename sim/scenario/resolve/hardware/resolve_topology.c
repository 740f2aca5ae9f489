/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving what is near what inside a node: sockets and islands. What cannot be divided evenly is
 * refused, so that all sockets and all islands of a node are alike.
 */
#include "sim/scenario/resolve/resolve.h"

#include <math.h>

static const double NUMA_PENALTY = 1.15; /* a proposal, not measured */

static uint32_t gpus_of(const struct sim_node_type *type)
{
    uint32_t count = 0;
    for (size_t i = 0; i < type->gpus_count; i++)
        count += type->gpus[i].count;
    return count;
}

static bool divides(uint32_t part, uint32_t whole)
{
    return part > 0 && whole % part == 0;
}

static void check_topology(struct sim_resolver *resolver, const struct draft_node_group *draft,
                           const struct sim_node_type *type)
{
    const struct sim_topology *topology = &type->topology;
    const uint32_t gpus = gpus_of(type);
    if (topology->sockets > 1 && gpus > 0 && !divides(topology->sockets, gpus) &&
        !divides(gpus, topology->sockets))
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "sockets"),
                         "%u GPUs cannot be divided evenly over %u sockets", gpus,
                         topology->sockets);
    if (topology->island_gpus > 0 && (gpus == 0 || !divides(topology->island_gpus, gpus)))
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "islands"),
                         "%u GPUs cannot be divided into islands of %u", gpus,
                         topology->island_gpus);
    if (topology->sockets <= 1 && !isnan(draft->topology.numa_penalty))
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "numa_penalty"),
                         "needs sockets: 2 or more");
}

void sim_resolve_node_topology(struct sim_resolver *resolver,
                               const struct draft_node_group *hardware, struct sim_node_type *type)
{
    const struct sim_topology *given = &hardware->topology;
    struct sim_topology *topology = &type->topology;
    if (given->sockets != SIM_ABSENT_COUNT)
        topology->sockets = given->sockets;
    if (given->island_gpus != SIM_ABSENT_COUNT)
        topology->island_gpus = given->island_gpus;
    if (!isnan(given->numa_penalty))
        topology->numa_penalty = given->numa_penalty;
    else if (!(topology->numa_penalty > 0))
        topology->numa_penalty = NUMA_PENALTY; /* used where there are sockets */
    if (!resolver->is_hardware_unclear)
        check_topology(resolver, hardware, type);
}

uint32_t sim_resolve_group_topology(struct sim_resolver *resolver,
                                    const struct draft_node_group *group, uint32_t type)
{
    struct sim_scenario *scenario = resolver->scenario;
    const struct sim_topology *given = &group->topology;
    if (group->type == NULL ||
        (given->sockets == SIM_ABSENT_COUNT && given->island_gpus == SIM_ABSENT_COUNT &&
         isnan(given->numa_penalty)))
        return type; /* its own, or as it is */
    struct sim_node_type *changed = &scenario->node_types[scenario->node_types_count];
    *changed = scenario->node_types[type];
    sim_resolve_node_topology(resolver, group, changed);
    return (uint32_t)scenario->node_types_count++;
}

void sim_resolve_topology(struct sim_resolver *resolver)
{
    const struct sim_scenario *scenario = resolver->scenario;
    bool is_assumed = false;
    for (size_t i = 0; i < scenario->node_groups_count; i++) {
        const struct sim_node_type *type = &scenario->node_types[scenario->node_groups[i].type];
        is_assumed |= type->topology.sockets > 1 && type->gpus_count > 0 &&
                      !islessgreater(type->topology.numa_penalty, NUMA_PENALTY);
    }
    if (is_assumed)
        sim_resolve_assume(
            resolver, sim_arena_printf(resolver->arena,
                                       "a worker with CPUs on another socket than its GPUs takes "
                                       "%g times as long [proposal]",
                                       NUMA_PENALTY));
}
