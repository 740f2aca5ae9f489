/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir explain: why a worker is where it is, why a stage got none, what became of a job and what it
 * waited for, all that waits, what was decided at a time.
 */
#include "sim/cli/ask/explain_decide.h"
#include "sim/cli/ask/explain_with.h"
#include "sim/cli/ask/what_if.h"
#include "sim/cli/ask/windows_given.h"
#include "sim/cli/commands.h"
#include "sim/cli/tell/analysis_options.h"

#include "analysis/report/report_incident.h"
#include "sim/engine/nearest.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    struct sim_run_choice choice;
    const char *database;
    struct an_explain_query query;
    struct sim_windows_given windows;
    struct sim_options options; /* plug-ins, for --decide */
    uint32_t decisions;         /* --decide: so many; 0 = another question */
    uint32_t format;            /* text, json */
    const char *with;           /* policies, or NULL */
    bool what_if;
};

static void check_question(const void *given, const struct argp_state *state)
{
    const struct arguments *arguments = given;
    const struct an_explain_query *query = &arguments->query;
    const bool has_at = query->at.kind != AN_MOMENT_NONE;
    const bool is_window = sim_windows_is_given(&arguments->windows) || arguments->what_if;
    const int questions = (query->worker >= 0 ? 1 : 0) + (query->stage != NULL ? 1 : 0) +
                          (query->job != NULL ? 1 : 0) + (query->is_pending || has_at ? 1 : 0);
    if (questions > 1 || (questions == 0 && !is_window))
        argp_error(state, "explain what: one of --worker ID, --job ID, --stage NAME, --pending, "
                          "--at TIME, --what-if, or a window by --from and --to");
    if (is_window && questions > 0 && (query->stage == NULL || arguments->what_if))
        argp_error(state,
                   "--from and --to go with --stage, or stand alone; --what-if stands alone");
    if (is_window && questions == 0 && arguments->format == 1)
        argp_error(state, "weir report --from --to --format json gives the claims about a window");
    if ((arguments->decisions > 0) + (arguments->with != NULL) + query->is_pending > 1)
        argp_error(state, "one of --pending, --decide and --with");
}

static const struct sim_option command_rows[] = {
    { "worker", 0, "ID", SIM_OPTION(COUNT64, arguments, query.worker),
      "Why is this worker here, and why did it end", .max = INT64_MAX },
    { "job", 0, "ID", SIM_OPTION(TEXT, arguments, query.job),
      "What became of this job (name, workload/name or number), and who held what it waited for" },
    { "pending", 0, NULL, SIM_OPTION(FLAG, arguments, query.is_pending),
      "All that waits at the end, or with --at then: jobs, and stages that get no more workers" },
    { "stage", 0, "NAME", SIM_OPTION(TEXT, arguments, query.stage),
      "Why did this stage get no more workers" },
    { "from", 0, "TIME", SIM_OPTION(TEXT, arguments, windows.from),
      "What happened from this time on (1h30m since the start, 14:05 of the day, a stamp), against "
      "what was before; with --stage: its decisions from then on" },
    { "to", 0, "TIME", SIM_OPTION(TEXT, arguments, windows.to), "Up to this time" },
    { "at", 0, "TIME", SIM_OPTION(MOMENT, arguments, query.at),
      "The decision in force at this time" },
    { "decide", 0, "COUNT", SIM_OPTION(COUNT, arguments, decisions),
      "With --at: write what the first decision from then on starts from, as JSON for weir decide; "
      "--decide=COUNT: the first so many, one a line",
      .min = 1, .without = "1", .belongs_to = "at" },
    { "with", 0, "POLICY,...", SIM_OPTION(TEXT, arguments, with),
      "With --at: what other policies would have decided at the first decision from then on, "
      "beside "
      "what was decided; xenna,fgd+xenna (a + joins placement and scaling)",
      .belongs_to = "at" },
    { "what-if", 0, NULL, SIM_OPTION(FLAG, arguments, what_if),
      "The smallest change that would have helped, found by trying: other policies, then more "
      "nodes" },
    { "format", 'f', "FORMAT", SIM_OPTION(CHOICE, arguments, format),
      "text or json (default: text)", SIM_OPTION_WORDS_OF("text", "json") },
    { .argument = "DB",
      SIM_OPTION(TEXT, arguments, database),
      .missing = "which database?",
      .one = "one database, please" },
    { SIM_OPTION(OTHERS, arguments, choice), .others = &sim_run_choice_options },
    { SIM_OPTION(OTHERS, arguments, options), .others = &sim_options_plugin },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .shown = "at decide from to job pending stage worker what-if with variant format",
    .check = check_question,
    .usage = "DB",
    .help =
        "Explain decisions from what was recorded with them: candidates, counted reasons, scores, "
        "runners-up, and the holders of what was denied.",
};

static const char *nearer(const char *word, const char *best, const char *name)
{
    return sim_nearer((struct sim_word){ word, strlen(word) }, best, name);
}

static weir_status read_moment(const char *text, struct an_moment *moment, struct weir_error *error)
{
    if (text == NULL || an_moment_parse(text, moment))
        return WEIR_OK;
    return weir_fail(error, WEIR_EINVAL, SIM_MOMENT_EXPECTED, text);
}

static int explain_stored(struct arguments *arguments)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct an_db *db = NULL;
    weir_status status = read_moment(arguments->windows.from, &arguments->query.from, &error);
    if (status == WEIR_OK)
        status = read_moment(arguments->windows.to, &arguments->query.to, &error);
    if (status == WEIR_OK)
        status = an_open(arguments->database, &db, &error);
    if (status == WEIR_OK)
        status = an_explain(db, &arguments->query, stdout, &error);
    an_close(db);
    return sim_analysis_exit(status, &error);
}

/* What stands out in a window against the time before it. */
static int explain_window(const struct arguments *arguments)
{
    const struct an_plot_options options = { .variant = arguments->choice.variant,
                                             .replication = arguments->choice.replication };
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct an_db *db = NULL;
    char copy[SIM_WINDOWS_COPY];
    int code =
        sim_windows_measure(arguments->database, &arguments->windows, &arguments->options, copy);
    if (code != SIM_EXIT_OK)
        return code;
    weir_status status = an_open(copy, &db, &error);
    if (status == WEIR_OK)
        status = an_incident_print(db, &options, stdout, &error);
    an_close(db);
    (void)unlink(copy);
    return sim_analysis_exit(status, &error);
}

static int explain_what_if(const struct arguments *arguments)
{
    char text[SIM_WHAT_IF_TEXT];
    const struct sim_what_if asked = { .database = arguments->database,
                                       .choice = &arguments->choice,
                                       .windows = &arguments->windows,
                                       .options = &arguments->options,
                                       .out = stdout };
    const int code = sim_what_if(&asked, text);
    if (code == SIM_EXIT_OK)
        (void)printf("%s.\n", text);
    return code;
}

int sim_cmd_explain(int argc, char **argv)
{
    struct arguments arguments = { .query = { .worker = -1,
                                              .nearer = nearer,
                                              .from_s = (double)NAN,
                                              .to_s = (double)NAN,
                                              .at_s = (double)NAN } };
    sim_options_parse(&command_options, argc, argv, &arguments);
    arguments.query.variant = arguments.choice.variant;
    arguments.query.replication = arguments.choice.replication;
    arguments.query.as_json = arguments.format == 1;
    if (arguments.decisions > 0) {
        const struct sim_decide_question question = { .database = arguments.database,
                                                      .choice = &arguments.choice,
                                                      .at = arguments.query.at,
                                                      .count = arguments.decisions,
                                                      .out = stdout };
        const int code = sim_explain_decide(&question, &arguments.options);
        sim_options_clear(&arguments.options);
        return code;
    }
    if (arguments.with != NULL) {
        const struct sim_decide_question question = { .database = arguments.database,
                                                      .choice = &arguments.choice,
                                                      .at = arguments.query.at,
                                                      .out = stdout };
        const int code = sim_explain_with(&question, arguments.with, arguments.query.as_json,
                                          &arguments.options);
        sim_options_clear(&arguments.options);
        return code;
    }
    if (arguments.what_if) {
        const int code = explain_what_if(&arguments);
        sim_options_clear(&arguments.options);
        return code;
    }
    const int code = arguments.query.stage == NULL && sim_windows_is_given(&arguments.windows)
                         ? explain_window(&arguments)
                         : explain_stored(&arguments);
    sim_options_clear(&arguments.options);
    return code;
}
