/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The allocator of version N, plain (see oracle_allocator.h). */
#include "tests/replay/oracle_allocator.h"

#include "tests/replay/xenna.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_GPUS = 64, STEP = 65536 };

struct books {
    const char *id;
    int64_t total, used; /* CPUs */
    int64_t gpus[MOST_GPUS];
    size_t gpu_count;
};

struct shop {
    struct books *nodes; /* ascending by id */
    size_t node_count;
    json_t *running; /* workers with a list `resources` */
};

static int64_t steps_of(const json_t *object, const char *key)
{
    return llrint(decide_number_or(object, key, 0) * STEP);
}

/* ---- one allocation ---- */

static struct books *node_of(const struct shop *shop, const json_t *alloc)
{
    for (size_t i = 0; i < shop->node_count; i++) {
        if (strcmp(shop->nodes[i].id, replay_text(alloc, "node")) == 0)
            return &shop->nodes[i];
    }
    return NULL;
}

static bool is_over(const struct books *node)
{
    bool over = node->used > node->total;

    for (size_t g = 0; g < node->gpu_count; g++)
        over = over || node->gpus[g] > STEP;
    return over;
}

/* Adds (1) or gives back (-1); whether nothing is overdrawn then. Unknown places do not fit. */
static bool apply(struct shop *shop, const json_t *alloc, int sign)
{
    const json_t *const gpus = json_object_get(alloc, "gpus");
    struct books *const node = node_of(shop, alloc);

    if (node == NULL)
        return false;
    node->used += sign * steps_of(alloc, "cpus");
    for (size_t i = 0; i < json_array_size(gpus); i++) {
        const json_t *const part = json_array_get(gpus, i);
        const double offset = decide_number_or(part, "offset", 0);
        if (offset >= 0 && offset < (double)node->gpu_count)
            node->gpus[(size_t)offset] += sign * steps_of(part, "fraction");
    }
    return !is_over(node);
}

/* ---- workers ---- */

static json_t *resources_of(const json_t *worker)
{
    json_t *const parts = json_object_get(worker, "resources");

    return json_is_array(parts) ? json_incref(parts) : json_pack("[o]", replay_copy(worker));
}

static void give_back(struct shop *shop, size_t index)
{
    json_t *const resources = resources_of(json_array_get(shop->running, index));

    for (size_t i = 0; i < json_array_size(resources); i++)
        (void)apply(shop, json_array_get(resources, i), -1);
    json_decref(resources);
    json_array_remove(shop->running, index);
}

static const char *add_one(struct shop *shop, json_t *worker)
{
    json_t *const resources = resources_of(worker);
    bool fits = true;

    json_array_append(shop->running, worker);
    for (size_t i = 0; i < json_array_size(resources); i++)
        fits = apply(shop, json_array_get(resources, i), 1) && fits;
    json_decref(resources);
    if (fits)
        return "ok";
    give_back(shop, json_array_size(shop->running) - 1);
    return "NotEnoughResources";
}

static bool is_double(const struct shop *shop, const json_t *list, size_t index)
{
    const char *const id = replay_text(json_array_get(list, index), "id");

    for (size_t i = 0; i < index; i++) {
        if (strcmp(replay_text(json_array_get(list, i), "id"), id) == 0)
            return true;
    }
    return decide_find(shop->running, "id", id) != WEIR_NO_INDEX;
}

static const char *add_all(struct shop *shop, const json_t *list)
{
    const size_t before = json_array_size(shop->running);
    const char *result = "ok";

    for (size_t i = 0; i < json_array_size(list); i++) {
        if (is_double(shop, list, i))
            return "DuplicateWorkerId";
    }
    for (size_t i = 0; strcmp(result, "ok") == 0 && i < json_array_size(list); i++)
        result = add_one(shop, json_array_get(list, i));
    while (strcmp(result, "ok") != 0 && json_array_size(shop->running) > before)
        give_back(shop, json_array_size(shop->running) - 1);
    return result;
}

static const char *remove_all(struct shop *shop, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (decide_find(shop->running, "id", decide_name(list, i, "id")) == WEIR_NO_INDEX)
            return "WorkerNotFound";
    }
    for (size_t i = 0; i < json_array_size(list); i++)
        give_back(shop, decide_find(shop->running, "id", decide_name(list, i, "id")));
    return "ok";
}

/* ---- the question ---- */

static void open_shop(const json_t *input, struct shop *shop)
{
    json_t *const nodes =
        replay_xenna_sorted(json_object_get(json_object_get(input, "cluster"), "nodes"));

    *shop = (struct shop){ .running = json_array(), .node_count = json_array_size(nodes) };
    shop->nodes = calloc(shop->node_count + 1, sizeof *shop->nodes);
    for (size_t i = 0; shop->nodes != NULL && i < shop->node_count; i++) {
        const json_t *const json = json_array_get(nodes, i);
        const json_t *const gpus = json_object_get(json, "gpus");
        struct books *const node = &shop->nodes[i];
        *node = (struct books){ .id = replay_text(json, "id"),
                                .total = steps_of(json, "cpus"),
                                .used = steps_of(json, "used_cpus") };
        node->gpu_count = json_array_size(gpus) < MOST_GPUS ? json_array_size(gpus) : MOST_GPUS;
        for (size_t g = 0; g < node->gpu_count; g++)
            node->gpus[g] = steps_of(json_array_get(gpus, g), "used");
    }
    json_decref(nodes);
}

static json_t *cluster_json(const struct shop *shop)
{
    json_t *const list = json_array();

    for (size_t i = 0; i < shop->node_count; i++) {
        const struct books *const node = &shop->nodes[i];
        json_t *const gpus = json_array();
        for (size_t g = 0; g < node->gpu_count; g++)
            json_array_append_new(gpus, json_real((double)node->gpus[g] / STEP));
        json_array_append_new(list, json_pack("{s:s, s:f, s:f, s:o}", "id", node->id, "cpus",
                                              (double)node->total / STEP, "used_cpus",
                                              (double)node->used / STEP, "gpus_used", gpus));
    }
    return list;
}

json_t *oracle_allocator(const json_t *input)
{
    const json_t *const steps = json_object_get(input, "steps");
    json_t *const results = json_array();
    struct replay_step step;
    struct shop shop;
    bool is_known = true;

    open_shop(input, &shop);
    for (size_t i = 0; is_known && i < json_array_size(steps); i++) {
        is_known = replay_step_read(json_array_get(steps, i), &step, NULL) == WEIR_OK;
        if (!is_known)
            break;
        const char *const result =
            step.is_add ? add_all(&shop, step.list) : remove_all(&shop, step.list);
        json_array_append_new(
            results, json_pack("{s:s, s:o}", "result", result, "cluster", cluster_json(&shop)));
        json_decref(step.list);
    }
    json_decref(shop.running);
    free(shop.nodes);
    if (is_known)
        return json_pack("{s:o}", "steps", results);
    json_decref(results);
    return NULL;
}

static bool alloc_names_twice(const json_t *alloc)
{
    const json_t *const gpus = json_object_get(alloc, "gpus");

    for (size_t i = 0; i < json_array_size(gpus); i++) {
        for (size_t k = 0; k < i; k++) {
            if (json_equal(json_object_get(json_array_get(gpus, i), "offset"),
                           json_object_get(json_array_get(gpus, k), "offset")))
                return true;
        }
    }
    return false;
}

bool oracle_names_gpu_twice(const json_t *input)
{
    const json_t *const steps = json_object_get(input, "steps");
    struct replay_step step;
    bool found = false;

    for (size_t i = 0; !found && i < json_array_size(steps); i++) {
        if (replay_step_read(json_array_get(steps, i), &step, NULL) != WEIR_OK)
            continue;
        for (size_t k = 0; !found && k < json_array_size(step.list); k++) {
            json_t *const resources = resources_of(json_array_get(step.list, k));
            for (size_t r = 0; !found && r < json_array_size(resources); r++)
                found = alloc_names_twice(json_array_get(resources, r));
            json_decref(resources);
        }
        json_decref(step.list);
    }
    return found;
}
