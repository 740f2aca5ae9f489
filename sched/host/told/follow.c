/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decisions that another host made (weir_host_follow).
 *
 * The other one has the policies, perhaps in a process that nobody trusts. What came from there is
 * a claim: lists are bounded before they are read, the plan is checked against this host's own
 * inventory, and a job starts only when it waits here. Who is turned away and which GPUs are cut
 * follows from what both were told, so it is worked out here and not believed.
 *
 * Invariant: after a call that succeeded in both, both hosts know the same jobs in the same states.
 */
#include "sched/cluster/state.h"
#include "sched/host/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/plan_state.h"
#include "sched/internal/size.h"

#include <math.h>

static weir_status start_job(struct weir_host *host, const struct weir_owner *job,
                             struct weir_error *error)
{
    const uint32_t record = weir_jobs_find(&host->jobs, job->index, job->id);

    if (record == WEIR_NO_INDEX || host->jobs.records[record].state != WEIR_JOB_WAITING)
        return weir_fail(error, WEIR_EPOLICY,
                         "job %llu of workload %u is started and does not wait",
                         (unsigned long long)job->id, job->index);
    return weir_host_note_started(host, record);
}

static weir_status preempt_job(struct weir_host *host, const struct weir_owner *job,
                               struct weir_error *error)
{
    const uint32_t record = weir_jobs_find(&host->jobs, job->index, job->id);

    if (record == WEIR_NO_INDEX || host->jobs.records[record].state == WEIR_JOB_WAITING ||
        weir_jobs_placed(&host->jobs, record)->is_preempted != 0)
        return weir_fail(error, WEIR_EPOLICY, "job %llu of workload %u cannot be preempted",
                         (unsigned long long)job->id, job->index);
    return weir_host_note_preempted(host, record);
}

static weir_status check_action(const struct weir_plan_lists *lists, uint32_t index,
                                struct weir_error *error)
{
    const struct weir_action *const action = &lists->actions[index];

    if (action->verb >= WEIR_VERB_COUNT)
        return weir_fail(error, WEIR_EPOLICY, "unknown verb %u", action->verb);
    if (action->choice != WEIR_NO_INDEX && action->choice >= lists->choice_count)
        return weir_fail(error, WEIR_EPOLICY, "action %u names choice %u of %u", index,
                         action->choice, lists->choice_count);
    return WEIR_OK;
}

/* What becomes of a job that the action starts or preempts. */
static weir_status take_job(struct weir_host *host, const struct weir_action *action,
                            bool is_turned, struct weir_error *error)
{
    const struct weir_owner *const owner = &action->owner;

    if (action->verb == WEIR_VERB_PREEMPT)
        return preempt_job(host, owner, error);
    if (action->verb != WEIR_VERB_START)
        return WEIR_OK;
    if (is_turned)
        return weir_fail(error, WEIR_EPOLICY, "a job starts after others were turned away");
    const bool is_first =
        action->rank == 0 &&
        !weir_jobs_may_grow(&host->jobs, weir_jobs_find(&host->jobs, owner->index, owner->id));
    return is_first ? start_job(host, owner, error) : WEIR_OK;
}

static bool is_cut_short(const struct weir_host *host, const struct weir_plan_lists *lists)
{
    for (uint32_t i = 0; i < lists->action_count; i++)
        if (weir_host_says_cut_short(host, &lists->actions[i]))
            return true;
    return false;
}

/* In the order of the plan: jobs start, some that do not are turned away, then all the rest. */
static weir_status take_actions(struct weir_host *host, const struct weir_plan_lists *lists,
                                struct weir_error *error)
{
    bool is_turned = false;

    host->limits.is_cut_short = is_cut_short(host, lists);
    for (uint32_t i = 0; i < lists->action_count; i++) {
        const struct weir_action *const action = &lists->actions[i];
        WEIR_TRY(check_action(lists, i, error));
        if (action->owner.kind == WEIR_OWNER_JOB)
            WEIR_TRY(take_job(host, action, is_turned, error));
        if (weir_is_turning_away(action) && !is_turned)
            WEIR_TRY(weir_host_turn_away(host));
        is_turned = is_turned || weir_is_turning_away(action);
        if (action->verb != WEIR_VERB_CUT && !weir_is_turning_away(action))
            WEIR_TRY(weir_plan_append(host->plan, action));
    }
    return is_turned ? WEIR_OK : weir_host_turn_away(host);
}

static bool has_place(const struct weir_action *action)
{
    return action->verb == WEIR_VERB_START ||
           (action->verb == WEIR_VERB_RESERVE &&
            (action->alloc.device_count > 0 || action->alloc.cpu_units > 0));
}

/* As the policies left the scratch. What cannot be done is found by the check. */
static void try_actions(struct weir_host *host)
{
    const uint32_t count = weir_plan_settle(host->plan);

    for (uint32_t i = 0; i < count; i++) {
        const struct weir_action *const action = weir_plan_settled(host->plan, i);
        const bool is_lifted = action->verb == WEIR_VERB_PREEMPT &&
                               action->owner.kind == WEIR_OWNER_JOB && action->value == 0;
        if (is_lifted)
            (void)weir_host_lift(host->inventory, &host->jobs,
                                 weir_jobs_find(&host->jobs, action->owner.index, action->owner.id),
                                 host->next_worker, &(uint64_t){ 0 }, NULL);
        else if (action->verb == WEIR_VERB_STOP)
            (void)weir_cluster_remove_worker(host->inventory, action->worker, NULL);
        else if (has_place(action))
            (void)weir_cluster_add_worker(host->inventory, action->worker, action->owner,
                                          &action->alloc, NULL);
    }
}

static weir_status choose_cuts(struct weir_host *host, struct weir_error *error)
{
    if (host->cut_min_gain == 0 && host->cuts.count == 0)
        return WEIR_OK;
    if (weir_cluster_lend(host->inventory) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    try_actions(host);
    const weir_status status = weir_host_cuts_choose(host);
    (void)weir_cluster_take_back(host->inventory);
    return status;
}

/* What is only told is kept all the same, and read by others: a node is one of those there are, a
 * score a number. */
static bool is_told_well(const struct weir_plan_lists *lists, uint32_t nodes)
{
    bool is_well = true;

    for (uint32_t i = 0; i < lists->choice_count && is_well; i++) {
        const struct weir_choice *const choice = &lists->choices[i];
        const bool has_runner_up = choice->runner_up_node != WEIR_NO_INDEX;
        is_well = isfinite(choice->primary) && isfinite(choice->secondary) &&
                  (!has_runner_up ||
                   (choice->runner_up_node < nodes && isfinite(choice->runner_up_primary) &&
                    isfinite(choice->runner_up_secondary)));
    }
    for (uint32_t i = 0; i < lists->candidate_count && is_well; i++)
        is_well = lists->candidates[i].node < nodes && isfinite(lists->candidates[i].primary) &&
                  isfinite(lists->candidates[i].secondary);
    for (uint32_t i = 0; i < lists->holder_count && is_well; i++)
        is_well = lists->holders[i].node < nodes;
    for (uint32_t i = 0; i < lists->note_count && is_well; i++)
        is_well = lists->noted[i] == 0 || (isfinite(lists->notes[i].speed_per_s) &&
                                           isfinite(lists->notes[i].throughput_per_s));
    return is_well;
}

static weir_status take_plan(struct weir_host *host, const struct weir_plan_lists *lists,
                             struct weir_error *error)
{
    weir_host_clear_plan(host);
    host->started_count = 0;
    host->preempted_count = 0;
    if (weir_plan_take_lists(host->plan, lists) != WEIR_OK ||
        lists->next_worker < host->next_worker)
        return weir_fail(error, WEIR_EPOLICY, "its plan cannot be one: the lists do not fit");
    if (!is_told_well(lists, weir_cluster_node_count(host->inventory)))
        return weir_fail(error, WEIR_EPOLICY,
                         "what its plan tells of choices names no node, or is no number");
    WEIR_TRY(take_actions(host, lists, error));
    WEIR_TRY(choose_cuts(host, error));
    WEIR_TRY(weir_plan_check(host->plan, &host->view, error));
    WEIR_TRY(weir_host_pass_check(host, error));
    return weir_host_cuts_accepted(host);
}

weir_status weir_host_follow(struct weir_host *host, const struct weir_call *call,
                             const struct weir_plan_lists *lists, const struct weir_plan **plan,
                             struct weir_error *error)
{
    if (host == NULL || call == NULL || plan == NULL)
        return weir_fail(error, WEIR_EINVAL, "no host, no call or no plan");
    if (lists != NULL)
        WEIR_TRY(weir_size_check(lists->size, sizeof *lists, "the lists of a plan", error));
    WEIR_TRY(weir_host_begin_call(host, call, error));
    if (lists == NULL)
        return WEIR_OK;
    const weir_status status = take_plan(host, lists, error);
    if (status != WEIR_OK) {
        weir_host_cuts_dropped(host);
        WEIR_TRY(weir_host_pass_dropped(host));
        weir_host_clear_plan(host);
        host->stats.rejected += status == WEIR_EPOLICY;
        return weir_host_blame_plan(host, &host->main, status, error);
    }
    weir_host_turned_away(host);
    weir_host_pass_accepted(host);
    weir_host_hand_out(host, plan);
    return WEIR_OK;
}
