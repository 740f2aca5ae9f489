/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Versions of result databases; see the header. */
#include "sim/cli/file_version.h"

#include "sim/record/record.h"

#include <sqlite3.h>

enum {
    WEIR_APPLICATION = 0x77656972,
    MODEL_STORED_SINCE = 6, /* database version */
    SECOND_MODEL_SINCE = 5  /* no older one was computed by it */
};

/* What came with each version of the database. */
static const char *const database_news[SIM_RECORD_SCHEMA_VERSION + 1] = {
    [1] = "the first",
    [2] = "candidates of placements, jobs in time, changes and moves of static experiments",
    [3] = "workers and decisions of jobs",
    [4] = "names and requests of jobs, holders of what is denied",
    [5] = "power of nodes in time",
    [6] = "links, stores, memory, caps, throttles and temperatures in time, the model version",
};

/* What the first model made of scenarios that today's reads. */
static const char *const first_model[] = {
    "contention was looked at once, when a task or job began: neighbours that came or went later, "
    "and nodes that became slow, changed nothing for it, and a device could give more than it has",
    "workers that take turns on a GPU were slowed down by those that were there at their start, so "
    "that two equal jobs ended one after the other",
    "all GPU types were equally fast where the scenario gave no speed, and work on an instance of "
    "a "
    "GPU took as long as on the whole",
    "bytes between stages, of inputs and of model weights took no time: no interface, uplink or "
    "store was ever full, and no scenario could say that it is",
    "the built-in idle power of some GPU types was another (B200 140 W instead of 130 W), and with "
    "it "
    "energy",
    "memory that work takes, power caps and heat, failures of GPUs, switches and racks, start "
    "latency "
    "and checkpoints of jobs were not there; a scenario that says nothing of them is not changed "
    "by "
    "them",
};

static int64_t number_of(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *row = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW)
        value = sqlite3_column_int64(row, 0);
    (void)sqlite3_finalize(row);
    return value;
}

/* -1 when it is no result database, or the query gives nothing. */
static int64_t ask(const char *path, const char *sql)
{
    sqlite3 *db = NULL;
    int64_t value = -1;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK &&
        number_of(db, "PRAGMA application_id") == WEIR_APPLICATION)
        value = number_of(db, sql);
    (void)sqlite3_close(db);
    return value;
}

int64_t sim_file_database(const char *path)
{
    return ask(path, "PRAGMA user_version");
}

int64_t sim_file_model(const char *path)
{
    const int64_t database = sim_file_database(path);
    if (database < 0)
        return -1;
    if (database >= MODEL_STORED_SINCE)
        return ask(path, "SELECT value FROM meta WHERE key = 'model_version'");
    return database >= SECOND_MODEL_SINCE ? 0 : 1;
}

const char *sim_file_database_news(int64_t version, struct sim_arena *arena)
{
    const char *news = "";
    for (int64_t i = version + 1; i <= SIM_RECORD_SCHEMA_VERSION; i++)
        news =
            sim_arena_printf(arena, "%s%s%s", news, news[0] == '\0' ? "" : "; ", database_news[i]);
    return news;
}

const char *sim_file_model_news(int64_t model, size_t index)
{
    const size_t count = sizeof first_model / sizeof first_model[0];
    return model < SIM_RECORD_MODEL_VERSION && index < count ? first_model[index] : NULL;
}
