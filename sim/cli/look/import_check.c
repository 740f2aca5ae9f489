/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The held-out check of an import; see the header. */
#include "sim/cli/look/import_check.h"

#include "sim/cli/experiment/experiment.h"
#include "sim/cli/load.h"
#include "sim/cli/look/fit_report.h"
#include "sim/engine/time.h"
#include "sim/files/written.h"
#include "workloads/spans/span_measure.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 512, SET_ROOM = 512, SETS = 6, SENTENCE = 400 };

static const struct sim_column columns[] = {
    { "Stage", "stage", NULL, false, false },
    { "Finished, log", "throughput_log_per_s", "/s", true, true },
    { "run", "throughput_run_per_s", "/s", true, true },
    { "off", "throughput_off_pct", "%", true, true },
    { "Queue, log", "queue_log", NULL, true, true },
    { "run", "queue_run", NULL, true, true },
    { "Busy, log", "busy_log_pct", "%", true, true },
    { "run", "busy_run_pct", "%", true, true },
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

struct checking {
    const struct sim_import_check *check;
    struct sim_arena arena;
    char folder[32]; /* for samples and spans of the run */
    struct wl_window extent;
    double cut_s;
    struct sim_table *table;
    double off; /* of the last stage's throughput, relative */
    struct weir_error *error;
};

/* ---- the run ---- */

/* The scenario with the laws of the first part. NULL = `error` says why. */
static char *first_text(struct checking *checking, struct wl_model *model)
{
    struct sim_import import = *checking->check->import;
    struct sim_diagnostics said = { .items = NULL };
    import.model = model;
    import.names_folders = true;
    import.samples = sim_arena_printf(&checking->arena, "%s/law.yaml", checking->folder);
    char *text = sim_import_into(&checking->arena, &import, &said, checking->error);
    if (text == NULL && said.errors > 0)
        (void)weir_fail(checking->error, WEIR_EINVAL, "%s", said.items[0].message);
    sim_diagnostics_clear(&said);
    return text;
}

/* Up to the last thing that happens at least, since none may lie behind the end of a run. */
static double last_event_s(const struct checking *checking, const char *text)
{
    const struct sim_scenario_source source = { .path = checking->check->import->path,
                                                .text = text,
                                                .metric_named = sim_cli_metric,
                                                .moment_since = sim_cli_moment };
    struct sim_diagnostics said = { .items = NULL };
    struct sim_scenario *scenario = NULL;
    double last_s = 0.0;
    if (sim_scenario_load(&source, &scenario, &said) == WEIR_OK)
        for (size_t i = 0; i < scenario->timeline_count; i++)
            last_s = fmax(last_s, sim_time_s(scenario->timeline[i].at_ns));
    sim_diagnostics_clear(&said);
    sim_scenario_destroy(scenario);
    return last_s;
}

/* What ends the check ends the import with the same code: a full disk, an interrupt. */
static weir_status fail_run(struct checking *checking, int code)
{
    static const weir_status kinds[] = { WEIR_EINVAL,     WEIR_EIO,    WEIR_EPOLICY,
                                         WEIR_EINVARIANT, WEIR_ENOMEM, WEIR_EINTERRUPTED };
    size_t kind = 0;
    while (kind + 1 < sizeof kinds / sizeof kinds[0] && sim_exit_for(kinds[kind]) != code)
        kind++;
    return weir_fail(checking->error, kinds[kind], "the imported scenario does not run");
}

/* Long enough for set-ups before the first task, and work for all of it. Windows, and what is said
 * about them, may lie behind its end. */
static weir_status run_once(struct checking *checking, const char *text, const char *spans)
{
    const struct sim_import *import = checking->check->import;
    const double needed_s = 1.3 * (checking->extent.to_s - checking->extent.from_s) + 600.0;
    const double horizon_s = fmax(needed_s, last_event_s(checking, text) + 1.0);
    const char *pipeline = sim_import_pipeline(&checking->arena, import);
    const char *sets[SETS] = {
        sim_arena_printf(&checking->arena, "horizon=%.9g", horizon_s),
        sim_arena_printf(&checking->arena, "warmup=0"),
        sim_arena_printf(&checking->arena, "pipelines.%s.input.items=%zu", pipeline,
                         4 * import->model->items + 1000),
        "windows={}",
        "goal={}",
        "expect=[]",
    };
    const struct sim_experiment_options options = { .scenario_path = import->path,
                                                    .scenario_text = text,
                                                    .sets = sets,
                                                    .sets_count = SETS,
                                                    .database = "",
                                                    .command_line = "weir import",
                                                    .replications = 1,
                                                    .jobs = 1,
                                                    .is_quiet = true,
                                                    .spans = spans };
    struct sim_experiment experiment = { 0 };
    const int code = sim_experiment_run(&options, &experiment);
    sim_experiment_clear(&experiment);
    return code == SIM_EXIT_OK || code == SIM_EXIT_CHECK ? WEIR_OK : fail_run(checking, code);
}

/* ---- side by side ---- */

/* A stage of the run by its name in the log: of several pipelines it is "pipeline.stage" there. */
static const struct wl_stage_measure *find_measure(const struct wl_span_log *run,
                                                   const struct wl_stage_measure *measures,
                                                   const char *name)
{
    for (size_t s = 0; s < run->stages.count; s++) {
        const char *own = run->stages.names[s];
        const char *dot = strrchr(own, '.');
        if (strcmp(own, name) == 0 || (dot != NULL && strcmp(dot + 1, name) == 0))
            return &measures[s];
    }
    return NULL;
}

static void add_row(struct checking *checking, const char *name, const struct wl_stage_measure *log,
                    const struct wl_stage_measure *run)
{
    static const struct wl_stage_measure none = { 0, (double)NAN, (double)NAN };
    const struct wl_stage_measure *other = run == NULL ? &none : run;
    checking->off = other->throughput_per_s / log->throughput_per_s - 1.0;
    const double values[COLUMNS - 1] = {
        log->throughput_per_s, other->throughput_per_s, 100.0 * checking->off,    log->queue,
        other->queue,          100.0 * log->busy_share, 100.0 * other->busy_share
    };
    sim_table_add(checking->table, name);
    sim_table_add_numbers(checking->table, checking->check->format, values, COLUMNS - 1);
}

/* The same stretch of time after the first start, in the log and in the run, which ends where the
 * log does: what waits at the end of a log is not in it. */
static weir_status compare(struct checking *checking, const struct wl_span_log *whole)
{
    struct wl_span_log part = { 0 };
    const struct wl_span_log *run = &part;
    const struct wl_model *model = checking->check->import->model;
    const struct wl_window window = { checking->cut_s, checking->extent.to_s };
    const double shift_s = wl_span_extent(whole).from_s - checking->extent.from_s;
    const struct wl_window there = { window.from_s + shift_s, window.to_s + shift_s };
    struct wl_stage_measure *logged = calloc(model->log->stages.count + 1, sizeof(*logged));
    struct wl_stage_measure *ran = calloc(whole->stages.count + 1, sizeof(*ran));
    weir_status status = logged == NULL || ran == NULL
                             ? weir_fail(checking->error, WEIR_ENOMEM, "out of memory")
                             : wl_span_part(whole, there.to_s, &part, checking->error);
    if (status == WEIR_OK)
        status = wl_span_measure(model->log, window, logged, checking->error);
    if (status == WEIR_OK)
        status = wl_span_measure(run, there, ran, checking->error);
    for (size_t s = 0; s < model->stage_count && status == WEIR_OK; s++) {
        const char *name = model->stages[s].name;
        add_row(checking, name, find_measure(model->log, logged, name),
                find_measure(run, ran, name));
    }
    wl_span_part_free(&part);
    free(logged);
    free(ran);
    return status;
}

static weir_status check_model(struct checking *checking, struct wl_model *model)
{
    const char *spans = sim_arena_printf(&checking->arena, "%s/run.csv", checking->folder);
    const struct wl_span_options read = { .path = spans };
    struct wl_span_log run = { 0 };
    const char *text = first_text(checking, model);
    weir_status status = text == NULL ? WEIR_EINVAL : run_once(checking, text, spans);
    if (status == WEIR_OK)
        status = wl_span_log_read(&read, &run, checking->error);
    if (status == WEIR_OK)
        status = compare(checking, &run);
    wl_span_log_clear(&run);
    return status;
}

/* What lies in the folder are files of ours. */
static void remove_folder(struct checking *checking)
{
    const struct wl_model *model = checking->check->import->model;
    static const char *const kinds[] = { "", ".setup", ".returns" };
    (void)unlink(sim_arena_printf(&checking->arena, "%s/run.csv", checking->folder));
    for (size_t s = 0; s < model->stage_count + 2; s++)
        for (size_t k = 0; k < 3; k++) {
            const char *what = s < model->stage_count    ? model->stages[s].name
                               : s == model->stage_count ? "arrivals"
                                                         : "size";
            char *path = sim_arena_printf(&checking->arena, "%s/law.%s%s.csv", checking->folder,
                                          what, kinds[k]);
            wl_law_file_name(path + strlen(checking->folder) + 1);
            (void)unlink(path);
        }
    (void)rmdir(checking->folder);
}

static weir_status check_held_out(struct checking *checking)
{
    const struct wl_span_log *log = checking->check->import->model->log;
    struct wl_span_log first = { 0 };
    struct wl_model model = { 0 };
    const char *base = getenv("TMPDIR");
    (void)snprintf(checking->folder, sizeof checking->folder, "%.18s/weir-XXXXXX",
                   base == NULL || base[0] == '\0' || strlen(base) > 18 ? "/tmp" : base);
    checking->extent = wl_span_extent(log);
    checking->cut_s = checking->extent.to_s -
                      checking->check->held_out * (checking->extent.to_s - checking->extent.from_s);
    if (mkdtemp(checking->folder) == NULL)
        return weir_fail(checking->error, written_status(errno),
                         "%s: cannot make a folder (TMPDIR)", checking->folder);
    struct wl_model_options fit = *checking->check->fit;
    fit.input = checking->check->import->model->is_backlog ? WL_INPUT_BACKLOG : WL_INPUT_ARRIVALS;
    weir_status status = wl_span_part(log, checking->cut_s, &first, checking->error);
    if (status == WEIR_OK)
        status = wl_model_fit(&first, &fit, &model, checking->error);
    if (status == WEIR_OK)
        status = check_model(checking, &model);
    wl_model_clear(&model);
    wl_span_part_free(&first);
    remove_folder(checking);
    return status;
}

/* ---- what is said ---- */

static void say(const struct checking *checking, char text[SENTENCE])
{
    const struct wl_model *model = checking->check->import->model;
    char worked[160] = "";
    size_t length = 0;
    text[0] = '\0';
    if (checking->table != NULL)
        length = (size_t)snprintf(
            text, SENTENCE,
            "Held out: a run with the laws of the first %.0f %% of the log finishes %.1f %% %s in "
            "the rest of it than was logged. ",
            100.0 - 100.0 * checking->check->held_out, 100.0 * fabs(checking->off),
            checking->off < 0 ? "less" : "more");
    if (model->busiest != NULL)
        (void)snprintf(worked, sizeof worked,
                       ": %.80s, the busiest stage, worked %.0f %% of its time", model->busiest,
                       100.0 * model->busiest_share);
    if (wl_model_shows_capacity(model))
        (void)snprintf(text + length, SENTENCE - length,
                       "%s%s, so that the log shows what the cluster can do.",
                       model->is_backlog ? "Work was always waiting" : "Items came by themselves",
                       worked);
    else
        (void)snprintf(text + length, SENTENCE - length,
                       "This is no model of capacity: arrivals limit the log, and what more of "
                       "them, other nodes or another policy would give was not seen%s.",
                       worked);
}

static void print_json(const struct checking *checking, const struct sim_table *laws,
                       const char *sentence)
{
    struct sim_json json = { .out = checking->check->out };
    sim_json_begin_object(&json);
    sim_json_integer(sim_json_key(&json, "schema"), 1);
    sim_json_string(sim_json_key(&json, "version"), WEIR_VERSION);
    sim_table_write_json(laws, sim_json_key(&json, "laws"));
    if (checking->table != NULL)
        sim_table_write_json(checking->table, sim_json_key(&json, "held_out"));
    sim_json_flag(sim_json_key(&json, "is_capacity_model"),
                  wl_model_shows_capacity(checking->check->import->model));
    sim_json_string(sim_json_key(&json, "sentence"), sentence);
    sim_json_end_object(&json);
    (void)fputc('\n', checking->check->out);
}

static void print_all(const struct checking *checking)
{
    FILE *out = checking->check->out;
    const enum sim_format format = checking->check->format;
    struct sim_table *laws = sim_fit_table(checking->check->import->model);
    char sentence[SENTENCE];
    say(checking, sentence);
    if (format == SIM_FORMAT_JSON) {
        print_json(checking, laws, sentence);
    } else {
        sim_table_print(laws, format, out);
        (void)fputc('\n', out);
        if (checking->table != NULL)
            sim_table_print(checking->table, format, out);
        (void)fprintf(format == SIM_FORMAT_CSV ? stderr : out, "%s\n", sentence);
    }
    sim_table_destroy(laws);
}

weir_status sim_import_check_print(const struct sim_import_check *check, struct weir_error *error)
{
    struct checking checking = { .check = check, .error = error };
    weir_status status = WEIR_OK;
    if (!check->skips_run) {
        checking.table = sim_table_create(columns, COLUMNS);
        status = check_held_out(&checking);
    }
    if (status == WEIR_OK) {
        print_all(&checking);
        sim_fit_warn(check->import->model);
    }
    sim_table_destroy(checking.table);
    sim_arena_clear(&checking.arena);
    return status;
}
