/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The run of a job: a worker a rank, all or none, and one activity for the work.
 *
 * Ranks wait for one another at every step, so the slowest decides: the rate of the activity is
 * that of the slowest rank, speed of its GPU type over the slow-down of its place. When something
 * changes the rates (a slow node, a neighbour), the activity goes on with what is left.
 */
#include "sim/jobs/jobs.h"

#include <math.h>

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

/* A worker a place, or none when the truth refuses one. */
static weir_status start_ranks(struct sim_jobs_run *run, struct sim_job *job, uint32_t slot,
                               const struct sim_start *start, uint32_t *reason)
{
    const struct sim_driver_config *config = &run->config;
    const struct sim_place *places = start->places.items;
    uint32_t taken = 0;
    *reason = WEIR_REASON_NONE;
    for (; taken < start->places.count; taken++) {
        const struct sim_worker_start wanted = { .owner = start->owner,
                                                 .driver = config->index,
                                                 .job_class = sim_job_class(run, job),
                                                 .uses = &sim_job_spec(run, job)->shape,
                                                 .traffic = sim_traffic_of(
                                                     &sim_job_spec(run, job)->traffic),
                                                 .is_apart = start->places.count > 1,
                                                 .places = { &places[taken], 1 } };
        struct sim_worker *worker = NULL;
        WEIR_TRY(sim_worker_start(config->workers, &wanted, &worker, reason));
        if (worker == NULL)
            break;
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): a number that nobody follows */
        worker->work = (void *)(uintptr_t)(slot + 1);
    }
    for (uint32_t i = 0; *reason != WEIR_REASON_NONE && i < taken; i++)
        sim_worker_withdraw(config->workers, sim_workers_find(config->workers, places[i].id));
    run->refused_by_truth += *reason != WEIR_REASON_NONE ? 1 : 0;
    return WEIR_OK;
}

static double speed_of(const struct sim_jobs_run *run, const struct sim_worker *rank)
{
    const struct sim_job *job = sim_job_at(run, (uint32_t)(uintptr_t)rank->work - 1);
    return sim_speed_at(&sim_job_spec(run, job)->speed, rank->gpu_type,
                        sim_worker_part(run->config.workers, rank));
}

/* How fast a job of several ranks runs now, in quanta a nanosecond. */
static uint64_t rate_of(const struct sim_jobs_run *run, const struct sim_job_life *life)
{
    const struct sim_driver_config *config = &run->config;
    double slowest = INFINITY;
    for (uint32_t i = 0; i < life->workers; i++) {
        const struct sim_worker *worker = sim_workers_find(config->workers, life->first_worker + i);
        const double slow = sim_worker_slowdown(config->workers, worker);
        slowest = fmin(slowest, speed_of(run, worker) / slow);
    }
    return sim_rate_at(slowest);
}

static const struct sim_worker *only_rank(const struct sim_jobs_run *run,
                                          const struct sim_job_life *life)
{
    return life->workers == 1 ? sim_workers_find(run->config.workers, life->first_worker) : NULL;
}

static weir_status begin_ranks(struct sim_jobs_run *run, struct sim_job_life *life, uint64_t owner)
{
    const struct sim_activity_spec spec = { .work = sim_work_of_ns(life->run_ns, SIM_DEVICE_QPNS),
                                            .cap_qpns = rate_of(run, life),
                                            .owner = owner,
                                            .weight = 1 };
    for (uint32_t i = 0; i < life->workers; i++)
        WEIR_TRY(sim_worker_stand_in(
            run->config.workers, sim_workers_find(run->config.workers, life->first_worker + i)));
    return sim_activity_start(run->context->activities, &spec, &life->run, run->context->error);
}

static weir_status begin_work(struct sim_jobs_run *run, struct sim_job_life *life, uint32_t slot)
{
    const uint64_t owner = sim_work_owner(run->config.index, slot);
    const struct sim_worker *rank = only_rank(run, life);
    sim_quanta work = 0;
    if (rank == NULL)
        WEIR_TRY(begin_ranks(run, life, owner));
    else
        WEIR_TRY(sim_worker_begin(run->config.workers, rank, life->run_ns, speed_of(run, rank),
                                  owner, &life->run));
    (void)sim_activity_left(run->context->activities, life->run, &work);
    run->ending += work == SIM_WORK_ENDLESS ? 0 : 1;
    return WEIR_OK;
}

static void note_first_start(struct sim_jobs_run *run, const struct sim_job *job)
{
    const int64_t now_ns = sim_jobs_now(run);
    sim_jobs_count(run, job, SIM_JOBS_STARTED);
    if (now_ns > job->at_ns)
        sim_jobs_count(run, job, SIM_JOBS_DELAYED);
    if (job->is_counted)
        sim_meter_job_wait(run->context->meter, sim_job_class(run, job), now_ns - job->at_ns);
}

static void wake_ranks(const struct sim_jobs_run *run, const struct sim_job_life *life)
{
    const struct sim_driver_config *config = &run->config;
    for (uint32_t i = 0; i < life->workers; i++) {
        struct sim_worker *worker = sim_workers_find(config->workers, life->first_worker + i);
        sim_worker_set_state(config->workers, worker, SIM_WORKER_SETUP);
        sim_worker_set_state(config->workers, worker, SIM_WORKER_IDLE);
        config->services->ready(config->world, worker);
        sim_worker_set_state(config->workers, worker, SIM_WORKER_BUSY);
    }
}

/* What is to be known of its starts, kept from the first one that is tried. */
static weir_status take_life(struct sim_jobs_run *run, struct sim_job *job)
{
    struct sim_job_arrival arrival = { .at_ns = job->at_ns };
    void *record = NULL;
    if (job->life != 0)
        return WEIR_OK;
    WEIR_TRY(sim_slab_take(&run->lives, &record));
    struct sim_job_life *life = record;
    sim_job_stream_describe(run->stream, job->spec, job->key, &arrival);
    life->run_ns = arrival.run_ns;
    job->life = life->slot + 1;
    return WEIR_OK;
}

/* All its ranks live. */
static void begin_run(struct sim_jobs_run *run, struct sim_job *job)
{
    struct sim_job_life *life = sim_job_life(run, job);
    sim_jobs_dequeue(run, job->slot);
    if (life->attempts++ == 0) {
        note_first_start(run, job);
        life->first_start_ns = sim_jobs_now(run);
    } else if (job->is_counted) {
        sim_meter_job_restart(run->context->meter, sim_job_class(run, job),
                              sim_jobs_now(run) - life->lost_ns);
    }
    job->state = SIM_JOB_RUNNING;
    life->start_ns = sim_jobs_now(run);
    count_running(run, job, 1);
    sim_jobs_digest(run, DIGEST_START, job);
    wake_ranks(run, life);
}

weir_status sim_jobs_start(struct sim_jobs_run *run, const struct sim_start *start,
                           uint32_t *reason)
{
    const uint32_t slot = sim_job_slots_find(&run->slots, start->owner.id);
    if (slot == WEIR_NO_INDEX || sim_job_at(run, slot)->state != SIM_JOB_WAITING) {
        *reason = WEIR_REASON_FINISHED; /* it left while the plan was on its way */
        return WEIR_OK;
    }
    struct sim_job *job = sim_job_at(run, slot);
    WEIR_TRY(take_life(run, job));
    WEIR_TRY(start_ranks(run, job, slot, start, reason));
    struct sim_job_life *life = sim_job_life(run, job);
    life->node = start->places.items[0].alloc.node;
    if (*reason != WEIR_REASON_NONE)
        return WEIR_OK;
    life->first_worker = start->places.items[0].id;
    life->workers = start->places.count;
    for (uint32_t i = 0; i < start->places.count; i++)
        observe_rank(run, job, i, &start->places.items[i].alloc);
    begin_run(run, job);
    return begin_work(run, life, slot);
}

/* ---- speed ---- */

void sim_jobs_rank_paced(struct sim_jobs_run *run, const struct sim_worker *worker)
{
    const uint32_t slot = (uint32_t)(uintptr_t)worker->work - 1;
    struct sim_job_life *life = sim_job_life(run, sim_job_at(run, slot));
    if (life->is_paced)
        return;
    life->is_paced = true;
    life->next_paced = run->first_paced;
    run->first_paced = slot + 1;
}

/* At the rate that its ranks have now. */
static weir_status go_at(struct sim_jobs_run *run, const struct sim_job_life *life)
{
    const struct sim_worker *rank = only_rank(run, life);
    return rank == NULL
               ? sim_activity_set(run->context->activities, life->run, 1, rate_of(run, life))
               : sim_worker_pace(run->config.workers, rank, life->run, speed_of(run, rank));
}

weir_status sim_jobs_go_on(struct sim_jobs_run *run)
{
    while (run->first_paced != 0) {
        struct sim_job_life *life = sim_job_life(run, sim_job_at(run, run->first_paced - 1));
        run->first_paced = life->next_paced;
        life->is_paced = false;
        if (life->run != SIM_NO_HANDLE)
            WEIR_TRY(go_at(run, life));
    }
    return WEIR_OK;
}

/* ---- end ---- */

void sim_jobs_forget_life(struct sim_jobs_run *run, struct sim_job *job)
{
    if (job->life == 0)
        return;
    sim_slab_give(&run->lives, sim_job_life(run, job));
    job->life = 0;
}

weir_status sim_jobs_drop_ranks(struct sim_jobs_run *run, struct sim_job *job, enum sim_stop why,
                                const char *text)
{
    const struct sim_driver_config *config = &run->config;
    const uint32_t ranks = sim_job_spec(run, job)->members;
    const struct sim_job_life *life = sim_job_life(run, job);
    for (uint32_t i = 0; i < ranks && life->workers > 0; i++) {
        struct sim_worker *worker = sim_workers_find(config->workers, life->first_worker + i);
        if (worker != NULL)
            WEIR_TRY(config->services->end(config->world, worker, why, text));
    }
    return WEIR_OK;
}

/* The job runs no more; its ranks may still be there. */
static void leave_run(struct sim_jobs_run *run, struct sim_job *job)
{
    struct sim_job_life *life = sim_job_life(run, job);
    sim_quanta left = 0;
    if (life->run != SIM_NO_HANDLE && sim_activity_stop(run->context->activities, life->run, &left))
        run->ending -= left == SIM_WORK_ENDLESS ? 0 : 1;
    life->run = SIM_NO_HANDLE;
    count_running(run, job, -1);
}

static weir_status finish(struct sim_jobs_run *run, uint32_t slot)
{
    const struct sim_driver_config *config = &run->config;
    struct sim_job *job = sim_job_at(run, slot);
    sim_job_life(run, job)->run = SIM_NO_HANDLE; /* it ended by itself */
    run->ending--;
    leave_run(run, job);
    job->state = SIM_JOB_GONE;
    WEIR_TRY(sim_jobs_drop_ranks(run, job, SIM_STOP_OVER, "done"));
    WEIR_TRY(config->services->ended(config->world, run->index, job->id));
    return sim_jobs_done(run, slot);
}

weir_status sim_jobs_ended(struct sim_jobs_run *run, uint32_t slot, sim_handle work)
{
    /* One that ended at the same instant may have taken it along. */
    const struct sim_job *job = sim_job_at(run, slot);
    return job->life != 0 && sim_job_life(run, job)->run == work ? finish(run, slot) : WEIR_OK;
}

weir_status sim_jobs_rank_stops(struct sim_jobs_run *run, struct sim_worker *worker,
                                enum sim_stop why)
{
    const uint32_t slot = (uint32_t)(uintptr_t)worker->work - 1;
    struct sim_job *job = sim_job_at(run, slot);
    struct sim_job_life *life = sim_job_life(run, job);
    (void)why;
    life->workers--;
    worker->tasks += job->state == SIM_JOB_GONE ? 1 : 0;
    if (job->state != SIM_JOB_RUNNING || life->is_lost)
        return WEIR_OK;
    life->is_lost = true;
    life->lost_ns = sim_jobs_now(run);
    leave_run(run, job);
    life->next_lost = run->first_lost;
    run->first_lost = slot + 1;
    return WEIR_OK;
}
