/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a job does while it runs: it starts, works and saves (enum sim_job_phase), an activity each.
 *
 * Ranks wait for one another, so the slowest decides: the rate of work is that of the slowest rank,
 * speed of its GPU type over the slow-down of its place; where a job goes in steps (step.c), less
 * what its ranks wait by chance and exchange. When something changes the
 * rates (a slow node, a neighbour), the activity goes on with what is left. To start and to save is
 * time, not work: nothing makes it longer.
 *
 * Invariant: a job that runs has one activity; what it did since its last checkpoint is lost with a
 * rank, and so is the checkpoint it was writing.
 */
#include "sim/jobs/jobs.h"

#include <math.h>

/* ---- work ---- */

double sim_jobs_rank_speed(const struct sim_jobs_run *run, const struct sim_worker *rank)
{
    const struct sim_job *job = sim_job_at(run, (uint32_t)(uintptr_t)rank->work - 1);
    return sim_speed_at(&sim_job_spec(run, job)->speed, rank->gpu_type,
                        sim_worker_part(run->config.workers, rank));
}

/* How fast a job of several ranks runs now, in quanta a nanosecond. */
static uint64_t rate_of(struct sim_jobs_run *run, const struct sim_job *job)
{
    const struct sim_driver_config *config = &run->config;
    const struct sim_job_life *life = sim_job_life(run, job);
    double slowest = (double)INFINITY;
    double held_up = 1; /* by ranks that are not members, which are as fast as these alone */
    if (sim_job_spec(run, job)->step != NULL)
        return sim_jobs_step_rate(run, job);
    for (uint32_t i = 0; i < life->workers; i++) {
        const struct sim_worker *worker =
            sim_workers_find(config->workers, sim_job_worker_id(life, i));
        const double slow = (double)sim_worker_slowdown(config->workers, worker);
        if (i < life->members)
            slowest = fmin(slowest, sim_jobs_rank_speed(run, worker) / slow);
        else
            held_up = fmax(held_up, slow);
    }
    return sim_rate_at(slowest / held_up * sim_jobs_elastic_speed(run, job));
}

/* The one whose work is that of the job; NULL = they work together, or go in steps. */
static const struct sim_worker *only_rank(const struct sim_jobs_run *run, const struct sim_job *job)
{
    const struct sim_job_life *life = sim_job_life(run, job);
    return life->workers == 1 && sim_job_spec(run, job)->step == NULL &&
                   sim_job_spec(run, job)->elastic == NULL
               ? sim_workers_find(run->config.workers, life->first_worker)
               : NULL;
}

static weir_status begin_ranks(struct sim_jobs_run *run, const struct sim_job *job, uint64_t owner)
{
    struct sim_job_life *life = sim_job_life(run, job);
    const struct sim_activity_spec spec = { .work = sim_work_of_ns(life->left_ns, SIM_DEVICE_QPNS),
                                            .cap_qpns = rate_of(run, job),
                                            .owner = owner,
                                            .weight = 1 };
    for (uint32_t i = 0; i < life->workers; i++)
        WEIR_TRY(
            sim_worker_stand_in(run->config.workers,
                                sim_workers_find(run->config.workers, sim_job_worker_id(life, i))));
    return sim_activity_start(run->context->activities, &spec, &life->run, run->context->error);
}

void sim_jobs_plan_save(struct sim_jobs_run *run, const struct sim_job *job, int64_t in_ns)
{
    const struct sim_event event = { .time_ns = sim_jobs_later(sim_jobs_now(run), in_ns),
                                     .target = job->slot,
                                     .argument = job->id,
                                     .kind = sim_driver_kind(run->config.index, SIM_JOBS_SAVE),
                                     .phase = SIM_PHASE_FLOW };
    sim_job_life(run, job)->save = sim_engine_schedule(run->context->engine, &event);
    sim_job_life(run, job)->save_at_ns = event.time_ns;
}

/* Goes on with the work that is left. */
static weir_status work(struct sim_jobs_run *run, const struct sim_job *job, int64_t save_in_ns)
{
    struct sim_job_life *life = sim_job_life(run, job);
    const uint64_t owner = sim_work_owner(run->config.index, job->slot);
    const struct sim_worker *rank = only_rank(run, job);
    life->phase = SIM_JOB_WORKING;
    life->worked_since_ns = life->counted_ns = sim_jobs_now(run);
    if (sim_job_spec(run, job)->step != NULL)
        life->step_at =
            (double)(life->run_ns - life->left_ns) / (double)sim_job_spec(run, job)->step->time_ns;
    if (rank == NULL)
        WEIR_TRY(begin_ranks(run, job, owner));
    else
        WEIR_TRY(sim_worker_begin(run->config.workers, rank, life->left_ns,
                                  sim_jobs_rank_speed(run, rank), owner, &life->run));
    (void)sim_activity_left(run->context->activities, life->run, &life->stretch);
    if (save_in_ns > 0)
        sim_jobs_plan_save(run, job, save_in_ns);
    return sim_jobs_calls_hang(run, job);
}

/* ---- other phases ---- */

/* So much time, whatever happens around it. */
static weir_status pause(struct sim_jobs_run *run, const struct sim_job *job,
                         enum sim_job_phase phase, int64_t pause_ns)
{
    struct sim_job_life *life = sim_job_life(run, job);
    const struct sim_activity_spec spec = { .work = sim_work_of_ns(pause_ns, SIM_DEVICE_QPNS),
                                            .cap_qpns = SIM_DEVICE_QPNS,
                                            .owner = sim_work_owner(run->config.index, job->slot),
                                            .weight = 1 };
    life->phase = (uint8_t)phase;
    return sim_activity_start(run->context->activities, &spec, &life->run, run->context->error);
}

static int64_t start_ns(const struct sim_jobs_run *run, const struct sim_job *job)
{
    const struct sim_workload *workload = run->workload;
    const uint32_t attempts = sim_job_attempts(run, job);
    const int64_t restart_ns = sim_job_life(run, job)->is_preempted
                                   ? workload->preemption.restart_ns
                                   : workload->checkpoint.restart_ns;
    int64_t pause_ns = attempts > 1 ? restart_ns : 0;
    if (workload->start_latency == NULL)
        return pause_ns;
    const int64_t latency_ns = sim_time_from_s(sim_law_draw_of(
        workload->start_latency, sim_job_stream_random(run->stream, job->spec), SIM_DRAW_JOB_START,
        (struct sim_stream_key){ .item = job->key, .attempt = attempts - 1 }));
    return sim_jobs_later(pause_ns, latency_ns > 0 ? latency_ns : 0);
}

static struct sim_worker *rank_at(const struct sim_jobs_run *run, const struct sim_job_life *life,
                                  uint32_t rank)
{
    return sim_workers_find(run->config.workers, sim_job_worker_id(life, rank));
}

/* Those that are set up. */
static void wake_ranks(struct sim_jobs_run *run, const struct sim_job *job)
{
    const struct sim_driver_config *config = &run->config;
    const struct sim_job_life *life = sim_job_life(run, job);
    for (uint32_t i = 0; i < life->workers; i++) {
        struct sim_worker *worker = rank_at(run, life, i);
        if (worker->state != SIM_WORKER_SETUP)
            continue;
        sim_worker_set_state(config->workers, worker, SIM_WORKER_IDLE);
        config->services->ready(config->world, worker);
        sim_worker_set_state(config->workers, worker, SIM_WORKER_BUSY);
    }
}

static weir_status wake(struct sim_jobs_run *run, const struct sim_job *job)
{
    const struct sim_job_life *life = sim_job_life(run, job);
    wake_ranks(run, job);
    WEIR_TRY(sim_jobs_take_memory(run, job));
    return work(run, job, sim_jobs_first_interval_ns(run, life->interval_ns));
}

/* Fetches its checkpoint, if it has one that lies in a store. */
static weir_status fetch(struct sim_jobs_run *run, const struct sim_job *job)
{
    const struct sim_job_life *life = sim_job_life(run, job);
    if (run->workload->checkpoint.bytes > 0 && life->saved_ns < life->run_ns) {
        WEIR_TRY(sim_jobs_move_state(run, job, true));
        if (life->run != SIM_NO_HANDLE)
            return WEIR_OK;
    }
    return wake(run, job);
}

static void note_interval(struct sim_jobs_run *run, const struct sim_job *job)
{
    struct sim_job_life *life = sim_job_life(run, job);
    life->interval_ns = sim_jobs_interval_ns(run, job);
    run->intervals_s += sim_time_s(life->interval_ns);
    run->intervals++;
}

void sim_jobs_set_up(struct sim_jobs_run *run, const struct sim_job *job, uint32_t first,
                     uint32_t count)
{
    const struct sim_job_life *life = sim_job_life(run, job);
    for (uint32_t i = 0; i < count; i++)
        sim_worker_set_state(run->config.workers, rank_at(run, life, first + i), SIM_WORKER_SETUP);
}

int64_t sim_jobs_limit_ns(const struct sim_jobs_run *run, const struct sim_job_life *life)
{
    const bool has_estimate =
        run->workload->is_killed_at_estimate && life->estimate_ns != WEIR_UNKNOWN_TIME;
    return has_estimate && life->estimate_ns <= run->workload->timeout_ns
               ? life->estimate_ns
               : run->workload->timeout_ns;
}

/* It is stopped when it has run as long as it may. */
static void plan_limit(struct sim_jobs_run *run, const struct sim_job *job)
{
    struct sim_job_life *life = sim_job_life(run, job);
    const int64_t limit_ns = sim_jobs_limit_ns(run, life);
    if (limit_ns == INT64_MAX)
        return;
    const struct sim_event event = { .time_ns = sim_jobs_later(sim_jobs_now(run), limit_ns),
                                     .target = job->slot,
                                     .argument = job->id,
                                     .kind = sim_driver_kind(run->config.index, SIM_JOBS_LIMIT),
                                     .phase = SIM_PHASE_FLOW };
    life->limit = sim_engine_schedule(run->context->engine, &event);
}

weir_status sim_jobs_begin(struct sim_jobs_run *run, struct sim_job *job)
{
    struct sim_job_life *life = sim_job_life(run, job);
    const int64_t pause_ns = start_ns(run, job);
    life->left_ns = life->saved_ns;
    life->kept_ns = sim_jobs_now(run);
    life->will_end = sim_work_of_ns(life->left_ns, SIM_DEVICE_QPNS) != SIM_WORK_ENDLESS;
    run->ending += life->will_end ? 1 : 0;
    sim_jobs_set_up(run, job, 0, life->workers);
    plan_limit(run, job);
    note_interval(run, job);
    WEIR_TRY(sim_jobs_place_steps(run, job));
    return pause_ns > 0 ? pause(run, job, SIM_JOB_STARTING, pause_ns) : fetch(run, job);
}

/* ---- checkpoints ---- */

/* whole x part / all, to the nearest ns; part <= all. Whole numbers: 63 and 64 bits at most. */
static int64_t part_of(int64_t whole, sim_quanta part, sim_quanta all)
{
    for (; all > UINT64_MAX; all >>= 1)
        part >>= 1;
    return (int64_t)(((sim_quanta)(uint64_t)whole * part + all / 2) / all);
}

static void take_left(struct sim_job_life *life, sim_quanta left)
{
    if (left != SIM_WORK_ENDLESS)
        life->left_ns = part_of(life->left_ns, left, life->stretch);
}

weir_status sim_jobs_save(struct sim_jobs_run *run, uint32_t slot)
{
    const struct sim_job *job = sim_job_at(run, slot);
    struct sim_job_life *life = sim_job_life(run, job);
    struct sim_activities *activities = run->context->activities;
    sim_quanta left = 0;
    life->save = SIM_NO_HANDLE;
    if (life->phase == SIM_JOB_RESIZING) {
        life->save_in_ns = 1; /* as soon as it works */
        return WEIR_OK;
    }
    if (sim_activity_end_ns(activities, life->run) - sim_jobs_now(run) <= 1)
        return WEIR_OK; /* it is done as good as now */
    if (!sim_jobs_may_write(run, life))
        return sim_jobs_ask_turn(run, job);
    (void)sim_activity_stop(activities, life->run, &left);
    WEIR_TRY(sim_jobs_count_steps(run, job));
    life->saving_ns = sim_jobs_now(run) - life->worked_since_ns;
    take_left(life, left);
    return pause(run, job, SIM_JOB_SAVING, run->workload->checkpoint.cost_ns);
}

/* What was done since the last checkpoint will never be done again. */
static void keep(struct sim_jobs_run *run, struct sim_job_life *life, int64_t worked_ns)
{
    const int64_t now_ns = sim_jobs_now(run);
    run->kept_ns += (double)worked_ns;
    run->held_ns += (double)(now_ns - life->kept_ns);
    life->kept_ns = now_ns;
    life->saved_ns = life->left_ns;
}

/* The checkpoint is where it belongs. */
static weir_status saved(struct sim_jobs_run *run, struct sim_job *job)
{
    struct sim_job_life *life = sim_job_life(run, job);
    run->saves++;
    keep(run, life, life->saving_ns);
    life->saving_ns = 0; /* who gives way now loses nothing of it */
    sim_jobs_give_turn(run, life);
    return life->is_warned ? sim_jobs_give_way(run, job) : work(run, job, life->interval_ns);
}

static weir_status write_out(struct sim_jobs_run *run, struct sim_job *job)
{
    if (run->workload->checkpoint.bytes > 0) {
        WEIR_TRY(sim_jobs_move_state(run, job, false));
        if (sim_job_life(run, job)->run != SIM_NO_HANDLE)
            return WEIR_OK;
    }
    return saved(run, job);
}

/* ---- other ranks ---- */

/* After it stood still for a change of its ranks; its next checkpoint is due when it was. */
static weir_status go_on_working(struct sim_jobs_run *run, struct sim_job *job)
{
    struct sim_job_life *life = sim_job_life(run, job);
    const int64_t since_ns = life->worked_since_ns;
    const int64_t saved_in_ns = life->save_in_ns;
    wake_ranks(run, job);
    WEIR_TRY(sim_jobs_take_memory(run, job));
    WEIR_TRY(work(run, job, saved_in_ns));
    life->worked_since_ns = since_ns + (sim_jobs_now(run) - life->resize_from_ns);
    return WEIR_OK;
}

/* What is left of a stretch of work that stops here. */
static void stop_working(struct sim_jobs_run *run, struct sim_job_life *life)
{
    sim_quanta left = 0;
    (void)sim_activity_stop(run->context->activities, life->run, &left);
    take_left(life, left);
    life->run = SIM_NO_HANDLE;
    life->resize_from_ns = sim_jobs_now(run);
    life->save_in_ns = 0;
    if (life->save == SIM_NO_HANDLE)
        return;
    life->save_in_ns = life->save_at_ns - sim_jobs_now(run);
    life->save_in_ns += life->save_in_ns == 0 ? 1 : 0; /* 0 = none is due */
    (void)sim_engine_cancel(run->context->engine, life->save);
    life->save = SIM_NO_HANDLE;
}

weir_status sim_jobs_go_on_resized(struct sim_jobs_run *run, struct sim_job *job)
{
    struct sim_job_life *life = sim_job_life(run, job);
    const int64_t pause_ns = sim_job_spec(run, job)->elastic->resize_ns;
    if (life->phase == SIM_JOB_RESIZING) { /* once more, from its beginning */
        (void)sim_activity_stop(run->context->activities, life->run, NULL);
        return pause(run, job, SIM_JOB_RESIZING, pause_ns);
    }
    if (life->phase != SIM_JOB_WORKING)
        return WEIR_OK; /* it will work with those it has then */
    stop_working(run, life);
    return pause_ns > 0 ? pause(run, job, SIM_JOB_RESIZING, pause_ns) : go_on_working(run, job);
}

/* Whether the bytes are on their way no more: there may have been a delay before the first. */
static weir_status move_on(struct sim_jobs_run *run, struct sim_job_life *life, bool *is_there)
{
    WEIR_TRY(sim_move_worked(run->context, &life->move));
    life->run = life->move.work;
    *is_there = life->run == SIM_NO_HANDLE;
    return WEIR_OK;
}

weir_status sim_jobs_next_phase(struct sim_jobs_run *run, struct sim_job *job, bool *is_over)
{
    struct sim_job_life *life = sim_job_life(run, job);
    const enum sim_job_phase phase = (enum sim_job_phase)life->phase;
    bool is_there = false;
    if (phase == SIM_JOB_READING || phase == SIM_JOB_WRITING) {
        WEIR_TRY(move_on(run, life, &is_there));
        if (!is_there)
            return WEIR_OK;
        return phase == SIM_JOB_READING ? wake(run, job) : saved(run, job);
    }
    life->run = SIM_NO_HANDLE;
    if (phase == SIM_JOB_WORKING)
        *is_over = true;
    if (phase == SIM_JOB_RESIZING)
        return go_on_working(run, job);
    return phase == SIM_JOB_STARTING ? fetch(run, job)
           : phase == SIM_JOB_SAVING ? write_out(run, job)
                                     : WEIR_OK;
}

/* Work of a stretch that was not kept: the one that goes on, or the one that is being saved. */
static int64_t unkept_ns(const struct sim_jobs_run *run, const struct sim_job_life *life)
{
    return life->phase == SIM_JOB_WORKING    ? sim_jobs_now(run) - life->worked_since_ns
           : life->phase == SIM_JOB_RESIZING ? life->resize_from_ns - life->worked_since_ns
           : life->phase == SIM_JOB_SAVING || life->phase == SIM_JOB_WRITING ? life->saving_ns
                                                                             : 0;
}

static weir_status stop_run(struct sim_jobs_run *run, struct sim_job_life *life, sim_quanta *left)
{
    const bool moves = life->phase == SIM_JOB_READING || life->phase == SIM_JOB_WRITING;
    if (moves)
        return sim_move_drop(run->context, &life->move);
    if (life->run != SIM_NO_HANDLE)
        (void)sim_activity_stop(run->context->activities, life->run, left);
    return WEIR_OK;
}

/* Work that was not kept is thrown away, on each of its members: those that live and those that
 * went. */
static void lose_work(struct sim_jobs_run *run, const struct sim_job_life *life, const char *cause)
{
    const int64_t now_ns = sim_jobs_now(run);
    const int64_t unkept = unkept_ns(run, life);
    const int64_t members = (int64_t)life->members + life->lost;
    run->lost_ns += (double)unkept;
    run->held_ns += (double)(now_ns - life->kept_ns);
    if (unkept > 0)
        sim_meter_work_lost(run->context->meter, now_ns, WEIR_NO_INDEX, unkept * members, cause);
}

weir_status sim_jobs_break_off(struct sim_jobs_run *run, struct sim_job *job, const char *cause)
{
    struct sim_job_life *life = sim_job_life(run, job);
    const bool keeps_all = life->is_preempted && run->workload->preemption.keeps_all;
    sim_quanta left = 0;
    const weir_status stopped = stop_run(run, life, &left);
    const weir_status status = stopped == WEIR_OK ? sim_jobs_count_steps(run, job) : stopped;
    sim_jobs_give_turn(run, life);
    sim_jobs_part(run, job);
    if (keeps_all && life->phase == SIM_JOB_WORKING)
        take_left(life, left);
    if (life->kill != SIM_NO_HANDLE)
        (void)sim_engine_cancel(run->context->engine, life->kill);
    if (life->limit != SIM_NO_HANDLE)
        (void)sim_engine_cancel(run->context->engine, life->limit);
    life->kill = life->limit = SIM_NO_HANDLE;
    sim_jobs_calls_end(run, life);
    life->is_warned = false;
    life->ran_ns += sim_jobs_now(run) - life->start_ns;
    if (life->save != SIM_NO_HANDLE)
        (void)sim_engine_cancel(run->context->engine, life->save);
    run->ending -= life->will_end ? 1 : 0;
    life->will_end = false;
    if (cause == NULL || keeps_all)
        keep(run, life, unkept_ns(run, life));
    else
        lose_work(run, life, cause);
    life->run = life->save = SIM_NO_HANDLE;
    return status;
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

weir_status sim_jobs_go_at(struct sim_jobs_run *run, const struct sim_job *job)
{
    const struct sim_job_life *life = sim_job_life(run, job);
    const struct sim_worker *rank = only_rank(run, job);
    const bool stands = run->unreachable > 0;
    WEIR_TRY(sim_jobs_count_steps(run, job));
    return rank == NULL ? sim_activity_set(run->context->activities, life->run, 1,
                                           stands ? 0 : rate_of(run, job))
                        : sim_worker_pace(run->config.workers, rank, life->run,
                                          stands ? 0 : sim_jobs_rank_speed(run, rank));
}

weir_status sim_jobs_go_on(struct sim_jobs_run *run)
{
    while (run->first_paced != 0) {
        const struct sim_job *job = sim_job_at(run, run->first_paced - 1);
        struct sim_job_life *life = sim_job_life(run, job);
        run->first_paced = life->next_paced;
        life->is_paced = false;
        if (life->run != SIM_NO_HANDLE && life->phase == SIM_JOB_WORKING)
            WEIR_TRY(sim_jobs_go_at(run, job));
    }
    return WEIR_OK;
}
