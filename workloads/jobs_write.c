/* SPDX-License-Identifier: GPL-3.0-or-later */
/* See the header; the columns are those of maps/weir.json. */
#include "workloads/jobs_write.h"

#include "workloads/column_map.h"

#include <inttypes.h>
#include <string.h>

#define NS_PER_S INT64_C(1000000000)

const char *wl_seconds_text(int64_t time_ns, char text[WL_SECONDS_TEXT])
{
    const int64_t rest_ns = time_ns < 0 ? -(time_ns % NS_PER_S) : time_ns % NS_PER_S;
    int64_t whole_s = time_ns / NS_PER_S;
    const char *sign = time_ns < 0 ? "-" : "";
    whole_s = whole_s < 0 ? -whole_s : whole_s;
    if (rest_ns == 0) {
        (void)snprintf(text, WL_SECONDS_TEXT, "%s%" PRId64, sign, whole_s);
        return text;
    }
    int length =
        snprintf(text, WL_SECONDS_TEXT, "%s%" PRId64 ".%09" PRId64, sign, whole_s, rest_ns);
    while (length > 1 && text[length - 1] == '0')
        text[--length] = '\0';
    return text;
}

static void write_time(FILE *out, int64_t time_ns)
{
    char text[WL_SECONDS_TEXT];
    if (time_ns != WL_UNKNOWN)
        (void)fputs(wl_seconds_text(time_ns, text), out);
    (void)fputc(',', out);
}

static void write_text(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL && text[0] != ' ' && text[strcspn(text, " ")] == '\0') {
        (void)fputs(text, out);
        return;
    }
    (void)fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            (void)fputc('"', out);
        (void)fputc(*text, out);
    }
    (void)fputc('"', out);
}

static void write_amount(FILE *out, int64_t amount)
{
    if (amount != 0)
        (void)fprintf(out, "%" PRId64, amount);
    (void)fputc(',', out);
}

static void write_job(FILE *out, const struct wl_job *job)
{
    write_text(out, job->name);
    (void)fputc(',', out);
    write_time(out, job->submit_ns);
    write_time(out, job->wait_ns);
    write_time(out, job->run_ns);
    write_time(out, job->estimate_ns);
    write_time(out, job->patience_ns);
    write_amount(out, job->cpu_milli);
    write_amount(out, job->memory_bytes);
    write_amount(out, job->gpus);
    write_amount(out, job->gpu_milli);
    write_amount(out, job->gpu_memory_bytes);
    write_text(out, job->models);
    (void)fputc(',', out);
    write_text(out, job->mig);
    (void)fputc(',', out);
    write_text(out, job->model);
    (void)fputc(',', out);
    write_amount(out, job->processors);
    write_amount(out, job->priority);
    write_text(out, job->user);
    (void)fputc(',', out);
    write_text(out, job->group);
    (void)fprintf(out, ",%s\n", wl_job_end_name((enum wl_job_end)job->end));
}

weir_status wl_jobs_write(const struct wl_jobs *jobs, FILE *out, struct weir_error *error)
{
    (void)fputs("name,submit_s,wait_s,run_s,estimate_s,patience_s,cpu_milli,memory_bytes,gpus,"
                "gpu_milli,gpu_memory_bytes,models,mig,model,processors,priority,user,group,end\n",
                out);
    for (size_t i = 0; i < jobs->count; i++)
        write_job(out, &jobs->jobs[i]);
    return ferror(out) != 0 ? weir_fail(error, WEIR_EIO, "cannot be written to") : WEIR_OK;
}
