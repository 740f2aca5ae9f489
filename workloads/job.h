/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs as traces give them: one record whatever the format, amounts and times exact.
 *
 * Times count from the trace's own zero. What a trace does not say is WL_UNKNOWN (times) or the
 * empty text; what it says is kept as it is, faults of the trace included: whoever builds a
 * workload from it decides what a job without a run time means.
 */
#ifndef WORKLOADS_JOB_H
#define WORKLOADS_JOB_H

#include "weir/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WL_UNKNOWN      INT64_MIN
/* 90 years: no reader lets a longer time through, so that three of them can be added. */
#define WL_TIME_MOST_NS (INT64_C(90) * 366 * 86400 * 1000000000)

/* How the job ended in the trace. */
enum wl_job_end {
    WL_JOB_END_UNKNOWN,
    WL_JOB_DONE,
    WL_JOB_FAILED,
    WL_JOB_CANCELLED,
    WL_JOB_NEVER_STARTED, /* left while it waited */
    WL_JOB_RUNNING        /* still ran when the trace ends: its run time is censored */
};

struct wl_job {
    char *name;   /* never NULL */
    char *models; /* accepted GPU models as written ("A|B"); "" = any */
    char *user;   /* "" = not said */
    char *group;  /* tenant, virtual cluster */
    char *mig;    /* a MIG instance by its profile, and then gpus is 0; "" = none */
    char *model;  /* what it trains, the name of a profile (profiles.h) */
    int64_t submit_ns;
    int64_t wait_ns; /* from submission to start, as the trace's own scheduler did it */
    int64_t run_ns;
    int64_t estimate_ns; /* what the user said it would run */
    int64_t patience_ns; /* leaves when it waited so long; WL_UNKNOWN = waits for ever */
    int64_t cpu_milli;   /* of the whole job, as are all amounts but gpu_milli */
    int64_t memory_bytes;
    int64_t gpu_memory_bytes; /* of each GPU */
    uint32_t gpus;
    uint32_t gpu_milli;  /* of each GPU; 1000 = whole */
    uint32_t processors; /* of formats that count processors and say no more; else 0 */
    int32_t priority;
    uint32_t end;  /* enum wl_job_end */
    uint32_t line; /* in the file */
};

struct wl_job_texts;
struct wl_swf_record;

/* In the order of the file. A zeroed one is empty; all texts of the jobs belong to it. */
struct wl_jobs {
    struct wl_job *jobs;
    size_t count;
    size_t skipped;              /* bad rows that were left out */
    char *messages[3];           /* of the first of them; NULL = fewer */
    bool has_names;              /* the file names its jobs; else they are called job-ROW */
    int64_t zero_unix_ns;        /* the trace's zero as a date; WL_UNKNOWN */
    uint32_t machine_processors; /* of the machine, as the file says; 0 = not said */
    char *comments;              /* of the head of an SWF file, as written; "" or NULL = none */
    struct wl_swf_record *swf;   /* what only SWF says, one a job; NULL = not from SWF */
    struct wl_job_texts *texts;
};

/* What a bad row does. */
enum wl_bad_row { WL_BAD_ROW_FAILS, WL_BAD_ROW_IS_SKIPPED };

void wl_jobs_clear(struct wl_jobs *jobs);

/* What one processor is, of a job of which nothing more is known; other jobs stay as they are. */
enum wl_processor { WL_PROCESSOR_CPU, WL_PROCESSOR_GPU };
void wl_job_take_processors(struct wl_job *job, enum wl_processor processor);

/* ---- for readers ---- */

/* A job of which nothing is known but its line: unknown times, empty texts, no amounts. */
struct wl_job wl_job_unknown(size_t line);
/* Appends a job; its texts must live as long as the jobs do (wl_jobs_text). */
weir_status wl_jobs_add(struct wl_jobs *jobs, const struct wl_job *job, struct weir_error *error);
/* A copy of `length` bytes that lives as long as the jobs; NULL = out of memory. */
char *wl_jobs_text(struct wl_jobs *jobs, const char *text, size_t length);
/* Counts a bad row that is left out and keeps the first messages. */
weir_status wl_jobs_skip(struct wl_jobs *jobs, const char *message, struct weir_error *error);
/* The name of a job whose file has none: "job-N", N = how many there are already. */
char *wl_jobs_next_name(struct wl_jobs *jobs);

#endif
