/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Result files and shards of experiments (see experiment_file.h). */
#include "sim/cli/experiment/experiment_file.h"

#include "analysis/database/database.h"
#include "sim/cli/build_info.h"
#include "sim/cli/experiment/run_stderr.h"
#include "sim/cli/json_writer.h"
#include "sim/engine/time.h"
#include "sim/record/record.h"
#include "sim/scenario/resolve/varies.h"

#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

/* ---- what every file says ---- */

/* Keys in the order of the sentences. */
static weir_status stamp_assumptions(struct sim_recorder *recorder,
                                     const struct sim_scenario *scenario, struct weir_error *error)
{
    for (size_t i = 0; i < scenario->assumptions_count; i++) {
        char key[32];
        (void)snprintf(key, sizeof(key), "assumption_%06zu", i + 1);
        WEIR_TRY(sim_recorder_meta(recorder, key, scenario->assumptions[i], error));
    }
    return WEIR_OK;
}

/* ---- what the scenario is about ---- */

static const char *work_word(const struct sim_scenario *scenario, const struct sim_work *work)
{
    if (work->kind == SIM_WORK_PIPELINE)
        return scenario->pipelines[work->index].input.arrivals == NULL &&
                       !scenario->pipelines[work->index].input.recorded.has_times
                   ? "backlog"
                   : "arrivals";
    if (work->kind == SIM_WORK_ACTORS)
        return "actors";
    if (work->kind == SIM_WORK_FILL)
        return "fill";
    return scenario->workloads[work->index].queue_limit == 0 ? "loss" : "replay";
}

/* Its kinds of work, in their order: the default goal is that of the first. */
static weir_status stamp_work(struct sim_recorder *recorder, const struct sim_scenario *scenario,
                              struct weir_error *error)
{
    char words[64] = "";
    for (size_t i = 0; i < scenario->work_count; i++) {
        const char *word = work_word(scenario, &scenario->work[i]);
        const size_t used = strlen(words);
        if (strstr(words, word) == NULL)
            (void)snprintf(words + used, sizeof words - used, "%s%s", used == 0 ? "" : " ", word);
    }
    return sim_recorder_meta(recorder, "work", words, error);
}

static void write_named(struct sim_json *json, const char *metric, const char *of)
{
    char name[256];
    (void)snprintf(name, sizeof name, "%s%s%s", metric == NULL ? "" : metric, of == NULL ? "" : ":",
                   of == NULL ? "" : of);
    sim_json_string(sim_json_key(json, "metric"), name);
}

static void write_goal(FILE *out, const struct sim_goal *goal)
{
    static const char *const ops[] = {
        [SIM_EXPECT_EQ] = "=",  [SIM_EXPECT_NEAR] = "near", [SIM_EXPECT_LT] = "<",
        [SIM_EXPECT_LE] = "<=", [SIM_EXPECT_GT] = ">",      [SIM_EXPECT_GE] = ">="
    };
    struct sim_json json = { .out = out };
    sim_json_begin_object(&json);
    write_named(&json, goal->metric, goal->of);
    sim_json_integer(sim_json_key(&json, "better"), goal->wants_more ? 1 : -1);
    sim_json_begin_array(sim_json_key(&json, "while"));
    for (size_t i = 0; i < goal->conditions_count; i++) {
        const struct sim_expect *condition = &goal->conditions[i];
        const double scale = condition->tolerance_is_relative ? fabs(condition->value) : 1;
        sim_json_begin_object(&json);
        write_named(&json, condition->metric, condition->of);
        sim_json_string(sim_json_key(&json, "op"), ops[condition->op]);
        sim_json_number(sim_json_key(&json, "bound"), condition->value);
        sim_json_number(sim_json_key(&json, "slack"), condition->tolerance * scale);
        sim_json_end_object(&json);
    }
    sim_json_end_array(&json);
    sim_json_end_object(&json);
}

static weir_status stamp_goal(struct sim_recorder *recorder, const struct sim_scenario *scenario,
                              struct weir_error *error)
{
    const struct sim_goal *goal = &scenario->goal;
    char *text = NULL;
    size_t length = 0;
    WEIR_TRY(stamp_work(recorder, scenario, error));
    if (goal->metric == NULL && goal->conditions_count == 0)
        return WEIR_OK;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    write_goal(out, goal);
    weir_status status = WEIR_ENOMEM;
    if (fclose(out) == 0)
        status = sim_recorder_meta(recorder, "goal", text, error);
    free(text);
    return status;
}

static weir_status stamp_growth(struct sim_recorder *recorder, const struct sim_scenario *scenario,
                                struct weir_error *error)
{
    char text[32];
    if (!(scenario->growth_month > 0))
        return WEIR_OK;
    (void)snprintf(text, sizeof text, "%.17g", scenario->growth_month);
    return sim_recorder_meta(recorder, "growth_month", text, error);
}

/* The windows of all variants, as views and reports find them: seconds, no end = that of the run.
 */
static weir_status stamp_windows(struct sim_recorder *recorder, const struct sim_scenario *scenario,
                                 struct weir_error *error)
{
    char *text = NULL;
    size_t length = 0;
    if (scenario->windows_count == 0)
        return WEIR_OK;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    struct sim_json json = { .out = out };
    sim_json_begin_array(&json);
    for (size_t i = 0; i < scenario->windows_count; i++) {
        const struct sim_window *window = &scenario->windows[i];
        sim_json_begin_object(&json);
        sim_json_string(sim_json_key(&json, "name"), window->name);
        sim_json_number(sim_json_key(&json, "from_s"), sim_time_s(window->from_ns));
        sim_json_number(sim_json_key(&json, "to_s"),
                        window->to_ns == SIM_TIME_MAX ? (double)NAN : sim_time_s(window->to_ns));
        sim_json_end_object(&json);
    }
    sim_json_end_array(&json);
    weir_status status = WEIR_ENOMEM;
    if (fclose(out) == 0)
        status = sim_recorder_meta(recorder, "windows", text, error);
    free(text);
    return status;
}

/* Where the variants of an experiment with axes stand, and a view of it. */
static weir_status stamp_points(struct sim_recorder *recorder, const struct sim_points *points,
                                struct weir_error *error)
{
    if (points->count == 0)
        return WEIR_OK;
    char *text = sim_points_json(points);
    char *view = sim_points_view(points);
    weir_status status = text == NULL || view == NULL
                             ? weir_fail(error, WEIR_ENOMEM, "out of memory")
                             : sim_recorder_meta(recorder, "axes", text, error);
    if (status == WEIR_OK)
        status = sim_recorder_view(recorder, view, error);
    free(text);
    free(view);
    return status;
}

/* Facts about the program and the inputs that every database carries, shards included. */
static weir_status stamp(struct sim_recorder *recorder, const struct sim_scenario *scenario,
                         struct weir_error *error)
{
    char commit[64];
    const struct {
        const char *key;
        uint32_t count;
    } sources[] = { { "sources_measured", scenario->sources_measured },
                    { "sources_datasheet", scenario->sources_datasheet },
                    { "sources_guess", scenario->sources_guess },
                    { "sources_unstated", scenario->sources_unstated },
                    { "config_knobs", scenario->knobs } };
    (void)snprintf(commit, sizeof(commit), "%s%s", sim_build_commit(),
                   sim_build_dirty() ? "+" : "");
    WEIR_TRY(sim_recorder_meta(recorder, "git_commit", commit, error));
    for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
        char text[16];
        (void)snprintf(text, sizeof(text), "%u", sources[i].count);
        WEIR_TRY(sim_recorder_meta(recorder, sources[i].key, text, error));
    }
    return stamp_assumptions(recorder, scenario, error);
}

/* A part is of the same experiment as all of it. */
static char *without_shard(const char *command_line)
{
    char *text = strdup(command_line);
    char *from = text == NULL ? NULL : strstr(text, " --shard");
    if (from == NULL)
        return text;
    const char *to = from + strlen(" --shard") + 1; /* "=" or a blank */
    to += strcspn(to, " ");
    memmove(from, to, strlen(to) + 1);
    return text;
}

static weir_status stamp_audit(struct sim_recorder *recorder, const struct sim_audit *audit,
                               struct weir_error *error)
{
    char number[16];
    if (audit == NULL)
        return WEIR_OK;
    (void)snprintf(number, sizeof number, "%u", audit->judged_from);
    WEIR_TRY(sim_recorder_meta(recorder, "judged_from", number, error));
    (void)snprintf(number, sizeof number, "%u", audit->paired_to);
    if (audit->paired_to > 0)
        WEIR_TRY(sim_recorder_meta(recorder, "paired_to", number, error));
    return sim_recorder_meta(recorder, "audit", audit->text, error);
}

static weir_status write_experiment(const struct sim_experiment_options *options,
                                    const struct sim_experiment *experiment,
                                    const struct sim_identity *identity,
                                    struct sim_recorder *recorder, struct weir_error *error)
{
    const struct sim_scenario *scenario = experiment->scenarios[0];
    int64_t id = 0; /* always 1: a file has one experiment */
    char varies[256];
    (void)sim_scenario_varies(experiment->scenarios,
                              options->is_lazy ? 1 : experiment->variant_count, varies,
                              sizeof(varies));
    WEIR_TRY(stamp(recorder, scenario, error));
    WEIR_TRY(sim_identity_write(identity, recorder, error));
    WEIR_TRY(sim_recorder_meta(recorder, "varies", varies, error));
    WEIR_TRY(stamp_audit(recorder, options->audit, error));
    WEIR_TRY(stamp_goal(recorder, scenario, error));
    WEIR_TRY(stamp_growth(recorder, scenario, error));
    WEIR_TRY(stamp_windows(recorder, scenario, error));
    char *command_line = without_shard(options->command_line);
    const struct sim_experiment_row row = {
        .scenario = scenario->name,
        .description = scenario->description == NULL ? "" : scenario->description,
        .resolved_yaml = scenario->resolved,
        .command_line = command_line == NULL ? "" : command_line,
        .baseline = experiment->labels[0],
        .scenario_digest = scenario->digest
    };
    const weir_status written = sim_recorder_experiment(recorder, &row, &id, error);
    free(command_line);
    WEIR_TRY(written);
    WEIR_TRY(stamp_points(recorder, &experiment->points, error));
    for (size_t i = 0; i < scenario->files_count; i++)
        WEIR_TRY(sim_recorder_input_file(recorder, scenario->files[i].path,
                                         scenario->files[i].bytes, scenario->files[i].digest,
                                         error));
    return sim_experiment_record_files(recorder, options->plugins, options->plugins_count, error);
}

/* ---- shards ---- */

static void shard_path(const struct sim_experiment *experiment, size_t task, char path[PATH_BYTES])
{
    (void)snprintf(path, PATH_BYTES, "%s.part%zu", experiment->path, task + 1);
}

weir_status sim_experiment_make_blank(const struct sim_experiment *experiment,
                                      struct sim_experiment_file *file, struct weir_error *error)
{
    struct sim_recorder *recorder = NULL;
    if (file->blank.bytes != NULL)
        return WEIR_OK;
    WEIR_TRY(sim_recorder_open_blank(&recorder, error));
    weir_status status = stamp(recorder, experiment->scenarios[0], error);
    if (status == WEIR_OK)
        status = sim_recorder_meta(recorder, "identity", file->identity.digest, error);
    const weir_status closed =
        sim_recorder_close_blank(recorder, &file->blank, status == WEIR_OK ? error : NULL);
    return status == WEIR_OK ? closed : status;
}

weir_status sim_experiment_open_shard(const struct sim_experiment *experiment,
                                      const struct sim_experiment_file *file, size_t task,
                                      struct sim_recorder **recorder, struct weir_error *error)
{
    char path[PATH_BYTES];
    shard_path(experiment, task, path);
    WEIR_TRY(sim_recorder_open_shard(path, experiment->path, &file->blank, recorder, error));
    return experiment->is_temporary ? sim_recorder_make_fleeting(*recorder, error) : WEIR_OK;
}

weir_status sim_experiment_merge_shard(const struct sim_experiment *experiment, size_t task,
                                       struct sim_recorder *recorder, struct weir_error *error)
{
    char path[PATH_BYTES];
    shard_path(experiment, task, path);
    if (access(path, R_OK) != 0) /* the run never got so far; its message says why */
        return WEIR_OK;
    WEIR_TRY(sim_recorder_merge(recorder, path, error));
    sim_record_remove(path);
    return WEIR_OK;
}

/* Whether the file lacks the run, and its shard has it; else the shard goes. */
static weir_status find_shard(const struct sim_experiment *experiment,
                              struct sim_experiment_file *file, size_t task,
                              struct weir_error *error)
{
    char path[PATH_BYTES];
    struct weir_error damage = { .phase = -1, .pool = -1 };
    weir_status status = WEIR_OK;
    shard_path(experiment, task, path);
    if (access(path, F_OK) != 0)
        return WEIR_OK;
    if (!file->is_done[task])
        status = sim_shard_holds(path, file->identity.digest, (int64_t)task + 1,
                                 &file->has_shard[task], &damage);
    if (status == WEIR_ENOMEM)
        return weir_fail(error, status, "%s", damage.text);
    if (status != WEIR_OK)
        (void)fprintf(stderr, "weir: run %zu is computed again: %s\n", task + 1, damage.text);
    if (!file->has_shard[task])
        sim_record_remove(path);
    return WEIR_OK;
}

/* Of all runs. What one printed is passed on with its shard; else it was, or the run comes again.
 */
static weir_status find_shards(const struct sim_experiment *experiment,
                               struct sim_experiment_file *file, struct weir_error *error)
{
    const size_t count = experiment->variant_count * experiment->replications;
    for (size_t task = 0; task < count; task++) {
        WEIR_TRY(find_shard(experiment, file, task, error));
        if (file->has_shard[task])
            (void)sim_run_stderr_take(experiment, task, NULL);
        else
            sim_run_stderr_forget(experiment, task);
    }
    return WEIR_OK;
}

/* Looks at every file whose name is that of the results, ".partN" and maybe more, until `visit`
 * says true. `rest` is what follows the number. */
static bool visit_shards(const struct sim_experiment *experiment,
                         bool (*visit)(const char *path, unsigned long number, const char *rest))
{
    const char *slash = strrchr(experiment->path, '/');
    const char *name = slash == NULL ? experiment->path : slash + 1;
    const size_t folder_length = (size_t)(name - experiment->path);
    char path[PATH_BYTES];
    bool is_over = false;
    (void)snprintf(path, sizeof(path), "%.*s", (int)folder_length, experiment->path);
    DIR *folder = opendir(folder_length == 0 ? "." : path);
    for (const struct dirent *entry = folder == NULL ? NULL : readdir(folder);
         entry != NULL && !is_over; entry = readdir(folder)) {
        const size_t length = strlen(name);
        char *rest = NULL;
        if (strncmp(entry->d_name, name, length) != 0 ||
            strncmp(entry->d_name + length, ".part", 5) != 0 ||
            !isdigit((unsigned char)entry->d_name[length + 5]))
            continue;
        const unsigned long number = strtoul(entry->d_name + length + 5, &rest, 10);
        (void)snprintf(path, sizeof(path), "%.*s%s", (int)folder_length, experiment->path,
                       entry->d_name);
        is_over = visit(path, number, rest);
    }
    if (folder != NULL)
        (void)closedir(folder);
    return is_over;
}

static bool is_finished(const char *path, unsigned long number, const char *rest)
{
    bool is_held = false;
    return rest[0] == '\0' &&
           sim_shard_holds(path, NULL, (int64_t)number, &is_held, NULL) == WEIR_OK && is_held;
}

static bool remove_shard(const char *path, unsigned long number, const char *rest)
{
    (void)number;
    (void)rest;
    (void)unlink(path);
    return false;
}

/* ---- starting anew ---- */

/* How many finished runs are in the file: those of a killed program may be in its log. */
static weir_status count_finished(const char *path, int64_t *count, struct weir_error *error)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    struct weir_error damage = { .phase = -1, .pool = -1 };
    weir_status status = WEIR_OK;
    *count = 0;
    if (an_database_open(path, AN_TO_WRITE, &db, &damage) != WEIR_OK)
        return weir_fail(error, WEIR_EIO, "%s (--force replaces it)", damage.text);
    if (sqlite3_prepare_v2(db, "SELECT count(*) FROM run WHERE " SIM_RUN_IS_FINISHED, -1, &row,
                           NULL) != SQLITE_OK ||
        sqlite3_step(row) != SQLITE_ROW)
        status =
            weir_fail(error, WEIR_EIO, "%s: cannot tell what it holds: %s (--force replaces it)",
                      path, sqlite3_errmsg(db));
    else
        *count = sqlite3_column_int64(row, 0);
    (void)sqlite3_finalize(row);
    (void)sqlite3_close(db);
    return status;
}

/* Results go only when that is said. */
static weir_status check_replace(const struct sim_experiment *experiment, struct weir_error *error)
{
    static const char choices[] =
        "--resume keeps them and runs the rest, --force replaces them, -o FILE writes elsewhere";
    int64_t count = 0;
    if (sim_record_is_ours(experiment->path))
        WEIR_TRY(count_finished(experiment->path, &count, error));
    if (count > 0)
        return weir_fail(error, WEIR_EIO, "%s: holds finished runs (%lld): %s", experiment->path,
                         (long long)count, choices);
    if (visit_shards(experiment, is_finished))
        return weir_fail(error, WEIR_EIO,
                         "%s: a program that was killed left finished runs beside it: %s",
                         experiment->path, choices);
    return WEIR_OK;
}

static weir_status start_anew(const struct sim_experiment_options *options,
                              const struct sim_experiment *experiment,
                              const struct sim_experiment_file *file,
                              struct sim_recorder **recorder, struct weir_error *error)
{
    if (!options->force && !experiment->is_temporary)
        WEIR_TRY(check_replace(experiment, error));
    WEIR_TRY(sim_recorder_open(experiment->path, true, recorder, error));
    if (experiment->is_temporary)
        WEIR_TRY(sim_recorder_make_fleeting(*recorder, error));
    else
        (void)visit_shards(experiment, remove_shard);
    return write_experiment(options, experiment, &file->identity, *recorder, error);
}

/* ---- going on ---- */

static weir_status go_on(const struct sim_experiment_options *options,
                         const struct sim_experiment *experiment, struct sim_experiment_file *file,
                         struct sim_recorder **recorder, struct weir_error *error)
{
    if (access(experiment->path, F_OK) == 0) {
        /* A file of another version or experiment is refused before anything changes. */
        WEIR_TRY(sim_record_check(experiment->path, error));
        WEIR_TRY(sim_experiment_resume(experiment, &file->identity, file->is_done, error));
        WEIR_TRY(sim_recorder_append(experiment->path, recorder, error));
    } else {
        WEIR_TRY(sim_recorder_open(experiment->path, false, recorder, error));
        WEIR_TRY(write_experiment(options, experiment, &file->identity, *recorder, error));
    }
    return find_shards(experiment, file, error);
}

weir_status sim_experiment_file_open(const struct sim_experiment_options *options,
                                     const struct sim_experiment *experiment,
                                     struct sim_experiment_file *file,
                                     struct sim_recorder **recorder, struct weir_error *error)
{
    const size_t count = experiment->variant_count * experiment->replications;
    *file = (struct sim_experiment_file){ .lock = { .file = -1 } };
    file->is_done = calloc(count + 1, sizeof(*file->is_done));
    file->has_shard = calloc(count + 1, sizeof(*file->has_shard));
    if (file->is_done == NULL || file->has_shard == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    if (!experiment->is_temporary)
        WEIR_TRY(sim_result_lock(experiment->path, options->command_line, &file->lock, error));
    WEIR_TRY(sim_identity_build(options, experiment, &file->identity, error));
    if (options->resume && !experiment->is_temporary)
        return go_on(options, experiment, file, recorder, error);
    return start_anew(options, experiment, file, recorder, error);
}

void sim_experiment_file_close(struct sim_experiment_file *file)
{
    sim_identity_clear(&file->identity);
    sim_shard_blank_clear(&file->blank);
    sim_result_unlock(&file->lock);
    free(file->is_done);
    free(file->has_shard);
    file->is_done = file->has_shard = NULL;
}
