/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that hold something: what a policy may ask of them and do to them in its pass.
 *
 * The ranks of a job are workers whose ids follow one another, as its plan gave them; of a job that
 * was taken over from elsewhere they are looked for on every node. A job that a plan preempts is
 * marked until it is gone, so that no later plan does it again while it saves its work.
 */
#include "sched/cluster/state.h"
#include "sched/host/placer_state.h"
#include "sched/host/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/plan_state.h"
#include "sched/internal/seat.h"

/* ---- its ranks ---- */

/* Calls `use` for every worker of a job; the answer is how many there were. It may remove them. */
struct rank_visit {
    struct weir_cluster *cluster;
    struct weir_owner owner;
    uint64_t before; /* those with smaller ids alone */
    weir_status (*use)(struct weir_cluster *cluster, uint64_t worker, struct weir_error *error);
    struct weir_error *error;
    weir_status status;
    uint32_t count;
    uint64_t last; /* that was visited */
};

static void visit(struct rank_visit *visit, uint64_t worker)
{
    struct weir_worker found;

    if (visit->status != WEIR_OK || worker >= visit->before ||
        !weir_cluster_worker(visit->cluster, worker, &found) ||
        !weir_owner_is(&found.owner, &visit->owner))
        return;
    visit->count++;
    visit->last = worker;
    visit->status = visit->use(visit->cluster, worker, visit->error);
}

/* The next worker to be visited on a node; UINT64_MAX = there is none. */
static uint64_t any_on(const struct rank_visit *all, uint32_t node)
{
    const struct weir_worker_slot *const slots = all->cluster->slots;

    for (uint32_t s = weir_first_peer(all->cluster, node, &all->owner); s != WEIR_NO_INDEX;
         s = slots[s].peer_next)
        if (slots[s].id < all->before && weir_owner_is(&slots[s].owner, &all->owner))
            return slots[s].id;
    return UINT64_MAX;
}

static void visit_nodes(struct rank_visit *all)
{
    const uint32_t nodes = weir_cluster_node_count(all->cluster);

    for (uint32_t n = 0; n < nodes && all->status == WEIR_OK; n++) {
        uint64_t worker = any_on(all, n);
        for (; worker != UINT64_MAX && all->status == WEIR_OK; worker = any_on(all, n))
            visit(all, worker);
    }
}

weir_status weir_host_lift(struct weir_cluster *scratch, const struct weir_jobs *jobs,
                           uint32_t record, uint64_t before, uint64_t *worker,
                           struct weir_error *error)
{
    const struct weir_job_record *const job = &jobs->records[record];
    const struct weir_placed_job *const placed = weir_jobs_placed(jobs, record);
    struct rank_visit all = { .cluster = scratch,
                              .owner = weir_job_owner(job->workload, job->id),
                              .before = before,
                              .use = weir_cluster_remove_worker,
                              .error = error };

    for (uint32_t i = 0; placed->first_worker != UINT64_MAX && i < jobs->kinds[job->kind].ranks;
         i++)
        visit(&all, placed->first_worker + i);
    if (all.count < placed->started)
        visit_nodes(&all);
    *worker = all.count > 0 ? all.last : UINT64_MAX;
    return all.status;
}

/* Off the scratch of the placer, for the limits of its tenant too. */
static weir_status lift(struct weir_placer *placer, uint32_t record, uint64_t before,
                        struct weir_error *error)
{
    uint64_t worker = 0;

    weir_host_drop_back(placer->bound.host);
    WEIR_TRY(
        weir_host_lift(placer->bound.scratch, placer->bound.jobs, record, before, &worker, error));
    if (worker == UINT64_MAX)
        return WEIR_OK;
    const weir_status status = weir_host_note_gone(placer->bound.host, record, worker);
    return status == WEIR_OK ? status : weir_fail(error, status, "out of memory");
}

/* A job that holds something; of the plan that is made too, when `is_planned`. */
static weir_status find_holding(const struct weir_placer *placer, const struct weir_owner *job,
                                bool is_planned, uint32_t *record, struct weir_error *error)
{
    const struct weir_jobs *const jobs = placer->bound.jobs;
    const uint32_t found = jobs == NULL ? WEIR_NO_INDEX : weir_jobs_find(jobs, job->index, job->id);

    if (found == WEIR_NO_INDEX || jobs->records[found].state == WEIR_JOB_WAITING ||
        (weir_jobs_placed(jobs, found)->started == 0 &&
         !(is_planned && weir_jobs_placed(jobs, found)->is_planned != 0)))
        return weir_fail(error, WEIR_ENOTFOUND, "no job %llu of workload %u holds anything",
                         (unsigned long long)job->id, job->index);
    *record = found;
    return WEIR_OK;
}

static weir_status check_mark(const struct weir_placer *placer, struct weir_error *error)
{
    const struct weir_cluster *const scratch = placer->bound.scratch;

    if (scratch->mark_count <= scratch->lent)
        return weir_fail(error, WEIR_EINVAL, "jobs are lifted and put under a mark only");
    return WEIR_OK;
}

weir_status weir_placer_lift_job(struct weir_placer *placer, uint32_t workload, uint64_t id,
                                 struct weir_error *error)
{
    const struct weir_owner job = weir_job_owner(workload, id);
    uint32_t record = 0;

    WEIR_TRY(check_mark(placer, error));
    WEIR_TRY(find_holding(placer, &job, true, &record, error));
    return lift(placer, record, UINT64_MAX, error);
}

/* ---- pre-emption ---- */

weir_status weir_host_note_preempted(struct weir_host *host, uint32_t record)
{
    WEIR_ROOM(&host->allocator, host->preempted, host->preempted_capacity,
              host->preempted_count + 1);
    host->preempted[host->preempted_count++] = record;
    weir_jobs_placed(&host->jobs, record)->is_preempted = 1;
    return WEIR_OK;
}

void weir_host_spare_job(struct weir_host *host, const struct weir_owner *job)
{
    const uint32_t record = weir_jobs_find(&host->jobs, job->index, job->id);
    uint32_t at = 0;

    if (record == WEIR_NO_INDEX || host->jobs.records[record].state == WEIR_JOB_WAITING)
        return;
    weir_jobs_placed(&host->jobs, record)->is_preempted = 0;
    while (at < host->preempted_count && host->preempted[at] != record)
        at++;
    if (at < host->preempted_count)
        host->preempted[at] = host->preempted[--host->preempted_count];
}

static weir_status preempt(struct weir_placer *placer, const struct weir_owner *job,
                           int64_t grace_ns, struct weir_error *error)
{
    const struct weir_action action = { .size = sizeof action,
                                        .verb = WEIR_VERB_PREEMPT,
                                        .owner = *job,
                                        .value = grace_ns,
                                        .choice = WEIR_NO_INDEX };
    uint32_t record = 0;

    WEIR_TRY(find_holding(placer, job, false, &record, error));
    if (weir_jobs_placed(placer->bound.jobs, record)->is_preempted != 0)
        return weir_fail(error, WEIR_EDUPLICATE, "job %llu was preempted already",
                         (unsigned long long)job->id);
    if (grace_ns == 0)
        WEIR_TRY(lift(placer, record, placer->bound.host->next_worker, error));
    if (weir_plan_append(placer->bound.plan, &action) != WEIR_OK ||
        weir_host_note_preempted(placer->bound.host, record) != WEIR_OK)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    return WEIR_OK;
}

weir_status weir_placer_preempt_job(struct weir_placer *placer, uint32_t workload, uint64_t id,
                                    struct weir_error *error)
{
    const struct weir_owner job = weir_job_owner(workload, id);

    return preempt(placer, &job, 0, error);
}

weir_status weir_placer_warn_job(struct weir_placer *placer, uint32_t workload, uint64_t id,
                                 int64_t grace_ns, struct weir_error *error)
{
    const struct weir_owner job = weir_job_owner(workload, id);

    if (grace_ns <= 0)
        return weir_fail(error, WEIR_EINVAL, "a grace must be > 0 ns");
    return preempt(placer, &job, grace_ns, error);
}

/* ---- those that wait ---- */

static weir_status find_waiting(const struct weir_placer *placer, const struct weir_owner *job,
                                uint32_t *record, struct weir_error *error)
{
    const struct weir_jobs *const jobs = placer->bound.jobs;
    const uint32_t found = jobs == NULL ? WEIR_NO_INDEX : weir_jobs_find(jobs, job->index, job->id);

    if (found == WEIR_NO_INDEX || jobs->records[found].state != WEIR_JOB_WAITING)
        return weir_fail(error, WEIR_ENOTFOUND, "no job %llu of workload %u waits",
                         (unsigned long long)job->id, job->index);
    *record = found;
    return WEIR_OK;
}

weir_status weir_placer_start_job(struct weir_placer *placer, uint32_t workload, uint64_t id,
                                  struct weir_error *error)
{
    const struct weir_owner job = weir_job_owner(workload, id);
    uint32_t record = 0;

    WEIR_TRY(find_waiting(placer, &job, &record, error));
    return weir_host_try_job(placer->bound.host, record, error);
}

static weir_status check_type(const struct weir_job_kind *kind, uint64_t id, uint32_t gpu_type,
                              struct weir_error *error)
{
    for (uint32_t g = 0; g < kind->group_count; g++)
        if (kind->groups[g].shape.gpu_count > 0 &&
            !weir_shape_takes_type(&kind->groups[g].shape, gpu_type))
            return weir_fail(error, WEIR_EINVAL, "job %llu takes no GPU of type %u",
                             (unsigned long long)id, gpu_type);
    return WEIR_OK;
}

/* Whether it may start so. */
static weir_status check_start(const struct weir_placer *placer, uint32_t record,
                               const struct weir_job_start *start, struct weir_error *error)
{
    const struct weir_job_record *const job = &placer->bound.jobs->records[record];
    const struct weir_job_kind *const kind = &placer->bound.jobs->kinds[job->kind];
    const struct weir_job_extra *const extra =
        job->extra == WEIR_NO_INDEX ? NULL : &placer->bound.jobs->extras[job->extra];
    const struct weir_speedup *const speedup = extra == NULL ? NULL : extra->speedup;

    if (kind->strategy > 0)
        return weir_fail(error, WEIR_EUNSUPPORTED, "job %llu is a placement group",
                         (unsigned long long)job->id);
    if (start->ranks > 0 && start->ranks != kind->groups[0].ranks &&
        (speedup == NULL || start->ranks < speedup->least || start->ranks > speedup->most))
        return weir_fail(error, WEIR_EINVAL, "job %llu does not run with %u ranks",
                         (unsigned long long)job->id, start->ranks);
    if (start->node_count > 0 && (start->nodes == NULL || start->node_count != start->ranks))
        return weir_fail(error, WEIR_EINVAL, "job %llu: %u nodes for %u ranks",
                         (unsigned long long)job->id, start->node_count, start->ranks);
    for (uint32_t i = 0; i < start->node_count; i++)
        if (start->nodes[i] >= weir_cluster_node_count(placer->bound.scratch))
            return weir_fail(error, WEIR_EINVAL, "there is no node %u", start->nodes[i]);
    if (start->gpu_type == 0 || (start->gpu_type & WEIR_GPU_TYPE_SET) != 0)
        return WEIR_OK;
    return check_type(kind, job->id, start->gpu_type - 1, error);
}

/* How the next job is placed; anywhere = as the placement policy says. */
static const struct weir_job_start anywhere = { .size = sizeof anywhere };

static void want(struct weir_placer *placer, const struct weir_job_start *start)
{
    placer->wanted_type = start->gpu_type;
    placer->wanted_nodes = start->node_count > 0 ? start->nodes : NULL;
    placer->wanted_node_count = start->node_count;
}

weir_status weir_placer_start_job_as(struct weir_placer *placer, uint32_t workload, uint64_t id,
                                     const struct weir_job_start *start, struct weir_error *error)
{
    const struct weir_owner job = weir_job_owner(workload, id);
    uint32_t record = 0;

    if (start == NULL || start->size < sizeof *start)
        return weir_fail(error, WEIR_EABI, "how job %llu starts is not said",
                         (unsigned long long)id);
    WEIR_TRY(find_waiting(placer, &job, &record, error));
    WEIR_TRY(check_start(placer, record, start, error));
    if (start->ranks > 0)
        WEIR_TRY(weir_jobs_set_ranks(placer->bound.jobs, record, start->ranks, error));
    want(placer, start);
    const weir_status status = weir_host_try_job(placer->bound.host, record, error);
    want(placer, &anywhere);
    return status;
}

weir_status weir_placer_start_job_on(struct weir_placer *placer, uint32_t workload, uint64_t id,
                                     uint32_t gpu_type, struct weir_error *error)
{
    const bool is_set = (gpu_type & WEIR_GPU_TYPE_SET) != 0;
    const struct weir_job_start start = { .size = sizeof start,
                                          .gpu_type = is_set ? gpu_type : gpu_type + 1 };

    return weir_placer_start_job_as(placer, workload, id, &start, error);
}

weir_status weir_placer_fits_job(struct weir_placer *placer, uint32_t workload, uint64_t id,
                                 struct weir_error *error)
{
    const struct weir_owner job = weir_job_owner(workload, id);
    uint32_t record = 0;

    WEIR_TRY(find_waiting(placer, &job, &record, error));
    const struct weir_jobs *const jobs = placer->bound.jobs;
    if (weir_host_blocked(placer->bound.host, &jobs->kinds[jobs->records[record].kind]) !=
        WEIR_NO_INDEX)
        return weir_fail(error, WEIR_EBUSY, "a limit keeps job %llu waiting",
                         (unsigned long long)id);
    if (placer->bound.host->hold_mode == WEIR_HOLD_MEMBERS &&
        weir_host_may_hold(placer->bound.host, record))
        return weir_fail(error, WEIR_EBUSY, "nobody makes room for all members of job %llu",
                         (unsigned long long)id); /* others would take what one leaves */
    return weir_placer_fits_record(placer, record, false, error);
}

weir_status weir_placer_put_job(struct weir_placer *placer, uint32_t workload, uint64_t id,
                                struct weir_error *error)
{
    const struct weir_owner job = weir_job_owner(workload, id);
    uint32_t record = 0;

    WEIR_TRY(check_mark(placer, error));
    WEIR_TRY(find_waiting(placer, &job, &record, error));
    weir_host_drop_back(placer->bound.host);
    WEIR_TRY(weir_placer_fits_record(placer, record, true, error));
    return weir_host_note_put(placer->bound.host, record,
                              weir_plan_next_worker(placer->bound.plan) - 1);
}

weir_status weir_placer_seat_job(struct weir_placer *placer, uint32_t workload, uint64_t id,
                                 const struct weir_job_start *how, struct weir_error *error)
{
    struct weir_host *const host = placer->bound.host;
    struct weir_jobs *const jobs = placer->bound.jobs;
    const uint32_t record = jobs == NULL ? WEIR_NO_INDEX : weir_jobs_find(jobs, workload, id);

    WEIR_TRY(check_mark(placer, error));
    if (record == WEIR_NO_INDEX ||
        (jobs->records[record].state != WEIR_JOB_WAITING && !weir_host_is_gone(host, record)))
        return weir_fail(error, WEIR_ENOTFOUND, "job %llu of workload %u has its place",
                         (unsigned long long)id, workload);
    WEIR_TRY(check_start(placer, record, how, error));
    if (how->ranks > 0 && jobs->records[record].state == WEIR_JOB_WAITING)
        WEIR_TRY(weir_jobs_set_ranks(jobs, record, how->ranks, error));
    if (weir_host_blocked(host, &jobs->kinds[jobs->records[record].kind]) != WEIR_NO_INDEX)
        return WEIR_EBUSY;
    want(placer, how);
    weir_status status = weir_placer_fits_record(placer, record, true, error);
    want(placer, &anywhere);
    if (status == WEIR_OK)
        status = weir_host_note_put(host, record, weir_plan_next_worker(placer->bound.plan) - 1);
    return status;
}

weir_status weir_placer_reserve_job(struct weir_placer *placer, uint32_t workload, uint64_t id,
                                    int64_t until_ns, struct weir_error *error)
{
    const struct weir_owner job = weir_job_owner(workload, id);
    uint32_t record = 0;

    WEIR_TRY(find_waiting(placer, &job, &record, error));
    if (until_ns < placer->bound.view->now_ns)
        return weir_fail(error, WEIR_EINVAL, "a reservation ends before it begins");
    if (placer->bound.jobs->kinds[placer->bound.jobs->records[record].kind].is_aside != 0)
        return WEIR_OK; /* no part of it is worth keeping */
    return weir_placer_reserve_record(placer, record, until_ns, error);
}
