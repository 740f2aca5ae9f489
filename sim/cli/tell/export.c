/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir export: what a result database holds, in the forms that other tools read (docs/export.md).
 */
#include "sim/cli/tell/export.h"

#include "analysis/openmetrics.h"
#include "sim/cli/ask/explain_decide.h"
#include "sim/cli/commands.h"
#include "sim/cli/in_the_way.h"
#include "sim/cli/json_writer.h"
#include "sim/cli/table.h"
#include "sim/cli/tell/snapshot.h"
#include "sim/files/written.h"
#include "sim/scenario/read/diagnostic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum form { FORM_CSV, FORM_PERFETTO, FORM_OPENMETRICS, FORM_STATE, FORM_DECISION, FORM_NONE };
enum { MOST_VIEWS = 128 };

struct arguments {
    struct sim_options options; /* modules */
    struct sim_run_choice choice;
    const char *database, *output, *view;
    struct an_moment at;
    uint32_t form; /* enum form */
    uint64_t spans_limit;
    bool force;
};

static void check(const void *given, const struct argp_state *state)
{
    const struct arguments *const arguments = given;
    const bool is_moment = arguments->form == FORM_STATE || arguments->form == FORM_DECISION;
    const bool has_moment = arguments->at.kind != AN_MOMENT_NONE;

    if (arguments->form == FORM_NONE)
        argp_error(state, "--to is missing: csv, perfetto, openmetrics, state or decision");
    if (is_moment && !has_moment)
        argp_error(state, "--at is missing: the moment of the %s",
                   arguments->form == FORM_STATE ? "state" : "decision");
    if (!is_moment && has_moment)
        argp_error(state, "--at is of --to state and --to decision; the others have the whole run");
    if (arguments->view != NULL && arguments->form != FORM_CSV)
        argp_error(state, "--view is of --to csv");
    if (arguments->spans_limit > 0 && arguments->form != FORM_PERFETTO)
        argp_error(state, "--spans-limit is of --to perfetto");
    if (arguments->form != FORM_PERFETTO)
        return;
    if (arguments->output == NULL)
        argp_error(state, "a trace is a file: -o NAME.json.gz");
    else if (!written_ends(arguments->output, ".json") &&
             !written_ends(arguments->output, ".json.gz"))
        argp_error(state, "a trace is called NAME.json or NAME.json.gz, not '%s'",
                   arguments->output);
}

static const struct sim_option command_rows[] = {
    { "to", 0, "FORM", SIM_OPTION(CHOICE, arguments, form),
      "csv: rows of a view; perfetto: tasks, workers, queues and what happened, for "
      "ui.perfetto.dev; openmetrics: samples under the names that Ray, xenna and DCGM use, for "
      "promtool and Grafana; state: the `initial` mapping of a scenario that goes on from --at; "
      "decision: what the first decision from --at on started from, for weir decide",
      SIM_OPTION_WORDS_OF("csv", "perfetto", "openmetrics", "state", "decision") },
    { "output", 'o', "FILE", SIM_OPTION(TEXT, arguments, output),
      "File to write; .gz compresses (default: standard output)" },
    { "view", 0, "NAME", SIM_OPTION(TEXT, arguments, view),
      "With csv: which view or table (default: v_result)" },
    { "at", 't', "TIME", SIM_OPTION(MOMENT, arguments, at),
      "Simulated time: 90, 15m, 1h30m since the start, 14:05 of the day, a stamp" },
    { "spans-limit", 0, "N", SIM_OPTION(COUNT64, arguments, spans_limit),
      "With perfetto: write at most N events (default: 1000000)" },
    { .argument = "DB",
      SIM_OPTION(TEXT, arguments, database),
      .missing = "which database?",
      .one = "one database at a time" },
    { SIM_OPTION(OTHERS, arguments, force), .others = &sim_force_option },
    { SIM_OPTION(OTHERS, arguments, choice), .others = &sim_run_choice_options },
    { SIM_OPTION(OTHERS, arguments, options), .others = &sim_options_plugin },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .shown = "at force output replication spans-limit to variant view",
    .check = check,
    .usage = "DB",
    .help = "Write what a result database holds in a form that another tool reads.\v"
            "Exit codes: 0, 2 no such run, view or moment, 3 database or file, 4 module, 6 disk.",
};

/* ---- CSV ---- */

static void write_cell(FILE *out, const struct an_frame *frame, size_t row, size_t column)
{
    const char *const text = an_text(frame, row, column);
    const double number = an_number(frame, row, column);
    char digits[40];

    if (text[0] == '\0' && isfinite(number)) {
        sim_json_number_text(number, digits, sizeof digits);
        (void)fputs(digits, out);
    } else {
        sim_csv_cell(text, out);
    }
}

static void write_frame(FILE *out, const struct an_frame *frame)
{
    for (size_t c = 0; c < frame->column_count; c++)
        (void)fprintf(out, "%s%s", c == 0 ? "" : ",", an_column(frame, c));
    (void)fputc('\n', out);
    for (size_t row = 0; row < frame->row_count; row++) {
        for (size_t c = 0; c < frame->column_count; c++) {
            if (c > 0)
                (void)fputc(',', out);
            write_cell(out, frame, row, c);
        }
        (void)fputc('\n', out);
    }
}

/* The views there are; WEIR_ENOTFOUND with the nearest one. */
static weir_status check_view(struct an_db *db, const char *view, struct weir_error *error)
{
    const char *names[MOST_VIEWS];
    struct an_frame *frame = NULL;
    bool is_there = false;
    size_t count = 0;

    WEIR_TRY(an_query(db,
                      "SELECT name FROM sqlite_schema WHERE type IN ('view', 'table') UNION "
                      "SELECT name FROM sqlite_temp_schema WHERE type = 'view' ORDER BY name DESC",
                      NULL, &frame, error));
    for (size_t row = 0; row < frame->row_count && count < MOST_VIEWS; row++) {
        names[count++] = an_text(frame, row, 0);
        is_there |= strcmp(names[count - 1], view) == 0;
    }
    const char *const near = sim_near_name(view, names, count);
    if (!is_there)
        (void)weir_fail(error, WEIR_ENOTFOUND, "there is no view '%s'%s%s%s", view,
                        near == NULL ? "; v_result, v_cluster, v_stage, v_node, v_job are some"
                                     : "; did you mean '",
                        near == NULL ? "" : near, near == NULL ? "" : "'?");
    an_frame_destroy(frame);
    return is_there ? WEIR_OK : WEIR_ENOTFOUND;
}

/* All runs, or the one that is chosen. */
static weir_status write_csv(struct an_db *db, const struct arguments *arguments,
                             const struct an_run *run, FILE *out, struct weir_error *error)
{
    const bool is_one = arguments->choice.variant != NULL || arguments->choice.replication > 0;
    const char *const view = arguments->view == NULL ? "v_result" : arguments->view;
    const struct an_args args = { .run = run->run_id };
    struct an_frame *frame = NULL;
    char sql[256];

    WEIR_TRY(check_view(db, view, error));
    (void)snprintf(sql, sizeof sql, "SELECT * FROM \"%.128s\"%s", view,
                   is_one ? " WHERE run_id = :run" : "");
    WEIR_TRY(an_query(db, sql, &args, &frame, error));
    write_frame(out, frame);
    an_frame_destroy(frame);
    return WEIR_OK;
}

/* ---- what is read from the database alone ---- */

static weir_status write_stored(const struct arguments *arguments, FILE *out,
                                struct weir_error *error)
{
    struct an_db *db = NULL;
    struct an_run *run = NULL;

    weir_status status = an_open(arguments->database, &db, error);
    if (status == WEIR_OK)
        status =
            an_run_find(db, arguments->choice.variant, arguments->choice.replication, &run, error);
    if (status == WEIR_OK)
        status = arguments->form == FORM_CSV ? write_csv(db, arguments, run, out, error)
                                             : an_openmetrics_write(db, run, out, error);
    an_run_destroy(run);
    an_close(db);
    return status;
}

/* ---- what the run is repeated for ---- */

static int write_moment(const struct arguments *arguments, FILE *out)
{
    const struct sim_decide_question question = { .database = arguments->database,
                                                  .choice = &arguments->choice,
                                                  .at = arguments->at,
                                                  .count = 1,
                                                  .out = out };
    const struct sim_snapshot snapshot = { .database = arguments->database,
                                           .choice = arguments->choice,
                                           .at = arguments->at,
                                           .options = &arguments->options,
                                           .out = out };

    return arguments->form == FORM_STATE ? sim_snapshot(&snapshot)
                                         : sim_explain_decide(&question, &arguments->options);
}

/* Whatever is written to a stream; an exit code. */
static int write_form(const struct arguments *arguments, FILE *out)
{
    struct weir_error error = { .phase = -1, .pool = -1 };

    if (arguments->form == FORM_STATE || arguments->form == FORM_DECISION)
        return write_moment(arguments, out);
    const weir_status status = write_stored(arguments, out, &error);
    return sim_analysis_exit(status, &error);
}

static int export(const struct arguments *arguments)
{
    const struct sim_trace_request trace = { .database = arguments->database,
                                             .output = arguments->output,
                                             .choice = &arguments->choice,
                                             .options = &arguments->options,
                                             .limit = arguments->spans_limit };
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct written file;

    if (arguments->form == FORM_PERFETTO)
        return sim_export_trace(&trace);
    if (arguments->output == NULL)
        return write_form(arguments, stdout);
    weir_status status = written_open(arguments->output, &file, &error);
    if (status != WEIR_OK)
        return sim_analysis_exit(status, &error);
    const int code = write_form(arguments, file.out);
    /* A form that failed leaves what was there. */
    status = written_close(&file, code == SIM_EXIT_OK ? WEIR_OK : WEIR_EIO, &error);
    return code != SIM_EXIT_OK ? code : sim_analysis_exit(status, &error);
}

int sim_cmd_export(int argc, char **argv)
{
    struct arguments arguments = { .form = FORM_NONE };

    sim_options_parse(&command_options, argc, argv, &arguments);
    int code = sim_in_the_way("weir export", arguments.output, arguments.force);
    if (code == SIM_EXIT_OK)
        code = export(&arguments);
    sim_options_clear(&arguments.options);
    return code;
}
