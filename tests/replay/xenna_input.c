/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading documents of the later versions: the version, nodes, shapes, allocations.
 */
#include "tests/replay/xenna.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double STEPS = 65536; /* of version N in one CPU or GPU */

bool replay_is_xenna(const json_t *input)
{
    if (json_is_array(input))
        return json_array_size(input) > 0 && replay_is_xenna(json_array_get(input, 0));
    return json_object_get(input, "op") != NULL;
}

/* Whether anything inside speaks of codecs. */
static bool speaks_of_codecs(const json_t *value)
{
    const char *const kind = json_string_value(json_object_get(value, "kind"));
    bool found = kind != NULL && (strcmp(kind, "codec") == 0 || strcmp(kind, "entire") == 0);

    if (json_object_get(value, "nvdecs") != NULL || json_object_get(value, "nvencs") != NULL ||
        json_object_get(value, "entire_gpu") != NULL)
        found = true;
    for (size_t i = 0; !found && i < json_array_size(value); i++)
        found = speaks_of_codecs(json_array_get(value, i));
    json_t *const object = json_is_object(value) ? replay_copy(value) : NULL;
    void *at = object != NULL ? json_object_iter(object) : NULL;
    for (; !found && at != NULL; at = json_object_iter_next(object, at))
        found = speaks_of_codecs(json_object_iter_value(at));
    json_decref(object);
    return found;
}

double replay_xenna_amount(const struct replay_xenna *xenna, double amount)
{
    return xenna->is_codec ? amount : nearbyint(amount * STEPS) / STEPS;
}

static int compare_ids(const void *a, const void *b)
{
    const json_t *const *const left = a;
    const json_t *const *const right = b;
    const char *const left_id = json_string_value(json_object_get(*left, "id"));
    const char *const right_id = json_string_value(json_object_get(*right, "id"));

    return strcmp(left_id != NULL ? left_id : "", right_id != NULL ? right_id : "");
}

json_t *replay_xenna_sorted(const json_t *list)
{
    const size_t count = json_array_size(list);
    json_t **const entries = calloc(count + 1, sizeof(json_t *));
    json_t *const sorted = json_array();

    for (size_t i = 0; entries != NULL && i < count; i++)
        entries[i] = json_array_get(list, i);
    if (entries != NULL)
        qsort(entries, count, sizeof(json_t *), compare_ids);
    for (size_t i = 0; entries != NULL && i < count; i++)
        json_array_append(sorted, entries[i]);
    free(entries);
    return sorted;
}

static json_t *plain_node(const struct replay_xenna *xenna, const json_t *json)
{
    const json_t *const gpus = json_object_get(json, "gpus");
    json_t *const list = json_array();

    for (size_t i = 0; i < json_array_size(gpus); i++) {
        const json_t *const gpu = json_array_get(gpus, i);
        json_array_append_new(
            list, json_pack("{s:f, s:f, s:I, s:I}", "fraction", 1.0, "used",
                            replay_xenna_amount(xenna, decide_number_or(gpu, "used", 0)), "nvdecs",
                            (json_int_t)decide_number_or(gpu, "nvdecs", 0), "nvencs",
                            (json_int_t)decide_number_or(gpu, "nvencs", 0)));
    }
    const char *const id = json_string_value(json_object_get(json, "id"));
    return json_pack("{s:s, s:f, s:f, s:o}", "id", id != NULL ? id : "?", "cpus",
                     replay_xenna_amount(xenna, decide_number_or(json, "cpus", 0)), "used_cpus",
                     replay_xenna_amount(xenna, decide_number_or(json, "used_cpus", 0)), "gpu_list",
                     list);
}

weir_status replay_xenna_open(struct replay_xenna *xenna, const json_t *input,
                              struct weir_error *error)
{
    json_t *const sorted =
        replay_xenna_sorted(json_object_get(json_object_get(input, "cluster"), "nodes"));
    struct weir_cluster *cluster = NULL;

    *xenna = (struct replay_xenna){ .input = input,
                                    .is_codec = speaks_of_codecs(input),
                                    .nodes = json_array() };
    for (size_t i = 0; i < json_array_size(sorted); i++)
        json_array_append_new(xenna->nodes, plain_node(xenna, json_array_get(sorted, i)));
    json_decref(sorted);
    json_t *const nobody = json_array();
    const weir_status status = replay_xenna_cluster(xenna, nobody, &cluster, error);
    json_decref(nobody);
    if (status == WEIR_OK) {
        xenna->usual_gpus = weir_cluster_usual_gpus(cluster);
        weir_cluster_destroy(cluster);
    } else {
        replay_xenna_close(xenna);
    }
    return status;
}

void replay_xenna_close(struct replay_xenna *xenna)
{
    json_decref(xenna->nodes);
    xenna->nodes = NULL;
}

/* ---- shapes ---- */

static bool is_near_whole(float amount)
{
    return fabsf(amount - roundf(amount)) < 1e-6F;
}

/* What the reference says against a request, or NULL. Requests are 32-bit floats there. */
static const char *request_refusal(const struct replay_xenna *xenna, const json_t *json)
{
    const float cpus = (float)decide_number_or(json, "cpus", 0);
    const float gpus = (float)decide_number_or(json, "gpus", 0);
    const double nvdecs = decide_number_or(json, "nvdecs", 0);
    const double nvencs = decide_number_or(json, "nvencs", 0);
    const bool is_one = gpus >= 1 - 1e-6F;

    if (cpus < 0 || gpus < 0 || nvdecs < 0 || nvencs < 0)
        return "NegativeValues";
    if (!(cpus > 0) && !(gpus > 0) && !(nvdecs > 0) && !(nvencs > 0))
        return "ZeroResources";
    if (decide_flag_or(json, "spmd", false)) {
        const uint32_t count = (uint32_t)roundf(gpus);
        const uint32_t usual = xenna->usual_gpus;
        return is_one && is_near_whole(gpus) && (count < usual || (usual > 0 && count % usual == 0))
                   ? NULL
                   : "SpmdGpuNotInteger";
    }
    if (decide_flag_or(json, "entire_gpu", false)) {
        if (!is_one || !is_near_whole(gpus))
            return "EntireGpuNotInteger";
        return nvdecs > 0 || nvencs > 0 ? "EntireGpuWithCodecs" : NULL;
    }
    return is_one && !is_near_whole(gpus) ? "GpuNotInteger" : NULL;
}

/* A positive amount that vanishes on the grid is 0 in the reference; the core refuses such a
 * request, so it is left out of it and the shape completed by hand. */
static double kept_amount(double amount, struct weir_quantum quantum)
{
    int64_t units = 0;

    (void)weir_units_from_amount((double)(float)amount, quantum, &units, NULL);
    return units > 0 ? (double)(float)amount : 0;
}

static weir_status requested_shape(const struct replay_xenna *xenna, const json_t *json,
                                   struct weir_shape *shape, struct weir_error *error)
{
    /* Whole steps of 1/65 536 in N; in C the finest grid stands for doubles with a tolerance. */
    const struct weir_quantum quantum = { .units = xenna->is_codec ? 1 : WEIR_ONE / (int64_t)STEPS,
                                          .round = WEIR_ROUND_FLOOR };
    const double cpus = decide_number_or(json, "cpus", 0);
    const double gpus = decide_number_or(json, "gpus", 0);
    const struct weir_request request = {
        .cpus = kept_amount(cpus, quantum),
        .gpus = kept_amount(gpus, quantum),
        .nvdecs = replay_amount_or(json, "nvdecs", 0),
        .nvencs = replay_amount_or(json, "nvencs", 0),
        .entire_gpu = decide_flag_or(json, "entire_gpu", false),
        .cpus_per_gpu = !xenna->is_codec,
        .spmd = decide_flag_or(json, "spmd", false),
        .node_gpus = xenna->usual_gpus,
    };

    if (gpus > 0 && !(request.gpus > 0)) {
        *shape = (struct weir_shape){ .kind = WEIR_SHAPE_FRACTIONAL,
                                      .gpu_count = 1,
                                      .nvdecs = (uint32_t)request.nvdecs,
                                      .nvencs = (uint32_t)request.nvencs };
        return weir_units_from_amount(request.cpus, quantum, &shape->cpu_units, error);
    }
    if (!(request.cpus > 0) && !(request.gpus > 0) && request.nvdecs == 0 && request.nvencs == 0) {
        *shape = (struct weir_shape){ .kind = WEIR_SHAPE_CPU };
        return WEIR_OK;
    }
    return weir_shape_from_request(&request, quantum, shape, error);
}

static const struct kind_name {
    const char *name;
    uint32_t kind;
} kind_names[] = {
    { "cpu", WEIR_SHAPE_CPU },
    { "frac", WEIR_SHAPE_FRACTIONAL },
    { "whole", WEIR_SHAPE_WHOLE },
    { "spmd_small", WEIR_SHAPE_SPMD_SMALL },
    { "spmd_multi", WEIR_SHAPE_SPMD_MULTI },
    { "codec", WEIR_SHAPE_CODEC },
    { "entire", WEIR_SHAPE_ENTIRE },
};

static weir_status direct_kind(const json_t *json, uint32_t *kind, struct weir_error *error)
{
    const char *name;

    WEIR_TRY(decide_get_text(json, "kind", &name, error));
    for (size_t i = 0; i < sizeof kind_names / sizeof kind_names[0]; i++) {
        if (strcmp(kind_names[i].name, name) == 0) {
            *kind = kind_names[i].kind;
            return WEIR_OK;
        }
    }
    return weir_fail(error, WEIR_EFORMAT, "unknown kind %s", name);
}

/* GPUs of one allocation of a shape that is written directly. */
static void direct_gpus(const json_t *json, struct weir_shape *shape)
{
    const uint32_t actors = replay_count_or(json, "actors", 0);

    shape->gpu_units = WEIR_ONE;
    shape->gpu_count = replay_count_or(json, "gpus", 0);
    shape->node_gpus = replay_count_or(json, "gpus_in_node", 0);
    if (shape->kind == WEIR_SHAPE_SPMD_SMALL)
        shape->gpu_count = actors;
    if (shape->kind == WEIR_SHAPE_SPMD_MULTI) {
        shape->gpu_count = shape->node_gpus;
        shape->node_count = shape->node_gpus > 0 ? actors / shape->node_gpus : 0;
    }
}

static weir_status direct_shape(const struct replay_xenna *xenna, const json_t *json,
                                struct weir_shape *shape, struct weir_error *error)
{
    static const char *const per_gpu[] = { "cpus_per_gpu", "cpus_per_actor" };
    struct weir_shape made = {
        .nvdecs = replay_count_or(json, "nvdecs", replay_count_or(json, "nvdecs_per_gpu", 0)),
        .nvencs = replay_count_or(json, "nvencs", replay_count_or(json, "nvencs_per_gpu", 0)),
    };
    const double cpus = replay_xenna_amount(xenna, decide_number_or(json, "cpus", 0));
    const double share = replay_xenna_amount(xenna, decide_number_or(json, "gpu", 0));

    WEIR_TRY(direct_kind(json, &made.kind, error));
    WEIR_TRY(decide_units(cpus, &made.cpu_units, error));
    if (made.kind == WEIR_SHAPE_FRACTIONAL) {
        made.gpu_count = 1;
        WEIR_TRY(decide_units(share, &made.gpu_units, error));
    } else if (made.kind != WEIR_SHAPE_CPU && made.kind != WEIR_SHAPE_CODEC) {
        direct_gpus(json, &made);
    }
    for (size_t i = 0; i < 2; i++) {
        int64_t units = 0;
        const double each = replay_xenna_amount(xenna, decide_number_or(json, per_gpu[i], 0));
        WEIR_TRY(decide_units(each, &units, error));
        made.cpu_units += units * made.gpu_count;
    }
    *shape = made;
    return WEIR_OK;
}

weir_status replay_xenna_shape(const struct replay_xenna *xenna, const json_t *json,
                               struct weir_shape *shape, const char **refusal,
                               struct weir_error *error)
{
    const json_t *const request = json_object_get(json, "resources");

    *refusal = NULL;
    if (request == NULL)
        return direct_shape(xenna, json, shape, error);
    *refusal = request_refusal(xenna, request);
    return *refusal != NULL ? WEIR_OK : requested_shape(xenna, request, shape, error);
}

/* The keys of GPUs, and of CPUs counted for each of them. */
static void set_gpus(json_t *json, const struct weir_shape *shape, bool is_codec)
{
    const double cpus =
        weir_units_amount(shape->gpu_count > 0 ? shape->cpu_units / shape->gpu_count : 0);

    if (shape->kind == WEIR_SHAPE_WHOLE || shape->kind == WEIR_SHAPE_ENTIRE) {
        json_object_set_new(json, "gpus", json_integer(shape->gpu_count));
        if (!is_codec) {
            json_object_set_new(json, "cpus_per_gpu", json_real(cpus));
            json_object_del(json, "cpus");
        }
        return;
    }
    json_object_set_new(json, "actors",
                        json_integer((json_int_t)shape->gpu_count * weir_shape_members(shape)));
    json_object_set_new(json, "cpus_per_actor", json_real(cpus));
    json_object_set_new(json, "gpus_in_node", json_integer(shape->node_gpus));
    json_object_del(json, "cpus");
}

json_t *replay_xenna_shape_json(const struct replay_xenna *xenna, const struct weir_shape *shape)
{
    const bool is_share = shape->kind == WEIR_SHAPE_FRACTIONAL;
    const bool is_whole = shape->kind == WEIR_SHAPE_WHOLE;
    const char *name = "?";

    for (size_t i = 0; i < sizeof kind_names / sizeof kind_names[0]; i++) {
        if (kind_names[i].kind == shape->kind)
            name = kind_names[i].name;
    }
    json_t *const json =
        json_pack("{s:s, s:f}", "kind", name, "cpus", weir_units_amount(shape->cpu_units));
    if (is_share)
        json_object_set_new(json, "gpu", json_real(weir_units_amount(shape->gpu_units)));
    else if (shape->kind != WEIR_SHAPE_CPU && shape->kind != WEIR_SHAPE_CODEC)
        set_gpus(json, shape, xenna->is_codec);
    if (xenna->is_codec && (is_share || is_whole || shape->kind == WEIR_SHAPE_CODEC)) {
        json_object_set_new(json, is_whole ? "nvdecs_per_gpu" : "nvdecs",
                            json_integer(shape->nvdecs));
        json_object_set_new(json, is_whole ? "nvencs_per_gpu" : "nvencs",
                            json_integer(shape->nvencs));
    }
    return json;
}

json_t *replay_xenna_plain_shape(const struct weir_shape *shape)
{
    const bool is_share = shape->kind == WEIR_SHAPE_FRACTIONAL;

    return json_pack("{s:s, s:f, s:f, s:i, s:i, s:i, s:i}", "type",
                     weir_shape_kind_name(shape->kind), "cpus", weir_units_amount(shape->cpu_units),
                     "gpus",
                     is_share ? weir_units_amount(shape->gpu_units) : (double)shape->gpu_count,
                     "nvdecs", (int)shape->nvdecs, "nvencs", (int)shape->nvencs, "nodes",
                     (int)shape->node_count, "node_gpus", (int)shape->node_gpus);
}

/* ---- allocations ---- */

static json_t *plain_engines(const json_t *list)
{
    json_t *const plain = json_array();

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const unit = json_array_get(list, i);
        json_array_append_new(
            plain, json_pack("{s:I, s:I}", "gpu", (json_int_t)decide_number_or(unit, "gpu", 0),
                             "index", (json_int_t)decide_number_or(unit, "codec", 0)));
    }
    return plain;
}

json_t *replay_xenna_worker(const struct replay_xenna *xenna, const json_t *json)
{
    const json_t *const parts = json_object_get(json, "gpus");
    const char *const node = json_string_value(json_object_get(json, "node"));
    json_t *const gpus = json_array();

    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *const part = json_array_get(parts, i);
        json_array_append_new(
            gpus, json_pack("{s:I, s:f}", "gpu", (json_int_t)decide_number_or(part, "offset", 0),
                            "fraction",
                            replay_xenna_amount(xenna, decide_number_or(part, "fraction", 0))));
    }
    return json_pack("{s:s, s:f, s:o, s:o, s:o}", "node", node != NULL ? node : "?", "cpus",
                     replay_xenna_amount(xenna, decide_number_or(json, "cpus", 0)), "gpus", gpus,
                     "nvdecs", plain_engines(json_object_get(json, "nvdecs")), "nvencs",
                     plain_engines(json_object_get(json, "nvencs")));
}

static json_t *engines_back(const json_t *list)
{
    json_t *const back = json_array();

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *const unit = json_array_get(list, i);
        json_array_append_new(back, json_pack("{s:O, s:O}", "codec", json_object_get(unit, "index"),
                                              "gpu", json_object_get(unit, "gpu")));
    }
    return back;
}

json_t *replay_xenna_alloc_json(const struct replay_xenna *xenna, const json_t *plain)
{
    const json_t *const parts = json_object_get(plain, "gpus");
    json_t *const gpus = json_array();

    for (size_t i = 0; i < json_array_size(parts); i++) {
        const json_t *const part = json_array_get(parts, i);
        json_array_append_new(gpus,
                              json_pack("{s:O, s:O}", "fraction", json_object_get(part, "fraction"),
                                        "offset", json_object_get(part, "gpu")));
    }
    json_t *const json = json_pack("{s:O, s:o, s:O}", "cpus", json_object_get(plain, "cpus"),
                                   "gpus", gpus, "node", json_object_get(plain, "node"));
    if (xenna->is_codec) {
        json_object_set_new(json, "nvdecs", engines_back(json_object_get(plain, "nvdecs")));
        json_object_set_new(json, "nvencs", engines_back(json_object_get(plain, "nvencs")));
    }
    return json;
}

json_t *replay_xenna_fillers(const struct replay_xenna *xenna)
{
    json_t *const fillers = json_array();

    for (size_t i = 0; i < json_array_size(xenna->nodes); i++) {
        const json_t *const node = json_array_get(xenna->nodes, i);
        const json_t *const list = json_object_get(node, "gpu_list");
        json_array_append_new(fillers, json_pack("{s:s, s:O, s:O}", "stage", "", "node",
                                                 json_object_get(node, "id"), "cpus",
                                                 json_object_get(node, "used_cpus")));
        for (size_t g = 0; g < json_array_size(list); g++) {
            const json_t *const gpu = json_array_get(list, g);
            if (decide_number_or(gpu, "used", 0) > 0)
                json_array_append_new(fillers, json_pack("{s:s, s:O, s:i, s:[{s:I, s:O}]}", "stage",
                                                         "", "node", json_object_get(node, "id"),
                                                         "cpus", 0, "gpus", "gpu", (json_int_t)g,
                                                         "fraction", json_object_get(gpu, "used")));
        }
    }
    return fillers;
}

weir_status replay_xenna_cluster(const struct replay_xenna *xenna, const json_t *workers,
                                 struct weir_cluster **cluster, struct weir_error *error)
{
    json_t *const fillers = replay_xenna_fillers(xenna);
    json_t *const all = replay_copy(workers);

    json_array_extend(all, fillers);
    /* The stage of the workers that are asked about comes first, whether it has any or not. */
    json_t *const stages = json_pack("[s]", "stage");
    json_t *const document = json_pack("{s:O, s:O}", "nodes", xenna->nodes, "workers", all);
    const weir_status status = replay_cluster(document, stages, cluster, error);
    json_decref(document);
    json_decref(stages);
    json_decref(all);
    json_decref(fillers);
    return status;
}

json_t *replay_xenna_cluster_json(const struct replay_xenna *xenna,
                                  const struct weir_cluster *cluster)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < weir_cluster_node_count(cluster); i++) {
        const struct weir_node *const node = weir_cluster_node(cluster, i);
        json_t *const gpus = json_array();
        for (uint32_t g = 0; g < node->gpu_count; g++) {
            const struct weir_gpu *const gpu = weir_cluster_gpu(cluster, i, g);
            json_array_append_new(gpus,
                                  json_real(weir_units_amount(gpu->units_total - gpu->units_free)));
        }
        json_array_append_new(list, json_pack("{s:s, s:f, s:f, s:o}", "id",
                                              decide_name(xenna->nodes, i, "id"), "cpus",
                                              weir_units_amount(node->cpu_total), "used_cpus",
                                              weir_units_amount(node->cpu_total - node->cpu_free),
                                              "gpus_used", gpus));
    }
    return list;
}
