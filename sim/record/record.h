/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The recorder: the only writer of result databases (schema.sql).
 *
 * Rows are batched (16 an INSERT), committed every second of wall time or 100 000 rows, in WAL mode
 * while running, so that others can read along and a killed run leaves a readable file whose run is
 * marked `running`. Indexes are built at close, and the file becomes a single file.
 * One recorder writes one file; parallel runs write shards that sim_recorder_merge joins.
 * A NULL recorder is allowed everywhere and records nothing.
 */
#ifndef SIM_RECORD_RECORD_H
#define SIM_RECORD_RECORD_H

#include "sim/record/meter/meter.h"
#include "weir/plan.h"

#include <stdint.h>

struct sim_recorder;

enum { SIM_RECORD_SCHEMA_VERSION = 10 }; /* user_version of schema.sql */
/* Of what is computed: the same scenario may give other results when it is another. 2: work has a
 * rate, bytes move (docs/model.md). */
enum { SIM_RECORD_MODEL_VERSION = 2 };

/* Creates the file (WEIR_EIO when it exists and is not an empty or weir database, is of a newer
 * version or a symbolic link; an existing weir database is replaced only when `overwrite`). It is
 * PATH.new until the first run is announced or it is closed, so that file and experiment appear in
 * one step, and never readable for more people than what it replaces. */
weir_status sim_recorder_open(const char *path, bool overwrite, struct sim_recorder **recorder,
                              struct weir_error *error);
/* Nothing of it is to be there after the program: it never waits for the disk. */
weir_status sim_recorder_make_fleeting(struct sim_recorder *recorder, struct weir_error *error);

/* What all shards of an experiment begin with. */
struct sim_shard_blank {
    unsigned char *bytes;
    size_t size;
};
/* A recorder in memory for the facts that every shard carries (sim_recorder_meta). */
weir_status sim_recorder_open_blank(struct sim_recorder **recorder, struct weir_error *error);
/* Closes it in any case. */
weir_status sim_recorder_close_blank(struct sim_recorder *recorder, struct sim_shard_blank *blank,
                                     struct weir_error *error);
void sim_shard_blank_clear(struct sim_shard_blank *blank);
/* The file of one run of an experiment whose results go to `whole`: it counts as soon as its run is
 * over, whatever happens to its writer, because it has a manifest (counts and digest of the rows).
 * It begins as a copy of `blank`, and replaces what is there. */
weir_status sim_recorder_open_shard(const char *path, const char *whole,
                                    const struct sim_shard_blank *blank,
                                    struct sim_recorder **recorder, struct weir_error *error);
/* Whether the shard holds that run, finished, with all its rows, of an experiment of this identity
 * (meta `identity`; NULL = any). An error means that it is damaged. */
weir_status sim_shard_holds(const char *path, const char *identity, int64_t run_id, bool *is_held,
                            struct weir_error *error);
/* Whether a result database of a version that is known lies there. */
bool sim_record_is_ours(const char *path);
/* Whether runs can be added to it: WEIR_EIO with a sentence when not. */
weir_status sim_record_check(const char *path, struct weir_error *error);
/* Removes a database and what SQLite keeps beside it. */
void sim_record_remove(const char *path);
/* Opens an existing database to add runs (resume, merge). */
weir_status sim_recorder_append(const char *path, struct sim_recorder **recorder,
                                struct weir_error *error);
/* Commits what is there and builds the indexes, so that others can read it; what follows is slower
 * to write. */
weir_status sim_recorder_finish(struct sim_recorder *recorder, struct weir_error *error);
/* The same, and leaves one file. Also after errors. */
weir_status sim_recorder_close(struct sim_recorder *recorder, struct weir_error *error);

/* A fact about the program or the file ("git_commit"); replaces an earlier value. Schema, program,
 * library versions and the random generator are written by sim_recorder_open. */
weir_status sim_recorder_meta(struct sim_recorder *recorder, const char *key, const char *value,
                              struct weir_error *error);

/* A view that only this file has ("CREATE VIEW ..."). */
weir_status sim_recorder_view(struct sim_recorder *recorder, const char *sql,
                              struct weir_error *error);

struct sim_experiment_row {
    const char *scenario, *description, *resolved_yaml, *command_line, *baseline;
    uint64_t scenario_digest;
};
weir_status sim_recorder_experiment(struct sim_recorder *recorder,
                                    const struct sim_experiment_row *row, int64_t *experiment_id,
                                    struct weir_error *error);
weir_status sim_recorder_input_file(struct sim_recorder *recorder, const char *path, int64_t bytes,
                                    uint64_t digest, struct weir_error *error);

/* How much is kept of a run: each level has what those before it have. Every table has one level.
 */
enum sim_keep {
    SIM_KEEP_UNSAID,  /* all */
    SIM_KEEP_RESULTS, /* result values, and what names them: runs, nodes, stages, labels */
    SIM_KEEP_SERIES,  /* samples over time or arrived demand, and what happened from outside */
    SIM_KEEP_JOBS,    /* a row a job, worker, decision, move */
    SIM_KEEP_ALL      /* single actions of decisions, and the places they had to choose from */
};
/* Whether rows of this level are kept of the present run; none without a recorder. */
bool sim_recorder_keeps(const struct sim_recorder *recorder, enum sim_keep level);

struct sim_run_row {
    int64_t run_id; /* chosen by the caller: variant_order * replications + replication + 1 */
    int64_t experiment_id;
    const char *variant;
    uint32_t variant_order, replication;
    uint64_t seed;
    const char *placement, *scaling, *resolved_yaml;
    uint64_t scenario_digest;
    int64_t start_unix_s, warmup_ns, horizon_ns;
    enum sim_keep keep;
};
weir_status sim_recorder_run(struct sim_recorder *recorder, const struct sim_run_row *row,
                             struct weir_error *error);

struct sim_node_row {
    uint32_t node;
    const char *name, *type, *gpu_type;
    double cpus;
    uint32_t gpus, nvdecs, nvencs;
    int64_t ram_bytes, gpu_mem_bytes;
    double ram_limit_bytes; /* beyond it somebody is killed; NAN = not in time, or no limit */
};
weir_status sim_recorder_node(struct sim_recorder *recorder, const struct sim_node_row *row,
                              struct weir_error *error);

struct sim_link_row {
    uint32_t link, node; /* WEIR_NO_INDEX = not of one node */
    const char *name, *kind;
    double bytes_per_s;
};
weir_status sim_recorder_link(struct sim_recorder *recorder, const struct sim_link_row *row,
                              struct weir_error *error);

struct sim_stage_row {
    uint32_t stage, position, batch;
    uint32_t bound_workers; /* 0 = there is no bound */
    int32_t workers_fixed;  /* -1 = auto */
    const char *pipeline, *name;
    const struct weir_shape *shape;
    const char *nodes; /* that will do, as sim_scenario_print_nodes has them */
    double service_mean_s, mix;
};
weir_status sim_recorder_stage(struct sim_recorder *recorder, const struct sim_stage_row *row,
                               struct weir_error *error);

struct sim_worker_row {
    uint64_t worker;
    struct weir_owner owner;
    uint32_t node, reserved;
    const struct weir_alloc *alloc;
    int64_t created_ns, ready_ns, ended_ns; /* -1 = never */
    const char *end_reason;
    uint64_t tasks;
    int64_t busy_ns;
};
weir_status sim_recorder_worker(struct sim_recorder *recorder, const struct sim_worker_row *row,
                                struct weir_error *error);

struct sim_decision_row {
    uint64_t decision;
    int64_t t_ns;
    const char *placement, *scaling, *status, *message;
    uint32_t refused;
    int64_t wall_ns;              /* negative = not timed */
    const struct weir_plan *plan; /* may be NULL; actions, notes and choices are taken from it */
    const uint32_t *outcomes; /* by action: 0 applied, else enum weir_reason it was refused for */
    const uint32_t *kinds;    /* by action: of its job; NULL = no jobs */
};
weir_status sim_recorder_decision(struct sim_recorder *recorder, const struct sim_decision_row *row,
                                  uint32_t stage_count, struct weir_error *error);

weir_status sim_recorder_happening(struct sim_recorder *recorder, int64_t t_ns, int64_t until_ns,
                                   const char *kind, const char *target, const char *text,
                                   struct weir_error *error);

/* An operation on a model. */
struct sim_audit_row {
    int64_t t_ns;
    const char *subject; /* NULL = the administrator */
    const char *operation, *model, *text;
    bool is_allowed;
};
weir_status sim_recorder_audit(struct sim_recorder *recorder, const struct sim_audit_row *row,
                               struct weir_error *error);

struct sim_result_row {
    const char *metric, *label, *unit;
    double value; /* NAN = NULL */
    uint64_t n, censored;
    bool is_lower_bound;
    bool is_wall; /* measured by the wall clock: kept apart */
};
weir_status sim_recorder_result(struct sim_recorder *recorder, const struct sim_result_row *row,
                                struct weir_error *error);
/* Where all results of a run go, one after the other: to the recorder, and to who listens. The
 * first error stays in `status` and stops the rows. */
struct sim_results {
    struct sim_recorder *recorder;                                    /* may be NULL */
    void (*listen)(void *listener, const struct sim_result_row *row); /* NULL = nobody */
    void *listener;
    struct weir_error *error;
    weir_status status;
};
void sim_results_add(struct sim_results *results, const struct sim_result_row *row);
/* One point of the curves over arrived GPU demand; NAN = NULL. */
struct sim_arrival_row {
    uint32_t arrived_pct;
    uint64_t events, failed;
    double alloc_gpu_pct, frag_gpu_pct, frag_idle_pct;
};
weir_status sim_recorder_arrival(struct sim_recorder *recorder, const struct sim_arrival_row *row,
                                 struct weir_error *error);
/* A further mean at the same percent: a metric id. */
weir_status sim_recorder_arrival_part(struct sim_recorder *recorder, uint32_t arrived_pct,
                                      const char *metric, double value, struct weir_error *error);
struct sim_placement_change_row {
    const char *label, *change;
    uint32_t rank, nodes;
    double gpus_freed;
};
weir_status sim_recorder_placement_change(struct sim_recorder *recorder,
                                          const struct sim_placement_change_row *row,
                                          struct weir_error *error);
struct sim_defrag_move_row {
    uint32_t seq;
    uint64_t arrival;
    uint32_t from_node, to_node; /* WEIR_NO_INDEX = nowhere */
    double gpus, cpus;
    double frag_before_gpus, frag_after_gpus; /* F of the cluster */
};
weir_status sim_recorder_defrag_move(struct sim_recorder *recorder,
                                     const struct sim_defrag_move_row *row,
                                     struct weir_error *error);
/* A source of jobs: what owners of rows call it. */
weir_status sim_recorder_workload(struct sim_recorder *recorder, uint32_t workload,
                                  const char *name, struct weir_error *error);
/* What jobs are reported as in the rows about jobs. */
weir_status sim_recorder_job_label(struct sim_recorder *recorder, uint32_t label, const char *name,
                                   struct weir_error *error);
struct sim_job_row {
    uint64_t job;
    uint32_t workload;
    uint32_t kind; /* jobs of one ask for the same; WEIR_NO_INDEX = never waited */
    uint32_t label, attempts, members, node; /* WEIR_NO_INDEX = never placed */
    int64_t submit_ns, end_ns;               /* -1 = never */
    int64_t first_start_ns, start_ns;        /* of the first attempt and the last; -1 = never */
    int64_t run_ns;                          /* that it came with; -1 = not known, or without end */
    const char *outcome;
    const char *name, *tenant, *user, *model; /* "" = not said */
    const char *request;                      /* of a member, and of ranks that are none */
    double gpus, cpus;                        /* of all of it */
    const char *gpu_types;                    /* "a|b" it accepts; "" = any */
};
/* A stretch in which all steps of a job were alike. */
struct sim_job_pace_row {
    uint32_t workload, attempt;
    uint64_t job;
    int64_t from_ns, to_ns;
    double first_step, steps;
    double sync, wait, bubble;
};
weir_status sim_recorder_job_pace(struct sim_recorder *recorder, const struct sim_job_pace_row *row,
                                  struct weir_error *error);
weir_status sim_recorder_job(struct sim_recorder *recorder, const struct sim_job_row *row,
                             struct weir_error *error);
weir_status sim_recorder_histogram(struct sim_recorder *recorder, const char *metric,
                                   const char *label, double low, uint64_t count,
                                   struct weir_error *error);

/* Samples: `kind` and values in the column order of the table after t_s, dt_s. */
enum sim_sample_kind {
    SIM_SAMPLE_CLUSTER,
    SIM_SAMPLE_NODE,
    SIM_SAMPLE_STAGE,
    SIM_SAMPLE_JOBS,
    SIM_SAMPLE_LINK,
    SIM_SAMPLE_MEMORY,
    SIM_SAMPLE_POWER,
    SIM_SAMPLE_FEATURES
};
weir_status sim_recorder_sample(struct sim_recorder *recorder, enum sim_sample_kind kind,
                                uint32_t index, double t_s, double dt_s, const double *values,
                                size_t value_count, struct weir_error *error);
/* Joins neighbouring samples of the present run in pairs (means weighted by dt, counts added):
 * keeps the number of samples bounded when the length of a run is not known beforehand. */
weir_status sim_recorder_coarsen(struct sim_recorder *recorder, struct weir_error *error);

struct sim_run_end {
    int64_t end_ns;
    const char *status, *message;
    uint64_t events, event_digest, result_digest;
    uint64_t items_done;
    int64_t sample_ns;
    bool is_steady;
    double wall_s, cpu_s, peak_rss_mib;
};
weir_status sim_recorder_end_run(struct sim_recorder *recorder, const struct sim_run_end *end,
                                 struct weir_error *error);

struct sim_expectation_row {
    int line;
    const char *text, *variant;
    double value, bound;
    bool is_met;
};
weir_status sim_recorder_expectation(struct sim_recorder *recorder,
                                     const struct sim_expectation_row *row,
                                     struct weir_error *error);

/* Marks a run that is still `running` as failed: its process died. Nothing happens when there is no
 * such run. */
weir_status sim_recorder_fail_run(struct sim_recorder *recorder, int64_t run_id,
                                  const char *message, struct weir_error *error);

/* Copies all runs of the database `shard` into this one (ATTACH; ids are kept). */
weir_status sim_recorder_merge(struct sim_recorder *recorder, const char *shard,
                               struct weir_error *error);
/* The finished runs of several databases of one experiment as one database, which is replaced: the
 * same whatever their order, and however often one is named. WEIR_EINVARIANT: two of them have the
 * same run with other results. */
weir_status sim_record_collect(const char *const *paths, size_t count, const char *out,
                               struct weir_error *error);

/* Of the latest error of a database: WEIR_ENOMEM when memory or the disk is at its end, else
 * WEIR_EIO. */
struct sqlite3;
weir_status sim_record_status(struct sqlite3 *database);

#endif
