/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Versions of result databases; see the header. */
#include "sim/cli/look/file_version.h"

#include "analysis/database/database.h"
#include "sim/record/record.h"

#include <sqlite3.h>

enum {
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
    [7] = "what links could give in time, while they are slow or out",
    [8] = "who did what to which model, features of forecasts in time",
    [9] = "items that left without being done",
    [10] = "run times of jobs",
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

int64_t sim_file_database(const char *path)
{
    int64_t version = -1;
    return an_database_version(path, &version, NULL) == WEIR_OK ? version : -1;
}

/* -1 when it cannot be read. */
static int64_t stored_model(sqlite3 *db)
{
    sqlite3_stmt *row = NULL;
    int64_t model = -1;
    if (sqlite3_prepare_v2(db, "SELECT value FROM meta WHERE key = 'model_version'", -1, &row,
                           NULL) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW)
        model = sqlite3_column_int64(row, 0);
    (void)sqlite3_finalize(row);
    return model;
}

weir_status sim_file_model(const char *path, int64_t *model, struct weir_error *error)
{
    sqlite3 *db = NULL;
    int64_t database = 0;
    WEIR_TRY(an_database_version(path, &database, error));
    WEIR_TRY(an_database_open(path, AN_TO_READ, &db, error));
    *model = database >= MODEL_STORED_SINCE   ? stored_model(db)
             : database >= SECOND_MODEL_SINCE ? 0
                                              : 1;
    (void)sqlite3_close(db);
    return *model >= 0
               ? WEIR_OK
               : weir_fail(error, WEIR_EIO, "%s: the version of its model cannot be read", path);
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
