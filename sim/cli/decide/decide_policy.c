/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The policies of a decide document, and parts of answers that several commands share.
 */
#include "sim/cli/decide/decide_input.h"

#include "sim/scenario/read/diagnostic.h"
#include "sim/scenario/scenario.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 128 };

static weir_status param_value(const struct weir_param *param, const json_t *json, double *value,
                               struct weir_error *error)
{
    if (json_is_boolean(json))
        *value = json_is_true(json);
    else if (json_is_number(json))
        *value = json_number_value(json);
    else if (json_is_string(json) && param->kind == WEIR_PARAM_CHOICE)
        *value = decide_choice(param->choices, json_string_value(json));
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

static bool is_list(const struct weir_param *param)
{
    return param->kind == WEIR_PARAM_LIST || param->kind == WEIR_PARAM_TEXT;
}

/* How many numbers a list has: an array, or of a text its characters. */
static size_t list_count(const json_t *json)
{
    return json_is_string(json) ? json_string_length(json) : json_array_size(json);
}

static weir_status check_list(const struct weir_param *param, const json_t *json,
                              struct weir_error *error)
{
    const double count = (double)list_count(json);
    size_t place;
    const json_t *number;

    if (!json_is_array(json) && !(json_is_string(json) && param->kind == WEIR_PARAM_TEXT))
        return weir_fail(error, WEIR_EFORMAT, "%s must be a list of numbers%s", param->name,
                         param->kind == WEIR_PARAM_TEXT ? " or a text" : "");
    json_array_foreach(json, place, number) if (!json_is_number(number)) return weir_fail(
        error, WEIR_EFORMAT, "%s[%zu] must be a number", param->name, place);
    if (count < param->min || count > param->max)
        return weir_fail(error, WEIR_EFORMAT, "%s must have %g to %g numbers, got %g", param->name,
                         param->min, param->max, count);
    return WEIR_OK;
}

static void put_list(const json_t *json, struct decide_values *values)
{
    const size_t count = list_count(json);

    for (size_t i = 0; i < count; i++)
        values->all[values->count++] = json_is_string(json)
                                           ? (unsigned char)json_string_value(json)[i]
                                           : json_number_value(json_array_get(json, i));
}

/* What the object says of the parameters that are no lists; lists are counted. */
static weir_status single_values(const struct weir_param *table, uint32_t count, json_t *object,
                                 double *values, struct weir_error *error)
{
    void *entry = json_object_iter(object);

    for (; entry != NULL; entry = json_object_iter_next(object, entry)) {
        const char *const key = json_object_iter_key(entry);
        const json_t *const json = json_object_iter_value(entry);
        const uint32_t index = weir_param_find(table, count, key);
        if (table == NULL || index == WEIR_NO_INDEX)
            return weir_fail(error, WEIR_EFORMAT, "unknown parameter %s", key);
        if (!is_list(&table[index])) {
            WEIR_TRY(param_value(&table[index], json, &values[index], error));
            continue;
        }
        WEIR_TRY(check_list(&table[index], json, error));
        values[index] = (double)list_count(json);
    }
    return WEIR_OK;
}

/* Defaults first, then what the object says, then the numbers of its lists. */
static weir_status param_values(const struct weir_param *table, uint32_t count, json_t *object,
                                struct decide_values *values, struct weir_error *error)
{
    size_t room = count + 1;

    for (uint32_t i = 0; i < count; i++)
        room += is_list(&table[i]) ? list_count(json_object_get(object, table[i].name)) : 0;
    values->all = calloc(room, sizeof *values->all);
    if (values->all == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < count; i++)
        values->all[i] = table[i].initial;
    values->count = count;
    WEIR_TRY(single_values(table, count, object, values->all, error));
    for (uint32_t i = 0; i < count; i++)
        if (is_list(&table[i]))
            put_list(json_object_get(object, table[i].name), values);
    return WEIR_OK;
}

void decide_policy_clear(struct decide_policy *policy)
{
    free(policy->placement_values.all);
    free(policy->scaling_values.all);
    free(policy->queueing_values.all);
    free(policy->capacity_values.all);
}

/* Of the policies that are known, plug-ins included, the one of this name. */
#define FIND(kind, list)                                                                           \
    static const struct weir_##kind##_ops *find_##kind(const struct sim_policies *policies,        \
                                                       const char *name)                           \
    {                                                                                              \
        for (size_t i = 0; policies != NULL && i < policies->list##_count; i++)                    \
            if (strcmp(policies->list[i]->name, name) == 0)                                        \
                return policies->list[i];                                                          \
        return policies == NULL ? weir_##kind##_find(name) : NULL;                                 \
    }
FIND(placement, placements)
FIND(scaling, scalings)
FIND(queueing, queueings)
FIND(capacity, capacities)

/* Returns the parameters of the policy when it is there. */
#define PARAMS(kind_)                                                                              \
    if (strcmp(kind, #kind_) == 0) {                                                               \
        const struct weir_##kind_##_ops *const ops = find_##kind_(policies, name);                 \
        *params = ops == NULL ? NULL : ops->params;                                                \
        return ops == NULL ? 0 : ops->param_count;                                                 \
    }

uint32_t decide_params_of(const struct sim_policies *policies, const char *kind, const char *name,
                          const struct weir_param **params)
{
    PARAMS(placement)
    PARAMS(scaling)
    PARAMS(queueing)
    PARAMS(capacity)
    return 0;
}

/* The values that `KIND_params` gives to the policy that `KIND` names. */
static weir_status read_params(const struct decide_question *question, const json_t *given,
                               const char *kind, struct decide_values *values,
                               struct weir_error *error)
{
    const struct weir_param *params = NULL;
    const char *name = NULL;
    char key[32];

    WEIR_TRY(decide_get_text(given, kind, &name, error));
    const uint32_t count = decide_params_of(question->policies, kind, name, &params);
    (void)snprintf(key, sizeof key, "%s_params", kind);
    return decide_within(param_values(params, count, json_object_get(given, key), values, error),
                         error, "policy.%s", key);
}

/* Adds the names of a kind of policies, as many as fit. */
#define LIST_NAMES(kind, list)                                                                     \
    static size_t list_##kind(const struct sim_policies *policies, const char *names[MOST_NAMES])  \
    {                                                                                              \
        size_t count = 0;                                                                          \
        for (uint32_t i = 0; i < weir_##kind##_count() && count < MOST_NAMES; i++)                 \
            names[count++] = weir_##kind##_at(i)->name;                                            \
        for (size_t i = 0; policies != NULL && i < policies->list##_count && count < MOST_NAMES;   \
             i++)                                                                                  \
            names[count++] = policies->list[i]->name;                                              \
        return count;                                                                              \
    }
LIST_NAMES(placement, placements)
LIST_NAMES(scaling, scalings)
LIST_NAMES(queueing, queueings)
LIST_NAMES(capacity, capacities)

static weir_status unknown_policy(const struct sim_policies *policies, const char *key,
                                  const char *name, struct weir_error *error)
{
    const char *names[MOST_NAMES];
    const size_t count = strcmp(key, "placement") == 0  ? list_placement(policies, names)
                         : strcmp(key, "queueing") == 0 ? list_queueing(policies, names)
                         : strcmp(key, "capacity") == 0 ? list_capacity(policies, names)
                                                        : list_scaling(policies, names);
    const char *const near = sim_near_name(name, names, count);

    return weir_fail(error, WEIR_EFORMAT, "policy.%s: unknown policy %s%s%s%s", key, name,
                     near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                     near != NULL ? "'?" : "");
}

static weir_status find_all(const struct decide_question *question, const json_t *given,
                            struct decide_policy *policy, struct weir_error *error)
{
    const char *const queueing = json_string_value(json_object_get(given, "queueing"));
    const char *const fallback = json_string_value(json_object_get(given, "fallback"));
    const char *const capacity = json_string_value(json_object_get(given, "capacity"));
    const char *name;

    WEIR_TRY(decide_get_text(given, "placement", &name, error));
    policy->placement = find_placement(question->policies, name);
    if (policy->placement == NULL)
        return unknown_policy(question->policies, "placement", name, error);
    WEIR_TRY(decide_get_text(given, "scaling", &name, error));
    policy->scaling = find_scaling(question->policies, name);
    if (policy->scaling == NULL)
        return unknown_policy(question->policies, "scaling", name, error);
    policy->queueing = queueing == NULL ? NULL : find_queueing(question->policies, queueing);
    if (queueing != NULL && policy->queueing == NULL)
        return unknown_policy(question->policies, "queueing", queueing, error);
    policy->capacity = capacity == NULL ? NULL : find_capacity(question->policies, capacity);
    if (capacity != NULL && policy->capacity == NULL)
        return unknown_policy(question->policies, "capacity", capacity, error);
    policy->fallback = fallback == NULL ? NULL : find_scaling(question->policies, fallback);
    if (fallback != NULL && policy->fallback == NULL)
        return unknown_policy(question->policies, "fallback", fallback, error);
    return WEIR_OK;
}

weir_status decide_policy(const struct decide_question *question, struct decide_policy *policy,
                          struct weir_error *error)
{
    json_t *given;

    *policy = (struct decide_policy){ .placement = NULL };
    WEIR_TRY(decide_get(question->input, "policy", &given, error));
    WEIR_TRY(find_all(question, given, policy, error));
    WEIR_TRY(read_params(question, given, "placement", &policy->placement_values, error));
    WEIR_TRY(read_params(question, given, "scaling", &policy->scaling_values, error));
    if (policy->queueing != NULL)
        WEIR_TRY(read_params(question, given, "queueing", &policy->queueing_values, error));
    return policy->capacity == NULL
               ? WEIR_OK
               : read_params(question, given, "capacity", &policy->capacity_values, error);
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
