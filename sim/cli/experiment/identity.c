/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The facts that define an experiment (see identity.h). */
#include "sim/cli/experiment/identity.h"

#include "sim/cli/build_info.h"
#include "sim/cli/experiment/stored_run.h"
#include "sim/engine/digest.h"
#include "sim/record/record.h"

#include <gsl/gsl_version.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SHOWN = 60 };

/* ---- building ---- */

static const struct sim_fact *find(const struct sim_identity *identity, const char *name)
{
    for (size_t i = 0; i < identity->count; i++)
        if (strcmp(identity->facts[i].name, name) == 0)
            return &identity->facts[i];
    return NULL;
}

/* Takes the two texts; a fact that is known already is not repeated. */
static weir_status take(struct sim_identity *identity, char *name, char *value)
{
    struct sim_fact *grown = NULL;
    if (name != NULL && value != NULL && find(identity, name) == NULL)
        grown = realloc(identity->facts, (identity->count + 1) * sizeof(*grown));
    if (grown == NULL) {
        const bool is_known = name != NULL && value != NULL && find(identity, name) != NULL;
        free(name);
        free(value);
        return is_known ? WEIR_OK : WEIR_ENOMEM;
    }
    identity->facts = grown;
    grown[identity->count++] = (struct sim_fact){ name, value };
    return WEIR_OK;
}

__attribute__((format(printf, 1, 2))) static char *text_of(const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    va_start(arguments, format);
    const int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    return length < 0 ? NULL : text;
}

static weir_status add_program(struct sim_identity *identity)
{
    WEIR_TRY(take(identity, strdup("program"),
                  text_of("%s (%s%s)", sim_build_version(), sim_build_commit(),
                          sim_build_dirty() ? ", changed" : "")));
    return take(identity, strdup("gsl"), strdup(gsl_version));
}

static weir_status add_digest(struct sim_identity *identity, char *name, uint64_t digest)
{
    return take(identity, name, text_of("%016" PRIx64, digest));
}

/* The first file is the scenario's own: what it says is in the resolved one, and nothing else. */
static weir_status add_scenario(struct sim_identity *identity, const char *label,
                                const struct sim_scenario *scenario)
{
    WEIR_TRY(add_digest(identity, text_of("scenario of variant %s", label), scenario->digest));
    for (size_t i = 1; i < scenario->files_count; i++)
        WEIR_TRY(add_digest(identity, text_of("input file %s", scenario->files[i].path),
                            scenario->files[i].digest));
    return WEIR_OK;
}

static weir_status add_modules(struct sim_identity *identity,
                               const struct sim_experiment_options *options,
                               struct weir_error *error)
{
    for (size_t i = 0; i < options->plugins_count; i++) {
        int64_t bytes = 0;
        uint64_t digest = 0;
        WEIR_TRY(sim_stored_digest(options->plugins[i], &bytes, &digest, error));
        WEIR_TRY(add_digest(identity, text_of("module %s", options->plugins[i]), digest));
    }
    return options->plugins_count == 0
               ? WEIR_OK
               : take(identity, strdup("place of modules"),
                      strdup(options->in_process ? "the process of the run"
                                                 : "a process of their own"));
}

static weir_status add_all(const struct sim_experiment_options *options,
                           const struct sim_experiment *experiment, struct sim_identity *identity,
                           struct weir_error *error)
{
    const uint64_t seed = options->seed != NULL ? *options->seed : experiment->scenarios[0]->seed;
    WEIR_TRY(add_program(identity));
    WEIR_TRY(take(identity, strdup("seed"), text_of("%" PRIu64, seed)));
    WEIR_TRY(take(identity, strdup("number of replications"),
                  text_of("%" PRIu32, experiment->replications)));
    if (options->rounds != NULL)
        WEIR_TRY(take(identity, strdup("choice of runs"), strdup(options->rounds->rule)));
    for (size_t v = 0; v < experiment->variant_count; v++)
        if (!options->is_lazy || v == 0) /* the others follow from it and the choice */
            WEIR_TRY(add_scenario(identity, experiment->labels[v], experiment->scenarios[v]));
    return add_modules(identity, options, error);
}

weir_status sim_identity_build(const struct sim_experiment_options *options,
                               const struct sim_experiment *experiment,
                               struct sim_identity *identity, struct weir_error *error)
{
    uint64_t digest = SIM_DIGEST_START;
    *identity = (struct sim_identity){ 0 };
    const weir_status status = add_all(options, experiment, identity, error);
    if (status == WEIR_ENOMEM)
        return weir_fail(error, status, "out of memory");
    for (size_t i = 0; i < identity->count; i++) {
        const struct sim_fact *fact = &identity->facts[i];
        digest = sim_digest_bytes(digest, fact->name, strlen(fact->name));
        digest = sim_digest_bytes(digest, fact->value, strlen(fact->value));
    }
    (void)snprintf(identity->digest, sizeof(identity->digest), "%016" PRIx64, digest);
    return status;
}

void sim_identity_clear(struct sim_identity *identity)
{
    for (size_t i = 0; i < identity->count; i++) {
        free(identity->facts[i].name);
        free(identity->facts[i].value);
    }
    free(identity->facts);
    *identity = (struct sim_identity){ 0 };
}

weir_status sim_identity_write(const struct sim_identity *identity, struct sim_recorder *recorder,
                               struct weir_error *error)
{
    for (size_t i = 0; i < identity->count; i++) {
        char *key = text_of("identity_%s", identity->facts[i].name);
        const weir_status status =
            key == NULL ? weir_fail(error, WEIR_ENOMEM, "out of memory")
                        : sim_recorder_meta(recorder, key, identity->facts[i].value, error);
        free(key);
        WEIR_TRY(status);
    }
    return sim_recorder_meta(recorder, "identity", identity->digest, error);
}

/* ---- comparing ---- */

/* Where two texts part: a line of each, without the blanks in front. */
struct parting {
    const char *then, *now;
    int then_length, now_length;
};

static int shown(const char *line)
{
    const size_t length = strcspn(line, "\n");
    return (int)(length < LINE_SHOWN ? length : LINE_SHOWN);
}

static struct parting find_parting(const char *then, const char *now)
{
    while (*then != '\0' && *now != '\0') {
        const size_t length = strcspn(then, "\n");
        if (length != strcspn(now, "\n") || memcmp(then, now, length) != 0)
            break;
        then += length + (then[length] == '\n' ? 1 : 0);
        now += length + (now[length] == '\n' ? 1 : 0);
    }
    then += strspn(then, " ");
    now += strspn(now, " ");
    return (struct parting){ then, now, shown(then), shown(now) };
}

static const struct sim_scenario *scenario_of(const struct sim_experiment *experiment,
                                              const char *label)
{
    for (size_t v = 0; v < experiment->variant_count; v++)
        if (strcmp(experiment->labels[v], label) == 0)
            return experiment->scenarios[v];
    return NULL;
}

/* Which line of a scenario is another one, as far as the database has its text. */
static weir_status name_line(const struct sim_experiment *experiment, sqlite3 *database,
                             const char *label, struct weir_error *error)
{
    const struct sim_scenario *scenario = scenario_of(experiment, label);
    sqlite3_stmt *row = NULL;
    const char *then = NULL;
    if (scenario != NULL &&
        sqlite3_prepare_v2(database,
                           "SELECT resolved_yaml FROM run WHERE variant = ?1 UNION ALL "
                           "SELECT resolved_yaml FROM experiment WHERE baseline = ?1 LIMIT 1",
                           -1, &row, NULL) == SQLITE_OK &&
        sqlite3_bind_text(row, 1, label, -1, SQLITE_STATIC) == SQLITE_OK &&
        sqlite3_step(row) == SQLITE_ROW)
        then = (const char *)sqlite3_column_text(row, 0);
    if (then != NULL) {
        const struct parting at = find_parting(then, scenario->resolved);
        (void)weir_fail(error, WEIR_EIO,
                        "%s: its scenario of variant %s is another one: '%.*s' there, '%.*s' now",
                        experiment->path, label, at.then_length, at.then, at.now_length, at.now);
    }
    (void)sqlite3_finalize(row);
    return then == NULL ? WEIR_ENOTFOUND : WEIR_EIO;
}

static weir_status differ(const struct sim_experiment *experiment, sqlite3 *database,
                          const struct sim_fact *fact, const char *then, struct weir_error *error)
{
    static const char scenario[] = "scenario of variant ";
    const bool is_scenario = strncmp(fact->name, scenario, sizeof(scenario) - 1) == 0;
    if (then != NULL && is_scenario &&
        name_line(experiment, database, fact->name + sizeof(scenario) - 1, error) == WEIR_EIO)
        return WEIR_EIO;
    if (then == NULL)
        return weir_fail(error, WEIR_EIO, "%s: has nothing of %s, which is %s now",
                         experiment->path, fact->name, fact->value);
    return weir_fail(error, WEIR_EIO, "%s: its %s is %s, now it is %s", experiment->path,
                     fact->name, then, fact->value);
}

/* Facts that the file has and this experiment has not. */
static weir_status check_rest(const struct sim_identity *identity,
                              const struct sim_experiment *experiment, sqlite3 *database,
                              struct weir_error *error)
{
    sqlite3_stmt *row = NULL;
    weir_status status = WEIR_OK;
    int code = sqlite3_prepare_v2(database,
                                  "SELECT substr(key, 10), value FROM meta WHERE key GLOB "
                                  "'identity_*' ORDER BY key",
                                  -1, &row, NULL);
    while (code == SQLITE_OK && status == WEIR_OK && sqlite3_step(row) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(row, 0);
        if (name != NULL && find(identity, name) == NULL)
            status = weir_fail(error, WEIR_EIO, "%s: has a %s, which there is not now",
                               experiment->path, name);
    }
    if (status == WEIR_OK && sqlite3_errcode(database) != SQLITE_DONE)
        code = SQLITE_ERROR;
    if (status == WEIR_OK && code != SQLITE_OK)
        status = weir_fail(error, WEIR_EIO, "%s: %s", experiment->path, sqlite3_errmsg(database));
    (void)sqlite3_finalize(row);
    return status;
}

static weir_status check_fact(const struct sim_experiment *experiment, sqlite3 *database,
                              sqlite3_stmt *value, const struct sim_fact *fact,
                              struct weir_error *error)
{
    (void)sqlite3_bind_text(value, 1, fact->name, -1, SQLITE_STATIC);
    const int code = sqlite3_step(value);
    const char *then = code == SQLITE_ROW ? (const char *)sqlite3_column_text(value, 0) : NULL;
    weir_status status = WEIR_OK;
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = weir_fail(error, WEIR_EIO, "%s: %s", experiment->path, sqlite3_errmsg(database));
    else if (then == NULL || strcmp(then, fact->value) != 0)
        status = differ(experiment, database, fact, then, error);
    (void)sqlite3_reset(value);
    return status;
}

weir_status sim_identity_compare(const struct sim_identity *identity,
                                 const struct sim_experiment *experiment, sqlite3 *database,
                                 struct weir_error *error)
{
    sqlite3_stmt *value = NULL;
    if (sqlite3_prepare_v2(database, "SELECT value FROM meta WHERE key = 'identity_' || ?1", -1,
                           &value, NULL) != SQLITE_OK)
        return weir_fail(error, WEIR_EIO, "%s: %s", experiment->path, sqlite3_errmsg(database));
    weir_status status = WEIR_OK;
    for (size_t i = 0; i < identity->count && status == WEIR_OK; i++)
        status = check_fact(experiment, database, value, &identity->facts[i], error);
    (void)sqlite3_finalize(value);
    if (status == WEIR_OK)
        status = check_rest(identity, experiment, database, error);
    if (status != WEIR_OK)
        weir_error_wrap(error, "cannot go on (--force begins anew, -o FILE writes elsewhere)");
    return status;
}
