/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ranks of a job: a worker each, all or none. What they do is progress.c.
 */
#include "sim/jobs/jobs.h"

#include "sim/record/meter/meter_tenants.h"
#include "weir/group.h"

/* ---- start ---- */

static void observe_rank(const struct sim_jobs_run *run, const struct sim_job *job, uint32_t rank,
                         const struct weir_alloc *alloc)
{
    const struct sim_observer *observer = run->context->observer;
    const struct sim_job_member member = {
        .job = job->id, .member = rank, .attempt = sim_job_attempts(run, job), .alloc = alloc
    };
    if (observer != NULL && observer->member != NULL)
        observer->member(observer->state, &member);
}

static void count_running(struct sim_jobs_run *run, const struct sim_job *job, int change)
{
    run->running += (uint64_t)(int64_t)change;
    sim_meter_jobs(run->context->meter, sim_jobs_now(run), sim_job_class(run, job),
                   SIM_JOBS_RUNNING, change);
}

/* Of all that start, or of members that join: a plan may start it with another number of members
 * than it says. */
static const struct weir_shape *shape_of(const struct sim_job_spec *spec,
                                         const struct sim_start *start, uint32_t rank)
{
    const uint32_t more = sim_job_workers(spec) - spec->members;
    const uint32_t count = start->places.count;
    return rank + more < count ? &spec->shape
                               : sim_job_shape(spec, rank + sim_job_workers(spec) - count);
}

weir_status sim_jobs_start_ranks(struct sim_jobs_run *run, struct sim_job *job,
                                 const struct sim_start *start, uint32_t *reason)
{
    const struct sim_driver_config *config = &run->config;
    const struct sim_job_spec *spec = sim_job_spec(run, job);
    const bool is_apart = sim_job_workers(spec) > 1 || spec->step != NULL || spec->elastic != NULL;
    const struct sim_place *places = start->places.items;
    uint32_t taken = 0;
    *reason = WEIR_REASON_NONE;
    for (; taken < start->places.count; taken++) {
        const struct sim_worker_start wanted = { .owner = start->owner,
                                                 .driver = config->index,
                                                 .job_class = sim_job_class(run, job),
                                                 .tenant = spec->tenant_number,
                                                 .uses = shape_of(spec, start, taken),
                                                 .traffic = sim_memory_traffic_of(&spec->traffic),
                                                 .is_apart = is_apart,
                                                 .places = { &places[taken], 1 } };
        struct sim_worker *worker = NULL;
        WEIR_TRY(sim_worker_start(config->workers, &wanted, &worker, reason));
        if (worker == NULL)
            break;
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): a number that nobody follows */
        worker->work = (void *)(uintptr_t)(job->slot + 1);
    }
    for (uint32_t i = 0; *reason != WEIR_REASON_NONE && i < taken; i++)
        sim_worker_withdraw(config->workers, sim_workers_find(config->workers, places[i].id));
    run->refused_by_truth += *reason != WEIR_REASON_NONE ? 1 : 0;
    return WEIR_OK;
}

static void note_first_start(struct sim_jobs_run *run, const struct sim_job *job)
{
    const int64_t now_ns = sim_jobs_now(run);
    sim_jobs_count(run, job, SIM_JOBS_STARTED);
    if (now_ns > job->at_ns)
        sim_jobs_count(run, job, SIM_JOBS_DELAYED);
    if (job->is_counted)
        sim_meter_job_wait(run->context->meter, now_ns, sim_job_class(run, job),
                           now_ns - job->at_ns);
    if (job->is_counted)
        sim_meter_tenant_wait(run->context->meter, sim_job_spec(run, job)->tenant_number,
                              now_ns - job->at_ns);
}

/* What is to be known of its starts, kept from the first one that is tried. */
static weir_status take_life(struct sim_jobs_run *run, struct sim_job *job)
{
    struct sim_job_arrival arrival = run->brought;
    void *record = NULL;
    if (job->life != 0)
        return WEIR_OK;
    WEIR_TRY(sim_slab_take(&run->lives, &record));
    struct sim_job_life *life = record;
    if (arrival.spec != job->spec || arrival.key != job->key)
        sim_job_stream_describe(run->stream, job->spec, job->key, &arrival);
    life->run_ns = life->saved_ns = arrival.run_ns;
    life->save = life->kill = life->limit = life->call = SIM_NO_HANDLE;
    life->estimate_ns = arrival.estimate_ns;
    job->life = life->slot + 1;
    sim_jobs_draw_steps(run, job);
    return WEIR_OK;
}

/* Of those that prefer one node, or a node for each rank, whether they are there. */
static void note_wish(struct sim_jobs_run *run, const struct sim_job *job,
                      const struct sim_places *places)
{
    const uint32_t group = sim_job_spec(run, job)->group;
    uint32_t nodes = 0;
    if (group != WEIR_GROUP_PACK + 1 && group != WEIR_GROUP_SPREAD + 1)
        return;
    for (uint32_t i = 0; i < places->count; i++) {
        uint32_t k = 0;
        while (k < i && places->items[k].alloc.node != places->items[i].alloc.node)
            k++;
        nodes += k == i;
    }
    sim_jobs_count(run, job, SIM_JOBS_WISHED);
    if (nodes != (group == WEIR_GROUP_PACK + 1 ? 1 : places->count))
        sim_jobs_count(run, job, SIM_JOBS_SCATTERED);
}

/* All its ranks live. */
static void begin_run(struct sim_jobs_run *run, struct sim_job *job)
{
    struct sim_job_life *life = sim_job_life(run, job);
    sim_jobs_dequeue(run, job->slot);
    if (life->attempts++ == 0) {
        note_first_start(run, job);
        life->first_start_ns = sim_jobs_now(run);
    } else if (job->is_counted && !life->is_preempted) {
        sim_meter_job_restart(run->context->meter, sim_job_class(run, job),
                              sim_jobs_now(run) - life->lost_ns);
    }
    job->state = SIM_JOB_RUNNING;
    life->start_ns = sim_jobs_now(run);
    count_running(run, job, 1);
    sim_jobs_digest(run, DIGEST_START, job);
}

weir_status sim_jobs_start(struct sim_jobs_run *run, const struct sim_start *start,
                           uint32_t *reason)
{
    const uint32_t slot = sim_job_slots_find(&run->slots, start->owner.id);
    struct sim_job *job = slot == WEIR_NO_INDEX ? NULL : sim_job_at(run, slot);
    const bool is_waiting = job != NULL && job->state == SIM_JOB_WAITING && !start->is_more;
    if (!is_waiting && (job == NULL || job->state != SIM_JOB_RUNNING)) {
        *reason = WEIR_REASON_FINISHED; /* it, or its run, ended while the plan was on its way */
        return WEIR_OK;
    }
    if (!is_waiting)
        return sim_jobs_grow(run, job, start, reason);
    WEIR_TRY(take_life(run, job));
    WEIR_TRY(sim_jobs_start_ranks(run, job, start, reason));
    struct sim_job_life *life = sim_job_life(run, job);
    life->node = start->places.items[0].alloc.node;
    if (*reason != WEIR_REASON_NONE)
        return WEIR_OK;
    life->first_worker = start->places.items[0].id;
    life->workers = start->places.count;
    life->members = start->places.count -
                    (sim_job_workers(sim_job_spec(run, job)) - sim_job_spec(run, job)->members);
    life->lost = 0;
    for (uint32_t i = 0; i < start->places.count; i++)
        observe_rank(run, job, i, &start->places.items[i].alloc);
    begin_run(run, job);
    note_wish(run, job, &start->places);
    return sim_jobs_begin(run, job);
}

/* ---- end ---- */

void sim_jobs_forget_life(struct sim_jobs_run *run, struct sim_job *job)
{
    if (job->life == 0)
        return;
    sim_jobs_forget_ranks(sim_job_life(run, job));
    sim_slab_give(&run->lives, sim_job_life(run, job));
    job->life = 0;
}

weir_status sim_jobs_drop_ranks(struct sim_jobs_run *run, struct sim_job *job, enum sim_stop why,
                                const char *text)
{
    const struct sim_driver_config *config = &run->config;
    const uint32_t ranks = sim_job_most_workers(sim_job_spec(run, job));
    const struct sim_job_life *life = sim_job_life(run, job);
    while (life->ids != NULL && life->workers > 0) /* each takes itself off the list */
        WEIR_TRY(config->services->end(
            config->world, sim_workers_find(config->workers, life->ids[life->workers - 1]), why,
            text));
    for (uint32_t i = 0; i < ranks && life->workers > 0; i++) {
        struct sim_worker *worker = sim_workers_find(config->workers, life->first_worker + i);
        if (worker != NULL)
            WEIR_TRY(config->services->end(config->world, worker, why, text));
    }
    return WEIR_OK;
}

static weir_status finish(struct sim_jobs_run *run, uint32_t slot)
{
    const struct sim_driver_config *config = &run->config;
    struct sim_job *job = sim_job_at(run, slot);
    WEIR_TRY(sim_jobs_break_off(run, job, NULL));
    count_running(run, job, -1);
    job->state = SIM_JOB_GONE;
    WEIR_TRY(sim_jobs_drop_ranks(run, job, SIM_STOP_OVER, "done"));
    WEIR_TRY(config->services->ended(config->world, run->index, job->id));
    return sim_jobs_done(run, slot);
}

/* Why a job ends before its work is done: of the job, and of its ranks. */
struct overrun {
    const char *job, *ranks;
};

static struct overrun overrun_of(const struct sim_jobs_run *run, const struct sim_job_life *life)
{
    if (life->is_short)
        return (struct overrun){ "no memory of a GPU", "no memory of a GPU was left" };
    return sim_jobs_limit_ns(run, life) == run->workload->timeout_ns
               ? (struct overrun){ "killed at its timeout", "its timeout was over" }
               : (struct overrun){ "killed at its estimate", "its estimate was over" };
}

weir_status sim_jobs_overrun(struct sim_jobs_run *run, uint32_t slot)
{
    const struct sim_driver_config *config = &run->config;
    struct sim_job *job = sim_job_at(run, slot);
    const struct overrun why = overrun_of(run, sim_job_life(run, job));
    sim_job_life(run, job)->limit = SIM_NO_HANDLE;
    WEIR_TRY(sim_jobs_break_off(run, job, why.job));
    count_running(run, job, -1);
    job->state = SIM_JOB_GONE;
    WEIR_TRY(sim_jobs_drop_ranks(run, job, SIM_STOP_OVER, why.ranks));
    WEIR_TRY(config->services->ended(config->world, run->index, job->id));
    return sim_jobs_give_up(run, slot,
                            sim_job_life(run, job)->is_short ? SIM_JOBS_OOM : SIM_JOBS_OVERRUN);
}

weir_status sim_jobs_ended(struct sim_jobs_run *run, uint32_t slot, sim_handle work)
{
    struct sim_job *job = sim_job_at(run, slot);
    bool is_over = false;
    if (job->life == 0 || sim_job_life(run, job)->run != work)
        return WEIR_OK; /* one that ended at the same instant took it along */
    WEIR_TRY(sim_jobs_next_phase(run, job, &is_over));
    return is_over ? finish(run, slot) : WEIR_OK;
}

/* It runs no more; the ranks that are left go later. */
static weir_status lose(struct sim_jobs_run *run, struct sim_job *job, enum sim_stop why)
{
    struct sim_job_life *life = sim_job_life(run, job);
    life->is_lost = true;
    life->is_preempted = why == SIM_STOP_PREEMPTED;
    life->lost_ns = sim_jobs_now(run);
    WEIR_TRY(sim_jobs_break_off(run, job, sim_stop_cause(why)));
    count_running(run, job, -1);
    return WEIR_OK;
}

weir_status sim_jobs_rank_stops(struct sim_jobs_run *run, struct sim_worker *worker,
                                enum sim_stop why)
{
    const uint32_t slot = (uint32_t)(uintptr_t)worker->work - 1;
    struct sim_job *job = sim_job_at(run, slot);
    struct sim_job_life *life = sim_job_life(run, job);
    const bool is_listed = life->is_changed;
    bool is_member = false;
    WEIR_TRY(sim_jobs_rank_gone(run, job, sim_worker_id(worker), &is_member));
    worker->tasks += job->state == SIM_JOB_GONE ? 1 : 0;
    if (job->state != SIM_JOB_RUNNING || life->is_lost)
        return WEIR_OK;
    life->lost += is_member ? 1 : 0;
    life->is_changed = is_member && sim_jobs_goes_on(run, job, why);
    if (!life->is_changed)
        WEIR_TRY(lose(run, job, why));
    if (is_listed)
        return WEIR_OK;
    life->next_lost = run->first_lost;
    run->first_lost = slot + 1;
    return WEIR_OK;
}
