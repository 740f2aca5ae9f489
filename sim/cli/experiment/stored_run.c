/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reading runs and files of a result database (see stored_run.h). */
#include "sim/cli/experiment/stored_run.h"
#include "sim/cli/load.h"

#include "analysis/database/database.h"
#include "sim/cli/options.h"
#include "sim/cli/plugin.h"
#include "sim/engine/digest.h"
#include "sim/record/record.h"
#include "sim/scenario/read/input_file.h"
#include "workloads/limits.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ---- */

static weir_status find_module(const char *path, bool *is_one, struct weir_error *error)
{
    char head[4] = { 0 };
    FILE *file = fopen(path, "rb");
    *is_one = file != NULL && fread(head, 1, sizeof head, file) == sizeof head &&
              memcmp(head, "\177ELF", sizeof head) == 0;
    const bool is_read = file != NULL && ferror(file) == 0;
    const int reason = errno;
    if (file != NULL)
        (void)fclose(file);
    return is_read ? WEIR_OK
                   : weir_fail(error, WEIR_EIO, "%s: cannot be read: %s", path, strerror(reason));
}

/* What is there but cannot be read is an error: nobody knows whether it is another one. */
static weir_status look_at(struct sim_stored_file *file, struct weir_error *error)
{
    int64_t bytes = 0;
    const weir_status status =
        sim_input_file_digest(file->opened, &bytes, &file->digest_now, error);
    file->is_there = status == WEIR_OK;
    if (file->is_there)
        return find_module(file->opened, &file->is_module, error);
    return status == WEIR_ENOTFOUND ? WEIR_OK : status;
}

/* Files that a scenario names lie where it lies; modules where the program was started. */
static weir_status find_file(const struct sim_stored *stored, struct sim_stored_file *file,
                             struct weir_error *error)
{
    const char *slash = stored->files_count == 1 ? NULL : strrchr(stored->files[0].path, '/');
    char *joined = NULL;
    weir_status status = WEIR_OK;
    if (slash != NULL && file->path[0] != '/' &&
        asprintf(&joined, "%.*s%s", (int)(slash + 1 - stored->files[0].path), stored->files[0].path,
                 file->path) >= 0) {
        file->opened = joined;
        status = look_at(file, error);
        if (status != WEIR_OK || (file->is_there && file->digest_now == file->digest))
            return status;
    }
    struct sim_stored_file plain = *file;
    plain.opened = strdup(file->path);
    status = look_at(&plain, error);
    if (joined == NULL || (plain.is_there && (plain.digest_now == file->digest || !file->is_there)))
        *file = plain;
    free(file->opened == joined ? plain.opened : joined);
    return status;
}

weir_status sim_stored_digest(const char *path, int64_t *bytes, uint64_t *digest,
                              struct weir_error *error)
{
    const weir_status status = sim_input_file_digest(path, bytes, digest, error);
    return status == WEIR_OK ? WEIR_OK : WEIR_EIO;
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

static weir_status add_run(sqlite3_stmt *row, struct sim_stored *stored, struct weir_error *error)
{
    (void)error;
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

static weir_status add_file(sqlite3_stmt *row, struct sim_stored *stored, struct weir_error *error)
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
    return find_file(stored, file, error);
}

static weir_status add_names(sqlite3_stmt *row, struct sim_stored *stored, struct weir_error *error)
{
    (void)error;
    stored->scenario = text_at(row, 0);
    stored->command_line = text_at(row, 1);
    return WEIR_OK;
}

struct query {
    const char *variant;
    uint32_t replication;
    weir_status (*add)(sqlite3_stmt *row, struct sim_stored *stored, struct weir_error *error);
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
        status = query->add(row, stored, error);
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

static bool is_unchanged(const struct sim_stored *stored)
{
    for (size_t i = 1; i < stored->files_count; i++) /* the first is the scenario itself */
        if (!stored->files[i].is_there || stored->files[i].digest_now != stored->files[i].digest)
            return false;
    return true;
}

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
    /* Who has read these files once may read them again. */
    static const struct wl_limits without = { .unpacked_mib = UINT64_MAX };
    /* What other variants change may not be there to change in this one. */
    static const char *const alone[] = { "compare=[]", "expect=[]" };
    const bool has_file = stored->files_count > 0 && !stored->files[0].is_module;
    const struct sim_scenario_source source = { .path =
                                                    has_file ? stored->files[0].path : stored->path,
                                                .text = run->resolved,
                                                .sets = alone,
                                                .sets_count = sizeof alone / sizeof alone[0],
                                                .limits = is_unchanged(stored) ? &without : NULL,
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
