/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Metrics of jobs in time: rows of `result`, and values of the summary. */
#include "sim/jobs/jobs.h"

#include "sim/engine/time.h"
#include "sim/record/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct writer {
    struct sim_jobs_run *run;
    struct sim_results *out;
    int64_t from_ns, to_ns;
    /* the row that is written */
    struct sim_job_meter *row;
    const char *label;
    bool is_all; /* of several workloads together */
    uint64_t n, censored;
    bool is_lower_bound;
};

static void put(struct writer *writer, const char *metric, const char *unit, double value)
{
    const struct sim_result_row row = { .metric = metric,
                                        .label = writer->label,
                                        .unit = unit,
                                        .value = value,
                                        .n = writer->n,
                                        .censored = writer->censored,
                                        .is_lower_bound = writer->is_lower_bound };
    if (!isnan(value))
        sim_results_add(writer->out, &row);
}

/* A class by its name, of several workloads as workload/class; all jobs by the name of their
 * workload, of the only one without one. */
static const char *label_of(const struct sim_jobs_run *run, size_t index)
{
    if (index == run->workload->labels_count)
        return run->labels != NULL ? run->workload->name : "";
    return run->labels != NULL ? run->labels[index] : run->workload->labels[index];
}

/* Of a class, or of the workload after the last. */
static struct sim_job_meter *row_of(const struct sim_jobs_run *run, size_t index)
{
    return index == run->workload->labels_count
               ? sim_meter_workload(run->context->meter, run->index)
               : sim_meter_class(run->context->meter, run->class_first + (uint32_t)index);
}

static double ratio(double part, double whole)
{
    return whole > 0 ? part / whole : (double)NAN;
}

/* After the warm-up, in value * ns. */
static double integral_of(const struct writer *writer, enum sim_job_gauge what)
{
    return sim_gauge_integral(&writer->row->gauges[what], writer->to_ns) - writer->row->warm[what];
}

static double mean_of(const struct writer *writer, enum sim_job_gauge what)
{
    return ratio(integral_of(writer, what), (double)(writer->to_ns - writer->from_ns));
}

/* ---- distributions ---- */

static void put_percentile(struct writer *writer, const char *metric, const char *unit,
                           struct sim_percentiles *values, const struct sim_censored *censored)
{
    static const struct {
        const char *suffix;
        double share;
    } parts[] = { { "p50", 0.5 }, { "p95", 0.95 }, { "p99", 0.99 } };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s.%s", metric, parts[i].suffix);
        const int64_t value =
            sim_percentiles_at(values, parts[i].share, censored, &writer->is_lower_bound);
        put(writer, name, unit, value < 0 ? (double)NAN : sim_time_s(value));
    }
    writer->is_lower_bound = false;
}

static void put_distribution(struct writer *writer, const char *metric, const char *unit,
                             struct sim_percentiles *values, const struct sim_censored *censored)
{
    char name[64];
    if (values->count == 0)
        return;
    writer->n = values->count;
    writer->censored = censored->count;
    (void)snprintf(name, sizeof name, "%s.mean", metric);
    put(writer, name, unit, values->sum_ns / 1e9 / (double)values->count);
    (void)snprintf(name, sizeof name, "%s.max", metric);
    put(writer, name, unit, sim_time_s(values->max_ns));
    put_percentile(writer, metric, unit, values, censored);
    writer->censored = 0;
}

/* Its last job ended; else it is the horizon. */
static bool is_over(const struct sim_jobs_run *run)
{
    return run->last_done_ns > 0 && !sim_jobs_come(run) &&
           run->waiting + run->running + run->away == 0;
}

weir_status sim_jobs_left(const struct sim_jobs_run *run, int64_t now_ns)
{
    if (is_over(run))
        sim_meter_span(run->context->meter, run->first_submit_ns, run->last_done_ns);
    for (uint32_t i = 0; i < run->slots.jobs.used; i++) {
        const struct sim_job *job = sim_job_at(run, i);
        const bool is_waiting = job->state == SIM_JOB_WAITING || job->state == SIM_JOB_AWAY;
        const bool never_began = is_waiting && sim_job_attempts(run, job) == 0;
        const int64_t age_ns = now_ns - job->at_ns;
        if (!job->is_counted || !(is_waiting || job->state == SIM_JOB_RUNNING))
            continue;
        WEIR_TRY(sim_meter_job_left(run->context->meter, now_ns, sim_job_class(run, job),
                                    sim_job_spec(run, job)->tenant_number, age_ns, never_began));
        if (age_ns > run->workload->deadline_ns)
            sim_jobs_count(run, job, SIM_JOBS_DUE);
        if (never_began && age_ns > run->workload->starved_after_ns)
            sim_jobs_count(run, job, SIM_JOBS_STARVED);
    }
    return WEIR_OK;
}

/* Of jobs that had not started; and how many ever waited too long. */
static void put_starvation(struct writer *writer, const struct sim_censored *waiting)
{
    int64_t longest_ns = -1;
    for (size_t i = 0; i < waiting->count; i++)
        longest_ns = waiting->ages_ns[i] > longest_ns ? waiting->ages_ns[i] : longest_ns;
    writer->n = waiting->count;
    if (longest_ns >= 0)
        put(writer, "starvation.max_wait", "s", sim_time_s(longest_ns));
}

static void put_times(struct writer *writer)
{
    struct sim_job_meter *row = writer->row;
    const struct sim_censored waiting = sim_ages_censored(&row->waiting);
    const struct sim_censored unfinished = sim_ages_censored(&row->left);
    put_distribution(writer, "wait.job", "s", &row->wait, &waiting);
    put_starvation(writer, &waiting);
    put_distribution(writer, "jct", "s", &row->time, &unfinished);
    put_distribution(writer, "restart.latency", "s", &row->restart, &(struct sim_censored){ 0 });
    put_distribution(writer, "slowdown", "1", &row->slowdown,
                     &(struct sim_censored){ .count = unfinished.count });
}

/* Of all jobs by their bands of priority. */
static void put_bands(struct writer *writer)
{
    const struct sim_scenario *scenario = writer->run->config.scenario;
    for (uint32_t b = 0; b < scenario->bands_count; b++) {
        struct sim_job_meter *row = sim_meter_band(writer->run->context->meter, b);
        const struct sim_censored waiting = sim_ages_censored(&row->waiting);
        writer->label = scenario->bands[b].name;
        put_distribution(writer, "wait.band", "s", &row->wait, &waiting);
    }
}

/* ---- counts ---- */

/* What is counted where the workload says from when, or one of all does. */
static void put_limits(struct writer *writer)
{
    const struct sim_scenario *scenario = writer->run->config.scenario;
    const uint64_t *counts = writer->row->counts;
    int64_t starved_ns = INT64_MAX;
    int64_t late_ns = INT64_MAX;
    for (size_t w = 0; w < scenario->workloads_count; w++) {
        const struct sim_workload *workload = &scenario->workloads[w];
        if (!writer->is_all && workload != writer->run->workload)
            continue;
        starved_ns = starved_ns < INT64_MAX ? starved_ns : workload->starved_after_ns;
        late_ns = late_ns < INT64_MAX ? late_ns : workload->deadline_ns;
    }
    if (starved_ns != INT64_MAX)
        put(writer, "starvation.count", "1", (double)counts[SIM_JOBS_STARVED]);
    if (late_ns != INT64_MAX)
        put(writer, "sla.violation_rate", "ratio",
            ratio((double)(counts[SIM_JOBS_LATE] + counts[SIM_JOBS_DUE]),
                  (double)(counts[SIM_JOBS_DONE] + counts[SIM_JOBS_DUE])));
}

static void put_counts(struct writer *writer)
{
    static const char *const names[SIM_JOBS_COUNTS] = { [SIM_JOBS_ARRIVED] = "jobs.arrived",
                                                        [SIM_JOBS_STARTED] = "jobs.started",
                                                        [SIM_JOBS_DONE] = "jobs.done",
                                                        [SIM_JOBS_REFUSED] = "jobs.refused",
                                                        [SIM_JOBS_LEFT] = "jobs.left",
                                                        [SIM_JOBS_RETRIED] = "jobs.retried",
                                                        [SIM_JOBS_RESTARTED] = "jobs.restarted",
                                                        [SIM_JOBS_DELAYED] = NULL,
                                                        [SIM_JOBS_INFEASIBLE] = "jobs.infeasible",
                                                        [SIM_JOBS_DUE] = NULL,
                                                        [SIM_JOBS_PREEMPTED] = "jobs.preempted",
                                                        [SIM_JOBS_KILLED] = "jobs.killed",
                                                        [SIM_JOBS_OVERRUN] = "jobs.overrun",
                                                        [SIM_JOBS_EXHAUSTED] = "jobs.exhausted",
                                                        [SIM_JOBS_OOM] = "jobs.oom",
                                                        [SIM_JOBS_SHRUNK] = "jobs.shrunk",
                                                        [SIM_JOBS_GROWN] = "jobs.grown",
                                                        [SIM_JOBS_REFUSED_AGAIN] =
                                                            "jobs.refused_again",
                                                        [SIM_JOBS_STARVED] = NULL,
                                                        [SIM_JOBS_LATE] = NULL,
                                                        [SIM_JOBS_WISHED] = NULL,
                                                        [SIM_JOBS_SCATTERED] = NULL };
    const struct sim_job_meter *row = writer->row;
    writer->n = row->counts[SIM_JOBS_ARRIVED];
    for (size_t c = 0; c < SIM_JOBS_COUNTS; c++)
        if ((c <= SIM_JOBS_REFUSED || row->seen[c] > 0) && names[c] != NULL)
            put(writer, names[c], "1", (double)row->counts[c]);
    put(writer, "jobs.acceptance", "ratio",
        1 - ratio((double)row->counts[SIM_JOBS_REFUSED], (double)row->counts[SIM_JOBS_ARRIVED]));
    if (row->gpu_s_asked > 0)
        put(writer, "jobs.gpu_time_accepted", "ratio", 1 - row->gpu_s_refused / row->gpu_s_asked);
    put_limits(writer);
    if (row->seen[SIM_JOBS_WISHED] > 0)
        put(writer, "pref.satisfied_frac", "ratio",
            1 - ratio((double)row->counts[SIM_JOBS_SCATTERED],
                      (double)row->counts[SIM_JOBS_WISHED]));
    put(writer, "jobs.delayed_frac", "ratio",
        ratio((double)row->counts[SIM_JOBS_DELAYED], (double)row->counts[SIM_JOBS_STARTED]));
    put(writer, "queue.len.mean", "jobs", mean_of(writer, SIM_JOBS_WAITING));
    put(writer, "queue.len.max", "jobs", row->waiting_max);
    put(writer, "jobs.running.mean", "jobs", mean_of(writer, SIM_JOBS_RUNNING));
    put(writer, "thr.jobs_h", "1/h",
        ratio((double)row->done_since, sim_time_s(writer->to_ns - writer->from_ns)) * 3600);
    put(writer, "gpus.held.mean", "GPUs", mean_of(writer, SIM_JOBS_GPUS));
}

/* Of one job of a label. */
static double worth_of(const struct sim_jobs_run *run, size_t label)
{
    const struct sim_workload *workload = run->workload;
    size_t i = 0;
    while (i + 1 < workload->jobs_count && workload->jobs[i].label != label)
        i++;
    return workload->jobs[i].worth;
}

static void put_objective(struct writer *writer, size_t index)
{
    const struct sim_jobs_run *run = writer->run;
    const struct sim_objective *objective = &run->workload->objective;
    const uint64_t *counts = writer->row->counts;
    const bool is_all = index == run->workload->labels_count;
    double value = 0;
    if (!objective->is_there)
        return;
    for (size_t i = is_all ? 0 : index; i < (is_all ? index : index + 1); i++)
        value += worth_of(run, i) * (double)row_of(run, i)->counts[SIM_JOBS_DONE];
    value -= objective->late * (double)counts[SIM_JOBS_LATE];
    value -= objective->scattered * (double)counts[SIM_JOBS_SCATTERED];
    value -= objective->preempted * (double)counts[SIM_JOBS_PREEMPTED];
    value -= objective->refused * (double)counts[SIM_JOBS_REFUSED];
    put(writer, "objective", "1", value);
    if (!is_all)
        put(writer, "objective.worth", "1", worth_of(run, index));
}

static bool has_gangs(const struct sim_workload *workload)
{
    size_t i = 0;
    while (i < workload->jobs_count && sim_job_workers(&workload->jobs[i]) == 1)
        i++;
    return i < workload->jobs_count;
}

/* Of the workload; after the warm-up, but for the ends. */
static void put_ends(struct writer *writer)
{
    const struct sim_jobs_run *run = writer->run;
    /* Of all work, also of the only workload, the meter says it. */
    if (run->labels != NULL && is_over(run))
        put(writer, "makespan", "s", sim_time_s(run->last_done_ns - run->first_submit_ns));
    if (has_gangs(run->workload))
        put(writer, "gang.partial_holds", "GPU*s", integral_of(writer, SIM_JOBS_RESERVED) / 1e9);
    put(writer, "jobs.waiting", "jobs", (double)run->waiting);
    put(writer, "jobs.running", "jobs", (double)run->running);
}

/* Of the time of runs, from time 0: what work was kept, and what was thrown away. What runs at the
 * end counts up to its last checkpoint. */
static void put_goodput(struct writer *writer)
{
    const struct sim_jobs_run *run = writer->run;
    if (run->workload->start_latency == NULL && !run->workload->checkpoint.is_made)
        return;
    put(writer, "goodput.frac", "ratio", ratio(run->kept_ns, run->held_ns));
    put(writer, "jobs.lost_s", "s", run->lost_ns / 1e9);
    put(writer, "jobs.saves", "1", (double)run->saves);
    if (run->workload->checkpoint.is_made)
        put(writer, "jobs.save_interval", "s", ratio(run->intervals_s, (double)run->intervals));
}

/* Of jobs in steps, from time 0: what of their time they exchanged and waited, and a step. */
static void put_steps(struct writer *writer, size_t index)
{
    const struct sim_jobs_steps *steps = &writer->run->steps[index];
    put(writer, "jobs.sync_share", "ratio", ratio(steps->sync_ns, steps->ranks_ns));
    put(writer, "jobs.barrier_share", "ratio", ratio(steps->wait_ns, steps->ranks_ns));
    if (steps->bubble_ns > 0)
        put(writer, "jobs.bubble_share", "ratio", ratio(steps->bubble_ns, steps->ranks_ns));
    put(writer, "jobs.step_s", "s", ratio(steps->steps_ns / 1e9, steps->steps));
    put(writer, "scale.eta_weak", "ratio", ratio(steps->alone_ns, steps->steps_ns));
}

static weir_status count_living_steps(struct sim_jobs_run *run)
{
    for (uint32_t i = 0; run->steps != NULL && i < run->slots.jobs.used; i++)
        if (sim_job_at(run, i)->state == SIM_JOB_RUNNING)
            WEIR_TRY(sim_jobs_count_steps(run, sim_job_at(run, i)));
    return WEIR_OK;
}

/* Of a class from time 0; all jobs together stand in the ledger of the run. */
static void put_cost(struct writer *writer, size_t index)
{
    const struct sim_jobs_run *run = writer->run;
    const struct sim_meter *meter = run->context->meter;
    const double money =
        sim_meter_job_cost(meter, run->class_first + (uint32_t)index, writer->to_ns);
    if (isnan(money))
        return;
    put(writer, "cost.compute", "$", money);
    if (run->workload->late_price > 0)
        put(writer, "cost.sla", "$", writer->row->late_cost);
}

/* Those that are still there have their rows too; who is to come again waits. */
static weir_status tell_living(struct sim_jobs_run *run)
{
    for (uint32_t i = 0; i < run->slots.jobs.used; i++) {
        const struct sim_job *job = sim_job_at(run, i);
        if (job->state != SIM_JOB_GONE)
            WEIR_TRY(
                sim_jobs_tell_row(run, job, job->state == SIM_JOB_RUNNING ? "running" : "waiting"));
    }
    return WEIR_OK;
}

weir_status sim_jobs_results(struct sim_jobs_run *run, int64_t now_ns, struct sim_results *out)
{
    const int64_t warmup_ns = run->config.scenario->warmup_ns;
    struct writer writer = { .run = run,
                             .out = out,
                             .label = "",
                             .from_ns = warmup_ns < now_ns ? warmup_ns : now_ns,
                             .to_ns = now_ns };
    WEIR_TRY(count_living_steps(run));
    if (run->labels != NULL && run->index == 0) {
        struct writer all = writer;
        all.row = sim_meter_all_jobs(run->context->meter);
        all.is_all = true;
        put_counts(&all);
        put_times(&all);
    }
    if (run->index == 0)
        put_bands(&writer);
    for (size_t i = run->workload->labels_count + 1; i-- > 0;) {
        writer.row = row_of(run, i);
        writer.label = label_of(run, i);
        put_counts(&writer);
        put_objective(&writer, i);
        put_times(&writer);
        if (run->steps != NULL)
            put_steps(&writer, i);
        if (i < run->workload->labels_count) {
            put_cost(&writer, i);
            continue;
        }
        put_ends(&writer);
        put_goodput(&writer);
    }
    WEIR_TRY(tell_living(run));
    return out->status;
}
