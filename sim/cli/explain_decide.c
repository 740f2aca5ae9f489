/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Repeating a run up to a decision (see explain_decide.h). Nothing is stored for this: a run is
 * determined by its resolved scenario, seed and replication, all of which are in the database.
 */
#include "sim/cli/explain_decide.h"

#include "sim/cli/experiment.h"
#include "sim/cli/plugin.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

struct stored_run {
    char *resolved;
    uint64_t seed;
    uint32_t replication;
};

static weir_status read_run(const char *database, const struct sim_run_choice *choice,
                            struct stored_run *run, struct weir_error *error)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    weir_status status = WEIR_ENOTFOUND;
    if (sqlite3_open_v2(database, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(db,
                           "SELECT r.resolved_yaml, r.seed, r.replication FROM run r "
                           "JOIN experiment e USING (experiment_id) "
                           "WHERE r.variant = coalesce(?1, e.baseline) AND r.replication = ?2",
                           -1, &row, NULL) == SQLITE_OK) {
        (void)sqlite3_bind_text(row, 1, choice->variant, -1, SQLITE_STATIC);
        (void)sqlite3_bind_int64(row, 2, choice->replication);
        if (sqlite3_step(row) == SQLITE_ROW) {
            run->resolved = strdup((const char *)sqlite3_column_text(row, 0));
            run->seed = (uint64_t)sqlite3_column_int64(row, 1);
            run->replication = (uint32_t)sqlite3_column_int64(row, 2);
            status = run->resolved == NULL ? WEIR_ENOMEM : WEIR_OK;
        } else {
            (void)weir_fail(error, WEIR_ENOTFOUND, "%s: no run of variant %s, replication %u",
                            database, choice->variant == NULL ? "(baseline)" : choice->variant,
                            choice->replication);
        }
    } else {
        status = weir_fail(error, WEIR_EIO, "%s: %s", database, sqlite3_errmsg(db));
    }
    (void)sqlite3_finalize(row);
    (void)sqlite3_close(db);
    return status;
}

static weir_status load(const char *database, const struct stored_run *run,
                        const struct sim_policies *policies, struct sim_scenario **scenario,
                        struct weir_error *error)
{
    struct sim_diagnostics diagnostics = { 0 };
    const struct sim_scenario_source source = { .path = database,
                                                .text = run->resolved,
                                                .policies = policies };
    const weir_status status = sim_scenario_load(&source, scenario, &diagnostics);
    if (diagnostics.errors > 0) {
        sim_diagnostics_print(&diagnostics, stderr);
        (void)weir_fail(error, status, "%s: its scenario cannot be read any more", database);
    }
    sim_diagnostics_clear(&diagnostics);
    return status;
}

static weir_status repeat(const struct sim_scenario *scenario, const struct stored_run *run,
                          double at_s, FILE *out, struct weir_error *error)
{
    struct sim_run_summary *summary = calloc(1, sizeof(*summary));
    const struct sim_run_options options = { .seed = run->seed,
                                             .replication = run->replication,
                                             .variant = "",
                                             .export_at_s = at_s,
                                             .export_to = out };
    if (summary == NULL)
        return WEIR_ENOMEM;
    weir_status status = sim_run(scenario, &options, summary);
    if (status != WEIR_OK)
        (void)weir_fail(error, status, "%s", summary->message);
    else if (strcmp(summary->outcome, "complete") == 0 || summary->simulated_s < at_s)
        status = weir_fail(error, WEIR_ENOTFOUND,
                           "there was no decision at or after %.9g s; the run ended at %.9g s",
                           at_s, summary->simulated_s);
    free(summary);
    return status;
}

int sim_explain_decide(const char *database, const struct sim_run_choice *choice, double at_s,
                       const struct sim_options *options, FILE *out)
{
    struct weir_error error = { .phase = -1, .stage = -1 };
    struct sim_policies policies = { 0 };
    struct stored_run run = { 0 };
    struct sim_scenario *scenario = NULL;
    const int code = sim_plugins_load(options->plugins, options->plugins_count, &policies);
    if (code != SIM_EXIT_OK)
        return code;
    weir_status status = read_run(database, choice, &run, &error);
    if (status == WEIR_OK)
        status = load(database, &run, &policies, &scenario, &error);
    if (status == WEIR_OK)
        status = repeat(scenario, &run, at_s, out, &error);
    sim_scenario_destroy(scenario);
    free(run.resolved);
    sim_plugins_clear(&policies);
    return sim_analysis_exit(status, &error);
}
