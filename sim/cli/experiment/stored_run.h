/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stored runs: what a result database keeps of a run is enough to run it again.
 *
 * A run is determined by its resolved scenario, seed, replication, and the files it named, modules
 * included; all of these are in the database or have their digest there. Read-only.
 */
#ifndef SIM_CLI_STORED_RUN_H
#define SIM_CLI_STORED_RUN_H

#include "sim/cli/experiment/experiment.h"
#include "sim/cli/options.h"

/* A file that an experiment read. */
struct sim_stored_file {
    char *path;   /* as recorded */
    char *opened; /* where it lies: beside the scenario, or as recorded */
    int64_t bytes;
    uint64_t digest;
    uint64_t digest_now; /* of the file as it is */
    bool is_there;
    bool is_module; /* a shared library */
};

struct sim_stored_run {
    int64_t run_id;
    char *variant;
    char *resolved;
    char *status;
    uint32_t variant_order, replication;
    uint64_t seed, events, event_digest, result_digest, scenario_digest;
};

struct sim_stored {
    char *path, *scenario, *command_line;
    struct sim_stored_run *runs; /* in the order of their ids */
    size_t runs_count;
    struct sim_stored_file *files;
    size_t files_count;
};

struct sqlite3;

#define SIM_ALL_REPLICATIONS UINT32_MAX

/* Of a file as it is now. */
weir_status sim_stored_digest(const char *path, int64_t *bytes, uint64_t *digest,
                              struct weir_error *error);

/* All runs that are chosen: `variant` NULL = every one, "" = the baseline. WEIR_ENOTFOUND when
 * there is none. */
weir_status sim_stored_open(const char *database, const char *variant, uint32_t replication,
                            struct sim_stored *stored, struct weir_error *error);
/* The same of a database that is open already. */
weir_status sim_stored_read(struct sqlite3 *db, const char *database, const char *variant,
                            uint32_t replication, struct sim_stored *stored,
                            struct weir_error *error);
void sim_stored_clear(struct sim_stored *stored);

/* The scenario of a stored run; mistakes go to standard error. */
weir_status sim_stored_scenario(const struct sim_stored *stored, const struct sim_stored_run *run,
                                const struct sim_policies *policies, struct sim_scenario **scenario,
                                struct weir_error *error);

/* Built-ins, the modules named by the user, or else those the experiment had. Exit code. */
int sim_stored_policies(const struct sim_stored *stored, const struct sim_options *options,
                        struct sim_policies *policies);

#endif
