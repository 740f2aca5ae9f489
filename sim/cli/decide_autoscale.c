/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The answer to a document: a host in its state makes one decision.
 *
 * Workers of the document have the ids 1, 2, ... in list order and are adopted stage by stage; new
 * ones are printed as n0, n1, ... in the order they were made, or by number when the document says
 * where numbers go on (`next_worker`, as exported by a running host).
 */
#include "sim/cli/decide_format.h"
#include "sim/cli/decide_input.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 400, MOST_AVAILABLE_NODES = 12 };

struct autoscale {
    const json_t *input;
    json_t *nodes;
    json_t *stages;
    const json_t *workers;
    struct weir_host *host;
    const struct weir_plan *plan;
    uint64_t first_new; /* id of the first new worker */
    int64_t now_ns;
};

/* ---- the host ---- */

static weir_status add_nodes(struct autoscale *run, struct weir_error *error)
{
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
    struct weir_node_spec spec;
    uint32_t index = 0;

    for (size_t i = 0; i < json_array_size(run->nodes); i++) {
        const json_t *const json = json_array_get(run->nodes, i);
        const uint32_t flags = (decide_flag_or(json, "up", true) ? WEIR_NODE_UP : 0U) |
                               (decide_flag_or(json, "cordoned", false) ? WEIR_NODE_CORDONED : 0U);
        weir_status status = decide_node(json, i, gpus, &spec, error);
        if (status == WEIR_OK)
            status = weir_host_add_node(run->host, &spec, &index, error);
        if (status == WEIR_OK && flags != WEIR_NODE_UP)
            status = weir_host_set_node(run->host, index, flags, run->now_ns);
        if (status != WEIR_OK) {
            weir_error_wrap(error, "nodes[%zu]", i);
            return status;
        }
    }
    return WEIR_OK;
}

static struct weir_estimate read_estimate(const json_t *json)
{
    return (struct weir_estimate){
        .batches_per_s = decide_number_or(json, "batches_per_s", (double)NAN),
        .returns_per_batch = decide_number_or(json, "returns_per_batch", (double)NAN),
        .points = (uint32_t)decide_number_or(json, "points", 0),
    };
}

static weir_status add_stage(struct autoscale *run, size_t i, struct weir_error *error)
{
    const json_t *const json = json_array_get(run->stages, i);
    const json_t *const slots = json_array_get(json_object_get(run->input, "slots"), i);
    struct weir_pool_view stage = {
        .pipeline = (uint32_t)decide_number_or(json, "pipeline", 0),
        .requested_workers = (int32_t)decide_number_or(json, "requested_workers", -1),
        .slots = json_is_integer(slots) ? (uint32_t)json_integer_value(slots) : 2,
        .over_provision = decide_number_or(json, "over_provision_factor", 0),
        .speed_hint_per_s = decide_number_or(json, "speed_hint", (double)NAN),
    };
    const struct weir_pool_update update = {
        .ready = (uint32_t)decide_number_or(json, "ready", 0),
        .busy = (uint32_t)decide_number_or(json, "busy", 0),
        .finished = decide_flag_or(json, "finished", false),
        .slots = stage.slots,
        .queued_items = (uint64_t)decide_number_or(json, "queued_items", 0),
        .requested_workers = stage.requested_workers,
    };
    double batch;
    json_t *shape = NULL;
    uint32_t index;

    WEIR_TRY(decide_get_text(json, "name", &stage.name, error));
    WEIR_TRY(decide_get_number(json, "batch_size", &batch, error));
    WEIR_TRY(decide_get(json, "shape", &shape, error));
    const weir_status status = decide_shape(shape, &stage.shape, error);
    if (status != WEIR_OK) {
        weir_error_wrap(error, "shape");
        return status;
    }
    stage.batch_size = batch >= 1 && batch <= UINT32_MAX ? (uint32_t)batch : 0;
    WEIR_TRY(weir_host_add_pool(run->host, &stage, &index, error));
    WEIR_TRY(weir_host_update_pool(run->host, index, &update));
    return weir_host_set_estimate(
        run->host, index,
        read_estimate(json_array_get(json_object_get(run->input, "estimates"), i)));
}

/* Which stage a worker of the document belongs to. */
static weir_status worker_stage(const struct autoscale *run, const json_t *worker, uint32_t *stage,
                                struct weir_error *error)
{
    const double index = decide_number_or(worker, "stage_index", -1);
    const char *name;

    if (index >= 0) {
        *stage = (uint32_t)index;
        return WEIR_OK;
    }
    WEIR_TRY(decide_get_text(worker, "stage", &name, error));
    *stage = decide_find(run->stages, "name", name);
    if (*stage == WEIR_NO_INDEX)
        return weir_fail(error, WEIR_EFORMAT, "stage %s is not listed", name);
    return WEIR_OK;
}

static weir_status adopt_worker(struct autoscale *run, size_t i, uint32_t wanted,
                                struct weir_error *error)
{
    const json_t *const worker = json_array_get(run->workers, i);
    struct weir_alloc alloc;
    uint32_t stage;

    WEIR_TRY(worker_stage(run, worker, &stage, error));
    if (stage != wanted)
        return WEIR_OK;
    WEIR_TRY(decide_alloc(worker, run->nodes, &alloc, error));
    return weir_host_adopt_worker(run->host, i + 1, weir_pool_owner(stage), &alloc, error);
}

static weir_status fill_host(struct autoscale *run, struct weir_error *error)
{
    const size_t workers = json_array_size(run->workers);

    WEIR_TRY(add_nodes(run, error));
    for (size_t i = 0; i < json_array_size(run->stages); i++) {
        weir_status status = add_stage(run, i, error);
        if (status != WEIR_OK)
            weir_error_wrap(error, "stages[%zu]", i);
        for (size_t k = 0; status == WEIR_OK && k < workers; k++) {
            status = adopt_worker(run, k, (uint32_t)i, error);
            if (status != WEIR_OK)
                weir_error_wrap(error, "workers[%zu]", k);
        }
        if (status != WEIR_OK)
            return status;
    }
    return WEIR_OK;
}

/* ---- the answer ---- */

/* The name of a worker of the document, or of a new one, in `text`. */
static const char *worker_name(const struct autoscale *run, uint64_t id, char text[24])
{
    const json_t *const next = json_object_get(run->input, "next_worker");

    if (id < run->first_new)
        return decide_name(run->workers, id - 1, "id");
    if (json_is_integer(next))
        snprintf(text, 24, "%" PRIu64, (uint64_t)json_integer_value(next) + (id - run->first_new));
    else
        snprintf(text, 24, "n%" PRIu64, id - run->first_new);
    return text;
}

/* The cluster as it is when every action has succeeded. */
static weir_status carry_out(const struct autoscale *run, struct weir_cluster **after,
                             struct weir_error *error)
{
    struct weir_cluster *made = NULL;
    weir_status status = WEIR_OK;

    if (weir_cluster_copy(weir_host_cluster(run->host), &made) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    for (uint32_t i = 0; status == WEIR_OK && i < weir_plan_count(run->plan); i++) {
        const struct weir_action *const action = weir_plan_action(run->plan, i);
        if (action->verb == WEIR_VERB_STOP)
            status = weir_cluster_remove_worker(made, action->worker, error);
        else if (action->verb == WEIR_VERB_START)
            status =
                weir_cluster_add_worker(made, action->worker, action->owner, &action->alloc, error);
    }
    if (status != WEIR_OK)
        weir_cluster_destroy(made);
    else
        *after = made;
    return status;
}

static json_t *stage_json(const struct autoscale *run, uint32_t stage)
{
    const struct weir_pool_note *const note = weir_plan_pool_note(run->plan, stage);
    const uint32_t before = weir_cluster_pool_workers(weir_host_cluster(run->host), stage);
    json_t *const started = json_array();
    json_t *const stopped = json_array();
    char text[24];

    for (uint32_t i = 0; i < weir_plan_count(run->plan); i++) {
        const struct weir_action *const action = weir_plan_action(run->plan, i);
        if (action->owner.index != stage)
            continue;
        const char *const name = worker_name(run, action->worker, text);
        if (action->verb == WEIR_VERB_START) {
            json_t *const json = decide_alloc_json(&action->alloc, run->nodes, name);
            if (action->group != 0)
                json_object_set_new(json, "group",
                                    json_string(worker_name(run, action->group, text)));
            json_array_append_new(started, json);
        } else if (action->verb == WEIR_VERB_STOP)
            json_array_append_new(stopped, json_string(name));
    }
    const size_t news = json_array_size(started);
    const size_t olds = json_array_size(stopped);
    json_t *const json =
        json_pack("{s:s, s:i, s:i, s:i, s:i, s:o, s:o, s:[]}", "name",
                  decide_name(run->stages, stage, "name"), "workers_before", (int)before,
                  "workers_after", (int)(before + news - olds), "num_new", (int)news, "num_deleted",
                  (int)olds, "new", started, "deleted", stopped, "in_both_lists");
    if (note != NULL) {
        json_object_set_new(json, "binding", json_string(weir_reason_text(note->binding)));
        json_object_set_new(json, "throughput_per_s", json_real(note->throughput_per_s));
    }
    return json;
}

/* What a worker of a step holds: from the plan, or from before. */
static json_t *step_alloc(const struct autoscale *run, const json_t *starts, uint64_t worker)
{
    char key[24];
    struct weir_worker held;

    snprintf(key, sizeof key, "%" PRIu64, worker);
    json_t *const index = json_object_get(starts, key);
    if (index != NULL)
        return decide_alloc_json(
            &weir_plan_action(run->plan, (uint32_t)json_integer_value(index))->alloc, run->nodes,
            NULL);
    if (weir_cluster_worker(weir_host_cluster(run->host), worker, &held))
        return decide_alloc_json(&held.alloc, run->nodes, NULL);
    return json_null();
}

/* Where the plan starts each new worker. */
static json_t *index_starts(const struct autoscale *run)
{
    json_t *const starts = json_object();
    char key[24];

    for (uint32_t i = 0; i < weir_plan_count(run->plan); i++) {
        const struct weir_action *const action = weir_plan_action(run->plan, i);
        if (action->verb != WEIR_VERB_START)
            continue;
        snprintf(key, sizeof key, "%" PRIu64, action->worker);
        json_object_set_new(starts, key, json_integer(i));
    }
    return starts;
}

static json_t *trace_json(const struct autoscale *run)
{
    const uint32_t count = weir_plan_step_count(run->plan);
    json_t *const starts = index_starts(run);
    json_t *const list = json_array();
    char text[24];

    for (uint32_t i = 0; i < count && i < MOST_STEPS; i++) {
        const struct weir_step *const step = weir_plan_step_at(run->plan, i);
        const char *const name = worker_name(run, step->worker, text);
        json_t *json;
        if (step->is_removal != 0)
            json = json_pack("{s:i, s:s, s:i, s:s}", "phase", (int)step->phase, "op", "remove",
                             "stage", (int)step->pool, "worker", name);
        else
            json = json_pack(
                "{s:i, s:s, s:i, s:b, s:s?, s:o}", "phase", (int)step->phase, "op", "try", "stage",
                (int)step->pool, "ok", (int)step->placed, "reused", step->reused != 0 ? name : NULL,
                "alloc", step->placed != 0 ? step_alloc(run, starts, step->worker) : json_null());
        json_array_append_new(list, json);
    }
    json_decref(starts);
    return list;
}

static json_t *attempts_json(const struct weir_plan *plan)
{
    int ok = 0;
    int fail = 0;
    int reuse = 0;
    int removed = 0;

    for (uint32_t i = 0; i < weir_plan_step_count(plan); i++) {
        const struct weir_step *const step = weir_plan_step_at(plan, i);
        removed += step->is_removal != 0;
        ok += step->is_removal == 0 && step->placed != 0;
        fail += step->is_removal == 0 && step->placed == 0;
        reuse += step->reused != 0;
    }
    return json_pack("{s:i, s:i, s:i, s:i}", "try_ok", ok, "try_fail", fail, "reuse", reuse,
                     "remove", removed);
}

static json_t *slots_json(const struct autoscale *run)
{
    const struct weir_view *const view = weir_host_view(run->host, run->now_ns);
    json_t *const list = json_array();

    for (uint32_t i = 0; i < view->pool_count; i++)
        json_array_append_new(list, json_integer(weir_view_pool(view, i)->slots));
    for (uint32_t i = 0; i < weir_plan_count(run->plan); i++) {
        const struct weir_action *const action = weir_plan_action(run->plan, i);
        if (action->verb == WEIR_VERB_SET_SLOTS)
            json_array_set_new(list, action->owner.index, json_integer(action->value));
    }
    return list;
}

static weir_status plan_json(const struct autoscale *run, json_t **answer, struct weir_error *error)
{
    json_t *const stages = json_array();
    struct weir_cluster *after = NULL;

    const weir_status status = carry_out(run, &after, error);
    for (uint32_t i = 0; status == WEIR_OK && i < json_array_size(run->stages); i++)
        json_array_append_new(stages, stage_json(run, i));
    if (status == WEIR_OK) {
        *answer =
            json_pack("{s:s, s:i, s:s, s:o, s:O, s:o, s:b, s:o}", "format", DECIDE_FORMAT "-answer",
                      "version", DECIDE_VERSION, "status", "ok", "slots", slots_json(run), "stages",
                      stages, "num_attempts", attempts_json(run->plan), "trace_truncated",
                      weir_plan_step_count(run->plan) > MOST_STEPS, "trace", trace_json(run));
        if (weir_cluster_node_count(after) <= MOST_AVAILABLE_NODES)
            json_object_set_new(*answer, "available_after", decide_available(after, run->nodes));
        weir_cluster_destroy(after);
    }
    json_decref(stages);
    return status;
}

static weir_status decide_and_answer(struct autoscale *run, json_t **answer,
                                     struct weir_error *error)
{
    struct weir_error refused = { .phase = -1, .pool = -1 };

    WEIR_TRY(fill_host(run, error));
    run->first_new = json_array_size(run->workers) + 1;
    const weir_status status = weir_host_decide(
        run->host, &(struct weir_call){ sizeof(struct weir_call), WEIR_CAUSE_TIMER, run->now_ns },
        &run->plan, &refused);
    if (status == WEIR_OK)
        return plan_json(run, answer, error);
    *answer = decide_error_json(status, &refused);
    if (refused.pool >= 0)
        json_object_set_new(*answer, "error_stage",
                            json_string(decide_name(run->stages, (size_t)refused.pool, "name")));
    json_object_set_new(*answer, "format", json_string(DECIDE_FORMAT "-answer"));
    json_object_set_new(*answer, "version", json_integer(DECIDE_VERSION));
    return WEIR_OK;
}

weir_status decide_answer(const struct decide_question *question, json_t **answer,
                          struct weir_error *error)
{
    const json_t *const input = question->input;
    struct autoscale run = { .input = input, .workers = json_object_get(input, "workers") };
    struct decide_policy policy;

    WEIR_TRY(decide_get_array(input, "nodes", &run.nodes, error));
    WEIR_TRY(decide_get_array(input, "stages", &run.stages, error));
    WEIR_TRY(decide_policy(question, &policy, error));
    run.now_ns = (int64_t)llround(decide_number_or(input, "time_s", 0) * 1e9);
    const struct weir_host_config config = {
        .size = sizeof config,
        .explain = WEIR_EXPLAIN_FULL,
        .placement = policy.placement,
        .placement_params = { policy.placement_values, policy.placement->param_count, 0 },
        .scaling = policy.scaling,
        .scaling_params = { policy.scaling_values, policy.scaling->param_count, 0 },
        .seed = (uint64_t)decide_number_or(input, "seed", 0),
    };
    WEIR_TRY(weir_host_create(&config, &run.host, error));
    const weir_status status = decide_and_answer(&run, answer, error);
    weir_host_destroy(run.host);
    return status;
}
