/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that plans ask for (WAKE), and who answers for them.
 *
 * A policy remembers that it asked and does not ask again, so a WAKE must reach the controller even
 * when the plan it was in does not: it was cancelled, rejected, or never finished. The host owes it
 * then, and the next plan that is handed out asks for it. It also asks for the begin and the end of
 * reservations, once each.
 */
#include "sched/host/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/plan_state.h"

bool weir_host_must_wake(const struct weir_host *host)
{
    return host->owed_count > 0 || weir_reservations_must_wake(&host->jobs.reservations);
}

enum { USUAL_WAKES = 8 }; /* of a plan, at most, unless a policy asks for many */

weir_status weir_host_reserve_wakes(struct weir_host *host)
{
    WEIR_ROOM(&host->allocator, host->owed, host->owed_capacity, host->owed_count + USUAL_WAKES);
    return WEIR_OK;
}

bool weir_host_owes_wake(const struct weir_host *host, const struct weir_wake *wake)
{
    for (uint32_t i = 0; i < host->owed_count; i++)
        if (host->owed[i].at_ns == wake->at_ns && host->owed[i].causes == wake->causes)
            return true;
    return false;
}

weir_status weir_host_owe_wake(struct weir_host *host, const struct weir_wake *wake)
{
    if (weir_host_owes_wake(host, wake))
        return WEIR_OK;
    WEIR_ROOM(&host->allocator, host->owed, host->owed_capacity, host->owed_count + 1);
    host->owed[host->owed_count++] = *wake;
    return WEIR_OK;
}

weir_status weir_host_owe_wakes(struct weir_host *host)
{
    const uint32_t count = weir_plan_settle(host->plan);

    for (uint32_t i = 0; i < count; i++) {
        const struct weir_action *const action = weir_plan_settled(host->plan, i);
        const struct weir_wake wake = { .at_ns = action->value, .causes = action->causes };
        /* One in the past is why the plan was rejected. */
        if (action->verb == WEIR_VERB_WAKE && action->value >= host->now_ns)
            WEIR_TRY(weir_host_owe_wake(host, &wake));
    }
    return WEIR_OK;
}

weir_status weir_host_ask_wakes(struct weir_host *host)
{
    const struct weir_reservations *const reservations = &host->jobs.reservations;
    const struct weir_wake boundary = { .at_ns = reservations->next_ns };

    if (weir_reservations_must_wake(reservations))
        WEIR_TRY(weir_host_owe_wake(host, &boundary));
    for (uint32_t i = 0; i < host->owed_count; i++) {
        const struct weir_wake *const wake = &host->owed[i];
        const uint32_t causes = wake->causes == 0 ? WEIR_CAUSE_WAKE : wake->causes;
        const struct weir_action action = { .size = sizeof action,
                                            .verb = WEIR_VERB_WAKE,
                                            .owner = weir_pool_owner(WEIR_NO_INDEX),
                                            .phase = host->plan->store->phase,
                                            .value = wake->at_ns < host->now_ns ? host->now_ns
                                                                                : wake->at_ns,
                                            .causes = wake->causes,
                                            .choice = WEIR_NO_INDEX };
        /* This may be the very call. */
        if (wake->at_ns > host->now_ns || (causes & ~host->view.causes) != 0)
            WEIR_TRY(weir_plan_append(host->plan, &action));
    }
    return WEIR_OK;
}

void weir_host_asked_wakes(struct weir_host *host)
{
    host->owed_count = 0;
    host->jobs.reservations.is_asked = true;
}
