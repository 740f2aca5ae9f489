/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Result databases: opening rules, rows, coarsening, merging, what a killed writer leaves.
 *
 * Every test works in a folder of its own and reads back with plain SQL.
 */
#include "sim/record/record.h"
#include "tests/support/check.h"
#include "tests/support/shard.h"

#include <dirent.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct folder {
    char path[64];
};

struct file_name {
    char text[128];
};

static struct folder open_folder(void)
{
    struct folder folder = { "/tmp/weir-record-XXXXXX" };
    CHECK(mkdtemp(folder.path) != NULL);
    return folder;
}

static struct file_name name_in(const struct folder *folder, const char *name)
{
    struct file_name file;
    (void)snprintf(file.text, sizeof file.text, "%s/%s", folder->path, name);
    return file;
}

/* Removes the folder; returns how many files were in it. */
static int close_folder(const struct folder *folder)
{
    int files = 0;
    DIR *listing = opendir(folder->path);
    if (!listing)
        return -1;
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        if (entry->d_name[0] == '.')
            continue;
        files++;
        char path[512];
        (void)snprintf(path, sizeof path, "%s/%s", folder->path, entry->d_name);
        (void)unlink(path);
    }
    (void)closedir(listing);
    (void)rmdir(folder->path);
    return files;
}

/* The first value of a query as text; "(null)" for NULL, "(error)" when it fails. */
struct answer {
    char text[256];
};

static struct answer ask(const char *path, const char *sql)
{
    struct answer answer = { "(error)" };
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    if (sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
        sqlite3_prepare_v2(database, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW) {
        const unsigned char *text = sqlite3_column_text(statement, 0);
        (void)snprintf(answer.text, sizeof answer.text, "%s", text ? (const char *)text : "(null)");
    } else {
        (void)fprintf(stderr, "%s: %s: %s\n", path, sql, sqlite3_errmsg(database));
    }
    (void)sqlite3_finalize(statement);
    (void)sqlite3_close(database);
    return answer;
}
#define CHECK_SQL(path, sql, expected) CHECK_STR(ask((path), (sql)).text, (expected))

static struct sim_recorder *open_recorder(const char *path)
{
    struct sim_recorder *recorder = NULL;
    struct weir_error error = { 0 };
    if (!CHECK_I64(sim_recorder_open(path, false, &recorder, &error), WEIR_OK))
        CHECK_STR(error.text, "");
    return recorder;
}

static void add_experiment(struct sim_recorder *recorder)
{
    const struct sim_experiment_row row = {
        .scenario = "line", .command_line = "weir run", .baseline = "base", .scenario_digest = 0xabc
    };
    int64_t id = 0;
    CHECK_I64(sim_recorder_experiment(recorder, &row, &id, NULL), WEIR_OK);
    CHECK_I64(id, 1);
}

static weir_status add_run(struct sim_recorder *recorder, int64_t run_id, struct weir_error *error)
{
    const struct sim_run_row row = { .run_id = run_id,
                                     .experiment_id = 1,
                                     .variant = "base",
                                     .replication = (uint32_t)run_id,
                                     .seed = UINT64_MAX,
                                     .placement = "fgd",
                                     .scaling = "xenna",
                                     .resolved_yaml = "",
                                     .horizon_ns = -1 };
    return sim_recorder_run(recorder, &row, error);
}

static void end_run(struct sim_recorder *recorder)
{
    const struct sim_run_end end = { .end_ns = INT64_C(2500000000),
                                     .status = "complete",
                                     .events = 7,
                                     .event_digest = 0x1f,
                                     .is_steady = true };
    CHECK_I64(sim_recorder_end_run(recorder, &end, NULL), WEIR_OK);
}

/* Nodes 0 and 1, a sample a second; node 1 is active twice as much. */
static void add_samples(struct sim_recorder *recorder, int count)
{
    for (int t = 0; t < count; t++) {
        const double stage[11] = { [0] = t, [10] = t };
        const double cluster[25] = { [5] = t, [22] = 1.0, [23] = t };
        for (uint32_t n = 0; n < 2; n++) {
            const double node[8] = { 1.0, t, (n + 1.0) * t };
            CHECK_I64(sim_recorder_sample(recorder, SIM_SAMPLE_NODE, n, t, 1.0, node, 8, NULL),
                      WEIR_OK);
        }
        CHECK_I64(sim_recorder_sample(recorder, SIM_SAMPLE_STAGE, 0, t, 1.0, stage, 11, NULL),
                  WEIR_OK);
        CHECK_I64(sim_recorder_sample(recorder, SIM_SAMPLE_CLUSTER, 0, t, 1.0, cluster, 25, NULL),
                  WEIR_OK);
    }
}

static void a_finished_file_is_one_file_with_everything_in_it(void)
{
    const struct folder folder = open_folder();
    const struct file_name file = name_in(&folder, "run.db");
    struct sim_recorder *recorder = open_recorder(file.text);
    add_experiment(recorder);
    CHECK_I64(sim_recorder_meta(recorder, "git_commit", "abc123", NULL), WEIR_OK);
    CHECK_I64(sim_recorder_input_file(recorder, "x.csv", 12, 0xff, NULL), WEIR_OK);
    CHECK_I64(add_run(recorder, 1, NULL), WEIR_OK);
    add_samples(recorder, 37); /* 74 node rows: four batches of 16 and 10 single ones */
    end_run(recorder);
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);

    CHECK_SQL(file.text, "PRAGMA journal_mode", "delete");
    CHECK_SQL(file.text, "PRAGMA application_id", "2003134834");
    CHECK_SQL(file.text, "PRAGMA integrity_check", "ok");
    CHECK_SQL(file.text, "SELECT count(*) FROM node_sample", "74");
    CHECK_SQL(file.text, "SELECT sum(cpu_active) FROM node_sample", "1998.0"); /* 3 * 666 */
    CHECK_SQL(file.text, "SELECT sum(gpu_active) FROM cluster_sample", "666.0");
    CHECK_SQL(file.text, "SELECT count(*) FROM cluster_sample", "37");
    CHECK_SQL(
        file.text,
        "SELECT group_concat(node) FROM (SELECT node FROM node_sample ORDER BY rowid LIMIT 5)",
        "0,1,0,1,0");
    CHECK_SQL(file.text, "SELECT status || end_s || event_digest FROM run",
              "complete2.5000000000000001f");
    CHECK_SQL(file.text, "SELECT seed FROM run", "-1");
    CHECK_SQL(file.text, "SELECT horizon_s FROM run", "(null)");
    CHECK_SQL(file.text, "SELECT git_commit FROM run_wall", "abc123");
    CHECK_SQL(file.text, "SELECT digest FROM input_file", "00000000000000ff");
    CHECK_SQL(file.text,
              "SELECT count(*) FROM meta WHERE key IN ('schema_version', "
              "'weir_version', 'sqlite_version', 'gsl_version', 'rng')",
              "5");
    CHECK_SQL(file.text,
              "SELECT count(*) > 5 FROM sqlite_schema WHERE type = 'index' AND "
              "name LIKE '%_by_run'",
              "1");
    CHECK_SQL(file.text, "SELECT count(*) FROM v_cluster", "37");
    CHECK_I64(close_folder(&folder), 1);
}

static void no_recorder_records_nothing(void)
{
    int64_t id = 5;
    const struct sim_experiment_row row = { .scenario = "x" };
    const double values[8] = { 0 };
    CHECK_I64(sim_recorder_experiment(NULL, &row, &id, NULL), WEIR_OK);
    CHECK_I64(add_run(NULL, 1, NULL), WEIR_OK);
    CHECK_I64(sim_recorder_sample(NULL, SIM_SAMPLE_NODE, 0, 0, 1, values, 8, NULL), WEIR_OK);
    CHECK_I64(sim_recorder_coarsen(NULL, NULL), WEIR_OK);
    CHECK_I64(sim_recorder_merge(NULL, "nowhere.db", NULL), WEIR_OK);
    CHECK_I64(sim_recorder_close(NULL, NULL), WEIR_OK);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL);
    (void)fputs(text, file);
    (void)fclose(file);
}

static void foreign_files_are_never_touched(void)
{
    const struct folder folder = open_folder();
    const struct file_name notes = name_in(&folder, "notes.txt");
    const struct file_name nowhere = name_in(&folder, "missing/run.db");
    struct sim_recorder *recorder = NULL;
    struct weir_error error = { 0 };
    write_text(notes.text, "not a database at all\n");
    CHECK_I64(sim_recorder_open(notes.text, true, &recorder, &error), WEIR_EIO);
    CHECK(strstr(error.text, "notes.txt: exists and is not a result database") != NULL);
    CHECK_I64(sim_recorder_append(notes.text, &recorder, &error), WEIR_EIO);
    CHECK(strstr(error.text, "notes.txt: cannot read: file is not a database") != NULL);
    CHECK_I64(sim_recorder_open(folder.path, true, &recorder, &error), WEIR_EIO);
    CHECK_I64(sim_recorder_open(nowhere.text, true, &recorder, &error), WEIR_EIO);
    CHECK(strstr(error.text, "run.db.new: cannot create the database: No such file") != NULL);
    CHECK_I64(sim_recorder_append(nowhere.text, &recorder, &error), WEIR_EIO);
    CHECK(recorder == NULL);
    const struct file_name other = name_in(&folder, "other.db");
    write_text(other.text, "");
    CHECK_I64(sim_recorder_open(other.text, false, &recorder, &error), WEIR_OK); /* empty: free */
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);
    CHECK_I64(close_folder(&folder), 2);
}

static void results_are_replaced_only_when_that_is_wanted(void)
{
    const struct folder folder = open_folder();
    const struct file_name file = name_in(&folder, "run.db");
    struct sim_recorder *recorder = open_recorder(file.text);
    add_experiment(recorder);
    CHECK_I64(add_run(recorder, 1, NULL), WEIR_OK);
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);
    struct weir_error error = { 0 };
    struct sim_recorder *second = NULL;
    CHECK_I64(sim_recorder_open(file.text, false, &second, &error), WEIR_EIO);
    CHECK(strstr(error.text, "run.db: exists already") != NULL);
    CHECK_SQL(file.text, "SELECT count(*) FROM run", "1");
    CHECK_I64(sim_recorder_open(file.text, true, &second, &error), WEIR_OK);
    CHECK_I64(sim_recorder_close(second, NULL), WEIR_OK);
    CHECK_SQL(file.text, "SELECT count(*) FROM run", "0");
    CHECK_I64(close_folder(&folder), 1);
}

static void an_unfinished_run_is_replaced_and_a_finished_one_is_not(void)
{
    const struct folder folder = open_folder();
    const struct file_name file = name_in(&folder, "run.db");
    struct sim_recorder *recorder = open_recorder(file.text);
    add_experiment(recorder);
    CHECK_I64(add_run(recorder, 1, NULL), WEIR_OK);
    end_run(recorder);
    CHECK_I64(add_run(recorder, 2, NULL), WEIR_OK);
    add_samples(recorder, 3);
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);
    struct weir_error error = { 0 };
    const struct file_name half_made = name_in(&folder, "run.db.new"); /* by one that was killed */
    FILE *left = fopen(half_made.text, "w");
    CHECK(left != NULL && fclose(left) == 0);
    CHECK_I64(sim_recorder_append(file.text, &recorder, &error), WEIR_OK);
    CHECK(fopen(half_made.text, "r") == NULL);
    CHECK_I64(add_run(recorder, 1, &error), WEIR_EIO);
    CHECK(strstr(error.text, "UNIQUE constraint failed: run.run_id") != NULL);
    CHECK_I64(add_run(recorder, 2, &error), WEIR_OK);
    add_samples(recorder, 2);
    end_run(recorder);
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);
    CHECK_SQL(file.text, "SELECT count(*) FROM stage_sample", "2");
    CHECK_SQL(file.text, "SELECT group_concat(status) FROM run", "complete,complete");
    CHECK_I64(close_folder(&folder), 1);
}

static void values_that_do_not_exist_are_null(void)
{
    const struct folder folder = open_folder();
    const struct file_name file = name_in(&folder, "run.db");
    struct sim_recorder *recorder = open_recorder(file.text);
    add_experiment(recorder);
    CHECK_I64(add_run(recorder, 1, NULL), WEIR_OK);
    const struct sim_result_row row = {
        .metric = "m", .label = "", .unit = "s", .value = (double)NAN
    };
    CHECK_I64(sim_recorder_result(recorder, &row, NULL), WEIR_OK);
    const struct weir_alloc alloc = { .device_count = 2,
                                      .devices = {
                                          { .gpu = 0, .nvdec_mask = 5 },
                                          { .gpu = 3, .units = WEIR_ONE / 4, .nvenc_mask = 2 } } };
    const struct sim_worker_row worker = {
        .worker = 9, .alloc = &alloc, .created_ns = 1000000000, .ready_ns = -1, .ended_ns = -1
    };
    CHECK_I64(sim_recorder_worker(recorder, &worker, NULL), WEIR_OK);
    CHECK_I64(sim_recorder_happening(recorder, 5000000000, -1, "fault", "n0", "down", NULL),
              WEIR_OK);
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);
    CHECK_SQL(file.text, "SELECT value FROM result", "(null)");
    CHECK_SQL(file.text, "SELECT ready_s FROM worker", "(null)");
    CHECK_SQL(file.text, "SELECT devices FROM worker", "nvdec0.0 nvdec0.2 gpu3:0.25 nvenc3.1");
    CHECK_SQL(file.text, "SELECT gpu_mask || ' ' || gpu_amount FROM worker", "9 0.25");
    CHECK_SQL(file.text, "SELECT t_s || ' ' || (until_s IS NULL) FROM happening", "5.0 1");
    CHECK_I64(close_folder(&folder), 1);
}

/* 16 GPUs with 16 decoders each do not fit into the text of a worker. */
static void devices_beyond_the_text_are_cut_off(void)
{
    const struct folder folder = open_folder();
    const struct file_name file = name_in(&folder, "run.db");
    struct sim_recorder *recorder = open_recorder(file.text);
    struct weir_alloc alloc = { .device_count = WEIR_MAX_DEVICES };
    for (uint32_t d = 0; d < WEIR_MAX_DEVICES; d++)
        alloc.devices[d] = (struct weir_device){ .gpu = d, .nvdec_mask = 0xFFFF };
    add_experiment(recorder);
    CHECK_I64(add_run(recorder, 1, NULL), WEIR_OK);
    const struct sim_worker_row worker = {
        .worker = 9, .alloc = &alloc, .created_ns = 0, .ready_ns = -1, .ended_ns = -1
    };
    CHECK_I64(sim_recorder_worker(recorder, &worker, NULL), WEIR_OK);
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);
    CHECK_SQL(file.text, "SELECT length(devices) || ' ' || substr(devices, 1, 17) FROM worker",
              "511 nvdec0.0 nvdec0.1");
    CHECK_I64(close_folder(&folder), 1);
}

static void coarsening_keeps_means_and_counts(void)
{
    const struct folder folder = open_folder();
    const struct file_name file = name_in(&folder, "run.db");
    struct sim_recorder *recorder = open_recorder(file.text);
    add_experiment(recorder);
    CHECK_I64(add_run(recorder, 1, NULL), WEIR_OK);
    add_samples(recorder, 5);
    end_run(recorder);
    CHECK_I64(add_run(recorder, 2, NULL), WEIR_OK);
    add_samples(recorder, 7);
    CHECK_I64(sim_recorder_coarsen(recorder, NULL), WEIR_OK); /* 2 + 2 + 2 + 1 */
    CHECK_I64(sim_recorder_coarsen(recorder, NULL), WEIR_OK); /* 4 + 3 */
    end_run(recorder);
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);
    CHECK_SQL(file.text,
              "SELECT group_concat(run_id || ':' || n) FROM (SELECT run_id, count(*) AS "
              "n FROM node_sample GROUP BY run_id)",
              "1:10,2:4");
    CHECK_SQL(file.text,
              "SELECT group_concat(node || '@' || t_s || '+' || dt_s || '=' || "
              "cpu_active, ' ') FROM (SELECT * FROM node_sample WHERE run_id = 2 ORDER BY rowid)",
              "0@0.0+4.0=1.5 1@0.0+4.0=3.0 0@4.0+3.0=5.0 1@4.0+3.0=10.0");
    CHECK_SQL(file.text,
              "SELECT sum(items_done) || ' ' || sum(items_arrived) || ' ' || "
              "sum(gpu_active * dt_s) FROM cluster_sample WHERE run_id = 2",
              "21.0 7.0 21.0");
    CHECK_SQL(file.text, "SELECT sum(tasks_done) FROM stage_sample WHERE run_id = 2", "21.0");
    CHECK_I64(close_folder(&folder), 1);
}

/* Extremes of neighbours are those of the pair; NULL is none of them. */
static void coarsening_keeps_extremes(void)
{
    const struct folder folder = open_folder();
    const struct file_name file = name_in(&folder, "run.db");
    struct sim_recorder *recorder = open_recorder(file.text);
    add_experiment(recorder);
    CHECK_I64(add_run(recorder, 1, NULL), WEIR_OK);
    for (int i = 0; i < 4; i++) {
        const double memory[] = { i, 3 - i, 1 };
        const double power[] = { 100,
                                 i == 1   ? 50
                                 : i == 0 ? 70
                                          : (double)NAN,
                                 1, 1, i < 2 ? 40 - i : (double)NAN };
        CHECK_I64(sim_recorder_sample(recorder, SIM_SAMPLE_MEMORY, 0, i, 1, memory, 3, NULL),
                  WEIR_OK);
        CHECK_I64(sim_recorder_sample(recorder, SIM_SAMPLE_POWER, 0, i, 1, power, 5, NULL),
                  WEIR_OK);
    }
    CHECK_I64(sim_recorder_coarsen(recorder, NULL), WEIR_OK);
    end_run(recorder);
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);
    CHECK_SQL(file.text,
              "SELECT group_concat(in_use_bytes || '/' || in_use_max_bytes || '/' || "
              "spilled_bytes, ' ') FROM memory_sample",
              "0.5/3.0/2.0 2.5/1.0/2.0");
    CHECK_SQL(file.text,
              "SELECT group_concat(coalesce(cap_w, 'none') || '/' || coalesce(temperature_max_c, "
              "'none'), ' ') FROM power_sample",
              "50.0/40.0 none/none");
    CHECK_I64(close_folder(&folder), 1);
}

static void make_shard(const char *path, int64_t run_id)
{
    struct sim_recorder *recorder = open_recorder(path);
    add_experiment(recorder);
    CHECK_I64(sim_recorder_input_file(recorder, "x.csv", 12, 0xff, NULL), WEIR_OK);
    CHECK_I64(add_run(recorder, run_id, NULL), WEIR_OK);
    add_samples(recorder, (int)run_id * 3);
    end_run(recorder);
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);
}

/* One line over all rows of the tables that repeat bit for bit. */
static struct answer fingerprint(const char *path)
{
    return ask(path, "SELECT (SELECT group_concat(run_id || variant || status) FROM (SELECT * FROM "
                     "run ORDER BY run_id)) || '|' || (SELECT group_concat(run_id || '.' || n || "
                     "'.' || s) FROM (SELECT run_id, count(*) AS n, sum(cpu_active * (node + 1)) "
                     "AS s FROM node_sample GROUP BY run_id ORDER BY run_id)) || '|' || (SELECT "
                     "count(*) FROM experiment) || (SELECT count(*) FROM input_file)");
}

static void merged_shards_hold_the_same_rows_in_any_order(void)
{
    const struct folder folder = open_folder();
    const struct file_name shards[] = { name_in(&folder, "s1.db"), name_in(&folder, "s'2.db"),
                                        name_in(&folder, "s3.db") };
    const struct file_name there = name_in(&folder, "there.db");
    const struct file_name back = name_in(&folder, "back.db");
    for (int i = 0; i < 3; i++)
        make_shard(shards[i].text, i + 1);
    struct sim_recorder *one = open_recorder(there.text);
    struct sim_recorder *two = open_recorder(back.text);
    struct weir_error error = { 0 };
    for (int i = 0; i < 3; i++) {
        CHECK_I64(sim_recorder_merge(one, shards[i].text, &error), WEIR_OK);
        CHECK_I64(sim_recorder_merge(two, shards[2 - i].text, &error), WEIR_OK);
    }
    CHECK_I64(sim_recorder_merge(one, shards[0].text, &error), WEIR_EIO); /* in already */
    CHECK(strstr(error.text, "UNIQUE constraint failed") != NULL);
    const struct file_name notes = name_in(&folder, "notes.txt");
    write_text(notes.text, "not a database at all, and long enough to be read as a header of one, "
                           "which takes a hundred bytes\n");
    CHECK_I64(sim_recorder_merge(one, notes.text, &error), WEIR_EIO);
    CHECK_I64(sim_recorder_close(one, NULL), WEIR_OK);
    CHECK_I64(sim_recorder_close(two, NULL), WEIR_OK);
    CHECK_STR(fingerprint(there.text).text, fingerprint(back.text).text);
    CHECK_STR(fingerprint(there.text).text,
              "1basecomplete,2basecomplete,3basecomplete|1.6.15.0,2.12.75.0,3.18.180.0|11");
    CHECK_I64(close_folder(&folder), 6);
}

static void a_shard_counts_from_the_end_of_its_run_with_all_of_its_rows(void)
{
    const struct folder folder = open_folder();
    const struct file_name file = name_in(&folder, "run.db.part2");
    struct sim_recorder *recorder = test_open_shard(file.text, "run.db", "abc");
    bool is_held = true;
    CHECK_I64(add_run(recorder, 2, NULL), WEIR_OK);
    add_samples(recorder, 20);
    const struct sim_result_row nothing = {
        .metric = "m", .label = "", .unit = "s", .value = (double)NAN
    };
    const struct sim_result_row least = { .metric = "m", .label = "", .unit = "s", .value = -0.0 };
    CHECK_I64(sim_recorder_result(recorder, &nothing, NULL), WEIR_OK);
    CHECK_I64(sim_recorder_result(recorder, &least, NULL), WEIR_OK);
    CHECK_I64(sim_shard_holds(file.text, "abc", 2, &is_held, NULL), WEIR_OK);
    CHECK(!is_held); /* not over yet */
    end_run(recorder);
    CHECK_I64(sim_shard_holds(file.text, "abc", 2, &is_held, NULL), WEIR_OK);
    CHECK(is_held); /* though its writer has not closed it */
    CHECK_I64(sim_shard_holds(file.text, NULL, 2, &is_held, NULL), WEIR_OK);
    CHECK(is_held);
    CHECK_I64(sim_shard_holds(file.text, "another", 2, &is_held, NULL), WEIR_OK);
    CHECK(!is_held);
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);
    /* no value is not 0 */
    CHECK_SQL(file.text, "UPDATE result SET value = 0 WHERE value IS NULL RETURNING 1", "1");
    CHECK_I64(sim_shard_holds(file.text, "abc", 2, &is_held, NULL), WEIR_EIO);
    CHECK_SQL(file.text, "UPDATE result SET value = NULL WHERE rowid = 1 RETURNING 1", "1");
    CHECK_I64(sim_shard_holds(file.text, "abc", 2, &is_held, NULL), WEIR_OK);
    CHECK(is_held);
    CHECK_SQL(file.text, "UPDATE result SET value = iif(value IS NULL, 0, NULL) RETURNING 1", "1");
    CHECK_I64(sim_shard_holds(file.text, "abc", 2, &is_held, NULL), WEIR_EIO); /* another order */
    CHECK_SQL(file.text, "UPDATE result SET value = iif(value IS NULL, 0, NULL) RETURNING 1", "1");
    CHECK_SQL(file.text, "UPDATE result SET label = unit, unit = label RETURNING 1", "1");
    CHECK_I64(sim_shard_holds(file.text, "abc", 2, &is_held, NULL), WEIR_EIO);
    CHECK_SQL(file.text, "UPDATE result SET label = unit, unit = label RETURNING 1", "1");
    CHECK_SQL(file.text, "DELETE FROM node_sample WHERE rowid = 7 RETURNING 1", "1");
    CHECK_I64(sim_shard_holds(file.text, "abc", 2, &is_held, NULL), WEIR_EIO);
    CHECK(!is_held);
    CHECK_I64(close_folder(&folder), 1);
}

/* One that a stranger made wider. */
static void a_shard_of_other_tables_is_damaged(void)
{
    const struct folder folder = open_folder();
    const struct file_name file = name_in(&folder, "run.db.part1");
    struct sim_recorder *recorder = test_open_shard(file.text, "run.db", "abc");
    struct weir_error error = { 0 };
    sqlite3 *database = NULL;
    bool is_held = true;
    char sql[64];
    CHECK_I64(add_run(recorder, 1, NULL), WEIR_OK);
    end_run(recorder);
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);
    CHECK_I64(sqlite3_open(file.text, &database), SQLITE_OK);
    for (int c = 0; c < 100; c++) {
        (void)snprintf(sql, sizeof sql, "ALTER TABLE run ADD COLUMN c%d INTEGER", c);
        CHECK_I64(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    }
    CHECK_I64(sqlite3_close(database), SQLITE_OK);
    CHECK_I64(sim_shard_holds(file.text, "abc", 1, &is_held, &error), WEIR_EIO);
    CHECK(strstr(error.text, "columns") != NULL);
    CHECK(!is_held);
    CHECK_I64(close_folder(&folder), 1);
}

static void a_file_appears_with_its_experiment(void)
{
    const struct folder folder = open_folder();
    const struct file_name file = name_in(&folder, "run.db");
    struct sim_recorder *recorder = open_recorder(file.text);
    add_experiment(recorder);
    CHECK_I64(access(file.text, F_OK), -1);
    CHECK_I64(add_run(recorder, 1, NULL), WEIR_OK);
    CHECK_SQL(file.text, "SELECT scenario FROM experiment", "line");
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);
    CHECK_I64(close_folder(&folder), 1);
}

static void a_killed_writer_leaves_a_readable_file_marked_running(void)
{
    const struct folder folder = open_folder();
    const struct file_name file = name_in(&folder, "run.db");
    int ready[2] = { -1, -1 };
    CHECK_I64(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
        struct sim_recorder *recorder = NULL;
        if (sim_recorder_open(file.text, false, &recorder, NULL) != WEIR_OK)
            _exit(1);
        add_experiment(recorder);
        (void)add_run(recorder, 1, NULL);
        (void)write(ready[1], "x", 1);
        for (;;) /* killed while it writes */
            add_samples(recorder, 100);
    }
    char byte = 0;
    CHECK_I64(read(ready[0], &byte, 1), 1);
    (void)usleep(20000);
    CHECK_I64(kill(child, SIGKILL), 0);
    int status = 0;
    CHECK_I64(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status));
    CHECK_SQL(file.text, "PRAGMA integrity_check", "ok");
    CHECK_SQL(file.text, "SELECT status FROM run WHERE run_id = 1", "running");
    (void)close(ready[0]);
    (void)close(ready[1]);
    struct sim_recorder *recorder = NULL;
    CHECK_I64(sim_recorder_append(file.text, &recorder, NULL), WEIR_OK);
    CHECK_I64(add_run(recorder, 1, NULL), WEIR_OK);
    end_run(recorder);
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);
    CHECK_SQL(file.text, "SELECT status FROM run", "complete");
    CHECK_I64(close_folder(&folder), 1);
}

/* Writes until the file may not grow any more; 0 when the failure was reported as it should be. */
static int fill_the_disk(const char *path)
{
    struct sim_recorder *recorder = NULL;
    struct weir_error error = { 0 };
    if (sim_recorder_open(path, false, &recorder, NULL) != WEIR_OK ||
        add_run(recorder, 1, NULL) != WEIR_OK)
        return 1;
    const struct rlimit limit = { 400000, 400000 };
    if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || setrlimit(RLIMIT_FSIZE, &limit) != 0)
        return 2;
    const double values[8] = { 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8 };
    weir_status status = WEIR_OK;
    for (int i = 0; i < 300000 && status == WEIR_OK; i++)
        status = sim_recorder_sample(recorder, SIM_SAMPLE_NODE, 0, i, 1, values, 8, &error);
    if (status != WEIR_ENOMEM || !strstr(error.text, "full.db: cannot write: "))
        return 3;
    return sim_recorder_close(recorder, NULL) != WEIR_OK ? 0 : 4;
}

static void a_full_disk_is_an_error_that_names_the_file(void)
{
    const struct folder folder = open_folder();
    const struct file_name file = name_in(&folder, "full.db");
    const pid_t child = fork();
    if (child == 0)
        _exit(fill_the_disk(file.text));
    int status = 0;
    CHECK_I64(waitpid(child, &status, 0), child);
    CHECK_I64(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
    CHECK_SQL(file.text, "PRAGMA integrity_check", "ok");
    CHECK_SQL(file.text, "SELECT status FROM run", "running");
    CHECK(close_folder(&folder) >= 1);
}

static void a_reader_sees_the_run_while_it_is_written(void)
{
    const struct folder folder = open_folder();
    const struct file_name file = name_in(&folder, "run.db");
    struct sim_recorder *recorder = open_recorder(file.text);
    add_experiment(recorder);
    CHECK_I64(add_run(recorder, 1, NULL), WEIR_OK);
    CHECK_SQL(file.text, "PRAGMA journal_mode", "wal");
    add_samples(recorder, 20);
    CHECK_SQL(file.text, "SELECT status FROM run", "running"); /* in the middle of a transaction */
    end_run(recorder);
    CHECK_SQL(file.text, "SELECT count(*) FROM stage_sample", "20");
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);
    CHECK_I64(close_folder(&folder), 1);
}

/* A run that is over stays as it is, whatever a shard says of it; one that was not gives way. */
static void a_shard_replaces_only_what_was_not_over(void)
{
    const struct folder folder = open_folder();
    const struct file_name shard = name_in(&folder, "s.db");
    const struct file_name over = name_in(&folder, "over.db");
    const struct file_name killed = name_in(&folder, "killed.db");
    struct weir_error error = { 0 };
    struct sim_recorder *recorder = open_recorder(shard.text);
    add_experiment(recorder);
    CHECK_I64(add_run(recorder, 1, NULL), WEIR_OK);
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);
    recorder = open_recorder(over.text);
    add_experiment(recorder);
    CHECK_I64(add_run(recorder, 1, NULL), WEIR_OK);
    end_run(recorder);
    CHECK_I64(sim_recorder_merge(recorder, shard.text, &error), WEIR_EIO);
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);
    CHECK_SQL(over.text, "SELECT group_concat(status) FROM run", "complete");
    recorder = open_recorder(killed.text);
    add_experiment(recorder);
    CHECK_I64(add_run(recorder, 1, NULL), WEIR_OK);
    CHECK_I64(sim_recorder_merge(recorder, shard.text, &error), WEIR_OK);
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);
    CHECK_SQL(killed.text, "SELECT group_concat(status) FROM run", "running");
    CHECK_I64(close_folder(&folder), 3);
}

/* Who may not read the results may not read the shards they are made of. */
static void a_shard_is_read_by_those_who_may_read_the_whole(void)
{
    const struct folder folder = open_folder();
    const struct file_name whole = name_in(&folder, "run.db");
    const struct file_name part = name_in(&folder, "run.db.part1");
    struct stat there = { .st_mode = 0 };
    const mode_t mask = umask(022);
    write_text(whole.text, "x");
    CHECK_I64(chmod(whole.text, 0640), 0);
    struct sim_recorder *recorder = test_open_shard(part.text, whole.text, "abc");
    CHECK_I64(add_run(recorder, 1, NULL), WEIR_OK);
    end_run(recorder);
    CHECK_I64(sim_recorder_close(recorder, NULL), WEIR_OK);
    (void)umask(mask);
    CHECK_I64(stat(part.text, &there), 0);
    CHECK_I64(there.st_mode & 0777, 0640);
    CHECK_I64(close_folder(&folder), 2);
}

static const struct test tests[] = {
    { "a finished file is one file with everything in it",
      a_finished_file_is_one_file_with_everything_in_it },
    { "no recorder records nothing", no_recorder_records_nothing },
    { "foreign files are never touched", foreign_files_are_never_touched },
    { "results are replaced only when that is wanted",
      results_are_replaced_only_when_that_is_wanted },
    { "an unfinished run is replaced and a finished one is not",
      an_unfinished_run_is_replaced_and_a_finished_one_is_not },
    { "values that do not exist are NULL", values_that_do_not_exist_are_null },
    { "devices beyond the text are cut off", devices_beyond_the_text_are_cut_off },
    { "coarsening keeps means and counts", coarsening_keeps_means_and_counts },
    { "coarsening keeps extremes", coarsening_keeps_extremes },
    { "merged shards hold the same rows in any order",
      merged_shards_hold_the_same_rows_in_any_order },
    { "a shard counts from the end of its run with all of its rows",
      a_shard_counts_from_the_end_of_its_run_with_all_of_its_rows },
    { "a shard of other tables is damaged", a_shard_of_other_tables_is_damaged },
    { "a file appears with its experiment", a_file_appears_with_its_experiment },
    { "a killed writer leaves a readable file marked running",
      a_killed_writer_leaves_a_readable_file_marked_running },
    { "a full disk is an error that names the file", a_full_disk_is_an_error_that_names_the_file },
    { "a reader sees the run while it is written", a_reader_sees_the_run_while_it_is_written },
    { "a shard replaces only what was not over", a_shard_replaces_only_what_was_not_over },
    { "a shard is read by those who may read the whole",
      a_shard_is_read_by_those_who_may_read_the_whole },
};
TEST_MAIN(tests)
