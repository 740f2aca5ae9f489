/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir explain: why a worker is where it is, why a stage got none, what became of a job and what it
 * waited for, all that waits, what was decided at a time.
 */
#include "sim/cli/analysis_options.h"
#include "sim/cli/commands.h"
#include "sim/cli/explain_decide.h"

#include "sim/engine/nearest.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_WORKER = 0x200, KEY_STAGE, KEY_FROM, KEY_TO, KEY_AT, KEY_DECIDE, KEY_JOB, KEY_PENDING };

struct arguments {
    struct sim_run_choice choice;
    const char *database;
    struct an_explain_query query;
    struct sim_options options; /* plug-ins, for --decide */
    uint32_t decisions;         /* --decide: so many; 0 = another question */
};

static const struct argp_option table[] = {
    { "worker", KEY_WORKER, "ID", 0, "Why is this worker here, and why did it end", 0 },
    { "job", KEY_JOB, "ID", 0,
      "What became of this job (name, workload/name or number), and who held what it waited for",
      0 },
    { "pending", KEY_PENDING, NULL, 0,
      "All that waits at the end, or with --at then: jobs, and stages that get no more workers",
      0 },
    { "stage", KEY_STAGE, "NAME", 0, "Why did this stage get no more workers", 0 },
    { "from", KEY_FROM, "TIME", 0, "With --stage: from this time on (1h30m, 01:30:00, 5400)", 0 },
    { "to", KEY_TO, "TIME", 0, "With --stage: up to this time", 0 },
    { "at", KEY_AT, "TIME", 0, "The decision in force at this time", 0 },
    { "decide", KEY_DECIDE, "COUNT", OPTION_ARG_OPTIONAL,
      "With --at: write what the first decision from then on starts from, as JSON for weir decide; "
      "--decide=COUNT: the first so many, one a line",
      0 },
    { "format", 'f', "FORMAT", 0, "text or json (default: text)", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static int64_t worker_option(const char *text, const struct argp_state *state)
{
    char *end = NULL;
    const long long value = strtoll(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0')
        argp_error(state, "--worker: expected a number, found '%s'", text);
    return value;
}

static uint32_t count_option(const char *text, const struct argp_state *state)
{
    char *end = NULL;
    if (text == NULL)
        return 1;
    const unsigned long value = strtoul(text, &end, 10);
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || value < 1 || value > UINT32_MAX)
        argp_error(state, "--decide: expected a number from 1 on, found '%s'", text);
    return (uint32_t)value;
}

static void check_question(const struct arguments *arguments, const struct argp_state *state)
{
    const struct an_explain_query *query = &arguments->query;
    const int questions = (query->worker >= 0 ? 1 : 0) + (query->stage != NULL ? 1 : 0) +
                          (query->job != NULL ? 1 : 0) +
                          (query->is_pending || !isnan(query->at_s) ? 1 : 0);
    if (arguments->database == NULL)
        argp_error(state, "which database?");
    if (questions != 1)
        argp_error(
            state,
            "explain what: one of --worker ID, --job ID, --stage NAME, --pending, --at TIME");
    if (arguments->decisions > 0 && (isnan(query->at_s) || query->is_pending))
        argp_error(state, "--decide needs --at TIME");
    if (query->stage == NULL && !(isnan(query->from_s) && isnan(query->to_s)))
        argp_error(state, "--from and --to belong to --stage");
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    static const char *const formats[] = { "text", "json" };
    struct arguments *arguments = state->input;
    struct an_explain_query *query = &arguments->query;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->choice;
        state->child_inputs[1] = &arguments->options;
        return 0;
    case KEY_DECIDE:
        arguments->decisions = count_option(argument, state);
        return 0;
    case KEY_WORKER:
        query->worker = worker_option(argument, state);
        return 0;
    case KEY_JOB:
        query->job = argument;
        return 0;
    case KEY_PENDING:
        query->is_pending = true;
        return 0;
    case KEY_STAGE:
        query->stage = argument;
        return 0;
    case KEY_FROM:
        query->from_s = sim_time_option(argument, state, "--from");
        return 0;
    case KEY_TO:
        query->to_s = sim_time_option(argument, state, "--to");
        return 0;
    case KEY_AT:
        query->at_s = sim_time_option(argument, state, "--at");
        return 0;
    case 'f':
        if (sim_options_choice(argument, formats, 2) < 0)
            argp_error(state, "--format: '%s' is neither text nor json", argument);
        query->as_json = sim_options_choice(argument, formats, 2) == 1;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->database != NULL)
            argp_error(state, "one database, please; found '%s' too", argument);
        arguments->database = argument;
        return 0;
    case ARGP_KEY_END:
        check_question(arguments, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = { { &sim_run_choice_argp, 0, NULL, 0 },
                                              { &sim_options_plugin_argp, 0, NULL, 0 },
                                              { NULL, 0, NULL, 0 } };
static const struct argp argp = {
    .options = table,
    .parser = parse,
    .args_doc = "DB",
    .doc =
        "Explain decisions from what was recorded with them: candidates, counted reasons, scores, "
        "runners-up, and the holders of what was denied.",
    .children = children
};

static const char *nearer(const char *word, const char *best, const char *name)
{
    return sim_nearer((struct sim_word){ word, strlen(word) }, best, name);
}

int sim_cmd_explain(int argc, char **argv)
{
    struct arguments arguments = { .query = { .worker = -1,
                                              .nearer = nearer,
                                              .from_s = (double)NAN,
                                              .to_s = (double)NAN,
                                              .at_s = (double)NAN } };
    sim_options_parse(&argp, argc, argv, &arguments);
    arguments.query.variant = arguments.choice.variant;
    arguments.query.replication = arguments.choice.replication;
    if (arguments.decisions > 0) {
        const struct sim_decide_question question = { .database = arguments.database,
                                                      .choice = &arguments.choice,
                                                      .at_s = arguments.query.at_s,
                                                      .count = arguments.decisions,
                                                      .out = stdout };
        const int code = sim_explain_decide(&question, &arguments.options);
        sim_options_clear(&arguments.options);
        return code;
    }
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct an_db *db = NULL;
    weir_status status = an_open(arguments.database, &db, &error);
    if (status == WEIR_OK)
        status = an_explain(db, &arguments.query, stdout, &error);
    an_close(db);
    return sim_analysis_exit(status, &error);
}
