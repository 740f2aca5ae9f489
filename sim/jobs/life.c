/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The transitions of a job but for its run (see jobs.h). */
#include "sim/jobs/jobs.h"

#include "sim/engine/law.h"
#include "sim/engine/room.h"
#include "sim/record/meter/meter_tenants.h"
#include "sim/record/record.h"

#include <math.h>
#include <stdio.h>

/* As the trace calls it; who is drawn from classes or rows by the number there. */
static void print_name(const struct sim_jobs_run *run, const struct sim_job *job, char *text,
                       size_t capacity)
{
    const struct sim_workload *workload = run->workload;
    const char *name = sim_job_spec(run, job)->name;
    if (workload->kind != SIM_WORKLOAD_GENERATED && workload->arrivals.kind == SIM_ARRIVALS_TRACE)
        (void)snprintf(text, capacity, job->key < workload->jobs_count ? "%s" : "%s+%llu", name,
                       (unsigned long long)(job->key / workload->jobs_count));
    else
        (void)snprintf(text, capacity, "%s-%llu", name, (unsigned long long)job->key);
}

/* "a100|h100"; cut off where it does not fit. */
static void print_types(const struct sim_jobs_run *run, uint32_t set, char *text, size_t capacity)
{
    const struct sim_scenario *scenario = run->config.scenario;
    const struct weir_shape wanted = { .gpu_type = set };
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t t = 0; set != 0 && t < scenario->gpu_types_count && length < capacity; t++)
        if (weir_shape_takes_type(&wanted, t))
            length += (size_t)snprintf(text + length, capacity - length, "%s%s",
                                       length > 0 ? "|" : "", scenario->gpu_types[t].name);
}

static void print_rank(const struct sim_scenario *scenario, const struct weir_shape *shape,
                       uint32_t soft_labels, char *text, size_t capacity)
{
    char nodes[SIM_NODES_TEXT];
    const size_t length = weir_shape_print(shape, text, capacity);
    sim_scenario_print_nodes(scenario, shape->labels, soft_labels, nodes);
    if (length < capacity)
        (void)snprintf(text + length, capacity - length, "%s", nodes);
}

/* "4 CPU + 1 GPU on ssd, 2 × (1 CPU)"; cut off where it does not fit. */
static void print_request(const struct sim_scenario *scenario, const struct sim_job_spec *spec,
                          char *text, size_t capacity)
{
    char shape[128 + SIM_NODES_TEXT];
    print_rank(scenario, &spec->shape, spec->soft_labels, text, capacity);
    for (size_t i = 0; i < spec->more_count; i++) {
        const size_t length = strlen(text);
        print_rank(scenario, &spec->more[i].shape, spec->more[i].soft_labels, shape, sizeof shape);
        (void)snprintf(text + length, capacity - length, ", %u × (%s)", spec->more[i].members,
                       shape);
    }
}

weir_status sim_jobs_tell_row(struct sim_jobs_run *run, const struct sim_job *job,
                              const char *outcome)
{
    const struct sim_job_spec *spec = sim_job_spec(run, job);
    const struct sim_observer *observer = run->context->observer;
    const bool is_watched = observer != NULL && observer->job != NULL;
    if (!is_watched && !sim_recorder_keeps(run->context->recorder, SIM_KEEP_JOBS))
        return WEIR_OK; /* before its names are printed */
    const struct sim_job_life *life =
        sim_job_attempts(run, job) > 0 ? sim_job_life(run, job) : NULL;
    const bool is_there = job->state == SIM_JOB_WAITING || job->state == SIM_JOB_RUNNING;
    char name[256];
    char types[256];
    char request[512];
    print_request(run->config.scenario, spec, request, sizeof request);
    print_name(run, job, name, sizeof name);
    print_types(run, spec->shape.gpu_type, types, sizeof types);
    const struct sim_job_row row = { .workload = run->config.instance,
                                     .job = job->id,
                                     .kind = job->kind,
                                     .label = sim_job_class(run, job),
                                     .attempts = sim_job_attempts(run, job),
                                     .submit_ns = job->at_ns,
                                     .first_start_ns = life != NULL ? life->first_start_ns : -1,
                                     .start_ns = life != NULL ? life->start_ns : -1,
                                     .run_ns = life != NULL && life->run_ns < INT64_MAX
                                                   ? life->run_ns
                                                   : -1,
                                     .end_ns = is_there ? -1 : sim_jobs_now(run),
                                     .node = life != NULL ? life->node : WEIR_NO_INDEX,
                                     .members = sim_job_workers(spec),
                                     .gpus = sim_job_gpus(spec),
                                     .cpus = sim_job_cpus(spec),
                                     .outcome = outcome,
                                     .name = name,
                                     .tenant = spec->tenant,
                                     .user = spec->user,
                                     .model = spec->models,
                                     .request = request,
                                     .gpu_types = types };
    if (is_watched)
        observer->job(observer->state, &row);
    return sim_recorder_job(run->context->recorder, &row, run->context->error);
}

void sim_jobs_count(const struct sim_jobs_run *run, const struct sim_job *job,
                    enum sim_job_count what)
{
    sim_meter_job(run->context->meter, sim_job_class(run, job), what, job->is_counted);
}

/* What happened counts, not the order of an instant. The first workload's words are those of a run
 * that has no other. */
void sim_jobs_digest(struct sim_jobs_run *run, enum sim_jobs_digest what, const struct sim_job *job)
{
    uint64_t digest = sim_digest_word(SIM_DIGEST_START, (uint64_t)what);
    if (run->config.instance > 0)
        digest = sim_digest_word(digest, run->config.instance);
    digest = sim_digest_word(digest, job->id);
    digest = sim_digest_word(digest, job->life == 0 ? 0 : sim_job_life(run, job)->node);
    run->context->result_digest += sim_digest_word(digest, (uint64_t)sim_jobs_now(run));
}

static weir_status forget(struct sim_jobs_run *run, uint32_t slot, const char *outcome)
{
    struct sim_job *job = sim_job_at(run, slot);
    job->state = SIM_JOB_GONE;
    const weir_status status = sim_jobs_tell_row(run, job, outcome);
    sim_jobs_over(run, job);
    sim_jobs_forget_life(run, job);
    sim_job_slots_give(&run->slots, job);
    return status;
}

weir_status sim_jobs_done(struct sim_jobs_run *run, uint32_t slot)
{
    struct sim_job *job = sim_job_at(run, slot);
    const int64_t now_ns = sim_jobs_now(run);
    run->last_done_ns = now_ns;
    const int64_t due_ns = sim_jobs_later(job->at_ns, run->workload->deadline_ns);
    if (now_ns > due_ns) {
        sim_jobs_count(run, job, SIM_JOBS_LATE);
        sim_meter_job_late(run->context->meter, sim_job_class(run, job),
                           run->workload->late_price * sim_time_s(now_ns - due_ns));
    }
    sim_meter_job_done(run->context->meter, now_ns, sim_job_class(run, job), job->is_counted,
                       now_ns - job->at_ns, sim_job_life(run, job)->run_ns);
    if (job->is_counted && sim_job_spec(run, job)->tenant_number != 0)
        sim_meter_tenant_done(run->context->meter, sim_job_spec(run, job)->tenant_number,
                              now_ns - job->at_ns, run->alone_ns[slot]);
    sim_jobs_digest(run, DIGEST_DONE, job);
    return forget(run, slot, "done");
}

weir_status sim_jobs_give_up(struct sim_jobs_run *run, uint32_t slot, enum sim_job_count why)
{
    static const struct {
        enum sim_jobs_digest digest;
        const char *outcome;
    } ends[SIM_JOBS_COUNTS] = { [SIM_JOBS_OVERRUN] = { DIGEST_OVERRUN, "overrun" },
                                [SIM_JOBS_OOM] = { DIGEST_OOM, "oom" },
                                [SIM_JOBS_EXHAUSTED] = { DIGEST_EXHAUSTED, "exhausted" } };
    struct sim_job *job = sim_job_at(run, slot);
    run->last_done_ns = sim_jobs_now(run);
    sim_jobs_count(run, job, why);
    if (run->workload->deadline_ns < INT64_MAX)
        sim_jobs_count(run, job, SIM_JOBS_DUE);
    sim_jobs_digest(run, ends[why].digest, job);
    return forget(run, slot, ends[why].outcome);
}

/* ---- arrivals ---- */

void sim_jobs_expect(struct sim_jobs_run *run)
{
    run->has_next = sim_job_stream_next(run->stream, &run->next);
    if (!run->has_next)
        return;
    const struct sim_event event = { .time_ns = run->next.at_ns,
                                     .kind = sim_driver_kind(run->config.index, SIM_JOBS_ARRIVE),
                                     .phase = SIM_PHASE_ARRIVAL };
    run->arrival = sim_engine_schedule(run->context->engine, &event);
}

/* What a job asks for and how long it would hold it; of one without an end nothing is said. */
static double gpu_time(const struct sim_job_spec *spec, int64_t run_ns)
{
    if (run_ns == INT64_MAX)
        return 0;
    return sim_time_s(run_ns) * sim_job_gpus(spec);
}

static void note_refused(struct sim_jobs_run *run, const struct sim_job *job)
{
    struct sim_job_arrival arrival = { .at_ns = job->at_ns };
    sim_jobs_count(run, job, SIM_JOBS_REFUSED);
    sim_job_stream_describe(run->stream, job->spec, job->key, &arrival);
    if (job->is_counted)
        sim_meter_job_denied(run->context->meter, sim_job_class(run, job),
                             gpu_time(sim_job_spec(run, job), arrival.run_ns));
}

static weir_status note_alone(struct sim_jobs_run *run, const struct sim_job *job, int64_t run_ns)
{
    const struct sim_job_spec *spec = sim_job_spec(run, job);
    if (spec->tenant_number == 0)
        return WEIR_OK;
    SIM_ROOM(run->alone_ns, run->alone_capacity, job->slot + 1);
    run->alone_ns[job->slot] = sim_meter_tenant_alone(
        run->context->meter, sim_jobs_now(run), spec->tenant_number, sim_job_gpus(spec), run_ns);
    return WEIR_OK;
}

weir_status sim_jobs_bring(struct sim_jobs_run *run, const struct sim_job_arrival *arrival,
                           uint32_t array)
{
    struct sim_job *job = NULL;
    WEIR_TRY(sim_job_slots_take(&run->slots, run->arrived, &job));
    if (run->arrived++ == 0)
        run->first_submit_ns = arrival->at_ns;
    job->kind = WEIR_NO_INDEX;
    job->spec = arrival->spec;
    job->key = arrival->key;
    job->at_ns = arrival->at_ns;
    job->array = array;
    job->is_counted = arrival->at_ns >= run->config.scenario->warmup_ns;
    sim_jobs_count(run, job, SIM_JOBS_ARRIVED);
    if (job->is_counted)
        sim_meter_job_asked(run->context->meter, sim_job_class(run, job),
                            gpu_time(sim_job_spec(run, job), arrival->run_ns));
    WEIR_TRY(note_alone(run, job, arrival->run_ns));
    run->brought = *arrival;
    return sim_jobs_enqueue(run, job, arrival);
}

weir_status sim_jobs_arrive(struct sim_jobs_run *run)
{
    const struct sim_job_arrival arrival = run->next;
    sim_jobs_expect(run);
    return sim_jobs_submission(run, &arrival);
}

void sim_jobs_set_factor(struct sim_jobs_run *run, double factor)
{
    if (run->has_next) {
        (void)sim_engine_cancel(run->context->engine, run->arrival);
        sim_job_stream_put_back(run->stream, &run->next);
    }
    sim_job_stream_set_factor(run->stream, sim_jobs_now(run), factor);
    sim_jobs_expect(run);
}

weir_status sim_jobs_burst(struct sim_jobs_run *run, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        struct sim_job_arrival arrival;
        sim_job_stream_draw(run->stream, sim_jobs_now(run), &arrival);
        WEIR_TRY(sim_jobs_submission(run, &arrival));
    }
    return WEIR_OK;
}

bool sim_jobs_come(const struct sim_jobs_run *run)
{
    return run->has_next || run->coming > 0 || sim_job_stream_is_held(run->stream);
}

weir_status sim_jobs_come_again(struct sim_jobs_run *run, uint32_t slot)
{
    run->away--;
    sim_job_at(run, slot)->timer = SIM_NO_HANDLE;
    sim_jobs_count(run, sim_job_at(run, slot), SIM_JOBS_RETRIED);
    return sim_jobs_enqueue_again(run, sim_job_at(run, slot));
}

/* ---- ends of waiting ---- */

weir_status sim_jobs_turn_away(struct sim_jobs_run *run, uint32_t slot, bool is_for_good)
{
    struct sim_job *job = sim_job_at(run, slot);
    if (is_for_good)
        sim_jobs_count(run, job, SIM_JOBS_INFEASIBLE);
    if (is_for_good || job->retries >= run->workload->retries) {
        note_refused(run, job);
        job->is_refused = true;
        sim_jobs_digest(run, DIGEST_REFUSED, job);
        return forget(run, slot, "refused");
    }
    const double growth = pow(run->workload->retry_growth, job->retries);
    const double delay_s = sim_law_draw_of(
        run->workload->retry_delay, sim_job_stream_random(run->stream, job->spec), SIM_DRAW_RETRY,
        (struct sim_stream_key){ .item = job->key, .attempt = job->retries++ });
    const int64_t delay_ns = sim_time_from_s(fmin(growth * delay_s, 9e9));
    const struct sim_event event = { .time_ns = sim_jobs_later(sim_jobs_now(run), delay_ns),
                                     .target = slot,
                                     .argument = job->id,
                                     .kind = sim_driver_kind(run->config.index, SIM_JOBS_RETRY),
                                     .phase = SIM_PHASE_ARRIVAL };
    job->state = SIM_JOB_AWAY;
    run->away++;
    job->timer = sim_engine_schedule(run->context->engine, &event);
    return WEIR_OK;
}

weir_status sim_jobs_leave(struct sim_jobs_run *run, uint32_t slot)
{
    struct sim_job *job = sim_job_at(run, slot);
    const struct sim_driver_config *config = &run->config;
    job->timer = SIM_NO_HANDLE;
    run->patient--;
    sim_jobs_dequeue(run, slot);
    WEIR_TRY(config->services->withdraw(config->world, run->index, job->id));
    job->is_refused = true;
    sim_jobs_count(run, job, SIM_JOBS_LEFT);
    sim_jobs_digest(run, DIGEST_LEFT, job);
    return forget(run, slot, "left");
}

/* ---- lost ---- */

/* Its run was lost, and no rank of it is left: it waits again, unless that was its last. */
static weir_status wait_again(struct sim_jobs_run *run, uint32_t slot)
{
    struct sim_job *job = sim_job_at(run, slot);
    const struct sim_job_life *life = sim_job_life(run, job);
    const bool is_exhausted = life->attempts >= run->workload->max_attempts;
    sim_jobs_count(run, job, life->is_preempted ? SIM_JOBS_PREEMPTED : SIM_JOBS_RESTARTED);
    sim_jobs_digest(run, life->is_preempted ? DIGEST_PREEMPTED : DIGEST_LOST, job);
    sim_meter_retry(run->context->meter, sim_jobs_now(run), is_exhausted);
    return is_exhausted ? sim_jobs_give_up(run, slot, SIM_JOBS_EXHAUSTED)
                        : sim_jobs_enqueue_again(run, job);
}

weir_status sim_jobs_settle(struct sim_jobs_run *run)
{
    const struct sim_driver_config *config = &run->config;
    while (run->first_lost != 0) {
        const uint32_t slot = run->first_lost - 1;
        struct sim_job *job = sim_job_at(run, slot);
        struct sim_job_life *life = sim_job_life(run, job);
        run->first_lost = life->next_lost;
        life->next_lost = 0;
        if (life->is_changed && !life->is_lost) {
            WEIR_TRY(sim_jobs_shrink(run, job));
            continue;
        }
        life->is_changed = false;
        WEIR_TRY(sim_jobs_drop_ranks(run, job, SIM_STOP_GIVEN_UP, "another rank was lost"));
        life->is_lost = false;
        sim_jobs_forget_ranks(life);
        WEIR_TRY(config->services->ended(config->world, run->index, job->id));
        WEIR_TRY(wait_again(run, slot));
    }
    return WEIR_OK;
}
