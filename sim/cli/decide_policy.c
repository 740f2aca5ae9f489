/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The policies of a decide document, and parts of answers that several commands share.
 */
#include "sim/cli/decide_input.h"

#include "sim/scenario/scenario.h"

#include <math.h>
#include <string.h>

/* Index of `word` among words separated by '|', or -1. */
static int choice_index(const char *choices, const char *word)
{
    const size_t length = strlen(word);
    int index = 0;

    for (const char *at = choices; at != NULL; index++) {
        if (strcspn(at, "|") == length && strncmp(at, word, length) == 0)
            return index;
        at = strchr(at, '|');
        if (at != NULL)
            at++;
    }
    return -1;
}

static weir_status param_value(const struct weir_param *param, const json_t *json, double *value,
                               struct weir_error *error)
{
    if (json_is_boolean(json))
        *value = json_is_true(json);
    else if (json_is_number(json))
        *value = json_number_value(json);
    else if (json_is_string(json) && param->kind == WEIR_PARAM_CHOICE)
        *value = choice_index(param->choices, json_string_value(json));
    else
        return weir_fail(error, WEIR_EFORMAT, "%s must be a number, a flag or a choice",
                         param->name);
    if (!(*value >= param->min && *value <= param->max)) {
        if (param->kind == WEIR_PARAM_CHOICE)
            return weir_fail(error, WEIR_EFORMAT, "%s must be one of %s", param->name,
                             param->choices);
        return weir_fail(error, WEIR_EFORMAT, "%s must be within [%g, %g], got %g", param->name,
                         param->min, param->max, *value);
    }
    return WEIR_OK;
}

/* Defaults first, then what the object says. */
static weir_status param_values(const struct weir_param *table, uint32_t count, json_t *object,
                                double *values, struct weir_error *error)
{
    if (count > DECIDE_MAX_PARAMS)
        return weir_fail(error, WEIR_EUNSUPPORTED, "more than %d parameters", DECIDE_MAX_PARAMS);
    for (uint32_t i = 0; i < count; i++)
        values[i] = table[i].initial;
    if (object == NULL)
        return WEIR_OK;
    void *entry = json_object_iter(object);
    for (; entry != NULL; entry = json_object_iter_next(object, entry)) {
        const char *const key = json_object_iter_key(entry);
        const json_t *const json = json_object_iter_value(entry);
        const uint32_t index = weir_param_find(table, count, key);
        if (index == WEIR_NO_INDEX)
            return weir_fail(error, WEIR_EFORMAT, "unknown parameter %s", key);
        WEIR_TRY(param_value(&table[index], json, &values[index], error));
    }
    return WEIR_OK;
}

static const struct weir_placement_ops *find_placement(const struct sim_policies *policies,
                                                       const char *name)
{
    for (size_t i = 0; policies != NULL && i < policies->placements_count; i++) {
        if (strcmp(policies->placements[i]->name, name) == 0)
            return policies->placements[i];
    }
    return policies == NULL ? weir_placement_find(name) : NULL;
}

static const struct weir_scaling_ops *find_scaling(const struct sim_policies *policies,
                                                   const char *name)
{
    for (size_t i = 0; policies != NULL && i < policies->scalings_count; i++) {
        if (strcmp(policies->scalings[i]->name, name) == 0)
            return policies->scalings[i];
    }
    return policies == NULL ? weir_scaling_find(name) : NULL;
}

uint32_t decide_params_of(const struct sim_policies *policies, bool is_placement, const char *name,
                          const struct weir_param **params)
{
    const struct weir_placement_ops *const placement =
        is_placement ? find_placement(policies, name) : NULL;
    const struct weir_scaling_ops *const scaling =
        is_placement ? NULL : find_scaling(policies, name);

    if (placement != NULL)
        *params = placement->params;
    else if (scaling != NULL)
        *params = scaling->params;
    else
        return 0;
    return placement != NULL ? placement->param_count : scaling->param_count;
}

weir_status decide_policy(const struct decide_question *question, struct decide_policy *policy,
                          struct weir_error *error)
{
    const char *placement;
    const char *scaling;
    json_t *given;

    WEIR_TRY(decide_get(question->input, "policy", &given, error));
    WEIR_TRY(decide_get_text(given, "placement", &placement, error));
    WEIR_TRY(decide_get_text(given, "scaling", &scaling, error));
    policy->placement = find_placement(question->policies, placement);
    policy->scaling = find_scaling(question->policies, scaling);
    if (policy->placement == NULL)
        return weir_fail(error, WEIR_EFORMAT, "policy.placement: unknown policy %s", placement);
    if (policy->scaling == NULL)
        return weir_fail(error, WEIR_EFORMAT, "policy.scaling: unknown policy %s", scaling);
    weir_status status =
        param_values(policy->placement->params, policy->placement->param_count,
                     json_object_get(given, "placement_params"), policy->placement_values, error);
    if (status != WEIR_OK) {
        weir_error_wrap(error, "policy.placement_params");
        return status;
    }
    status = param_values(policy->scaling->params, policy->scaling->param_count,
                          json_object_get(given, "scaling_params"), policy->scaling_values, error);
    if (status != WEIR_OK)
        weir_error_wrap(error, "policy.scaling_params");
    return status;
}

static json_t *engines_json(const struct weir_alloc *alloc, bool encoders)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < alloc->device_count; i++) {
        const struct weir_device *const device = &alloc->devices[i];
        uint32_t mask = encoders ? device->nvenc_mask : device->nvdec_mask;
        for (; mask != 0; mask &= mask - 1)
            json_array_append_new(list, json_pack("{s:i, s:i}", "gpu", (int)device->gpu, "index",
                                                  __builtin_ctz(mask)));
    }
    return list;
}

json_t *decide_alloc_json(const struct weir_alloc *alloc, const json_t *nodes, const char *id)
{
    json_t *const gpus = json_array();

    for (uint32_t i = 0; i < alloc->device_count; i++) {
        const struct weir_device *const device = &alloc->devices[i];
        if (device->units > 0)
            json_array_append_new(gpus, json_pack("{s:i, s:f}", "gpu", (int)device->gpu, "fraction",
                                                  weir_units_amount(device->units)));
    }
    json_t *const json =
        json_pack("{s:s, s:f, s:o, s:o, s:o}", "node", decide_name(nodes, alloc->node, "id"),
                  "cpus", weir_units_amount(alloc->cpu_units), "gpus", gpus, "nvdecs",
                  engines_json(alloc, false), "nvencs", engines_json(alloc, true));
    if (id != NULL)
        json_object_set_new(json, "id", json_string(id));
    return json;
}

static json_t *mask_json(uint32_t mask)
{
    json_t *const list = json_array();

    for (; mask != 0; mask &= mask - 1)
        json_array_append_new(list, json_integer(__builtin_ctz(mask)));
    return list;
}

json_t *decide_available(const struct weir_cluster *cluster, const json_t *nodes)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < weir_cluster_node_count(cluster); i++) {
        const struct weir_node *const node = weir_cluster_node(cluster, i);
        json_t *const gpus = json_array();
        for (uint32_t g = 0; g < node->gpu_count; g++) {
            const struct weir_gpu *const gpu = weir_cluster_gpu(cluster, i, g);
            json_array_append_new(gpus, json_pack("{s:f, s:o, s:o}", "fraction",
                                                  weir_units_amount(gpu->units_free), "nvdecs",
                                                  mask_json(gpu->nvdec_free), "nvencs",
                                                  mask_json(gpu->nvenc_free)));
        }
        json_array_append_new(list,
                              json_pack("{s:s, s:f, s:o}", "node", decide_name(nodes, i, "id"),
                                        "cpus", weir_units_amount(node->cpu_free), "gpus", gpus));
    }
    return list;
}

#define STATUS_NAME(name, value, text)                                                             \
    case name:                                                                                     \
        return #name;

static const char *status_name(weir_status status)
{
    switch (status) {
        WEIR_STATUSES(STATUS_NAME)
    }
    return "?";
}

json_t *decide_error_json(weir_status status, const struct weir_error *error)
{
    return json_pack("{s:s, s:s, s:i, s:s}", "status", "error", "error_type", status_name(status),
                     "error_phase", (int)(error->phase < 0 ? 0 : error->phase), "error_message",
                     error->text);
}
