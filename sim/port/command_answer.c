/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a line of JSON to a plan. Amounts that an answer leaves out are those of the stage's shape.
 * Every mistake is WEIR_EPOLICY with the path of the value.
 */
#include "sim/port/command_policy.h"

#include "sim/port/alloc_json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

struct answer {
    const struct weir_view *view;
    struct weir_plan *plan;
    struct weir_error *error;
};

static weir_status refuse(struct weir_error *error, const char *path, const char *what)
{
    return weir_fail(error, WEIR_EPOLICY, "its answer: %s %s", path, what);
}

/* ---- values ---- */

/* Ids are texts as in the question, or whole numbers. */
static bool read_id(const json_t *json, uint64_t *id)
{
    const char *text = json_string_value(json);
    char *end = NULL;
    if (json_is_integer(json) && json_integer_value(json) >= 0) {
        *id = (uint64_t)json_integer_value(json);
        return true;
    }
    if (text == NULL || text[0] < '0' || text[0] > '9')
        return false;
    *id = strtoull(text, &end, 10);
    return *end == '\0';
}

static weir_status read_units(const struct answer *answer, const json_t *json, const char *key,
                              int64_t initial, int64_t *units)
{
    const json_t *value = json_object_get(json, key);
    *units = initial;
    if (value == NULL)
        return WEIR_OK;
    if (!json_is_number(value) ||
        weir_units_from_amount(json_number_value(value), WEIR_QUANTUM_EXACT, units, NULL) !=
            WEIR_OK)
        return refuse(answer->error, key, "is no amount");
    return WEIR_OK;
}

static int64_t read_bytes(const json_t *json, const char *key, int64_t initial)
{
    const json_t *value = json_object_get(json, key);
    return json_is_integer(value) ? json_integer_value(value) : initial;
}

/* ---- allocations ---- */

static weir_status read_alloc(const struct answer *answer, const json_t *worker,
                              const struct weir_shape *shape, struct weir_alloc *alloc)
{
    uint64_t node = 0;
    memset(alloc, 0, sizeof *alloc);
    alloc->node = read_id(json_object_get(worker, "node"), &node)
                      ? weir_cluster_find_node(answer->view->cluster, node)
                      : WEIR_NO_INDEX;
    if (alloc->node == WEIR_NO_INDEX)
        return refuse(answer->error, "new[].node", "is no id of a node");
    WEIR_TRY(read_units(answer, worker, "cpus", shape->cpu_units, &alloc->cpu_units));
    alloc->ram_bytes = read_bytes(worker, "ram_bytes", shape->ram_bytes);
    if (sim_alloc_read_devices(worker, shape, alloc, answer->error) == WEIR_OK)
        return WEIR_OK;
    weir_error_wrap(answer->error, "its answer: new[]");
    return WEIR_EPOLICY;
}

/* ---- stages ---- */

/* Its place in the list when the name there fits (pipelines may share names), else by name. */
static weir_status find_stage(const struct answer *answer, const json_t *json, size_t place,
                              uint32_t *stage)
{
    const struct weir_view *view = answer->view;
    const char *name = json_string_value(json_object_get(json, "name"));
    if (name == NULL)
        return refuse(answer->error, "stages[].name", "is missing");
    *stage = (uint32_t)place;
    if (place < view->pool_count && strcmp(weir_view_pool(view, *stage)->name, name) == 0)
        return WEIR_OK;
    for (*stage = 0; *stage < view->pool_count; (*stage)++)
        if (strcmp(weir_view_pool(view, *stage)->name, name) == 0)
            return WEIR_OK;
    return weir_fail(answer->error, WEIR_EPOLICY, "its answer: there is no stage '%s'", name);
}

static weir_status read_stops(const struct answer *answer, const json_t *stages)
{
    const json_t *json = NULL;
    const json_t *worker = NULL;
    size_t i = 0;
    size_t k = 0;
    json_array_foreach(stages, i, json)
    {
        uint32_t stage = 0;
        uint64_t id = 0;
        WEIR_TRY(find_stage(answer, json, i, &stage));
        json_array_foreach(json_object_get(json, "deleted"), k, worker)
        {
            if (!read_id(worker, &id))
                return refuse(answer->error, "stages[].deleted[]", "is no id of a worker");
            WEIR_TRY(weir_plan_stop(answer->plan, weir_pool_owner(stage), id));
        }
    }
    return WEIR_OK;
}

static weir_status read_starts(const struct answer *answer, const json_t *stages)
{
    const json_t *json = NULL;
    const json_t *worker = NULL;
    struct weir_alloc alloc;
    size_t i = 0;
    size_t k = 0;
    json_array_foreach(stages, i, json)
    {
        uint32_t stage = 0;
        WEIR_TRY(find_stage(answer, json, i, &stage));
        const struct weir_shape *shape = &weir_view_pool(answer->view, stage)->shape;
        json_array_foreach(json_object_get(json, "new"), k, worker)
        {
            WEIR_TRY(read_alloc(answer, worker, shape, &alloc));
            WEIR_TRY(weir_plan_start(answer->plan, weir_pool_owner(stage),
                                     weir_plan_new_worker(answer->plan), &alloc, NULL));
        }
    }
    return WEIR_OK;
}

static weir_status read_slots(const struct answer *answer, const json_t *slots)
{
    const json_t *json = NULL;
    size_t i = 0;
    if (slots != NULL && json_array_size(slots) != answer->view->pool_count)
        return refuse(answer->error, "slots[]", "needs one count for every stage");
    json_array_foreach(slots, i, json)
    {
        const json_int_t count = json_integer_value(json);
        if (!json_is_integer(json) || count < 1 || count > UINT32_MAX)
            return refuse(answer->error, "slots[]", "is no count");
        if (count != weir_view_pool(answer->view, (uint32_t)i)->slots)
            WEIR_TRY(weir_plan_set_slots(answer->plan, (uint32_t)i, (uint32_t)count));
    }
    return WEIR_OK;
}

/* ---- the whole ---- */

/* The document of a line; NULL with the reason in `error`. */
static json_t *parse(const char *line, size_t length, struct weir_error *error)
{
    json_error_t fault;
    json_t *json = json_loadb(line, length, JSON_REJECT_DUPLICATES, &fault);
    if (json == NULL)
        (void)weir_fail(error, WEIR_EPOLICY, "its answer is no JSON (column %d): %s", fault.column,
                        fault.text);
    const char *status = json_string_value(json_object_get(json, "status"));
    if (json == NULL || (json_is_object(json) && (status == NULL || strcmp(status, "ok") == 0)))
        return json;
    const char *message = json_string_value(json_object_get(json, "error_message"));
    if (!json_is_object(json))
        (void)weir_fail(error, WEIR_EPOLICY, "its answer is no object");
    else
        (void)weir_fail(error, WEIR_EPOLICY, "it says: %s", message == NULL ? status : message);
    json_decref(json);
    return NULL;
}

weir_status sim_command_accepted(const char *line, size_t length, struct weir_error *error)
{
    json_t *json = parse(line, length, error);
    const weir_status status = json == NULL ? WEIR_EPOLICY : WEIR_OK;
    json_decref(json);
    return status;
}

weir_status sim_command_plan(const char *line, size_t length, const struct weir_view *view,
                             struct weir_plan *plan, struct weir_error *error)
{
    const struct answer answer = { view, plan, error };
    json_t *json = parse(line, length, error);
    if (json == NULL)
        return WEIR_EPOLICY;
    const json_t *stages = json_object_get(json, "stages");
    weir_status status = json_is_array(stages) ? read_stops(&answer, stages)
                                               : refuse(error, "stages[]", "is missing");
    if (status == WEIR_OK)
        status = read_slots(&answer, json_object_get(json, "slots"));
    if (status == WEIR_OK)
        status = read_starts(&answer, stages);
    json_decref(json);
    return status;
}

/* ---- placement and queueing ---- */

weir_status sim_command_place(struct sim_command_line line, const struct weir_place_query *query,
                              struct weir_alloc *alloc, bool *is_refused, struct weir_error *error)
{
    uint64_t id = 0;
    json_t *json = parse(line.text, line.length, error);
    if (json == NULL)
        return WEIR_EPOLICY;
    const json_t *node = json_object_get(json, "node");
    const uint32_t index =
        read_id(node, &id) ? weir_cluster_find_node(query->cluster, id) : WEIR_NO_INDEX;
    weir_status status = WEIR_OK;
    *is_refused = json_is_null(node);
    if (!*is_refused && index == WEIR_NO_INDEX)
        status = refuse(error, "node", "is no id of a node, and not null");
    else if (!*is_refused &&
             weir_place_first(query->cluster, index, query->shape, alloc) != WEIR_OK)
        status = weir_fail(error, WEIR_EPOLICY, "its answer: it does not fit on node %llu",
                           (unsigned long long)id);
    json_decref(json);
    return status;
}

weir_status sim_command_keys(struct sim_command_line line,
                             weir_status (*take)(void *state, const struct sim_command_key *key,
                                                 struct weir_error *error),
                             void *state, struct weir_error *error)
{
    const char *job = NULL;
    json_t *value = NULL;
    json_t *json = parse(line.text, line.length, error);
    if (json == NULL)
        return WEIR_EPOLICY;
    json_t *keys = json_object_get(json, "keys");
    weir_status status = json_is_object(keys) ? WEIR_OK : refuse(error, "keys{}", "is missing");
    json_object_foreach(keys, job, value)
    {
        const struct sim_command_key key = { job, json_number_value(value) };
        if (status == WEIR_OK && !json_is_number(value) && !json_is_null(value))
            status = refuse(error, "keys{}", "is no number");
        if (status == WEIR_OK && json_is_number(value))
            status = take(state, &key, error);
    }
    json_decref(json);
    return status;
}
