/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `weir fit`: from a log of spans to a scenario that runs. Method and limits: docs/fit.md. */
#include "sim/cli/commands.h"
#include "sim/cli/experiment.h"
#include "sim/cli/fit_report.h"
#include "sim/cli/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_BAD_ROW = 0x300,
    KEY_COLUMNS,
    KEY_UNIT,
    KEY_FIXED,
    KEY_PLOTS,
    KEY_STAGES,
    KEY_INPUT,
    KEY_NAME,
    KEY_DELIMITER,
    MOST_COLUMNS = 32
};

struct arguments {
    struct sim_options options;
    struct wl_span_options read;
    struct wl_model_options fit;
    const char *columns[MOST_COLUMNS];
    const char *output, *plots, *name;
    bool fixes_workers;
};

static const struct argp_option table[] = {
    { "output", 'o', "FILE", 0, "Scenario to write (default: standard output)", 0 },
    { "name", KEY_NAME, "NAME", 0, "Name of the scenario (default: fitted)", 0 },
    { "fixed-workers", KEY_FIXED, NULL, 0,
      "As many workers as were seen at once, instead of a scaling policy", 0 },
    { "plots", KEY_PLOTS, "FOLDER", 0, "Write a QQ plot of each law there (SVG)", 0 },
    { "columns", KEY_COLUMNS, "OURS=YOURS", 0,
      "Another name of a column, for example start=begin_ts; may be repeated or joined by commas",
      0 },
    { "time-unit", KEY_UNIT, "UNIT", 0, "Of the times in the log: s ms us ns (default: s)", 0 },
    { "delimiter", KEY_DELIMITER, "SIGN", 0, "auto , ; tab | (default: auto)", 0 },
    { "on-bad-row", KEY_BAD_ROW, "WHAT", 0, "fail at the first (default), or skip and count", 0 },
    { "stages", KEY_STAGES, "A,B,C", 0, "Order of the stages (default: by first start)", 0 },
    { "input", KEY_INPUT, "WHAT", 0,
      "backlog: all items are there at the start; arrivals; auto (default)", 0 },
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

/* "a=b,c=d": cut in place; argv may be changed. */
static void add_columns(struct arguments *arguments, char *text, struct argp_state *state)
{
    char *rest = NULL;
    for (char *one = strtok_r(text, ",", &rest); one != NULL; one = strtok_r(NULL, ",", &rest)) {
        if (arguments->read.columns_count == MOST_COLUMNS)
            argp_error(state, "--columns: more than %d", MOST_COLUMNS);
        arguments->columns[arguments->read.columns_count++] = one;
    }
}

static error_t parse_reading(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    static const char *const units[] = { "s", "ms", "us", "ns" };
    static const double unit_s[] = { 1.0, 1e-3, 1e-6, 1e-9 };
    static const char *const signs[] = { "auto", ",", ";", "tab", "|" };
    static const char sign[] = { '\0', ',', ';', '\t', '|' };
    static const char *const bad[] = { "fail", "skip" };
    static const char *const inputs[] = { "auto", "backlog", "arrivals" };
    switch (key) {
    case KEY_UNIT:
        arguments->read.unit_s = unit_s[choose("time-unit", argument, units, 4, state)];
        return 0;
    case KEY_DELIMITER:
        arguments->read.delimiter = sign[choose("delimiter", argument, signs, 5, state)];
        return 0;
    case KEY_BAD_ROW:
        arguments->read.skips_bad_rows = choose("on-bad-row", argument, bad, 2, state) == 1;
        return 0;
    case KEY_COLUMNS:
        add_columns(arguments, argument, state);
        return 0;
    case KEY_INPUT:
        arguments->fit.input = (enum wl_input)choose("input", argument, inputs, 3, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->options;
        return 0;
    case 'o':
        arguments->output = argument;
        return 0;
    case KEY_NAME:
        arguments->name = argument;
        return 0;
    case KEY_FIXED:
        arguments->fixes_workers = true;
        return 0;
    case KEY_PLOTS:
        arguments->plots = argument;
        return 0;
    case KEY_STAGES:
        arguments->fit.stages = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->read.path != NULL)
            argp_error(state, "one log at a time, got '%s' and '%s'", arguments->read.path,
                       argument);
        arguments->read.path = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which log? A CSV file with columns stage, start, end");
        return EINVAL;
    default:
        return parse_reading(key, argument, state);
    }
}

static const struct argp_child children[] = { { &sim_options_format_argp, 0, NULL, 0 },
                                              { NULL, 0, NULL, 0 } };
static const struct argp argp = {
    .options = table,
    .parser = parse,
    .args_doc = "SPANS",
    .doc = "Fit a scenario to a log of spans (CSV, also .gz and .zst; `weir run --spans` writes "
           "one).\vWith -o the laws, their intervals and how well they fit go to standard output, "
           "without it to standard error.",
    .children = children
};

static void say_skipped(const char *path, const struct wl_csv_counts *counts)
{
    for (size_t i = 0; i < counts->skipped && i < WL_CSV_MESSAGES; i++)
        (void)fprintf(stderr, "weir: skipped: %s\n", counts->messages[i]);
    if (counts->skipped > 0)
        (void)fprintf(stderr, "weir: %s: %zu of %zu rows skipped\n", path, counts->skipped,
                      counts->skipped + counts->rows);
}

static weir_status write_scenario(const struct arguments *arguments, const struct wl_model *model,
                                  struct weir_error *error)
{
    const struct wl_yaml_options yaml = { .name =
                                              arguments->name == NULL ? "fitted" : arguments->name,
                                          .path = arguments->output,
                                          .source = arguments->read.path,
                                          .fixes_workers = arguments->fixes_workers };
    if (arguments->output == NULL || strcmp(arguments->output, "-") == 0)
        return wl_model_write(model, &yaml, stdout, error);
    FILE *out = fopen(arguments->output, "w");
    if (out == NULL)
        return weir_fail(error, WEIR_EIO, "%s: cannot be written: %s", arguments->output,
                         strerror(errno));
    const weir_status status = wl_model_write(model, &yaml, out, error);
    if (fclose(out) != 0 && status == WEIR_OK)
        return weir_fail(error, WEIR_EIO, "%s: cannot be written to", arguments->output);
    return status;
}

static weir_status fit(const struct arguments *arguments, struct wl_span_log *log,
                       struct wl_model *model, struct weir_error *error)
{
    WEIR_TRY(wl_span_log_read(&arguments->read, log, error));
    say_skipped(arguments->read.path, &log->counts);
    WEIR_TRY(wl_model_fit(log, &arguments->fit, model, error));
    WEIR_TRY(write_scenario(arguments, model, error));
    sim_fit_print(model, arguments->options.format,
                  arguments->output == NULL || strcmp(arguments->output, "-") == 0 ? stderr
                                                                                   : stdout);
    sim_fit_warn(model);
    return arguments->plots == NULL ? WEIR_OK : sim_fit_plot(model, arguments->plots, error);
}

int sim_cmd_fit(int argc, char **argv)
{
    struct arguments arguments = { .fit = { .confidence = 0.95 } };
    sim_options_parse(&argp, argc, argv, &arguments);
    arguments.read.columns = arguments.columns;
    struct wl_span_log log = { 0 };
    struct wl_model model = { 0 };
    struct weir_error error = { .phase = -1, .pool = -1 };
    const weir_status status = fit(&arguments, &log, &model, &error);
    wl_model_clear(&model);
    wl_span_log_clear(&log);
    sim_options_clear(&arguments.options);
    if (status == WEIR_OK)
        return SIM_EXIT_OK;
    (void)fprintf(stderr, "weir: %s\n", error.text);
    return status == WEIR_EFORMAT ? SIM_EXIT_INPUT : sim_exit_for(status);
}
