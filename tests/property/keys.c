/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * No inert key: the test walks the schema. For every key and every kind of work that the schema
 * says it acts on, keys.table has a scenario in which the key changes the result digest; where the
 * schema says it does not act, it is refused with a sentence. A key without a line fails.
 *
 * A line is `key; kind; given; change`: the scenario of the kind (P pipelines, J jobs in time, F a
 * fill) with the sets of `given` runs once without and once with the set `change`. `change` may be
 * `open`, for a key that no scenario shows yet: such lines are counted, and fail when the key is
 * refused or unknown.
 */
#include "sim/scenario/acts.h"
#include "sim/scenario/schema.h"
#include "sim/world/run.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 256, LINE = 1024, LINES = 600, SETS = 16, KINDS = 3 };

static const char *const bases[KINDS] = {
    "schema: 2\nname: t\nhorizon: 10 min\n"
    "catalog: {node_types: {m: {cpus: 16, ram: 64 GB, gpus: {h100: 2}}}}\n"
    "cluster: {nodes: [{name: n, type: m, count: 2}]}\n"
    "sched: {placement: fgd, scaling: {policy: xenna, interval: 30 s, window: 60 s}}\n"
    "pipelines:\n"
    "  - name: p\n"
    "    input: {items: 600}\n"
    "    stages:\n"
    "      - {name: a, cpus: 1, service: exp(3 s), setup: 2 s}\n"
    "      - {name: b, cpus: 1, gpus: 0.5, service: exp(2 s), setup: 5 s}\n",
    "schema: 2\nname: t\nhorizon: 2 h\n"
    "catalog: {node_types: {m: {cpus: 16, ram: 64 GB, gpus: {h100: 2}}}}\n"
    "cluster: {nodes: [{name: n, type: m, count: 2}]}\n"
    "jobs:\n"
    "  - name: w\n"
    "    run_time: exp(5 min)\n"
    "    arrivals: {rate: 0.02}\n"
    "    classes:\n"
    "      - {name: a, request: {cpus: 2, gpus: 1}}\n"
    "      - {name: b, request: {cpus: 4, gpus: 2}}\n",
    "schema: 2\nname: t\n"
    "catalog: {node_types: {m: {cpus: 16, ram: 64 GB, gpus: {h100: 2}}}}\n"
    "cluster: {nodes: [{name: n, type: m, count: 8}]}\n"
    "fill:\n"
    "  - name: w\n"
    "    count: 12\n"
    "    classes:\n"
    "      - {name: a, request: {cpus: 2, gpus: 0.6}}\n"
    "      - {name: b, request: {cpus: 4, gpus: 1}}\n"
};
static const char letters[] = "PJF";

struct line {
    char text[LINE];
    char *key, *kind, *given, *change;
    bool is_used;
};

struct keys {
    struct line *lines;
    size_t count;
    uint32_t shown, refused, open, missing;
};

/* ---- the table ---- */

static char *next_part(char **rest)
{
    static char none[1];
    char *part = strsep(rest, ";");
    if (part == NULL)
        return none;
    part += strspn(part, " ");
    for (size_t end = strlen(part); end > 0 && strchr(" \n", part[end - 1]) != NULL; end--)
        part[end - 1] = '\0';
    return part;
}

static void read_table(struct keys *keys)
{
    FILE *file = fopen(test_data("property/keys.table"), "r");
    CHECK(file != NULL);
    struct line *line = keys->lines;
    while (file != NULL && keys->count < LINES && fgets(line->text, LINE, file) != NULL) {
        char *rest = line->text;
        if (rest[0] == '#' || rest[0] == '\n')
            continue;
        line->key = next_part(&rest);
        line->kind = next_part(&rest);
        line->given = next_part(&rest);
        line->change = next_part(&rest);
        line++;
        keys->count++;
    }
    if (file != NULL)
        (void)fclose(file);
}

static struct line *find_line(const struct keys *keys, const char *key, int kind)
{
    for (size_t i = 0; i < keys->count; i++)
        if (strcmp(keys->lines[i].key, key) == 0 &&
            strchr(keys->lines[i].kind, letters[kind]) != NULL)
            return &keys->lines[i];
    return NULL;
}

/* ---- running ---- */

static size_t split_sets(char *text, const char **sets)
{
    size_t count = 0;
    for (char *set = strsep(&text, "|"); set != NULL && count < SETS; set = strsep(&text, "|")) {
        set += strspn(set, " ");
        for (size_t end = strlen(set); end > 0 && set[end - 1] == ' '; end--)
            set[end - 1] = '\0';
        if (set[0] != '\0')
            sets[count++] = set;
    }
    return count;
}

/* 0 when it cannot be loaded or run; the remarks are printed. */
static uint64_t digest_of(int kind, const char *const *sets, size_t count)
{
    const struct sim_scenario_source source = {
        .path = "keys.yaml", .text = bases[kind], .sets = sets, .sets_count = count
    };
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct sim_scenario *scenario = NULL;
    uint64_t digest = 0;
    if (sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK) {
        sim_diagnostics_print(&diagnostics, stdout);
    } else {
        struct sim_run_summary *summary = test_run_fast(scenario, 0, NULL);
        digest = summary->result_digest;
        free(summary);
    }
    sim_diagnostics_clear(&diagnostics);
    sim_scenario_destroy(scenario);
    return digest;
}

static void check_shown(struct keys *keys, struct line *line, int kind)
{
    const char *sets[SETS + 1];
    char given[LINE];
    if (strcmp(line->change, "open") == 0) {
        keys->open++;
        return;
    }
    (void)snprintf(given, sizeof given, "%s", line->given);
    const size_t count = split_sets(given, sets);
    const uint64_t without = digest_of(kind, sets, count);
    sets[count] = line->change;
    const uint64_t with = digest_of(kind, sets, count + 1);
    if (without == 0 || with == 0 || without == with)
        printf("    %s (%c): %s changes nothing\n", line->key, letters[kind], line->change);
    CHECK(without != 0 && with != 0 && without != with);
    keys->shown++;
}

/* ---- refusals ---- */

/* Some value the key could have. */
static void example_of(const struct sim_field *field, char *text, size_t capacity)
{
    const bool is_choice = field->kind == SIM_FIELD_CHOICE;
    if (is_choice && sim_choice_word(field->choices, 0, text, capacity))
        return;
    (void)snprintf(text, capacity, "%s",
                   field->kind == SIM_FIELD_FLAG        ? "true"
                   : field->kind == SIM_FIELD_TEXT      ? "fixed"
                   : field->kind == SIM_FIELD_TIMESTAMP ? "2026-01-01T00:00:00Z"
                                                        : "1");
}

/* "cluster.nodes[].cpus" in the scenarios above. */
static void concrete(const char *key, char *path)
{
    size_t used = 0;
    for (const char *c = key; *c != '\0' && used + 6 < PATH; c++) {
        path[used++] = *c;
        if (c[0] == '[')
            path[used++] = '0';
        if (strncmp(c, "_types.NAME", strlen("_types.NAME")) == 0) {
            used +=
                (size_t)snprintf(path + used, PATH - used, "types.%s", c[-1] == 'u' ? "h100" : "m");
            c += strlen("_types.NAME") - 1;
        }
    }
    path[used] = '\0';
}

static bool is_refused(int kind, const char *key, const struct sim_field *field)
{
    char path[PATH];
    char value[64];
    char set[PATH + 80];
    concrete(key, path);
    example_of(field, value, sizeof value);
    (void)snprintf(set, sizeof set, "%s=%s", path, value);
    const char *const sets[] = { set };
    const struct sim_scenario_source source = {
        .path = "keys.yaml", .text = bases[kind], .sets = sets, .sets_count = 1
    };
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct sim_scenario *scenario = NULL;
    bool is_said = false;
    (void)sim_scenario_load(&source, &scenario, &diagnostics);
    for (size_t i = 0; i < diagnostics.count; i++)
        is_said |= strstr(diagnostics.items[i].message, "acts on ") != NULL;
    sim_diagnostics_clear(&diagnostics);
    sim_scenario_destroy(scenario);
    return is_said;
}

/* ---- the walk ---- */

/* Names and texts, variants and expectations: about telling, not about the simulation. */
static bool is_about_telling(const char *key)
{
    static const char *const parts[] = { "schema", "name", "description", "compare[]", "expect[]" };
    const char *last = strrchr(key, '.');
    if (last != NULL && strcmp(last, ".name") == 0)
        return true;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strncmp(key, parts[i], strlen(parts[i])) == 0 &&
            (key[strlen(parts[i])] == '\0' || strchr(".[", key[strlen(parts[i])]) != NULL))
            return true;
    return false;
}

static void check_key(struct keys *keys, const char *key, const struct sim_field *field,
                      uint32_t acts, uint32_t possible)
{
    for (int kind = 0; kind < KINDS; kind++) {
        const uint32_t bit = UINT32_C(1) << kind;
        struct line *line = find_line(keys, key, kind);
        if ((possible & bit) == 0)
            continue; /* it stands below another kind of work */
        if ((acts & bit) == 0) {
            const bool is_said = is_refused(kind, key, field);
            if (!is_said)
                printf("    %s (%c) is not refused\n", key, letters[kind]);
            CHECK(is_said);
            CHECK(line == NULL);
            keys->refused++;
        } else if (line != NULL) {
            line->is_used = true;
            CHECK(field->shows == NULL);
            check_shown(keys, line, kind);
        } else if (field->shows == NULL) {
            printf("    %s (%c) has no line in keys.table\n", key, letters[kind]);
            keys->missing++;
        }
    }
}

static void walk(struct keys *keys, const struct sim_section *section, const char *prefix,
                 uint32_t acts, uint32_t possible)
{
    for (size_t i = 0; i < section->count; i++) {
        const struct sim_field *field = &section->fields[i];
        const uint32_t own = field->acts == 0 ? acts : field->acts & acts;
        const bool is_work = section == &sim_schema_scenario && field->section != NULL &&
                             (field->flags & SIM_FIELD_BY_NAME) != 0;
        const char *form = field->kind == SIM_FIELD_LIST    ? "[]"
                           : field->kind == SIM_FIELD_NAMED ? ".NAME"
                                                            : "";
        char key[PATH];
        (void)snprintf(key, sizeof key, "%s%s%s%s", prefix, prefix[0] == '\0' ? "" : ".",
                       field->key, form);
        if (is_about_telling(key))
            continue;
        if (field->section != NULL)
            walk(keys, field->section, key, own, is_work ? own : possible);
        else if (field->kind != SIM_FIELD_SETS)
            check_key(keys, key, field, own, possible);
    }
}

static void every_key_acts_or_is_refused(void)
{
    struct keys keys = { .lines = calloc(LINES + 1, sizeof *keys.lines) };
    CHECK(keys.lines != NULL);
    if (keys.lines == NULL)
        return;
    read_table(&keys);
    walk(&keys, &sim_schema_scenario, "", SIM_ACTS_ALL, SIM_ACTS_ALL);
    printf("\n    %u keys shown to act, %u refused, %u open\n", keys.shown, keys.refused,
           keys.open);
    CHECK_I64(keys.missing, 0);
    for (size_t i = 0; i < keys.count; i++) {
        if (!keys.lines[i].is_used)
            printf("    %s is no key\n", keys.lines[i].key);
        CHECK(keys.lines[i].is_used);
    }
    free(keys.lines);
}

static const struct test tests[] = {
    { "every key acts or is refused", every_key_acts_or_is_refused },
};
TEST_MAIN(tests)
