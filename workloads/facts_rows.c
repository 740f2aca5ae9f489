/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is wrong with the rows of a trace: missing, twice there, out of order. */
#include "workloads/facts_parts.h"

#include <stdlib.h>
#include <string.h>

static void count_ends(const struct wl_job *job, struct wl_trace_facts *facts)
{
    facts->censored += job->end == WL_JOB_RUNNING ? 1 : 0;
    facts->never_started += job->end == WL_JOB_NEVER_STARTED ? 1 : 0;
    facts->failed += job->end == WL_JOB_FAILED ? 1 : 0;
    facts->cancelled += job->end == WL_JOB_CANCELLED ? 1 : 0;
}

static void count_gaps(const struct wl_job *job, struct wl_trace_facts *facts)
{
    const bool has_left = job->end == WL_JOB_NEVER_STARTED;
    facts->without_submit += job->submit_ns == WL_UNKNOWN ? 1 : 0;
    facts->without_run += job->run_ns == WL_UNKNOWN && !has_left ? 1 : 0;
    facts->without_wait += job->wait_ns == WL_UNKNOWN && !has_left ? 1 : 0;
    facts->without_request += job->gpus == 0 && job->cpu_milli == 0 && job->processors == 0 ? 1 : 0;
    facts->zero_run += job->run_ns == 0 ? 1 : 0;
    facts->above_estimate += job->run_ns != WL_UNKNOWN && job->estimate_ns != WL_UNKNOWN &&
                                     job->run_ns > job->estimate_ns
                                 ? 1
                                 : 0;
}

static int compare_whole(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_amounts(const struct wl_job *a, const struct wl_job *b)
{
    const int64_t left[] = { a->submit_ns,   a->wait_ns,      a->run_ns,
                             a->estimate_ns, a->patience_ns,  a->cpu_milli,
                             a->gpus,        a->memory_bytes, a->gpu_memory_bytes,
                             a->gpu_milli,   a->processors,   a->priority,
                             a->end };
    const int64_t right[] = { b->submit_ns,   b->wait_ns,      b->run_ns,
                              b->estimate_ns, b->patience_ns,  b->cpu_milli,
                              b->gpus,        b->memory_bytes, b->gpu_memory_bytes,
                              b->gpu_milli,   b->processors,   b->priority,
                              b->end };
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        if (left[i] != right[i])
            return compare_whole(left[i], right[i]);
    return 0;
}

/* 0 = equal in everything but the name. */
static int compare_rows(const struct wl_job *a, const struct wl_job *b)
{
    int order = compare_amounts(a, b);
    order = order != 0 ? order : strcmp(a->user, b->user);
    order = order != 0 ? order : strcmp(a->group, b->group);
    order = order != 0 ? order : strcmp(a->mig, b->mig);
    order = order != 0 ? order : strcmp(a->model, b->model);
    return order != 0 ? order : strcmp(a->models, b->models);
}

static int by_row(const void *left, const void *right)
{
    const struct wl_job *const *a = left;
    const struct wl_job *const *b = right;
    const int order = compare_rows(*a, *b);
    return order != 0 ? order : compare_whole((*a)->line, (*b)->line);
}

static int by_name(const void *left, const void *right)
{
    const struct wl_job *const *a = left;
    const struct wl_job *const *b = right;
    const int order = strcmp((*a)->name, (*b)->name);
    return order != 0 ? order : by_row(left, right);
}

/* Names are only compared where the file has them. */
static bool count_duplicates(const struct wl_jobs *jobs, struct wl_trace_facts *facts)
{
    const struct wl_job **sorted = calloc(jobs->count + 1, sizeof(const struct wl_job *));
    if (sorted == NULL)
        return false;
    for (size_t i = 0; i < jobs->count; i++)
        sorted[i] = &jobs->jobs[i];
    qsort(sorted, jobs->count, sizeof(const struct wl_job *), jobs->has_names ? by_name : by_row);
    for (size_t i = 1; i < jobs->count; i++) {
        const bool is_name = jobs->has_names && strcmp(sorted[i]->name, sorted[i - 1]->name) == 0;
        const bool is_row = compare_rows(sorted[i], sorted[i - 1]) == 0;
        facts->duplicate_names += is_name ? 1 : 0;
        facts->duplicate_rows += is_row && (is_name || !jobs->has_names) ? 1 : 0;
    }
    free(sorted);
    return true;
}

bool wl_facts_rows(const struct wl_jobs *jobs, struct wl_trace_facts *facts)
{
    int64_t before_ns = INT64_MIN;
    for (size_t i = 0; i < jobs->count; i++) {
        const struct wl_job *job = &jobs->jobs[i];
        count_ends(job, facts);
        count_gaps(job, facts);
        if (job->submit_ns == WL_UNKNOWN)
            continue;
        facts->unsorted += job->submit_ns < before_ns ? 1 : 0;
        before_ns = job->submit_ns;
    }
    return count_duplicates(jobs, facts);
}
