/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Resolving nodes that come and go: the supply of a group, and whether somebody asks for it.
 *
 * A group has as many nodes as there may be; those beyond `count` are not there at the start. Of a
 * capacity policy with timers it warns of settings that make nodes come and go for nothing.
 */
#include "sim/scenario/resolve/resolve.h"

#include <math.h>
#include <string.h>

static void report_count(struct sim_resolver *resolver, const struct draft_node_group *group,
                         const struct sim_supply *supply)
{
    const struct sim_yaml *at = sim_draft_at(&group->head, "count");
    if (supply->max == 0 && supply->initial == 0)
        sim_report_error(resolver->report, at, "must be >= 1 without a supply, got 0");
    else if (supply->max > 0 && supply->initial > supply->max)
        sim_report_error(resolver->report, at, "%u nodes at the start, the supply has %u at most",
                         supply->initial, supply->max);
    else if (supply->max > 0 && supply->initial < supply->min)
        sim_report_error(resolver->report, at, "%u nodes at the start, the supply has %u at least",
                         supply->initial, supply->min);
}

static double number_or(double given, double usual)
{
    return isnan(given) ? usual : given;
}

static struct sim_spot spot_of(const struct sim_spot *given)
{
    static const int64_t usual_step_ns = INT64_C(600000000000);
    return (struct sim_spot){
        .hazard_per_s = number_or(given->hazard_per_s, 0),
        .pressure = number_or(given->pressure, 1),
        .volatility = number_or(given->volatility, 0),
        .correlation = number_or(given->correlation, 0.9),
        .step_ns = given->step_ns == SIM_ABSENT_TIME ? usual_step_ns : given->step_ns,
        .price = number_or(given->price, 1),
        .notice_ns = given->notice_ns == SIM_ABSENT_TIME ? 0 : given->notice_ns
    };
}

struct sim_supply sim_resolve_supply(struct sim_resolver *resolver,
                                     const struct draft_node_group *group)
{
    const bool is_there = group->supply.head.node != NULL;
    struct sim_supply supply = { .max = 0 };
    if (is_there) {
        supply = group->supply.to;
        supply.spot = spot_of(&group->supply.spot.to);
    }
    if (is_there && supply.min == SIM_ABSENT_COUNT)
        supply.min = 0;
    if (is_there && isnan(supply.launch_failure))
        supply.launch_failure = 0;
    supply.initial = group->count == SIM_ABSENT_COUNT ? 1 : group->count;
    if (is_there && supply.max == SIM_ABSENT_COUNT) /* reported, and nothing follows from it */
        supply.max = supply.initial > 0 ? supply.initial : 1;
    report_count(resolver, group, &supply);
    return supply;
}

/* ---- who asks ---- */

/* The value of a parameter of the policy; NAN = it has none of that name. */
static double value_of(const struct sim_policy_choice *choice, const char *name)
{
    const struct weir_capacity_ops *ops = choice->capacity;
    const uint32_t at = weir_param_find(ops->params, ops->param_count, name);
    return at == WEIR_NO_INDEX ? (double)NAN : choice->values[at];
}

static const struct sim_yaml *key_at(const struct draft_policy *draft, const char *name)
{
    const struct sim_yaml *node = draft->head.node;
    const bool is_mapping = node != NULL && node->kind == SIM_YAML_MAPPING;
    const struct sim_yaml *key = is_mapping ? sim_yaml_get(node, name) : NULL;
    return key == NULL ? node : key;
}

static void warn_of_range(struct sim_resolver *resolver, const struct draft_policy *draft,
                          const char *name, double least_min, double most_min)
{
    const double value_min = value_of(&draft->choice, name) / 60;
    if (value_min < least_min || value_min > most_min)
        sim_report_warning(resolver->report, key_at(draft, name),
                           "%s is %.4g min; %g to %g min are usual", name, value_min, least_min,
                           most_min);
}

static void warn_of_timers(struct sim_resolver *resolver, const struct draft_policy *draft)
{
    const double up_s = value_of(&draft->choice, "t_up");
    const double down_s = value_of(&draft->choice, "t_down");
    if (down_s < 3 * up_s)
        sim_report_warning(resolver->report, key_at(draft, "t_down"),
                           "t_down (%.4g s) is below 3 x t_up (%.4g s): nodes may come and go with "
                           "every wave of the load",
                           down_s, up_s);
    warn_of_range(resolver, draft, "cooldown_out", 5, 15);
    warn_of_range(resolver, draft, "cooldown_in", 10, 30);
}

void sim_resolve_capacity(struct sim_resolver *resolver)
{
    const struct draft_policy *draft = &resolver->draft->sched.capacity;
    const struct weir_capacity_ops *ops = draft->choice.capacity;
    bool has_supply = false;
    for (size_t g = 0; g < resolver->scenario->node_groups_count; g++)
        has_supply = has_supply || resolver->scenario->node_groups[g].supply.max > 0;
    if (ops == NULL || ops->decide == NULL || resolver->is_hardware_unclear)
        return;
    if (!has_supply)
        sim_report_error(resolver->report, draft->head.node,
                         "the policy %s asks for nodes, and no group of cluster.nodes has a supply",
                         ops->name);
    warn_of_timers(resolver, draft);
}
