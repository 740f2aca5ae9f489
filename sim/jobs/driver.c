/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs as the world sees them (sim/world/driver.h): making, events, end, invariant.
 */
#include "sim/jobs/jobs.h"

#include "sim/engine/room.h"

#include "sim/record/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t count_workloads(const struct sim_scenario *scenario)
{
    uint32_t count = 0;
    for (size_t i = 0; i < scenario->workloads_count; i++)
        count += scenario->workloads[i].mode != SIM_WORKLOAD_STATIC;
    return count;
}

/* What is expected. Instances that the target leaves out are there with frequency 0: a GPU that is
 * cut anew is filled up with what may be asked for. */
static weir_status open_mix(struct sim_jobs_run *run)
{
    const struct sim_workload *workload = run->workload;
    const struct weir_mix target = sim_target_mix(&run->target);
    const size_t most = target.count + workload->jobs_count;
    run->shapes = calloc(most + 1, sizeof(*run->shapes));
    run->frequencies = calloc(most + 1, sizeof(*run->frequencies));
    run->mix = (struct weir_mix){ run->shapes, run->frequencies, target.count, 0 };
    if (run->shapes == NULL || run->frequencies == NULL)
        return WEIR_ENOMEM;
    for (uint32_t i = 0; i < target.count; i++) {
        run->shapes[i] = target.shapes[i];
        run->frequencies[i] = target.frequencies[i];
    }
    const bool is_generated = workload->kind == SIM_WORKLOAD_GENERATED; /* few, one a class */
    for (size_t i = 0; is_generated && i < workload->jobs_count; i++)
        if (workload->jobs[i].shape.kind == WEIR_SHAPE_SLICE)
            run->shapes[run->mix.count++] = workload->jobs[i].shape;
    return WEIR_OK;
}

/* Classes of two workloads may have one name. */
static weir_status open_labels(struct sim_jobs_run *run)
{
    const struct sim_workload *workload = run->workload;
    if (run->config.scenario->workloads_count < 2)
        return WEIR_OK;
    run->labels = calloc(workload->labels_count + 1, sizeof(*run->labels));
    for (size_t i = 0; run->labels != NULL && i < workload->labels_count; i++) {
        const size_t size = strlen(workload->name) + strlen(workload->labels[i]) + 2;
        run->labels[i] = malloc(size);
        if (run->labels[i] == NULL)
            return WEIR_ENOMEM;
        (void)snprintf(run->labels[i], size, "%s/%s", workload->name, workload->labels[i]);
    }
    return run->labels == NULL ? WEIR_ENOMEM : WEIR_OK;
}

/* Room for the rank groups of any job. */
static weir_status open_groups(struct sim_jobs_run *run)
{
    size_t most = 0;
    for (size_t i = 0; i < run->workload->jobs_count; i++)
        if (run->workload->jobs[i].more_count > most)
            most = run->workload->jobs[i].more_count;
    run->groups = calloc(most + 1, sizeof(*run->groups));
    return run->groups == NULL ? WEIR_ENOMEM : WEIR_OK;
}

static weir_status open_parts(struct sim_jobs_run *run)
{
    const struct sim_driver_config *config = &run->config;
    const struct sim_random random =
        sim_random_of(&run->context->random, SIM_NAME_JOBS, run->workload->name);
    WEIR_TRY(sim_target_create(run->workload, &run->target));
    WEIR_TRY(open_labels(run));
    WEIR_TRY(open_mix(run));
    WEIR_TRY(sim_jobs_open_steps(run));
    WEIR_TRY(open_groups(run));
    WEIR_TRY(sim_jobs_open_followers(run));
    const struct sim_driver_workload workload = { .name = run->workload->name,
                                                  .queue_limit = run->workload->queue_limit,
                                                  .classes = (uint32_t)run->workload->labels_count,
                                                  .mix = run->mix };
    WEIR_TRY(config->services->add_workload(config->world, config->index, &workload, &run->index));
    return sim_job_stream_create(run->workload, &random, &run->stream);
}

static void destroy(void *self)
{
    struct sim_jobs_run *run = self;
    if (run == NULL)
        return;
    sim_job_stream_destroy(run->stream);
    sim_target_clear(&run->target);
    for (size_t i = 0; run->labels != NULL && i < run->workload->labels_count; i++)
        free(run->labels[i]);
    free(run->labels);
    free(run->shapes);
    free(run->frequencies);
    free(run->steps);
    free(run->groups);
    sim_jobs_close_followers(run);
    for (uint32_t i = 0; i < run->slots.jobs.used; i++)
        if (sim_job_at(run, i)->state != SIM_JOB_GONE && sim_job_at(run, i)->life != 0)
            sim_jobs_forget_ranks(sim_job_life(run, sim_job_at(run, i)));
    free(run->writers.queue);
    free(run->alone_ns);
    sim_job_slots_close(&run->slots);
    sim_slab_clear(&run->lives);
    free(run);
}

static weir_status create(const struct sim_driver_config *config, void **self,
                          struct weir_error *error)
{
    struct sim_jobs_run *run = calloc(1, sizeof(*run));
    if (run == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    sim_job_slots_open(&run->slots);
    run->lives.size = sizeof(struct sim_job_life);
    run->config = *config;
    run->context = config->context;
    run->workload = &config->scenario->workloads[config->instance];
    for (uint32_t i = 0; i < config->instance; i++)
        run->class_first += (uint32_t)config->scenario->workloads[i].labels_count;
    *self = run;
    return open_parts(run);
}

static const char *name(const void *self)
{
    const struct sim_jobs_run *run = self;
    return run->workload->name;
}

/* ---- time ---- */

static weir_status begin(void *self)
{
    struct sim_jobs_run *run = self;
    WEIR_TRY(sim_recorder_workload(run->context->recorder, run->config.instance,
                                   run->workload->name, run->context->error));
    for (uint32_t i = 0; i < run->workload->labels_count; i++)
        WEIR_TRY(sim_recorder_job_label(
            run->context->recorder, run->class_first + i,
            run->labels != NULL ? run->labels[i] : run->workload->labels[i], run->context->error));
    sim_jobs_expect(run);
    sim_jobs_begin_users(run);
    return WEIR_OK;
}

static weir_status event(void *self, const struct sim_event *event)
{
    struct sim_jobs_run *run = self;
    switch ((enum sim_jobs_event)sim_driver_own_kind(event)) {
    case SIM_JOBS_ARRIVE:
        return sim_jobs_arrive(run);
    case SIM_JOBS_LEAVE:
        return sim_jobs_leave(run, event->target);
    case SIM_JOBS_RETRY:
        return sim_jobs_come_again(run, event->target);
    case SIM_JOBS_SAVE:
        return sim_jobs_save(run, event->target);
    case SIM_JOBS_KILL:
        return sim_jobs_kill(run, event->target);
    case SIM_JOBS_SUBMIT:
        return sim_jobs_submit(run, event->target, event->argument);
    case SIM_JOBS_NEXT:
        return sim_jobs_next_of_array(run, event->target);
    case SIM_JOBS_LIMIT:
        return sim_jobs_overrun(run, event->target);
    case SIM_JOBS_CALL:
        return sim_jobs_calls_fail(run, event->target);
    }
    return WEIR_EINVARIANT;
}

static weir_status worked(void *self, uint32_t target, sim_handle work)
{
    return sim_jobs_ended(self, target, work);
}

/* The job; what is known of its run, which only the job says; its first worker, which only that
 * does. Each is there when the next one is asked for. */
static void foresee(const void *self, uint32_t target, uint32_t before)
{
    const struct sim_jobs_run *run = self;
    const struct sim_job *job = sim_job_at(run, target);
    if (before > 1) {
        __builtin_prefetch(job, 1);
        return;
    }
    if (job->life == 0)
        return;
    const struct sim_job_life *life = sim_job_life(run, job);
    if (before == 0)
        sim_workers_foresee(run->config.workers, life->first_worker, life->node);
    else
        for (size_t i = 0; i < sizeof *life; i += SIM_LINE)
            __builtin_prefetch((const char *)life + i, 1);
}

/* ---- workers ---- */

static weir_status start(void *self, const struct sim_start *start, uint32_t *reason)
{
    return sim_jobs_start(self, start, reason);
}

static weir_status ready(void *self, struct sim_worker *worker)
{
    (void)self;
    (void)worker;
    return WEIR_EINVARIANT; /* ranks need no set-up */
}

static weir_status stop(void *self, struct sim_worker *worker, enum sim_stop why)
{
    return sim_jobs_rank_stops(self, worker, why);
}

static weir_status preempt(void *self, uint64_t job, int64_t grace_ns)
{
    return sim_jobs_preempt(self, job, grace_ns);
}

static weir_status settle(void *self)
{
    return sim_jobs_settle(self);
}

static weir_status paced(void *self, struct sim_worker *worker)
{
    sim_jobs_rank_paced(self, worker);
    return WEIR_OK;
}

static weir_status speeds(void *self)
{
    return sim_jobs_go_on(self);
}

static weir_status denied(void *self, uint64_t job, bool is_for_good)
{
    struct sim_jobs_run *run = self;
    const uint32_t slot = sim_job_slots_find(&run->slots, job);
    if (slot == WEIR_NO_INDEX || sim_job_at(run, slot)->state != SIM_JOB_WAITING)
        return WEIR_OK; /* it left meanwhile */
    sim_jobs_dequeue(run, slot);
    if (sim_job_at(run, slot)->was_unheard)
        sim_jobs_count(run, sim_job_at(run, slot), SIM_JOBS_REFUSED_AGAIN);
    sim_job_at(run, slot)->was_unheard = false;
    return sim_jobs_turn_away(run, slot, is_for_good);
}

static weir_status tell(void *self, const struct sim_teller *teller)
{
    (void)self;
    (void)teller;
    return WEIR_OK; /* jobs are told when something happens to them */
}

/* ---- the timeline ---- */

/* Sources count on from the pipelines. A service that its jobs call is theirs too. */
static const char *target(const void *self, const struct sim_timeline_entry *entry)
{
    const struct sim_jobs_run *run = self;
    const bool is_of_sources =
        entry->action == SIM_ACTION_ARRIVALS || entry->action == SIM_ACTION_BURST;
    const size_t source = run->config.scenario->pipelines_count + run->config.instance;
    const struct sim_job_calls *calls = &run->workload->calls;
    if (entry->action == SIM_ACTION_SERVICE_DOWN)
        return calls->are_made && calls->service == entry->target ? run->workload->name : NULL;
    return is_of_sources && entry->target == source ? run->workload->name : NULL;
}

static weir_status act(void *self, const struct sim_timeline_entry *entry, double factor,
                       bool is_on)
{
    if (entry->action == SIM_ACTION_SERVICE_DOWN)
        return sim_jobs_calls_reach(self, is_on);
    if (entry->action == SIM_ACTION_ARRIVALS)
        sim_jobs_set_factor(self, factor);
    else if (is_on)
        return sim_jobs_burst(self, entry->items);
    return WEIR_OK;
}

/* ---- end ---- */

/* Nothing happens any more by itself: who waits needs a node, a cut or a place that others give. */
static bool is_done(const void *self)
{
    const struct sim_jobs_run *run = self;
    return !sim_jobs_come(run) && run->ending == 0 && run->away == 0 && run->patient == 0 &&
           run->first_lost == 0;
}

static bool waits(const void *self)
{
    const struct sim_jobs_run *run = self;
    return run->waiting > 0;
}

static uint64_t done(const void *self)
{
    const struct sim_jobs_run *run = self;
    return sim_meter_workload(run->context->meter, run->index)->seen[SIM_JOBS_DONE];
}

static void progress(const void *self, double *done, double *total)
{
    const struct sim_jobs_run *run = self;
    *done += (double)run->arrived;
    *total += (double)sim_job_stream_total(run->stream) + 1; /* endless: time alone says how far */
}

/* About when the last job arrives. */
static double expected_s(const void *self)
{
    const struct sim_jobs_run *run = self;
    const struct sim_workload *workload = run->workload;
    double longest_s = 0;
    if (workload->arrivals.rate_per_s > 0)
        return (double)workload->jobs_limit / workload->arrivals.rate_per_s;
    for (size_t i = 0; i < workload->jobs_count; i++)
        if (workload->jobs[i].submit_ns != WEIR_UNKNOWN_TIME)
            longest_s =
                fmax(longest_s, sim_time_s(workload->jobs[i].submit_ns - workload->from_ns));
    return longest_s;
}

/* Of a job that runs. */
static uint32_t wanted_workers(const struct sim_jobs_run *run, const struct sim_job *job)
{
    const struct sim_job_spec *spec = sim_job_spec(run, job);
    const uint32_t members = sim_job_life(run, job)->members;
    const bool is_right =
        spec->elastic == NULL ? members == spec->members : members >= spec->elastic->least;
    return is_right ? sim_job_workers(spec) - spec->members + members : 0;
}

/* Its jobs that run hold no more licences than there are. */
static weir_status check_licences(const struct sim_jobs_run *run, struct weir_error *error)
{
    const struct sim_scenario *scenario = run->config.scenario;
    for (size_t l = 0; l < scenario->licences_count; l++) {
        uint64_t held = 0;
        for (uint32_t i = 0; i < run->slots.jobs.used; i++) {
            const struct sim_job *job = sim_job_at(run, i);
            const bool is_running = job->state == SIM_JOB_RUNNING;
            const uint32_t *taken = is_running ? sim_job_spec(run, job)->licences : NULL;
            held += taken == NULL ? 0 : taken[l];
        }
        if (held > scenario->licences[l].limit)
            return weir_fail(error, WEIR_EINVARIANT, "jobs hold %llu of licence %s, there are %u",
                             (unsigned long long)held, scenario->licences[l].name,
                             scenario->licences[l].limit);
    }
    return WEIR_OK;
}

static weir_status check(const void *self, struct weir_error *error)
{
    const struct sim_jobs_run *run = self;
    const struct sim_job_meter *all = sim_meter_workload(run->context->meter, run->index);
    const uint64_t gone = all->seen[SIM_JOBS_DONE] + all->seen[SIM_JOBS_REFUSED] +
                          all->seen[SIM_JOBS_LEFT] + all->seen[SIM_JOBS_OVERRUN] +
                          all->seen[SIM_JOBS_OOM] + all->seen[SIM_JOBS_EXHAUSTED];
    uint64_t states[SIM_JOB_AWAY + 1] = { 0 };
    uint32_t writing = 0;
    for (uint32_t i = 0; i < run->slots.jobs.used; i++) {
        const struct sim_job *job = sim_job_at(run, i);
        states[job->state]++;
        if (job->state == SIM_JOB_GONE)
            continue;
        const uint32_t workers = job->life == 0 ? 0 : sim_job_life(run, job)->workers;
        writing += job->life != 0 && sim_job_life(run, job)->has_turn;
        if (workers != (job->state == SIM_JOB_RUNNING ? wanted_workers(run, job) : 0))
            return weir_fail(error, WEIR_EINVARIANT, "job %llu in state %u has %u workers",
                             (unsigned long long)job->id, job->state, workers);
    }
    if (run->arrived != gone + run->waiting + run->running + run->away ||
        states[SIM_JOB_WAITING] != run->waiting || states[SIM_JOB_RUNNING] != run->running ||
        states[SIM_JOB_AWAY] != run->away)
        return weir_fail(error, WEIR_EINVARIANT,
                         "%llu jobs arrived, %llu are gone, %llu wait, %llu run, %llu are away",
                         (unsigned long long)run->arrived, (unsigned long long)gone,
                         (unsigned long long)run->waiting, (unsigned long long)run->running,
                         (unsigned long long)run->away);
    if (writing != run->writers.writing || writing > run->workload->checkpoint.writers)
        return weir_fail(error, WEIR_EINVARIANT, "%u jobs have a turn to write, %u were given one",
                         writing, run->writers.writing);
    return check_licences(run, error);
}

static weir_status left(const void *self, int64_t end_ns)
{
    return sim_jobs_left(self, end_ns);
}

static weir_status results(void *self, int64_t end_ns, struct sim_results *out)
{
    return sim_jobs_results(self, end_ns, out);
}

const struct sim_driver_ops sim_jobs_driver = { .kind = "jobs",
                                                .count = count_workloads,
                                                .create = create,
                                                .destroy = destroy,
                                                .name = name,
                                                .begin = begin,
                                                .event = event,
                                                .start = start,
                                                .ready = ready,
                                                .stop = stop,
                                                .settle = settle,
                                                .worked = worked,
                                                .foresee = foresee,
                                                .paced = paced,
                                                .speeds = speeds,
                                                .denied = denied,
                                                .preempt = preempt,
                                                .tell = tell,
                                                .target = target,
                                                .act = act,
                                                .is_done = is_done,
                                                .waits = waits,
                                                .done = done,
                                                .progress = progress,
                                                .expected_s = expected_s,
                                                .check = check,
                                                .left = left,
                                                .results = results };
