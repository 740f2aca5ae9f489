/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Options that `weir run` and `weir compare` share: what to simulate and where results go.
 */
#ifndef SIM_CLI_SIMULATE_OPTIONS_H
#define SIM_CLI_SIMULATE_OPTIONS_H

#include "sim/cli/experiment/experiment.h"
#include "sim/cli/options.h"

#define SIM_REPLICATIONS_AUTO UINT32_MAX /* -n auto */

struct sim_simulate_options {
    struct sim_options common;
    struct sim_words variants;       /* --variant 'LABEL: path=value', in order */
    struct sim_axes *axes;           /* of compare and search; NULL = none */
    const struct sim_rounds *rounds; /* NULL = all runs at once */
    bool is_lazy;
    const struct sim_audit *audit; /* NULL = none */
    const char *path;              /* scenario (or database, for compare) */
    const char *output;
    uint64_t seed;
    bool has_seed;
    uint32_t replications;
    uint32_t jobs;
    const char *spans;       /* set by `run` alone */
    uint64_t spans_limit;    /* 0 = the format's default */
    const char *replication; /* of a database that is repeated; NULL = all */
    uint32_t policy_timeout_s;
    uint64_t policy_memory_mib;
    bool no_database, resume, force, quiet, paranoid, check;
    bool dry_run;           /* set by `compare` alone, as these */
    uint32_t shard, shards; /* which part of the runs; shards 0 = all */
};

/* -o, -s, -n, -j, --no-db, --resume, --quiet, --check, --check-invariants; --format, --set,
 * --plugin: of a struct sim_simulate_options. */
extern const struct sim_option_table sim_simulate_table;

/* The command line as one string, for the database and for advice; malloc'ed. */
char *sim_command_line(const char *command, int argc, char **argv);

/* Loads plug-ins and runs the experiment; `experiment` is to be cleared by the caller. */
int sim_simulate(const struct sim_simulate_options *options, bool all_variants,
                 const char *command_line, struct sim_policies *policies,
                 struct sim_experiment *experiment);

/* Says when not all results could be read: no table of them is one then, and SIM_EXIT_INPUT takes
 * the place of a `code` that says nothing of it. */
int sim_simulate_read(const struct sim_experiment *experiment, int code);

/* Says which expectations were not met; returns SIM_EXIT_CHECK when --check was given and one was
 * not, or when a run ended early without being expected to, else `code`. */
int sim_simulate_verdict(const struct sim_simulate_options *options,
                         const struct sim_experiment *experiment, int code);

#endif
