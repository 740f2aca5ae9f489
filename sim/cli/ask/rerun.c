/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir rerun: repeats stored runs from their database alone and says whether they go the same way
 * again; when not, which file is another one since. What is compared are digests, of events and of
 * transitions: figures are made of these, and are not looked at.
 */
#include "sim/cli/commands.h"
#include "sim/cli/experiment/isolate_run.h"
#include "sim/cli/experiment/result_lock.h"
#include "sim/cli/experiment/simulate_options.h"
#include "sim/cli/experiment/stored_run.h"
#include "sim/cli/plugin.h"
#include "sim/cli/tell/analysis_options.h"
#include "sim/record/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    struct sim_options common;
    struct sim_run_choice choice;
    const char *database, *output;
};

static const struct sim_option command_rows[] = {
    { "output", 'o', "DB", SIM_OPTION(TEXT, arguments, output),
      "Write the repeated runs into a database of their own" },
    { .argument = "DB",
      SIM_OPTION(TEXT, arguments, database),
      .missing = "which database?",
      .one = "one database at a time" },
    { SIM_OPTION(OTHERS, arguments, choice), .others = &sim_run_choice_options },
    { SIM_OPTION(OTHERS, arguments, common), .others = &sim_options_format },
    { SIM_OPTION(OTHERS, arguments, common), .others = &sim_options_plugin },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .usage = "DB",
    .help = "Repeat the runs of a result database (all, or those of --variant and --replication) "
            "and compare their digests.\v"
            "Nothing but the database is needed: it holds the resolved scenario, the seed and the "
            "modules' paths. Exit codes: 0 the same, 1 another result, 3 database, 4 module.",
};

static const struct sim_column columns[] = {
    { "variant", "variant", NULL, false, false },
    { "replication", "replication", NULL, true, true },
    { "stored", "result_digest_stored", NULL, false, false },
    { "now", "result_digest_now", NULL, false, false },
    { "verdict", "verdict", NULL, false, false },
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* Where the rows of repeated runs go, if anywhere. */
struct target {
    const char *output;
    struct sim_recorder *recorder; /* closed when the runs have processes of their own */
    bool is_isolated;
};

static weir_status open_output(const struct arguments *arguments, const struct sim_stored *stored,
                               const char *command_line, struct sim_recorder **recorder,
                               struct weir_error *error)
{
    int64_t id = 0;
    const struct sim_experiment_row row = { .scenario = stored->scenario,
                                            .description = "",
                                            .resolved_yaml = stored->runs[0].resolved,
                                            .command_line = command_line,
                                            .baseline = stored->runs[0].variant };
    if (arguments->output == NULL)
        return WEIR_OK;
    if (strcmp(arguments->output, arguments->database) == 0)
        return weir_fail(error, WEIR_EINVAL, "--output: %s is what is to be repeated",
                         arguments->output);
    WEIR_TRY(sim_recorder_open(arguments->output, false, recorder, error));
    WEIR_TRY(sim_recorder_experiment(*recorder, &row, &id, error));
    for (size_t i = 0; i < stored->files_count; i++)
        if (stored->files[i].is_there)
            WEIR_TRY(sim_recorder_input_file(*recorder, stored->files[i].path,
                                             stored->files[i].bytes, stored->files[i].digest_now,
                                             error));
    return WEIR_OK;
}

/* Into the recorder, or with a plug-in in a process of its own that opens `output` itself. */
static weir_status repeat(const struct sim_stored_run *run, const struct sim_scenario *scenario,
                          const struct target *target, struct sim_run_summary *summary,
                          struct weir_error *error)
{
    const struct sim_run_options options = { .seed = run->seed,
                                             .replication = run->replication,
                                             .experiment_id = 1,
                                             .run_id = run->run_id,
                                             .variant = run->variant,
                                             .variant_order = run->variant_order,
                                             .recorder = target->recorder,
                                             .export_at_s = (double)NAN };
    const weir_status status =
        target->is_isolated ? sim_isolate_run(scenario, &options, target->output, stdout, summary)
                            : sim_run(scenario, &options, summary);
    if (status != WEIR_OK)
        (void)fprintf(stderr, "weir: run %" PRId64 " (%s, replication %u): %s\n", run->run_id,
                      run->variant, run->replication, summary->message);
    /* A run that failed may fail again; what it did until then is compared all the same. */
    return status == WEIR_OK || strcmp(run->status, "failed") == 0
               ? WEIR_OK
               : weir_fail(error, status, "%s", summary->message);
}

static void add_row(struct sim_table *table, const struct sim_stored_run *run,
                    const struct sim_run_summary *summary, bool is_same)
{
    sim_table_add(table, run->variant);
    sim_table_addf(table, "%u", run->replication);
    sim_table_addf(table, "%016" PRIx64, run->result_digest);
    sim_table_addf(table, "%016" PRIx64, summary->result_digest);
    sim_table_add(table, is_same ? "same" : "differs");
}

/* Runs that were not finished have no digest to compare with. */
static bool has_digest(const struct sim_stored_run *run)
{
    return strcmp(run->status, "running") != 0 && strcmp(run->status, "interrupted") != 0;
}

static weir_status repeat_all(const struct sim_stored *stored, const struct sim_policies *policies,
                              const struct target *target, struct sim_table *table,
                              size_t *differing, struct weir_error *error)
{
    struct sim_run_summary *summary = calloc(1, sizeof(*summary));
    weir_status status = summary == NULL ? WEIR_ENOMEM : WEIR_OK;
    for (size_t i = 0; i < stored->runs_count && status == WEIR_OK; i++) {
        const struct sim_stored_run *run = &stored->runs[i];
        struct sim_scenario *scenario = NULL;
        if (!has_digest(run)) {
            (void)fprintf(stderr, "weir: run %" PRId64 " (%s) was not finished: left out\n",
                          run->run_id, run->status);
            continue;
        }
        status = sim_stored_scenario(stored, run, policies, &scenario, error);
        if (status == WEIR_OK)
            status = repeat(run, scenario, target, summary, error);
        sim_scenario_destroy(scenario);
        const bool is_same =
            summary->result_digest == run->result_digest && summary->digest == run->event_digest;
        if (status == WEIR_OK)
            add_row(table, run, summary, is_same);
        *differing += status == WEIR_OK && !is_same ? 1 : 0;
    }
    free(summary);
    return status;
}

static void print_verdicts(struct sim_table *table, enum sim_format format)
{
    sim_table_print(table, format, stdout);
    if (format == SIM_FORMAT_TABLE)
        (void)puts("Compared are digests of all events and of all transitions of items, workers, "
                   "jobs and nodes; the figures stored are not.");
}

static void name_files(const struct sim_stored *stored)
{
    for (size_t i = 0; i < stored->files_count; i++) {
        const struct sim_stored_file *file = &stored->files[i];
        const char *kind = file->is_module ? "module" : "input file";
        if (!file->is_there)
            (void)fprintf(stderr, "weir: %s is not there any more\n", file->path);
        else if (file->digest_now != file->digest)
            (void)fprintf(stderr,
                          "weir: %s %s changed since (%016" PRIx64 ", was %016" PRIx64 ")\n", kind,
                          file->path, file->digest_now, file->digest);
    }
}

/* The work between loading the policies and letting go of them; an exit code. */
static int rerun_into(const struct arguments *arguments, const struct sim_stored *stored,
                      const char *command_line, const struct sim_policies *policies)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct target target = { .output = arguments->output,
                             .is_isolated = sim_isolate_needed(policies) };
    struct sim_table *table = sim_table_create(columns, COLUMNS);
    size_t differing = 0;
    weir_status status = open_output(arguments, stored, command_line, &target.recorder, &error);
    if (status == WEIR_OK && target.is_isolated) {
        status = sim_recorder_close(target.recorder, &error);
        target.recorder = NULL;
    }
    if (status == WEIR_OK)
        status = repeat_all(stored, policies, &target, table, &differing, &error);
    const weir_status closed =
        sim_recorder_close(target.recorder, status == WEIR_OK ? &error : NULL);
    status = status == WEIR_OK ? closed : status;
    if (sim_table_rows(table) > 0)
        print_verdicts(table, arguments->common.format);
    sim_table_destroy(table);
    name_files(stored);
    if (status != WEIR_OK) {
        (void)fprintf(stderr, "weir: %s\n", error.text);
        return sim_exit_for(status);
    }
    return differing > 0 ? SIM_EXIT_CHECK : SIM_EXIT_OK;
}

/* The same, while nobody else writes the output. */
static int rerun(const struct arguments *arguments, const struct sim_stored *stored,
                 const char *command_line, const struct sim_policies *policies)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_result_lock lock = { .file = -1 };
    const weir_status status =
        arguments->output == NULL ? WEIR_OK
                                  : sim_result_lock(arguments->output, command_line, &lock, &error);
    int code = sim_analysis_exit(status, &error);
    if (code == SIM_EXIT_OK)
        code = rerun_into(arguments, stored, command_line, policies);
    sim_result_unlock(&lock);
    return code;
}

int sim_cmd_rerun(int argc, char **argv)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct arguments arguments = { .choice = { .replication = SIM_ALL_REPLICATIONS } };
    struct sim_policies policies = { 0 };
    struct sim_stored stored = { 0 };
    sim_options_parse(&command_options, argc, argv, &arguments);
    char *command_line = sim_command_line("rerun", argc, argv);
    const weir_status status = sim_stored_open(arguments.database, arguments.choice.variant,
                                               arguments.choice.replication, &stored, &error);
    int code = sim_analysis_exit(status, &error);
    if (code == SIM_EXIT_OK)
        code = sim_stored_policies(&stored, &arguments.common, &policies);
    if (code == SIM_EXIT_OK)
        code = rerun(&arguments, &stored, command_line, &policies);
    sim_plugins_clear(&policies);
    sim_stored_clear(&stored);
    sim_options_clear(&arguments.common);
    free(command_line);
    return code;
}
