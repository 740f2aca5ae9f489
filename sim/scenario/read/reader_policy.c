/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Policies of a scenario: the name is looked up among built-ins and plug-ins, the other keys of the
 * mapping are read by the policy's own parameter table.
 */
#include "sim/scenario/read/reader.h"

#include "sim/scenario/read/reader_value.h"

#include <string.h>

static bool find_policy(struct sim_reader *reader, const struct sim_yaml *node, uint32_t kind,
                        struct draft_policy *draft, struct sim_policy_table *table)
{
    const size_t count = sim_policy_count(reader->policies, kind);
    const char **names = sim_arena_alloc(reader->arena, count + 1, sizeof *names);
    for (size_t i = 0; i < count; i++) {
        struct sim_policy_choice choice = draft->choice;
        *table = sim_policy_at(reader->policies, kind, i, &choice);
        names[i] = table->name;
        if (strcmp(table->name, draft->head.name) != 0)
            continue;
        draft->choice = choice;
        return true;
    }
    const struct sim_yaml *at = sim_yaml_get(node, "policy");
    return sim_report_near(reader->report, at == NULL ? node : at, SIM_AT_VALUE,
                           sim_near_name(draft->head.name, names, count),
                           "there is no %s policy '%s'", sim_policy_kind_name(kind),
                           draft->head.name);
}

static enum sim_unit param_unit(const struct weir_param *param)
{
    if (param->kind == WEIR_PARAM_DURATION)
        return SIM_UNIT_TIME;
    const bool is_share = strcmp(param->unit, "fraction") == 0 || strcmp(param->unit, "1") == 0;
    return is_share ? SIM_UNIT_FRACTION : SIM_UNIT_NONE;
}

/* A parameter read as a field of the schema is, then kept as a double. */
static void read_param(struct sim_reader *reader, const struct sim_yaml *node,
                       const struct weir_param *param, double *value)
{
    struct sim_field field = { .key = param->name,
                               .kind = SIM_FIELD_NUMBER,
                               .unit = param_unit(param),
                               .min = param->min,
                               .max = param->max,
                               .choices = param->choices };
    uint64_t whole = 0;
    uint32_t word = 0;
    if (node->kind != SIM_YAML_SCALAR) {
        sim_report_error(reader->report, node, "expected one value");
        return;
    }
    switch ((enum weir_param_kind)param->kind) {
    case WEIR_PARAM_NUMBER:
    case WEIR_PARAM_DURATION:
        (void)sim_value_read(reader, node, &field, value);
        return;
    case WEIR_PARAM_COUNT:
        field.kind = SIM_FIELD_COUNT64;
        if (sim_value_read(reader, node, &field, &whole))
            *value = (double)whole;
        return;
    case WEIR_PARAM_LIST:
    case WEIR_PARAM_TEXT:
        return; /* read as lists */
    case WEIR_PARAM_FLAG:
    case WEIR_PARAM_CHOICE:
        field.kind = param->kind == WEIR_PARAM_FLAG ? SIM_FIELD_FLAG : SIM_FIELD_CHOICE;
        if (sim_value_read(reader, node, &field, &word))
            *value = word;
        return;
    }
}

/* The numbers of a parameter that is a list, or the characters of a text. */
struct numbers {
    double *all;
    size_t count;
};

static bool is_list(const struct weir_param *param)
{
    return param->kind == WEIR_PARAM_LIST || param->kind == WEIR_PARAM_TEXT;
}

static void read_numbers(struct sim_reader *reader, const struct sim_yaml *node,
                         struct numbers *numbers)
{
    const struct sim_field field = {
        .key = node->key, .kind = SIM_FIELD_NUMBER, .min = -1e300, .max = 1e300
    };
    if (node->kind != SIM_YAML_LIST) {
        sim_report_error(reader->report, node, "expected a list of numbers");
        return;
    }
    numbers->all = sim_arena_alloc(reader->arena, node->count + 1, sizeof *numbers->all);
    for (const struct sim_yaml *item = node->first; item != NULL; item = item->next) {
        if (item->kind != SIM_YAML_SCALAR)
            sim_report_error(reader->report, item, "expected a number");
        else
            (void)sim_value_read(reader, item, &field, &numbers->all[numbers->count++]);
    }
}

static void read_text(struct sim_reader *reader, const struct sim_yaml *node,
                      struct numbers *numbers)
{
    if (node->kind != SIM_YAML_SCALAR) {
        sim_report_error(reader->report, node, "expected a text");
        return;
    }
    const size_t length = strlen(node->text);
    numbers->all = sim_arena_alloc(reader->arena, length + 1, sizeof *numbers->all);
    for (; numbers->count < length; numbers->count++)
        numbers->all[numbers->count] = (unsigned char)node->text[numbers->count];
}

static void read_list(struct sim_reader *reader, const struct sim_yaml *node,
                      const struct weir_param *param, struct numbers *numbers)
{
    const bool is_text = param->kind == WEIR_PARAM_TEXT;
    *numbers = (struct numbers){ .count = 0 };
    if (is_text)
        read_text(reader, node, numbers);
    else
        read_numbers(reader, node, numbers);
    if ((double)numbers->count < param->min || (double)numbers->count > param->max)
        sim_report_error(reader->report, node, "expected %g to %g %s, got %zu", param->min,
                         param->max, is_text ? "characters" : "numbers", numbers->count);
}

/* Behind the values of the table, list after list; those that say nothing are empty. */
static void append_lists(struct sim_reader *reader, const struct sim_policy_table *table,
                         const struct numbers *lists, struct sim_policy_choice *choice)
{
    size_t count = table->count;
    for (uint32_t i = 0; i < table->count; i++)
        count += lists[i].count;
    double *values = sim_arena_alloc(reader->arena, count + 1, sizeof *values);
    memcpy(values, choice->values, table->count * sizeof *values);
    size_t used = table->count;
    for (uint32_t i = 0; i < table->count; i++) {
        if (is_list(&table->params[i]))
            values[i] = (double)lists[i].count;
        if (lists[i].count > 0)
            memcpy(values + used, lists[i].all, lists[i].count * sizeof *values);
        used += lists[i].count;
    }
    choice->values = values;
    choice->count = count;
}

/* The words of a command; files beside the scenario among them are inputs of the run. */
static void read_argv(struct sim_reader *reader, const struct sim_yaml *node,
                      struct sim_policy_choice *choice)
{
    const bool is_list = node->kind == SIM_YAML_LIST;
    const struct sim_yaml *word = is_list ? node->first : node;
    size_t count = 0;
    choice->argv = sim_arena_alloc(reader->arena, node->count + 2, sizeof *choice->argv);
    for (; word != NULL; word = is_list ? word->next : NULL) {
        if (word->kind != SIM_YAML_SCALAR || (count == 0 && word->text[0] == '\0')) {
            sim_report_error(reader->report, word, "expected a program and its arguments");
            return;
        }
        choice->argv[count++] = word->text;
        if (word->text[0] != '-' && word->text[0] != '/' && word->text[0] != '\0')
            sim_reader_add_file(reader, word->text);
    }
    if (count == 0)
        sim_report_error(reader->report, node, "expected a program and its arguments");
}

static void read_command(struct sim_reader *reader, const struct sim_yaml *node,
                         struct draft_policy *draft)
{
    const bool is_mapping = node != NULL && node->kind == SIM_YAML_MAPPING;
    const struct sim_yaml *argv = is_mapping ? sim_yaml_get(node, "argv") : NULL;
    draft->choice.folder = reader->folder;
    if (argv == NULL)
        sim_report_error(reader->report, node,
                         "the policy command needs argv: the program and its arguments");
    else
        read_argv(reader, argv, &draft->choice);
}

/* Whether it can be made with these values: it is made once and forgotten. Policies of modules are
 * not tried. */
static bool is_possible(const struct sim_policy_choice *choice, struct weir_error *error)
{
    const struct weir_params params = { choice->values, (uint32_t)choice->count, 0 };
    weir_status status = WEIR_OK;
    if (choice->queueing != NULL &&
        weir_queueing_find(choice->queueing->name) == choice->queueing) {
        struct weir_ranker *ranker = NULL;
        status = weir_ranker_create(choice->queueing, &params, NULL, &ranker, error);
        weir_ranker_destroy(ranker);
    } else if (choice->batching != NULL) {
        struct weir_batcher *batcher = NULL;
        status = weir_batcher_create(choice->batching, &params, NULL, &batcher, error);
        weir_batcher_destroy(batcher);
    }
    return status != WEIR_EINVAL;
}

/* What only the policy itself can judge, as an expression or limits that contradict each other.
 * What it says begins with the key, where it is about one. */
static void try_policy(struct sim_reader *reader, const struct sim_yaml *node,
                       const struct draft_policy *draft)
{
    const char *name = draft->head.name;
    const bool is_mapping = node != NULL && node->kind == SIM_YAML_MAPPING;
    const struct sim_yaml *at = node;
    struct weir_error error = { .phase = -1 };
    if (is_possible(&draft->choice, &error))
        return;
    const char *text = strstr(error.text, name);
    text = text == NULL ? error.text : text + strlen(name);
    text += strspn(text, ": ");
    for (const struct sim_yaml *child = is_mapping ? node->first : NULL; child != NULL;
         child = child->next)
        if (child->key != NULL && strncmp(text, child->key, strlen(child->key)) == 0)
            at = child;
    sim_report_error(reader->report, at, "%s", text);
}

void sim_read_policy(struct sim_reader *reader, const struct sim_yaml *node,
                     const struct sim_section *section, struct draft_policy *draft)
{
    struct sim_policy_table table = { .count = 0 };
    const size_t before = reader->report->out->count;
    draft->choice = (struct sim_policy_choice){ .count = 0 };
    if (draft->head.name == NULL || !find_policy(reader, node, section->policy, draft, &table))
        return;
    draft->choice.count = table.count;
    draft->choice.values =
        sim_arena_alloc(reader->arena, table.count + 1, sizeof *draft->choice.values);
    const char **names = sim_arena_alloc(reader->arena, table.count + 1, sizeof *names);
    struct numbers *lists = sim_arena_alloc(reader->arena, table.count + 1, sizeof *lists);
    for (uint32_t i = 0; i < table.count; i++) {
        draft->choice.values[i] = table.params[i].initial;
        names[i] = table.params[i].name;
    }
    /* The one policy of each kind with a parameter that is a list of texts. */
    const bool is_command = strcmp(draft->head.name, "command") == 0;
    if (is_command)
        read_command(reader, node, draft);
    const bool is_mapping = node != NULL && node->kind == SIM_YAML_MAPPING;
    const struct sim_yaml *child = is_mapping ? node->first : NULL;
    for (; child != NULL; child = child->next) {
        if (sim_schema_find(section, child->key) != NULL || strcmp(child->key, "source") == 0 ||
            (is_command && strcmp(child->key, "argv") == 0))
            continue;
        uint32_t index = 0;
        while (index < table.count && strcmp(names[index], child->key) != 0)
            index++;
        if (index == table.count)
            sim_report_unknown_key(reader, child, section, names, table.count);
        else if (is_list(&table.params[index]))
            read_list(reader, child, &table.params[index], &lists[index]);
        else
            read_param(reader, child, &table.params[index], &draft->choice.values[index]);
    }
    append_lists(reader, &table, lists, &draft->choice);
    if (reader->report->out->count == before)
        try_policy(reader, node, draft);
}
