/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that may be asked for: what the controller offers, and the policy that asks.
 *
 * It is asked after all others, on the scratch with what they planned. A wake that it asks for is
 * marked as its own, so that nobody else is asked at that time.
 */
#include "sched/host/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/plan_state.h"
#include "sched/internal/size.h"

#include <math.h>

weir_status weir_host_offer_nodes(struct weir_host *host, const struct weir_node_offer *offer,
                                  struct weir_error *error)
{
    uint32_t at = 0;

    if (host == NULL || offer == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host or no offer");
    WEIR_TRY(weir_size_check(offer->size, sizeof *offer, "the offer", error));
    if (offer->min > offer->max)
        return weir_fail(error, WEIR_EINVAL, "an offer of %u to %u nodes", offer->min, offer->max);
    while (at < host->offer_count && host->offers[at].type != offer->type)
        at++;
    if (at == host->offer_count) {
        struct weir_node_offer *const offers = weir_grow(
            &host->allocator, host->offers, &host->offer_capacity, at + 1, sizeof *host->offers);
        if (offers == NULL)
            return weir_fail(error, WEIR_ENOMEM, "out of memory");
        host->offers = offers;
        host->offer_count++;
    }
    host->offers[at] = *offer;
    return WEIR_OK;
}

bool weir_host_may_grow(const struct weir_host *host, const struct weir_policy_set *set)
{
    return host->offer_count > 0 && set->capacity != NULL && set->capacity->decide != NULL;
}

/* Whether somebody is on the node, and not only from this plan on: of a pool this worker, of a job
 * any of its ranks. */
static bool is_there(const struct weir_host *host, const struct weir_action *action)
{
    const bool is_job = action->owner.kind == WEIR_OWNER_JOB;
    struct weir_worker worker;
    uint32_t cursor = 0;
    bool is_found = false;

    while (!is_found && action->node < weir_cluster_node_count(host->inventory) &&
           weir_cluster_node_worker(host->inventory, action->node, &cursor, &worker))
        is_found = worker.id < host->next_worker && weir_owner_is(&worker.owner, &action->owner) &&
                   (is_job || worker.id == action->worker);
    return is_found;
}

/* A node is emptied: of jobs that hold something, and of workers of pools. */
static weir_status take_away(struct weir_host *host, struct weir_action *action,
                             struct weir_error *error)
{
    const struct weir_owner *const owner = &action->owner;
    const bool is_job = owner->kind == WEIR_OWNER_JOB;

    action->causes = WEIR_CAUSE_CAPACITY;
    if (is_job != (action->verb == WEIR_VERB_PREEMPT) || !is_there(host, action))
        return weir_fail(error, WEIR_EPOLICY, "it says %s of %s %llu, which is not on node %u",
                         weir_verb_name(action->verb), is_job ? "job" : "worker",
                         (unsigned long long)(is_job ? owner->id : action->worker), action->node);
    if (!is_job)
        return WEIR_OK;
    const uint32_t record = weir_jobs_find(&host->jobs, owner->index, owner->id);
    if (record == WEIR_NO_INDEX || weir_jobs_placed(&host->jobs, record)->is_preempted != 0)
        return weir_fail(error, WEIR_EPOLICY, "it says preempt of job %llu, which ends already",
                         (unsigned long long)owner->id);
    const weir_status status = weir_host_note_preempted(host, record);
    return status == WEIR_OK ? status : weir_fail(error, status, "out of memory");
}

/* Nodes and wakes are its own, and what it says beside nodes is marked; who is on a node that goes,
 * it may send away. What is wrong with them is said here, where it is known whose they are; the
 * check of the plan would blame another policy. */
static weir_status take_action(struct weir_host *host, struct weir_action *action,
                               struct weir_error *error)
{
    switch (action->verb) {
    case WEIR_VERB_WAKE:
        action->causes = WEIR_CAUSE_CAPACITY;
        return WEIR_OK;
    case WEIR_VERB_REQUEST_NODE:
        return WEIR_OK;
    case WEIR_VERB_RELEASE_NODE:
        return action->node < weir_cluster_node_count(host->inventory)
                   ? WEIR_OK
                   : weir_fail(error, WEIR_EPOLICY, "there is no node %u", action->node);
    case WEIR_VERB_PREEMPT:
    case WEIR_VERB_STOP:
        return take_away(host, action, error);
    default:
        return weir_fail(error, WEIR_EPOLICY, "it asks for nodes and gives them back, and says %s",
                         weir_verb_name(action->verb));
    }
}

weir_status weir_host_ask_capacity(struct weir_host *host, const struct weir_policy_set *set,
                                   struct weir_error *error)
{
    const uint32_t before = host->plan->store->action_count;
    weir_status status = weir_host_judge_status(
        set->capacity->decide(set->grown.state, &host->view, host->plan, error), error);

    for (uint32_t i = before; i < host->plan->store->action_count && status == WEIR_OK; i++)
        status = take_action(host, weir_plan_stored(host->plan->store, i), error);
    if (status != WEIR_OK)
        weir_error_wrap(error, "capacity policy %s", set->capacity->name);
    return status;
}

double weir_host_forecast_error(const struct weir_host *host)
{
    if (host == NULL || host->main.capacity->size < sizeof *host->main.capacity ||
        host->main.capacity->forecast_error == NULL)
        return (double)NAN; /* modules from before there was such a member have none */
    return host->main.capacity->forecast_error(host->main.grown.state);
}

weir_status weir_host_node_outcome(struct weir_host *host, const struct weir_outcome *outcome,
                                   struct weir_error *error)
{
    const struct weir_capacity_ops *const capacity = host->main.capacity;

    if (capacity->outcome == NULL)
        return WEIR_OK;
    const weir_status status = capacity->outcome(host->main.grown.state, outcome);
    return status == WEIR_OK ? WEIR_OK
                             : weir_fail(error, status, "capacity policy %s: outcome: %s",
                                         capacity->name, weir_status_text(status));
}
