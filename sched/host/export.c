/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flight recorder: the state a decision would start from, as one JSON document.
 *
 * The format is the one `weir decide` reads (docs/decide.md). Numbers have 17 significant digits,
 * so that reading them back gives the same doubles and the same units. Text goes to the caller's
 * sink in pieces; the first failure stops the writer.
 */
#include "sched/host/host.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The first failure stays; everything after it is dropped. */
struct writer {
    const struct weir_sink *sink;
    weir_status status;
};

static void put_text(struct writer *writer, const char *text, size_t length)
{
    if (writer->status == WEIR_OK && length > 0)
        writer->status = writer->sink->write(writer->sink->state, text, length);
}

static void put(struct writer *writer, const char *format, ...) WEIR_PRINTF(2, 3);

/* At most 255 bytes; longer pieces are made of several calls. */
static void put(struct writer *writer, const char *format, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text)
        writer->status = WEIR_EINVARIANT;
    else
        put_text(writer, text, (size_t)length);
}

static void put_string(struct writer *writer, const char *text)
{
    put(writer, "\"");
    for (const char *at = text; *at != '\0'; at++) {
        const unsigned char byte = (unsigned char)*at;
        if (byte == '"' || byte == '\\')
            put(writer, "\\%c", byte);
        else if (byte < 0x20)
            put(writer, "\\u%04x", byte);
        else
            put_text(writer, at, 1);
    }
    put(writer, "\"");
}

/* NaN and infinities are unknown values. */
static void put_number(struct writer *writer, double value)
{
    if (isfinite(value))
        put(writer, "%.17g", value);
    else
        put(writer, "null");
}

static void put_amount(struct writer *writer, const char *key, int64_t units)
{
    put(writer, "\"%s\": ", key);
    put_number(writer, weir_units_amount(units));
}

static const char *comma(uint32_t index)
{
    return index == 0 ? "" : ", ";
}

static void put_gpu(struct writer *writer, const struct weir_gpu *gpu)
{
    put(writer, "{");
    put_amount(writer, "fraction", gpu->units_total);
    put(writer, ", \"nvdecs\": %d, \"nvencs\": %d, \"type\": %u, \"mem_bytes\": %lld}",
        __builtin_popcount(gpu->nvdec_all), __builtin_popcount(gpu->nvenc_all), gpu->type,
        (long long)gpu->mem_total_bytes);
}

static void put_nodes(struct writer *writer, const struct weir_cluster *cluster)
{
    const uint32_t count = weir_cluster_node_count(cluster);

    put(writer, "  \"nodes\": [");
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_node *const node = weir_cluster_node(cluster, i);
        put(writer, "%s\n    {\"id\": \"%llu\", ", i == 0 ? "" : ",", (unsigned long long)node->id);
        put_amount(writer, "cpus", node->cpu_total);
        put(writer, ", \"ram_bytes\": %lld, \"type\": %u, \"up\": %s, \"cordoned\": %s",
            (long long)node->ram_total_bytes, node->type,
            (node->flags & WEIR_NODE_UP) != 0 ? "true" : "false",
            (node->flags & WEIR_NODE_CORDONED) != 0 ? "true" : "false");
        put(writer, ", \"gpu_list\": [");
        for (uint32_t g = 0; g < node->gpu_count; g++) {
            put(writer, "%s", comma(g));
            put_gpu(writer, weir_cluster_gpu(cluster, i, g));
        }
        put(writer, "]}");
    }
    put(writer, "\n  ],\n");
}

/* null for any, an index, or a list of indices for a set. */
static void put_gpu_type(struct writer *writer, uint32_t gpu_type)
{
    uint32_t written = 0;

    if (gpu_type == 0) {
        put(writer, "null");
    } else if ((gpu_type & WEIR_GPU_TYPE_SET) == 0) {
        put(writer, "%u", gpu_type - 1);
    } else {
        put(writer, "[");
        for (uint32_t i = 0; i < WEIR_GPU_TYPE_SET_MOST; i++) {
            if (((gpu_type >> i) & 1) != 0)
                put(writer, "%s%u", comma(written++), i);
        }
        put(writer, "]");
    }
}

static void put_shape(struct writer *writer, const struct weir_shape *shape)
{
    const bool many = shape->kind == WEIR_SHAPE_WHOLE || shape->kind == WEIR_SHAPE_ENTIRE ||
                      shape->kind == WEIR_SHAPE_SPMD_SMALL || shape->kind == WEIR_SHAPE_SPMD_MULTI;

    put(writer, "{\"type\": \"%s\", ", weir_shape_kind_name(shape->kind));
    put_amount(writer, "cpus", shape->cpu_units);
    put(writer, ", ");
    put_amount(writer, "gpus", many ? shape->gpu_count * WEIR_ONE : shape->gpu_units);
    put(writer, ", \"nvdecs\": %u, \"nvencs\": %u", shape->nvdecs, shape->nvencs);
    put(writer, ", \"ram_bytes\": %lld, \"gpu_mem_bytes\": %lld, \"gpu_type\": ",
        (long long)shape->ram_bytes, (long long)shape->gpu_mem_bytes);
    put_gpu_type(writer, shape->gpu_type);
    if (shape->node_gpus > 0)
        put(writer, ", \"nodes\": %u, \"node_gpus\": %u", shape->node_count, shape->node_gpus);
    put(writer, ", \"codec_same_gpu\": %s}", shape->codec_same_gpu != 0 ? "true" : "false");
}

static void put_pool(struct writer *writer, const struct weir_pool_view *pool)
{
    put(writer, "{\"name\": ");
    put_string(writer, pool->name);
    put(writer, ", \"pipeline\": %u, \"shape\": ", pool->pipeline);
    put_shape(writer, &pool->shape);
    put(writer, ", \"batch_size\": %u, \"requested_workers\": ", pool->batch_size);
    if (pool->requested_workers < 0)
        put(writer, "null");
    else
        put(writer, "%d", pool->requested_workers);
    put(writer, ", \"over_provision_factor\": ");
    put_number(writer, pool->over_provision > 0 ? pool->over_provision : (double)NAN);
    put(writer, ", \"speed_hint\": ");
    put_number(writer, pool->speed_hint_per_s);
    put(writer, ", \"finished\": %s, \"ready\": %u, \"busy\": %u, \"queued_items\": %llu}",
        pool->finished != 0 ? "true" : "false", pool->ready, pool->busy,
        (unsigned long long)pool->queued_items);
}

static void put_pools(struct writer *writer, const struct weir_view *view)
{
    put(writer, "  \"stages\": [");
    for (uint32_t i = 0; i < view->pool_count; i++) {
        put(writer, "%s\n    ", i == 0 ? "" : ",");
        put_pool(writer, weir_view_pool(view, i));
    }
    put(writer, "\n  ],\n  \"slots\": [");
    for (uint32_t i = 0; i < view->pool_count; i++)
        put(writer, "%s%u", comma(i), weir_view_pool(view, i)->slots);
    put(writer, "],\n  \"estimates\": [");
    for (uint32_t i = 0; i < view->pool_count; i++) {
        const struct weir_estimate estimate = weir_view_pool(view, i)->estimate;
        put(writer, "%s\n    {\"batches_per_s\": ", i == 0 ? "" : ",");
        put_number(writer, estimate.batches_per_s);
        put(writer, ", \"returns_per_batch\": ");
        put_number(writer, estimate.returns_per_batch);
        put(writer, ", \"points\": %u}", estimate.points);
    }
    put(writer, "\n  ],\n");
}

/* Engines as {"gpu": 0, "index": 3}, one a bit. */
static void put_engines(struct writer *writer, const struct weir_alloc *alloc, bool encoders)
{
    uint32_t written = 0;

    for (uint32_t i = 0; i < alloc->device_count; i++) {
        const struct weir_device *const device = &alloc->devices[i];
        uint32_t mask = encoders ? device->nvenc_mask : device->nvdec_mask;
        for (; mask != 0; mask &= mask - 1)
            put(writer, "%s{\"gpu\": %u, \"index\": %d}", comma(written++), device->gpu,
                __builtin_ctz(mask));
    }
}

static void put_devices(struct writer *writer, const struct weir_alloc *alloc)
{
    uint32_t written = 0;

    put(writer, ", \"gpus\": [");
    for (uint32_t i = 0; i < alloc->device_count; i++) {
        const struct weir_device *const device = &alloc->devices[i];
        if (device->units == 0 && device->mem_bytes == 0)
            continue;
        put(writer, "%s{\"gpu\": %u, ", comma(written++), device->gpu);
        put_amount(writer, "fraction", device->units);
        put(writer, ", \"mem_bytes\": %lld}", (long long)device->mem_bytes);
    }
    put(writer, "], \"nvdecs\": [");
    put_engines(writer, alloc, false);
    put(writer, "], \"nvencs\": [");
    put_engines(writer, alloc, true);
    put(writer, "]");
}

static void put_worker(struct writer *writer, const struct weir_view *view,
                       const struct weir_worker *worker)
{
    const struct weir_alloc *const alloc = &worker->alloc;

    put(writer, "{\"id\": \"%llu\", \"stage\": ", (unsigned long long)worker->id);
    put_string(writer, weir_view_pool(view, worker->owner.index)->name);
    put(writer, ", \"stage_index\": %u", worker->owner.index);
    put(writer, ", \"node\": \"%llu\", ",
        (unsigned long long)weir_cluster_node(view->cluster, alloc->node)->id);
    put_amount(writer, "cpus", alloc->cpu_units);
    put(writer, ", \"ram_bytes\": %lld, \"state\": %u", (long long)alloc->ram_bytes, worker->state);
    put_devices(writer, alloc);
    put(writer, "}");
}

static void put_workers(struct writer *writer, const struct weir_view *view)
{
    struct weir_worker worker;
    uint32_t written = 0;

    put(writer, "  \"workers\": [");
    for (uint32_t i = 0; i < view->pool_count; i++) {
        const uint32_t count = weir_cluster_pool_workers(view->cluster, i);
        for (uint32_t k = 0; k < count; k++) {
            if (!weir_cluster_pool_worker(view->cluster, i, k, &worker))
                continue;
            put(writer, "%s\n    ", written++ == 0 ? "" : ",");
            put_worker(writer, view, &worker);
        }
    }
    put(writer, "\n  ],\n");
}

/* The word of a CHOICE, "true" or "false" of a FLAG, else the number. */
static void put_value(struct writer *writer, const struct weir_param *param, double value)
{
    if (param->kind == WEIR_PARAM_FLAG) {
        put(writer, "%s", value > 0 ? "true" : "false");
    } else if (param->kind == WEIR_PARAM_CHOICE) {
        const char *word = param->choices;
        for (uint32_t skip = (uint32_t)value; skip > 0 && strchr(word, '|') != NULL; skip--)
            word = strchr(word, '|') + 1;
        put(writer, "\"%.*s\"", (int)strcspn(word, "|"), word);
    } else {
        put_number(writer, value);
    }
}

static void put_params(struct writer *writer, const struct weir_param *table, uint32_t count,
                       const double *values)
{
    put(writer, "{");
    for (uint32_t i = 0; i < count; i++) {
        put(writer, "%s", comma(i));
        put_string(writer, table[i].name);
        put(writer, ": ");
        put_value(writer, &table[i], values[i]);
    }
    put(writer, "}");
}

static void put_policy(struct writer *writer, const struct weir_policy_set *pair)
{
    put(writer, "  \"policy\": {\n    \"placement\": ");
    put_string(writer, pair->placement->name);
    put(writer, ",\n    \"placement_params\": ");
    put_params(writer, pair->placement->params, pair->placement->param_count, pair->placed.values);
    put(writer, ",\n    \"scaling\": ");
    put_string(writer, pair->scaling->name);
    put(writer, ",\n    \"scaling_params\": ");
    put_params(writer, pair->scaling->params, pair->scaling->param_count, pair->scaled.values);
    put(writer, "\n  }");
}

weir_status weir_host_export(struct weir_host *host, int64_t now_ns, const struct weir_sink *sink)
{
    struct writer writer = { .sink = sink };
    const struct weir_view *const view = weir_host_view(host, now_ns);

    put(&writer, "{\n  \"format\": \"weir-decision\",\n  \"version\": 2,\n"
                 "  \"command\": \"autoscale\",\n  \"time_s\": ");
    put_number(&writer, (double)now_ns / 1e9);
    put(&writer, ",\n  \"next_worker\": %llu,\n", (unsigned long long)host->next_worker);
    put_nodes(&writer, view->cluster);
    put_pools(&writer, view);
    put_workers(&writer, view);
    put_policy(&writer, &host->main);
    put(&writer, "\n}\n");
    return writer.status;
}
