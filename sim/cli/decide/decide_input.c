/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading the parts of a decide document.
 */
#include "sim/cli/decide/decide_input.h"

#include "sim/cli/decide/decide_format.h"
#include "sim/port/alloc_json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

weir_status decide_within(weir_status status, struct weir_error *error, const char *format, ...)
{
    char place[96];
    va_list arguments;

    if (status == WEIR_OK)
        return status;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): the line above begins it */
    (void)vsnprintf(place, sizeof place, format, arguments);
    va_end(arguments);
    weir_error_wrap(error, "%s", place);
    return status;
}

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

bool decide_word(const json_t *value, uint64_t *word)
{
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *word = (uint64_t)json_integer_value(value);
        return true;
    }
    return decide_digits(json_string_value(value), word);
}

bool decide_digits(const char *text, uint64_t *word)
{
    char *end = NULL;

    if (text == NULL || text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    *word = strtoull(text, &end, 10);
    return *end == '\0' && errno == 0;
}

int decide_choice(const char *choices, const char *word)
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

/* ---- by the tables ---- */

static weir_status read_number(const struct decide_key *key, const json_t *value, void *to,
                               struct weir_error *error)
{
    const double number = json_number_value(value);
    const double most = key->most > 0 ? key->most : (double)INFINITY;

    if (!json_is_number(value))
        return weir_fail(error, WEIR_EFORMAT, "%s must be a number", key->name);
    if (!(number >= key->least && number <= most))
        return weir_fail(error, WEIR_EFORMAT, "%s must be within [%g, %g], got %g", key->name,
                         key->least, most, number);
    if (key->kind == DECIDE_NUMBER)
        *(double *)to = number;
    if (key->kind == DECIDE_NUMBER)
        return WEIR_OK;
    if (key->kind == DECIDE_UNITS) {
        return decide_within(decide_units(number, to, error), error, "%s", key->name);
    }
    if (fabs(number - nearbyint(number)) > 0)
        return weir_fail(error, WEIR_EFORMAT, "%s must be whole, got %g", key->name, number);
    if (key->kind == DECIDE_COUNT)
        *(uint32_t *)to = (uint32_t)number;
    else
        *(int64_t *)to = json_is_integer(value) ? json_integer_value(value) : (int64_t)number;
    return WEIR_OK;
}

static weir_status read_choice(const struct decide_key *key, const json_t *value, uint32_t *to,
                               struct weir_error *error)
{
    const char *const word = json_string_value(value);
    const int index = word == NULL ? -1 : decide_choice(key->choices, word);

    if (index < 0)
        return weir_fail(error, WEIR_EFORMAT, "%s must be one of %s", key->name, key->choices);
    *to = (uint32_t)index;
    return WEIR_OK;
}

static weir_status read_value(const struct decide_key *key, const json_t *value, void *to,
                              struct weir_error *error)
{
    switch (key->kind) {
    case DECIDE_NUMBER:
    case DECIDE_UNITS:
    case DECIDE_COUNT:
    case DECIDE_WHOLE:
        return read_number(key, value, to, error);
    case DECIDE_WORD:
        return decide_word(value, to)
                   ? WEIR_OK
                   : weir_fail(error, WEIR_EFORMAT, "%s must be a whole number", key->name);
    case DECIDE_FLAG:
        *(uint32_t *)to = json_is_true(value);
        return WEIR_OK;
    case DECIDE_CHOICE:
        return read_choice(key, value, to, error);
    case DECIDE_TEXT:
    case DECIDE_NAME:
        if (!json_is_string(value))
            return weir_fail(error, WEIR_EFORMAT, "%s must be a text", key->name);
        if (key->kind == DECIDE_TEXT)
            *(const char **)to = json_string_value(value);
        else
            (void)snprintf(to, WEIR_MIG_NAME, "%s", json_string_value(value));
        return WEIR_OK;
    case DECIDE_ID:
    case DECIDE_OBJECT:
    case DECIDE_LIST:
    case DECIDE_PARAMS:
    case DECIDE_TYPES:
        break;
    }
    return WEIR_EINVARIANT; /* these have no field */
}

weir_status decide_read(const json_t *object, const struct decide_keys *keys, void *into,
                        struct weir_error *error)
{
    for (size_t i = 0; i < keys->count; i++) {
        const struct decide_key *const key = &keys->keys[i];
        const json_t *const value = json_object_get(object, key->name);
        if (key->field == 0 || (!key->is_required && (value == NULL || json_is_null(value))))
            continue;
        if (value == NULL || json_is_null(value))
            return weir_fail(error, WEIR_EFORMAT, "%s is missing", key->name);
        WEIR_TRY(read_value(key, value, (char *)into + key->field - 1, error));
    }
    return WEIR_OK;
}

/* ---- amounts and shapes ---- */

weir_status decide_units(double amount, int64_t *units, struct weir_error *error)
{
    return weir_units_from_amount(amount, WEIR_QUANTUM_EXACT, units, error);
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

/* Ranks and shares of GPUs, by what the shape is. */
static weir_status count_gpus(const struct decide_shape *read, struct weir_shape *shape,
                              struct weir_error *error)
{
    const bool is_share = shape->kind == WEIR_SHAPE_FRACTIONAL || shape->kind == WEIR_SHAPE_SLICE;

    if (shape->kind == WEIR_SHAPE_CPU || shape->kind == WEIR_SHAPE_CODEC)
        return WEIR_OK;
    if (is_share) {
        shape->gpu_count = 1;
        return decide_within(decide_units(read->gpus, &shape->gpu_units, error), error, "gpus");
    }
    if (fabs(read->gpus - nearbyint(read->gpus)) > 0)
        return weir_fail(error, WEIR_EFORMAT, "gpus must be whole, got %g", read->gpus);
    if (!(read->gpus >= 0 && read->gpus <= WEIR_MAX_DEVICES))
        return weir_fail(error, WEIR_EUNSUPPORTED, "gpus must be <= %d, got %g", WEIR_MAX_DEVICES,
                         read->gpus);
    shape->gpu_units = WEIR_ONE;
    shape->gpu_count = (uint32_t)read->gpus;
    return WEIR_OK;
}

uint32_t decide_labels(const json_t *object, const char *key)
{
    const json_t *const list = json_object_get(object, key);
    uint32_t labels = 0;

    for (size_t i = 0; i < json_array_size(list); i++)
        labels |= UINT32_C(1) << json_integer_value(json_array_get(list, i));
    return labels;
}

weir_status decide_shape(const json_t *json, struct weir_shape *shape, struct weir_error *error)
{
    struct decide_shape read = { .gpus = 0 };

    WEIR_TRY(decide_read(json, &decide_shape_keys, &read, error));
    WEIR_TRY(gpu_type(json_object_get(json, "gpu_type"), &read.shape.gpu_type, error));
    WEIR_TRY(count_gpus(&read, &read.shape, error));
    read.shape.labels = decide_labels(json, "labels");
    if (read.borrows != 0)
        read.shape.labels |= WEIR_LABEL_KEPT;
    WEIR_TRY(weir_shape_check(&read.shape, error));
    *shape = read.shape;
    return WEIR_OK;
}

weir_status decide_shape_of(const json_t *object, struct weir_shape *shape,
                            struct weir_error *error)
{
    json_t *json = NULL;

    WEIR_TRY(decide_get(object, "shape", &json, error));
    return decide_within(decide_shape(json, shape, error), error, "shape");
}

/* ---- nodes ---- */

weir_status decide_layout(const json_t *list, weir_mig_layout *layout, struct weir_error *error)
{
    *layout = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct decide_instance instance = { .profile = 0 };
        WEIR_TRY(decide_read(json_array_get(list, i), &decide_instance_keys, &instance, error));
        if (weir_mig_at(*layout, instance.start) >= 0)
            return weir_fail(error, WEIR_EFORMAT, "cut[%zu]: another instance begins there", i);
        *layout |= weir_mig_instance(instance.profile, instance.start);
    }
    return WEIR_OK;
}

static weir_status read_profile(const json_t *json, struct weir_mig_profile *profile,
                                struct weir_error *error)
{
    const json_t *const starts = json_object_get(json, "starts");

    WEIR_TRY(decide_read(json, &decide_profile_keys, profile, error));
    for (size_t i = 0; i < json_array_size(starts); i++)
        profile->starts |= UINT32_C(1) << json_integer_value(json_array_get(starts, i));
    return WEIR_OK;
}

weir_status decide_table(const json_t *json, struct weir_mig *table, struct weir_error *error)
{
    const json_t *const profiles = json_object_get(json, "profiles");

    *table = (struct weir_mig){ .profile_count = (uint32_t)json_array_size(profiles) };
    if (json_array_size(profiles) > WEIR_MIG_PROFILES)
        return weir_fail(error, WEIR_EFORMAT, "profiles: at most %d are possible",
                         WEIR_MIG_PROFILES);
    WEIR_TRY(decide_read(json, &decide_table_keys, table, error));
    for (uint32_t i = 0; i < table->profile_count; i++) {
        WEIR_TRY(
            decide_within(read_profile(json_array_get(profiles, i), &table->profiles[i], error),
                          error, "profiles[%u]", i));
    }
    return weir_mig_check(table, error);
}

static weir_status listed_gpu(const json_t *json, const struct decide_tables *tables,
                              struct weir_gpu_spec *spec, struct weir_error *error)
{
    struct decide_gpu gpu = { .mig = WEIR_NO_INDEX };
    const size_t count = tables == NULL ? 0 : tables->count;

    WEIR_TRY(decide_read(json, &decide_gpu_keys, &gpu, error));
    WEIR_TRY(decide_layout(json_object_get(json, "cut"), &gpu.spec.mig_cut, error));
    if (gpu.mig != WEIR_NO_INDEX && gpu.mig >= count)
        return weir_fail(error, WEIR_EFORMAT, "mig: there are %zu mig_tables", count);
    gpu.spec.mig = gpu.mig != WEIR_NO_INDEX ? &tables->items[gpu.mig] : NULL;
    gpu.spec.idle_w = (uint16_t)gpu.idle_w;
    gpu.spec.full_w = (uint16_t)gpu.full_w;
    *spec = gpu.spec;
    return WEIR_OK;
}

static weir_status listed_gpus(const json_t *list, const struct decide_tables *tables,
                               struct weir_node_spec *spec, struct weir_gpu_spec *gpus,
                               struct weir_error *error)
{
    const size_t size = json_array_size(list);

    if (size > WEIR_MAX_NODE_GPUS)
        return weir_fail(error, WEIR_EUNSUPPORTED, "at most %d GPUs a node, got %zu",
                         WEIR_MAX_NODE_GPUS, size);
    for (size_t i = 0; i < size; i++) {
        WEIR_TRY(decide_within(listed_gpu(json_array_get(list, i), tables, &gpus[i], error), error,
                               "gpu_list[%zu]", i));
    }
    spec->gpu_count = (uint32_t)size;
    return WEIR_OK;
}

weir_status decide_node(const json_t *json, const struct decide_tables *tables,
                        struct weir_gpu_spec *gpus, struct weir_node_spec *spec,
                        struct weir_error *error)
{
    struct decide_node node = { .cpu_units = 0 };
    const json_t *const list = json_object_get(json, "gpu_list");

    memset(gpus, 0, WEIR_MAX_NODE_GPUS * sizeof *gpus);
    WEIR_TRY(decide_read(json, &decide_node_keys, &node, error));
    *spec = (struct weir_node_spec){ .size = sizeof(struct weir_node_spec),
                                     .type = node.type,
                                     .gpu_count = node.gpu_count,
                                     .cpu_units = node.cpu_units,
                                     .ram_bytes = node.ram_bytes,
                                     .gpus = gpus,
                                     .topology = node.topology };
    spec->topology.labels =
        decide_labels(json, "labels") | (node.is_kept != 0 ? WEIR_LABEL_KEPT : 0);
    if (json_is_array(list))
        return listed_gpus(list, tables, spec, gpus, error);
    for (uint32_t i = 0; i < spec->gpu_count; i++)
        gpus[i] = (struct weir_gpu_spec){ .units = WEIR_ONE,
                                          .nvdecs = node.nvdecs,
                                          .nvencs = node.nvencs };
    return WEIR_OK;
}

/* ---- workers ---- */

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

weir_status decide_worker(const json_t *json, struct decide_worker *worker,
                          struct weir_alloc *alloc, struct weir_error *error)
{
    *worker = (struct decide_worker){ .stage = WEIR_NO_INDEX, .workload = WEIR_NO_INDEX };
    WEIR_TRY(decide_read(json, &decide_worker_keys, worker, error));
    memset(alloc, 0, sizeof *alloc);
    alloc->cpu_units = worker->cpu_units;
    alloc->ram_bytes = worker->ram_bytes;
    return sim_alloc_read_devices(json, NULL, alloc, error);
}

weir_status decide_alloc(const json_t *worker, const json_t *nodes, struct weir_alloc *alloc,
                         struct weir_error *error)
{
    struct decide_worker read;
    const char *node = "";

    WEIR_TRY(decide_worker(worker, &read, alloc, error));
    WEIR_TRY(decide_get_text(worker, "node", &node, error));
    alloc->node = decide_find(nodes, "id", node);
    if (alloc->node == WEIR_NO_INDEX)
        return weir_fail(error, WEIR_EFORMAT, "node %s is not listed", node);
    return WEIR_OK;
}
