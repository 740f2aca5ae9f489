/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What happened since the decision before, told to the host of a session (see decide_host.h).
 *
 * Parts are told in the order of the table below, each in its own order; the first that fails ends
 * the document, and `changes` says how many were told.
 */
#include "sim/cli/decide/decide_format.h"
#include "sim/cli/decide/decide_host.h"

#include <string.h>

/* The number of a worker of the session: its own, or that of its name. */
static weir_status find_worker(const struct decide_host *made, const json_t *json, uint64_t *worker,
                               struct weir_error *error)
{
    const char *const name = json_string_value(json_object_get(json, "id"));
    const bool is_new = name[0] == 'n' && !made->is_numbered;
    const uint32_t place =
        made->is_numbered ? WEIR_NO_INDEX : decide_find(made->workers, "id", name);
    uint64_t number = 0;

    if (place != WEIR_NO_INDEX)
        *worker = (uint64_t)place + 1;
    else if ((is_new || made->is_numbered) && decide_digits(name + is_new, &number))
        *worker = number + (is_new ? made->head.next_worker : 0);
    else
        return weir_fail(error, WEIR_ENOTFOUND, "id: there is no worker %s", name);
    return WEIR_OK;
}

static const struct weir_action *find_start(const struct decide_host *made, uint64_t worker)
{
    for (uint32_t i = 0; made->plan != NULL && i < weir_plan_count(made->plan); i++) {
        const struct weir_action *const action = weir_plan_action(made->plan, i);
        if (action->worker == worker && action->verb == WEIR_VERB_START)
            return action;
    }
    return NULL;
}

static weir_status tell_outcome(struct decide_host *made, uint32_t kind, uint64_t worker,
                                struct weir_error *error)
{
    const bool is_start = kind == WEIR_OUTCOME_STARTED || kind == WEIR_OUTCOME_REFUSED;
    const struct weir_action *const start = is_start ? find_start(made, worker) : NULL;
    struct weir_outcome outcome = {
        .size = sizeof outcome, .kind = kind, .worker = worker, .time_ns = made->head.time_ns
    };
    struct weir_worker held;

    if (is_start && start == NULL)
        return weir_fail(error, WEIR_ENOTFOUND, "id: the plan before does not start it");
    if (!is_start && !weir_cluster_worker(weir_host_cluster(made->host), worker, &held))
        return weir_fail(error, WEIR_ENOTFOUND, "id: it does not live");
    outcome.owner = start != NULL ? start->owner : held.owner;
    outcome.node = start != NULL ? start->alloc.node : held.alloc.node;
    return weir_host_outcome(made->host, &outcome, start != NULL ? &start->alloc : NULL, error);
}

static weir_status take_outcome(struct decide_host *made, const json_t *json, size_t place,
                                struct weir_error *error)
{
    /* In the order of the words of the table. */
    static const uint32_t kinds[] = { WEIR_OUTCOME_STARTED, WEIR_OUTCOME_REFUSED,
                                      WEIR_OUTCOME_STOPPED, WEIR_OUTCOME_LOST };
    struct decide_change change = { .outcome = 0 };
    uint64_t worker = 0;

    (void)place;
    WEIR_TRY(decide_read(json, &decide_outcome_keys, &change, error));
    WEIR_TRY(find_worker(made, json, &worker, error));
    if (change.outcome < sizeof kinds / sizeof kinds[0])
        return tell_outcome(made, kinds[change.outcome], worker, error);
    return weir_host_set_worker_state(made->host, worker, WEIR_WORKER_READY, made->head.time_ns);
}

/* All starts and stops of the plan before have happened. */
static weir_status carry_out(struct decide_host *made, struct weir_error *error)
{
    for (uint32_t i = 0; made->plan != NULL && i < weir_plan_count(made->plan); i++) {
        const struct weir_action *const action = weir_plan_action(made->plan, i);
        if (action->verb == WEIR_VERB_STOP)
            WEIR_TRY(tell_outcome(made, WEIR_OUTCOME_STOPPED, action->worker, error));
        else if (action->verb == WEIR_VERB_START)
            WEIR_TRY(tell_outcome(made, WEIR_OUTCOME_STARTED, action->worker, error));
        else
            continue;
        made->changes++;
    }
    return WEIR_OK;
}

static weir_status take_changed_node(struct decide_host *made, const json_t *json, size_t place,
                                     struct weir_error *error)
{
    uint32_t node = 0;

    (void)place;
    WEIR_TRY(decide_node_named(made, json, "id", &node, error));
    if (decide_flag_or(json, "removed", false))
        return weir_host_remove_node(made->host, node, made->head.time_ns);
    const uint32_t now = weir_cluster_node(weir_host_cluster(made->host), node)->flags;
    const bool is_up = decide_flag_or(json, "up", (now & WEIR_NODE_UP) != 0);
    const bool is_cordoned = decide_flag_or(json, "cordoned", (now & WEIR_NODE_CORDONED) != 0);
    return weir_host_set_node(made->host, node,
                              (is_up ? WEIR_NODE_UP : 0U) | (is_cordoned ? WEIR_NODE_CORDONED : 0U),
                              made->head.time_ns);
}

static weir_status take_changed_stage(struct decide_host *made, const json_t *json, size_t place,
                                      struct weir_error *error)
{
    struct decide_change change = { .outcome = 0 };

    (void)place;
    WEIR_TRY(decide_read(json, &decide_changed_stage_keys, &change, error));
    const struct weir_view *const view = weir_host_view(made->host, made->head.time_ns);
    if (change.stage >= view->pool_count)
        return weir_fail(error, WEIR_ENOTFOUND, "stage_index: there are %u stages",
                         view->pool_count);
    const struct weir_pool_view *const now = weir_view_pool(view, change.stage);
    change.requested_workers = now->requested_workers;
    change.update = (struct weir_pool_update){ .size = sizeof change.update,
                                               .ready = now->ready,
                                               .busy = now->busy,
                                               .finished = now->finished,
                                               .queued_items = now->queued_items,
                                               .slots = now->slots };
    WEIR_TRY(decide_read(json, &decide_changed_stage_keys, &change, error));
    change.update.requested_workers = (int32_t)change.requested_workers;
    return weir_host_update_pool(made->host, change.stage, &change.update);
}

static weir_status take_ended(struct decide_host *made, const json_t *json, size_t place,
                              struct weir_error *error)
{
    struct decide_job job = { .id = 0 };

    (void)place;
    WEIR_TRY(decide_read(json, &decide_new_job_keys, &job, error));
    return weir_host_ended(made->host, job.spec.workload, (uint64_t)job.id, error);
}

static weir_status take_withdrawn(struct decide_host *made, const json_t *json, size_t place,
                                  struct weir_error *error)
{
    struct decide_job job = { .id = 0 };

    (void)place;
    WEIR_TRY(decide_read(json, &decide_new_job_keys, &job, error));
    return weir_host_withdraw(made->host, job.spec.workload, (uint64_t)job.id);
}

/* A kind that jobs of this document and later ones may name. */
static weir_status take_new_kind(struct decide_host *made, const json_t *json, size_t place,
                                 struct weir_error *error)
{
    (void)place;
    if (json_array_append_new(made->kinds, json_deep_copy(json)) == 0)
        return WEIR_OK;
    return weir_fail(error, WEIR_ENOMEM, "out of memory");
}

weir_status decide_host_change(struct decide_host *made, const json_t *change,
                               struct weir_error *error)
{
    struct decide_document head = { .time_ns = made->head.time_ns };

    made->changes = 0;
    WEIR_TRY(decide_read(change, &decide_change_keys, &head, error));
    if (head.time_ns < made->head.time_ns)
        return weir_fail(error, WEIR_EINVAL, "time_ns: it was %lld before",
                         (long long)made->head.time_ns);
    made->head.time_ns = head.time_ns;
    made->head.max_actions = head.max_actions;
    made->head.time_left_ns = head.time_left_ns;
    made->input = change;
    if (decide_flag_or(change, "carried_out", false))
        WEIR_TRY(decide_within(carry_out(made, error), error, "carried_out"));
    WEIR_TRY(decide_take_all(made, "outcomes", take_outcome, error));
    WEIR_TRY(decide_take_all(made, "ended", take_ended, error));
    WEIR_TRY(decide_take_all(made, "withdrawn", take_withdrawn, error));
    WEIR_TRY(decide_take_all(made, "new_nodes", decide_take_new_node, error));
    WEIR_TRY(decide_take_all(made, "changed_nodes", take_changed_node, error));
    WEIR_TRY(decide_take_all(made, "offers", decide_take_offer, error));
    WEIR_TRY(decide_take_all(made, "changed_stages", take_changed_stage, error));
    WEIR_TRY(decide_take_all(made, "estimates", decide_take_estimate, error));
    WEIR_TRY(decide_take_all(made, "job_kinds", take_new_kind, error));
    WEIR_TRY(decide_take_all(made, "submitted", decide_take_submitted, error));
    decide_read_call(made);
    return WEIR_OK;
}
