/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a trace asks for: totals, levels over time, by size and by model. */
#include "workloads/facts_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double hour_s = 3600.0;
static const double week_s = 604800.0;

static bool has_gpus(const struct wl_jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (jobs->jobs[i].gpus > 0)
            return true;
    return false;
}

static double run_s(const struct wl_job *job)
{
    return job->run_ns == WL_UNKNOWN ? 0 : 1e-9 * (double)job->run_ns;
}

/* ---- totals ---- */

static int descending(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return a > b ? -1 : a < b;
}

/* How much the largest 1 % (rounded up) of the jobs hold. */
static void find_top(const struct wl_jobs *jobs, bool is_of_gpus, double *work,
                     struct wl_trace_facts *facts)
{
    double all = 0;
    double top = 0;
    double weeks = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        const struct wl_job *job = &jobs->jobs[i];
        work[i] = run_s(job) * (is_of_gpus ? wl_job_gpus(job) : wl_job_cpus(job));
        all += work[i];
        if (run_s(job) > week_s) {
            facts->week_jobs++;
            weeks += work[i];
        }
    }
    qsort(work, jobs->count, sizeof *work, descending);
    for (size_t i = 0; i < (jobs->count + 99) / 100; i++)
        top += work[i];
    facts->top_percent_frac = all > 0 ? top / all : (double)NAN;
    facts->week_frac = all > 0 ? weeks / all : (double)NAN;
}

static void find_times(const struct wl_jobs *jobs, double *values, struct wl_trace_facts *facts)
{
    size_t count = 0;
    for (size_t i = 0; i < jobs->count; i++)
        if (jobs->jobs[i].run_ns != WL_UNKNOWN)
            values[count++] = run_s(&jobs->jobs[i]);
    facts->run = wl_quantiles_of(values, count);
    count = 0;
    for (size_t i = 0; i < jobs->count; i++)
        if (jobs->jobs[i].wait_ns != WL_UNKNOWN)
            values[count++] = 1e-9 * (double)jobs->jobs[i].wait_ns;
    facts->wait = wl_quantiles_of(values, count);
}

/* ---- levels ---- */

struct change {
    int64_t at_ns;
    double gpus, cpus, jobs;
};

/* A level and how long it lasted. */
struct held {
    double level, length_s;
};

static int by_time(const void *left, const void *right)
{
    const struct change *a = left;
    const struct change *b = right;
    return a->at_ns < b->at_ns ? -1 : a->at_ns > b->at_ns;
}

static int by_level(const void *left, const void *right)
{
    const struct held *a = left;
    const struct held *b = right;
    return a->level < b->level ? -1 : a->level > b->level;
}

static size_t list_changes(const struct wl_jobs *jobs, const struct wl_trace_facts *facts,
                           struct change *changes)
{
    size_t count = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        const struct wl_job *job = &jobs->jobs[i];
        if (!(wl_job_overlap_s(job, facts) > 0))
            continue;
        const int64_t start_ns = wl_job_start_ns(job);
        const double gpus = wl_job_gpus(job);
        const double cpus = wl_job_cpus(job);
        changes[count++] =
            (struct change){ start_ns > facts->from_ns ? start_ns : facts->from_ns, gpus, cpus, 1 };
        changes[count++] = (struct change){ start_ns + job->run_ns, -gpus, -cpus, -1 };
    }
    qsort(changes, count, sizeof *changes, by_time);
    return count;
}

static double amount(const struct change *change, int which)
{
    return which == 0 ? change->gpus : which == 1 ? change->cpus : change->jobs;
}

static double level_at(const struct held *held, size_t count, double below_s)
{
    double sum_s = 0;
    for (size_t i = 0; i < count; i++) {
        sum_s += held[i].length_s;
        if (sum_s >= below_s)
            return held[i].level;
    }
    return count == 0 ? 0 : held[count - 1].level;
}

/* Changes at one instant count together: a job that ends makes room for one that starts. */
static struct wl_level level_of(const struct change *changes, size_t count, int which,
                                const struct wl_trace_facts *facts, struct held *held)
{
    const double length_s = 1e-9 * (double)(facts->to_ns - facts->from_ns);
    double level = 0;
    double sum = 0;
    size_t held_count = 0;
    int64_t last_ns = facts->from_ns;
    for (size_t i = 0; i <= count; i++) {
        const bool is_over = i == count || changes[i].at_ns >= facts->to_ns;
        const int64_t at_ns = is_over ? facts->to_ns : changes[i].at_ns;
        const double held_s = 1e-9 * (double)(at_ns - last_ns);
        if (at_ns > last_ns) {
            held[held_count++] = (struct held){ level, held_s };
            sum += level * held_s;
        }
        last_ns = at_ns;
        if (is_over)
            break;
        level += amount(&changes[i], which);
    }
    qsort(held, held_count, sizeof *held, by_level);
    return (struct wl_level){ .mean = length_s > 0 ? sum / length_s : (double)NAN,
                              .p50 = level_at(held, held_count, 0.5 * length_s),
                              .p95 = level_at(held, held_count, 0.95 * length_s),
                              .max = held_count == 0 ? 0 : held[held_count - 1].level };
}

bool wl_facts_load(const struct wl_jobs *jobs, struct wl_trace_facts *facts)
{
    double *values = calloc(jobs->count + 1, sizeof *values);
    struct change *changes = calloc(2 * jobs->count + 1, sizeof *changes);
    struct held *held = calloc(2 * jobs->count + 2, sizeof *held);
    const bool has_room = values != NULL && changes != NULL && held != NULL;
    if (has_room) {
        for (size_t i = 0; i < jobs->count; i++) {
            facts->gpu_hours += run_s(&jobs->jobs[i]) * wl_job_gpus(&jobs->jobs[i]) / hour_s;
            facts->cpu_hours += run_s(&jobs->jobs[i]) * wl_job_cpus(&jobs->jobs[i]) / hour_s;
        }
        find_top(jobs, has_gpus(jobs), values, facts);
        find_times(jobs, values, facts);
        const size_t count = list_changes(jobs, facts, changes);
        facts->gpus_used = level_of(changes, count, 0, facts, held);
        facts->cpus_used = level_of(changes, count, 1, facts, held);
        facts->jobs_running = level_of(changes, count, 2, facts, held);
    }
    free(values);
    free(changes);
    free(held);
    return has_room;
}

/* ---- sizes ---- */

enum { CPU_ONLY, INSTANCE, SHARE, FIRST_POWER, SIZES = FIRST_POWER + 33 };

/* Class of a job: by GPUs, in powers of two, or that it asks for an instance of one; by CPUs when
 * no job has a GPU. */
static int size_of(const struct wl_job *job, bool is_of_gpus, uint64_t *parts)
{
    int power = 0;
    *parts = is_of_gpus ? job->gpus : (uint64_t)((job->cpu_milli + 999) / 1000);
    if (job->mig[0] != '\0')
        return INSTANCE;
    if (is_of_gpus && job->gpus == 0)
        return CPU_ONLY;
    if (is_of_gpus && job->gpus == 1 && job->gpu_milli < 1000)
        return SHARE;
    while (power < 32 && (UINT64_C(1) << power) < *parts)
        power++;
    return FIRST_POWER + power;
}

struct size_sum {
    size_t jobs, never_started;
    uint64_t least, most;
    double gpu_s, cpu_s, gpu_window_s, cpu_window_s;
};

static void add_to_size(const struct wl_job *job, const struct wl_trace_facts *facts,
                        uint64_t parts, struct size_sum *sum)
{
    const double overlap_s = wl_job_overlap_s(job, facts);
    sum->least = sum->jobs == 0 || parts < sum->least ? parts : sum->least;
    sum->most = parts > sum->most ? parts : sum->most;
    sum->jobs++;
    sum->never_started += job->end == WL_JOB_NEVER_STARTED ? 1 : 0;
    sum->gpu_s += run_s(job) * wl_job_gpus(job);
    sum->cpu_s += run_s(job) * wl_job_cpus(job);
    sum->gpu_window_s += overlap_s * wl_job_gpus(job);
    sum->cpu_window_s += overlap_s * wl_job_cpus(job);
}

static void label_size(int size, const struct size_sum *sum, bool is_of_gpus, char label[32])
{
    const char *unit = is_of_gpus ? "gpu" : "cpu";
    if (size == CPU_ONLY)
        (void)snprintf(label, 32, "cpu only");
    else if (size == INSTANCE)
        (void)snprintf(label, 32, "mig instance");
    else if (size == SHARE)
        (void)snprintf(label, 32, "share");
    else if (sum->least == sum->most)
        (void)snprintf(label, 32, "%llu %s", (unsigned long long)sum->most, unit);
    else
        (void)snprintf(label, 32, "%llu-%llu %s", (unsigned long long)sum->least,
                       (unsigned long long)sum->most, unit);
}

/* Medians of run time and wait of one class. */
static void find_medians(const struct wl_jobs *jobs, bool is_of_gpus, int size, double *values,
                         struct wl_size_facts *facts)
{
    for (int which = 0; which < 2; which++) {
        size_t count = 0;
        for (size_t i = 0; i < jobs->count; i++) {
            uint64_t parts = 0;
            const struct wl_job *job = &jobs->jobs[i];
            const int64_t time_ns = which == 0 ? job->run_ns : job->wait_ns;
            if (time_ns != WL_UNKNOWN && size_of(job, is_of_gpus, &parts) == size)
                values[count++] = 1e-9 * (double)time_ns;
        }
        *(which == 0 ? &facts->run_p50_s : &facts->wait_p50_s) = wl_quantiles_of(values, count).p50;
    }
}

bool wl_facts_sizes(const struct wl_jobs *jobs, struct wl_trace_facts *facts)
{
    struct size_sum sums[SIZES] = { 0 };
    const bool is_of_gpus = has_gpus(jobs);
    const double window_s = 1e-9 * (double)(facts->to_ns - facts->from_ns);
    double *values = calloc(jobs->count + 1, sizeof *values);
    facts->sizes = calloc(SIZES, sizeof *facts->sizes);
    if (values == NULL || facts->sizes == NULL) {
        free(values);
        return false;
    }
    for (size_t i = 0; i < jobs->count; i++) {
        uint64_t parts = 0;
        const int size = size_of(&jobs->jobs[i], is_of_gpus, &parts);
        add_to_size(&jobs->jobs[i], facts, parts, &sums[size]);
    }
    for (int size = 0; size < SIZES; size++) {
        const struct size_sum *sum = &sums[size];
        if (sum->jobs == 0)
            continue;
        struct wl_size_facts *one = &facts->sizes[facts->size_count++];
        label_size(size, sum, is_of_gpus, one->label);
        one->jobs = sum->jobs;
        one->never_started = sum->never_started;
        one->gpu_hours = sum->gpu_s / hour_s;
        one->cpu_hours = sum->cpu_s / hour_s;
        one->gpus_mean = window_s > 0 ? sum->gpu_window_s / window_s : (double)NAN;
        one->cpus_mean = window_s > 0 ? sum->cpu_window_s / window_s : (double)NAN;
        find_medians(jobs, is_of_gpus, size, values, one);
    }
    free(values);
    return true;
}

/* ---- models ---- */

static int by_models(const void *left, const void *right)
{
    const struct wl_job *const *a = left;
    const struct wl_job *const *b = right;
    const int order = strcmp((*a)->models, (*b)->models);
    return order != 0 ? order : (*a < *b ? -1 : *a > *b);
}

static uint64_t gpus_of(const struct wl_openb_nodes *nodes, const char *models)
{
    uint64_t gpus = 0;
    for (size_t n = 0; nodes != NULL && n < nodes->count; n++)
        gpus += wl_models_accept(models, nodes->nodes[n].model) ? nodes->nodes[n].gpus : 0;
    return gpus;
}

bool wl_facts_models(const struct wl_jobs *jobs, const struct wl_openb_nodes *nodes,
                     struct wl_trace_facts *facts)
{
    const double window_s = 1e-9 * (double)(facts->to_ns - facts->from_ns);
    const struct wl_job **sorted = calloc(jobs->count + 1, sizeof(const struct wl_job *));
    size_t count = 0;
    facts->models = calloc(jobs->count + 1, sizeof *facts->models);
    if (sorted == NULL || facts->models == NULL) {
        free(sorted);
        return false;
    }
    for (size_t i = 0; i < jobs->count; i++)
        if (jobs->jobs[i].gpus > 0)
            sorted[count++] = &jobs->jobs[i];
    qsort(sorted, count, sizeof(const struct wl_job *), by_models);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(sorted[i]->models, sorted[i - 1]->models) != 0)
            facts->models[facts->model_count++] =
                (struct wl_model_facts){ .models = sorted[i]->models,
                                         .gpus_there = gpus_of(nodes, sorted[i]->models) };
        struct wl_model_facts *one = &facts->models[facts->model_count - 1];
        one->jobs++;
        one->gpu_hours += run_s(sorted[i]) * wl_job_gpus(sorted[i]) / hour_s;
        one->gpus_mean +=
            window_s > 0 ? wl_job_overlap_s(sorted[i], facts) * wl_job_gpus(sorted[i]) / window_s
                         : 0;
    }
    free(sorted);
    return true;
}
