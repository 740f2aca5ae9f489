/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What it costs that a finished run is never lost: the reference run as an experiment keeps it (a
 * shard with counts and digest of its rows, waited for on the disk, then merged into the file)
 * against the same run written straight into one file, as before there were shards, and into one
 * that nobody waits for. In turns, the least of each: processor time from opening to closing, and
 * wall time, in which the disk is. The first should take at most 1.1 of the processor's time of the
 * second. Fails when rows differ.
 *
 *     durable [--quick]
 */
#include "sim/record/record.h"
#include "sim/world/run.h"
#include "tests/support/clock.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 25, PATH_BYTES = 64 };

static const double most = 1.1;

struct cost {
    double cpu_s, wall_s;
};

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "durable: %s\n", what);
    exit(EXIT_FAILURE);
}

static struct cost now(void)
{
    return (struct cost){ .cpu_s = test_cpu_s(), .wall_s = test_wall_s() };
}

static struct sim_recorder *open_whole(const char *path, const struct sim_scenario *scenario,
                                       bool is_fleeting)
{
    struct sim_recorder *whole = NULL;
    int64_t id = 0;
    const struct sim_experiment_row row = { .scenario = scenario->name,
                                            .description = "",
                                            .resolved_yaml = scenario->resolved,
                                            .command_line = "bench",
                                            .baseline = "base",
                                            .scenario_digest = scenario->digest };
    require(sim_recorder_open(path, true, &whole, NULL) == WEIR_OK, "cannot open the file");
    if (is_fleeting)
        require(sim_recorder_make_fleeting(whole, NULL) == WEIR_OK, "the file waits");
    require(sim_recorder_experiment(whole, &row, &id, NULL) == WEIR_OK, "no experiment");
    return whole;
}

static void run(const struct sim_scenario *scenario, struct sim_recorder *recorder)
{
    struct sim_run_summary *summary = calloc(1, sizeof(*summary));
    const struct sim_run_options options = { .seed = scenario->seed,
                                             .experiment_id = 1,
                                             .run_id = 1,
                                             .variant = "base",
                                             .recorder = recorder,
                                             .export_at_s = (double)NAN };
    require(summary != NULL && sim_run(scenario, &options, summary) == WEIR_OK, "the run failed");
    free(summary);
}

static void record_into(const struct sim_scenario *scenario, const char *path, bool is_fleeting)
{
    struct sim_recorder *whole = open_whole(path, scenario, is_fleeting);
    run(scenario, whole);
    require(sim_recorder_close(whole, NULL) == WEIR_OK, "cannot close the file");
}

static void record_fleetingly(const struct sim_scenario *scenario, const char *path)
{
    record_into(scenario, path, true);
}

static void record_plainly(const struct sim_scenario *scenario, const char *path)
{
    record_into(scenario, path, false);
}

static void record_durably(const struct sim_scenario *scenario, const char *path)
{
    char part[PATH_BYTES + 8];
    struct sim_recorder *recorder = NULL;
    struct sim_shard_blank blank = { .bytes = NULL };
    (void)snprintf(part, sizeof(part), "%s.part1", path);
    struct sim_recorder *whole = open_whole(path, scenario, false);
    require(sim_recorder_open_blank(&recorder, NULL) == WEIR_OK &&
                sim_recorder_meta(recorder, "identity", "bench", NULL) == WEIR_OK &&
                sim_recorder_close_blank(recorder, &blank, NULL) == WEIR_OK,
            "no beginning of a shard");
    require(sim_recorder_open_shard(part, path, &blank, &recorder, NULL) == WEIR_OK, "no shard");
    run(scenario, recorder);
    require(sim_recorder_close(recorder, NULL) == WEIR_OK, "cannot close the shard");
    require(sim_recorder_merge(whole, part, NULL) == WEIR_OK, "cannot merge the shard");
    sim_record_remove(part);
    require(sim_recorder_close(whole, NULL) == WEIR_OK, "cannot close the file");
    sim_shard_blank_clear(&blank);
}

/* Of the tables that a run fills most. */
static int64_t count_rows(const char *path)
{
    sqlite3 *database = NULL;
    sqlite3_stmt *row = NULL;
    require(sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
                sqlite3_prepare_v2(database,
                                   "SELECT (SELECT count(*) FROM stage_sample) + (SELECT count(*) "
                                   "FROM result) + (SELECT count(*) FROM worker)",
                                   -1, &row, NULL) == SQLITE_OK &&
                sqlite3_step(row) == SQLITE_ROW,
            "cannot read the results");
    const int64_t count = sqlite3_column_int64(row, 0);
    (void)sqlite3_finalize(row);
    (void)sqlite3_close(database);
    return count;
}

/* Adds one time to the least so far; returns the rows. */
static int64_t measure(struct cost *least, const struct sim_scenario *scenario,
                       void (*record)(const struct sim_scenario *scenario, const char *path))
{
    char path[PATH_BYTES] = "/tmp/weir_durable_XXXXXX";
    const int file = mkstemp(path);
    require(file >= 0 && close(file) == 0, "no temporary file");
    const struct cost begin = now();
    record(scenario, path);
    const struct cost end = now();
    least->cpu_s = fmin(least->cpu_s, end.cpu_s - begin.cpu_s);
    least->wall_s = fmin(least->wall_s, end.wall_s - begin.wall_s);
    const int64_t rows = count_rows(path);
    sim_record_remove(path);
    return rows;
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*record)(const struct sim_scenario *scenario, const char *path);
    } ways[] = { { "into a file nobody waits for", record_fleetingly },
                 { "into one file", record_plainly },
                 { "as an experiment keeps it", record_durably } };
    enum { WAYS = sizeof ways / sizeof ways[0] };
    const bool is_quick = count > 1 && strcmp(arguments[1], "--quick") == 0;
    const struct sim_scenario_source source = { .path = "scenarios/reference/xenna_plain_n2.yaml" };
    struct sim_diagnostics diagnostics = { 0 };
    struct sim_scenario *scenario = NULL;
    struct cost least[WAYS];
    int64_t rows = 0;
    require(sim_scenario_load(&source, &scenario, &diagnostics) == WEIR_OK, "no scenario");
    for (int w = 0; w < WAYS; w++)
        least[w] = (struct cost){ (double)INFINITY, (double)INFINITY };
    for (int i = 0; i < (is_quick ? 3 : ROUNDS); i++)
        for (int w = 0; w < WAYS; w++) {
            const int64_t found = measure(&least[w], scenario, ways[w].record);
            require(found > 0 && (rows == 0 || found == rows), "other rows");
            rows = found;
        }
    sim_scenario_destroy(scenario);
    const double plain_s = least[WAYS - 2].cpu_s;
    printf("%-34s %8s %8s %8s\n", "the reference run, recorded", "CPU ms", "wall ms", "ratio");
    for (int w = 0; w < WAYS; w++)
        printf("%-34s %8.2f %8.2f %8.3f\n", ways[w].name, least[w].cpu_s * 1e3,
               least[w].wall_s * 1e3, least[w].cpu_s / plain_s);
    printf("%-34s %8.1f, %s\n", "wanted at most", most,
           least[WAYS - 1].cpu_s <= most * plain_s ? "held" : "missed");
    return EXIT_SUCCESS;
}
