/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The op `allocator`: workers come and go one by one or as a list, each step whole or not at all,
 * on the inventory of libweir.
 */
#include "tests/replay/xenna.h"

#include <string.h>

struct shop {
    const struct replay_xenna *xenna;
    struct weir_cluster *cluster;
    json_t *running; /* {id, first, count}: members of a group have ids in a row */
    uint64_t next;
};

/* ---- steps ---- */

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static weir_status step_list(const json_t *value, struct replay_step *step,
                             struct weir_error *error)
{
    json_t *const kept = replay_copy(value);

    step->list = json_is_array(value) ? kept : json_pack("[o]", kept);
    for (size_t i = 0; i < json_array_size(step->list); i++) {
        const json_t *const entry = json_array_get(step->list, i);
        if (step->is_add ? json_is_string(json_object_get(entry, "id")) : json_is_string(entry))
            continue;
        json_decref(step->list);
        return weir_fail(error, WEIR_EFORMAT, "%s must name %s", step->is_add ? "add" : "remove",
                         step->is_add ? "workers with an id" : "ids of workers");
    }
    return WEIR_OK;
}

weir_status replay_step_read(const json_t *json, struct replay_step *step, struct weir_error *error)
{
    json_t *const copy = json_is_object(json) ? replay_copy(json) : NULL;
    void *at = copy != NULL ? json_object_iter(copy) : NULL;
    weir_status status = WEIR_EFORMAT;
    bool is_found = false;

    for (; !is_found && at != NULL; at = json_object_iter_next(copy, at)) {
        const char *const key = json_object_iter_key(at);
        step->is_add = begins_with(key, "add");
        is_found = step->is_add || begins_with(key, "remove") || begins_with(key, "delete");
        if (is_found)
            status = step_list(json_object_iter_value(at), step, error);
    }
    json_decref(copy);
    return is_found ? status
                    : weir_fail(error, WEIR_EFORMAT, "a step must be add or remove of workers");
}

/* ---- adding ---- */

/* Whether the document places all of it where there is something: else the original aborts. */
static bool is_placeable(const struct shop *shop, const json_t *plain)
{
    const json_t *const gpus = json_object_get(plain, "gpus");
    const uint32_t node = decide_find(shop->xenna->nodes, "id", replay_text(plain, "node"));

    if (node == WEIR_NO_INDEX)
        return false;
    for (size_t i = 0; i < json_array_size(gpus); i++) {
        if (!(decide_number_or(json_array_get(gpus, i), "gpu", 0) <
              weir_cluster_node(shop->cluster, node)->gpu_count))
            return false;
    }
    return true;
}

/* All allocations of a worker; "ok", the name of the original's error, or NULL = it aborts. */
static const char *add_one(struct shop *shop, const json_t *worker)
{
    json_t *const parts = json_object_get(worker, "resources");
    json_t *const list =
        json_is_array(parts) ? json_incref(parts) : json_pack("[o]", replay_copy(worker));
    const size_t count = json_array_size(list);
    const char *result = "ok";

    for (size_t i = 0; result != NULL && strcmp(result, "ok") == 0 && i < count; i++) {
        struct weir_alloc alloc;
        json_t *const plain = replay_xenna_worker(shop->xenna, json_array_get(list, i));
        if (!is_placeable(shop, plain))
            result = NULL;
        else if (decide_alloc(plain, shop->xenna->nodes, &alloc, NULL) != WEIR_OK ||
                 weir_cluster_add_worker(shop->cluster, shop->next + i, weir_pool_owner(0), &alloc,
                                         NULL) != WEIR_OK)
            result = "NotEnoughResources";
        json_decref(plain);
    }
    json_decref(list);
    json_array_append_new(shop->running,
                          json_pack("{s:O, s:I, s:I}", "id", json_object_get(worker, "id"), "first",
                                    (json_int_t)shop->next, "count", (json_int_t)count));
    shop->next += count;
    return result;
}

static bool is_double(const struct shop *shop, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *const id = decide_name(list, i, "id");
        if (decide_find(list, "id", id) != i ||
            decide_find(shop->running, "id", id) != WEIR_NO_INDEX)
            return true;
    }
    return false;
}

static const char *add_all(struct shop *shop, const json_t *list)
{
    const size_t before = json_array_size(shop->running);
    const char *result = "ok";

    if (is_double(shop, list))
        return "DuplicateWorkerId";
    if (weir_cluster_mark(shop->cluster) != WEIR_OK)
        return NULL;
    for (size_t i = 0; result != NULL && strcmp(result, "ok") == 0 && i < json_array_size(list);
         i++)
        result = add_one(shop, json_array_get(list, i));
    if (result != NULL && strcmp(result, "ok") == 0) {
        weir_cluster_release(shop->cluster);
        return result;
    }
    weir_cluster_rollback(shop->cluster);
    while (json_array_size(shop->running) > before)
        json_array_remove(shop->running, json_array_size(shop->running) - 1);
    return result;
}

/* ---- removing ---- */

static void remove_one(struct shop *shop, const char *id)
{
    const uint32_t index = decide_find(shop->running, "id", id);
    const json_t *const worker = json_array_get(shop->running, index);
    const json_int_t first = json_integer_value(json_object_get(worker, "first"));
    const json_int_t count = json_integer_value(json_object_get(worker, "count"));

    for (json_int_t i = 0; i < count; i++)
        (void)weir_cluster_remove_worker(shop->cluster, (uint64_t)(first + i), NULL);
    if (worker != NULL)
        json_array_remove(shop->running, index);
}

static const char *remove_all(struct shop *shop, const json_t *list)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (decide_find(shop->running, "id", decide_name(list, i, "id")) == WEIR_NO_INDEX)
            return "WorkerNotFound";
    }
    for (size_t i = 0; i < json_array_size(list); i++)
        remove_one(shop, decide_name(list, i, "id"));
    return "ok";
}

/* ---- the question ---- */

static weir_status run_steps(struct shop *shop, const json_t *steps, json_t **answer,
                             struct weir_error *error)
{
    json_t *const list = json_array();
    weir_status status = WEIR_OK;
    const char *result = "ok";

    for (size_t i = 0; status == WEIR_OK && result != NULL && i < json_array_size(steps); i++) {
        struct replay_step step;
        status = replay_step_read(json_array_get(steps, i), &step, error);
        if (status != WEIR_OK) {
            weir_error_wrap(error, "steps[%zu]", i);
            break;
        }
        result = step.is_add ? add_all(shop, step.list) : remove_all(shop, step.list);
        json_decref(step.list);
        if (result != NULL)
            json_array_append_new(list,
                                  json_pack("{s:s, s:o}", "result", result, "cluster",
                                            replay_xenna_cluster_json(shop->xenna, shop->cluster)));
    }
    if (status == WEIR_OK)
        *answer = result != NULL
                      ? json_pack("{s:O}", "steps", list)
                      : json_pack("{s:s, s:O}", "panic", "no such node or GPU", "steps", list);
    json_decref(list);
    return status;
}

weir_status replay_allocator(struct replay_xenna *xenna, json_t **answer, struct weir_error *error)
{
    struct shop shop = { .xenna = xenna, .next = UINT64_C(1) << 40 };
    json_t *steps = NULL;

    WEIR_TRY(decide_get_array(xenna->input, "steps", &steps, error));
    json_t *const nobody = json_array();
    weir_status status = replay_xenna_cluster(xenna, nobody, &shop.cluster, error);
    json_decref(nobody);
    WEIR_TRY(status);
    shop.running = json_array();
    status = run_steps(&shop, steps, answer, error);
    json_decref(shop.running);
    weir_cluster_destroy(shop.cluster);
    return status;
}
