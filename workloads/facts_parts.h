/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The parts of trace_facts.h, one file each, in the order in which they are found.
 */
#ifndef WORKLOADS_FACTS_PARTS_H
#define WORKLOADS_FACTS_PARTS_H

#include "workloads/trace_facts.h"

/* facts_rows.c: what is missing, twice there, out of order. */
bool wl_facts_rows(const struct wl_jobs *jobs, struct wl_trace_facts *facts);
/* facts_window.c: the window and the arrivals in it. */
void wl_facts_window(const struct wl_jobs *jobs, struct wl_trace_facts *facts);
bool wl_facts_arrivals(const struct wl_jobs *jobs, struct wl_trace_facts *facts);
/* facts_load.c: demand over time, its sum by size and model. */
bool wl_facts_load(const struct wl_jobs *jobs, struct wl_trace_facts *facts);
bool wl_facts_sizes(const struct wl_jobs *jobs, struct wl_trace_facts *facts);
bool wl_facts_models(const struct wl_jobs *jobs, const struct wl_openb_nodes *nodes,
                     struct wl_trace_facts *facts);
/* facts_fit.c: what can never run on these nodes. */
bool wl_facts_fit(const struct wl_jobs *jobs, const struct wl_openb_nodes *nodes,
                  struct wl_trace_facts *facts);

/* ---- small things that the parts share ---- */

/* The GPUs and CPUs of the whole job. */
double wl_job_gpus(const struct wl_job *job);
double wl_job_cpus(const struct wl_job *job);
/* WL_UNKNOWN when nothing says when it started, or ended (left, when it never started). */
int64_t wl_job_start_ns(const struct wl_job *job);
int64_t wl_job_end_ns(const struct wl_job *job);
/* Seconds of the job's run that lie in the window. */
double wl_job_overlap_s(const struct wl_job *job, const struct wl_trace_facts *facts);
/* Whether "A|B" names the model, case aside; "" names all. */
bool wl_models_accept(const char *models, const char *model);
/* Sorts the values. */
struct wl_quantiles wl_quantiles_of(double *values, size_t count);

#endif
