/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The Standard Workload Format of the Parallel Workloads Archive (Chapin et al. 1999, version 2.2):
 * 18 fields a job, -1 = not known, comments behind ";".
 *
 * Reading: a job takes the larger of the processors it asked for and those it got; what a processor
 * is (a CPU, a GPU) the format does not say, so wl_job.processors alone is set. The requested time
 * is the estimate, requested memory (else used memory) of a processor times the processors is the
 * memory. Status 1 = done, 0 = failed, 5 = cancelled; 5 without a run time = never started, and the
 * wait is the patience; 2, 3 and 4 are parts of jobs, of which 3 is done and 4 failed. Jobs without
 * a run time are kept as such. A run longer than its estimate is kept too: who builds a workload
 * kills the job there.
 */
#ifndef WORKLOADS_SWF_H
#define WORKLOADS_SWF_H

#include "workloads/trace.h"

#include <stdio.h>

enum { WL_SWF_FIELDS = 18 };

/* What no other format says; -1 = not known, as in the file. */
struct wl_swf_record {
    int64_t allocated, requested;    /* processors */
    int64_t used_kib, requested_kib; /* of memory, a processor */
    int64_t status, application, queue, partition;
    int64_t preceding; /* job that must end first */
    int64_t think_ns;  /* between its end and this submission; WL_UNKNOWN */
    double cpu_s;      /* of a processor, on average */
};

/* The format `swf` of trace.h. */
weir_status wl_swf_read(const struct wl_trace_options *options, struct wl_jobs *jobs,
                        struct weir_error *error);
bool wl_swf_is_this(const struct wl_trace_head *head);

struct wl_swf_options {
    enum wl_processor processor; /* of jobs that say more than a number of processors */
    int64_t machine_processors;  /* 0 = as the trace says, else the largest job's */
    bool has_whole_seconds;      /* round times: some readers know no fractions */
    const char *note;            /* one line: where this comes from */
};

/* What the format could not hold. */
struct wl_swf_losses {
    size_t without_submit;    /* left out */
    size_t without_processor; /* left out: no GPU, or no CPU */
    size_t rounded_up;        /* a part of a processor became a whole one */
    size_t fractions;      /* jobs with times that are no whole seconds: rounded, or written so */
    size_t without_models; /* GPU models are lost */
};

/* Jobs in the order of submission, times exact unless whole seconds are asked for. Jobs that came
 * from SWF go out as they came, the head of the file included; others are numbered from 1, users
 * and groups by the order of their names. */
weir_status wl_swf_write(const struct wl_jobs *jobs, const struct wl_swf_options *options,
                         FILE *out, struct wl_swf_losses *losses, struct weir_error *error);

#endif
