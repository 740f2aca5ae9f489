/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two files beside each other; see the header. */
#include "sim/cli/ask/compare_two.h"

#include "analysis/database/database.h"
#include "sim/cli/commands.h"
#include "sim/cli/in_the_way.h"
#include "sim/cli/plugin.h"
#include "sim/files/written.h"
#include "sim/record/record_join.h"
#include "sim/scenario/read/name_rule.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* SQLite files begin with this text and a zero byte. */
bool sim_is_database(const char *path)
{
    char head[16] = { 0 };
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    const size_t count = fread(head, 1, sizeof(head), file);
    (void)fclose(file);
    return count == sizeof(head) && memcmp(head, "SQLite format 3", sizeof(head)) == 0;
}

uint32_t sim_file_kind(const char *path)
{
    return sim_is_database(path)     ? SIM_FILE_DATABASE
           : access(path, R_OK) == 0 ? SIM_FILE_SCENARIO
                                     : 0;
}

struct operand {
    const char *path;
    char label[64];
    char made[64]; /* database of the run that was made; "" = the path is one */
    bool is_database;
};

/* "runs/today.db" is today. */
static void label_of(const char *path, char label[64])
{
    char fault[SIM_NAME_FAULT];
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    const size_t stem = strcspn(name, ".") > 0 ? strcspn(name, ".") : strlen(name);
    (void)snprintf(label, 64, "%.*s", (int)(stem < 60 ? stem : 60), name);
    if (!sim_name_is_fine(label, fault))
        (void)snprintf(label, 64, "file");
}

static int complain(const struct weir_error *error, weir_status status)
{
    (void)fprintf(stderr, "weir: %s\n", error->text);
    return sim_exit_for(status);
}

/* Damaged files and those of other versions are told before anything is run. */
static int look_over(const struct operand *operand)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct an_db *db = NULL;
    int64_t version = 0;
    weir_status status = an_open(operand->path, &db, &error);
    an_close(db);
    if (status == WEIR_OK)
        status = an_database_version(operand->path, &version, &error);
    if (status == WEIR_OK && version != AN_DATABASE_VERSION)
        status = weir_fail(&error, WEIR_EINVAL,
                           "%s is of version %lld, two are compared in version %d: run it again",
                           operand->path, (long long)version, (int)AN_DATABASE_VERSION);
    return status == WEIR_OK ? SIM_EXIT_OK : complain(&error, status);
}

static int run_one(const struct sim_simulate_options *options, struct operand *operand,
                   const struct sim_join_facts *like, const char *command_line)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_simulate_options simulate = *options;
    struct sim_policies policies = { 0 };
    struct sim_experiment experiment = { 0 };
    const weir_status status = written_temporary(operand->made, sizeof operand->made, &error);
    if (status != WEIR_OK)
        return complain(&error, status);
    simulate.path = operand->path;
    simulate.output = operand->made;
    if (like->replications > 0 && !simulate.has_seed) {
        simulate.has_seed = true;
        simulate.seed = like->seed;
    }
    if (like->replications > 0 && simulate.replications == 0)
        simulate.replications = like->replications;
    const int code = sim_simulate(&simulate, false, command_line, &policies, &experiment);
    sim_experiment_clear(&experiment);
    sim_plugins_clear(&policies);
    return code == SIM_EXIT_CHECK ? SIM_EXIT_OK : code;
}

/* Databases first: a scenario is run as the other side was. */
static int make_both(const struct sim_simulate_options *options, struct operand operands[2],
                     const char *command_line)
{
    struct sim_join_facts like = { 0 };
    struct weir_error error = { .phase = -1, .pool = -1 };
    int code = SIM_EXIT_OK;
    for (size_t i = 0; i < 2 && code == SIM_EXIT_OK; i++)
        if (operands[i].is_database)
            code = look_over(&operands[i]);
    for (size_t i = 0; i < 2 && code == SIM_EXIT_OK; i++)
        if (operands[i].is_database &&
            sim_join_facts_read(operands[i].path, NULL, &like, &error) != WEIR_OK)
            return complain(&error, WEIR_EIO);
    for (size_t i = 0; i < 2 && code == SIM_EXIT_OK; i++) {
        if (operands[i].is_database)
            continue;
        code = run_one(options, &operands[i], &like, command_line);
        if (code == SIM_EXIT_OK &&
            sim_join_facts_read(operands[i].made, NULL, &like, &error) != WEIR_OK)
            return complain(&error, WEIR_EIO);
    }
    return code;
}

static int join(const struct sim_simulate_options *options, const struct operand operands[2],
                const char *database)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    char forced[160] = "";
    struct sim_join_side sides[2];
    for (size_t i = 0; i < 2; i++)
        sides[i] = (struct sim_join_side){ .path = operands[i].made[0] == '\0' ? operands[i].path
                                                                               : operands[i].made,
                                           .label = operands[i].label };
    const weir_status status = sim_record_join(sides, database, options->force, forced, &error);
    if (status != WEIR_OK)
        return complain(&error, status);
    if (forced[0] != '\0')
        (void)fprintf(stderr, "weir: --force: compared although %s differ%s%s\n", forced,
                      strchr(forced, ',') == NULL ? "s" : "",
                      strstr(forced, "seed") == NULL ? ""
                                                     : "; one run of each, since none are paired");
    return SIM_EXIT_OK;
}

int sim_compare_join(const struct sim_simulate_options *options, const struct sim_words *files,
                     const char *command_line, char **database)
{
    struct operand operands[2];
    struct weir_error error = { .phase = -1, .pool = -1 };
    char path[64] = "";
    for (size_t i = 0; i < 2; i++) {
        operands[i] = (struct operand){ .path = files->items[i],
                                        .is_database = sim_is_database(files->items[i]) };
        label_of(files->items[i], operands[i].label);
    }
    if (strcmp(operands[0].label, operands[1].label) == 0) {
        (void)snprintf(operands[0].label, sizeof operands[0].label, "before");
        (void)snprintf(operands[1].label, sizeof operands[1].label, "after");
    }
    int code = sim_in_the_way("weir compare", options->output, options->force);
    const weir_status status =
        options->output == NULL ? written_temporary(path, sizeof path, &error) : WEIR_OK;
    if (status != WEIR_OK)
        return complain(&error, status);
    *database = strdup(options->output == NULL ? path : options->output);
    if (*database == NULL)
        return SIM_EXIT_RESOURCE;
    if (code == SIM_EXIT_OK)
        code = make_both(options, operands, command_line);
    if (code == SIM_EXIT_OK)
        code = join(options, operands, *database);
    for (size_t i = 0; i < 2; i++)
        if (operands[i].made[0] != '\0')
            sim_record_remove(operands[i].made);
    if (code != SIM_EXIT_OK && path[0] != '\0')
        sim_record_remove(path);
    return code;
}

/* ---- printing ---- */

static const struct sim_column columns[] = {
    { "Stage", "stage", NULL, false, false },
    { "Workers", "workers_before", NULL, true, true },
    { "then", "workers_after", NULL, true, true },
    { "Tasks of one", "pace_before_per_s", "/s", true, true },
    { "then", "pace_after_per_s", "/s", true, true },
    { "Capacity", "capacity_before_per_s", "/s", true, true },
    { "then", "capacity_after_per_s", "/s", true, true },
    { "Busy", "busy_before_pct", "%", true, true },
    { "then", "busy_after_pct", "%", true, true },
    { "Limits", "limits_before_pct", "%", true, true },
    { "then", "limits_after_pct", "%", true, true },
};
enum { COLUMNS = sizeof columns / sizeof columns[0] };

static struct sim_table *stage_table(const struct an_change_of_work *change, enum sim_format format)
{
    struct sim_table *table = sim_table_create(columns, COLUMNS);
    for (size_t i = 0; i < change->count; i++) {
        const struct an_stage_side *a = &change->stages[i].sides[0];
        const struct an_stage_side *b = &change->stages[i].sides[1];
        const double values[COLUMNS - 1] = { a->workers,
                                             b->workers,
                                             a->pace_per_s,
                                             b->pace_per_s,
                                             a->workers * a->pace_per_s,
                                             b->workers * b->pace_per_s,
                                             100.0 * a->busy,
                                             100.0 * b->busy,
                                             100.0 * a->limits,
                                             100.0 * b->limits };
        sim_table_add(table, change->stages[i].name);
        sim_table_add_numbers(table, format, values, COLUMNS - 1);
    }
    return table;
}

void sim_change_write_json(const struct an_change_of_work *change, struct sim_json *json)
{
    struct sim_table *table = stage_table(change, SIM_FORMAT_JSON);
    sim_json_begin_object(json);
    sim_table_write_json(table, sim_json_key(json, "stages"));
    sim_json_string(sim_json_key(json, "limit"), change->limit.text);
    sim_json_string(sim_json_key(json, "device"), change->device.text);
    sim_json_end_object(json);
    sim_table_destroy(table);
}

void sim_change_print(const struct an_change_of_work *change, enum sim_format format, FILE *out)
{
    FILE *words = format == SIM_FORMAT_CSV ? stderr : out;
    if (change->count == 0)
        return;
    struct sim_table *table = stage_table(change, format);
    (void)fputc('\n', out);
    sim_table_print(table, format, out);
    sim_table_destroy(table);
    if (change->limit.text[0] != '\0')
        sim_table_say(format, words, "%s\n", change->limit.text);
    if (change->device.text[0] != '\0')
        sim_table_say(format, words, "%s\n", change->device.text);
}
