/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `weir import`: what production left behind becomes a scenario that runs, or goes into one whose
 * cluster, requests and comments stay (--into). Method and limits: docs/fit.md; what can be read:
 * docs/feed.md. One reader = one row of the table of kinds below.
 */
#include "analysis/database/database.h"
#include "sim/cli/commands.h"
#include "sim/cli/experiment/experiment.h"
#include "sim/cli/in_the_way.h"
#include "sim/cli/limits.h"
#include "sim/cli/load.h"
#include "sim/cli/look/fit_report.h"
#include "sim/cli/look/import_check.h"
#include "sim/files/written.h"
#include "sim/scenario/read/event_file.h"
#include "sim/scenario/read/import_into.h"
#include "sim/scenario/read/input_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct arguments {
    struct sim_options options;
    struct wl_span_options read;
    struct wl_model_options fit;
    struct sim_words columns, files;
    const char *output, *plots, *name, *into, *pipeline;
    uint32_t unit, delimiter, on_bad_row, held_out;
    bool fixes_workers, skips_check, force;
    const char *events; /* of the files, which was found by its columns */
};

static const struct sim_option command_rows[] = {
    { "output", 'o', "FILE", SIM_OPTION(TEXT, arguments, output),
      "Scenario to write (default: standard output)" },
    { "name", 0, "NAME", SIM_OPTION(TEXT, arguments, name),
      "Name of the scenario (default: fitted)" },
    { "fixed-workers", 0, NULL, SIM_OPTION(FLAG, arguments, fixes_workers),
      "As many workers as were seen at once, instead of a scaling policy" },
    { "plots", 0, "FOLDER", SIM_OPTION(TEXT, arguments, plots),
      "Write a QQ plot of each law there (SVG)" },
    { "columns", 0, "OURS=YOURS", SIM_OPTION(WORDS, arguments, columns),
      "Another name of a column, for example start=begin_ts; may be repeated or joined by commas",
      .is_list = true },
    { "time-unit", 0, "UNIT", SIM_OPTION(CHOICE, arguments, unit),
      "Of the times in the log: s ms us ns (default: s)",
      SIM_OPTION_WORDS_OF("s", "ms", "us", "ns") },
    { "zone", 0, "ZONE", SIM_OPTION(TEXT, arguments, read.zone),
      "Of stamps without one: +01:00, \"-08:00 us\" (default: UTC)" },
    { "delimiter", 0, "SIGN", SIM_OPTION(CHOICE, arguments, delimiter),
      "auto , ; tab | (default: auto)", SIM_OPTION_WORDS_OF("auto", ",", ";", "tab", "|") },
    { "on-bad-row", 0, "WHAT", SIM_OPTION(CHOICE, arguments, on_bad_row),
      "fail at the first (default), or skip and count", SIM_OPTION_WORDS_OF("fail", "skip") },
    { "stages", 0, "A,B,C", SIM_OPTION(TEXT, arguments, fit.stages),
      "Order of the stages (default: by first start)" },
    { "input", 0, "WHAT", SIM_OPTION(CHOICE, arguments, fit.input),
      "backlog: all items are there at the start; arrivals; auto (default)",
      SIM_OPTION_WORDS_OF("auto", "backlog", "arrivals") },
    { "into", 0, "SCENARIO", SIM_OPTION(TEXT, arguments, into),
      "Put what was measured into this scenario; its cluster, requests and comments stay" },
    { "pipeline", 0, "NAME", SIM_OPTION(TEXT, arguments, pipeline),
      "With --into: which pipeline, where there are several", .belongs_to = "into" },
    { "held-out", 0, "PERCENT", SIM_OPTION(COUNT, arguments, held_out),
      "With --into: the last part of the log that the check does not fit to (default: 30)",
      .min = 5, .max = 80, .belongs_to = "into" },
    { "no-check", 0, NULL, SIM_OPTION(FLAG, arguments, skips_check),
      "With --into: run nothing, lay nothing beside the log", .belongs_to = "into" },
    { .argument = "FILE...",
      SIM_OPTION(WORDS, arguments, files),
      .missing = "which files? Spans (stage, start, end) or events (time, event), as CSV" },
    { SIM_OPTION(OTHERS, arguments, force), .others = &sim_force_option },
    { SIM_OPTION(OTHERS, arguments, options), .others = &sim_options_format },
    { SIM_OPTION(OTHERS, arguments, options.limits), .others = &sim_limit_table },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .shown =
        "output force into name columns time-unit zone stages input held-out on-bad-row format",
    .usage = "FILE...",
    .help = "Make a scenario of a log of spans (CSV, also .gz and .zst; `weir run --spans` writes "
            "one), or put its laws and a file of events into one that is there.\vWith -o the laws, "
            "their intervals and how well they fit go to standard output, without it to standard "
            "error. With --into a run of the fit to the first part of the log is laid beside the "
            "rest of it, stage by stage.",
};

/* ---- files ---- */

/* What a file is, by the columns in its header: any of the words of each, parted by '|'. */
static const struct kind {
    const char *name;
    const char *columns[3];
    size_t place; /* of the path in the arguments */
} kinds[] = {
    { "spans",
      { "stage|" WL_SPAN_STAGE, "start|" WL_SPAN_START, "end|" WL_SPAN_END },
      offsetof(struct arguments, read.path) },
    { "events",
      { SIM_EVENT_TIME_WORDS, SIM_EVENT_ACTION_WORDS },
      offsetof(struct arguments, events) },
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

struct header {
    const struct arguments *arguments;
    const struct kind *found;
    char names[160]; /* for a message */
};

/* Whether the header has the column, under its own name or the log's word for it. */
static bool has_column(const struct arguments *arguments, const char *const *names, size_t count,
                       const char *words)
{
    for (size_t i = 0; i < count; i++) {
        if (names[i] != NULL && wl_csv_is_called(names[i], words))
            return true;
        for (size_t c = 0; c < arguments->columns.count && names[i] != NULL; c++) {
            const char *equals = strchr(arguments->columns.items[c], '=');
            if (equals != NULL && strcmp(equals + 1, names[i]) == 0 &&
                strncmp(arguments->columns.items[c], words,
                        (size_t)(equals - arguments->columns.items[c])) == 0 &&
                strchr("|", words[equals - arguments->columns.items[c]]) != NULL)
                return true;
        }
    }
    return false;
}

static weir_status see_names(void *state, const char *const *names, size_t count,
                             struct weir_error *error)
{
    struct header *header = state;
    size_t used = 0;
    (void)error;
    for (size_t i = 0; i < count && used < sizeof header->names; i++)
        used += (size_t)snprintf(header->names + used, sizeof header->names - used, "%s%.40s",
                                 i == 0 ? "" : ", ", names[i] == NULL ? "(none)" : names[i]);
    for (size_t k = 0; k < KINDS && header->found == NULL; k++) {
        bool has_all = true;
        for (size_t c = 0; c < 3 && kinds[k].columns[c] != NULL; c++)
            has_all = has_all && has_column(header->arguments, names, count, kinds[k].columns[c]);
        header->found = has_all ? &kinds[k] : NULL;
    }
    return WEIR_EINTERRUPTED; /* the header is all that is wanted */
}

static weir_status pass_over(void *state, const struct wl_csv_row *row, struct weir_error *error)
{
    (void)state;
    (void)row;
    (void)error;
    return WEIR_EINTERRUPTED;
}

/* What is no table of a known kind, or cannot be read at all, is taken for spans, whose reader says
 * what is wrong with it. */
static weir_status sort_file(struct arguments *arguments, const char *path,
                             struct weir_error *error)
{
    struct header header = { .arguments = arguments };
    struct wl_csv_counts counts = { 0 };
    const struct wl_csv_options csv = { .path = path, .delimiter = arguments->read.delimiter };
    const struct wl_csv_sink sink = { .row = pass_over, .names = see_names, .state = &header };
    if (strcmp(path, "-") != 0)
        (void)wl_csv_read(&csv, &sink, &counts, NULL);
    if (an_database_version(path, &(int64_t){ 0 }, NULL) == WEIR_OK)
        return weir_fail(error, WEIR_EINVAL,
                         "%s: is a result database, and no log; weir show and weir export read it",
                         path);
    const struct kind *kind = header.found == NULL ? &kinds[0] : header.found;
    if (header.found == NULL && arguments->read.path != NULL && header.names[0] != '\0')
        return weir_fail(error, WEIR_EINVAL,
                         "%s:1:1: neither spans (stage, start, end) nor events (time, event): it "
                         "has the columns %s",
                         path, header.names);
    const char **place = (const char **)(void *)((char *)arguments + kind->place);
    if (*place != NULL)
        return weir_fail(error, WEIR_EINVAL, "%s and %s are both %s: one log at a time", *place,
                         path, kind->name);
    *place = path;
    return WEIR_OK;
}

/* ---- reading and fitting ---- */

/* What the words of the command line mean to the reader. */
static void take_words(struct arguments *arguments)
{
    static const double unit_s[] = { 1.0, 1e-3, 1e-6, 1e-9 };
    static const char sign[] = { '\0', ',', ';', '\t', '|' };
    arguments->read.unit_s = unit_s[arguments->unit];
    arguments->read.delimiter = sign[arguments->delimiter];
    arguments->read.skips_bad_rows = arguments->on_bad_row == 1;
    arguments->read.columns = arguments->columns.items;
    arguments->read.columns_count = arguments->columns.count;
}

static void say_skipped(const char *path, const struct wl_csv_counts *counts)
{
    for (size_t i = 0; i < counts->skipped && i < WL_CSV_MESSAGES; i++)
        (void)fprintf(stderr, "weir: skipped: %s\n", counts->messages[i]);
    if (counts->skipped > 0)
        (void)fprintf(stderr, "weir: %s: %zu of %zu rows skipped\n", path, counts->skipped,
                      counts->skipped + counts->rows);
}

static FILE *report_file(const struct arguments *arguments)
{
    const bool is_taken = arguments->output == NULL || strcmp(arguments->output, "-") == 0;
    return is_taken ? stderr : stdout;
}

static weir_status fit(const struct arguments *arguments, struct wl_span_log *log,
                       struct wl_model *model, struct weir_error *error)
{
    const struct sim_limits limits = sim_limits_of(&arguments->options.limits);
    struct wl_span_options options = arguments->read;
    options.limits = &limits.files;
    WEIR_TRY(wl_span_log_read(&options, log, error));
    say_skipped(arguments->read.path, &log->counts);
    return wl_model_fit(log, &arguments->fit, model, error);
}

/* ---- before a file is touched ---- */

/* Where the scenario will be. */
static const char *scenario_path(const struct arguments *arguments)
{
    const bool is_printed = arguments->output == NULL || strcmp(arguments->output, "-") == 0;
    if (arguments->into != NULL)
        return arguments->output == NULL ? arguments->into : arguments->output;
    return is_printed ? "the scenario" : arguments->output;
}

static weir_status load(const char *path, const char *text, struct sim_diagnostics *said)
{
    const struct sim_scenario_source source = {
        .path = path, .text = text, .metric_named = sim_cli_metric, .moment_since = sim_cli_moment
    };
    struct sim_scenario *scenario = NULL;
    const weir_status status = sim_scenario_load(&source, &scenario, said);
    sim_scenario_destroy(scenario);
    return status;
}

/* Nobody finds a line in a file that is not there. */
static void name_unwritten(struct sim_diagnostics *said, const char *path)
{
    for (size_t i = 0; i < said->count; i++) {
        char *name = NULL;
        if (said->items[i].file == NULL || strcmp(said->items[i].file, path) != 0 ||
            asprintf(&name, "what %s would be (not written)", path) < 0)
            continue;
        free(said->items[i].file);
        said->items[i].file = name;
    }
}

/* The scenario must be one that runs before a file is touched. Where it is put into one that was
 * none before, what is wrong there is said, with the lines that there are. */
static int check_text(const struct arguments *arguments, const char *text)
{
    const char *path = scenario_path(arguments);
    struct sim_diagnostics said = { .items = NULL };
    struct sim_diagnostics before = { .items = NULL };
    const weir_status status = load(path, text, &said);
    const bool was_wrong = status != WEIR_OK && arguments->into != NULL &&
                           load(arguments->into, NULL, &before) != WEIR_OK;
    if (status != WEIR_OK)
        name_unwritten(&said, path);
    sim_diagnostics_print(was_wrong ? &before : &said, stderr);
    sim_diagnostics_clear(&said);
    sim_diagnostics_clear(&before);
    return sim_cli_exit_code(status);
}

static weir_status write_text(const struct arguments *arguments, const char *text,
                              struct weir_error *error)
{
    if (arguments->output == NULL || strcmp(arguments->output, "-") == 0)
        return fputs(text, stdout) == EOF
                   ? weir_fail(error, WEIR_EIO, "the scenario cannot be written")
                   : WEIR_OK;
    struct written file;
    WEIR_TRY(written_open(arguments->output, &file, error));
    (void)fputs(text, file.out);
    return written_close(&file, WEIR_OK, error);
}

/* ---- a new scenario ---- */

/* The text of one, and samples that it names beside its path; the caller's to be freed. */
static weir_status describe(const struct arguments *arguments, const struct wl_model *model,
                            char **text, struct weir_error *error)
{
    const struct wl_yaml_options yaml = { .name =
                                              arguments->name == NULL ? "fitted" : arguments->name,
                                          .path = arguments->output,
                                          .source = arguments->read.path,
                                          .fixes_workers = arguments->fixes_workers };
    size_t size = 0;
    FILE *out = open_memstream(text, &size);
    if (out == NULL)
        return weir_fail(error, WEIR_ENOMEM, "out of memory");
    const weir_status status = wl_model_write(model, &yaml, out, error);
    return fclose(out) == 0 || status != WEIR_OK ? status
                                                 : weir_fail(error, WEIR_ENOMEM, "out of memory");
}

/* As put_into. */
static weir_status make_new(const struct arguments *arguments, const struct wl_model *model,
                            int *code, struct weir_error *error)
{
    char *text = NULL;
    weir_status status = describe(arguments, model, &text, error);
    if (status == WEIR_OK)
        *code = check_text(arguments, text);
    if (status == WEIR_OK && *code == SIM_EXIT_OK)
        status = write_text(arguments, text, error);
    free(text);
    if (status != WEIR_OK || *code != SIM_EXIT_OK)
        return status;
    struct sim_table *table = sim_fit_table(model);
    sim_table_print(table, arguments->options.format, report_file(arguments));
    sim_table_destroy(table);
    sim_fit_warn(model);
    return WEIR_OK;
}

/* ---- into a scenario ---- */

/* The name of the event file as the scenario has to call it: from the folder of the output. */
static const char *events_name(struct sim_arena *arena, const struct arguments *arguments)
{
    const char *output = scenario_path(arguments);
    const char *folder = sim_input_file_folder(arena, output);
    const char *events = arguments->events;
    if (events == NULL || folder == NULL || events[0] == '/')
        return events;
    const size_t length = strlen(folder);
    if (strncmp(events, folder, length) == 0)
        return events + length;
    char *whole = realpath(events, NULL);
    const char *kept = sim_arena_copy(arena, whole == NULL ? events : whole);
    free(whole);
    return kept;
}

static const char *note_of(struct sim_arena *arena, const struct arguments *arguments,
                           const struct wl_model *model)
{
    if (model == NULL)
        return NULL;
    size_t tasks = 0;
    for (size_t s = 0; s < model->stage_count; s++)
        tasks += model->stages[s].tasks;
    return sim_arena_printf(
        arena, "Laws measured in %s: %zu tasks of %zu stages (weir import).%s",
        arguments->read.path, tasks, model->stage_count,
        wl_model_shows_capacity(model) ? "" : " Arrivals limit that log: no model of capacity.");
}

/* WEIR_OK: the rest is in the exit code, and what is wrong was said. */
static weir_status put_into(const struct arguments *arguments, const struct wl_model *model,
                            struct sim_arena *arena, int *code, struct weir_error *error)
{
    size_t length = 0;
    const char *before = sim_input_file_read(arena, NULL, arguments->into, &length, error);
    if (before == NULL)
        return WEIR_EIO;
    const struct sim_import import = { .path = arguments->into,
                                       .text = before,
                                       .model = model,
                                       .pipeline = arguments->pipeline,
                                       .samples = arguments->output,
                                       .events = events_name(arena, arguments),
                                       .note = note_of(arena, arguments, model) };
    struct sim_diagnostics said = { .items = NULL };
    char *text = sim_import_into(arena, &import, &said, error);
    const bool is_wrong = said.errors > 0;
    sim_diagnostics_print(&said, stderr);
    sim_diagnostics_clear(&said);
    *code = SIM_EXIT_USAGE;
    if (text == NULL)
        return is_wrong ? WEIR_OK : WEIR_EIO;
    *code = check_text(arguments, text);
    if (*code != SIM_EXIT_OK)
        return WEIR_OK;
    WEIR_TRY(write_text(arguments, text, error));
    const struct sim_import_check check = { .import = &import,
                                            .fit = &arguments->fit,
                                            .held_out = arguments->held_out / 100.0,
                                            .format = arguments->options.format,
                                            .out = report_file(arguments),
                                            .skips_run = arguments->skips_check };
    return model == NULL ? WEIR_OK : sim_import_check_print(&check, error);
}

/* ---- the command ---- */

static weir_status import_all(const struct arguments *arguments, int *code,
                              struct weir_error *error)
{
    struct wl_span_log log = { 0 };
    struct wl_model model = { 0 };
    struct sim_arena arena = { .blocks = NULL };
    const bool has_log = arguments->read.path != NULL;
    weir_status status = has_log ? fit(arguments, &log, &model, error) : WEIR_OK;
    if (status == WEIR_OK && arguments->into != NULL)
        status = put_into(arguments, has_log ? &model : NULL, &arena, code, error);
    else if (status == WEIR_OK && (!has_log || arguments->events != NULL))
        status = weir_fail(error, WEIR_EINVAL,
                           "events happen in a scenario: say which, with --into SCENARIO");
    else if (status == WEIR_OK)
        status = make_new(arguments, &model, code, error);
    if (status == WEIR_OK && has_log && arguments->plots != NULL)
        status = sim_fit_plot(&model, arguments->plots, error);
    wl_model_clear(&model);
    wl_span_log_clear(&log);
    sim_arena_clear(&arena);
    return status;
}

/* An exit code. */
static int import_files(struct arguments *arguments)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    weir_status status = WEIR_OK;
    int code = SIM_EXIT_OK;
    take_words(arguments);
    for (size_t i = 0; i < arguments->files.count && status == WEIR_OK; i++)
        status = sort_file(arguments, arguments->files.items[i], &error);
    if (status == WEIR_OK)
        status = import_all(arguments, &code, &error);
    if (status == WEIR_OK)
        return code;
    (void)fprintf(stderr, "weir: %s\n", error.text);
    return status == WEIR_EFORMAT ? SIM_EXIT_INPUT : sim_exit_for(status);
}

int sim_cmd_import(int argc, char **argv)
{
    struct arguments arguments = { .fit = { .confidence = 0.95 }, .held_out = 30 };
    sim_options_parse(&command_options, argc, argv, &arguments);
    int code = sim_in_the_way("weir import", arguments.output, arguments.force);
    if (code == SIM_EXIT_OK)
        code = import_files(&arguments);
    sim_options_clear(&arguments.options);
    free(arguments.columns.items);
    free(arguments.files.items);
    return code;
}
