/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The INSERT statements of the recorder, and binding of rows to them.
 *
 * Columns are named here and given in this order by record_rows.c and record_decision.c; a count
 * that differs is a programming error that the first row shows.
 */
#include "sim/record/record_state.h"

#include <assert.h>

static const char *const sql_texts[RECORD_KINDS] = {
    [RECORD_META] = "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)",
    [RECORD_EXPERIMENT] = "INSERT INTO experiment (experiment_id, scenario, description, "
                          "resolved_yaml, scenario_digest, command_line, baseline) "
                          "VALUES (?, ?, ?, ?, ?, ?, ?)",
    [RECORD_INPUT_FILE] = "INSERT INTO input_file (experiment_id, path, bytes, digest) "
                          "VALUES (?, ?, ?, ?)",
    [RECORD_RUN] = "INSERT INTO run (run_id, experiment_id, variant, variant_order, replication, "
                   "seed, placement, scaling, resolved_yaml, scenario_digest, start_unix_s, "
                   "warmup_s, horizon_s, status, message) "
                   "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', '')",
    [RECORD_RUN_END] = "UPDATE run SET end_s = ?, status = ?, message = ?, events = ?, "
                       "event_digest = ?, result_digest = ?, sample_s = ?, is_steady = ?, "
                       "items_done = ? WHERE run_id = ?",
    [RECORD_RUN_WALL] =
        "INSERT OR REPLACE INTO run_wall (run_id, wall_s, cpu_s, peak_rss_mib, started_utc, host, "
        "version, git_commit) VALUES (?, ?, ?, ?, strftime('%Y-%m-%dT%H:%M:%SZ', ?, 'unixepoch'), "
        "?, ?, coalesce((SELECT value FROM meta WHERE key = 'git_commit'), ''))",
    [RECORD_NODE] = "INSERT INTO node (run_id, node, name, type, cpus, gpus, gpu_type, nvdecs, "
                    "nvencs, ram_bytes, gpu_mem_bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [RECORD_STAGE] = "INSERT INTO stage (run_id, stage, pipeline, name, position, shape, cpus, "
                     "gpus, nvdecs, nvencs, batch, workers_fixed, service_mean_s, bound_workers, "
                     "mix) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [RECORD_WORKER] = "INSERT INTO worker (run_id, worker, stage, node, devices, gpu_mask, "
                      "gpu_amount, created_s, ready_s, ended_s, end_reason, tasks, busy_s, "
                      "workload, job) "
                      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [RECORD_DECISION] = "INSERT INTO decision (run_id, decision, t_s, placement, scaling, started, "
                        "stopped, denied, refused, status, message) "
                        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [RECORD_DECISION_WALL] = "INSERT INTO decision_wall (run_id, decision, cpu_ms) "
                             "VALUES (?, ?, ?)",
    [RECORD_DECISION_STAGE] =
        "INSERT INTO decision_stage (run_id, decision, stage, workers_before, workers_after, "
        "started, stopped, slots, pool_optimum, speed_per_s, throughput_per_s, binding) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [RECORD_ACTION] = "INSERT INTO action (run_id, decision, seq, verb, phase, stage, worker, "
                      "node, reused, value, outcome, nodes_seen, candidates, ties, score, score2, "
                      "runner_up_node, runner_up_score, runner_up_score2, reasons, workload, "
                      "job, holders) VALUES "
                      "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [RECORD_CANDIDATE] = "INSERT INTO candidate (run_id, decision, seq, node, gpu_mask, is_chosen, "
                         "score, score2) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [RECORD_HAPPENING] = "INSERT INTO happening (run_id, t_s, until_s, kind, target, text) "
                         "VALUES (?, ?, ?, ?, ?, ?)",
    [RECORD_RESULT] = "INSERT INTO result (run_id, metric, label, value, unit, n, censored, "
                      "is_lower_bound) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [RECORD_RESULT_WALL] = "INSERT INTO result_wall (run_id, metric, label, value, unit) "
                           "VALUES (?, ?, ?, ?, ?)",
    [RECORD_ARRIVAL] = "INSERT INTO arrival_sample (run_id, arrived_pct, events, failed, "
                       "alloc_gpu_pct, frag_gpu_pct, frag_idle_pct) VALUES (?, ?, ?, ?, ?, ?, ?)",
    [RECORD_ARRIVAL_PART] = "INSERT INTO arrival_part (run_id, arrived_pct, metric, value) "
                            "VALUES (?, ?, ?, ?)",
    [RECORD_PLACEMENT_CHANGE] = "INSERT INTO placement_change (run_id, label, rank, change, nodes, "
                                "gpus_freed) VALUES (?, ?, ?, ?, ?, ?)",
    [RECORD_DEFRAG_MOVE] = "INSERT INTO defrag_move (run_id, seq, arrival, from_node, to_node, "
                           "gpus, cpus, frag_before_gpu, frag_after_gpu) "
                           "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [RECORD_WORKLOAD] = "INSERT INTO workload (run_id, workload, name) VALUES (?, ?, ?)",
    [RECORD_JOB_LABEL] = "INSERT INTO job_label (run_id, label, name) VALUES (?, ?, ?)",
    [RECORD_JOB] =
        "INSERT INTO job (run_id, job, label, submit_s, start_s, end_s, node, members, "
        "attempts, outcome, workload, name, tenant, user, model, request, gpus, gpu_types, "
        "cpus, first_start_s, kind) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    [RECORD_HISTOGRAM] = "INSERT INTO histogram (run_id, metric, label, low, count) "
                         "VALUES (?, ?, ?, ?, ?)",
    [RECORD_EXPECTATION] = "INSERT INTO expectation (experiment_id, line, text, variant, value, "
                           "bound, is_met) VALUES (?, ?, ?, ?, ?, ?, ?)",
};

/* What a kind of rows belongs to; those of a file and of results need no line. */
static const enum sim_keep levels[RECORD_KINDS] = {
    [RECORD_HAPPENING] = SIM_KEEP_SERIES,    [RECORD_ARRIVAL] = SIM_KEEP_SERIES,
    [RECORD_ARRIVAL_PART] = SIM_KEEP_SERIES, [RECORD_JOB] = SIM_KEEP_JOBS,
    [RECORD_WORKER] = SIM_KEEP_JOBS,         [RECORD_DEFRAG_MOVE] = SIM_KEEP_JOBS,
    [RECORD_DECISION] = SIM_KEEP_JOBS,       [RECORD_DECISION_WALL] = SIM_KEEP_JOBS,
    [RECORD_DECISION_STAGE] = SIM_KEEP_JOBS, [RECORD_ACTION] = SIM_KEEP_ALL,
    [RECORD_CANDIDATE] = SIM_KEEP_ALL,
};

bool record_keeps(const struct sim_recorder *recorder, enum sim_keep level)
{
    return recorder->keep == SIM_KEEP_UNSAID || level <= recorder->keep;
}

static int bind_cell(sqlite3_stmt *statement, int position, const struct cell *cell)
{
    switch (cell->kind) {
    case CELL_NULL:
        return sqlite3_bind_null(statement, position);
    case CELL_INT:
        return sqlite3_bind_int64(statement, position, cell->integer);
    case CELL_REAL: /* SQLite itself stores NaN as NULL */
        return sqlite3_bind_double(statement, position, cell->real);
    case CELL_TEXT:
        return sqlite3_bind_text(statement, position, cell->text, -1, SQLITE_STATIC);
    }
    return SQLITE_MISUSE;
}

weir_status record_insert(struct sim_recorder *recorder, enum record_kind kind,
                          const struct cell *cells, size_t cell_count, struct weir_error *error)
{
    sqlite3_stmt **statement = &recorder->statements[kind];
    if (!record_keeps(recorder, levels[kind]))
        return WEIR_OK;
    if (!*statement)
        WEIR_TRY(record_prepare(recorder, sql_texts[kind], statement, error));
    assert((size_t)sqlite3_bind_parameter_count(*statement) == cell_count);
    for (size_t i = 0; i < cell_count; i++)
        if (bind_cell(*statement, (int)i + 1, &cells[i]) != SQLITE_OK)
            return record_fail(recorder, "bind a value", error);
    return record_step(recorder, *statement, 1, error);
}
