/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Suites; see the header. */
#include "sim/cli/experiment/suite_file.h"

#include "sim/cli/experiment/axis_option.h"
#include "sim/scenario/read/input_file.h"
#include "sim/scenario/report.h"
#include "workloads/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool sim_suite_is(const char *path)
{
    char line[256] = "";
    FILE *in = fopen(path, "re");
    if (in == NULL)
        return false;
    while (fgets(line, sizeof line, in) != NULL && (line[0] == '#' || line[0] == '\n')) {
    }
    (void)fclose(in);
    return strncmp(line, "suite:", 6) == 0;
}

/* ---- texts ---- */

struct reading {
    struct sim_suite *suite;
    struct sim_report *report;
    const char *folder;
};

static void add_word(const struct reading *reading, struct sim_words *words, const char *text)
{
    words->items =
        sim_arena_grow(&reading->suite->arena, words->items, words->count, sizeof *words->items);
    words->items[words->count++] = text;
}

/* A text in pieces: they go to `out`. */
struct pieces {
    FILE *out;
    char *text;
    size_t size;
};

static FILE *begin_text(struct pieces *pieces)
{
    pieces->out = open_memstream(&pieces->text, &pieces->size);
    if (pieces->out == NULL)
        abort();
    return pieces->out;
}

static const char *end_text(const struct reading *reading, struct pieces *pieces)
{
    (void)fclose(pieces->out);
    const char *kept = sim_arena_copy(&reading->suite->arena, pieces->text);
    free(pieces->text);
    return kept;
}

/* As --set and --axis take it; nothing removes what is there. */
static const char *text_of(const struct reading *reading, const struct sim_yaml *node)
{
    struct pieces pieces;
    if (node->kind == SIM_YAML_NULL)
        return "-";
    if (node->kind == SIM_YAML_SCALAR && !node->is_quoted)
        return node->text;
    sim_yaml_write_flow(node, begin_text(&pieces));
    return end_text(reading, &pieces);
}

/* The scenario of a block is a file beside this one. */
static const char *value_of(const struct reading *reading, const char *path,
                            const struct sim_yaml *node)
{
    return strcmp(path, SIM_AXIS_SCENARIO) == 0 && node->kind == SIM_YAML_SCALAR
               ? sim_input_file_path(&reading->suite->arena, reading->folder, node->text)
               : text_of(reading, node);
}

static const char *join(const struct reading *reading, const char *before, const char *gap,
                        const char *after)
{
    return sim_arena_printf(&reading->suite->arena, "%s%s%s", before, gap, after);
}

/* ---- keys ---- */

static bool has_paths(const struct reading *reading, const struct sim_yaml *node)
{
    return node->kind == SIM_YAML_MAPPING ||
           sim_report_error(reading->report, node, "expected {PATH: VALUE, ...}");
}

static bool read_set(const struct reading *reading, const struct sim_yaml *node)
{
    if (!has_paths(reading, node))
        return false;
    for (const struct sim_yaml *child = node->first; child != NULL; child = child->next)
        add_word(reading, &reading->suite->sets,
                 join(reading, child->key, "=", text_of(reading, child)));
    return true;
}

/* PATH: VALUE is a list of one. */
static const char *list_of(const struct reading *reading, const struct sim_yaml *node)
{
    struct pieces values;
    if (node->kind != SIM_YAML_LIST)
        return text_of(reading, node);
    (void)begin_text(&values);
    for (const struct sim_yaml *item = node->first; item != NULL; item = item->next)
        (void)fprintf(values.out, "%s%s", item == node->first ? "" : ",", text_of(reading, item));
    return end_text(reading, &values);
}

static bool read_policies(const struct reading *reading, const struct sim_yaml *node)
{
    if (!has_paths(reading, node))
        return false;
    for (const struct sim_yaml *child = node->first; child != NULL; child = child->next) {
        if (!sim_axis_is_policy(child->key))
            return sim_report_error(reading->report, child,
                                    "is no policy, as sched.placement or services.NAME.batching: "
                                    "other things that are compared are variants of the scenario");
        add_word(reading, &reading->suite->axes,
                 join(reading, child->key, "=", list_of(reading, child)));
    }
    return true;
}

/* Of a block; more than there may be are one more than that. */
static size_t count_points(const struct sim_yaml *block)
{
    const size_t too_many = SIM_AXIS_VALUES + 1;
    size_t count = 1;
    for (const struct sim_yaml *child = block->first; child != NULL; child = child->next) {
        const size_t values = child->kind == SIM_YAML_LIST ? child->count : 1;
        count = values > too_many / count ? too_many : count * values;
        if (count == 0)
            break;
    }
    return count;
}

/* The value of one path at the index-th point of a block, its last list fastest. */
static const struct sim_yaml *pick(const struct sim_yaml *block, const char *path, size_t index)
{
    const struct sim_yaml *found = sim_yaml_get(block, path);
    size_t below = 1;
    for (const struct sim_yaml *later = found->next; later != NULL; later = later->next)
        below *= later->kind == SIM_YAML_LIST ? later->count : 1;
    return found->kind == SIM_YAML_LIST ? sim_yaml_item(found, index / below % found->count)
                                        : found;
}

static bool check_block(const struct reading *reading, const struct sim_yaml *first,
                        const struct sim_yaml *block)
{
    if (block->kind != SIM_YAML_MAPPING || block->count != first->count || block->count == 0)
        return sim_report_error(reading->report, block,
                                "a block is {PATH: VALUE, ...}, with the "
                                "same paths as the others");
    for (const struct sim_yaml *child = first->first; child != NULL; child = child->next)
        if (sim_yaml_get(block, child->key) == NULL)
            return sim_report_error(reading->report, block, "has no %s, as the first block has",
                                    child->key);
    return count_points(block) > 0 || sim_report_error(reading->report, block, "is empty");
}

static bool check_blocks(const struct reading *reading, const struct sim_yaml *first)
{
    size_t points = 0;
    for (const struct sim_yaml *block = first; block != NULL; block = block->next) {
        if (!check_block(reading, first, block))
            return false;
        points += count_points(block);
        if (points > SIM_AXIS_VALUES)
            return sim_report_error(reading->report, block, "makes more than %d points",
                                    SIM_AXIS_VALUES);
    }
    return true;
}

/* Blocks are told apart by a path: every one of them has another value there, and no list. */
static bool is_key(const struct reading *reading, const struct sim_yaml *first, const char *path)
{
    const char **texts = NULL;
    size_t count = 0;
    for (const struct sim_yaml *block = first; block != NULL; block = block->next) {
        const struct sim_yaml *value = sim_yaml_get(block, path);
        if (value->kind == SIM_YAML_LIST)
            return false;
        texts = sim_arena_grow(&reading->suite->arena, texts, count, sizeof *texts);
        texts[count++] = text_of(reading, value);
        for (size_t i = 0; i + 1 < count; i++)
            if (strcmp(texts[i], texts[count - 1]) == 0)
                return false;
    }
    return true;
}

/* Every path an axis with a value for each point. */
static bool read_blocks(const struct reading *reading, const struct sim_yaml *node)
{
    const struct sim_yaml *first = sim_yaml_item(node, 0);
    if (node->kind != SIM_YAML_LIST || first == NULL)
        return sim_report_error(reading->report, node, "expected a list of blocks");
    if (!check_blocks(reading, first))
        return false;
    const struct sim_yaml *key = first->first;
    while (key != NULL && !is_key(reading, first, key->key))
        key = key->next;
    if (key == NULL)
        return sim_report_error(reading->report, node,
                                "blocks are told apart by a path that has a value of its own, and "
                                "no list, in each of them: there is none");
    reading->suite->block = key->key;
    for (const struct sim_yaml *path = first->first; path != NULL; path = path->next) {
        struct pieces word;
        const char *gap = "=";
        (void)fputs(path->key, begin_text(&word));
        for (const struct sim_yaml *block = first; block != NULL; block = block->next)
            for (size_t i = 0; i < count_points(block); i++, gap = ",")
                (void)fprintf(word.out, "%s%s", gap,
                              value_of(reading, path->key, pick(block, path->key, i)));
        add_word(reading, &reading->suite->axes, end_text(reading, &word));
    }
    return true;
}

static bool read_count(const struct reading *reading, const struct sim_yaml *node)
{
    char *end = NULL;
    const unsigned long count = strtoul(node->text == NULL ? "" : node->text, &end, 10);
    if (node->kind != SIM_YAML_SCALAR || *end != '\0' || count < 1 || count > 100000)
        return sim_report_error(reading->report, node, "expected a number from 1 to 100000");
    reading->suite->replications = (uint32_t)count;
    return true;
}

static bool read_text(const struct reading *reading, const struct sim_yaml *node, const char **text)
{
    *text = node->text;
    return node->kind == SIM_YAML_SCALAR ||
           sim_report_error(reading->report, node, "expected a text");
}

static bool read_metrics(const struct reading *reading, const struct sim_yaml *node)
{
    if (node->kind != SIM_YAML_SCALAR && node->kind != SIM_YAML_LIST)
        return sim_report_error(reading->report, node, "expected a metric or a list of them");
    if (node->kind == SIM_YAML_SCALAR)
        add_word(reading, &reading->suite->metrics, node->text);
    for (const struct sim_yaml *item = node->first; item != NULL; item = item->next)
        add_word(reading, &reading->suite->metrics, text_of(reading, item));
    return true;
}

static bool read_key(const struct reading *reading, const struct sim_yaml *node)
{
    static const char *const names[] = { "suite",  "scenario", "set",        "policies",
                                         "blocks", "metrics",  "min_effect", "replications" };
    struct sim_suite *suite = reading->suite;
    size_t which = 0;
    const size_t count = sizeof names / sizeof names[0];
    while (which < count && strcmp(names[which], node->key) != 0)
        which++;
    switch (which) {
    case 0:
        return read_text(reading, node, &suite->name);
    case 1:
        suite->scenario = value_of(reading, SIM_AXIS_SCENARIO, node);
        return true;
    case 2:
        return read_set(reading, node);
    case 3:
        return read_policies(reading, node);
    case 4:
        return read_blocks(reading, node);
    case 5:
        return read_metrics(reading, node);
    case 6:
        return read_text(reading, node, &suite->min_effect);
    case 7:
        return read_count(reading, node);
    default:
        return sim_report_near(reading->report, node, SIM_AT_KEY,
                               sim_near_name(node->key, names, count), "a suite has no such key");
    }
}

/* Without one for all the first block's is what the others are changes of. */
static bool find_scenario(const struct reading *reading, const struct sim_yaml *root)
{
    const struct sim_yaml *blocks = sim_yaml_get(root, "blocks");
    const struct sim_yaml *own = blocks == NULL || blocks->first == NULL
                                     ? NULL
                                     : sim_yaml_get(blocks->first, SIM_AXIS_SCENARIO);
    if (blocks == NULL)
        return sim_report_error(reading->report, NULL, "a suite needs blocks");
    if (reading->suite->scenario == NULL && own != NULL && own->kind == SIM_YAML_SCALAR)
        reading->suite->scenario = value_of(reading, SIM_AXIS_SCENARIO, own);
    return reading->suite->scenario != NULL ||
           sim_report_error(reading->report, NULL, "a suite needs a scenario");
}

int sim_suite_read(const char *path, struct sim_suite *suite)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct sim_report report = { .path = path, .out = &diagnostics };
    *suite = (struct sim_suite){ .name = NULL };
    report.text =
        sim_input_file_read_most(&suite->arena, path, WL_SCENARIO_MIB, &report.length, &error);
    if (report.text == NULL) {
        (void)fprintf(stderr, "weir: %s\n", error.text);
        return SIM_EXIT_INPUT;
    }
    const struct reading reading = { .suite = suite,
                                     .report = &report,
                                     .folder = sim_input_file_folder(&suite->arena, path) };
    const struct sim_yaml *root =
        sim_yaml_parse(&suite->arena, report.text, report.length, &report);
    bool is_fine = root != NULL && diagnostics.errors == 0;
    for (const struct sim_yaml *node = is_fine ? root->first : NULL; node != NULL;
         node = node->next)
        is_fine = read_key(&reading, node) && is_fine;
    is_fine = is_fine && find_scenario(&reading, root);
    sim_report_finish(&report);
    sim_diagnostics_print(&diagnostics, stderr);
    sim_diagnostics_clear(&diagnostics);
    return is_fine ? SIM_EXIT_OK : SIM_EXIT_USAGE;
}

void sim_suite_clear(struct sim_suite *suite)
{
    sim_arena_clear(&suite->arena);
    *suite = (struct sim_suite){ .name = NULL };
}
