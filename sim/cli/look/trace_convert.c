/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weir trace convert: any trace as SWF or as weir's own table, and what the format could not hold.
 */
#include "sim/cli/look/trace.h"

#include "sim/files/written.h"
#include "workloads/jobs_write.h"

#include <string.h>

/* NULL = cannot be told. */
static const char *target_of(const struct sim_trace_arguments *arguments)
{
    const char *output = arguments->output;
    if (arguments->to != NULL)
        return arguments->to;
    if (output != NULL && (written_ends(output, ".swf") || written_ends(output, ".swf.gz")))
        return "swf";
    return output != NULL && (written_ends(output, ".csv") || written_ends(output, ".csv.gz"))
               ? "weir"
               : NULL;
}

static void say(size_t count, const char *what)
{
    if (count > 0)
        (void)fprintf(stderr, "weir: %s: %zu\n", what, count);
}

static weir_status write_swf(const struct sim_trace_arguments *arguments,
                             const struct sim_trace *trace, FILE *out, struct weir_error *error)
{
    struct wl_swf_options options = arguments->swf;
    struct wl_swf_losses losses;
    char note[256];
    const char *slash = strrchr(arguments->file, '/');
    (void)snprintf(note, sizeof note, "converted by weir from %.160s (%.40s)",
                   slash == NULL ? arguments->file : slash + 1, trace->format);
    options.note = note;
    for (size_t i = 0; i < trace->jobs.count && !arguments->has_processor; i++)
        if (trace->jobs.jobs[i].gpus > 0)
            options.processor = WL_PROCESSOR_GPU;
    WEIR_TRY(wl_swf_write(&trace->jobs, &options, out, &losses, error));
    const bool is_gpu = options.processor == WL_PROCESSOR_GPU;
    say(losses.without_submit, "jobs left out, they have no time of submission");
    say(losses.without_processor,
        is_gpu ? "jobs left out, they take no GPU (--processor cpu counts CPUs)"
               : "jobs left out, they take no CPU (--processor gpu counts GPUs)");
    say(losses.rounded_up, is_gpu ? "jobs whose share of a GPU became a whole one"
                                  : "jobs whose part of a CPU became a whole one");
    say(losses.without_models, "jobs that lose the GPU models they ask for");
    say(losses.fractions, options.has_whole_seconds
                              ? "jobs with times rounded to seconds"
                              : "jobs with fractions of seconds (--whole-seconds rounds them)");
    return WEIR_OK;
}

static weir_status write_to(const struct sim_trace_arguments *arguments,
                            const struct sim_trace *trace, const char *target, FILE *out,
                            struct weir_error *error)
{
    return strcmp(target, "swf") == 0 ? write_swf(arguments, trace, out, error)
                                      : wl_jobs_write(&trace->jobs, out, error);
}

static weir_status write_file(const struct sim_trace_arguments *arguments,
                              const struct sim_trace *trace, const char *target,
                              struct weir_error *error)
{
    const char *path = arguments->output;
    struct written file;
    if (path == NULL || strcmp(path, "-") == 0)
        return write_to(arguments, trace, target, stdout, error);
    WEIR_TRY(written_open(path, &file, error));
    return written_close(&file, write_to(arguments, trace, target, file.out, error), error);
}

int sim_trace_convert(const struct sim_trace_arguments *arguments)
{
    struct sim_trace trace = { .format = "" };
    struct weir_error error = { .phase = -1, .pool = -1 };
    const char *target = target_of(arguments);
    if (target == NULL) {
        (void)fprintf(stderr, "weir trace: convert to what? -o FILE.swf, -o FILE.csv or --to\n");
        return SIM_EXIT_USAGE;
    }
    const int code = sim_trace_read(arguments, &trace);
    if (code != SIM_EXIT_OK)
        return code;
    const weir_status status = write_file(arguments, &trace, target, &error);
    wl_jobs_clear(&trace.jobs);
    return sim_trace_exit(status, &error);
}
