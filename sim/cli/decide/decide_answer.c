/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The answer to a document: a host in its state makes one decision.
 *
 * Workers are printed by the names of the document, new ones as n0, n1, ... in the order they were
 * made; by number when the document says where numbers go on (`next_worker`).
 */
#include "sim/cli/decide/decide_format.h"
#include "sim/cli/decide/decide_host.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_STEPS = 400, MOST_AVAILABLE_NODES = 12 };

struct run {
    struct decide_host *in;
    struct weir_host *host;
    json_t *nodes, *stages;
    struct decide_names names;
    const struct weir_plan *plan;
};

/* ---- the answer ---- */

/* The name of a worker of the document, or of a new one, in `text`. */
static const char *worker_name(const struct decide_names *names, uint64_t id, char text[24])
{
    if (!names->is_numbered && id < names->first_new)
        return decide_name(names->workers, id - 1, "id");
    if (names->is_numbered)
        (void)snprintf(text, 24, "%" PRIu64, id);
    else
        (void)snprintf(text, 24, "n%" PRIu64, id - names->first_new);
    return text;
}

/* All that a job holds is given back. */
static weir_status remove_job(struct weir_cluster *cluster, const struct weir_owner *job,
                              struct weir_error *error)
{
    weir_status status = WEIR_OK;

    for (uint32_t n = 0; n < weir_cluster_node_count(cluster); n++) {
        struct weir_worker worker;
        uint32_t cursor = 0;
        while (status == WEIR_OK && weir_cluster_node_worker(cluster, n, &cursor, &worker)) {
            if (!weir_owner_is(&worker.owner, job))
                continue;
            status = weir_cluster_remove_worker(cluster, worker.id, error);
            cursor = 0;
        }
    }
    return status;
}

/* The cluster as it is when every action has succeeded. */
static weir_status carry_out(const struct run *run, struct weir_cluster **after,
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
        else if (action->verb == WEIR_VERB_PREEMPT && action->owner.kind == WEIR_OWNER_JOB)
            status = remove_job(made, &action->owner, error);
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

static json_t *stage_json(const struct run *run, uint32_t stage)
{
    const struct weir_pool_note *const note = weir_plan_pool_note(run->plan, stage);
    const uint32_t before = weir_cluster_pool_workers(weir_host_cluster(run->host), stage);
    json_t *const started = json_array();
    json_t *const stopped = json_array();
    char text[24];

    for (uint32_t i = 0; i < weir_plan_count(run->plan); i++) {
        const struct weir_action *const action = weir_plan_action(run->plan, i);
        if (action->owner.kind != WEIR_OWNER_POOL || action->owner.index != stage)
            continue;
        const char *const name = worker_name(&run->names, action->worker, text);
        if (action->verb == WEIR_VERB_START) {
            json_t *const json = decide_alloc_json(&action->alloc, run->nodes, name);
            if (action->group != 0)
                json_object_set_new(json, "group",
                                    json_string(worker_name(&run->names, action->group, text)));
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
static json_t *step_alloc(const struct run *run, const json_t *starts, uint64_t worker)
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
static json_t *index_starts(const struct run *run)
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

static json_t *trace_json(const struct run *run)
{
    const uint32_t count = weir_plan_step_count(run->plan);
    json_t *const starts = index_starts(run);
    json_t *const list = json_array();
    char text[24];

    for (uint32_t i = 0; i < count && i < MOST_STEPS; i++) {
        const struct weir_step *const step = weir_plan_step_at(run->plan, i);
        const char *const name = worker_name(&run->names, step->worker, text);
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

static json_t *slots_json(const struct run *run)
{
    const struct weir_view *const view = weir_host_view(run->host, run->in->call.now_ns);
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

/* ---- the plan, action by action ---- */

static void put(json_t *json, const char *key, int64_t value)
{
    json_object_set_new(json, key, json_integer(value));
}

/* What the short form of a place leaves out. */
static void put_memory(json_t *json, const struct weir_alloc *alloc)
{
    json_t *const gpus = json_object_get(json, "gpus");
    size_t at = 0;

    put(json, "ram_bytes", alloc->ram_bytes);
    for (uint32_t i = 0; i < alloc->device_count; i++) {
        const struct weir_device *const device = &alloc->devices[i];
        if (device->units == 0)
            continue;
        json_t *const gpu = json_array_get(gpus, at++);
        put(gpu, "mem_bytes", device->mem_bytes);
        if (device->mig == 0)
            continue;
        put(gpu, "profile", weir_device_profile(device));
        put(gpu, "start", weir_device_start(device));
    }
}

static json_t *layout_json(weir_mig_layout layout)
{
    json_t *const list = json_array();

    for (uint32_t s = 0; s < WEIR_MIG_SLOTS; s++)
        if (weir_mig_at(layout, s) >= 0)
            json_array_append_new(
                list, json_pack("{s:i, s:i}", "profile", weir_mig_at(layout, s), "start", (int)s));
    return list;
}

static void put_owner(json_t *json, const struct weir_owner *owner)
{
    if (owner->index == WEIR_NO_INDEX)
        return;
    put(json, owner->kind == WEIR_OWNER_JOB ? "workload" : "stage_index", owner->index);
    if (owner->kind == WEIR_OWNER_JOB)
        put(json, "job", (int64_t)owner->id);
}

/* A worker that starts or moves, or a place that is reserved, and where. */
static json_t *start_json(const struct weir_action *action, const struct decide_names *names)
{
    char text[24];
    json_t *const json =
        decide_alloc_json(&action->alloc, names->nodes, worker_name(names, action->worker, text));

    put_memory(json, &action->alloc);
    if (action->group != 0)
        json_object_set_new(json, "group", json_string(worker_name(names, action->group, text)));
    if (action->owner.kind == WEIR_OWNER_JOB)
        put(json, "rank", action->rank);
    if (action->reused != 0)
        json_object_set_new(json, "reused", json_true());
    return json;
}

static json_t *action_json(const struct weir_action *action, const struct decide_names *names)
{
    const bool is_start = action->verb == WEIR_VERB_START || action->verb == WEIR_VERB_MOVE ||
                          action->verb == WEIR_VERB_RESERVE;
    json_t *const json = is_start ? start_json(action, names) : json_object();
    char text[24];

    json_object_set_new(json, "verb", json_string(weir_verb_name(action->verb)));
    put_owner(json, &action->owner);
    if (action->verb == WEIR_VERB_STOP)
        json_object_set_new(json, "id", json_string(worker_name(names, action->worker, text)));
    else if (action->verb == WEIR_VERB_DENY)
        json_object_set_new(json, "reason", json_string(weir_reason_text(action->reason)));
    else if (!is_start && action->verb != WEIR_VERB_CUT)
        put(json, "value", action->value);
    if (action->verb != WEIR_VERB_CUT && action->verb != WEIR_VERB_RELEASE_NODE)
        return json;
    json_object_set_new(json, "node", json_string(decide_name(names->nodes, action->node, "id")));
    if (action->verb == WEIR_VERB_CUT) {
        put(json, "gpu", action->gpu);
        json_object_set_new(json, "cut", layout_json((weir_mig_layout)action->value));
    }
    return json;
}

json_t *decide_actions_json(const struct weir_plan *plan, const struct decide_names *names)
{
    json_t *const list = json_array();

    for (uint32_t i = 0; i < weir_plan_count(plan); i++)
        json_array_append_new(list, action_json(weir_plan_action(plan, i), names));
    return list;
}

/* ---- the answer ---- */

static weir_status plan_json(const struct run *run, json_t **answer, struct weir_error *error)
{
    json_t *const stages = json_array();
    struct weir_cluster *after = NULL;

    const weir_status status = carry_out(run, &after, error);
    for (uint32_t i = 0; status == WEIR_OK && i < json_array_size(run->stages); i++)
        json_array_append_new(stages, stage_json(run, i));
    if (status == WEIR_OK) {
        *answer =
            json_pack("{s:s, s:i, s:s, s:o, s:o, s:O, s:o, s:b, s:o}", "format",
                      DECIDE_FORMAT "-answer", "version", DECIDE_VERSION, "status", "ok", "actions",
                      decide_actions_json(run->plan, &run->names), "slots", slots_json(run),
                      "stages", stages, "num_attempts", attempts_json(run->plan), "trace_truncated",
                      weir_plan_step_count(run->plan) > MOST_STEPS, "trace", trace_json(run));
        if (weir_cluster_node_count(after) <= MOST_AVAILABLE_NODES)
            json_object_set_new(*answer, "available_after", decide_available(after, run->nodes));
        weir_cluster_destroy(after);
    }
    json_decref(stages);
    return status;
}

static weir_status decide_and_answer(struct run *run, json_t **answer, struct weir_error *error)
{
    struct weir_error refused = { .phase = -1, .pool = -1 };
    const weir_status status = weir_host_decide(run->host, &run->in->call, &run->plan, &refused);

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

weir_status decide_host_answer(struct decide_host *host, json_t **answer, struct weir_error *error)
{
    struct run run = { .in = host,
                       .host = host->host,
                       .nodes = host->nodes,
                       .stages = host->stages,
                       .names = { .nodes = host->nodes,
                                  .workers = host->workers,
                                  .is_numbered = host->is_numbered,
                                  .first_new = host->head.next_worker } };

    const weir_status status = decide_and_answer(&run, answer, error);
    host->plan = run.plan;
    return status;
}

weir_status decide_answer(const struct decide_question *question, json_t **answer,
                          struct weir_error *error)
{
    struct decide_host host;

    weir_status status = decide_host_open(&host, question, error);
    if (status == WEIR_OK)
        status = decide_host_answer(&host, answer, error);
    decide_host_close(&host);
    return status;
}
