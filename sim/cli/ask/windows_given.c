/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows by --from and --to; see the header. */
#include "sim/cli/ask/windows_given.h"

#include "analysis/database/query.h"
#include "sim/cli/commands.h"
#include "sim/cli/experiment/isolate_run.h"
#include "sim/cli/experiment/stored_run.h"
#include "sim/cli/plugin.h"
#include "sim/cli/tell/analysis_options.h"
#include "sim/files/written.h"
#include "sim/record/record.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WINDOWS = 3, NAME = 16 };

static const char *const names[WINDOWS] = { "before", "window", "after" };

static const struct sim_option given_rows[] = {
    { "from", 0, "TIME", SIM_OPTION(TEXT, sim_windows_given, from),
      "A window from this time on (1h30m since the start, 14:05 of the day, a stamp), beside "
      "before and after; the runs of a database are repeated for it" },
    { "to", 0, "TIME", SIM_OPTION(TEXT, sim_windows_given, to), "The window ends at this time" },
};
const struct sim_option_table sim_windows_given_options = { SIM_OPTION_ROWS(given_rows) };

bool sim_windows_is_given(const struct sim_windows_given *given)
{
    return given->from != NULL || given->to != NULL;
}

char *sim_windows_setting(const struct sim_windows_given *given)
{
    char *text = NULL;
    int length = -1;
    if (given->from != NULL && given->to != NULL)
        length = asprintf(&text, "windows={before: '..%s', window: '%s..%s', after: '%s..'}",
                          given->from, given->from, given->to, given->to);
    else if (given->from != NULL)
        length =
            asprintf(&text, "windows={before: '..%s', window: '%s..'}", given->from, given->from);
    else
        length = asprintf(&text, "windows={window: '..%s', after: '%s..'}", given->to, given->to);
    return length < 0 ? NULL : text;
}

/* ---- where they lie ---- */

struct windows {
    struct sim_window list[WINDOWS];
    char text[WINDOWS][NAME]; /* their names */
    size_t count;
};

static void add(struct windows *windows, size_t name, int64_t from_ns, int64_t to_ns)
{
    if (from_ns >= to_ns)
        return;
    char *text = windows->text[windows->count];
    (void)snprintf(text, NAME, "%s", names[name]);
    windows->list[windows->count++] =
        (struct sim_window){ .name = text, .from_ns = from_ns, .to_ns = to_ns };
}

static weir_status moment_of(const char *text, const struct an_run *run, double otherwise_s,
                             double *at_s, struct weir_error *error)
{
    struct an_moment moment = { .kind = AN_MOMENT_NONE };
    *at_s = otherwise_s;
    if (text == NULL)
        return WEIR_OK;
    if (!an_moment_parse(text, &moment))
        return weir_fail(error, WEIR_EINVAL, SIM_MOMENT_EXPECTED, text);
    return an_moment_in(&moment, run->start_unix_s, run->end_s, at_s, error);
}

static weir_status place(const struct sim_windows_given *given, const struct an_run *run,
                         struct windows *windows, struct weir_error *error)
{
    double from_s = 0.0;
    double to_s = 0.0;
    WEIR_TRY(moment_of(given->from, run, run->warmup_s, &from_s, error));
    WEIR_TRY(moment_of(given->to, run, run->end_s, &to_s, error));
    from_s = fmax(from_s, run->warmup_s);
    if (from_s >= to_s)
        return weir_fail(error, WEIR_EINVAL,
                         "the window ends before it begins, or before the end of the warm-up");
    const int64_t from_ns = sim_time_from_s(from_s);
    const int64_t to_ns = given->to == NULL ? SIM_TIME_MAX : sim_time_from_s(to_s);
    add(windows, 0, sim_time_from_s(run->warmup_s), from_ns);
    add(windows, 1, from_ns, to_ns);
    if (given->to != NULL && to_s < run->end_s)
        add(windows, 2, to_ns, SIM_TIME_MAX);
    return WEIR_OK;
}

static weir_status find_windows(const char *database, const struct sim_windows_given *given,
                                struct windows *windows, struct weir_error *error)
{
    struct an_db *db = NULL;
    struct an_run *run = NULL;
    WEIR_TRY(an_open(database, &db, error));
    weir_status status = an_run_find(db, NULL, 0, &run, error);
    if (status == WEIR_OK)
        status = place(given, run, windows, error);
    an_run_destroy(run);
    an_close(db);
    return status;
}

/* ---- the runs once more ---- */

static weir_status repeat_one(const struct sim_stored *stored, const struct sim_stored_run *run,
                              const struct sim_policies *policies, struct windows *windows,
                              struct sim_recorder *recorder, struct weir_error *error)
{
    struct sim_scenario *scenario = NULL;
    struct sim_run_summary *summary = calloc(1, sizeof *summary);
    if (summary == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    weir_status status = sim_stored_scenario(stored, run, policies, &scenario, error);
    if (status == WEIR_OK) {
        scenario->windows = windows->list;
        scenario->windows_count = windows->count;
        const struct sim_run_options options = { .seed = run->seed,
                                                 .replication = run->replication,
                                                 .experiment_id = 1,
                                                 .run_id = run->run_id,
                                                 .variant = run->variant,
                                                 .variant_order = run->variant_order,
                                                 .recorder = recorder,
                                                 .export_at_s = (double)NAN };
        status = sim_run(scenario, &options, summary);
        if (status != WEIR_OK && strcmp(run->status, "failed") == 0)
            status = WEIR_OK; /* once more */
        else if (status != WEIR_OK)
            (void)weir_fail(error, status, "%s", summary->message);
        else if (summary->digest != run->event_digest)
            status = weir_fail(error, WEIR_EIO,
                               "%s: run %" PRId64 " (%s, replication %u) does not come out the "
                               "same again: weir run says why",
                               stored->path, run->run_id, run->variant, run->replication);
    }
    sim_scenario_destroy(scenario);
    free(summary);
    return status;
}

static weir_status repeat_all(const struct sim_stored *stored, const struct sim_policies *policies,
                              struct windows *windows, const char *scratch,
                              struct weir_error *error)
{
    struct sim_recorder *recorder = NULL;
    int64_t id = 0;
    const struct sim_experiment_row row = {
        .scenario = stored->scenario,
        .description = "",
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
        .resolved_yaml = stored->runs[0].resolved,
        .command_line = stored->command_line,
        .baseline = stored->runs[0].variant
    };
    WEIR_TRY(sim_recorder_open(scratch, true, &recorder, error));
    weir_status status = sim_recorder_experiment(recorder, &row, &id, error);
    for (size_t i = 0; i < stored->runs_count && status == WEIR_OK; i++)
        if (strcmp(stored->runs[i].status, "running") != 0 &&
            strcmp(stored->runs[i].status, "interrupted") != 0)
            status = repeat_one(stored, &stored->runs[i], policies, windows, recorder, error);
    const weir_status closed = sim_recorder_close(recorder, status == WEIR_OK ? error : NULL);
    return status == WEIR_OK ? closed : status;
}

/* ---- the copy ---- */

static weir_status run_sql(sqlite3 *db, const char *sql, const char *text, struct weir_error *error)
{
    sqlite3_stmt *statement = NULL;
    errno = 0;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    if (code == SQLITE_OK && text != NULL)
        code = sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    const bool is_done = code == SQLITE_DONE || code == SQLITE_ROW;
    const weir_status status = is_done ? WEIR_OK
                                       : weir_fail(error, sim_record_status(db),
                                                   "a copy cannot be made: %s", sqlite3_errmsg(db));
    (void)sqlite3_finalize(statement);
    return status;
}

static weir_status copy_all(const char *database, const char *copy, struct weir_error *error)
{
    sqlite3 *db = NULL;
    weir_status status = WEIR_OK;
    if (sqlite3_open_v2(database, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        status = weir_fail(error, WEIR_EIO, "%s: cannot be opened", database);
    if (status == WEIR_OK)
        status = run_sql(db, "VACUUM INTO ?1", copy, error);
    (void)sqlite3_close(db);
    return status;
}

/* Its windows, and what was measured in them, take the place of those there were. */
static weir_status put_windows(const char *copy, const char *scratch, const struct windows *windows,
                               struct weir_error *error)
{
    char json[400] = "[";
    size_t used = 1;
    for (size_t i = 0; i < windows->count; i++) {
        const struct sim_window *window = &windows->list[i];
        char to[32] = "null";
        if (window->to_ns != SIM_TIME_MAX)
            (void)snprintf(to, sizeof to, "%.9f", sim_time_s(window->to_ns));
        used += (size_t)snprintf(json + used, sizeof json - used,
                                 "%s{\"name\":\"%s\",\"from_s\":%.9f,\"to_s\":%s}",
                                 i == 0 ? "" : ",", window->name, sim_time_s(window->from_ns), to);
    }
    (void)snprintf(json + used, sizeof json - used, "]");
    sqlite3 *db = NULL;
    weir_status status = WEIR_OK;
    if (sqlite3_open_v2(copy, &db, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
        status = weir_fail(error, WEIR_EIO, "%s: cannot be opened", copy);
    if (status == WEIR_OK)
        status = run_sql(db, "ATTACH ?1 AS made", scratch, error);
    if (status == WEIR_OK)
        status = run_sql(db, "DELETE FROM result WHERE instr(metric, '@')", NULL, error);
    if (status == WEIR_OK)
        status =
            run_sql(db, "INSERT INTO result SELECT * FROM made.result WHERE instr(metric, '@')",
                    NULL, error);
    if (status == WEIR_OK)
        status = run_sql(db, "REPLACE INTO meta VALUES ('windows', ?1)", json, error);
    (void)sqlite3_close(db);
    return status;
}

/* A name of a file that is not there yet. */
static weir_status name_file(char path[SIM_WINDOWS_COPY], struct weir_error *error)
{
    WEIR_TRY(written_temporary(path, SIM_WINDOWS_COPY, error));
    (void)unlink(path);
    return WEIR_OK;
}

static weir_status measure(const struct sim_stored *stored, const struct sim_policies *policies,
                           struct windows *windows, char copy[SIM_WINDOWS_COPY],
                           struct weir_error *error)
{
    char scratch[SIM_WINDOWS_COPY] = "";
    if (sim_isolate_needed(policies))
        return weir_fail(error, WEIR_EUNSUPPORTED,
                         "%s: was made with modules; give its scenario windows instead",
                         stored->path);
    WEIR_TRY(name_file(scratch, error));
    weir_status status = repeat_all(stored, policies, windows, scratch, error);
    if (status == WEIR_OK)
        status = name_file(copy, error);
    if (status == WEIR_OK)
        status = copy_all(stored->path, copy, error);
    if (status == WEIR_OK)
        status = put_windows(copy, scratch, windows, error);
    sim_record_remove(scratch);
    return status;
}

int sim_windows_measure(const char *database, const struct sim_windows_given *given,
                        const struct sim_options *options, char copy[SIM_WINDOWS_COPY])
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_policies policies = { 0 };
    struct sim_stored stored = { 0 };
    struct windows windows = { .count = 0 };
    copy[0] = '\0';
    if (!sim_windows_is_given(given))
        return SIM_EXIT_OK;
    weir_status status = find_windows(database, given, &windows, &error);
    if (status == WEIR_OK)
        status = sim_stored_open(database, NULL, SIM_ALL_REPLICATIONS, &stored, &error);
    int code = sim_analysis_exit(status, &error);
    if (code == SIM_EXIT_OK)
        code = sim_stored_policies(&stored, options, &policies);
    if (code == SIM_EXIT_OK)
        code = sim_analysis_exit(measure(&stored, &policies, &windows, copy, &error), &error);
    if (code != SIM_EXIT_OK && copy[0] != '\0') {
        (void)unlink(copy);
        copy[0] = '\0';
    }
    sim_plugins_clear(&policies);
    sim_stored_clear(&stored);
    return code;
}
