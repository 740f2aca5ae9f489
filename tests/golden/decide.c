/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The format of `weir decide`: what is refused and where it stands, versions, ids, its page in
 * docs/, and that an exported state gives the decision of the host that wrote it.
 */
#include "sim/cli/decide.h"

#include "sim/cli/decide_format.h"
#include "tests/support/check.h"
#include "tests/support/pipeline.h"

#include <stdlib.h>
#include <string.h>

#define POLICY "\"policy\": {\"placement\": \"best_fit\", \"scaling\": \"xenna\"}"
#define STAGE                                                                                      \
    "{\"name\": \"a\", \"batch_size\": 1, \"requested_workers\": 2, \"shape\": {\"type\": "        \
    "\"cpu_only\", \"cpus\": 1}}"
#define HEAD "{\"format\": \"weir-decision\", \"version\": 2, \"command\": \"autoscale\", "

/* What checking and answering the first document says first, as line:column: message; empty = it
 * was answered, and the answer is the caller's. */
static void ask(const char *text, char said[512], json_t **answer)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct decide_documents documents;

    *answer = NULL;
    said[0] = '\0';
    if (decide_documents_parse("f", text, strlen(text), &documents, &error) != WEIR_OK) {
        (void)snprintf(said, 512, "%s", error.text);
        decide_documents_clear(&documents);
        return;
    }
    const struct decide_question question = { .input = json_array_get(documents.list, 0) };
    for (size_t i = 0; i < json_array_size(documents.list); i++)
        decide_format_check(&documents, i, NULL, &diagnostics);
    if (diagnostics.errors == 0 && decide_answer(&question, answer, &error) != WEIR_OK)
        decide_format_report(&documents, 0, error.text, &diagnostics);
    if (diagnostics.errors > 0) {
        const struct sim_diagnostic *const item = &diagnostics.items[0];
        (void)snprintf(said, 512, "%d:%d: %s%s%s", item->line, item->column, item->message,
                       item->suggestion != NULL ? "; near " : "",
                       item->suggestion != NULL ? item->suggestion : "");
    }
    sim_diagnostics_clear(&diagnostics);
    decide_documents_clear(&documents);
}

static void mistakes_are_named_with_their_place(void)
{
    static const char *const documents[][2] = {
        { "{}", "1:1: key 'command' is missing (`autoscale`)" },
        { "[1]", "1:2: must be an object" },
        { "{\"a\": 1, \"a\": 2}", "f:1:12: duplicate object key near '\"a\"'" },
        { "{\"command\": \"fly\"}", "1:1: command must be autoscale, got fly" },
        { "{\"format\": \"weir-decision\", \"version\": 3}", "1:1: version must be 2" },
        { "{\"format\": \"yours\", \"version\": 2}", "1:1: format must be weir-decision" },
        { "{\"version\": 2}", "1:1: format and version come together (version 1 has neither)" },
        { "{\"op\": \"shape\"}", "1:1: this is a known case of another scheduler; "
                                 "build/release/tests/replay reads it" },
        { HEAD "\n\"nodes\": [{\"id\": \"n\", \"cpus\": 1},\n {\"id\": \"m\", \"cpu\": 1}], "
               "\"stages\": [], " POLICY "}",
          "3:2: nodes[1]: key 'cpus' is missing (all it has)" },
        { HEAD "\"nodes\": [{\"id\": \"n\", \"cpus\": 1,\n  \"cordonned\": true}], \"stages\": "
               "[], " POLICY "}",
          "2:3: nodes[0].cordonned: unknown key; near cordoned" },
        { HEAD "\"nodes\": [{\"id\": 1.5, \"cpus\": 1}], \"stages\": [], " POLICY "}",
          "1:78: nodes[0].id: must be a text or a whole number" },
        { HEAD "\"nodes\": [{\"id\": 7, \"cpus\": 1}, {\"id\": \"7\", \"cpus\": 1}], "
               "\"stages\": [], " POLICY "}",
          "1:67: nodes: the id 7 is there twice" },
        { HEAD "\"nodes\": [], \"stages\": [], \"policy\": {\"placement\": \"fgd\", \"scaling\": "
               "\"xenna\",\n\"scaling_params\": {\"overalocation\": 1}}}",
          "2:20: policy.scaling_params.overalocation: xenna has no such parameter; near "
          "overallocation" },
        { HEAD "\"nodes\": [], \"stages\": [], \"policy\": {\"placement\": \"fgd\",\n\"scaling\": "
               "\"magic\"}}",
          "2:1: policy.scaling: unknown policy magic" },
        { HEAD "\"nodes\": [], \"stages\": [\n" STAGE "],\n\"workers\": [{\"id\": 3, \"stage\": "
               "\"a\", \"node\": \"x\"}], " POLICY "}",
          "3:13: workers[0]: node x is not listed" },
    };

    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        char said[512];
        json_t *answer = NULL;
        ask(documents[i][0], said, &answer);
        CHECK_STR(said, documents[i][1]);
        CHECK(answer == NULL);
        json_decref(answer);
    }
}

/* In lines and in arrays every document has its own place. */
static void a_mistake_in_a_later_document_has_its_line(void)
{
    char said[512];
    json_t *answer = NULL;

    ask(HEAD "\"nodes\": [], \"stages\": [], " POLICY "}\n\n{\"command\": \"autoscale\", \"seed\": "
             "-1, \"nodes\": [], \"stages\": [], " POLICY "}\n",
        said, &answer);
    CHECK_STR(said, "3:26: seed: must be within [0, 9.0072e+15], got -1");
    json_decref(answer);
    ask("[" HEAD "\"nodes\": [], \"stages\": [], " POLICY "},\n {\"command\": \"fly\"}]", said,
        &answer);
    CHECK_STR(said, "2:2: command must be autoscale, got fly");
    json_decref(answer);
}

static const json_t *first_new(const json_t *answer)
{
    const json_t *const stage = json_array_get(json_object_get(answer, "stages"), 0);

    return json_array_get(json_object_get(stage, "new"), 0);
}

/* Version 1 has no header; ids that are numbers are their digits, in nodes and in workers. */
static void both_versions_and_numbers_as_ids_are_read(void)
{
    static const char *const heads[] = { HEAD, "{\"command\": \"autoscale\", " };

    for (size_t i = 0; i < 2; i++) {
        char text[1024];
        char said[512];
        json_t *answer = NULL;
        (void)snprintf(
            text, sizeof text,
            "%s\"nodes\": [{\"id\": 12, \"cpus\": 4, \"gpus\": 0.0}], \"stages\": [" STAGE "], "
            "\"workers\": [{\"id\": 5, \"stage\": \"a\", \"node\": \"12\", \"cpus\": 1}], "
            "\"next_worker\": 9, " POLICY "}",
            heads[i]);
        ask(text, said, &answer);
        CHECK_STR(said, "");
        CHECK_STR(json_string_value(json_object_get(answer, "format")), "weir-decision-answer");
        CHECK_I64(json_integer_value(json_object_get(answer, "version")), 2);
        CHECK_STR(json_string_value(json_object_get(first_new(answer), "node")), "12");
        CHECK_STR(json_string_value(json_object_get(first_new(answer), "id")), "9");
        json_decref(answer);
    }
}

static char *read_page(const char *path)
{
    FILE *const file = fopen(path, "rb");
    char *const text = calloc(1, 1 << 18);

    if (file == NULL || text == NULL) {
        free(text);
        return NULL;
    }
    (void)fread(text, 1, (1 << 18) - 1, file);
    (void)fclose(file);
    return text;
}

/* The row of a key in docs/decide.md. */
static void write_row(const struct decide_key *key, char row[512])
{
    static const char *const kinds[] = {
        "number", "whole number", "text",
        "id",     "flag",         "object",
        "list",   "object",       "whole number or list of whole number"
    };
    char type[64];

    if (key->of != NULL)
        (void)snprintf(type, sizeof type, "%s of %s", kinds[key->kind], key->of->name);
    else
        (void)snprintf(type, sizeof type, "%s%s", kinds[key->kind],
                       key->kind == DECIDE_LIST ? " of whole number" : "");
    (void)snprintf(row, 512, "| `%s` | %s%s%s | %s | %s |", key->name, type,
                   key->is_required   ? ""
                   : key->may_be_null ? " or null"
                                      : "",
                   key->is_required ? ", needed" : "", key->unit != NULL ? key->unit : "",
                   key->help);
}

static void the_page_has_every_key(void)
{
    char row[512];
    char *const page = read_page(test_data("../docs/decide.md"));

    if (!CHECK(page != NULL))
        return;
    for (size_t t = 0; t < decide_formats_count; t++) {
        for (size_t k = 0; k < decide_formats[t]->count; k++) {
            write_row(&decide_formats[t]->keys[k], row);
            if (!CHECK(strstr(page, row) != NULL))
                fprintf(stderr, "docs/decide.md lacks, under %s:\n%s\n", decide_formats[t]->name,
                        row);
        }
    }
    free(page);
}

static weir_status append(void *state, const char *text, size_t length)
{
    return fwrite(text, 1, length, state) == length ? WEIR_OK : WEIR_EIO;
}

/* What a host exports, `weir decide` decides as the host does. */
static void an_exported_state_gives_the_same_decision(void)
{
    const struct test_pipeline pipeline = test_reference(2, true);
    const struct weir_host_config config = test_config("fgd_xenna", "xenna");
    struct weir_host *const host = test_host(&config, &pipeline);
    const struct weir_estimate slower = { .batches_per_s = 0.4, .returns_per_batch = 1 };
    const struct weir_plan *plan;
    char *text = NULL;
    size_t size = 0;
    json_t *answer = NULL;

    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_I64(weir_host_set_estimate(host, 2, slower), WEIR_OK);
    FILE *const file = open_memstream(&text, &size);
    const struct weir_sink sink = { .write = append, .state = file };
    CHECK_I64(weir_host_export(host, 1500000000, &sink), WEIR_OK);
    fclose(file);
    char said[512];
    ask(text, said, &answer);
    CHECK_STR(said, "");
    CHECK_I64(weir_host_decide(host,
                               &(struct weir_call){ .size = sizeof(struct weir_call),
                                                    .causes = WEIR_CAUSE_TIMER,
                                                    .now_ns = 1500000000 },
                               &plan, NULL),
              WEIR_OK);
    CHECK(weir_plan_count(plan) > 0);
    CHECK_I64(test_carry_out(host, plan), WEIR_OK);
    json_t *const stages = json_object_get(answer, "stages");
    CHECK_I64(json_array_size(stages), pipeline.stage_count);
    for (uint32_t i = 0; i < pipeline.stage_count; i++)
        CHECK_I64(json_integer_value(json_object_get(json_array_get(stages, i), "workers_after")),
                  weir_cluster_pool_workers(weir_host_cluster(host), i));
    json_decref(answer);
    free(text);
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "mistakes are named with their place", mistakes_are_named_with_their_place },
    { "a mistake in a later document has its line", a_mistake_in_a_later_document_has_its_line },
    { "both versions and numbers as ids are read", both_versions_and_numbers_as_ids_are_read },
    { "the page has every key", the_page_has_every_key },
    { "an exported state gives the same decision", an_exported_state_gives_the_same_decision },
};

TEST_MAIN(tests)
