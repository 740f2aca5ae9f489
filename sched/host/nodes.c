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

/* Nodes and wakes are its own, and its wakes are marked. What is wrong with them is said here,
 * where it is known whose they are; the check of the plan would blame another policy. */
static weir_status take_action(const struct weir_host *host, struct weir_action *action,
                               struct weir_error *error)
{
    if (action->verb == WEIR_VERB_WAKE)
        action->causes = WEIR_CAUSE_CAPACITY;
    else if (action->verb != WEIR_VERB_REQUEST_NODE && action->verb != WEIR_VERB_RELEASE_NODE)
        return weir_fail(error, WEIR_EPOLICY, "it asks for nodes and gives them back, and says %s",
                         weir_verb_name(action->verb));
    if (action->verb == WEIR_VERB_RELEASE_NODE &&
        action->node >= weir_cluster_node_count(host->inventory))
        return weir_fail(error, WEIR_EPOLICY, "there is no node %u", action->node);
    return WEIR_OK;
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
