/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The window of a trace, and how jobs arrive in it; see trace_facts.h for what it means. */
#include "workloads/facts_parts.h"

#include <math.h>
#include <stdlib.h>

#define NS_PER_HOUR INT64_C(3600000000000)

enum { FEW = 100 };

static void note_span(const struct wl_jobs *jobs, struct wl_trace_facts *facts,
                      int64_t *first_end_ns)
{
    for (size_t i = 0; i < jobs->count; i++) {
        const struct wl_job *job = &jobs->jobs[i];
        const int64_t end_ns = wl_job_end_ns(job);
        if (job->submit_ns == WL_UNKNOWN)
            continue;
        if (facts->first_submit_ns == WL_UNKNOWN || job->submit_ns < facts->first_submit_ns)
            facts->first_submit_ns = job->submit_ns;
        if (job->submit_ns > facts->last_submit_ns)
            facts->last_submit_ns = job->submit_ns;
        if (job->submit_ns > facts->last_seen_ns)
            facts->last_seen_ns = job->submit_ns;
        if (end_ns > facts->last_seen_ns)
            facts->last_seen_ns = end_ns;
        if (end_ns != WL_UNKNOWN && end_ns < *first_end_ns)
            *first_end_ns = end_ns;
    }
}

static size_t count_before(const struct wl_jobs *jobs, int64_t moment_ns)
{
    size_t count = 0;
    for (size_t i = 0; i < jobs->count; i++)
        count += jobs->jobs[i].submit_ns != WL_UNKNOWN && jobs->jobs[i].submit_ns < moment_ns;
    return count;
}

/* Whether what ended before `first_end_ns` was not recorded. */
static bool is_truncated(const struct wl_jobs *jobs, const struct wl_trace_facts *facts,
                         int64_t first_end_ns)
{
    if (first_end_ns == INT64_MAX || first_end_ns >= facts->last_submit_ns || jobs->count < FEW)
        return false;
    const double before = (double)(first_end_ns - facts->first_submit_ns);
    const double after = (double)(facts->last_submit_ns - first_end_ns);
    const double jobs_before = (double)count_before(jobs, first_end_ns);
    const double jobs_after = (double)(jobs->count - facts->without_submit) - jobs_before;
    return before > 0.1 * (before + after) && jobs_before * after < 0.1 * jobs_after * before;
}

void wl_facts_window(const struct wl_jobs *jobs, struct wl_trace_facts *facts)
{
    int64_t first_end_ns = INT64_MAX;
    note_span(jobs, facts, &first_end_ns);
    if (facts->first_submit_ns == WL_UNKNOWN)
        return;
    facts->is_truncated = is_truncated(jobs, facts, first_end_ns);
    facts->from_ns = facts->is_truncated ? first_end_ns : facts->first_submit_ns;
    facts->to_ns = facts->censored > 0 ? facts->last_seen_ns : facts->last_submit_ns;
    if (facts->to_ns == facts->from_ns) /* all at once */
        facts->to_ns = facts->last_seen_ns;
    facts->before_window = count_before(jobs, facts->from_ns);
}

/* ---- arrivals ---- */

static int compare_times(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left;
    const int64_t b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* Standard deviation over mean of the gaps. */
static double gap_cv(const int64_t *times_ns, size_t count)
{
    double sum = 0;
    double squares = 0;
    if (count < 3)
        return (double)NAN;
    const double mean = 1e-9 * (double)(times_ns[count - 1] - times_ns[0]) / (double)(count - 1);
    for (size_t i = 1; i < count; i++) {
        const double gap_s = 1e-9 * (double)(times_ns[i] - times_ns[i - 1]);
        sum += gap_s - mean;
        squares += (gap_s - mean) * (gap_s - mean);
    }
    const double n = (double)(count - 1);
    return sqrt((squares - sum * sum / n) / (n - 1)) / mean;
}

static void judge_hours(struct wl_trace_facts *facts)
{
    double sum = 0;
    double squares = 0;
    size_t empty = 0;
    for (size_t h = 0; h < facts->hour_count; h++) {
        const double count = (double)facts->hours[h];
        sum += count;
        squares += count * count;
        empty += facts->hours[h] == 0 ? 1 : 0;
        if (facts->hours[h] > facts->busiest_hour)
            facts->busiest_hour = facts->hours[h];
    }
    const double n = (double)facts->hour_count;
    facts->dispersion =
        n > 1 && sum > 0 ? (squares - sum * sum / n) / (n - 1) / (sum / n) : (double)NAN;
    facts->empty_hours_frac = n > 0 ? (double)empty / n : (double)NAN;
}

bool wl_facts_arrivals(const struct wl_jobs *jobs, struct wl_trace_facts *facts)
{
    const int64_t length_ns = facts->to_ns - facts->from_ns;
    int64_t *times_ns = calloc(jobs->count + 1, sizeof *times_ns);
    facts->hour_count = (size_t)(length_ns / NS_PER_HOUR);
    facts->hours = calloc(facts->hour_count + 1, sizeof *facts->hours);
    for (size_t i = 0; i < jobs->count && times_ns != NULL && facts->hours != NULL; i++) {
        const int64_t submit_ns = jobs->jobs[i].submit_ns;
        if (submit_ns == WL_UNKNOWN || submit_ns < facts->from_ns || submit_ns > facts->to_ns)
            continue;
        const size_t hour = (size_t)((submit_ns - facts->from_ns) / NS_PER_HOUR);
        times_ns[facts->arrivals++] = submit_ns;
        facts->hours[hour < facts->hour_count ? hour : facts->hour_count]++;
    }
    if (times_ns != NULL) {
        qsort(times_ns, facts->arrivals, sizeof *times_ns, compare_times);
        facts->gap_cv = gap_cv(times_ns, facts->arrivals);
    }
    facts->per_hour = length_ns > 0
                          ? (double)facts->arrivals / ((double)length_ns / (double)NS_PER_HOUR)
                          : (double)NAN;
    const bool has_room = times_ns != NULL && facts->hours != NULL;
    if (has_room)
        judge_hours(facts);
    free(times_ns);
    return has_room;
}
