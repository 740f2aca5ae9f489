/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weir upgrade: of which version scenarios and result databases are, and what a database of an
 * older one lacks. Databases are never rewritten: older ones can be read, and a rerun makes new
 * ones. Scenarios of schema 1 are put into the words of today on request.
 */
#include "sim/scenario/schema/upgrade.h"
#include "sim/cli/build_info.h"
#include "sim/cli/commands.h"
#include "sim/cli/load.h"
#include "sim/cli/look/file_version.h"
#include "sim/cli/options.h"
#include "sim/cli/tell/analysis_options.h"
#include "sim/files/written.h"
#include "sim/record/record.h"
#include "sim/scenario/read/input_file.h"
#include "sim/scenario/read/yaml.h"
#include "sim/scenario/report.h"
#include "sim/scenario/schema/schema.h"
#include "weir/version.h"

#include <stdlib.h>
#include <string.h>

struct arguments {
    struct sim_options options;
    struct sim_words files;
    bool is_written;
};

static const struct sim_option command_rows[] = {
    { "write", 'w', NULL, SIM_OPTION(FLAG, arguments, is_written),
      "Put scenarios of schema 1 into the words of today, in their files" },
    { .argument = "FILE", SIM_OPTION(WORDS, arguments, files) },
    { SIM_OPTION(OTHERS, arguments, options), .others = &sim_options_format },
};
static const struct sim_option_table command_options = {
    SIM_OPTION_ROWS(command_rows),
    .usage = "[FILE...]",
    .help = "Say of which version scenarios and result databases are; without a file, which "
            "versions this program reads and writes. Nothing is changed without --write.\v"
            "Exit codes: 0 all are of today's version, 1 some are not, 2 cannot be converted, 3 "
            "cannot be read.",
};

static const struct sim_column columns[] = {
    { "what", "what", NULL, false, false },
    { "version", "version", NULL, true, false },
    { "to do", "to_do", NULL, false, false },
};

/* -1 when it is no scenario. */
static int64_t scenario_version(const char *path)
{
    struct sim_arena arena = { .blocks = NULL };
    struct sim_diagnostics found = { .items = NULL };
    struct sim_report report = { .path = path, .out = &found };
    int64_t version = -1;
    report.text = sim_input_file_read(&arena, NULL, path, &report.length, NULL);
    const struct sim_yaml *root =
        report.text == NULL ? NULL : sim_yaml_parse(&arena, report.text, report.length, &report);
    const struct sim_yaml *schema =
        root == NULL || root->kind != SIM_YAML_MAPPING ? NULL : sim_yaml_get(root, "schema");
    if (schema != NULL && schema->kind == SIM_YAML_SCALAR && schema->text[0] >= '0' &&
        schema->text[0] <= '9')
        version = strtoll(schema->text, NULL, 10);
    sim_diagnostics_clear(&found);
    sim_arena_clear(&arena);
    return version;
}

/* What is to be done about a file. */
static const char *advice(int64_t version, int64_t today, bool is_database, struct sim_arena *arena)
{
    if (version == today)
        return "nothing";
    if (version > today)
        return "needs a newer program";
    if (version < 1)
        return "is of no version there was";
    if (!is_database)
        return "can be read; weir check --write puts it into the words of today";
    return sim_arena_printf(arena,
                            "can be read; takes no more runs and lacks: %s; weir run DB makes a "
                            "new one",
                            sim_file_database_news(version, arena));
}

static int write_text(const char *path, const char *text)
{
    struct written file;
    struct weir_error error = { .phase = -1, .pool = -1 };
    weir_status status = written_open(path, &file, &error);
    if (status == WEIR_OK) {
        (void)fputs(text, file.out);
        status = written_close(&file, WEIR_OK, &error);
    }
    return sim_analysis_exit(status, &error);
}

/* A scenario of schema 1 becomes one of today. */
static int convert(const char *path)
{
    struct sim_diagnostics diagnostics = { .items = NULL };
    char *text = NULL;
    const weir_status status = sim_scenario_upgrade(path, &text, &diagnostics);
    int code = sim_cli_exit_code(status);
    sim_diagnostics_print(&diagnostics, stderr);
    sim_diagnostics_clear(&diagnostics);
    if (text != NULL)
        code = write_text(path, text);
    free(text);
    return code;
}

static int look_at(const char *path, struct sim_table *table)
{
    struct sim_arena arena = { .blocks = NULL };
    static const int64_t versions[] = { SIM_SCHEMA_VERSION, SIM_RECORD_SCHEMA_VERSION };
    const int64_t database = sim_file_database(path);
    const int64_t version = database >= 0 ? database : scenario_version(path);
    const int64_t today = versions[database >= 0];
    struct weir_error error = { .phase = -1, .pool = -1 };
    int64_t model = 0;
    if (database >= 0 && database <= today && sim_file_model(path, &model, &error) != WEIR_OK) {
        (void)fprintf(stderr, "weir: %s\n", error.text);
        return SIM_EXIT_INPUT;
    }
    if (version < 0) {
        (void)fprintf(stderr, "weir: %s: is neither a scenario nor a result database\n", path);
        return SIM_EXIT_INPUT;
    }
    sim_table_add(table, path);
    sim_table_addf(table, "%s %lld", database >= 0 ? "database" : "scenario", (long long)version);
    sim_table_add(table, advice(version, today, database >= 0, &arena));
    sim_arena_clear(&arena);
    return version == today ? SIM_EXIT_OK : SIM_EXIT_CHECK;
}

static void list_versions(struct sim_table *table)
{
    sim_table_row(table, (const char *[]){ "program", sim_build_version(), "nothing" });
    sim_table_add(table, "scenario format");
    sim_table_addf(table, "%d", SIM_SCHEMA_VERSION);
    sim_table_add(table, "nothing; files of version 1 are read in their words");
    sim_table_add(table, "result database");
    sim_table_addf(table, "%d", SIM_RECORD_SCHEMA_VERSION);
    sim_table_add(table, "nothing; files from version 1 on can be read");
    sim_table_add(table, "model");
    sim_table_addf(table, "%d", SIM_RECORD_MODEL_VERSION);
    sim_table_add(table, "nothing; weir check says what a database of model 1 computed otherwise");
    sim_table_add(table, "module interface");
    sim_table_addf(table, "%d.%d", WEIR_ABI_MAJOR, WEIR_ABI_MINOR);
    sim_table_add(table, "modules of another major version: rebuild");
}

int sim_cmd_upgrade(int argc, char **argv)
{
    struct arguments arguments = { .is_written = false };
    int code = SIM_EXIT_OK;
    sim_options_parse(&command_options, argc, argv, &arguments);
    struct sim_table *table = sim_table_create(columns, sizeof columns / sizeof columns[0]);
    if (arguments.files.count == 0)
        list_versions(table);
    for (size_t i = 0; i < arguments.files.count; i++) {
        const char *file = arguments.files.items[i];
        const int64_t version = scenario_version(file);
        const bool is_old = version == 1 || (version < 0 && sim_file_database(file) < 0);
        const int made = arguments.is_written && is_old ? convert(file) : SIM_EXIT_OK;
        const int found = made == SIM_EXIT_OK ? look_at(file, table) : made;
        code = found > code ? found : code;
    }
    if (sim_table_rows(table) > 0)
        sim_table_print(table, arguments.options.format, stdout);
    sim_table_destroy(table);
    free(arguments.files.items);
    sim_options_clear(&arguments.options);
    return code;
}
