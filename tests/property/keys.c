/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * No inert key: the test walks the schema. For every key and every kind of work that the schema
 * says it acts on, keys.table has a scenario in which the key changes the result digest, or, where
 * the schema says why it cannot (field.shows), a row of the results; where the schema says it does
 * not act, it is refused with a sentence. A key without a line fails.
 *
 * A line is `key; kind; given; change`: the scenario of the kind (P pipelines, J jobs in time, F a
 * fill, A actors) with the sets of `given` (" = those of the line above) runs once without and once
 * with the set `change`. A key that decides whether the scenario is accepted has a fifth part: with
 * `change` it is refused with that sentence, or without.
 *
 * What each key does is kept, too: keys.txt has the results with the change. And what a scenario
 * says when all of it is written out comes to the same results.
 */
#include "sim/engine/digest.h"
#include "sim/record/record.h"
#include "sim/scenario/schema/acts.h"
#include "sim/scenario/schema/schema.h"
#include "sim/world/run.h"
#include "tests/support/check.h"
#include "tests/support/kept.h"
#include "tests/support/keys_table.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 256 };

struct keys {
    struct test_keys *table;
    uint32_t shown, refused, missing;
    struct test_kept *kept;
};

static struct test_keys_line *find_line(const struct keys *keys, const char *key, int kind)
{
    for (size_t i = 0; i < keys->table->count; i++)
        if (strcmp(keys->table->lines[i].key, key) == 0 &&
            strchr(keys->table->lines[i].kind, test_keys_letters[kind]) != NULL)
            return &keys->table->lines[i];
    return NULL;
}

/* ---- running ---- */

static bool is_said(const struct sim_diagnostics *said, const char *text)
{
    bool is_there = false;
    for (size_t i = 0; i < said->count; i++)
        is_there |= strstr(said->items[i].message, text) != NULL;
    return is_there;
}

/* All that is kept of a run but its scenario and what the wall clock says. */
static uint64_t hash_of_rows(const char *path)
{
    static const char *const tables[] = { "result",
                                          "arrival_sample",
                                          "cluster_sample",
                                          "node_sample",
                                          "stage_sample",
                                          "job_sample",
                                          "feature_sample",
                                          "decision_stage",
                                          "action",
                                          "candidate",
                                          "(SELECT start_unix_s FROM run)" };
    uint64_t hash = SIM_DIGEST_START;
    sqlite3 *database = NULL;
    CHECK_I64(sqlite3_open(path, &database), SQLITE_OK);
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++) {
        char sql[128];
        sqlite3_stmt *rows = NULL;
        (void)snprintf(sql, sizeof sql, "SELECT * FROM %s", tables[t]);
        CHECK_I64(sqlite3_prepare_v2(database, sql, -1, &rows, NULL), SQLITE_OK);
        while (sqlite3_step(rows) == SQLITE_ROW)
            for (int column = 0; column < sqlite3_column_count(rows); column++) {
                const char *text = (const char *)sqlite3_column_text(rows, column);
                for (; text != NULL && *text != '\0'; text++)
                    hash = sim_digest_word(hash, (uint64_t)(unsigned char)*text);
            }
        (void)sqlite3_finalize(rows);
    }
    (void)sqlite3_close(database);
    return hash;
}

/* What a scenario comes to. */
struct outcome {
    uint64_t digest;  /* 0 = it cannot be loaded or run; the remarks are printed */
    uint64_t rows;    /* 0 = not asked for */
    uint64_t results; /* the hash of them that is kept */
};

static void run_once(struct keys *keys, const struct sim_scenario *scenario, uint32_t replication,
                     bool has_rows, struct outcome *outcome)
{
    char path[] = "/tmp/weir-keys-XXXXXX";
    struct sim_run_summary *summary = test_summary();
    struct sim_run_options options = { .seed = scenario->seed,
                                       .replication = replication,
                                       .variant = "test",
                                       .experiment_id = 1,
                                       .run_id = 1,
                                       .listen = test_listen,
                                       .listener = summary,
                                       .export_at_s = (double)NAN };
    if (has_rows) { /* an empty file may be taken over */
        (void)close(mkstemp(path));
        CHECK_I64(sim_recorder_open(path, false, &options.recorder, NULL), WEIR_OK);
    }
    if (sim_run(scenario, &options, summary) != WEIR_OK)
        printf("    run failed: %s\n", summary->message);
    else
        outcome->digest = sim_digest_word(outcome->digest, summary->result_digest);
    outcome->results += test_kept_hash(keys->kept, summary);
    if (has_rows) {
        CHECK_I64(sim_recorder_close(options.recorder, NULL), WEIR_OK);
        outcome->rows += hash_of_rows(path);
        (void)unlink(path);
    }
    free(summary);
}

static struct outcome outcome_of(struct keys *keys, int kind, const char *const *sets, size_t count,
                                 bool has_rows)
{
    struct sim_diagnostics said;
    struct sim_scenario *scenario = test_keys_load(kind, NULL, sets, count, &said);
    struct outcome outcome = { 0 };
    if (scenario == NULL)
        sim_diagnostics_print(&said, stdout);
    for (uint32_t r = 0; scenario != NULL && r < scenario->replications; r++)
        run_once(keys, scenario, r, has_rows, &outcome);
    sim_diagnostics_clear(&said);
    sim_scenario_destroy(scenario);
    return outcome;
}

/* Written out, it is the same scenario. */
static bool is_read_again(struct keys *keys, int kind, const char *const *sets, size_t count,
                          const struct outcome *with)
{
    struct sim_diagnostics said;
    struct sim_scenario *scenario = test_keys_load(kind, NULL, sets, count, &said);
    sim_diagnostics_clear(&said);
    struct sim_scenario *again =
        scenario == NULL ? NULL : test_keys_load(kind, scenario->resolved, NULL, 0, &said);
    struct outcome outcome = { 0 };
    for (uint32_t r = 0; again != NULL && r < again->replications; r++)
        run_once(keys, again, r, false, &outcome);
    if (scenario != NULL && again == NULL)
        sim_diagnostics_print(&said, stdout);
    if (scenario != NULL)
        sim_diagnostics_clear(&said);
    sim_scenario_destroy(scenario);
    sim_scenario_destroy(again);
    return outcome.digest == with->digest;
}

/* What only rows can show leaves the digest as it was. */
static bool acts(struct keys *keys, const char *key, int kind, const char *const *sets,
                 size_t count, bool has_rows)
{
    char name[PATH + 4];
    const struct outcome without = outcome_of(keys, kind, sets, count, has_rows);
    const struct outcome with = outcome_of(keys, kind, sets, count + 1, has_rows);
    (void)snprintf(name, sizeof name, "%s:%c", key, test_keys_letters[kind]);
    test_kept_check(keys->kept, name, with.digest, with.results);
    if (without.digest == 0 || with.digest == 0)
        return false;
    if (!CHECK(is_read_again(keys, kind, sets, count + 1, &with)))
        printf("    %s: written out, %s is another scenario\n", name, sets[count]);
    return (without.digest != with.digest) == !has_rows && (without.rows != with.rows) == has_rows;
}

static bool holds(int kind, const char *const *sets, size_t count, const char *sentence)
{
    struct sim_diagnostics without;
    struct sim_diagnostics with;
    struct sim_scenario *before = test_keys_load(kind, NULL, sets, count, &without);
    struct sim_scenario *behind = test_keys_load(kind, NULL, sets, count + 1, &with);
    const bool is_it = (before == NULL) != (behind == NULL) &&
                       is_said(before == NULL ? &without : &with, sentence);
    if (!is_it) {
        sim_diagnostics_print(&without, stdout);
        sim_diagnostics_print(&with, stdout);
    }
    sim_scenario_destroy(before);
    sim_scenario_destroy(behind);
    sim_diagnostics_clear(&without);
    sim_diagnostics_clear(&with);
    return is_it;
}

static void check_shown(struct keys *keys, const struct test_keys_line *line, int kind,
                        bool has_rows)
{
    const char *sets[TEST_KEYS_SETS + 1];
    char given[TEST_KEYS_LINE];
    (void)snprintf(given, sizeof given, "%s", line->given);
    const size_t count = test_keys_split(given, sets);
    sets[count] = line->change;
    const bool is_shown = line->refusal[0] != '\0'
                              ? holds(kind, sets, count, line->refusal)
                              : acts(keys, line->key, kind, sets, count, has_rows);
    if (!is_shown)
        printf("    %s (%c): %s changes nothing, or not what it should\n", line->key,
               test_keys_letters[kind], line->change);
    CHECK(is_shown);
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

/* Whether it is, because it acts on other work than there is. */
static bool is_refused(int kind, const char *key, const char *value)
{
    char path[PATH];
    char set[PATH + 80];
    const bool happens = strncmp(key, "timeline[", strlen("timeline[")) == 0;
    concrete(key, path);
    (void)snprintf(set, sizeof set, "%s=%s", path, value);
    const char *const sets[] = { set, "timeline=[{at: 60 s, action: node_down, node: n-0}]" };
    const char *const behind[] = { sets[1], sets[0] };
    struct sim_diagnostics said;
    sim_scenario_destroy(
        test_keys_load(kind, NULL, happens ? behind : sets, happens ? 2 : 1, &said));
    const bool is_it = is_said(&said, "acts on ");
    sim_diagnostics_clear(&said);
    return is_it;
}

static void check_refused(struct keys *keys, const char *key, int kind, const char *value)
{
    const bool is_it = is_refused(kind, key, value);
    if (!is_it)
        printf("    %s: %s (%c) is not refused\n", key, value, test_keys_letters[kind]);
    CHECK(is_it);
    keys->refused++;
}

/* ---- refusals beside what is accepted ---- */

static void every_refusal_has_its_limit(void)
{
    char text[TEST_KEYS_LINE];
    size_t count = 0;
    FILE *file = fopen(test_data("property/refusals.table"), "r");
    CHECK(file != NULL);
    while (file != NULL && fgets(text, sizeof text, file) != NULL) {
        const char *sets[TEST_KEYS_SETS + 1];
        char *rest = text;
        if (text[0] == '#')
            continue;
        const int kind =
            (int)(strchr(test_keys_letters, test_keys_part(&rest)[0]) - test_keys_letters);
        const size_t given = test_keys_split(test_keys_part(&rest), sets);
        sets[given] = test_keys_part(&rest);
        const char *sentence = test_keys_part(&rest);
        const bool is_it = holds(kind, sets, given, sentence);
        if (!is_it)
            printf("    %c: %s is not refused with '%s' alone\n", test_keys_letters[kind],
                   sets[given], sentence);
        CHECK(is_it);
        count++;
    }
    CHECK(count >= 75);
    if (file != NULL)
        (void)fclose(file);
}

/* ---- the walk ---- */

/* Words that act on less than their key. */
static void check_words(struct keys *keys, const char *key, const struct sim_field *field, int kind)
{
    char word[64];
    for (uint32_t i = 0; sim_choice_word(field->word, i, word, sizeof word); i++)
        check_refused(keys, key, kind, word);
}

/* Names and texts, variants and expectations: about telling, not about the simulation. */
static bool is_about_telling(const char *key)
{
    static const char *const parts[] = { "schema",   "name", "description", "compare[]",
                                         "expect[]", "goal", "growth" };
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
    for (int kind = 0; kind < TEST_KEYS_KINDS; kind++) {
        const uint32_t bit = UINT32_C(1) << kind;
        struct test_keys_line *line = find_line(keys, key, kind);
        if ((possible & bit) == 0)
            continue; /* it stands below another kind of work */
        if ((acts & bit) == 0) {
            char value[64];
            example_of(field, value, sizeof value);
            check_refused(keys, key, kind, value);
            CHECK(line == NULL);
        } else if (line != NULL) {
            line->is_used = true;
            const bool is_here = field->shows_in == 0 || (field->shows_in & bit) != 0;
            check_shown(keys, line, kind, field->shows != NULL && is_here);
        } else {
            printf("    %s (%c) has no line in keys.table\n", key, test_keys_letters[kind]);
            keys->missing++;
        }
        if (field->word != NULL && (acts & bit) != 0 && (field->word_acts & bit) == 0)
            check_words(keys, key, field, kind);
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
    struct keys keys = { .table = test_keys_read() };
    if (keys.table == NULL)
        return;
    keys.kept = test_kept_open("property/keys.txt");
    walk(&keys, &sim_schema_scenario, "", SIM_ACTS_ALL, SIM_ACTS_ALL);
    printf("\n    %u keys shown to act, %u refused\n", keys.shown, keys.refused);
    CHECK_I64(keys.missing, 0);
    for (size_t i = 0; i < keys.table->count; i++) {
        if (!keys.table->lines[i].is_used)
            printf("    %s is no key\n", keys.table->lines[i].key);
        CHECK(keys.table->lines[i].is_used);
    }
    test_kept_close(keys.kept);
    free(keys.table);
}

static const struct test tests[] = {
    { "every key acts or is refused", every_key_acts_or_is_refused },
    { "every refusal has its limit", every_refusal_has_its_limit },
};
TEST_MAIN(tests)
