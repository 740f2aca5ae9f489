/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir trace: job traces of others. formats, fields and map say what can be read; info what is in
 * a file; convert writes it as SWF or as weir's own table.
 */
#include "sim/cli/trace.h"

#include "sim/cli/commands.h"
#include "workloads/column_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_KIND = 0x300,
    KEY_MAP,
    KEY_BAD_ROW,
    KEY_PROCESSOR,
    KEY_NODES,
    KEY_SCENARIO,
    KEY_PLOT,
    KEY_TO,
    KEY_MAX_PROCS,
    KEY_WHOLE,
    CELL = 128
};

static const struct argp_option table[] = {
    { "kind", KEY_KIND, "FORMAT", 0, "openb, swf or table (default: found out by the head)", 0 },
    { "map", KEY_MAP, "MAP", 0, "Column map of a table: a built-in one by name, or a JSON file",
      0 },
    { "on-bad-row", KEY_BAD_ROW, "WHAT", 0, "fail at the first (default), or skip and count", 0 },
    { "processor", KEY_PROCESSOR, "WHAT", 0,
      "cpu or gpu: what a processor of SWF is (default: cpu, when SWF is written gpu if any job "
      "has one)",
      0 },
    { "nodes", KEY_NODES, "FILE", 0,
      "info: nodes to hold against it (sn, cpu_milli, memory_mib, "
      "gpu, model)",
      0 },
    { "scenario", KEY_SCENARIO, "FILE", 0, "info: the cluster of a scenario to hold against it",
      0 },
    { "plot", KEY_PLOT, "FILE.svg", 0, "info: draw the arrivals", 0 },
    { "output", 'o', "FILE", 0, "convert: .swf or .csv, with .gz compressed (default: -)", 0 },
    { "to", KEY_TO, "FORMAT", 0, "convert: swf or weir (default: by the name of the output)", 0 },
    { "max-procs", KEY_MAX_PROCS, "N", 0, "convert: processors of the machine, for the head", 0 },
    { "whole-seconds", KEY_WHOLE, NULL, 0, "convert: round times, for readers without fractions",
      0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static int choose(const char *option, const char *word, const char *const *names, size_t count,
                  struct argp_state *state)
{
    const int index = sim_options_choice(word, names, count);
    if (index < 0)
        argp_error(state, "--%s: '%s' is none of its values; see --help", option, word);
    return index;
}

static int64_t count_of(const char *text, struct argp_state *state)
{
    char *end = NULL;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || value < 1 || value > INT32_MAX)
        argp_error(state, "--max-procs: '%s' is not a number from 1 to %d", text, INT32_MAX);
    return value;
}

static error_t parse_choice(int key, char *argument, struct argp_state *state)
{
    static const char *const bad[] = { "fail", "skip" };
    static const char *const processors[] = { "cpu", "gpu" };
    static const char *const targets[] = { "swf", "weir" };
    static const char *const kinds[] = { "openb", "swf", "table" };
    struct sim_trace_arguments *arguments = state->input;
    switch (key) {
    case KEY_KIND:
        arguments->kind = kinds[choose("kind", argument, kinds, 3, state)];
        return 0;
    case KEY_BAD_ROW:
        arguments->on_bad_row = choose("on-bad-row", argument, bad, 2, state) == 1
                                    ? WL_BAD_ROW_IS_SKIPPED
                                    : WL_BAD_ROW_FAILS;
        return 0;
    case KEY_PROCESSOR:
        arguments->has_processor = true;
        arguments->swf.processor = choose("processor", argument, processors, 2, state) == 1
                                       ? WL_PROCESSOR_GPU
                                       : WL_PROCESSOR_CPU;
        return 0;
    case KEY_TO:
        arguments->to = targets[choose("to", argument, targets, 2, state)];
        return 0;
    case KEY_MAX_PROCS:
        arguments->swf.machine_processors = count_of(argument, state);
        return 0;
    case KEY_WHOLE:
        arguments->swf.has_whole_seconds = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void take_word(struct sim_trace_arguments *arguments, const char *word,
                      struct argp_state *state)
{
    static const char *const verbs[] = { "formats", "fields", "map", "info", "convert" };
    if (arguments->verb == NULL) {
        const int index = sim_options_choice(word, verbs, 5);
        if (index < 0)
            argp_error(state, "'%s' is none of formats, fields, map, info, convert", word);
        arguments->verb = verbs[index < 0 ? 0 : index];
    } else if (arguments->file == NULL)
        arguments->file = word;
    else
        argp_error(state, "one file at a time, got '%s' and '%s'", arguments->file, word);
}

static void check(const struct sim_trace_arguments *arguments, struct argp_state *state)
{
    const char *verb = arguments->verb;
    const bool lists = verb != NULL && verb[0] == 'f'; /* formats, fields */
    if (verb == NULL)
        argp_error(state, "do what? formats, fields, map NAME, info FILE or convert FILE -o OUT");
    else if (lists && arguments->file != NULL)
        argp_error(state, "%s needs no '%s'", verb, arguments->file);
    else if (!lists && arguments->file == NULL)
        argp_error(state, "%s which?", verb);
    if (arguments->nodes != NULL && arguments->scenario != NULL)
        argp_error(state, "--nodes and --scenario: one of them");
    if (arguments->map != NULL && arguments->kind != NULL && strcmp(arguments->kind, "table") != 0)
        argp_error(state, "--map belongs to --kind table");
    if (arguments->kind != NULL && arguments->map == NULL && strcmp(arguments->kind, "table") == 0)
        argp_error(state, "--kind table needs --map");
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct sim_trace_arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->options;
        return 0;
    case KEY_MAP:
        arguments->map = argument;
        return 0;
    case KEY_NODES:
        arguments->nodes = argument;
        return 0;
    case KEY_SCENARIO:
        arguments->scenario = argument;
        return 0;
    case KEY_PLOT:
        arguments->plot = argument;
        return 0;
    case 'o':
        arguments->output = argument;
        return 0;
    case ARGP_KEY_ARG:
        take_word(arguments, argument, state);
        return 0;
    case ARGP_KEY_END:
        check(arguments, state);
        return 0;
    default:
        return parse_choice(key, argument, state);
    }
}

static const struct argp_child children[] = { { &sim_options_format_argp, 0, NULL, 0 },
                                              { NULL, 0, NULL, 0 } };
static const struct argp argp = {
    .options = table,
    .parser = parse,
    .args_doc = "formats\nfields\nmap NAME\ninfo FILE\nconvert FILE -o OUT",
    .doc = "Job traces: what can be read, what is in one, and converting it. Files may be plain, "
           ".gz or .zst.\vmap prints a built-in column map, to start one of your own from.",
    .children = children
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

static weir_status read_trace(const struct sim_trace_arguments *arguments, struct sim_trace *trace,
                              struct weir_error *error)
{
    struct wl_trace_options options = { .path = arguments->file,
                                        .on_bad_row = arguments->on_bad_row };
    const char *kind = arguments->map != NULL ? "table" : arguments->kind;
    const char *map_name = arguments->map;
    const struct wl_trace_format *format = kind == NULL ? NULL : wl_trace_format_find(kind);
    struct wl_column_map *map = NULL;
    if (format == NULL && strcmp(arguments->file, "-") == 0)
        return weir_fail(error, WEIR_EINVAL,
                         "standard input is read once: name its format with --kind or --map");
    if (format == NULL)
        WEIR_TRY(wl_trace_recognise(&options, &format, &map_name, error));
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

int sim_trace_read(const struct sim_trace_arguments *arguments, struct sim_trace *trace)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    const weir_status status = read_trace(arguments, trace, &error);
    if (status != WEIR_OK) {
        (void)fprintf(stderr, "weir: %s\n", error.text);
        return status == WEIR_EINVAL ? SIM_EXIT_USAGE : SIM_EXIT_INPUT;
    }
    say_skipped(&trace->jobs, arguments->file);
    const bool counts = arguments->has_processor || arguments->verb[0] == 'i'; /* info */
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
    sim_options_parse(&argp, argc, argv, &arguments);
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
