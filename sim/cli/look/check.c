/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir check: whether a file is right: a scenario, a policy module, or a result database; without a
 * file, this machine. Of a database it says of which version it is, and what the model that
 * computed it computed otherwise than today's, a sentence a change.
 */
#include "sim/cli/commands.h"
#include "sim/cli/experiment/experiment.h"
#include "sim/cli/line.h"
#include "sim/cli/look/file_version.h"
#include "sim/cli/look/policies_check.h"
#include "sim/cli/options.h"
#include "sim/record/record.h"

#include <stdlib.h>
#include <string.h>

struct arguments {
    struct sim_options options;
    struct sim_words files;
    bool wants_resolved, is_written;
};

static const struct sim_option command_rows[] = {
    { "resolved", 'r', NULL, SIM_OPTION(FLAG, arguments, wants_resolved),
      "Print a scenario with all defaults filled in and units canonical" },
    { "write", 'w', NULL, SIM_OPTION(FLAG, arguments, is_written),
      "Put scenarios of an older version into the words of today, comments and all" },
    { .argument = "FILE", SIM_OPTION(WORDS, arguments, files) },
    { SIM_OPTION(OTHERS, arguments, options), .others = &sim_options_format },
    { SIM_OPTION(OTHERS, arguments, options), .others = &sim_options_scenario },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .usage = "[FILE...]",
    .help = "Say everything that is wrong with scenarios and policy modules, and of which version "
            "result "
            "databases are: what they lack, and what their model computed otherwise than today's. "
            "Without a file, what this machine lacks.\v"
            "Exit codes: 0 all is right and of today's versions, 1 something is missing, or a "
            "database is of an older or newer version, 2 a scenario is not valid, 3 a file cannot "
            "be read, 4 a module breaks its contract.",
};

static const struct sim_column columns[] = {
    { "file", "file", NULL, false, false },
    { "version", "version", NULL, false, false },
    { "finding", "finding", NULL, false, false },
};

static void add_form(struct sim_table *table, const char *path, int64_t version)
{
    struct sim_arena arena = { .blocks = NULL };
    sim_table_add(table, path);
    sim_table_addf(table, "database %lld", (long long)version);
    if (version == SIM_RECORD_SCHEMA_VERSION)
        sim_table_add(table, "of today's form");
    else if (version > SIM_RECORD_SCHEMA_VERSION)
        sim_table_add(table, "needs a newer program");
    else
        sim_table_add(table, sim_arena_printf(&arena, "can be read, and lacks: %s",
                                              sim_file_database_news(version, &arena)));
    sim_arena_clear(&arena);
}

static void add_model(struct sim_table *table, const char *path, int64_t model)
{
    const char *news = NULL;
    for (size_t i = 0; (news = sim_file_model_news(model, i)) != NULL; i++) {
        sim_table_add(table, path);
        if (model == 0)
            sim_table_add(table, "model 1 or 2");
        else
            sim_table_addf(table, "model %lld", (long long)model);
        sim_table_addf(table, "%s%s", model == 0 ? "if of model 1: " : "", news);
    }
    if (model < SIM_RECORD_MODEL_VERSION)
        return;
    sim_table_add(table, path);
    sim_table_addf(table, "model %lld", (long long)model);
    sim_table_add(table, model == SIM_RECORD_MODEL_VERSION ? "computed as today"
                                                           : "computed by a newer program");
}

/* A file of a newer program is not looked into. */
static int check_database(const char *path, int64_t version, struct sim_table *table)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    int64_t model = SIM_RECORD_MODEL_VERSION;
    const bool is_known = version <= SIM_RECORD_SCHEMA_VERSION;
    const weir_status status = is_known ? sim_file_model(path, &model, &error) : WEIR_OK;
    if (status != WEIR_OK) {
        (void)fprintf(stderr, "weir: %s\n", error.text);
        return sim_exit_for(status);
    }
    add_form(table, path, version);
    if (is_known)
        add_model(table, path, model);
    return version == SIM_RECORD_SCHEMA_VERSION && model == SIM_RECORD_MODEL_VERSION
               ? SIM_EXIT_OK
               : SIM_EXIT_CHECK;
}

static bool is_module(const char *path)
{
    const char *end = strrchr(path, '.');
    return end != NULL && (strcmp(end, ".so") == 0 || strcmp(end, ".c") == 0 ||
                           strcmp(end, ".py") == 0); /* of sources it is said what makes one */
}

static int check_scenario(const char *path, const struct arguments *arguments)
{
    struct sim_line line = { .words = NULL };
    struct sim_options options = arguments->options;
    options.format = options.format == SIM_FORMAT_JSON ? SIM_FORMAT_JSON : SIM_FORMAT_TABLE;
    sim_line_add(&line, "check", path);
    if (arguments->is_written) {
        sim_line_add(&line, "--write", NULL);
        return sim_line_run(&line, sim_cmd_upgrade);
    }
    if (arguments->wants_resolved)
        sim_line_add(&line, "--resolved", NULL);
    sim_line_add_options(&line, &options);
    return sim_line_run(&line, sim_cmd_validate);
}

static int check_file(const char *path, const struct arguments *arguments, struct sim_table *table)
{
    const int64_t database = sim_file_database(path);
    if (database >= 0)
        return check_database(path, database, table);
    return is_module(path) ? sim_policies_check(path, arguments->options.format)
                           : check_scenario(path, arguments);
}

int sim_cmd_check(int argc, char **argv)
{
    struct arguments arguments = { .files = { .count = 0 } };
    int code = SIM_EXIT_OK;
    sim_options_parse(&command_options, argc, argv, &arguments);
    if (arguments.files.count == 0) {
        struct sim_line line = { .words = NULL };
        sim_line_add(&line, "check", NULL);
        sim_line_add_options(&line, &arguments.options);
        code = sim_line_run(&line, sim_cmd_doctor);
    }
    struct sim_table *table = sim_table_create(columns, sizeof columns / sizeof columns[0]);
    for (size_t i = 0; i < arguments.files.count; i++) {
        const int found = check_file(arguments.files.items[i], &arguments, table);
        code = found > code ? found : code;
    }
    if (sim_table_rows(table) > 0)
        sim_table_print(table, arguments.options.format, stdout);
    sim_table_destroy(table);
    free(arguments.files.items);
    sim_options_clear(&arguments.options);
    return code;
}
