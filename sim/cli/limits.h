/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * --limit NAME=NUMBER: one way to raise or lower the limits that messages speak of.
 */
#ifndef SIM_CLI_LIMITS_H
#define SIM_CLI_LIMITS_H

#include "sim/cli/options.h"
#include "weir/status.h"
#include "workloads/limits.h"

/* 0 = the default. */
struct sim_limits {
    struct wl_limits files;
    uint64_t policy_cpu_s, policy_files; /* of a module in a process of its own */
    uint64_t run_cpu_s, run_memory_mib;  /* of the process of a run */
    uint64_t line_mib;                   /* of what `weir decide --serve` is told at once */
};

/* The option alone, of a struct sim_words; its words are known to be right after parsing. */
extern const struct sim_option_table sim_limit_table;
enum { SIM_LIMIT_SENTENCE = 80, SIM_LINE_MIB = 64 };
/* Whether the process of a run, as waitpid() and its status tell of it, needed more than run_cpu_s
 * or run_memory_mib; `sentence` says which. */
bool sim_limits_judge(const struct sim_limits *limits, int wait_state, weir_status status,
                      char sentence[SIM_LIMIT_SENTENCE]);
struct sim_limits sim_limits_of(const struct sim_words *words);

#endif
