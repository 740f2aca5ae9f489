/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The transitions of a job; see oracle.h. */
#include "tests/support/job_oracle/state.h"

#include "sim/engine/law.h"

#include <stdlib.h>

/* ---- slots ---- */

static weir_status grow_slots(struct oracle_run *run)
{
    const uint32_t capacity = run->slot_capacity * 2 + 64;
    struct oracle_job *jobs = realloc(run->jobs, capacity * sizeof(*jobs));
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

static weir_status take_slot(struct oracle_run *run, uint32_t *slot)
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

void oracle_job_tell(struct oracle_run *run, const struct oracle_job *job, const char *outcome)
{
    const struct sim_job_spec *spec = oracle_job_spec(run, job);
    const bool is_there = job->state == ORACLE_JOB_WAITING || job->state == ORACLE_JOB_RUNNING;
    const struct sim_job_row row = { .job = job->id,
                                     .label = spec->label,
                                     .attempts = job->attempts,
                                     .submit_ns = job->arrival.at_ns,
                                     .start_ns = job->attempts > 0 ? job->start_ns : -1,
                                     .end_ns = is_there ? -1 : sim_engine_now(run->engine),
                                     .members = spec->members,
                                     .outcome = outcome };
    test_job_rows_take(run->rows, &row);
}

static weir_status forget(struct oracle_run *run, uint32_t slot, const char *outcome)
{
    run->jobs[slot].state = ORACLE_JOB_GONE;
    run->gone++;
    run->free_slots[run->free_count++] = slot;
    oracle_job_tell(run, &run->jobs[slot], outcome);
    return WEIR_OK;
}

static int64_t later(int64_t now_ns, int64_t delay_ns)
{
    return delay_ns >= SIM_TIME_MAX - now_ns ? SIM_TIME_MAX : now_ns + delay_ns;
}

/* ---- waiting ---- */

weir_status oracle_job_key(struct oracle_run *run, const struct oracle_job *job, double *key)
{
    const struct sim_job_spec *spec = oracle_job_spec(run, job);
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

void oracle_job_want_pass(struct oracle_run *run)
{
    if (run->has_pass)
        return;
    run->has_pass = true;
    (void)oracle_job_schedule(run, sim_engine_now(run->engine), ORACLE_JOB_PASS, SIM_PHASE_DECISION,
                              0);
}

/* Patience counts from the submission, also over retries. */
static void start_patience(struct oracle_run *run, uint32_t slot)
{
    struct oracle_job *job = &run->jobs[slot];
    const int64_t leaves_ns = later(job->arrival.at_ns, job->arrival.patience_ns);
    const int64_t now_ns = sim_engine_now(run->engine);
    job->timer = SIM_NO_HANDLE;
    if (leaves_ns == SIM_TIME_MAX)
        return;
    job->timer = oracle_job_schedule(run, leaves_ns > now_ns ? leaves_ns : now_ns, ORACLE_JOB_LEAVE,
                                     SIM_PHASE_FLOW, slot);
    run->patient++;
}

weir_status oracle_job_enqueue(struct oracle_run *run, uint32_t slot)
{
    struct oracle_job *job = &run->jobs[slot];
    const int64_t now_ns = sim_engine_now(run->engine);
    job->state = ORACLE_JOB_WAITING;
    job->queued_ns = now_ns;
    struct oracle_wait_entry entry = { .submit_ns = job->arrival.at_ns,
                                       .id = job->id,
                                       .slot = slot,
                                       .kind = run->kind_of[job->arrival.spec] };
    WEIR_TRY(oracle_job_key(run, job, &entry.key));
    WEIR_TRY(oracle_wait_queue_push(&run->queue, &entry));
    run->waiting++;
    start_patience(run, slot);
    oracle_job_want_pass(run);
    return WEIR_OK;
}

void oracle_job_dequeue(struct oracle_run *run, uint32_t slot)
{
    struct oracle_job *job = &run->jobs[slot];
    oracle_wait_queue_remove(&run->queue, run->kind_of[job->arrival.spec], slot);
    run->waiting--;
    if (job->timer != SIM_NO_HANDLE) {
        (void)sim_engine_cancel(run->engine, job->timer);
        job->timer = SIM_NO_HANDLE;
        run->patient--;
    }
}

/* Those that may be refused at the end of the pass are the ones that came at this instant. */
static weir_status note_fresh(struct oracle_run *run, uint32_t slot)
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

static weir_status admit(struct oracle_run *run, uint32_t slot)
{
    WEIR_TRY(note_fresh(run, slot));
    return oracle_job_enqueue(run, slot);
}

weir_status oracle_job_arrive(struct oracle_run *run)
{
    uint32_t slot = 0;
    WEIR_TRY(take_slot(run, &slot));
    struct oracle_job *job = &run->jobs[slot];
    *job = (struct oracle_job){ .id = run->arrived++, .arrival = run->next };
    run->has_next = sim_job_stream_next(run->stream, &run->next);
    if (run->has_next)
        (void)oracle_job_schedule(run, run->next.at_ns, ORACLE_JOB_ARRIVE, SIM_PHASE_ARRIVAL, 0);
    if (run->is_feasible[run->kind_of[job->arrival.spec]])
        return admit(run, slot);
    job->retries = run->workload->retries; /* it would not help */
    return oracle_job_refuse(run, slot);
}

weir_status oracle_job_come_again(struct oracle_run *run, uint32_t slot)
{
    run->away--;
    return admit(run, slot);
}

/* ---- ends of waiting ---- */

weir_status oracle_job_refuse(struct oracle_run *run, uint32_t slot)
{
    struct oracle_job *job = &run->jobs[slot];
    struct sim_stream stream;
    if (job->retries >= run->workload->retries)
        return forget(run, slot, "refused");
    sim_stream_open(&stream, sim_job_stream_random(run->stream, job->arrival.spec), SIM_DRAW_RETRY,
                    (struct sim_stream_key){ .item = job->arrival.key, .attempt = job->retries++ });
    const int64_t delay_ns = sim_time_from_s(sim_law_draw(run->workload->retry_delay, &stream));
    job->state = ORACLE_JOB_AWAY;
    run->away++;
    job->timer = oracle_job_schedule(run, later(sim_engine_now(run->engine), delay_ns),
                                     ORACLE_JOB_RETRY, SIM_PHASE_ARRIVAL, slot);
    return WEIR_OK;
}

weir_status oracle_job_leave(struct oracle_run *run, uint32_t slot)
{
    struct oracle_job *job = &run->jobs[slot];
    job->timer = SIM_NO_HANDLE;
    run->patient--;
    oracle_job_dequeue(run, slot);
    oracle_job_want_pass(run); /* it may have stood in the way */
    return forget(run, slot, "left");
}

/* ---- running ---- */

weir_status oracle_job_begin(struct oracle_run *run, uint32_t slot)
{
    struct oracle_job *job = &run->jobs[slot];
    const int64_t now_ns = sim_engine_now(run->engine);
    const int64_t end_ns = later(now_ns, job->arrival.run_ns);
    job->attempts++;
    job->state = ORACLE_JOB_RUNNING;
    job->start_ns = now_ns;
    run->running++;
    job->timer = SIM_NO_HANDLE;
    if (end_ns == SIM_TIME_MAX)
        return WEIR_OK;
    run->ending++;
    job->timer = oracle_job_schedule(run, end_ns, ORACLE_JOB_END, SIM_PHASE_COMPLETION, slot);
    return WEIR_OK;
}

static weir_status stop(struct oracle_run *run, struct oracle_job *job)
{
    run->running--;
    run->ending -= job->timer != SIM_NO_HANDLE ? 1 : 0;
    job->timer = SIM_NO_HANDLE;
    WEIR_TRY(oracle_job_give_back(run, job));
    oracle_job_want_pass(run);
    return WEIR_OK;
}

weir_status oracle_job_finish(struct oracle_run *run, uint32_t slot)
{
    struct oracle_job *job = &run->jobs[slot];
    WEIR_TRY(stop(run, job));
    return forget(run, slot, "done");
}

/* Its node is gone: it waits again and will run from its beginning. */
weir_status oracle_job_lose(struct oracle_run *run, uint32_t slot)
{
    struct oracle_job *job = &run->jobs[slot];
    if (job->timer != SIM_NO_HANDLE)
        (void)sim_engine_cancel(run->engine, job->timer);
    WEIR_TRY(stop(run, job));
    return oracle_job_enqueue(run, slot);
}
