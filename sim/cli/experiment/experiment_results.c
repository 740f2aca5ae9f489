/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an experiment found, read from its database: nothing of a run is held in memory.
 */
#include "sim/cli/experiment/experiment.h"

#include "analysis/analysis.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { BUSY_MS = 5000 }; /* for those who read along */

weir_status sim_experiment_open_results(struct sim_experiment *experiment, struct weir_error *error)
{
    if (experiment->trouble == NULL)
        experiment->trouble = calloc(1, sizeof(*experiment->trouble));
    if (experiment->trouble == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (sqlite3_open_v2(experiment->path, &experiment->results, SQLITE_OPEN_READONLY, NULL) ==
            SQLITE_OK &&
        sqlite3_busy_timeout(experiment->results, BUSY_MS) == SQLITE_OK &&
        sqlite3_prepare_v2(
            experiment->results,
            "SELECT value, is_lower_bound, " AN_LEFT_OUT " FROM result WHERE run_id = ?1 AND"
            " metric = ?2 AND label = ?3 UNION ALL SELECT value, 0, 0 FROM result_wall"
            " WHERE run_id = ?1 AND metric = ?2 AND label = ?3",
            -1, &experiment->value, NULL) == SQLITE_OK)
        return WEIR_OK;
    (void)weir_fail(error, WEIR_EIO, "%s: cannot read the results: %s", experiment->path,
                    sqlite3_errmsg(experiment->results));
    sim_experiment_close_results(experiment);
    return WEIR_EIO;
}

void sim_experiment_close_results(struct sim_experiment *experiment)
{
    (void)sqlite3_finalize(experiment->value);
    (void)sqlite3_close(experiment->results);
    experiment->value = NULL;
    experiment->results = NULL;
}

weir_status sim_experiment_check_results(const struct sim_experiment *experiment,
                                         struct weir_error *error)
{
    if (experiment->trouble == NULL || *experiment->trouble == SQLITE_OK)
        return WEIR_OK;
    return weir_fail(error, WEIR_EIO, "%s: not all of the results can be read: %s",
                     experiment->path, sqlite3_errstr(*experiment->trouble));
}

/* Keeps the first error. */
static void note(const struct sim_experiment *experiment, int code)
{
    const bool is_error = code != SQLITE_OK && code != SQLITE_ROW && code != SQLITE_DONE;
    if (is_error && *experiment->trouble == SQLITE_OK)
        *experiment->trouble = code;
}

bool sim_experiment_step(const struct sim_experiment *experiment, sqlite3_stmt *rows)
{
    const int code = rows == NULL ? SQLITE_DONE : sqlite3_step(rows);
    note(experiment, code);
    return code == SQLITE_ROW;
}

sqlite3_stmt *sim_experiment_rows(const struct sim_experiment *experiment, const char *sql,
                                  size_t run)
{
    sqlite3_stmt *rows = NULL;
    const int code = sqlite3_prepare_v2(experiment->results, sql, -1, &rows, NULL);
    note(experiment, code);
    if (code != SQLITE_OK)
        return NULL;
    (void)sqlite3_bind_int64(rows, 1, (int64_t)run + 1);
    return rows;
}

struct found {
    double value, left_out;
    bool is_lower_bound;
};

static struct found find(const struct sim_experiment *experiment, size_t run, const char *metric,
                         const char *label)
{
    sqlite3_stmt *value = experiment->value;
    (void)sqlite3_bind_int64(value, 1, (int64_t)run + 1);
    (void)sqlite3_bind_text(value, 2, metric, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(value, 3, label, -1, SQLITE_STATIC);
    struct found found = { .value = (double)NAN };
    if (sim_experiment_step(experiment, value) && sqlite3_column_type(value, 0) != SQLITE_NULL)
        found = (struct found){ .value = sqlite3_column_double(value, 0),
                                .is_lower_bound = sqlite3_column_int(value, 1) != 0,
                                .left_out = sqlite3_column_double(value, 2) };
    (void)sqlite3_reset(value);
    return found;
}

double sim_experiment_value(const struct sim_experiment *experiment, size_t run, const char *metric,
                            const char *label)
{
    return find(experiment, run, metric, label).value;
}

struct sim_figure sim_experiment_figure(const struct sim_experiment *experiment, size_t variant,
                                        const char *metric, const char *label)
{
    struct sim_figure mean = { .value = 0.0 };
    double left_out = 0.0;
    uint32_t count = 0;
    for (uint32_t r = 0; r < experiment->replications; r++) {
        const struct found found =
            find(experiment, variant * experiment->replications + r, metric, label);
        if (isnan(found.value))
            continue;
        mean.value += found.value;
        mean.is_lower_bound = mean.is_lower_bound || found.is_lower_bound;
        left_out += found.left_out;
        count++;
    }
    mean.value = count == 0 ? (double)NAN : mean.value / count;
    mean.is_partial = count > 0 && AN_IS_PARTIAL(left_out / count);
    return mean;
}

double sim_experiment_mean(const struct sim_experiment *experiment, size_t variant,
                           const char *metric, const char *label)
{
    return sim_experiment_figure(experiment, variant, metric, label).value;
}

static uint64_t hex(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text == NULL ? 0 : strtoull(text, NULL, 16);
}

static void copy_text(char *to, size_t capacity, sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    (void)snprintf(to, capacity, "%s", text == NULL ? "" : text);
}

bool sim_experiment_summary(const struct sim_experiment *experiment, size_t run,
                            struct sim_run_summary *summary)
{
    sqlite3_stmt *row =
        experiment->results == NULL
            ? NULL
            : sim_experiment_rows(experiment,
                                  "SELECT status, message, variant_order, replication, seed, "
                                  "event_digest, result_digest, events, items_done, end_s, wall_s, "
                                  "cpu_s, peak_rss_mib FROM run LEFT JOIN run_wall USING (run_id) "
                                  "WHERE run_id = ?",
                                  run);
    const bool is_there = sim_experiment_step(experiment, row);
    if (is_there) {
        *summary = (struct sim_run_summary){
            .variant_order = (uint32_t)sqlite3_column_int64(row, 2),
            .replication = (uint32_t)sqlite3_column_int64(row, 3),
            .seed = (uint64_t)sqlite3_column_int64(row, 4),
            .digest = hex(row, 5),
            .result_digest = hex(row, 6),
            .events = (uint64_t)sqlite3_column_int64(row, 7),
            .items_done = (uint64_t)sqlite3_column_int64(row, 8),
            .simulated_s = sqlite3_column_double(row, 9),
            .wall_s = sqlite3_column_double(row, 10),
            .cpu_s = sqlite3_column_double(row, 11),
            .peak_rss_mib = sqlite3_column_double(row, 12),
            .early_s = sim_experiment_value(experiment, run, SIM_METRIC_EARLY_S, ""),
        };
        copy_text(summary->outcome, sizeof(summary->outcome), row, 0);
        copy_text(summary->message, sizeof(summary->message), row, 1);
        summary->completion_s =
            strcmp(summary->outcome, "complete") == 0 ? summary->simulated_s : (double)NAN;
    }
    (void)sqlite3_finalize(row);
    return is_there;
}

/* The value of a query on all runs, 0 when it has none. */
static int64_t ask(const struct sim_experiment *experiment, const char *sql)
{
    sqlite3_stmt *row = NULL;
    int64_t value = 0;
    if (experiment->results == NULL)
        return value;
    note(experiment, sqlite3_prepare_v2(experiment->results, sql, -1, &row, NULL));
    if (sim_experiment_step(experiment, row))
        value = sqlite3_column_int64(row, 0);
    (void)sqlite3_finalize(row);
    return value;
}

static int64_t first_finished(const struct sim_experiment *experiment)
{
    return ask(experiment, "SELECT min(run_id) FROM run WHERE " SIM_RUN_IS_FINISHED);
}

bool sim_experiment_has_results(const struct sim_experiment *experiment)
{
    return !experiment->is_interrupted && first_finished(experiment) > 0;
}

bool sim_experiment_has_failed(const struct sim_experiment *experiment)
{
    return ask(experiment, "SELECT count(*) FROM run WHERE status = 'failed'") > 0;
}

size_t sim_experiment_first(const struct sim_experiment *experiment)
{
    const int64_t run_id = first_finished(experiment);
    return run_id > 0 ? (size_t)run_id - 1 : 0;
}
