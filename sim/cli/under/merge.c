/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * `weir merge`: databases of one experiment, made by several programs or machines (--shard), as
 * one.
 *
 * Only finished runs are taken. A file that is named twice, or was merged before, changes nothing;
 * a run that two files have must have come out the same.
 */
#include "analysis/database/query.h"
#include "sim/cli/commands.h"
#include "sim/cli/experiment/result_lock.h"
#include "sim/cli/experiment/simulate_options.h"
#include "sim/cli/in_the_way.h"
#include "sim/cli/options.h"
#include "sim/cli/tell/analysis_options.h"
#include "sim/record/record.h"
#include "sim/record/run_summary.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
    struct sim_words files;
    const char *output;
    bool force;
};

static const struct sim_option command_rows[] = {
    { "output", 'o', "DB", SIM_OPTION(TEXT, arguments, output), "The database to make" },
    { SIM_OPTION(OTHERS, arguments, force), .others = &sim_force_option },
    { .argument = "DB",
      SIM_OPTION(WORDS, arguments, files),
      .missing = "which databases? weir merge -o all.db a.db b.db" },
};

static void check_output(const void *arguments, const struct argp_state *state)
{
    const struct arguments *given = arguments;
    if (given->output == NULL)
        argp_error(state, "-o DB: which database is to be made?");
    for (size_t i = 0; given->output != NULL && i < given->files.count; i++)
        if (strcmp(given->files.items[i], given->output) == 0)
            argp_error(state, "%s is to be made, and cannot be merged", given->output);
}

static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .usage = "DB... -o DB",
    .check = check_output,
    .help =
        "Put the parts of an experiment (compare --shard) together.\v"
        "Finished runs of all files, in the order of the experiment: the result does not depend "
        "on the order of the files. What is missing is said; the command with --resume runs it. "
        "Exit codes: 0 made, 3 a file cannot be read or is of another experiment, 5 the same "
        "run came out differently.",
};

/* What must be the same in all of them; malloc'ed. */
static weir_status read_identity(const char *path, char **identity, struct weir_error *error)
{
    struct an_db *db = NULL;
    struct an_frame *frame = NULL;
    WEIR_TRY(an_open(path, &db, error));
    weir_status status =
        an_query(db, "SELECT coalesce((SELECT value FROM meta WHERE key = 'identity'), '')", NULL,
                 &frame, error);
    if (status == WEIR_OK)
        *identity = strdup(an_text(frame, 0, 0));
    if (status == WEIR_OK && *identity == NULL)
        status = weir_fail(error, WEIR_ENOMEM, "out of memory");
    an_frame_destroy(frame);
    an_close(db);
    return status;
}

static weir_status check_identities(const struct sim_words *files, struct weir_error *error)
{
    char *first = NULL;
    WEIR_TRY(read_identity(files->items[0], &first, error));
    assert(first != NULL);
    weir_status status = first[0] == '\0' ? weir_fail(error, WEIR_EIO,
                                                      "%s: does not say of which experiment it "
                                                      "is",
                                                      files->items[0])
                                          : WEIR_OK;
    for (size_t i = 1; i < files->count && status == WEIR_OK; i++) {
        char *other = NULL;
        status = read_identity(files->items[i], &other, error);
        assert(status != WEIR_OK || other != NULL);
        if (status == WEIR_OK && strcmp(first, other) != 0)
            status = weir_fail(error, WEIR_EIO, "%s: is of another experiment than %s",
                               files->items[i], files->items[0]);
        free(other);
    }
    free(first);
    return status;
}

/* How many runs there are of how many; the identity names every variant. */
static weir_status print_made(const char *path, size_t files, struct weir_error *error)
{
    static const char sql[] =
        "SELECT (SELECT count(*) FROM run), (SELECT count(*) FROM meta WHERE key LIKE "
        "'identity_scenario of variant %') * coalesce((SELECT value FROM meta WHERE key = "
        "'identity_number of replications'), 0), command_line FROM experiment";
    struct an_db *db = NULL;
    struct an_frame *frame = NULL;
    WEIR_TRY(an_open(path, &db, error));
    const weir_status status = an_query(db, sql, NULL, &frame, error);
    if (status == WEIR_OK && frame->row_count > 0) {
        const double made = an_number(frame, 0, 0);
        const double all = an_number(frame, 0, 1);
        printf("%s: %.0f of %.0f runs, from %zu file%s.\n", path, made, all, files,
               files == 1 ? "" : "s");
        if (made < all)
            printf("%.0f runs are missing; go on with: %s --resume -o %s\n", all - made,
                   an_text(frame, 0, 2), path);
        else
            printf("next: weir compare %s\n", path);
    }
    an_frame_destroy(frame);
    an_close(db);
    return status;
}

static weir_status merge(const struct arguments *arguments, struct weir_error *error)
{
    WEIR_TRY(check_identities(&arguments->files, error));
    WEIR_TRY(sim_record_collect(arguments->files.items, arguments->files.count, arguments->output,
                                error));
    return print_made(arguments->output, arguments->files.count, error);
}

int sim_cmd_merge(int argc, char **argv)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct arguments arguments = { .output = NULL };
    struct sim_result_lock lock = { .file = -1 };
    sim_options_parse(&command_options, argc, argv, &arguments);
    if (sim_in_the_way("weir merge", arguments.output, arguments.force) != SIM_EXIT_OK) {
        free(arguments.files.items);
        return SIM_EXIT_INPUT;
    }
    char *command_line = sim_command_line("merge", argc, argv);
    weir_status status = sim_result_lock(arguments.output, command_line, &lock, &error);
    if (status == WEIR_OK)
        status = merge(&arguments, &error);
    sim_result_unlock(&lock);
    if (status != WEIR_OK)
        (void)fprintf(stderr, "weir: %s\n", error.text);
    free(arguments.files.items);
    free(command_line);
    return sim_exit_for(status);
}
