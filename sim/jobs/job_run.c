/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jobs in time: building, the run loop, the invariant; see the header. */
#include "sim/jobs/job_state.h"

#include "sim/record/record.h"
#include "sim/record/sampling.h"
#include "sim/scenario/belief.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- making ---- */

/* What makes a difference to the placement. */
static int by_kind(const void *left, const void *right, void *state)
{
    const struct sim_job_spec *jobs = state;
    const struct sim_job_spec *a = &jobs[*(const uint32_t *)left];
    const struct sim_job_spec *b = &jobs[*(const uint32_t *)right];
    if (a->members != b->members)
        return a->members < b->members ? -1 : 1;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return memcmp(&a->shape, &b->shape, sizeof(a->shape));
}

/* Numbers the distinct kinds of jobs. */
static weir_status number_kinds(struct sim_job_run *run)
{
    const struct sim_workload *workload = run->workload;
    uint32_t *order = calloc(workload->jobs_count + 1, sizeof(*order));
    uint32_t kinds = 0;
    run->kind_of = calloc(workload->jobs_count + 1, sizeof(*run->kind_of));
    if (order == NULL || run->kind_of == NULL) {
        free(order);
        return WEIR_ENOMEM;
    }
    for (uint32_t i = 0; i < workload->jobs_count; i++)
        order[i] = i;
    qsort_r(order, workload->jobs_count, sizeof(*order), by_kind, workload->jobs);
    for (size_t i = 0; i < workload->jobs_count; i++) {
        if (i == 0 || by_kind(&order[i - 1], &order[i], workload->jobs) != 0)
            kinds++;
        run->kind_of[order[i]] = kinds - 1;
    }
    free(order);
    run->is_feasible = calloc((size_t)kinds + 1, sizeof(*run->is_feasible));
    return run->is_feasible == NULL ? WEIR_ENOMEM : sim_wait_queue_open(&run->queue, kinds);
}

static weir_status add_node(struct sim_job_run *run, uint32_t index, struct weir_error *error)
{
    struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
    struct weir_node_spec spec;
    WEIR_TRY(sim_belief_node(run->scenario, index, gpus, &spec, error));
    return weir_cluster_add_node(run->belief, &spec, NULL, error);
}

static weir_status make_cluster(struct sim_job_run *run, struct weir_error *error)
{
    WEIR_TRY(sim_cluster_create(run->scenario, &run->truth));
    WEIR_TRY(weir_cluster_create(NULL, &run->belief));
    const uint32_t nodes = run->truth->node_count;
    run->frag = calloc((size_t)nodes + 1, sizeof(*run->frag));
    run->node_failures = calloc((size_t)nodes + 1, sizeof(*run->node_failures));
    if (run->frag == NULL || run->node_failures == NULL)
        return WEIR_ENOMEM;
    for (uint32_t n = 0; n < nodes; n++) {
        const struct sim_meter_amounts sum = sim_cluster_capacity(run->truth, n);
        WEIR_TRY(add_node(run, n, error));
        sim_gauge_add(&run->meter.up_gpus, 0, sum.amount[SIM_RESOURCE_GPU]);
        sim_gauge_add(&run->meter.up_cpus, 0, sum.amount[SIM_RESOURCE_CPU]);
        sim_gauge_add(&run->meter.up_ram, 0, sum.amount[SIM_RESOURCE_RAM]);
        sim_job_refresh_frag(run, n);
    }
    return WEIR_OK;
}

static weir_status make_policies(struct sim_job_run *run, struct weir_error *error)
{
    const struct sim_policy_choice *queueing = &run->scenario->sched.queueing;
    const struct weir_params rank = { queueing->values, (uint32_t)queueing->count, 0 };
    WEIR_TRY(sim_job_placer_create(run->scenario, run->workload, &run->placer, error));
    return weir_ranker_create(queueing->queueing, &rank, NULL, &run->ranker, error);
}

/* The horizon, or about when the last job arrives. */
static double expected_s(const struct sim_job_run *run)
{
    const struct sim_workload *workload = run->workload;
    double longest_s = 0;
    if (run->scenario->horizon_ns != SIM_TIME_MAX)
        return sim_time_s(run->scenario->horizon_ns);
    if (workload->arrivals.rate_per_s > 0)
        return (double)workload->jobs_limit / workload->arrivals.rate_per_s;
    for (size_t i = 0; i < workload->jobs_count; i++)
        if (workload->jobs[i].submit_ns != WEIR_UNKNOWN_TIME)
            longest_s =
                fmax(longest_s, sim_time_s(workload->jobs[i].submit_ns - workload->from_ns));
    return longest_s;
}

static weir_status prepare(struct sim_job_run *run, struct weir_error *error)
{
    const struct sim_scenario *scenario = run->scenario;
    WEIR_TRY(sim_job_meter_open(&run->meter, run->workload->labels_count, scenario->warmup_ns));
    run->engine = sim_engine_create();
    run->jobs = calloc(1, sizeof(*run->jobs));
    run->free_slots = calloc(1, sizeof(*run->free_slots));
    if (run->engine == NULL || run->jobs == NULL || run->free_slots == NULL)
        return WEIR_ENOMEM;
    run->slot_capacity = 1;
    WEIR_TRY(sim_target_create(run->workload, &run->target));
    WEIR_TRY(make_cluster(run, error));
    WEIR_TRY(make_policies(run, error));
    WEIR_TRY(number_kinds(run));
    WEIR_TRY(sim_job_cuts_open(run));
    run->error = error;
    WEIR_TRY(sim_job_judge_kinds(run));
    run->sample_ns =
        scenario->sample_ns > 0 ? scenario->sample_ns : sim_sampling_interval_ns(expected_s(run));
    const struct sim_random random =
        sim_random_of(&run->random, SIM_NAME_JOBS, run->workload->name);
    return sim_job_stream_create(run->workload, &random, &run->stream);
}

weir_status sim_job_run_create(const struct sim_scenario *scenario,
                               const struct sim_run_options *options, struct sim_job_run **run,
                               struct weir_error *error)
{
    struct sim_job_run *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return WEIR_ENOMEM;
    made->scenario = scenario;
    made->options = options;
    made->lease.parts = made->parts;
    made->workload = &scenario->workloads[0];
    made->random =
        (struct sim_random){ .seed = options->seed, .replication = options->replication };
    const weir_status status = prepare(made, error);
    if (status != WEIR_OK) {
        sim_job_run_destroy(made);
        return status;
    }
    *run = made;
    return WEIR_OK;
}

void sim_job_run_destroy(struct sim_job_run *run)
{
    if (run == NULL)
        return;
    sim_job_stream_destroy(run->stream);
    weir_ranker_destroy(run->ranker);
    sim_job_placer_destroy(run->placer);
    weir_cluster_destroy(run->belief);
    sim_cluster_destroy(run->truth);
    sim_target_clear(&run->target);
    sim_wait_queue_close(&run->queue);
    sim_job_meter_close(&run->meter);
    sim_job_cuts_close(&run->cuts);
    sim_engine_destroy(run->engine);
    free(run->frag);
    free(run->node_failures);
    free(run->kind_of);
    free(run->is_feasible);
    free(run->jobs);
    free(run->free_slots);
    free(run->fresh);
    free(run);
}

void sim_job_run_observe(struct sim_job_run *run, const struct sim_job_observer *observer)
{
    run->observer = observer;
}

bool sim_job_run_is_over(const struct sim_job_run *run)
{
    return run->is_over;
}

const struct sim_cluster *sim_job_run_cluster(const struct sim_job_run *run)
{
    return run->truth;
}

/* ---- events ---- */

sim_handle sim_job_schedule(struct sim_job_run *run, int64_t at_ns, uint16_t kind, uint16_t phase,
                            uint32_t slot)
{
    const bool is_about_job = kind == SIM_JOB_END || kind == SIM_JOB_LEAVE || kind == SIM_JOB_RETRY;
    const struct sim_event event = { .time_ns = at_ns,
                                     .target = slot,
                                     .argument = is_about_job ? run->jobs[slot].id : 0,
                                     .kind = kind,
                                     .phase = phase };
    return sim_engine_schedule(run->engine, &event);
}

/* One mixed word per transition, added up: what happened counts, not the order of an instant. */
void sim_job_digest(struct sim_job_run *run, uint64_t what, const struct sim_job *job)
{
    uint64_t digest = sim_digest_word(SIM_DIGEST_START, what);
    digest = sim_digest_word(digest, job->id);
    digest = sim_digest_word(digest, job->node);
    run->result_digest += sim_digest_word(digest, (uint64_t)sim_engine_now(run->engine));
}

/* Nothing can happen any more but samples, and failures of nodes that nobody uses. */
static bool is_over(const struct sim_job_run *run)
{
    const bool is_stuck = run->waiting > 0 &&
                          (run->nodes_down > 0 || run->patient > 0 || run->cuts.pending_count > 0);
    return !run->has_next && !run->has_pass && run->ending == 0 && run->away == 0 && !is_stuck;
}

static weir_status sample(struct sim_job_run *run, int64_t now_ns)
{
    WEIR_TRY(sim_job_meter_sample(&run->meter, now_ns, run->options->recorder, run->error));
    if (++run->samples >= SIM_SAMPLES_MAX && run->scenario->sample_ns == 0) {
        WEIR_TRY(sim_recorder_coarsen(run->options->recorder, run->error));
        run->samples /= 2;
        run->sample_ns *= 2;
    }
    (void)sim_job_schedule(run, now_ns + run->sample_ns, SIM_JOB_SAMPLE, SIM_PHASE_SAMPLE, 0);
    return WEIR_OK;
}

static weir_status dispatch(struct sim_job_run *run, const struct sim_event *event)
{
    switch ((enum sim_job_event)event->kind) {
    case SIM_JOB_END:
        return sim_job_finish(run, event->target);
    case SIM_JOB_ARRIVE:
        return sim_job_arrive(run);
    case SIM_JOB_LEAVE:
        return sim_job_leave(run, event->target);
    case SIM_JOB_RETRY:
        return sim_job_come_again(run, event->target);
    case SIM_JOB_PASS:
        return sim_job_pass(run);
    case SIM_JOB_SAMPLE:
        return sample(run, event->time_ns);
    case SIM_JOB_WARM:
        sim_job_meter_warm(&run->meter, event->time_ns);
        return WEIR_OK;
    case SIM_JOB_NODE_FAIL:
        return sim_job_node_fail(run, event->target);
    case SIM_JOB_NODE_REPAIR:
        return sim_job_node_repair(run, event->target);
    case SIM_JOB_CUT:
        return sim_job_cuts_finish(run, event->target, (uint32_t)event->argument);
    }
    return WEIR_EINVARIANT;
}

static void look_around(struct sim_job_run *run, int64_t now_ns)
{
    const struct sim_run_options *options = run->options;
    if (options->interrupt != NULL && *options->interrupt != 0) {
        run->is_interrupted = true;
        sim_engine_stop(run->engine);
    }
    if (options->progress == NULL)
        return;
    const uint64_t total = sim_job_stream_total(run->stream);
    const double by_jobs = total == UINT64_MAX ? 0 : (double)run->arrived / ((double)total + 1);
    const double by_time = run->scenario->horizon_ns == SIM_TIME_MAX
                               ? 0
                               : (double)now_ns / (double)run->scenario->horizon_ns;
    options->progress->fraction = fmax(by_jobs, by_time);
    options->progress->simulated_s = sim_time_s(now_ns);
    options->progress->events = run->handled;
}

static weir_status handle(void *state, const struct sim_event *event)
{
    struct sim_job_run *run = state;
    WEIR_TRY(dispatch(run, event));
    if ((++run->handled & 0xfff) == 0)
        look_around(run, event->time_ns);
    if (run->options->check_always)
        WEIR_TRY(sim_job_run_check(run, run->error));
    if (is_over(run))
        sim_engine_stop(run->engine);
    return WEIR_OK;
}

weir_status sim_job_run_go(struct sim_job_run *run, struct weir_error *error)
{
    const int64_t horizon_ns = run->scenario->horizon_ns;
    run->error = error;
    for (uint32_t i = 0; i < run->workload->labels_count; i++)
        WEIR_TRY(
            sim_recorder_job_label(run->options->recorder, i, run->workload->labels[i], error));
    run->has_next = sim_job_stream_next(run->stream, &run->next);
    if (run->has_next)
        (void)sim_job_schedule(run, run->next.at_ns, SIM_JOB_ARRIVE, SIM_PHASE_ARRIVAL, 0);
    if (run->scenario->warmup_ns > 0)
        (void)sim_job_schedule(run, run->scenario->warmup_ns, SIM_JOB_WARM, SIM_PHASE_COMPLETION,
                               0);
    (void)sim_job_schedule(run, run->sample_ns, SIM_JOB_SAMPLE, SIM_PHASE_SAMPLE, 0);
    WEIR_TRY(sim_job_faults_begin(run));
    WEIR_TRY(sim_engine_run(run->engine, handle, run, horizon_ns));
    run->is_over = is_over(run);
    run->end_ns = run->is_over || run->is_interrupted ? sim_engine_now(run->engine) : horizon_ns;
    WEIR_TRY(sim_job_meter_sample(&run->meter, run->end_ns, run->options->recorder, error));
    WEIR_TRY(sim_job_run_check(run, error));
    return run->is_interrupted ? WEIR_EINTERRUPTED : WEIR_OK;
}

/* ---- the invariant ---- */

weir_status sim_job_run_check(const struct sim_job_run *run, struct weir_error *error)
{
    const struct sim_job_meter_row *all = &run->meter.rows[run->meter.labels];
    const uint64_t gone =
        all->seen[SIM_JOBS_DONE] + all->seen[SIM_JOBS_REFUSED] + all->seen[SIM_JOBS_LEFT];
    const struct weir_amounts free = weir_cluster_free(run->belief);
    const struct weir_amounts total = weir_cluster_total(run->belief);
    const double held = weir_units_amount(total.gpu_units - free.gpu_units);
    if (run->arrived != gone + run->waiting + run->running + run->away ||
        run->waiting != run->queue.count)
        return weir_fail(error, WEIR_EINVARIANT,
                         "%llu jobs arrived, %llu are gone, %llu wait (%zu queued), %llu run, %llu "
                         "are away",
                         (unsigned long long)run->arrived, (unsigned long long)gone,
                         (unsigned long long)run->waiting, run->queue.count,
                         (unsigned long long)run->running, (unsigned long long)run->away);
    if (fabs(held - all->gauges[SIM_JOBS_GPUS].value) > 1e-6 * (held + 1))
        return weir_fail(error, WEIR_EINVARIANT, "jobs hold %.9g GPUs, %.9g are given out",
                         all->gauges[SIM_JOBS_GPUS].value, held);
    WEIR_TRY(weir_cluster_check(run->belief, error));
    return sim_cluster_check(run->truth, error);
}
