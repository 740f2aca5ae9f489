/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whatever became of a shard (hostile_db.h), it is found to hold its run, or not, or refused with a
 * sentence; one that holds it can be taken over, and the file with it opens or is refused with a
 * sentence.
 */
#include "analysis/database/database.h"
#include "sim/record/record.h"
#include "sim/scenario/scenario.h"
#include "sim/world/run.h"
#include "tests/support/hostile_db.h"
#include "tests/support/reached.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char text[] =
    "schema: 2\nname: shard\nhorizon: 60 s\n"
    "cluster: {nodes: [{name: n, count: 1, cpus: 4, gpus: {h100: 1}}]}\n"
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 10 s}}\n"
    "pipelines:\n  - name: p\n    input: {items: 4}\n"
    "    stages: [{name: a, cpus: 1, service: 1 s, workers: 1}]\n"
    "metrics: {keep: all}\n";

static void want(weir_status status, const struct weir_error *error)
{
    if (status == WEIR_OK)
        return;
    (void)fprintf(stderr, "%s\n", error->text);
    abort();
}

/* The file of one run of a small scenario. */
static void write_shard(const char *path)
{
    const struct sim_scenario_source source = { .path = "shard.yaml", .text = text };
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_scenario *scenario = NULL;
    struct sim_run_summary *summary = calloc(1, sizeof(*summary));
    struct sim_shard_blank blank = { .bytes = NULL };
    struct sim_run_options options = {
        .seed = 1, .experiment_id = 1, .run_id = 1, .variant = "base", .export_at_s = (double)NAN
    };
    if (summary == NULL || sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK) {
        sim_diagnostics_print(&diagnostics, stderr);
        abort();
    }
    want(sim_recorder_open_blank(&options.recorder, &error), &error);
    want(sim_recorder_meta(options.recorder, "identity", "me", &error), &error);
    want(sim_recorder_close_blank(options.recorder, &blank, &error), &error);
    want(sim_recorder_open_shard(path, "whole.db", &blank, &options.recorder, &error), &error);
    sim_shard_blank_clear(&blank);
    want(sim_run_announce(scenario, &options, &error), &error);
    want(sim_run(scenario, &options, summary), &error);
    want(sim_recorder_close(options.recorder, &error), &error);
    sim_scenario_destroy(scenario);
    sim_diagnostics_clear(&diagnostics);
    free(summary);
}

static struct hostile_base make_base(const char *path)
{
    struct hostile_base base = { NULL, 0 };
    sqlite3 *db = NULL;
    write_shard(path);
    if (sqlite3_open(path, &db) != SQLITE_OK)
        abort();
    hostile_take(db, &base);
    (void)sqlite3_close(db);
    sim_record_remove(path);
    return base;
}

static void take_over(const char *shard, const char *whole)
{
    static const struct sim_experiment_row row = { .scenario = "shard",
                                                   .description = "",
                                                   .resolved_yaml = "",
                                                   .command_line = "",
                                                   .baseline = "base" };
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_recorder *recorder = NULL;
    struct sqlite3 *db = NULL;
    int64_t id = 0;
    sim_record_remove(whole);
    want(sim_recorder_open(whole, true, &recorder, &error), &error);
    want(sim_recorder_experiment(recorder, &row, &id, &error), &error);
    if (sim_recorder_merge(recorder, shard, &error) != WEIR_OK && error.text[0] == '\0')
        abort();
    error.text[0] = '\0';
    if (sim_recorder_close(recorder, &error) == WEIR_OK &&
        an_database_open(whole, AN_TO_READ, &db, &error) != WEIR_OK && error.text[0] == '\0')
        abort();
    (void)sqlite3_close(db);
    sim_record_remove(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct hostile_base base;
    char shard[HOSTILE_PATH];
    char whole[HOSTILE_PATH];
    struct weir_error error = { .phase = -1, .pool = -1 };
    bool is_held = false;
    hostile_name(shard, "shard");
    hostile_name(whole, "whole");
    if (base.bytes == NULL)
        base = make_base(shard);
    if (!hostile_write(&base, data, size, shard))
        return 0;
    const weir_status status = sim_shard_holds(shard, "me", 1, &is_held, &error);
    if (status != WEIR_OK && (is_held || error.text[0] == '\0'))
        abort();
    if (is_held) {
        fuzz_reached();
        take_over(shard, whole);
    } else if (size == 0) /* as it was written */
        abort();
    sim_record_remove(shard);
    return 0;
}
