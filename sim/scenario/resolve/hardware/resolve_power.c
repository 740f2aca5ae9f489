/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving electric power: sockets, caps and heat of the GPUs of a node, and how much a GPU draws.
 *
 * A cap or a limit of temperature that idle GPUs break already could never be kept, and is refused.
 */
#include "sim/scenario/catalog/catalog_cpus.h"
#include "sim/scenario/resolve/resolve.h"

#include <math.h>

static const int64_t TAU_NS = 60 * INT64_C(1000000000); /* a guess: minutes to a steady state */

static double number_or(double given, double initial)
{
    return isnan(given) ? initial : given;
}

static struct sim_thermal thermal_of(const struct sim_thermal *given)
{
    return (struct sim_thermal){ .ambient_c = number_or(given->ambient_c, 30),
                                 .rise_c = number_or(given->rise_c, 45),
                                 .limit_c = number_or(given->limit_c, 87),
                                 .tau_ns =
                                     given->tau_ns == SIM_ABSENT_TIME ? TAU_NS : given->tau_ns };
}

void sim_resolve_node_power(struct sim_resolver *resolver, const struct draft_node_group *group,
                            struct sim_node_type *type)
{
    const double had_w = type->power_cap_w;
    double idle_w = 0;
    type->power_cap_w = number_or(group->power_cap_w, had_w);
    if (group->thermal.head.node != NULL)
        type->thermal = thermal_of(&group->thermal.to);
    for (size_t i = 0; i < type->gpus_count; i++) {
        const struct sim_gpu_type *gpu = &resolver->scenario->gpu_truth[type->gpus[i].type];
        const struct sim_thermal *heat = &type->thermal;
        idle_w += type->gpus[i].count * gpu->idle_w;
        if (heat->tau_ns > 0 && gpu->limit_w > 0 &&
            heat->ambient_c + heat->rise_c * gpu->idle_w / gpu->limit_w >= heat->limit_c)
            sim_report_error(resolver->report, group->thermal.head.node,
                             "an idle %s is as hot as the limit (%g) already", gpu->name,
                             heat->limit_c);
    }
    if (!isnan(group->power_cap_w) && group->power_cap_w <= idle_w)
        sim_report_error(resolver->report, sim_draft_at(&group->head, "power_cap"),
                         "must be above what the GPUs draw idle (%g W)", idle_w);
}

uint32_t sim_resolve_group_power(struct sim_resolver *resolver,
                                 const struct draft_node_group *group, uint32_t type)
{
    struct sim_scenario *scenario = resolver->scenario;
    if (group->type == NULL || (isnan(group->power_cap_w) && group->thermal.head.node == NULL))
        return type; /* its own, or as it is */
    struct sim_node_type *changed = &scenario->node_types[scenario->node_types_count];
    *changed = scenario->node_types[type];
    sim_resolve_node_power(resolver, group, changed);
    return (uint32_t)scenario->node_types_count++;
}

/* ---- sockets ---- */

/* What is absent comes from the processor. */
static void resolve_sockets(struct sim_resolver *resolver)
{
    const struct draft_power *draft = &resolver->draft->cluster.power;
    struct sim_power *power = &resolver->draft->cluster.power.to;
    if (draft->cpu >= sim_catalog_cpu_count())
        return; /* reported */
    const struct sim_catalog_cpu *cpu = sim_catalog_cpu_at(draft->cpu);
    power->cores_per_socket = number_or(power->cores_per_socket, cpu->cores);
    power->socket_idle_w = number_or(power->socket_idle_w, cpu->idle_w);
    power->socket_full_w = number_or(power->socket_full_w, cpu->full_w);
    if (power->socket_full_w < power->socket_idle_w)
        sim_report_error(resolver->report, draft->head.node,
                         "socket_full (%g W) is below socket_idle (%g W)", power->socket_full_w,
                         power->socket_idle_w);
    resolver->scenario->power = *power;
}

/* ---- throttling ---- */

static double idle_w(const struct sim_scenario *scenario, uint32_t node)
{
    const struct sim_node_type *type = sim_scenario_node_type(scenario, node);
    double sum_w = 0;
    for (size_t i = 0; i < type->gpus_count; i++)
        sum_w += type->gpus[i].count * scenario->gpu_truth[type->gpus[i].type].idle_w;
    return sum_w;
}

static bool is_capped_later(struct sim_resolver *resolver)
{
    const struct sim_scenario *scenario = resolver->scenario;
    const struct draft_event *events = resolver->draft->timeline.items;
    const bool is_understood = scenario->timeline_count == resolver->draft->timeline.count;
    bool is_capped = false;
    for (size_t i = 0; i < scenario->timeline_count; i++) {
        const struct sim_timeline_entry *entry = &scenario->timeline[i];
        if (entry->action != SIM_ACTION_POWER_CAP || entry->target == WEIR_NO_INDEX)
            continue;
        is_capped = true;
        if (is_understood && entry->cap_w > 0 && entry->cap_w <= idle_w(scenario, entry->target))
            sim_report_error(resolver->report, sim_draft_at(&events[i].head, "cap"),
                             "a cap of %g W is not above what the GPUs draw idle (%g W)",
                             entry->cap_w, idle_w(scenario, entry->target));
    }
    return is_capped;
}

static bool is_throttled(struct sim_resolver *resolver)
{
    const struct sim_scenario *scenario = resolver->scenario;
    bool is_any = is_capped_later(resolver);
    for (size_t i = 0; i < scenario->node_groups_count; i++) {
        const struct sim_node_type *type = &scenario->node_types[scenario->node_groups[i].type];
        is_any = is_any || type->power_cap_w > 0 || type->thermal.tau_ns > 0;
    }
    return is_any;
}

/* A throttle changes what runs, at any time. */
static void check_throttled(struct sim_resolver *resolver, const struct sim_yaml *at)
{
    const struct sim_scenario *scenario = resolver->scenario;
    if (scenario->contention == SIM_CONTENTION_AT_START)
        sim_report_error(resolver->report, at,
                         "power_cap and thermal need contention: shared, since they change the "
                         "speed of what runs");
}

void sim_resolve_power(struct sim_resolver *resolver)
{
    const struct draft_power *draft = &resolver->draft->cluster.power;
    const struct sim_yaml *at = resolver->draft->cluster.head.node;
    const bool is_any = is_throttled(resolver);
    resolve_sockets(resolver);
    struct sim_power *power = &resolver->scenario->power;
    if (is_any)
        check_throttled(resolver, at);
    if (is_any && draft->to.gpu == SIM_GPU_POWER_ALLOCATED)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "gpu"),
                         "power_cap and thermal follow what is used: gpu: used");
    if (!is_any && draft->to.control_ns != SIM_ABSENT_TIME)
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "control_period"),
                         "nothing is throttled: there is no power_cap and no thermal");
    if (power->gpu == SIM_ABSENT_COUNT)
        power->gpu = is_any ? SIM_GPU_POWER_USED : SIM_GPU_POWER_ALLOCATED;
    if (power->control_ns == SIM_ABSENT_TIME)
        power->control_ns = 0;
}
