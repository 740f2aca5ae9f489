/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `weir fit`: from a log of spans to a scenario that runs. Method and limits: docs/fit.md. */
#include "sim/cli/commands.h"
#include "sim/cli/experiment.h"
#include "sim/cli/fit_report.h"
#include "sim/cli/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    struct sim_options options;
    struct wl_span_options read;
    struct wl_model_options fit;
    struct sim_words columns;
    const char *output, *plots, *name;
    uint32_t unit, delimiter, on_bad_row;
    bool fixes_workers;
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
    { .argument = "SPANS",
      SIM_OPTION(TEXT, arguments, read.path),
      .missing = "which log? A CSV file with columns stage, start, end",
      .one = "one log at a time" },
    { SIM_OPTION(OTHERS, arguments, options), .others = &sim_options_format },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .usage = "SPANS",
    .help = "Fit a scenario to a log of spans (CSV, also .gz and .zst; `weir run --spans` writes "
            "one).\vWith -o the laws, their intervals and how well they fit go to standard output, "
            "without it to standard error.",
};

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
    FILE *out = NULL;
    WEIR_TRY(wl_sink_open(arguments->output, &out, error));
    const weir_status status = wl_model_write(model, &yaml, out, error);
    return wl_sink_close(out, arguments->output, status, error);
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
    sim_options_parse(&command_options, argc, argv, &arguments);
    take_words(&arguments);
    struct wl_span_log log = { 0 };
    struct wl_model model = { 0 };
    struct weir_error error = { .phase = -1, .pool = -1 };
    const weir_status status = fit(&arguments, &log, &model, &error);
    wl_model_clear(&model);
    wl_span_log_clear(&log);
    sim_options_clear(&arguments.options);
    free(arguments.columns.items);
    if (status == WEIR_OK)
        return SIM_EXIT_OK;
    (void)fprintf(stderr, "weir: %s\n", error.text);
    return status == WEIR_EFORMAT ? SIM_EXIT_INPUT : sim_exit_for(status);
}
