/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass over the waiting jobs.
 *
 * By key, jobs are offered a place in their order until nothing more fits or, when they may not
 * pass each other, until the first does not. A kind that found no place is settled: nobody of it is
 * asked about again until something is given back. So a pass tries one job a kind more than it
 * starts, and finding the next one is O(log kinds). A policy with a pass of its own walks itself.
 *
 * Limits of tenants and of licences come before places. Who they keep waiting is in nobody's way,
 * also where jobs may not pass each other, and jobs that go beyond a soft limit come after all
 * others. There a job that found no place may meet a limit later, when a job of its tenant came
 * before it and started: so limits are asked about the first one in every pass.
 *
 * Where gangs hold what they find while they wait (weir_hold_mode), it is found anew in every pass,
 * and nobody is settled: who comes before a gang, and where nodes are, changes what is left over.
 */
#include "sched/host/placer_state.h"
#include "sched/host/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/plan_state.h"

#include <math.h>
#include <stdlib.h>

/* Asks for the key of a record; it keeps the old one when there is none. Before the first decision
 * it is the time at which the job came. */
static weir_status set_key(struct weir_host *host, const struct weir_policy_set *set,
                           uint32_t record, struct weir_error *error)
{
    struct weir_job_record *const waiting = &host->jobs.records[record];
    struct weir_job job = { .size = sizeof job };

    if (set->queueing->key == NULL) {
        waiting->key = (double)waiting->submit_ns;
        return WEIR_OK;
    }
    weir_jobs_describe(&host->jobs, record, &job);
    const int64_t now_ns = host->now_ns > job.queued_ns ? host->now_ns : job.queued_ns;
    const double key = set->queueing->key(set->queued.state, &job, now_ns);
    if (isnan(key))
        return weir_fail(error, WEIR_EPOLICY, "job %llu gets no key", (unsigned long long)job.id);
    waiting->key = key;
    return WEIR_OK;
}

weir_status weir_host_queue_job(struct weir_host *host, uint32_t record, struct weir_error *error)
{
    const weir_status status = set_key(host, &host->main, record, error);

    if (status != WEIR_OK) {
        weir_error_wrap(error, "queueing policy %s", host->main.queueing->name);
        return status;
    }
    if (weir_jobs_push(&host->jobs, record) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    host->is_dirty = true;
    return WEIR_OK;
}

weir_status weir_host_rekey(struct weir_host *host, const struct weir_policy_set *set,
                            struct weir_error *error)
{
    weir_status status = WEIR_OK;

    host->is_foreign = true;
    for (uint32_t k = 0; status == WEIR_OK && k < host->jobs.kind_count; k++) {
        const struct weir_job_kind *const kind = &host->jobs.kinds[k];
        for (uint32_t i = 0; status == WEIR_OK && i < kind->count; i++)
            status = set_key(host, set, kind->heap[i], error);
        weir_jobs_reorder(&host->jobs, k);
    }
    host->is_foreign = status != WEIR_OK || set != &host->main;
    return status;
}

/* Keys that change with time, or are another policy's, are asked for anew. */
static weir_status refresh_keys(struct weir_host *host, const struct weir_policy_set *set,
                                struct weir_error *error)
{
    const bool is_old = (set->queueing->flags & WEIR_QUEUEING_AGES) != 0 || set != &host->main;

    return is_old || host->is_foreign ? weir_host_rekey(host, set, error) : WEIR_OK;
}

weir_status weir_host_index_jobs(struct weir_host *host, const struct weir_policy_set *set,
                                 struct weir_error *error)
{
    const bool is_needed = set->queueing->pass != NULL || host->jobs.reservations.count > 0;

    if (weir_jobs_index(&host->jobs, is_needed) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    return WEIR_OK;
}

weir_status weir_host_note_started(struct weir_host *host, uint32_t record)
{
    const uint32_t ranks = host->jobs.kinds[host->jobs.records[record].kind].ranks;

    WEIR_ROOM(&host->allocator, host->started, host->started_capacity, host->started_count + 1);
    WEIR_TRY(weir_jobs_reserve_placed(&host->jobs));
    weir_jobs_take_out(&host->jobs, record);
    weir_jobs_set_state(&host->jobs, record, WEIR_JOB_STARTING);
    host->jobs.kinds[host->jobs.records[record].kind].told_at = 0;
    weir_jobs_placed(&host->jobs, record)->is_planned = 1;
    weir_jobs_placed(&host->jobs, record)->first_worker = weir_plan_next_worker(host->plan) - ranks;
    weir_jobs_set_start(&host->jobs, record, host->now_ns);
    host->started[host->started_count++] = record;
    return WEIR_OK;
}

/* Nobody looked for a place. */
static void refuse_untried(struct weir_jobs *jobs, uint32_t record, uint32_t reason)
{
    struct weir_job_kind *const kind = &jobs->kinds[jobs->records[record].kind];

    weir_jobs_refuse(jobs, jobs->records[record].kind, record);
    kind->reason = reason;
    kind->refusal = (struct weir_choice){ .runner_up_node = WEIR_NO_INDEX };
}

/* WEIR_EBUSY when a limit keeps it waiting. */
static weir_status ask_limits(struct weir_host *host, uint32_t record)
{
    struct weir_jobs *const jobs = &host->jobs;
    struct weir_job_kind *const kind = &jobs->kinds[jobs->records[record].kind];

    kind->held_at = 0;
    kind->blocked_by = weir_host_blocked(host, kind);
    if (kind->blocked_by == WEIR_NO_INDEX)
        return WEIR_OK;
    refuse_untried(jobs, record, weir_job_kind_limit(kind, kind->blocked_by));
    return WEIR_EBUSY;
}

/* Those that no nodes there are can hold are told so. */
static weir_status set_aside(struct weir_host *host)
{
    struct weir_jobs *const jobs = &host->jobs;

    WEIR_TRY(weir_host_set_aside(host));
    for (uint32_t k = 0; k < jobs->kind_count; k++)
        if (jobs->kinds[k].is_aside != 0 && jobs->kinds[k].count > 0)
            refuse_untried(jobs, jobs->kinds[k].heap[0], WEIR_REASON_INFEASIBLE);
    return WEIR_OK;
}

static bool keeps_what_it_found(const struct weir_host *host, uint32_t record)
{
    if (host->jobs.kinds[host->jobs.records[record].kind].strategy > 0)
        return host->group_devices == WEIR_GROUP_DEVICES_GROUP;
    return host->hold_mode == WEIR_HOLD_RESERVE && weir_host_may_hold(host, record);
}

weir_status weir_host_try_job(struct weir_host *host, uint32_t record, struct weir_error *error)
{
    const uint32_t kind = host->jobs.records[record].kind;
    uint32_t reason = WEIR_REASON_NONE;

    WEIR_TRY(ask_limits(host, record));
    if (host->jobs.kinds[kind].is_aside != 0) {
        refuse_untried(&host->jobs, record, WEIR_REASON_INFEASIBLE);
        return WEIR_EINFEASIBLE;
    }
    const weir_status status =
        host->hold_mode == WEIR_HOLD_MEMBERS && weir_host_may_hold(host, record)
            ? weir_host_try_members(host, record, &reason, error)
            : weir_placer_start_record(host->placer, record, error);

    if (reason != WEIR_REASON_NONE)
        refuse_untried(&host->jobs, record, reason);
    if (status == WEIR_EBUSY && keeps_what_it_found(host, record))
        WEIR_TRY(weir_placer_reserve_record(host->placer, record, INT64_MAX, error));
    return status == WEIR_OK ? weir_host_note_started(host, record) : status;
}

/* It found no place. */
static void settle_job(struct weir_host *host, uint32_t record)
{
    const uint32_t kind = host->jobs.records[record].kind;

    if (host->jobs.kinds[kind].blocked_by != WEIR_NO_INDEX)
        weir_jobs_hold(&host->jobs, kind);
    else
        weir_jobs_settle(&host->jobs, kind);
}

/* Whether it waits until all others were offered a place. */
static bool is_put_off(struct weir_host *host, uint32_t record)
{
    struct weir_jobs *const jobs = &host->jobs;
    const uint32_t index = jobs->records[record].kind;
    const struct weir_job_kind *const kind = &jobs->kinds[index];

    if (!jobs->puts_off || !weir_tenants_is_beyond_soft(&jobs->tenants, kind->tenant, &kind->need))
        return false;
    weir_jobs_put_off(jobs, index);
    return true;
}

/* Whether the first one, which found no place before, is in the way of all others. */
static bool is_in_the_way(struct weir_host *host, uint32_t record)
{
    const uint32_t kind = host->jobs.records[record].kind;

    if (!weir_jobs_is_settled(&host->jobs, kind))
        return false;
    if (ask_limits(host, record) == WEIR_OK)
        return true;
    weir_jobs_hold(&host->jobs, kind);
    return false;
}

/* A reservation kept it out: others of its kind may be over before that begins. */
static weir_status offer_shorter(struct weir_host *host, uint32_t record, struct weir_error *error)
{
    struct weir_jobs *const jobs = &host->jobs;
    struct weir_job job = { .size = sizeof job };
    int64_t most_ns = weir_placer_blocked(host->placer);

    weir_jobs_describe(jobs, record, &job);
    while (most_ns != INT64_MAX && most_ns > host->now_ns && !weir_host_is_late(host)) {
        const struct weir_waiting_query query = { .size = sizeof query,
                                                  .kind = jobs->records[record].kind,
                                                  .most_ns = most_ns - host->now_ns,
                                                  .after = &job };
        struct weir_job next = { .size = sizeof next };
        if (!weir_view_find_waiting(&host->view, &query, &next))
            return WEIR_OK;
        job = next;
        const weir_status status =
            weir_host_try_job(host, weir_jobs_find(jobs, next.workload, next.id), error);
        if (status == WEIR_EBUSY || status == WEIR_EINFEASIBLE)
            most_ns = weir_placer_blocked(host->placer);
        else if (status != WEIR_OK)
            return status;
    }
    error->text[0] = '\0';
    return WEIR_OK;
}

static weir_status offer(struct weir_host *host, uint32_t record, bool can_pass,
                         struct weir_error *error)
{
    const weir_status status = weir_host_try_job(host, record, error);

    if (status != WEIR_EBUSY && status != WEIR_EINFEASIBLE)
        return status;
    error->text[0] = '\0'; /* not an error of the decision */
    if (can_pass)
        WEIR_TRY(offer_shorter(host, record, error));
    settle_job(host, record);
    return WEIR_OK;
}

static weir_status start_what_fits(struct weir_host *host, const struct weir_policy_set *set,
                                   struct weir_error *error)
{
    struct weir_jobs *const jobs = &host->jobs;
    const bool is_strict = (set->queueing->flags & WEIR_QUEUEING_PASSES) == 0;

    jobs->puts_off = jobs->tenants.has_soft;
    while (!weir_host_is_late(host)) {
        const uint32_t record = weir_jobs_first(jobs, is_strict);
        if (record != WEIR_NO_INDEX && is_put_off(host, record))
            continue;
        if (record == WEIR_NO_INDEX || is_in_the_way(host, record)) {
            if (!jobs->puts_off)
                return WEIR_OK;
            weir_jobs_let_go(jobs);
        } else if (!weir_jobs_is_settled(jobs, jobs->records[record].kind)) {
            WEIR_TRY(offer(host, record, !is_strict, error));
        }
    }
    return WEIR_OK;
}

weir_status weir_host_pass(struct weir_host *host, const struct weir_policy_set *set,
                           struct weir_error *error)
{
    host->started_count = 0;
    host->preempted_count = 0;
    weir_jobs_begin_pass(&host->jobs);
    host->jobs.tenants.turn++;
    if (weir_host_holds(host))
        weir_jobs_ask_again(&host->jobs);
    WEIR_TRY(refresh_keys(host, set, error));
    if (host->keeps_infeasible)
        WEIR_TRY(set_aside(host));
    if (set->queueing->pass != NULL)
        return set->queueing->pass(set->queued.state, &host->view, host->placer, host->plan, error);
    return start_what_fits(host, set, error);
}

weir_status weir_placer_deny_job(struct weir_placer *placer, uint32_t workload, uint64_t id,
                                 uint32_t reason)
{
    struct weir_jobs *const jobs = placer->bound.jobs;
    const uint32_t record = jobs == NULL ? WEIR_NO_INDEX : weir_jobs_find(jobs, workload, id);

    if (record == WEIR_NO_INDEX || jobs->records[record].state != WEIR_JOB_WAITING)
        return WEIR_ENOTFOUND;
    if (reason == WEIR_REASON_NONE || reason >= WEIR_REASON_COUNT)
        return WEIR_EINVAL;
    jobs->kinds[jobs->records[record].kind].blocked_by =
        jobs->kinds[jobs->records[record].kind].tenant;
    refuse_untried(jobs, record, reason);
    return WEIR_OK;
}

weir_status weir_host_pass_check(const struct weir_host *host, struct weir_error *error)
{
    const uint32_t count = weir_plan_settle(host->plan);
    uint32_t jobs = 0;
    uint32_t preempted = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct weir_action *const action = weir_plan_settled(host->plan, i);
        jobs += action->verb == WEIR_VERB_START && action->owner.kind == WEIR_OWNER_JOB &&
                action->rank == 0 &&
                !weir_jobs_may_grow(&host->jobs, weir_jobs_find(&host->jobs, action->owner.index,
                                                                action->owner.id));
        preempted += action->verb == WEIR_VERB_PREEMPT && action->owner.kind == WEIR_OWNER_JOB;
    }
    if (preempted != host->preempted_count)
        return weir_fail(error, WEIR_EPOLICY,
                         "%u jobs are preempted, %u of them through the placer", preempted,
                         host->preempted_count);
    if (jobs != host->started_count)
        return weir_fail(error, WEIR_EPOLICY, "%u jobs start, %u of them through the placer", jobs,
                         host->started_count);
    return WEIR_OK;
}

void weir_host_pass_accepted(struct weir_host *host)
{
    for (uint32_t i = 0; i < host->started_count; i++)
        weir_jobs_placed(&host->jobs, host->started[i])->is_planned = 0;
    host->started_count = 0;
    host->preempted_count = 0;
    host->is_dirty = false;
}

/* The plan is worth nothing: who it started waits again. */
weir_status weir_host_pass_dropped(struct weir_host *host)
{
    for (; host->started_count > 0; host->started_count--)
        WEIR_TRY(weir_jobs_push_back(&host->jobs, host->started[host->started_count - 1]));
    for (; host->preempted_count > 0; host->preempted_count--)
        weir_jobs_placed(&host->jobs, host->preempted[host->preempted_count - 1])->is_preempted = 0;
    host->jobs.surprises++;
    weir_jobs_unsettle(&host->jobs);
    return WEIR_OK;
}

static int compare_kinds(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a;
    const uint32_t right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

/* By kind; those that were found in the order in which kinds came are. */
static void sort_refused(struct weir_jobs *jobs)
{
    uint32_t sorted = 1;

    while (sorted < jobs->refused_count && jobs->refused[sorted - 1] < jobs->refused[sorted])
        sorted++;
    if (sorted < jobs->refused_count)
        qsort(jobs->refused, jobs->refused_count, sizeof *jobs->refused, compare_kinds);
}

/* Whether an earlier plan said so of jobs like it, and nothing was given back or started since.
 * Policies with a pass of their own ask for the same in every pass. */
static bool was_told(struct weir_jobs *jobs, uint32_t index)
{
    struct weir_job_kind *const kind = &jobs->kinds[index];
    const bool is_old = kind->told_at == jobs->freed && kind->told_reason == kind->reason &&
                        kind->reason != WEIR_REASON_NONE;

    kind->told_at = jobs->freed;
    kind->told_reason = kind->reason;
    return is_old;
}

weir_status weir_host_deny_jobs(struct weir_host *host)
{
    struct weir_jobs *const jobs = &host->jobs;

    sort_refused(jobs);
    for (uint32_t i = 0; i < jobs->refused_count; i++) {
        const struct weir_job_kind *const kind = &jobs->kinds[jobs->refused[i]];
        const struct weir_job_record *const job = &jobs->records[kind->refused];
        if (job->state != WEIR_JOB_WAITING) /* it was tried again and started */
            continue;
        if (was_told(jobs, jobs->refused[i]))
            continue;
        const struct weir_denied denied = { weir_job_owner(job->workload, job->id), kind->reason,
                                            kind->strategy == WEIR_GROUP_STRICT_SPREAD + 1 };
        WEIR_TRY(weir_plan_deny(host->plan, denied.owner, denied.reason, &kind->refusal));
        if (denied.reason == WEIR_REASON_RESERVED || denied.reason == WEIR_REASON_INFEASIBLE ||
            denied.reason == WEIR_REASON_PRIO_THRESHOLD || denied.reason == WEIR_REASON_GROUP)
            continue; /* nobody holds it */
        WEIR_TRY(denied.reason == WEIR_REASON_QUOTA || denied.reason == WEIR_REASON_CUSTOM_LIMIT
                     ? weir_note_limit_holders(host, kind, denied.owner)
                     : weir_note_job_holders(host->plan, host->inventory, kind, &denied));
    }
    return WEIR_OK;
}
