/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the verbs of `weir trace` share: the options, and reading a trace by them.
 */
#ifndef SIM_CLI_TRACE_H
#define SIM_CLI_TRACE_H

#include "sim/cli/options.h"
#include "workloads/swf.h"

struct sim_trace_arguments {
    struct sim_options options;
    const char *verb, *file;
    const char *kind, *map; /* NULL = found out */
    const char *nodes, *scenario;
    const char *plot;
    const char *output, *to;
    bool force;
    struct wl_swf_options swf;
    enum wl_bad_row on_bad_row;
    bool has_processor;
    uint32_t groups; /* by needs; 0 = none are asked for */
};

/* How one is read and what of it is told; show has the same. */
extern const struct sim_option_table sim_trace_table;

struct sim_trace {
    struct wl_jobs jobs;
    const char *format; /* "swf", "openb", or the name of a map */
};

/* Reads arguments->file, says what was left out, and counts processors as the arguments say. Prints
 * what is wrong and returns an exit code. */
int sim_trace_exit(weir_status status, const struct weir_error *error); /* says why */
int sim_trace_read(const struct sim_trace_arguments *arguments, struct sim_trace *trace);

/* The jobs in so many groups by what they need; *table is the caller's. */
weir_status sim_trace_groups(const struct wl_jobs *jobs, uint32_t groups, enum sim_format format,
                             struct sim_table **table);

/* Whether the file is a trace of jobs by its head, or by what the arguments say of it. */
bool sim_is_trace(const struct sim_trace_arguments *arguments);

/* The verbs; exit codes. */
int sim_trace_info(const struct sim_trace_arguments *arguments);
int sim_trace_convert(const struct sim_trace_arguments *arguments);

#endif
