/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Loading plug-ins (see plugin.h). A name that a built-in has already is refused. */
#include "sim/cli/plugin.h"

#include "sim/cli/options.h"
#include "sim/engine/nearest.h"
#include "sim/port/command_policy.h"
#include "sim/port/module.h"
#include "sim/scenario/policies.h"

#include <stdlib.h>
#include <string.h>

/* One function a kind: appends a policy whose name is free. */
#define ADD_POLICY(kind, list)                                                                     \
    static weir_status add_##kind(struct sim_policies *policies,                                   \
                                  const struct weir_##kind##_ops *ops, struct weir_error *error)   \
    {                                                                                              \
        for (size_t i = 0; i < policies->list##_count; i++)                                        \
            if (strcmp(policies->list[i]->name, ops->name) == 0)                                   \
                return weir_fail(error, WEIR_EDUPLICATE, "a " #kind " policy '%s' exists already", \
                                 ops->name);                                                       \
        const struct weir_##kind##_ops **grown =                                                   \
            reallocarray(policies->list, policies->list##_count + 1, sizeof ops);                  \
        if (grown == NULL)                                                                         \
            return weir_fail(error, WEIR_ENOMEM, "out of memory");                                 \
        grown[policies->list##_count++] = ops;                                                     \
        policies->list = grown;                                                                    \
        return WEIR_OK;                                                                            \
    }

ADD_POLICY(placement, placements)
ADD_POLICY(scaling, scalings)
ADD_POLICY(queueing, queueings)
ADD_POLICY(capacity, capacities)

static weir_status add_module(struct sim_policies *policies, const struct weir_module *module,
                              struct weir_error *error)
{
    for (size_t i = 0; module->placements != NULL && module->placements[i] != NULL; i++)
        WEIR_TRY(add_placement(policies, module->placements[i], error));
    for (size_t i = 0; module->scalings != NULL && module->scalings[i] != NULL; i++)
        WEIR_TRY(add_scaling(policies, module->scalings[i], error));
    const struct weir_queueing_ops *const *queueings = weir_module_queueings(module);
    for (size_t i = 0; queueings != NULL && queueings[i] != NULL; i++)
        WEIR_TRY(add_queueing(policies, queueings[i], error));
    const struct weir_capacity_ops *const *capacities = weir_module_capacities(module);
    for (size_t i = 0; capacities != NULL && capacities[i] != NULL; i++)
        WEIR_TRY(add_capacity(policies, capacities[i], error));
    return WEIR_OK;
}

/* Its policies stay in a process of their own; stand-ins are here. */
static weir_status add_described(const char *path, bool in_process, struct sim_policies *policies,
                                 struct weir_error *error)
{
    const struct weir_module *loaded = NULL;
    struct sim_module *module = NULL;
    struct sim_module **grown =
        reallocarray(policies->modules, policies->modules_count + 1, sizeof(struct sim_module *));
    if (grown == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    policies->modules = grown;
    WEIR_TRY(sim_module_describe(path, &module, error));
    grown[policies->modules_count++] = module;
    if (!in_process)
        return add_module(policies, sim_module_policies(module), error);
    WEIR_TRY(sim_module_load(path, &loaded, error));
    return add_module(policies, loaded, error);
}

int sim_plugins_load(const struct sim_words *paths, bool in_process, struct sim_policies *policies)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    weir_status status = WEIR_OK;
    *policies = (struct sim_policies){ 0 };
    for (uint32_t i = 0; i < weir_placement_count() && status == WEIR_OK; i++)
        status = add_placement(policies, weir_placement_at(i), &error);
    for (uint32_t i = 0; i < weir_scaling_count() && status == WEIR_OK; i++)
        status = add_scaling(policies, weir_scaling_at(i), &error);
    for (uint32_t i = 0; i < weir_queueing_count() && status == WEIR_OK; i++)
        status = add_queueing(policies, weir_queueing_at(i), &error);
    for (uint32_t i = 0; i < weir_capacity_count() && status == WEIR_OK; i++)
        status = add_capacity(policies, weir_capacity_at(i), &error);
    if (status == WEIR_OK)
        status = add_scaling(policies, &sim_command_scaling, &error);
    if (status == WEIR_OK)
        status = add_placement(policies, &sim_command_placement, &error);
    if (status == WEIR_OK)
        status = add_queueing(policies, &sim_command_queueing, &error);
    for (size_t i = 0; i < paths->count && status == WEIR_OK; i++) {
        status = add_described(paths->items[i], in_process, policies, &error);
        if (status != WEIR_OK)
            weir_error_wrap(&error, "--plugin %s", paths->items[i]);
    }
    if (status == WEIR_OK)
        return SIM_EXIT_OK;
    (void)fprintf(stderr, "weir: %s\n", error.text);
    sim_plugins_clear(policies);
    return SIM_EXIT_POLICY;
}

void sim_policies_refuse(const char *who, const struct sim_policies *policies, const char *name)
{
    const struct sim_word word = { name, strlen(name) };
    const char *near = NULL;
    for (uint32_t kind = 0; kind < SIM_POLICY_KINDS; kind++)
        for (size_t i = 0; i < sim_policy_count(policies, kind); i++)
            near = sim_nearer(word, near, sim_policy_at(policies, kind, i, NULL).name);
    (void)fprintf(stderr, "%s: there is no policy '%s'%s%s%s (weir list policies)\n", who, name,
                  near == NULL ? "" : "; did you mean '", near == NULL ? "" : near,
                  near == NULL ? "" : "'?");
}

void sim_plugins_clear(struct sim_policies *policies)
{
    free(policies->placements);
    free(policies->scalings);
    free(policies->queueings);
    free(policies->capacities);
    for (size_t i = 0; i < policies->modules_count; i++)
        sim_module_destroy(policies->modules[i]);
    free(policies->modules);
    *policies = (struct sim_policies){ 0 };
}
