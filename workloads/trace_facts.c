/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The facts of a trace, part by part; see the header. */
#include "workloads/facts_parts.h"

#include "workloads/job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

double wl_job_gpus(const struct wl_job *job)
{
    return (double)job->gpus * (double)job->gpu_milli / 1000.0;
}

double wl_job_cpus(const struct wl_job *job)
{
    return (double)job->cpu_milli / 1000.0;
}

int64_t wl_job_start_ns(const struct wl_job *job)
{
    if (job->submit_ns == WL_UNKNOWN)
        return WL_UNKNOWN;
    return job->submit_ns + (job->wait_ns == WL_UNKNOWN ? 0 : job->wait_ns);
}

int64_t wl_job_end_ns(const struct wl_job *job)
{
    const int64_t start_ns = wl_job_start_ns(job);
    if (job->end == WL_JOB_NEVER_STARTED)
        return job->submit_ns == WL_UNKNOWN || job->patience_ns == WL_UNKNOWN
                   ? WL_UNKNOWN
                   : job->submit_ns + job->patience_ns;
    return start_ns == WL_UNKNOWN || job->run_ns == WL_UNKNOWN ? WL_UNKNOWN
                                                               : start_ns + job->run_ns;
}

double wl_job_overlap_s(const struct wl_job *job, const struct wl_trace_facts *facts)
{
    const int64_t start_ns = wl_job_start_ns(job);
    if (start_ns == WL_UNKNOWN || job->run_ns == WL_UNKNOWN)
        return 0;
    const int64_t end_ns = start_ns + job->run_ns;
    const int64_t from_ns = start_ns > facts->from_ns ? start_ns : facts->from_ns;
    const int64_t to_ns = end_ns < facts->to_ns ? end_ns : facts->to_ns;
    return to_ns > from_ns ? 1e-9 * (double)(to_ns - from_ns) : 0;
}

bool wl_models_accept(const char *models, const char *model)
{
    const size_t length = strlen(model);
    if (models[0] == '\0')
        return true;
    for (const char *at = models; *at != '\0'; at += strcspn(at, "|"), at += *at == '|' ? 1 : 0)
        if (strcspn(at, "|") == length && strncasecmp(at, model, length) == 0)
            return true;
    return false;
}

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* Linear between order statistics (type 7 of Hyndman and Fan, 1996). */
static double quantile(const double *sorted, size_t count, double p)
{
    const double at = p * (double)(count - 1);
    const size_t low = (size_t)at;
    const double above = low + 1 < count ? sorted[low + 1] : sorted[low];
    return sorted[low] + (at - (double)low) * (above - sorted[low]);
}

struct wl_quantiles wl_quantiles_of(double *values, size_t count)
{
    const double none = (double)NAN;
    double sum = 0;
    if (count == 0)
        return (struct wl_quantiles){ 0, none, none, none, none, none, none, none };
    qsort(values, count, sizeof *values, compare_doubles);
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return (struct wl_quantiles){ .count = count,
                                  .mean = sum / (double)count,
                                  .p50 = quantile(values, count, 0.5),
                                  .p75 = quantile(values, count, 0.75),
                                  .p90 = quantile(values, count, 0.9),
                                  .p95 = quantile(values, count, 0.95),
                                  .p99 = quantile(values, count, 0.99),
                                  .max = values[count - 1] };
}

weir_status wl_trace_facts_find(const struct wl_jobs *jobs, const struct wl_openb_nodes *nodes,
                                struct wl_trace_facts *facts, struct weir_error *error)
{
    struct wl_trace_facts found = { .jobs = jobs->count,
                                    .first_submit_ns = WL_UNKNOWN,
                                    .last_submit_ns = WL_UNKNOWN,
                                    .last_seen_ns = WL_UNKNOWN };
    bool is_done = wl_facts_rows(jobs, &found);
    wl_facts_window(jobs, &found);
    is_done = is_done && wl_facts_arrivals(jobs, &found) && wl_facts_load(jobs, &found) &&
              wl_facts_sizes(jobs, &found) && wl_facts_models(jobs, nodes, &found) &&
              (nodes == NULL || wl_facts_fit(jobs, nodes, &found));
    if (!is_done) {
        wl_trace_facts_clear(&found);
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    }
    *facts = found;
    return WEIR_OK;
}

void wl_trace_facts_clear(struct wl_trace_facts *facts)
{
    free(facts->hours);
    free(facts->sizes);
    free(facts->models);
    *facts = (struct wl_trace_facts){ .jobs = 0 };
}
