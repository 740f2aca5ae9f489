/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading runs and files of a result database (see stored_run.h). */
#include "sim/cli/stored_run.h"
#include "sim/cli/load.h"

#include "analysis/database.h"
#include "sim/cli/options.h"
#include "sim/cli/plugin.h"
#include "sim/engine/digest.h"
#include "sim/record/record.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ---- */

/* The whole file; NULL when it cannot be read. */
static char *read_all(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    size_t size = 0;
    if (file == NULL)
        return NULL;
    FILE *copy = open_memstream(&bytes, &size);
    char block[4096];
    size_t got = 0;
    while (copy != NULL && (got = fread(block, 1, sizeof(block), file)) > 0)
        (void)fwrite(block, 1, got, copy);
    const bool is_read = ferror(file) == 0;
    (void)fclose(file);
    if (copy == NULL || fclose(copy) != 0 || !is_read) {
        free(bytes);
        return NULL;
    }
    *length = size;
    return bytes;
}

static void look_at(struct sim_stored_file *file)
{
    size_t length = 0;
    char *bytes = read_all(file->opened, &length);
    file->is_there = bytes != NULL;
    if (bytes == NULL)
        return;
    file->digest_now = sim_digest_bytes(SIM_DIGEST_START, bytes, length);
    file->is_module = length > 4 && memcmp(bytes, "\177ELF", 4) == 0;
    free(bytes);
}

/* Files that a scenario names lie where it lies; modules where the program was started. */
static void find_file(const struct sim_stored *stored, struct sim_stored_file *file)
{
    const char *slash = stored->files_count == 1 ? NULL : strrchr(stored->files[0].path, '/');
    char *joined = NULL;
    if (slash != NULL && file->path[0] != '/' &&
        asprintf(&joined, "%.*s%s", (int)(slash + 1 - stored->files[0].path), stored->files[0].path,
                 file->path) >= 0) {
        file->opened = joined;
        look_at(file);
        if (file->is_there && file->digest_now == file->digest)
            return;
    }
    struct sim_stored_file plain = *file;
    plain.opened = strdup(file->path);
    look_at(&plain);
    if (joined == NULL || (plain.is_there && (plain.digest_now == file->digest || !file->is_there)))
        *file = plain;
    free(file->opened == joined ? plain.opened : joined);
}

weir_status sim_stored_digest(const char *path, int64_t *bytes, uint64_t *digest,
                              struct weir_error *error)
{
    size_t length = 0;
    char *text = read_all(path, &length);
    if (text == NULL)
        return weir_fail(error, WEIR_EIO, "%s: %s", path, strerror(errno));
    *bytes = (int64_t)length;
    *digest = sim_digest_bytes(SIM_DIGEST_START, text, length);
    free(text);
    return WEIR_OK;
}

weir_status sim_experiment_record_files(struct sim_recorder *recorder, const char *const *paths,
                                        size_t count, struct weir_error *error)
{
    for (size_t i = 0; i < count && recorder != NULL; i++) {
        int64_t length = 0;
        uint64_t digest = 0;
        WEIR_TRY(sim_stored_digest(paths[i], &length, &digest, error));
        WEIR_TRY(sim_recorder_input_file(recorder, paths[i], length, digest, error));
    }
    return WEIR_OK;
}

/* ---- reading ---- */

static char *text_at(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return strdup(text == NULL ? "" : text);
}

static uint64_t hex_at(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text == NULL ? 0 : strtoull(text, NULL, 16);
}

static weir_status add_run(sqlite3_stmt *row, struct sim_stored *stored)
{
    struct sim_stored_run *grown =
        realloc(stored->runs, (stored->runs_count + 1) * sizeof(*stored->runs));
    if (grown == NULL)
        return WEIR_ENOMEM;
    stored->runs = grown;
    grown[stored->runs_count++] =
        (struct sim_stored_run){ .run_id = sqlite3_column_int64(row, 0),
                                 .variant = text_at(row, 1),
                                 .variant_order = (uint32_t)sqlite3_column_int64(row, 2),
                                 .replication = (uint32_t)sqlite3_column_int64(row, 3),
                                 .seed = (uint64_t)sqlite3_column_int64(row, 4),
                                 .resolved = text_at(row, 5),
                                 .status = text_at(row, 6),
                                 .events = (uint64_t)sqlite3_column_int64(row, 7),
                                 .event_digest = hex_at(row, 8),
                                 .result_digest = hex_at(row, 9),
                                 .scenario_digest = hex_at(row, 10) };
    return WEIR_OK;
}

static weir_status add_file(sqlite3_stmt *row, struct sim_stored *stored)
{
    struct sim_stored_file *grown =
        realloc(stored->files, (stored->files_count + 1) * sizeof(*stored->files));
    if (grown == NULL)
        return WEIR_ENOMEM;
    stored->files = grown;
    struct sim_stored_file *file = &grown[stored->files_count++];
    *file = (struct sim_stored_file){ .path = text_at(row, 0),
                                      .bytes = sqlite3_column_int64(row, 1),
                                      .digest = hex_at(row, 2) };
    find_file(stored, file);
    return WEIR_OK;
}

static weir_status add_names(sqlite3_stmt *row, struct sim_stored *stored)
{
    stored->scenario = text_at(row, 0);
    stored->command_line = text_at(row, 1);
    return WEIR_OK;
}

struct query {
    const char *variant;
    uint32_t replication;
    weir_status (*add)(sqlite3_stmt *row, struct sim_stored *stored);
};

static weir_status read_rows(sqlite3 *db, const char *sql, const struct query *query,
                             struct sim_stored *stored, struct weir_error *error)
{
    sqlite3_stmt *row = NULL;
    weir_status status = WEIR_OK;
    int code = sqlite3_prepare_v2(db, sql, -1, &row, NULL);
    if (code == SQLITE_OK && sqlite3_bind_parameter_count(row) == 2) {
        (void)sqlite3_bind_text(row, 1, query->variant, -1, SQLITE_STATIC);
        if (query->replication != SIM_ALL_REPLICATIONS)
            (void)sqlite3_bind_int64(row, 2, query->replication);
    }
    while (code == SQLITE_OK && status == WEIR_OK && (code = sqlite3_step(row)) == SQLITE_ROW) {
        status = query->add(row, stored);
        code = SQLITE_OK;
    }
    if (status == WEIR_OK && code != SQLITE_DONE)
        status = weir_fail(error, WEIR_EIO, "%s: %s", stored->path, sqlite3_errmsg(db));
    (void)sqlite3_finalize(row);
    return status;
}

static weir_status read_all_rows(sqlite3 *db, const char *variant, uint32_t replication,
                                 struct sim_stored *stored, struct weir_error *error)
{
    const struct query names = { .add = add_names };
    const struct query runs = { variant, replication, add_run };
    const struct query files = { .add = add_file };
    WEIR_TRY(read_rows(db, "SELECT scenario, command_line FROM experiment", &names, stored, error));
    WEIR_TRY(
        read_rows(db,
                  "SELECT r.run_id, r.variant, r.variant_order, r.replication, r.seed, "
                  "r.resolved_yaml, r.status, r.events, r.event_digest, r.result_digest, "
                  "r.scenario_digest "
                  "FROM run r JOIN experiment e USING (experiment_id) "
                  "WHERE (?1 IS NULL OR r.variant = CASE ?1 WHEN '' THEN e.baseline ELSE ?1 END) "
                  "AND (?2 IS NULL OR r.replication = ?2) ORDER BY r.run_id",
                  &runs, stored, error));
    WEIR_TRY(read_rows(db, "SELECT path, bytes, digest FROM input_file ORDER BY rowid", &files,
                       stored, error));
    if (stored->runs_count > 0)
        return WEIR_OK;
    return weir_fail(error, WEIR_ENOTFOUND, "%s: no run of variant %s%s", stored->path,
                     variant == NULL || variant[0] == '\0' ? "(baseline)" : variant,
                     replication == SIM_ALL_REPLICATIONS ? "" : " with that replication");
}

weir_status sim_stored_read(sqlite3 *db, const char *database, const char *variant,
                            uint32_t replication, struct sim_stored *stored,
                            struct weir_error *error)
{
    *stored = (struct sim_stored){ .path = strdup(database) };
    return read_all_rows(db, variant, replication, stored, error);
}

weir_status sim_stored_open(const char *database, const char *variant, uint32_t replication,
                            struct sim_stored *stored, struct weir_error *error)
{
    sqlite3 *db = NULL;
    *stored = (struct sim_stored){ 0 };
    WEIR_TRY(an_database_open(database, AN_TO_READ, &db, error));
    const weir_status status = sim_stored_read(db, database, variant, replication, stored, error);
    (void)sqlite3_close(db);
    return status;
}

void sim_stored_clear(struct sim_stored *stored)
{
    for (size_t i = 0; i < stored->runs_count; i++) {
        free(stored->runs[i].variant);
        free(stored->runs[i].resolved);
        free(stored->runs[i].status);
    }
    for (size_t i = 0; i < stored->files_count; i++) {
        free(stored->files[i].path);
        free(stored->files[i].opened);
    }
    free(stored->runs);
    free(stored->files);
    free(stored->scenario);
    free(stored->command_line);
    free(stored->path);
    *stored = (struct sim_stored){ 0 };
}

/* ---- using ---- */

weir_status sim_stored_scenario(const struct sim_stored *stored, const struct sim_stored_run *run,
                                const struct sim_policies *policies, struct sim_scenario **scenario,
                                struct weir_error *error)
{
    struct sim_diagnostics diagnostics = { 0 };
    if (sim_digest_bytes(SIM_DIGEST_START, run->resolved, strlen(run->resolved)) !=
        run->scenario_digest)
        return weir_fail(error, WEIR_EIO,
                         "%s: is damaged: the scenario of run %" PRId64
                         " is not the one that was stored",
                         stored->path, run->run_id);
    /* Files that the scenario names are sought where its own file lies. */
    const bool has_file = stored->files_count > 0 && !stored->files[0].is_module;
    const struct sim_scenario_source source = { .path =
                                                    has_file ? stored->files[0].path : stored->path,
                                                .text = run->resolved,
                                                .policies = policies,
                                                .metric_named = sim_cli_metric,
                                                .moment_since = sim_cli_moment };
    const weir_status status = sim_scenario_load(&source, scenario, &diagnostics);
    if (diagnostics.errors > 0) {
        sim_diagnostics_print(&diagnostics, stderr);
        (void)weir_fail(error, status, "%s: its scenario cannot be read any more", stored->path);
    }
    sim_diagnostics_clear(&diagnostics);
    return status;
}

int sim_stored_policies(const struct sim_stored *stored, const struct sim_options *options,
                        struct sim_policies *policies)
{
    if (options->plugins.count > 0)
        return sim_plugins_load(&options->plugins, options->in_process, policies);
    const char **paths = calloc(stored->files_count + 1, sizeof(*paths));
    size_t found = 0;
    if (paths == NULL)
        return SIM_EXIT_INVARIANT;
    for (size_t i = 0; i < stored->files_count; i++)
        if (stored->files[i].is_module)
            paths[found++] = stored->files[i].opened;
    const int code =
        sim_plugins_load(&(struct sim_words){ paths, found }, options->in_process, policies);
    free(paths);
    return code;
}
