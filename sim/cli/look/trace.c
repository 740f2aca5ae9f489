/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir trace: job traces of others. formats, fields and map say what can be read; info what is in
 * a file; convert writes it as SWF or as weir's own table.
 */
#include "sim/cli/look/trace.h"

#include "sim/cli/commands.h"
#include "sim/cli/in_the_way.h"
#include "sim/cli/limits.h"
#include "workloads/column_map.h"

#include <string.h>

enum { CELL = 128 };

static void check(const void *given, const struct argp_state *state)
{
    const struct sim_trace_arguments *arguments = given;
    const char *verb = arguments->verb;
    const bool lists = verb[0] == 'f'; /* formats, fields */
    if (lists && arguments->file != NULL)
        argp_error(state, "%s needs no '%s'", verb, arguments->file);
    else if (!lists && arguments->file == NULL)
        argp_error(state, "%s which?", verb);
}

static void check_trace(const void *given, const struct argp_state *state)
{
    const struct sim_trace_arguments *arguments = given;
    const bool is_table = arguments->kind != NULL && strcmp(arguments->kind, "table") == 0;
    if (arguments->nodes != NULL && arguments->scenario != NULL)
        argp_error(state, "--nodes and --scenario: one of them");
    if (arguments->map != NULL && arguments->kind != NULL && !is_table)
        argp_error(state, "--map belongs to --kind table");
    if (is_table && arguments->map == NULL)
        argp_error(state, "--kind table needs --map");
}

static const struct sim_option info_rows[] = {
    { "kind", 0, "FORMAT", SIM_OPTION(TEXT, sim_trace_arguments, kind),
      "Of a trace: openb, swf or table (default: found out by the head)",
      SIM_OPTION_WORDS_OF("openb", "swf", "table"), .of = SIM_FILE_TRACE },
    { "map", 0, "MAP", SIM_OPTION(TEXT, sim_trace_arguments, map),
      "Of a trace: column map of a table, a built-in one by name, or a JSON file",
      .of = SIM_FILE_TRACE },
    { "on-bad-row", 0, "WHAT", SIM_OPTION(CHOICE, sim_trace_arguments, on_bad_row),
      "Of a trace: fail at the first (default), or skip and count",
      SIM_OPTION_WORDS_OF("fail", "skip"), .of = SIM_FILE_TRACE },
    { "processor", 0, "WHAT", SIM_OPTION(CHOICE, sim_trace_arguments, swf.processor),
      "Of a trace: cpu or gpu, what a processor of SWF is (default: cpu, when SWF is written gpu "
      "if any job "
      "has one)",
      SIM_OPTION_WORDS_OF("cpu", "gpu"),
      .given = offsetof(struct sim_trace_arguments, has_processor), .of = SIM_FILE_TRACE },
    { "nodes", 0, "FILE", SIM_OPTION(TEXT, sim_trace_arguments, nodes),
      "Of a trace: nodes to hold against it (sn, cpu_milli, memory_mib, gpu, model)",
      .of = SIM_FILE_TRACE },
    { "scenario", 0, "FILE", SIM_OPTION(TEXT, sim_trace_arguments, scenario),
      "Of a trace: the cluster of a scenario to hold against it", .of = SIM_FILE_TRACE },
    { "groups", 0, "N", SIM_OPTION(COUNT, sim_trace_arguments, groups),
      "Of a trace: the jobs in N groups by what they need (k-means)", .min = 1, .max = 1000,
      .of = SIM_FILE_TRACE },
    { "plot", 0, "FILE.svg", SIM_OPTION(TEXT, sim_trace_arguments, plot),
      "Of a trace: draw the arrivals", .of = SIM_FILE_TRACE },
    { SIM_OPTION(OTHERS, sim_trace_arguments, force), .others = &sim_force_option },
};
const struct sim_option_table sim_trace_table = { SIM_OPTION_ROWS(info_rows),
                                                  .check = check_trace };

static const struct sim_option command_rows[] = {
    { "output", 'o', "FILE", SIM_OPTION(TEXT, sim_trace_arguments, output),
      "convert: .swf or .csv, with .gz compressed (default: -)" },
    { "to", 0, "FORMAT", SIM_OPTION(TEXT, sim_trace_arguments, to),
      "convert: swf or weir (default: by the name of the output)",
      SIM_OPTION_WORDS_OF("swf", "weir") },
    { "max-procs", 0, "N", SIM_OPTION(COUNT64, sim_trace_arguments, swf.machine_processors),
      "convert: processors of the machine, for the head", .min = 1, .max = INT32_MAX },
    { "whole-seconds", 0, NULL, SIM_OPTION(FLAG, sim_trace_arguments, swf.has_whole_seconds),
      "convert: round times, for readers without fractions" },
    { .argument = "what to do",
      SIM_OPTION(TEXT, sim_trace_arguments, verb),
      SIM_OPTION_WORDS_OF("formats", "fields", "map", "info", "convert"),
      .missing = "do what? formats, fields, map NAME, info FILE or convert FILE -o OUT" },
    { .argument = "FILE",
      SIM_OPTION(TEXT, sim_trace_arguments, file),
      .one = "one file at a time" },
    { .kind = SIM_OPTION_OTHERS, .others = &sim_trace_table },
    { SIM_OPTION(OTHERS, sim_trace_arguments, options), .others = &sim_options_format },
    { SIM_OPTION(OTHERS, sim_trace_arguments, options.limits), .others = &sim_limit_table },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .check = check,
    .usage = "formats\nfields\nmap NAME\ninfo FILE\nconvert FILE -o OUT",
    .help = "Job traces: what can be read, what is in one, and converting it. Files may be plain, "
            ".gz or .zst.\vmap prints a built-in column map, to start one of your own from.",
};

/* ---- reading ---- */

static weir_status open_map(const char *name, struct wl_trace_options *options,
                            struct wl_column_map **map, struct weir_error *error)
{
    if (name == NULL)
        return WEIR_OK;
    const weir_status status = wl_column_map_open(name, map, error);
    options->map = *map;
    return status;
}

/* A table is one, known or not: it is told what is missing. */
static bool has_name_of_table(const char *file)
{
    const char *end = strrchr(file, '.');
    return end != NULL && (strcmp(end, ".csv") == 0 || strcmp(end, ".tsv") == 0);
}

bool sim_is_trace(const struct sim_trace_arguments *arguments)
{
    struct wl_trace_options options = { .path = arguments->file };
    const struct wl_trace_format *format = NULL;
    const char *map = NULL;
    const struct sim_limits limits = sim_limits_of(&arguments->options.limits);
    options.limits = &limits.files;
    if (arguments->kind != NULL || arguments->map != NULL || has_name_of_table(arguments->file))
        return true;
    return strcmp(arguments->file, "-") != 0 &&
           wl_trace_recognise(&options, &format, &map, NULL) == WEIR_OK;
}

/* Of a table that nobody knows, how its columns are named. */
static weir_status recognise(const struct sim_trace_arguments *arguments,
                             const struct wl_trace_options *options,
                             const struct wl_trace_format **format, const char **map,
                             struct weir_error *error)
{
    struct weir_error why = { .phase = -1, .pool = -1 };
    const weir_status status = wl_trace_recognise(options, format, map, &why);
    if (status == WEIR_EFORMAT)
        return weir_fail(
            error, status,
            "%s: weir show %s --map MAP.json, where MAP.json says what its columns are "
            "(docs/traces.md)",
            why.text, arguments->file);
    return status == WEIR_OK ? WEIR_OK : weir_fail(error, status, "%s", why.text);
}

static weir_status read_trace(const struct sim_trace_arguments *arguments, struct sim_trace *trace,
                              struct weir_error *error)
{
    const struct sim_limits limits = sim_limits_of(&arguments->options.limits);
    struct wl_trace_options options = { .path = arguments->file,
                                        .limits = &limits.files,
                                        .on_bad_row = arguments->on_bad_row };
    const char *kind = arguments->map != NULL ? "table" : arguments->kind;
    const char *map_name = arguments->map;
    const struct wl_trace_format *format = kind == NULL ? NULL : wl_trace_format_find(kind);
    struct wl_column_map *map = NULL;
    if (format == NULL && strcmp(arguments->file, "-") == 0)
        return weir_fail(error, WEIR_EINVAL,
                         "standard input is read once: name its format with --kind or --map");
    if (format == NULL)
        WEIR_TRY(recognise(arguments, &options, &format, &map_name, error));
    weir_status status = open_map(map_name, &options, &map, error);
    if (status == WEIR_OK)
        status = format->read(&options, &trace->jobs, error);
    wl_column_map_destroy(map);
    trace->format = map_name != NULL ? map_name : format->name;
    return status;
}

static void say_skipped(const struct wl_jobs *jobs, const char *path)
{
    for (size_t i = 0; i < 3 && jobs->messages[i] != NULL; i++)
        (void)fprintf(stderr, "weir: skipped: %s\n", jobs->messages[i]);
    if (jobs->skipped > 0)
        (void)fprintf(stderr, "weir: %s: %zu of %zu rows skipped\n", path, jobs->skipped,
                      jobs->skipped + jobs->count);
}

int sim_trace_exit(weir_status status, const struct weir_error *error)
{
    if (status == WEIR_OK)
        return SIM_EXIT_OK;
    (void)fprintf(stderr, "weir: %s\n", error->text);
    if (status == WEIR_ENOMEM)
        return SIM_EXIT_RESOURCE;
    return status == WEIR_EINVAL ? SIM_EXIT_USAGE : SIM_EXIT_INPUT;
}

int sim_trace_read(const struct sim_trace_arguments *arguments, struct sim_trace *trace)
{
    const bool is_told = arguments->verb[0] == 'i'; /* info */
    struct weir_error error = { .phase = -1, .pool = -1 };
    if (sim_in_the_way(is_told ? "weir show" : "weir trace",
                       is_told ? arguments->plot : arguments->output,
                       arguments->force) != SIM_EXIT_OK)
        return SIM_EXIT_INPUT;
    const weir_status status = read_trace(arguments, trace, &error);
    if (status != WEIR_OK)
        return sim_trace_exit(status, &error);
    say_skipped(&trace->jobs, arguments->file);
    const bool counts = arguments->has_processor || is_told;
    for (size_t i = 0; counts && i < trace->jobs.count; i++)
        wl_job_take_processors(&trace->jobs.jobs[i], arguments->swf.processor);
    return SIM_EXIT_OK;
}

/* ---- what can be read ---- */

static const struct sim_column format_columns[] = {
    { "kind", "kind", NULL, false, false },
    { "map", "map", NULL, false, false },
    { "summary", "summary", NULL, false, false },
};

static void map_row(struct sim_table *out, const struct wl_built_in_map *built_in)
{
    struct wl_column_map *map = NULL;
    const bool is_open = wl_column_map_open(built_in->name, &map, NULL) == WEIR_OK;
    const char *const cells[] = { "table", built_in->name, is_open ? map->summary : "" };
    sim_table_row(out, cells);
    wl_column_map_destroy(map);
}

static int list_formats(enum sim_format format)
{
    struct sim_table *out = sim_table_create(format_columns, 3);
    for (size_t i = 0; i < wl_trace_formats_count; i++) {
        const char *const cells[] = { wl_trace_formats[i].name, "", wl_trace_formats[i].summary };
        sim_table_row(out, cells);
    }
    for (size_t i = 0; i < wl_column_maps_count; i++)
        map_row(out, &wl_column_maps[i]);
    sim_table_print(out, format, stdout);
    sim_table_destroy(out);
    return SIM_EXIT_OK;
}

static const struct sim_column field_columns[] = {
    { "field", "field", NULL, false, false },
    { "units", "units", NULL, false, false },
    { "meaning", "meaning", NULL, false, false },
};

static int list_fields(enum sim_format format)
{
    struct sim_table *out = sim_table_create(field_columns, 3);
    for (int f = 0; f < WL_FIELD_COUNT; f++) {
        char units[CELL] = "";
        size_t length = 0;
        for (size_t u = 0; u < wl_map_units_count; u++)
            if (wl_map_units[u].kind == wl_map_fields[f].kind)
                length += (size_t)snprintf(units + length, CELL - length, "%s%s",
                                           length == 0 ? "" : " ", wl_map_units[u].name);
        const char *const cells[] = { wl_map_fields[f].name, units, wl_map_fields[f].help };
        sim_table_row(out, cells);
    }
    sim_table_print(out, format, stdout);
    sim_table_destroy(out);
    return SIM_EXIT_OK;
}

static int print_map(const char *name)
{
    const char *names[16];
    for (size_t i = 0; i < wl_column_maps_count && i < 16; i++) {
        names[i] = wl_column_maps[i].name;
        if (strcmp(names[i], name) == 0) {
            (void)fputs(wl_column_maps[i].text, stdout);
            return SIM_EXIT_OK;
        }
    }
    (void)fprintf(stderr, "weir trace: there is no built-in map '%s'; there are:", name);
    for (size_t i = 0; i < wl_column_maps_count && i < 16; i++)
        (void)fprintf(stderr, " %s", names[i]);
    (void)fputc('\n', stderr);
    return SIM_EXIT_USAGE;
}

int sim_cmd_trace(int argc, char **argv)
{
    struct sim_trace_arguments arguments = { .on_bad_row = WL_BAD_ROW_FAILS };
    int code = SIM_EXIT_USAGE;
    sim_options_parse(&command_options, argc, argv, &arguments);
    if (strcmp(arguments.verb, "formats") == 0)
        code = list_formats(arguments.options.format);
    else if (strcmp(arguments.verb, "fields") == 0)
        code = list_fields(arguments.options.format);
    else if (strcmp(arguments.verb, "map") == 0)
        code = print_map(arguments.file);
    else if (strcmp(arguments.verb, "info") == 0)
        code = sim_trace_info(&arguments);
    else
        code = sim_trace_convert(&arguments);
    sim_options_clear(&arguments.options);
    return code;
}
