/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading the parts of a decide document.
 */
#include "sim/cli/decide_input.h"

#include "sim/port/alloc_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

weir_status decide_get(const json_t *object, const char *key, json_t **value,
                       struct weir_error *error)
{
    json_t *const found = json_object_get(object, key);

    if (found == NULL || json_is_null(found))
        return weir_fail(error, WEIR_EFORMAT, "%s is missing", key);
    *value = found;
    return WEIR_OK;
}

weir_status decide_get_array(const json_t *object, const char *key, json_t **array,
                             struct weir_error *error)
{
    json_t *found = NULL;

    WEIR_TRY(decide_get(object, key, &found, error));
    if (!json_is_array(found))
        return weir_fail(error, WEIR_EFORMAT, "%s must be an array", key);
    *array = found;
    return WEIR_OK;
}

weir_status decide_get_number(const json_t *object, const char *key, double *value,
                              struct weir_error *error)
{
    json_t *found = NULL;

    WEIR_TRY(decide_get(object, key, &found, error));
    if (!json_is_number(found))
        return weir_fail(error, WEIR_EFORMAT, "%s must be a number", key);
    *value = json_number_value(found);
    return WEIR_OK;
}

weir_status decide_get_text(const json_t *object, const char *key, const char **text,
                            struct weir_error *error)
{
    json_t *found = NULL;

    WEIR_TRY(decide_get(object, key, &found, error));
    if (!json_is_string(found))
        return weir_fail(error, WEIR_EFORMAT, "%s must be a text", key);
    *text = json_string_value(found);
    return WEIR_OK;
}

double decide_number_or(const json_t *object, const char *key, double fallback)
{
    const json_t *const found = json_object_get(object, key);

    return json_is_number(found) ? json_number_value(found) : fallback;
}

bool decide_flag_or(const json_t *object, const char *key, bool fallback)
{
    const json_t *const found = json_object_get(object, key);

    return json_is_boolean(found) ? json_is_true(found) : fallback;
}

weir_status decide_units(double amount, int64_t *units, struct weir_error *error)
{
    return weir_units_from_amount(amount, WEIR_QUANTUM_EXACT, units, error);
}

weir_status decide_optional_units(const json_t *object, const char *key, int64_t *units,
                                  struct weir_error *error)
{
    const weir_status status = decide_units(decide_number_or(object, key, 0), units, error);

    if (status != WEIR_OK)
        weir_error_wrap(error, "%s", key);
    return status;
}

/* A whole number within [0, most]. */
static weir_status optional_count(const json_t *object, const char *key, double most,
                                  uint32_t *count, struct weir_error *error)
{
    const double value = decide_number_or(object, key, 0);

    if (!(value >= 0 && value <= most) || fabs(value - nearbyint(value)) > 0)
        return weir_fail(error, WEIR_EFORMAT, "%s must be whole and within [0, %g], got %g", key,
                         most, value);
    *count = (uint32_t)value;
    return WEIR_OK;
}

static weir_status shape_kind(const json_t *json, uint32_t *kind, struct weir_error *error)
{
    const char *type = "";

    WEIR_TRY(decide_get_text(json, "type", &type, error));
    for (uint32_t i = 0; i < WEIR_SHAPE_KIND_COUNT; i++) {
        if (strcmp(type, weir_shape_kind_name(i)) == 0) {
            *kind = i;
            return WEIR_OK;
        }
    }
    return weir_fail(error, WEIR_EFORMAT, "unknown type %s", type);
}

/* null for any, an index, or a list of indices for a set. */
static weir_status gpu_type(const json_t *json, uint32_t *type, struct weir_error *error)
{
    const bool is_set = json_is_array(json);

    *type = is_set ? WEIR_GPU_TYPE_SET : 0;
    if (json_is_integer(json) && json_integer_value(json) >= 0 &&
        json_integer_value(json) < WEIR_GPU_TYPE_SET - 1) {
        *type = (uint32_t)json_integer_value(json) + 1;
        return WEIR_OK;
    }
    for (size_t i = 0; i < json_array_size(json); i++) {
        const json_t *const entry = json_array_get(json, i);
        if (!json_is_integer(entry) || json_integer_value(entry) < 0 ||
            json_integer_value(entry) >= WEIR_GPU_TYPE_SET_MOST)
            return weir_fail(error, WEIR_EFORMAT, "gpu_type[%zu] must be whole and within [0, %d]",
                             i, WEIR_GPU_TYPE_SET_MOST - 1);
        *type |= UINT32_C(1) << json_integer_value(entry);
    }
    if (!is_set && json != NULL && !json_is_null(json))
        return weir_fail(error, WEIR_EFORMAT, "gpu_type must be an index of a type or a list");
    return WEIR_OK;
}

weir_status decide_shape(const json_t *json, struct weir_shape *shape, struct weir_error *error)
{
    struct weir_shape made = { .codec_same_gpu = decide_flag_or(json, "codec_same_gpu", false) };
    const double gpus = decide_number_or(json, "gpus", 0);

    WEIR_TRY(gpu_type(json_object_get(json, "gpu_type"), &made.gpu_type, error));
    WEIR_TRY(shape_kind(json, &made.kind, error));
    WEIR_TRY(decide_optional_units(json, "cpus", &made.cpu_units, error));
    WEIR_TRY(optional_count(json, "nvdecs", UINT32_MAX, &made.nvdecs, error));
    WEIR_TRY(optional_count(json, "nvencs", UINT32_MAX, &made.nvencs, error));
    made.ram_bytes = (int64_t)decide_number_or(json, "ram_bytes", 0);
    made.gpu_mem_bytes = (int64_t)decide_number_or(json, "gpu_mem_bytes", 0);
    if (made.kind == WEIR_SHAPE_FRACTIONAL) {
        made.gpu_count = 1;
        WEIR_TRY(decide_optional_units(json, "gpus", &made.gpu_units, error));
    } else if (made.kind != WEIR_SHAPE_CPU && made.kind != WEIR_SHAPE_CODEC) {
        made.gpu_units = WEIR_ONE;
        WEIR_TRY(optional_count(json, "nodes", UINT32_MAX, &made.node_count, error));
        WEIR_TRY(optional_count(json, "node_gpus", UINT32_MAX, &made.node_gpus, error));
        WEIR_TRY(optional_count(json, "gpus", UINT32_MAX, &made.gpu_count, error));
        if (made.gpu_count > WEIR_MAX_DEVICES)
            return weir_fail(error, WEIR_EUNSUPPORTED, "gpus must be <= %d, got %g",
                             WEIR_MAX_DEVICES, gpus);
    }
    WEIR_TRY(weir_shape_check(&made, error));
    *shape = made;
    return WEIR_OK;
}

static weir_status listed_gpu(const json_t *json, struct weir_gpu_spec *gpu,
                              struct weir_error *error)
{
    double fraction;

    WEIR_TRY(decide_get_number(json, "fraction", &fraction, error));
    WEIR_TRY(decide_units(fraction, &gpu->units, error));
    WEIR_TRY(optional_count(json, "nvdecs", WEIR_MAX_ENGINES, &gpu->nvdecs, error));
    WEIR_TRY(optional_count(json, "nvencs", WEIR_MAX_ENGINES, &gpu->nvencs, error));
    WEIR_TRY(optional_count(json, "type", UINT32_MAX - 1, &gpu->type, error));
    gpu->mem_bytes = (int64_t)decide_number_or(json, "mem_bytes", 0);
    return WEIR_OK;
}

static weir_status listed_gpus(const json_t *list, struct weir_gpu_spec *gpus, uint32_t *count,
                               struct weir_error *error)
{
    const size_t size = json_array_size(list);

    if (size > WEIR_MAX_NODE_GPUS)
        return weir_fail(error, WEIR_EUNSUPPORTED, "at most %d GPUs a node, got %zu",
                         WEIR_MAX_NODE_GPUS, size);
    for (size_t i = 0; i < size; i++) {
        const weir_status status = listed_gpu(json_array_get(list, i), &gpus[i], error);
        if (status != WEIR_OK) {
            weir_error_wrap(error, "gpu_list[%zu]", i);
            return status;
        }
    }
    *count = (uint32_t)size;
    return WEIR_OK;
}

weir_status decide_node(const json_t *json, uint64_t id, struct weir_gpu_spec *gpus,
                        struct weir_node_spec *spec, struct weir_error *error)
{
    struct weir_gpu_spec each = { .units = WEIR_ONE };
    const json_t *const list = json_object_get(json, "gpu_list");
    double cpus;

    *spec = (struct weir_node_spec){ .id = id, .gpus = gpus };
    memset(gpus, 0, WEIR_MAX_NODE_GPUS * sizeof *gpus);
    WEIR_TRY(decide_get_number(json, "cpus", &cpus, error));
    WEIR_TRY(decide_units(cpus, &spec->cpu_units, error));
    WEIR_TRY(optional_count(json, "type", UINT32_MAX - 1, &spec->type, error));
    spec->ram_bytes = (int64_t)decide_number_or(json, "ram_bytes", 0);
    if (json_is_array(list))
        return listed_gpus(list, gpus, &spec->gpu_count, error);
    WEIR_TRY(optional_count(json, "gpus", WEIR_MAX_NODE_GPUS, &spec->gpu_count, error));
    WEIR_TRY(optional_count(json, "nvdecs_per_gpu", WEIR_MAX_ENGINES, &each.nvdecs, error));
    WEIR_TRY(optional_count(json, "nvencs_per_gpu", WEIR_MAX_ENGINES, &each.nvencs, error));
    for (uint32_t i = 0; i < spec->gpu_count; i++)
        gpus[i] = each;
    return WEIR_OK;
}

const char *decide_name(const json_t *list, size_t index, const char *key)
{
    const json_t *const entry = json_array_get(list, index);
    const char *const name =
        json_string_value(json_is_string(entry) ? entry : json_object_get(entry, key));

    return name != NULL ? name : "?";
}

uint32_t decide_find(const json_t *list, const char *key, const char *name)
{
    const size_t size = json_array_size(list);

    for (size_t i = 0; i < size; i++) {
        if (strcmp(decide_name(list, i, key), name) == 0)
            return (uint32_t)i;
    }
    return WEIR_NO_INDEX;
}

weir_status decide_alloc(const json_t *worker, const json_t *nodes, struct weir_alloc *alloc,
                         struct weir_error *error)
{
    const char *node = "";

    memset(alloc, 0, sizeof *alloc);
    WEIR_TRY(decide_get_text(worker, "node", &node, error));
    alloc->node = decide_find(nodes, "id", node);
    if (alloc->node == WEIR_NO_INDEX)
        return weir_fail(error, WEIR_EFORMAT, "node %s is not listed", node);
    WEIR_TRY(decide_optional_units(worker, "cpus", &alloc->cpu_units, error));
    alloc->ram_bytes = (int64_t)decide_number_or(worker, "ram_bytes", 0);
    return sim_alloc_read_devices(worker, NULL, alloc, error);
}
