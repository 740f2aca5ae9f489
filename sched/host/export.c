/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flight recorder: all that a decision would start from, as one JSON document: here the call,
 * the cluster, pools, workers and policies; jobs and cuts are in export_jobs.c.
 *
 * The format is the one `weir decide` reads (docs/decide.md). What has its usual value is left out
 * where there may be many of it.
 */
#include "sched/host/export.h"

#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/bits.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_amount(struct weir_json *json, const char *key, int64_t units)
{
    weir_json_number(json, key, weir_units_amount(units));
}

void weir_export_unless(struct weir_json *json, const char *key, int64_t value, int64_t usual)
{
    if (value != usual)
        weir_json_integer(json, key, value);
}

/* ---- nodes ---- */

/* Tables in use, in the order in which GPUs name them. */
static uint32_t find_table(const struct weir_export *out, const struct weir_mig *table)
{
    uint32_t index = 0;

    while (index < out->table_count && out->tables[index] != table)
        index++;
    return index;
}

static weir_status list_tables(struct weir_export *out)
{
    const struct weir_cluster *const cluster = out->host->inventory;

    for (uint32_t i = 0; i < cluster->gpu_count; i++) {
        const struct weir_mig *const table = cluster->gpus[i].mig;
        if (table == NULL || find_table(out, table) < out->table_count)
            continue;
        const struct weir_mig **const tables =
            weir_grow(&out->host->allocator, (void *)out->tables, &out->table_capacity,
                      out->table_count + 1, sizeof(struct weir_mig *));
        if (tables == NULL)
            return WEIR_ENOMEM;
        out->tables = tables;
        tables[out->table_count++] = table;
    }
    return WEIR_OK;
}

static void put_table(struct weir_json *json, const struct weir_mig *table)
{
    weir_json_open(json, NULL, '{');
    weir_json_text(json, "name", table->name);
    weir_json_integer(json, "slices", table->slices);
    weir_json_integer(json, "slots", table->slots);
    weir_json_integer(json, "sms", table->sms);
    weir_json_open(json, "profiles", '[');
    for (uint32_t i = 0; i < table->profile_count; i++) {
        const struct weir_mig_profile *const profile = &table->profiles[i];
        weir_json_open(json, NULL, '{');
        weir_json_text(json, "name", profile->name);
        weir_json_integer(json, "slices", profile->slices);
        weir_json_integer(json, "slots", profile->slots);
        weir_json_integer(json, "mem_bytes", profile->mem_bytes);
        weir_json_integer(json, "sms", profile->sms);
        weir_json_integer(json, "nvdecs", profile->nvdecs);
        weir_json_integer(json, "max_count", profile->max_count);
        weir_json_open(json, "starts", '[');
        for (uint32_t s = 0; s < WEIR_MIG_SLOTS; s++)
            if (((profile->starts >> s) & 1) != 0)
                weir_json_integer(json, NULL, s);
        weir_json_close(json, '[');
        weir_json_close(json, '{');
    }
    weir_json_close(json, '[');
    weir_json_close(json, '{');
}

void weir_export_layout(struct weir_json *json, const char *key, weir_mig_layout layout)
{
    if (layout == 0)
        return;
    weir_json_open(json, key, '[');
    for (uint32_t s = 0; s < WEIR_MIG_SLOTS; s++) {
        if (weir_mig_at(layout, s) < 0)
            continue;
        weir_json_open(json, NULL, '{');
        weir_json_integer(json, "profile", weir_mig_at(layout, s));
        weir_json_integer(json, "start", s);
        weir_json_close(json, '{');
    }
    weir_json_close(json, '[');
}

static void put_gpu(const struct weir_export *out, const struct weir_gpu *gpu)
{
    struct weir_json *const json = out->json;

    weir_json_open(json, NULL, '{');
    put_amount(json, "fraction", gpu->units_total);
    weir_json_integer(json, "nvdecs", weir_bit_count(gpu->nvdec_all));
    weir_json_integer(json, "nvencs", weir_bit_count(gpu->nvenc_all));
    weir_json_integer(json, "type", gpu->type);
    weir_json_integer(json, "mem_bytes", gpu->mem_total_bytes);
    weir_export_unless(json, "idle_w", gpu->idle_w, 0);
    weir_export_unless(json, "full_w", gpu->full_w, 0);
    if (gpu->mig != NULL)
        weir_json_integer(json, "mig", find_table(out, gpu->mig));
    weir_export_layout(json, "cut", gpu->mig_state.cut);
    if ((gpu->is_closed & WEIR_GPU_UNHEALTHY) != 0)
        weir_json_flag(json, "healthy", false);
    weir_json_close(json, '{');
}

/* A removed node keeps its place in the order. */
static void put_node(const struct weir_export *out, uint32_t index)
{
    const struct weir_node *const node = weir_cluster_node(out->host->inventory, index);
    const bool is_removed = (node->flags & WEIR_NODE_REMOVED) != 0;
    struct weir_json *const json = out->json;

    weir_json_open(json, NULL, '{');
    weir_json_word(json, "id", node->id);
    put_amount(json, "cpus", node->cpu_total);
    if (is_removed) {
        weir_json_flag(json, "removed", true);
        weir_json_integer(json, "gpus", out->host->inventory->lists[index].gpu_room);
    } else {
        weir_json_integer(json, "ram_bytes", node->ram_total_bytes);
        weir_json_integer(json, "type", node->type);
        weir_json_flag(json, "up", (node->flags & WEIR_NODE_UP) != 0);
        weir_json_flag(json, "cordoned", (node->flags & WEIR_NODE_CORDONED) != 0);
        const struct weir_topology near = weir_cluster_topology(out->host->inventory, index);
        weir_export_unless(json, "sockets", near.sockets, 0);
        weir_export_unless(json, "island_gpus", near.island_gpus, 0);
        weir_export_unless(json, "rack", near.rack, 0);
        weir_export_labels(json, "labels", near.labels);
        if ((near.labels & WEIR_LABEL_KEPT) != 0)
            weir_json_flag(json, "kept", true);
        weir_json_open(json, "gpu_list", '[');
        for (uint32_t g = 0; g < node->gpu_count; g++)
            put_gpu(out, weir_cluster_gpu(out->host->inventory, index, g));
        weir_json_close(json, '[');
    }
    weir_json_close(json, '{');
}

static void put_nodes(const struct weir_export *out)
{
    struct weir_json *const json = out->json;

    if (out->table_count > 0)
        weir_json_open(json, "mig_tables", '[');
    for (uint32_t i = 0; i < out->table_count; i++)
        put_table(json, out->tables[i]);
    if (out->table_count > 0)
        weir_json_close(json, '[');
    weir_json_open(json, "nodes", '[');
    for (uint32_t i = 0; i < weir_cluster_node_count(out->host->inventory); i++)
        put_node(out, i);
    weir_json_close(json, '[');
}

static void put_offers(const struct weir_export *out)
{
    struct weir_json *const json = out->json;

    if (out->host->offer_count == 0)
        return;
    weir_json_open(json, "offers", '[');
    for (uint32_t i = 0; i < out->host->offer_count; i++) {
        const struct weir_node_offer *const offer = &out->host->offers[i];
        weir_json_open(json, NULL, '{');
        weir_json_integer(json, "type", offer->type);
        weir_json_integer(json, "min", offer->min);
        weir_json_integer(json, "max", offer->max);
        weir_json_integer(json, "up", offer->up);
        weir_json_integer(json, "coming", offer->coming);
        put_amount(json, "cpus", offer->holds.cpu_units);
        put_amount(json, "gpus", offer->holds.gpu_units);
        weir_json_integer(json, "ram_bytes", offer->holds.ram_bytes);
        weir_json_integer(json, "boot_ns", offer->boot_ns);
        weir_json_number(json, "price", offer->price);
        weir_json_close(json, '{');
    }
    weir_json_close(json, '[');
}

/* ---- pools ---- */

/* null for any, an index, or a list of indices for a set. */
static void put_gpu_type(struct weir_json *json, uint32_t gpu_type)
{
    if ((gpu_type & WEIR_GPU_TYPE_SET) == 0) {
        if (gpu_type == 0)
            weir_json_null(json, "gpu_type");
        else
            weir_json_integer(json, "gpu_type", gpu_type - 1);
        return;
    }
    weir_json_open(json, "gpu_type", '[');
    for (uint32_t i = 0; i < WEIR_GPU_TYPE_SET_MOST; i++)
        if (((gpu_type >> i) & 1) != 0)
            weir_json_integer(json, NULL, i);
    weir_json_close(json, '[');
}

void weir_export_labels(struct weir_json *json, const char *key, uint32_t labels)
{
    if ((labels & ~WEIR_LABEL_KEPT) == 0)
        return;
    weir_json_open(json, key, '[');
    for (uint32_t i = 0; i < WEIR_LABELS_MOST; i++)
        if (((labels >> i) & 1) != 0)
            weir_json_integer(json, NULL, i);
    weir_json_close(json, '[');
}

void weir_export_shape(struct weir_json *json, const struct weir_shape *shape, uint32_t soft_labels)
{
    const bool many = shape->kind == WEIR_SHAPE_WHOLE || shape->kind == WEIR_SHAPE_ENTIRE ||
                      shape->kind == WEIR_SHAPE_SPMD_SMALL || shape->kind == WEIR_SHAPE_SPMD_MULTI;

    weir_json_open(json, "shape", '{');
    weir_json_text(json, "type", weir_shape_kind_name(shape->kind));
    put_amount(json, "cpus", shape->cpu_units);
    put_amount(json, "gpus", many ? shape->gpu_count * WEIR_ONE : shape->gpu_units);
    weir_json_integer(json, "nvdecs", shape->nvdecs);
    weir_json_integer(json, "nvencs", shape->nvencs);
    weir_json_integer(json, "ram_bytes", shape->ram_bytes);
    weir_json_integer(json, "gpu_mem_bytes", shape->gpu_mem_bytes);
    put_gpu_type(json, shape->gpu_type);
    weir_export_unless(json, "nodes", shape->node_count, 0);
    weir_export_unless(json, "node_gpus", shape->node_gpus, 0);
    weir_export_unless(json, "mig_slices", shape->mig_slices, 0);
    if (shape->mig_profile[0] != '\0')
        weir_json_text(json, "mig_profile", shape->mig_profile);
    weir_export_labels(json, "labels", shape->labels & ~soft_labels);
    if ((shape->labels & WEIR_LABEL_KEPT) != 0)
        weir_json_flag(json, "borrows", true);
    weir_json_flag(json, "codec_same_gpu", shape->codec_same_gpu != 0);
    weir_json_close(json, '{');
}

static void put_pool(const struct weir_export *out, uint32_t index)
{
    const struct weir_pool_view *const pool = weir_view_pool(&out->host->view, index);
    struct weir_json *const json = out->json;

    weir_json_open(json, NULL, '{');
    weir_json_text(json, "name", pool->name);
    weir_json_integer(json, "pipeline", pool->pipeline);
    weir_export_shape(json, &pool->shape, pool->soft_labels);
    weir_export_labels(json, "soft_labels", pool->soft_labels);
    weir_json_integer(json, "batch_size", pool->batch_size);
    if (pool->requested_workers < 0)
        weir_json_null(json, "requested_workers");
    else
        weir_json_integer(json, "requested_workers", pool->requested_workers);
    weir_json_number(json, "over_provision_factor",
                     pool->over_provision > 0 ? pool->over_provision : (double)NAN);
    weir_json_number(json, "speed_hint", pool->speed_hint_per_s);
    weir_json_flag(json, "finished", pool->finished != 0);
    if (pool->finished == WEIR_POOL_REMOVED)
        weir_json_flag(json, "removed", true);
    weir_json_integer(json, "ready", pool->ready);
    weir_json_integer(json, "busy", pool->busy);
    weir_json_integer(json, "queued_items", (int64_t)pool->queued_items);
    weir_export_unless(json, "planned", (int64_t)weir_placer_placed(out->host->placer, index), 0);
    weir_json_close(json, '{');
}

static void put_pools(const struct weir_export *out)
{
    const struct weir_view *const view = &out->host->view;
    struct weir_json *const json = out->json;

    weir_json_open(json, "stages", '[');
    for (uint32_t i = 0; i < view->pool_count; i++)
        put_pool(out, i);
    weir_json_close(json, '[');
    weir_json_open(json, "slots", '[');
    for (uint32_t i = 0; i < view->pool_count; i++)
        weir_json_integer(json, NULL, weir_view_pool(view, i)->slots);
    weir_json_close(json, '[');
    weir_json_open(json, "estimates", '[');
    for (uint32_t i = 0; i < view->pool_count; i++) {
        const struct weir_estimate estimate = weir_view_pool(view, i)->estimate;
        weir_json_open(json, NULL, '{');
        weir_json_number(json, "batches_per_s", estimate.batches_per_s);
        weir_json_number(json, "returns_per_batch", estimate.returns_per_batch);
        weir_json_integer(json, "points", estimate.points);
        weir_json_close(json, '{');
    }
    weir_json_close(json, '[');
}

/* ---- workers ---- */

/* Engines as {"gpu": 0, "index": 3}, one a bit. */
static void put_engines(struct weir_json *json, const char *key, const struct weir_alloc *alloc)
{
    weir_json_open(json, key, '[');
    for (uint32_t i = 0; i < alloc->device_count; i++) {
        const struct weir_device *const device = &alloc->devices[i];
        uint32_t mask = strcmp(key, "nvencs") == 0 ? device->nvenc_mask : device->nvdec_mask;
        for (; mask != 0; mask &= mask - 1) {
            weir_json_open(json, NULL, '{');
            weir_json_integer(json, "gpu", device->gpu);
            weir_json_integer(json, "index", __builtin_ctz(mask));
            weir_json_close(json, '{');
        }
    }
    weir_json_close(json, '[');
}

static void put_devices(struct weir_json *json, const struct weir_alloc *alloc)
{
    weir_json_open(json, "gpus", '[');
    for (uint32_t i = 0; i < alloc->device_count; i++) {
        const struct weir_device *const device = &alloc->devices[i];
        if (device->units == 0 && device->mem_bytes == 0)
            continue;
        weir_json_open(json, NULL, '{');
        weir_json_integer(json, "gpu", device->gpu);
        put_amount(json, "fraction", device->units);
        weir_json_integer(json, "mem_bytes", device->mem_bytes);
        if (device->mig != 0) {
            weir_json_integer(json, "profile", weir_device_profile(device));
            weir_json_integer(json, "start", weir_device_start(device));
        }
        weir_json_close(json, '{');
    }
    weir_json_close(json, '[');
    put_engines(json, "nvdecs", alloc);
    put_engines(json, "nvencs", alloc);
}

static void put_worker(const struct weir_export *out, const struct weir_worker *worker)
{
    const struct weir_alloc *const alloc = &worker->alloc;
    struct weir_json *const json = out->json;

    weir_json_open(json, NULL, '{');
    weir_json_word(json, "id", worker->id);
    if (worker->owner.kind == WEIR_OWNER_JOB) {
        weir_json_integer(json, "workload", worker->owner.index);
        weir_json_integer(json, "job", (int64_t)worker->owner.id);
    } else {
        weir_json_text(json, "stage", weir_view_pool(&out->host->view, worker->owner.index)->name);
        weir_json_integer(json, "stage_index", worker->owner.index);
    }
    weir_json_word(json, "node", weir_cluster_node(out->host->inventory, alloc->node)->id);
    put_amount(json, "cpus", alloc->cpu_units);
    weir_json_integer(json, "ram_bytes", alloc->ram_bytes);
    weir_json_integer(json, "state", worker->state);
    weir_json_integer(json, "since_ns", worker->since_ns);
    put_devices(json, alloc);
    weir_json_close(json, '{');
}

static int compare_sequences(const void *a, const void *b)
{
    const struct weir_worker_slot *const *const left = a;
    const struct weir_worker_slot *const *const right = b;

    return ((*left)->sequence > (*right)->sequence) - ((*left)->sequence < (*right)->sequence);
}

/* In the order in which they came: it decides ties. */
static weir_status put_workers(const struct weir_export *out)
{
    const struct weir_cluster *const cluster = out->host->inventory;
    const struct weir_worker_slot **const slots =
        weir_alloc(&out->host->allocator, (size_t)cluster->worker_count + 1,
                   sizeof(struct weir_worker_slot *));
    struct weir_worker worker;
    uint32_t count = 0;

    if (slots == NULL)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < cluster->slot_count; i++)
        if (cluster->slots[i].state != WEIR_SLOT_FREE)
            slots[count++] = &cluster->slots[i];
    qsort(slots, count, sizeof(struct weir_worker_slot *), compare_sequences);
    weir_json_open(out->json, "workers", '[');
    for (uint32_t i = 0; i < count; i++)
        if (weir_cluster_worker(cluster, slots[i]->id, &worker))
            put_worker(out, &worker);
    weir_json_close(out->json, '[');
    weir_free(&out->host->allocator, (void *)slots);
    return WEIR_OK;
}

/* ---- policies ---- */

/* The word of a CHOICE, "true" or "false" of a FLAG, the numbers of a list or text, else the
 * number. */
static void put_value(struct weir_json *json, const struct weir_param *param, double value,
                      const double *numbers)
{
    char text[64];
    const char *word = param->choices;

    if (param->kind == WEIR_PARAM_FLAG) {
        weir_json_flag(json, param->name, value > 0);
    } else if (param->kind == WEIR_PARAM_CHOICE) {
        for (uint32_t skip = (uint32_t)value; skip > 0 && strchr(word, '|') != NULL; skip--)
            word = strchr(word, '|') + 1;
        const size_t length = strcspn(word, "|");
        const size_t kept = length < sizeof text ? length : sizeof text - 1;
        memcpy(text, word, kept);
        text[kept] = '\0';
        weir_json_text(json, param->name, text);
    } else if (numbers != NULL) {
        weir_json_open(json, param->name, '[');
        for (uint32_t i = 0; i < (uint32_t)value; i++)
            weir_json_number(json, NULL, numbers[i]);
        weir_json_close(json, '[');
    } else {
        weir_json_number(json, param->name, value);
    }
}

static void put_params(struct weir_json *json, const char *key, const struct weir_policy_table *of,
                       const double *values)
{
    weir_json_open(json, key, '{');
    const struct weir_params all = { .values = values, .count = of->count };
    for (uint32_t i = 0; i < of->count; i++) {
        const double *numbers;
        (void)weir_params_list(of->params, of->count, &all, i, &numbers);
        put_value(json, &of->params[i], values[i], numbers);
    }
    weir_json_close(json, '{');
}

/* What a policy remembers. JSON has no infinite numbers: the largest stand for them. */
static weir_status put_memory(const struct weir_export *out, const char *key, uint32_t part)
{
    const struct weir_policy_state *const policy = weir_host_policy(out->host, part);
    const uint32_t count = policy->save == NULL ? 0 : policy->save(policy->state, NULL, 0);

    if (count == 0)
        return WEIR_OK;
    double *const numbers = weir_alloc(&out->host->allocator, count, sizeof *numbers);
    if (numbers == NULL)
        return WEIR_ENOMEM;
    (void)policy->save(policy->state, numbers, count);
    weir_json_open(out->json, key, '[');
    for (uint32_t i = 0; i < count; i++)
        weir_json_number(out->json, NULL,
                         isinf(numbers[i]) ? copysign(DBL_MAX, numbers[i]) : numbers[i]);
    weir_json_close(out->json, '[');
    weir_free(&out->host->allocator, numbers);
    return WEIR_OK;
}

static weir_status put_policy(const struct weir_export *out)
{
    const struct weir_policy_set *const set = &out->host->main;
    const struct weir_policy_table placement = WEIR_POLICY_TABLE("placement", set->placement);
    const struct weir_policy_table scaling = WEIR_POLICY_TABLE("scaling", set->scaling);
    const struct weir_policy_table queueing = WEIR_POLICY_TABLE("queueing", set->queueing);
    const struct weir_policy_table capacity = WEIR_POLICY_TABLE("capacity", set->capacity);
    struct weir_json *const json = out->json;

    weir_json_open(json, "policy", '{');
    weir_json_text(json, "placement", set->placement->name);
    put_params(json, "placement_params", &placement, set->placed.values);
    WEIR_TRY(put_memory(out, "placement_memory", WEIR_POLICY_PLACEMENT));
    weir_json_text(json, "scaling", set->scaling->name);
    put_params(json, "scaling_params", &scaling, set->scaled.values);
    WEIR_TRY(put_memory(out, "scaling_memory", WEIR_POLICY_SCALING));
    weir_json_text(json, "queueing", set->queueing->name);
    put_params(json, "queueing_params", &queueing, set->queued.values);
    WEIR_TRY(put_memory(out, "queueing_memory", WEIR_POLICY_QUEUEING));
    if (set->capacity->decide != NULL) {
        weir_json_text(json, "capacity", set->capacity->name);
        put_params(json, "capacity_params", &capacity, set->grown.values);
        WEIR_TRY(put_memory(out, "capacity_memory", WEIR_POLICY_CAPACITY));
    }
    if (out->host->fallback.scaling != NULL) {
        weir_json_text(json, "fallback", out->host->fallback.scaling->name);
        WEIR_TRY(put_memory(out, "fallback_memory", WEIR_POLICY_FALLBACK));
    }
    weir_json_text(json, "group_scorer", out->host->group_by_policy != 0 ? "placement" : "ray");
    weir_json_text(json, "group_report",
                   out->host->group_report == WEIR_GROUP_REPORT_STRICT ? "strict" : "all");
    if (out->host->group_devices != WEIR_GROUP_DEVICES_BUNDLE)
        weir_json_text(json, "group_devices", "group");
    weir_export_unless(json, "cut_min_gain", out->host->cut_min_gain, 0);
    if (out->host->hold_mode != WEIR_HOLD_NONE)
        weir_json_text(json, "hold_mode",
                       out->host->hold_mode == WEIR_HOLD_RESERVE ? "reserve" : "members");
    if (out->host->keeps_infeasible)
        weir_json_text(json, "infeasible", "wait");
    if (out->host->explain == WEIR_EXPLAIN_OFF)
        weir_json_text(json, "explain", "off");
    weir_json_close(json, '{');
    return WEIR_OK;
}

/* ---- the call ---- */

static void put_causes(struct weir_json *json, uint32_t causes)
{
    static const char *const words[] = { "timer", "wake", "jobs", "nodes", "workers", "capacity" };

    weir_json_open(json, "causes", '[');
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (((causes >> i) & 1) != 0)
            weir_json_text(json, NULL, words[i]);
    weir_json_close(json, '[');
}

static void put_wake(struct weir_json *json, const struct weir_wake *wake)
{
    weir_json_open(json, NULL, '{');
    weir_json_integer(json, "at_ns", wake->at_ns);
    if (wake->causes != 0)
        put_causes(json, wake->causes);
    weir_json_close(json, '{');
}

/* A reservation that begins by then is news to the call itself, which looks for the next. */
static void put_wakes(const struct weir_export *out, int64_t now_ns)
{
    const struct weir_host *const host = out->host;
    const struct weir_wake boundary = { .at_ns = host->jobs.reservations.next_ns };

    if (!weir_host_must_wake(host))
        return;
    weir_json_open(out->json, "wakes", '[');
    for (uint32_t i = 0; i < host->owed_count; i++)
        put_wake(out->json, &host->owed[i]);
    if (weir_reservations_must_wake(&host->jobs.reservations) && boundary.at_ns > now_ns &&
        !weir_host_owes_wake(host, &boundary))
        put_wake(out->json, &boundary);
    weir_json_close(out->json, '[');
}

/* Some kind of jobs is settled, and yet the truth refused nobody. */
static bool has_settled_alone(const struct weir_jobs *jobs)
{
    bool is_settled = false;

    for (uint32_t i = 0; i < jobs->kind_count && !is_settled; i++)
        is_settled = weir_jobs_is_settled(jobs, i);
    return is_settled && !jobs->has_refused;
}

static void put_call(const struct weir_export *out, const struct weir_call *call)
{
    const struct weir_host *const host = out->host;
    struct weir_json *const json = out->json;

    weir_json_integer(json, "time_ns", call->now_ns);
    put_causes(json, call->causes);
    weir_export_unless(json, "max_actions", call->max_actions, 0);
    if (call->deadline_ns != 0 && host->clock_ns != NULL)
        weir_json_integer(json, "time_left_ns",
                          call->deadline_ns - host->clock_ns(host->clock_state));
    weir_json_word(json, "seed", host->seed);
    weir_json_word(json, "decision", host->stats.decisions);
    weir_export_unless(json, "last_ns", host->now_ns, WEIR_UNKNOWN_TIME);
    weir_json_word(json, "next_worker", host->next_worker);
    if (host->jobs.surprises > 0)
        weir_json_word(json, "surprises", host->jobs.surprises);
    if (host->inventory->ended > 0) {
        weir_json_word(json, "workers_begun", host->inventory->begun);
        weir_json_word(json, "workers_ended", host->inventory->ended);
    }
    weir_json_flag(json, "may_start_jobs", host->is_dirty);
    if (has_settled_alone(&host->jobs))
        weir_json_flag(json, "none_refused", true);
    put_wakes(out, call->now_ns);
}

static weir_status put_document(struct weir_export *out, const struct weir_call *call)
{
    struct weir_json *const json = out->json;

    weir_json_open(json, NULL, '{');
    weir_json_text(json, "format", "weir-decision");
    weir_json_integer(json, "version", 3);
    weir_json_text(json, "command", "autoscale");
    put_call(out, call);
    WEIR_TRY(list_tables(out));
    put_nodes(out);
    put_offers(out);
    put_pools(out);
    WEIR_TRY(put_workers(out));
    weir_export_tenants(out);
    weir_export_licences(out);
    weir_export_reservations(out);
    weir_export_jobs(out);
    WEIR_TRY(put_policy(out));
    weir_json_close(json, '{');
    return json->status;
}

weir_status weir_host_export_call(struct weir_host *host, const struct weir_call *call,
                                  const struct weir_sink *sink)
{
    struct weir_json json = { .sink = sink };
    struct weir_export out = { .host = host, .json = &json };

    if (host == NULL || call == NULL || sink == NULL || sink->write == NULL)
        return WEIR_EINVAL;
    if (call->size < sizeof *call)
        return WEIR_EABI;
    (void)weir_host_view(host, call->now_ns);
    const weir_status status = put_document(&out, call);
    weir_free(&host->allocator, (void *)out.tables);
    return status;
}

weir_status weir_host_export(struct weir_host *host, int64_t now_ns, const struct weir_sink *sink)
{
    const struct weir_call call = { .size = sizeof call,
                                    .causes = WEIR_CAUSE_TIMER,
                                    .now_ns = now_ns };

    return weir_host_export_call(host, &call, sink);
}
