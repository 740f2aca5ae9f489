/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An experiment: variants x replications of one scenario, in processes, into one database.
 *
 * Every run is its own process with its own database file (a shard), so a crash touches one run (a
 * single run without plug-ins stays in the program's process when nobody watches); the parent
 * merges shards in a fixed order, so the database does not depend on how many ran at once, and a
 * run is kept from the moment it is over (experiment_file.h). Results are read from that database
 * alone: memory does not grow with the number of runs. Replication r of every variant uses the same
 * random numbers. Ctrl-C, a closed terminal and their like (stop.h) end the runs after their
 * present event; what is there is kept and it is said how to go on.
 */
#ifndef SIM_CLI_EXPERIMENT_H
#define SIM_CLI_EXPERIMENT_H

#include "sim/cli/experiment/points.h"
#include "sim/cli/limits.h"
#include "sim/world/run.h"

/* Runs that are chosen as results come in. The same results make the same choices, so that an
 * experiment that was interrupted goes on where it stood. */
struct sim_experiment;
struct sim_rounds {
    void *self;
    /* Marks the runs of the next round, by variant x replications + replication; what was marked
     * before stays. What was wanted so far is in the database at experiment->path. */
    weir_status (*next)(void *self, const struct sim_experiment *experiment, bool *wanted,
                        bool *is_over, struct weir_error *error);
    const char *rule; /* for the identity of the experiment: what is chosen by */
};

/* What was tuned on what, or why some ran more often, for every report; replications from
 * `judged_from` on were not seen, those before `paired_to` are of all variants (0 = all are). */
struct sim_audit {
    const char *text;
    uint32_t judged_from, paired_to;
};

struct sim_experiment_options {
    const char *scenario_path;
    const char *scenario_text; /* of the file, as it would be; NULL = read it */
    const char *const *sets;
    size_t sets_count;
    const struct sim_policies *policies;
    const char *database;               /* NULL = NAME.db; "" = none */
    const char *command_line;           /* as stored, and as repeated in advice */
    uint32_t replications;              /* 0 = the scenario's */
    const uint64_t *seed;               /* NULL = the scenario's */
    uint32_t jobs;                      /* 0 = one a core */
    const struct sim_variant *variants; /* of the command line */
    size_t variants_count;
    struct sim_axes *axes;           /* NULL = none; those of --vary get the scenario's values */
    const struct sim_rounds *rounds; /* NULL = all runs, at once */
    uint32_t shard, shards;          /* of the runs every `shards`-th from `shard` on; 0 = all */
    const struct sim_audit *audit;   /* NULL = there is nothing to say */
    bool is_lazy;                    /* scenarios of points are read when they are wanted */
    bool all_variants; /* false = the scenario itself, or the one of the command line */
    bool resume;       /* keep complete runs of the database */
    bool force;        /* replace results that are there */
    bool is_dry;       /* the experiment is laid out, and nothing is run */
    bool is_quiet;
    bool check_always;
    const char *spans;          /* file for the spans of the first run; NULL = none */
    uint64_t spans_limit;       /* rows; 0 = the format's default */
    const char *const *plugins; /* files of modules: runs are isolated, files are recorded */
    size_t plugins_count;
    bool in_process;            /* modules are loaded into the processes of the runs */
    uint32_t policy_timeout_s;  /* for isolated runs; 0 = SIM_ISOLATE_TIMEOUT_S */
    uint64_t policy_memory_mib; /* for isolated runs; 0 = by the machine */
    struct sim_limits limits;
};

struct sim_experiment {
    struct sim_scenario **scenarios; /* by variant */
    char **labels;
    size_t variant_count;
    uint32_t replications;
    struct sim_points points; /* of axes; count 0 = there are none */
    char *path;               /* of the results; those of run i have run_id i + 1, variant-major */
    bool is_temporary;        /* no database was asked for: gone with the experiment */
    const char *database;     /* the path when it was asked for, else NULL */
    double jobs;              /* that come in all runs, about */
    struct sqlite3 *results;
    struct sqlite3_stmt *value; /* one result of one run */
    int *
        trouble; /* the first error of SQLite while rows were read; kept apart for those who read */
    struct wl_trace_shelf *traces; /* that were read, while scenarios are */
    bool is_interrupted;
    size_t expectations, expectations_met;
    char **unmet; /* sentences */
    size_t unmet_count;
    size_t unexpected_ends; /* runs that ended early although nothing says that they do */
};

/* Returns an exit code (enum sim_exit); messages went to standard error. `experiment` is always to
 * be cleared. */
int sim_experiment_run(const struct sim_experiment_options *options,
                       struct sim_experiment *experiment);
void sim_experiment_clear(struct sim_experiment *experiment);

/* How much is kept of the runs of a variant: enum sim_keep. */
uint32_t sim_experiment_keep(const struct sim_experiment *experiment, size_t variant);

/* experiment_results.c: what the database says. sim_experiment_run leaves it open when the runs
 * could be made. */
weir_status sim_experiment_open_results(struct sim_experiment *experiment,
                                        struct weir_error *error);
void sim_experiment_close_results(struct sim_experiment *experiment);
/* False when the run never began. */
bool sim_experiment_summary(const struct sim_experiment *experiment, size_t run,
                            struct sim_run_summary *summary);
/* Whether all runs were made, and at least one is finished. */
bool sim_experiment_has_results(const struct sim_experiment *experiment);
bool sim_experiment_has_failed(const struct sim_experiment *experiment);
/* The first finished run; 0 when there is none. */
size_t sim_experiment_first(const struct sim_experiment *experiment);
/* WEIR_EIO when some of it could not be read: what was shown or judged then is not all. */
weir_status sim_experiment_check_results(const struct sim_experiment *experiment,
                                         struct weir_error *error);
/* The rows of a query on one run, which is its first parameter; NULL when it cannot be asked.
 * sqlite3_finalize() them. */
struct sqlite3_stmt *sim_experiment_rows(const struct sim_experiment *experiment, const char *sql,
                                         size_t run);
/* Whether there is a next row; `rows` may be NULL. */
bool sim_experiment_step(const struct sim_experiment *experiment, struct sqlite3_stmt *rows);
/* A result of a run, NAN when it has none. */
double sim_experiment_value(const struct sim_experiment *experiment, size_t run, const char *metric,
                            const char *label);
/* Its mean over the replications of a variant, NAN when none has it. Whether one of these values is
 * a bound from below, or a mean of what was over alone (analysis.h). */
struct sim_figure {
    double value;
    bool is_lower_bound, is_partial;
};
struct sim_figure sim_experiment_figure(const struct sim_experiment *experiment, size_t variant,
                                        const char *metric, const char *label);
double sim_experiment_mean(const struct sim_experiment *experiment, size_t variant,
                           const char *metric, const char *label);

/* expect.c: judges the scenario's expectations, fills expectations* and unmet. */
struct sim_recorder;
weir_status sim_experiment_judge(struct sim_experiment *experiment, struct sim_recorder *recorder,
                                 struct weir_error *error);

enum { SIM_EARLY_TEXT = SIM_RUN_MESSAGE + 64 };
/* How many runs of a variant ended early, and then "ended early in 3 of 10 runs: why". */
uint32_t sim_experiment_early(const struct sim_experiment *experiment, size_t variant,
                              char text[SIM_EARLY_TEXT]);

/* resume.c: which runs of the database are complete (by run id - 1); rows of all other runs are
 * removed. A database of another experiment is refused as it is. */
struct sim_identity;
weir_status sim_experiment_resume(const struct sim_experiment *experiment,
                                  const struct sim_identity *identity, bool *is_done,
                                  struct weir_error *error);

/* Files that are not the scenario's (modules) as rows of input_file. */
weir_status sim_experiment_record_files(struct sim_recorder *recorder, const char *const *paths,
                                        size_t count, struct weir_error *error);

/* Exit code for a status that ended a run. */
int sim_exit_for(weir_status status);
/* What it means to who runs simulations. */
const char *sim_status_text(weir_status status);

#endif
