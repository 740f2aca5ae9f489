/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The transitions of a job; see job_run.h. */
#include "sim/jobs/job_state.h"

#include "sim/engine/law.h"
#include "sim/record/record.h"

#include <stdlib.h>

/* ---- slots ---- */

static weir_status grow_slots(struct sim_job_run *run)
{
    const uint32_t capacity = run->slot_capacity * 2 + 64;
    struct sim_job *jobs = realloc(run->jobs, capacity * sizeof(*jobs));
    if (jobs != NULL)
        run->jobs = jobs;
    uint32_t *slots = realloc(run->free_slots, capacity * sizeof(*slots));
    if (slots != NULL)
        run->free_slots = slots;
    if (jobs == NULL || slots == NULL)
        return WEIR_ENOMEM;
    run->slot_capacity = capacity;
    return WEIR_OK;
}

static weir_status take_slot(struct sim_job_run *run, uint32_t *slot)
{
    if (run->free_count > 0) {
        *slot = run->free_slots[--run->free_count];
        return WEIR_OK;
    }
    if (run->slot_count == run->slot_capacity)
        WEIR_TRY(grow_slots(run));
    *slot = run->slot_count++;
    return WEIR_OK;
}

weir_status sim_job_tell(struct sim_job_run *run, const struct sim_job *job, const char *outcome)
{
    const struct sim_job_spec *spec = sim_job_spec(run, job);
    const bool is_there = job->state == SIM_JOB_WAITING || job->state == SIM_JOB_RUNNING;
    const struct sim_job_row row = { .job = job->id,
                                     .label = spec->label,
                                     .attempts = job->attempts,
                                     .submit_ns = job->arrival.at_ns,
                                     .start_ns = job->attempts > 0 ? job->start_ns : -1,
                                     .end_ns = is_there ? -1 : sim_engine_now(run->engine),
                                     .node = job->attempts > 0 ? job->node : WEIR_NO_INDEX,
                                     .members = spec->members,
                                     .outcome = outcome };
    if (run->observer != NULL)
        run->observer->job(run->observer->state, &row);
    return sim_recorder_job(run->options->recorder, &row, run->error);
}

static weir_status forget(struct sim_job_run *run, uint32_t slot, const char *outcome)
{
    run->jobs[slot].state = SIM_JOB_GONE;
    run->free_slots[run->free_count++] = slot;
    return sim_job_tell(run, &run->jobs[slot], outcome);
}

static void count(struct sim_job_run *run, const struct sim_job *job, enum sim_job_count what)
{
    sim_job_meter_count(&run->meter, sim_job_spec(run, job)->label, what, job->is_counted);
}

static int64_t later(int64_t now_ns, int64_t delay_ns)
{
    return delay_ns >= SIM_TIME_MAX - now_ns ? SIM_TIME_MAX : now_ns + delay_ns;
}

/* ---- waiting ---- */

weir_status sim_job_key(struct sim_job_run *run, const struct sim_job *job, double *key)
{
    const struct sim_job_spec *spec = sim_job_spec(run, job);
    const struct weir_rank_group group = { .ranks = spec->members,
                                           .ranks_min = spec->members,
                                           .ranks_max = spec->members,
                                           .shape = spec->shape };
    const struct weir_job view = { .id = job->id,
                                   .groups = &group,
                                   .group_count = 1,
                                   .ranks = spec->members,
                                   .priority = spec->priority,
                                   .attempts = job->attempts,
                                   .submit_ns = job->arrival.at_ns,
                                   .queued_ns = job->queued_ns,
                                   .estimate_ns = job->arrival.estimate_ns };
    return weir_ranker_key(run->ranker, &view, sim_engine_now(run->engine), key, run->error);
}

void sim_job_want_pass(struct sim_job_run *run)
{
    if (run->has_pass)
        return;
    run->has_pass = true;
    (void)sim_job_schedule(run, sim_engine_now(run->engine), SIM_JOB_PASS, SIM_PHASE_DECISION, 0);
}

/* Patience counts from the submission, also over retries. */
static void start_patience(struct sim_job_run *run, uint32_t slot)
{
    struct sim_job *job = &run->jobs[slot];
    const int64_t leaves_ns = later(job->arrival.at_ns, job->arrival.patience_ns);
    const int64_t now_ns = sim_engine_now(run->engine);
    job->timer = SIM_NO_HANDLE;
    if (leaves_ns == SIM_TIME_MAX)
        return;
    job->timer = sim_job_schedule(run, leaves_ns > now_ns ? leaves_ns : now_ns, SIM_JOB_LEAVE,
                                  SIM_PHASE_FLOW, slot);
    run->patient++;
}

weir_status sim_job_enqueue(struct sim_job_run *run, uint32_t slot)
{
    struct sim_job *job = &run->jobs[slot];
    const int64_t now_ns = sim_engine_now(run->engine);
    job->state = SIM_JOB_WAITING;
    job->queued_ns = now_ns;
    struct sim_wait_entry entry = { .submit_ns = job->arrival.at_ns,
                                    .id = job->id,
                                    .slot = slot,
                                    .kind = run->kind_of[job->arrival.spec] };
    WEIR_TRY(sim_job_key(run, job, &entry.key));
    WEIR_TRY(sim_wait_queue_push(&run->queue, &entry));
    run->waiting++;
    sim_job_meter_change(&run->meter, now_ns, sim_job_spec(run, job)->label, SIM_JOBS_WAITING, 1);
    start_patience(run, slot);
    sim_job_want_pass(run);
    return WEIR_OK;
}

void sim_job_dequeue(struct sim_job_run *run, uint32_t slot)
{
    struct sim_job *job = &run->jobs[slot];
    sim_wait_queue_remove(&run->queue, run->kind_of[job->arrival.spec], slot);
    run->waiting--;
    sim_job_meter_change(&run->meter, sim_engine_now(run->engine), sim_job_spec(run, job)->label,
                         SIM_JOBS_WAITING, -1);
    if (job->timer != SIM_NO_HANDLE) {
        (void)sim_engine_cancel(run->engine, job->timer);
        job->timer = SIM_NO_HANDLE;
        run->patient--;
    }
}

/* Those that may be refused at the end of the pass are the ones that came at this instant. */
static weir_status note_fresh(struct sim_job_run *run, uint32_t slot)
{
    run->jobs[slot].is_new = true;
    if (run->fresh_count == run->fresh_capacity) {
        const uint32_t capacity = run->fresh_capacity * 2 + 16;
        uint32_t *grown = realloc(run->fresh, capacity * sizeof(*grown));
        if (grown == NULL)
            return WEIR_ENOMEM;
        run->fresh = grown;
        run->fresh_capacity = capacity;
    }
    run->fresh[run->fresh_count++] = slot;
    return WEIR_OK;
}

static weir_status admit(struct sim_job_run *run, uint32_t slot)
{
    WEIR_TRY(note_fresh(run, slot));
    return sim_job_enqueue(run, slot);
}

weir_status sim_job_arrive(struct sim_job_run *run)
{
    uint32_t slot = 0;
    WEIR_TRY(take_slot(run, &slot));
    struct sim_job *job = &run->jobs[slot];
    *job = (struct sim_job){ .id = run->arrived++,
                             .arrival = run->next,
                             .is_counted = run->next.at_ns >= run->meter.warmup_ns };
    run->has_next = sim_job_stream_next(run->stream, &run->next);
    if (run->has_next)
        (void)sim_job_schedule(run, run->next.at_ns, SIM_JOB_ARRIVE, SIM_PHASE_ARRIVAL, 0);
    count(run, job, SIM_JOBS_ARRIVED);
    if (run->is_feasible[run->kind_of[job->arrival.spec]])
        return admit(run, slot);
    count(run, job, SIM_JOBS_INFEASIBLE);
    job->retries = run->workload->retries; /* it would not help */
    return sim_job_refuse(run, slot);
}

weir_status sim_job_come_again(struct sim_job_run *run, uint32_t slot)
{
    run->away--;
    count(run, &run->jobs[slot], SIM_JOBS_RETRIED);
    return admit(run, slot);
}

/* ---- ends of waiting ---- */

weir_status sim_job_refuse(struct sim_job_run *run, uint32_t slot)
{
    struct sim_job *job = &run->jobs[slot];
    struct sim_stream stream;
    if (job->retries >= run->workload->retries) {
        count(run, job, SIM_JOBS_REFUSED);
        sim_job_digest(run, DIGEST_REFUSED, job);
        return forget(run, slot, "refused");
    }
    sim_stream_open(&stream, sim_job_stream_random(run->stream, job->arrival.spec), SIM_DRAW_RETRY,
                    (struct sim_stream_key){ .item = job->arrival.key, .attempt = job->retries++ });
    const int64_t delay_ns = sim_time_from_s(sim_law_draw(run->workload->retry_delay, &stream));
    job->state = SIM_JOB_AWAY;
    run->away++;
    job->timer = sim_job_schedule(run, later(sim_engine_now(run->engine), delay_ns), SIM_JOB_RETRY,
                                  SIM_PHASE_ARRIVAL, slot);
    return WEIR_OK;
}

weir_status sim_job_leave(struct sim_job_run *run, uint32_t slot)
{
    struct sim_job *job = &run->jobs[slot];
    job->timer = SIM_NO_HANDLE;
    run->patient--;
    sim_job_dequeue(run, slot);
    count(run, job, SIM_JOBS_LEFT);
    sim_job_digest(run, DIGEST_LEFT, job);
    sim_job_want_pass(run); /* it may have stood in the way */
    return forget(run, slot, "left");
}

/* ---- running ---- */

weir_status sim_job_begin(struct sim_job_run *run, uint32_t slot)
{
    struct sim_job *job = &run->jobs[slot];
    const int64_t now_ns = sim_engine_now(run->engine);
    const int64_t end_ns = later(now_ns, job->arrival.run_ns);
    const uint32_t label = sim_job_spec(run, job)->label;
    if (job->attempts++ == 0) {
        count(run, job, SIM_JOBS_STARTED);
        if (now_ns > job->arrival.at_ns)
            count(run, job, SIM_JOBS_DELAYED);
        if (job->is_counted)
            sim_job_meter_wait(&run->meter, label, now_ns - job->arrival.at_ns);
    }
    job->state = SIM_JOB_RUNNING;
    job->start_ns = now_ns;
    run->running++;
    sim_job_meter_change(&run->meter, now_ns, label, SIM_JOBS_RUNNING, 1);
    sim_job_digest(run, DIGEST_START, job);
    job->timer = SIM_NO_HANDLE;
    if (end_ns == SIM_TIME_MAX)
        return WEIR_OK;
    run->ending++;
    job->timer = sim_job_schedule(run, end_ns, SIM_JOB_END, SIM_PHASE_COMPLETION, slot);
    return WEIR_OK;
}

static weir_status stop(struct sim_job_run *run, struct sim_job *job)
{
    run->running--;
    run->ending -= job->timer != SIM_NO_HANDLE ? 1 : 0;
    job->timer = SIM_NO_HANDLE;
    sim_job_meter_change(&run->meter, sim_engine_now(run->engine), sim_job_spec(run, job)->label,
                         SIM_JOBS_RUNNING, -1);
    WEIR_TRY(sim_job_give_back(run, job));
    sim_job_want_pass(run);
    return WEIR_OK;
}

weir_status sim_job_finish(struct sim_job_run *run, uint32_t slot)
{
    struct sim_job *job = &run->jobs[slot];
    const int64_t now_ns = sim_engine_now(run->engine);
    const uint32_t label = sim_job_spec(run, job)->label;
    WEIR_TRY(stop(run, job));
    count(run, job, SIM_JOBS_DONE);
    run->meter.rows[label].done_since++;
    run->meter.rows[run->meter.labels].done_since++;
    if (job->is_counted)
        sim_job_meter_done(&run->meter, label, now_ns - job->arrival.at_ns, job->arrival.run_ns);
    sim_job_digest(run, DIGEST_DONE, job);
    return forget(run, slot, "done");
}

/* Its node is gone: it waits again and will run from its beginning. */
weir_status sim_job_lose(struct sim_job_run *run, uint32_t slot)
{
    struct sim_job *job = &run->jobs[slot];
    if (job->timer != SIM_NO_HANDLE)
        (void)sim_engine_cancel(run->engine, job->timer);
    WEIR_TRY(stop(run, job));
    count(run, job, SIM_JOBS_RESTARTED);
    sim_job_digest(run, DIGEST_LOST, job);
    return sim_job_enqueue(run, slot);
}
