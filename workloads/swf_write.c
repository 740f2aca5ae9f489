/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writing SWF; see swf.h. */
#include "workloads/swf.h"

#include "sim/engine/number.h"
#include "workloads/jobs_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)

enum { MILLI = 1000, TIME_TEXT = WL_SECONDS_TEXT };

/* The distinct texts of users or groups, in the order of strcmp. */
struct names {
    const char **names;
    size_t count;
    bool are_numbers; /* all of them: they stay what they are */
};

struct writing {
    const struct wl_jobs *jobs;
    const struct wl_swf_options *options;
    struct wl_swf_losses *losses;
    const struct wl_job **order; /* by submission, then as in the file */
    size_t count;
    struct names users, groups;
    FILE *out;
};

/* ---- names ---- */

static int compare_texts(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static bool is_number(const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    return digits > 0 && digits < 10 && text[digits] == '\0' && (digits == 1 || text[0] != '0');
}

static bool collect(const struct wl_jobs *jobs, bool is_of_users, struct names *names)
{
    size_t kept = 0;
    names->names = calloc(jobs->count + 1, sizeof *names->names);
    if (names->names == NULL)
        return false;
    for (size_t i = 0; i < jobs->count; i++)
        names->names[i] = is_of_users ? jobs->jobs[i].user : jobs->jobs[i].group;
    qsort(names->names, jobs->count, sizeof *names->names, compare_texts);
    names->are_numbers = true;
    for (size_t i = 0; i < jobs->count; i++) {
        const char *name = names->names[i];
        if (name[0] == '\0' || (kept > 0 && strcmp(name, names->names[kept - 1]) == 0))
            continue;
        names->are_numbers = names->are_numbers && is_number(name);
        names->names[kept++] = name;
    }
    names->count = kept;
    return true;
}

static int64_t number_of(const struct names *names, const char *name)
{
    if (name[0] == '\0')
        return -1;
    if (names->are_numbers)
        return strtoll(name, NULL, 10);
    const char *const *found =
        bsearch(&name, names->names, names->count, sizeof *names->names, compare_texts);
    return found == NULL ? -1 : (int64_t)(found - (const char *const *)names->names) + 1;
}

/* ---- one job ---- */

static int64_t processors_of(const struct writing *writing, const struct wl_job *job,
                             bool *is_rounded)
{
    *is_rounded = false;
    if (job->processors > 0)
        return job->processors;
    if (writing->options->processor == WL_PROCESSOR_GPU) {
        *is_rounded = job->gpus > 0 && job->gpu_milli > 0 && job->gpu_milli < MILLI;
        return job->gpus;
    }
    *is_rounded = job->cpu_milli % MILLI != 0;
    return (job->cpu_milli + MILLI - 1) / MILLI;
}

/* Seconds, exact or to the nearest; -1 = not known. */
static const char *seconds_of(const struct writing *writing, int64_t time_ns, bool *is_fraction,
                              char text[TIME_TEXT])
{
    if (time_ns == WL_UNKNOWN || time_ns < 0)
        return "-1";
    const int64_t rest_ns = time_ns % NS_PER_S;
    *is_fraction = *is_fraction || rest_ns != 0;
    if (rest_ns == 0 || writing->options->has_whole_seconds) {
        (void)snprintf(text, TIME_TEXT, "%" PRId64,
                       time_ns / NS_PER_S + (rest_ns >= NS_PER_S / 2 ? 1 : 0));
        return text;
    }
    return wl_seconds_text(time_ns, text);
}

static int64_t status_of(enum wl_job_end end)
{
    switch (end) {
    case WL_JOB_DONE:
        return 1;
    case WL_JOB_FAILED:
        return 0;
    case WL_JOB_CANCELLED:
    case WL_JOB_NEVER_STARTED:
        return 5;
    case WL_JOB_END_UNKNOWN:
    case WL_JOB_RUNNING:
        return -1;
    }
    return -1;
}

/* What SWF says of a job that came from elsewhere. */
static struct wl_swf_record record_of(const struct wl_job *job, int64_t processors)
{
    const bool has_run = job->run_ns != WL_UNKNOWN;
    return (struct wl_swf_record){ .allocated = has_run ? processors : -1,
                                   .requested = processors,
                                   .used_kib = -1,
                                   .requested_kib = job->memory_bytes > 0 && processors > 0
                                                        ? job->memory_bytes / 1024 / processors
                                                        : -1,
                                   .status = status_of((enum wl_job_end)job->end),
                                   .application = -1,
                                   .queue = -1,
                                   .partition = -1,
                                   .preceding = -1,
                                   .think_ns = WL_UNKNOWN,
                                   .cpu_s = -1.0 };
}

struct times {
    char texts[5][TIME_TEXT];
    const char *submit, *wait, *run, *estimate, *think;
};

static bool write_times(const struct writing *writing, const struct wl_job *job,
                        const struct wl_swf_record *record, struct times *times)
{
    bool is_fraction = false;
    const bool has_left = job->end == WL_JOB_NEVER_STARTED;
    const int64_t wait_ns = has_left ? job->patience_ns : job->wait_ns;
    times->submit = seconds_of(writing, job->submit_ns, &is_fraction, times->texts[0]);
    times->wait = seconds_of(writing, wait_ns, &is_fraction, times->texts[1]);
    times->run = seconds_of(writing, job->run_ns, &is_fraction, times->texts[2]);
    times->estimate = seconds_of(writing, job->estimate_ns, &is_fraction, times->texts[3]);
    times->think = seconds_of(writing, record->think_ns, &is_fraction, times->texts[4]);
    return is_fraction;
}

static void write_job(const struct writing *writing, const struct wl_job *job, size_t number)
{
    bool is_part = false;
    char cpu_s[SIM_NUMBER_TEXT];
    char name[24];
    struct times times;
    const struct wl_swf_record *kept =
        writing->jobs->swf == NULL ? NULL : &writing->jobs->swf[job - writing->jobs->jobs];
    const int64_t processors = processors_of(writing, job, &is_part);
    const struct wl_swf_record record = kept != NULL ? *kept : record_of(job, processors);
    const bool is_fraction = write_times(writing, job, &record, &times);
    (void)snprintf(name, sizeof name, "%zu", number);
    (void)fprintf(writing->out, "%s %s %s %s %" PRId64 " %s %" PRId64 " %" PRId64 " %s %" PRId64,
                  kept != NULL && is_number(job->name) ? job->name : name, times.submit, times.wait,
                  times.run, record.allocated, sim_number_text(record.cpu_s, cpu_s),
                  record.used_kib, record.requested, times.estimate, record.requested_kib);
    (void)fprintf(writing->out,
                  " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
                  " %" PRId64 " %s\n",
                  record.status, number_of(&writing->users, job->user),
                  number_of(&writing->groups, job->group), record.application, record.queue,
                  record.partition, record.preceding, times.think);
    writing->losses->fractions += is_fraction ? 1 : 0;
    writing->losses->rounded_up += is_part ? 1 : 0;
    writing->losses->without_models += job->models[0] != '\0' ? 1 : 0;
}

/* ---- the file ---- */

static int compare_submissions(const void *left, const void *right)
{
    const struct wl_job *a = *(const struct wl_job *const *)left;
    const struct wl_job *b = *(const struct wl_job *const *)right;
    if (a->submit_ns != b->submit_ns)
        return a->submit_ns < b->submit_ns ? -1 : 1;
    return a < b ? -1 : 1;
}

/* The jobs that the format can hold, by submission. */
static void choose_jobs(struct writing *writing)
{
    for (size_t i = 0; i < writing->jobs->count; i++) {
        const struct wl_job *job = &writing->jobs->jobs[i];
        bool is_part = false;
        const bool has_processors =
            writing->jobs->swf != NULL || processors_of(writing, job, &is_part) > 0;
        if (job->submit_ns == WL_UNKNOWN || job->submit_ns < 0)
            writing->losses->without_submit++;
        else if (!has_processors)
            writing->losses->without_processor++;
        else
            writing->order[writing->count++] = job;
    }
    qsort(writing->order, writing->count, sizeof(const struct wl_job *), compare_submissions);
}

static void write_head(const struct writing *writing)
{
    const struct wl_jobs *jobs = writing->jobs;
    const bool has_head = jobs->comments != NULL && jobs->comments[0] != '\0';
    int64_t machine = writing->options->machine_processors;
    int64_t largest = 0;
    for (size_t i = 0; i < writing->count; i++) {
        bool is_part = false;
        const int64_t processors = processors_of(writing, writing->order[i], &is_part);
        largest = processors > largest ? processors : largest;
    }
    if (has_head) {
        (void)fputs(jobs->comments, writing->out);
        if (jobs->comments[strlen(jobs->comments) - 1] != '\n')
            (void)fputc('\n', writing->out);
    } else {
        (void)fprintf(writing->out, "; Version: 2.2\n; MaxJobs: %zu\n; MaxRecords: %zu\n",
                      writing->count, writing->count);
        if (jobs->zero_unix_ns != WL_UNKNOWN)
            (void)fprintf(writing->out, "; UnixStartTime: %" PRId64 "\n",
                          jobs->zero_unix_ns / NS_PER_S);
    }
    if (machine == 0)
        machine = jobs->machine_processors;
    if (!has_head || writing->options->machine_processors > 0)
        (void)fprintf(writing->out, "; MaxProcs: %" PRId64 "\n", machine > 0 ? machine : largest);
    if (!has_head && machine == 0)
        (void)fputs("; Note: the trace does not say how large the machine is; MaxProcs is its "
                    "largest job\n",
                    writing->out);
    (void)fprintf(writing->out, "; Note: %s\n", writing->options->note);
}

weir_status wl_swf_write(const struct wl_jobs *jobs, const struct wl_swf_options *options,
                         FILE *out, struct wl_swf_losses *losses, struct weir_error *error)
{
    struct writing writing = { .jobs = jobs, .options = options, .losses = losses, .out = out };
    weir_status status = WEIR_OK;
    *losses = (struct wl_swf_losses){ 0 };
    writing.order = calloc(jobs->count + 1, sizeof(const struct wl_job *));
    const bool has_room = writing.order != NULL && collect(jobs, true, &writing.users) &&
                          collect(jobs, false, &writing.groups);
    if (!has_room) {
        status = weir_fail(error, WEIR_ENOMEM, "out of memory");
    } else {
        choose_jobs(&writing);
        write_head(&writing);
        for (size_t i = 0; i < writing.count; i++)
            write_job(&writing, writing.order[i], i + 1);
        if (ferror(out) != 0)
            status = weir_fail(error, WEIR_EIO, "cannot be written to");
    }
    free(writing.users.names);
    free(writing.groups.names);
    free(writing.order);
    return status;
}
