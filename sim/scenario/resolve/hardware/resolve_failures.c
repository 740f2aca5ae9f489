/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving failures: laws as written, and for `rates: default` those of the table below for what
 * is not written. A law of a repair without one of failures means nothing and is refused.
 */
#include "sim/scenario/resolve/resolve.h"

#include <stdio.h>

/* Keys, and default laws in seconds. GPU: 268 of the 419 unplanned interruptions of 16 384 H100 in
 * 54 days (Llama 3) were theirs, one in 79 230 h of a GPU; repair as on Delta (arXiv 2503.11901),
 * 2.2 h. Node: maintenance, power supplies, disks, CPUs and memory of the same counts, one in
 * 63 105 h of a node; to swap a host takes a day (a guess). Switch: crashes of ToR switches
 * (Alibaba HPN), one in 1.43 million hours; 2 h are a guess. Rack: a guess, once in five years, for
 * 0.5 to 4 h. Link: 0.057 % of links from NIC to switch fail in a month (Alibaba HPN), one in 1.28
 * million hours; 2 h are a guess. Stores differ too much for a default. Of stragglers only shares
 * of jobs are published: they have no default. */
static const struct {
    const char *between_key, *repair_key;
    const char *between, *repair;
} kinds[SIM_FAULTS] = {
    [SIM_FAULT_NODE] = { "node_between", "node_repair", "exp(227178000)", "exp(86400)" },
    [SIM_FAULT_GPU] = { "gpu_between", "gpu_repair", "exp(285228000)", "exp(7920)" },
    [SIM_FAULT_SWITCH] = { "switch_between", "switch_repair", "exp(5148000000)", "exp(7200)" },
    [SIM_FAULT_RACK] = { "rack_between", "rack_repair", "exp(157788000)", "uniform(1800, 14400)" },
    [SIM_FAULT_LINK] = { "link_between", "link_repair", "exp(4618800000)", "exp(7200)" },
    [SIM_FAULT_STORE] = { "store_between", "store_repair", NULL, NULL },
    [SIM_FAULT_SLOW] = { "slow_between", "slow_for", NULL, NULL },
    [SIM_FAULT_GPU_SLOW] = { "gpu_slow_between", "gpu_slow_for", NULL, NULL },
};
/* A health sweep every 5 minutes (arXiv 2410.21680). */
static const char DETECTION[] = "uniform(0, 300)";
enum { SWITCH_NODES = 16, RACK_NODES = 4 }; /* guesses */

/* A key that needs another. */
static void check_needs(struct sim_resolver *resolver, const char *key, const struct sim_law *law,
                        const char *needs)
{
    const struct draft_head *head = &resolver->draft->cluster.failures.head;
    if (law == NULL && sim_yaml_get(head->node, key) != NULL)
        sim_report_error(resolver->report, sim_draft_at(head, key), "%s has no meaning without %s",
                         key, needs);
}

static void resolve_kind(struct sim_resolver *resolver, size_t kind)
{
    const struct draft_failures *draft = &resolver->draft->cluster.failures;
    struct sim_failure_law *laws = &resolver->scenario->failures.of[kind];
    if (draft->rates == DRAFT_RATES_DEFAULT && laws->between == NULL && kinds[kind].between) {
        laws->between = sim_resolve_constant(resolver, kinds[kind].between);
        if (laws->repair == NULL)
            laws->repair = sim_resolve_constant(resolver, kinds[kind].repair);
    }
    check_needs(resolver, kinds[kind].repair_key, laws->between, kinds[kind].between_key);
    if (laws->between != NULL && !(sim_law_mean(laws->between) > 0))
        sim_report_error(resolver->report, sim_draft_at(&draft->head, kinds[kind].between_key),
                         "mean must be > 0, got %g", sim_law_mean(laws->between));
}

/* What fails has to be there. */
static void check_there(struct sim_resolver *resolver, size_t kind, bool is_there, const char *what)
{
    const struct draft_head *head = &resolver->draft->cluster.failures.head;
    const char *key = kinds[kind].between_key;
    if (!is_there && sim_yaml_get(head->node, key) != NULL)
        sim_report_error(resolver->report, sim_draft_at(head, key), "the cluster has no %s", what);
}

static bool has_nic(const struct sim_scenario *scenario)
{
    for (size_t t = 0; t < scenario->node_types_count; t++)
        if (scenario->node_types[t].nic_per_s > 0)
            return true;
    return false;
}

static uint32_t count_or(uint32_t given, uint32_t initial)
{
    return given == SIM_ABSENT_COUNT ? initial : given;
}

void sim_resolve_failures(struct sim_resolver *resolver)
{
    const struct draft_failures *draft = &resolver->draft->cluster.failures;
    struct sim_failures *failures = &resolver->scenario->failures;
    *failures = draft->to;
    for (size_t kind = 0; kind < SIM_FAULTS; kind++)
        resolve_kind(resolver, kind);
    check_there(resolver, SIM_FAULT_LINK, has_nic(resolver->scenario), "nic");
    check_there(resolver, SIM_FAULT_STORE, resolver->scenario->stores_count > 0, "stores");
    failures->switch_nodes = count_or(draft->to.switch_nodes, SWITCH_NODES);
    failures->rack_nodes = count_or(draft->to.rack_nodes, RACK_NODES);
    if (draft->rates == DRAFT_RATES_DEFAULT && failures->detection == NULL)
        failures->detection = sim_resolve_constant(resolver, DETECTION);
    check_needs(resolver, "switch_nodes", failures->of[SIM_FAULT_SWITCH].between, "switch_between");
    check_needs(resolver, "rack_nodes", failures->of[SIM_FAULT_RACK].between, "rack_between");
    if (failures->of[SIM_FAULT_GPU_SLOW].between == NULL)
        check_needs(resolver, "slow_factor", failures->of[SIM_FAULT_SLOW].between,
                    "slow_between or gpu_slow_between");
    if (failures->slow_factor == NULL)
        failures->slow_factor = sim_resolve_constant(resolver, "const(2)");
    else if (!(sim_law_mean(failures->slow_factor) > 0))
        sim_report_error(resolver->report, sim_draft_at(&draft->head, "slow_factor"),
                         "mean must be > 0, got %g", sim_law_mean(failures->slow_factor));
}
