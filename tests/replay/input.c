/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading the parts of known cases that `weir decide` has no use for (see replay.h). */
#include "tests/replay/replay.h"

#include <stdlib.h>
#include <string.h>

/* Units of a key that may be missing: 0. */
static weir_status units_of(const json_t *object, const char *key, int64_t *units,
                            struct weir_error *error)
{
    return decide_within(decide_units(decide_number_or(object, key, 0), units, error), error, "%s",
                         key);
}

weir_status replay_amounts(const json_t *json, struct weir_amounts *amounts,
                           struct weir_error *error)
{
    *amounts = (struct weir_amounts){
        .nvdecs = replay_amount_or(json, "nvdecs", 0),
        .nvencs = replay_amount_or(json, "nvencs", 0),
        .ram_bytes = replay_amount_or(json, "ram_bytes", 0),
        .gpu_mem_bytes = replay_amount_or(json, "gpu_mem_bytes", 0),
    };
    WEIR_TRY(units_of(json, "cpus", &amounts->cpu_units, error));
    return units_of(json, "gpus", &amounts->gpu_units, error);
}

static weir_status add_nodes(const json_t *nodes, struct weir_cluster *cluster,
                             struct weir_error *error)
{
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
    struct weir_node_spec spec;

    for (size_t i = 0; i < json_array_size(nodes); i++) {
        weir_status status = decide_node(json_array_get(nodes, i), NULL, gpus, &spec, error);
        spec.id = i;
        if (status == WEIR_OK)
            status = weir_cluster_add_node(cluster, &spec, NULL, error);
        if (status != WEIR_OK) {
            weir_error_wrap(error, "nodes[%zu]", i);
            return status;
        }
    }
    return WEIR_OK;
}

static weir_status add_worker(const json_t *worker, const json_t *nodes, json_t *stages,
                              struct weir_cluster *cluster, struct weir_error *error)
{
    struct weir_alloc alloc;
    const char *stage = "";

    WEIR_TRY(decide_get_text(worker, "stage", &stage, error));
    uint32_t index = decide_find(stages, "name", stage);
    if (index == WEIR_NO_INDEX) {
        index = (uint32_t)json_array_size(stages);
        if (json_array_append_new(stages, json_string(stage)) != 0)
            return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    WEIR_TRY(decide_alloc(worker, nodes, &alloc, error));
    return weir_cluster_add_worker(cluster, weir_cluster_worker_count(cluster) + 1,
                                   weir_pool_owner(index), &alloc, error);
}

weir_status replay_cluster(const json_t *input, json_t *stages, struct weir_cluster **cluster,
                           struct weir_error *error)
{
    const json_t *const workers = json_object_get(input, "workers");
    struct weir_cluster *made = NULL;
    json_t *nodes = NULL;

    WEIR_TRY(decide_get_array(input, "nodes", &nodes, error));
    if (weir_cluster_create(NULL, &made) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_status status = add_nodes(nodes, made, error);
    for (size_t i = 0; status == WEIR_OK && i < json_array_size(workers); i++) {
        status = add_worker(json_array_get(workers, i), nodes, stages, made, error);
        if (status != WEIR_OK)
            weir_error_wrap(error, "workers[%zu]", i);
    }
    if (status != WEIR_OK)
        weir_cluster_destroy(made);
    else
        *cluster = made;
    return status;
}

void replay_mix_free(struct replay_mix *mix)
{
    free(mix->shapes);
    free(mix->frequencies);
}

static weir_status read_mix(const json_t *list, struct replay_mix *mix, struct weir_error *error)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const entry = json_array_get(list, i);
        json_t *shape = NULL;
        weir_status status = decide_get_number(entry, "frequency", &mix->frequencies[i], error);
        if (status == WEIR_OK)
            status = decide_get(entry, "shape", &shape, error);
        if (status == WEIR_OK)
            status = decide_shape(shape, &mix->shapes[i], error);
        if (status != WEIR_OK) {
            weir_error_wrap(error, "workload[%zu]", i);
            return status;
        }
    }
    return WEIR_OK;
}

weir_status replay_mix(const json_t *input, struct replay_mix *mix, struct weir_error *error)
{
    json_t *list = NULL;

    WEIR_TRY(decide_get_array(input, "workload", &list, error));
    const size_t count = json_array_size(list);
    *mix = (struct replay_mix){ .shapes = calloc(count + 1, sizeof *mix->shapes),
                                .frequencies = calloc(count + 1, sizeof *mix->frequencies) };
    weir_status status = WEIR_ENOMEM;
    if (mix->shapes != NULL && mix->frequencies != NULL)
        status = read_mix(list, mix, error);
    if (status != WEIR_OK)
        replay_mix_free(mix);
    mix->mix = (struct weir_mix){ .shapes = mix->shapes,
                                  .frequencies = mix->frequencies,
                                  .count = (uint32_t)count };
    return status;
}

json_t *replay_copy(const json_t *value)
{
    json_t *mutable = NULL;

    memcpy(&mutable, &value, sizeof(json_t *)); /* jansson copies from what it could change */
    return json_copy(mutable);
}

const char *replay_text(const json_t *object, const char *key)
{
    const char *const text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}
