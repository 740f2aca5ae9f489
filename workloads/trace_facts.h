/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is in a trace, before anybody simulates it: what it asks for and when, and what is wrong
 * with it.
 *
 * The window is the time in which the trace shows everything. It begins with the first submission,
 * unless jobs are recorded only from some later moment on (left truncation): then with the first
 * departure, and the jobs submitted before are those that were still there. Truncation is assumed
 * of traces with at least 100 jobs when the first departure comes later than a tenth of the span
 * and fewer than a tenth as many jobs an hour were submitted before it as after. The window ends
 * with the last submission, or, when the end of the observation cuts jobs off, there.
 *
 * Load is demand over time within the window: a job asks from its start (submission + wait; its
 * submission where the wait is unknown) until it ends. Jobs without a run time ask for nothing.
 */
#ifndef WORKLOADS_TRACE_FACTS_H
#define WORKLOADS_TRACE_FACTS_H

#include "workloads/openb.h"

struct wl_quantiles {
    size_t count;
    double mean, p50, p75, p90, p95, p99, max; /* NAN without values */
};

/* Time-weighted, within the window. */
struct wl_level {
    double mean, p50, p95, max;
};

struct wl_size_facts {
    char label[32]; /* "cpu only", "mig instance", "share", "1 gpu", "3-4 gpu" */
    size_t jobs, never_started;
    double gpu_hours, cpu_hours;
    double gpus_mean, cpus_mean; /* in the window */
    double run_p50_s, wait_p50_s;
};

struct wl_model_facts {
    const char *models; /* as the trace writes them; "" = any */
    size_t jobs;
    double gpu_hours, gpus_mean;
    uint64_t gpus_there; /* of these models; 0 when no nodes are known */
};

/* Why jobs can never run, the first reason that holds. */
struct wl_never_fits {
    size_t model;   /* none of its models is there */
    size_t gpus;    /* more GPUs than any node has */
    size_t cpus;    /* more CPUs than any node that has the GPUs */
    size_t memory;  /* more memory than any node that has the rest */
    size_t cluster; /* of these: more GPUs, CPUs or memory than the whole cluster */
};

struct wl_trace_facts {
    size_t jobs;
    int64_t first_submit_ns, last_submit_ns, last_seen_ns; /* WL_UNKNOWN without times */
    int64_t from_ns, to_ns;                                /* the window */
    bool is_truncated;
    size_t before_window; /* submitted before it */

    size_t censored, never_started, failed, cancelled;
    size_t without_submit, without_run, without_wait, without_request;
    size_t zero_run, above_estimate, unsorted;
    size_t duplicate_rows, duplicate_names; /* beyond the first of each */

    size_t arrivals; /* submitted in the window */
    double per_hour, dispersion, gap_cv, empty_hours_frac;
    size_t busiest_hour;
    uint32_t *hours; /* submissions of each full hour of the window */
    size_t hour_count;

    double gpu_hours, cpu_hours;
    double
        top_percent_frac; /* of the GPU-hours (CPU-hours without GPUs): the largest 1 % of jobs */
    size_t week_jobs;     /* that ran longer than 7 days */
    double week_frac;     /* of the GPU-hours */
    struct wl_quantiles run, wait;
    struct wl_level gpus_used, cpus_used, jobs_running;

    struct wl_size_facts *sizes;
    size_t size_count;
    struct wl_model_facts *models;
    size_t model_count;

    bool has_nodes;
    uint64_t nodes_there, gpus_there;
    double cpus_there, memory_there_gib;
    struct wl_never_fits never;
};

/* `nodes` may be NULL. The facts borrow texts of the jobs. WEIR_ENOMEM alone. */
weir_status wl_trace_facts_find(const struct wl_jobs *jobs, const struct wl_openb_nodes *nodes,
                                struct wl_trace_facts *facts, struct weir_error *error);
void wl_trace_facts_clear(struct wl_trace_facts *facts);

#endif
