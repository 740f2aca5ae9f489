/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bounds one decision of a host: a time on the wall clock, a number of actions, and the
 * controller's word that a plan will not be applied.
 *
 * A plan that is cut short stays a plan: the check reads actions in their order, so that whatever
 * comes first is sound without what follows. Ranks of a job and members of a group are kept or
 * dropped together. What was dropped is decided again by the next call, for which the plan asks at
 * once (WAKE). Two things are no actions to do and yet change what the next call finds: that a
 * policy was promised a call (WAKE) is kept; that a job is turned away waits for a plan that says
 * of all jobs whether they start.
 */
#include "sched/host/state.h"
#include "sched/internal/plan_state.h"

void weir_host_limits_begin(struct weir_host *host, const struct weir_call *call)
{
    host->limits = (struct weir_host_limits){ .deadline_ns = call->deadline_ns,
                                              .max_actions = call->max_actions,
                                              .cuts_before = host->cuts.count };
}

bool weir_host_is_late(struct weir_host *host)
{
    struct weir_host_limits *const limits = &host->limits;

    if (limits->deadline_ns == 0 || host->clock_ns == NULL)
        return false;
    limits->was_late |= host->clock_ns(host->clock_state) >= limits->deadline_ns;
    return limits->was_late;
}

/* Whether the controller has something to do for it. */
static bool is_work(const struct weir_action *action)
{
    switch ((enum weir_verb)action->verb) {
    case WEIR_VERB_START:
    case WEIR_VERB_STOP:
    case WEIR_VERB_MOVE:
    case WEIR_VERB_ADMIT:
    case WEIR_VERB_PREEMPT:
    case WEIR_VERB_RESIZE:
    case WEIR_VERB_REQUEST_NODE:
    case WEIR_VERB_RELEASE_NODE:
    case WEIR_VERB_CUT:
        return true;
    case WEIR_VERB_SET_SLOTS:
    case WEIR_VERB_DENY:
    case WEIR_VERB_WAKE:
    case WEIR_VERB_RESERVE:
    case WEIR_VERB_ANNOTATE:
    case WEIR_VERB_COUNT:
        return false;
    }
    return false;
}

/* How many actions from the first on are kept: whole groups, at least one, with no more work than
 * is allowed. */
static uint32_t kept_actions(const struct weir_host *host)
{
    const uint32_t count = weir_plan_count(host->plan);
    uint32_t work = 0;

    for (uint32_t i = 0; i < count;) {
        const struct weir_action *const first = weir_plan_action(host->plan, i);
        uint32_t end = i;
        uint32_t more = 0;
        do {
            more += is_work(weir_plan_action(host->plan, end++));
        } while (first->group != 0 && end < count &&
                 weir_plan_action(host->plan, end)->group == first->group);
        if (work > 0 && work + more > host->limits.max_actions)
            return i;
        work += more;
        i = end;
    }
    return count;
}

/* A job whose start was dropped waits again. */
static weir_status requeue(struct weir_host *host, const struct weir_owner *job)
{
    const uint32_t record = weir_jobs_find(&host->jobs, job->index, job->id);
    uint32_t at = 0;

    while (at < host->started_count && host->started[at] != record)
        at++;
    if (record == WEIR_NO_INDEX || at == host->started_count)
        return WEIR_OK; /* an earlier rank did it */
    host->started[at] = host->started[--host->started_count];
    return weir_jobs_push_back(&host->jobs, record);
}

/* Read off the plan, so that a host that follows says the same. */
bool weir_host_says_cut_short(const struct weir_host *host, const struct weir_action *action)
{
    return (host->limits.max_actions != 0 || host->limits.deadline_ns != 0) &&
           action->verb == WEIR_VERB_WAKE && action->value == host->now_ns &&
           (action->causes == 0 || action->causes == WEIR_CAUSE_WAKE);
}

/* Drops all from the `kept`th action on but WAKE, and who is turned away wherever that is. */
static void cut_short(struct weir_host *host, uint32_t kept)
{
    const uint32_t count = weir_plan_settle(host->plan);

    for (uint32_t i = 0; i < count; i++) {
        const struct weir_action *const action = weir_plan_settled(host->plan, i);
        if (i < kept ? weir_is_turning_away(action) : action->verb != WEIR_VERB_WAKE)
            weir_plan_drop(host->plan, i);
    }
    weir_jobs_unsettle(&host->jobs);
}

weir_status weir_host_limit_plan(struct weir_host *host)
{
    const uint32_t count = weir_plan_count(host->plan);
    const uint32_t kept = host->limits.max_actions == 0 ? count : kept_actions(host);
    bool is_short = false;

    for (uint32_t i = kept; i < count; i++) {
        const struct weir_action *const action = weir_plan_action(host->plan, i);
        if (action->verb == WEIR_VERB_START && action->owner.kind == WEIR_OWNER_JOB)
            WEIR_TRY(requeue(host, &action->owner));
        if (action->verb == WEIR_VERB_PREEMPT && action->owner.kind == WEIR_OWNER_JOB)
            weir_host_spare_job(host, &action->owner);
    }
    if (kept < count || host->limits.was_late)
        WEIR_TRY(weir_plan_wake(host->plan, host->now_ns));
    const uint32_t all = weir_plan_settle(host->plan);
    for (uint32_t i = 0; i < all && !is_short; i++)
        is_short = weir_host_says_cut_short(host, weir_plan_settled(host->plan, i));
    host->limits.is_cut_short = is_short;
    if (is_short)
        cut_short(host, kept);
    return WEIR_OK;
}

/* ---- plans that are not applied ---- */

/* GPUs that the plan closed so that they drain give out instances again. */
static weir_status reopen_cuts(struct weir_host *host)
{
    struct weir_host_cuts *const cuts = &host->cuts;

    while (cuts->count > host->limits.cuts_before) {
        const struct weir_partition_cut *const cut = &cuts->pending[--cuts->count];
        WEIR_TRY(weir_cluster_close_gpu(host->inventory, cut->node, cut->gpu, false));
    }
    return WEIR_OK;
}

/* What the plan wanted is refused, as if the truth had refused each. */
static weir_status refuse_action(struct weir_host *host, const struct weir_action *action,
                                 struct weir_error *error)
{
    const bool is_cut = action->verb == WEIR_VERB_CUT;
    const bool is_request = action->verb == WEIR_VERB_REQUEST_NODE;
    const struct weir_outcome outcome = {
        .size = sizeof outcome,
        .kind = is_cut ? WEIR_OUTCOME_UNCUT : WEIR_OUTCOME_REFUSED,
        .reason = WEIR_REASON_CANCELLED,
        .node = is_cut || is_request ? action->node : action->alloc.node,
        .owner = action->owner,
        .gpu = action->gpu,
        .worker = action->worker,
        .time_ns = host->now_ns
    };

    if (action->verb == WEIR_VERB_PREEMPT && action->owner.kind == WEIR_OWNER_JOB)
        weir_host_spare_job(host, &action->owner);
    if (!is_cut && !is_request && action->verb != WEIR_VERB_START && action->verb != WEIR_VERB_MOVE)
        return WEIR_OK;
    const weir_status status = weir_host_outcome(host, &outcome, NULL, error);
    /* A GPU that was drained when it was chosen is open already. */
    return is_cut && status == WEIR_ENOTFOUND ? WEIR_OK : status;
}

weir_status weir_host_cancel(struct weir_host *host, struct weir_error *error)
{
    if (host == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host");
    if (!host->limits.is_open)
        return weir_fail(error, WEIR_ENOTFOUND,
                         "there is no plan that can be cancelled: none was made, or an outcome of "
                         "it was told");
    WEIR_TRY(weir_host_owe_wakes(host));
    host->limits.is_open = false;
    WEIR_TRY(reopen_cuts(host));
    for (uint32_t i = 0; i < weir_plan_count(host->plan); i++)
        WEIR_TRY(refuse_action(host, weir_plan_action(host->plan, i), error));
    weir_jobs_unsettle(&host->jobs);
    host->is_dirty = true;
    weir_host_clear_plan(host);
    return WEIR_OK;
}
