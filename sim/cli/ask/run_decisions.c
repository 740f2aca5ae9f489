/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decisions and stages of one run as JSON (see run_decisions.h). */
#include "sim/cli/ask/run_decisions.h"

#include <sqlite3.h>

static void write_stages(struct sim_json *json, const struct sim_experiment *experiment, size_t run)
{
    sqlite3_stmt *row =
        sim_experiment_rows(experiment,
                            "SELECT g.name, coalesce(sum(w.tasks), 0), "
                            "sum(w.worker IS NOT NULL AND w.ended_s IS NULL) FROM stage g "
                            "LEFT JOIN worker w ON w.run_id = g.run_id AND w.stage = g.stage "
                            "WHERE g.run_id = ? GROUP BY g.stage ORDER BY g.stage",
                            run);
    sim_json_begin_array(sim_json_key(json, "stages"));
    while (sim_experiment_step(experiment, row)) {
        sim_json_begin_object(json);
        sim_json_string(sim_json_key(json, "name"), (const char *)sqlite3_column_text(row, 0));
        sim_json_integer(sim_json_key(json, "completed"), sqlite3_column_int64(row, 1));
        sim_json_integer(sim_json_key(json, "workers"), sqlite3_column_int64(row, 2));
        sim_json_end_object(json);
    }
    sim_json_end_array(json);
    (void)sqlite3_finalize(row);
}

static void write_vector(struct sim_json *json, const struct sim_experiment *experiment, size_t run,
                         const char *column, int64_t decision)
{
    char *sql = sqlite3_mprintf(
        "SELECT %s FROM decision_stage WHERE run_id = ? AND decision = %lld ORDER BY stage", column,
        (long long)decision);
    sqlite3_stmt *row = sim_experiment_rows(experiment, sql, run);
    sim_json_begin_array(json);
    while (sim_experiment_step(experiment, row))
        sim_json_integer(json, sqlite3_column_int64(row, 0));
    sim_json_end_array(json);
    (void)sqlite3_finalize(row);
    sqlite3_free(sql);
}

static void write_decisions(struct sim_json *json, const struct sim_experiment *experiment,
                            size_t run)
{
    sqlite3_stmt *row = sim_experiment_rows(
        experiment,
        "SELECT decision, t_s FROM decision WHERE run_id = ? ORDER BY decision LIMIT 1000", run);
    sim_json_begin_array(sim_json_key(json, "decisions"));
    while (sim_experiment_step(experiment, row)) {
        const int64_t decision = sqlite3_column_int64(row, 0);
        sim_json_begin_object(json);
        sim_json_number(sim_json_key(json, "t_s"), sqlite3_column_double(row, 1));
        write_vector(sim_json_key(json, "workers"), experiment, run, "workers_after", decision);
        write_vector(sim_json_key(json, "slots"), experiment, run, "slots", decision);
        sim_json_end_object(json);
    }
    sim_json_end_array(json);
    (void)sqlite3_finalize(row);
}

void sim_run_decisions_write(struct sim_json *json, const struct sim_experiment *experiment,
                             size_t run)
{
    write_stages(json, experiment, run);
    write_decisions(json, experiment, run);
}
