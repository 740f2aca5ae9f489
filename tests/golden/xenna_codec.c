/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Known answers of the codec version: every case, the bulk file and the tables, as `weir decide
 * --check` compares them; and that the comparison finds a wrong answer.
 */
#include "sim/cli/decide.h"
#include "tests/support/check.h"
#include "tests/support/pipeline.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* Checks one file of the folder; its failures are printed. */
static void check_file(const char *name, struct decide_tally *tally)
{
    char relative[512];
    struct weir_error error = { 0 };
    const uint32_t failed = tally->failed;

    snprintf(relative, sizeof relative, "golden/xenna-codec/%s", name);
    const char *const path = test_data(relative);
    const weir_status status = decide_check_file(path, NULL, tally, &error);
    if (!CHECK(status == WEIR_OK))
        fprintf(stderr, "%s\n", error.text);
    if (tally->failed > failed) {
        struct decide_tally again = { 0 };
        (void)decide_check_file(path, stderr, &again, &error);
    }
    CHECK_I64(tally->failed, failed);
}

/* covers: S0.31 S0.38 S0.41 */
static void every_case_agrees(void)
{
    struct decide_tally tally = { 0 };
    uint32_t files = 0;
    struct dirent *entry;
    DIR *const folder = opendir(test_data("golden/xenna-codec"));

    if (!CHECK(folder != NULL))
        return;
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] < '0' || entry->d_name[0] > '9')
            continue;
        check_file(entry->d_name, &tally);
        files++;
    }
    closedir(folder);
    CHECK_I64(files, 30);
    CHECK_I64(tally.ok, 29);
    CHECK_I64(tally.deviations, 1); /* case 37 */
    CHECK(tally.exact >= 22);
}

/* covers: S0.27 */
static void the_bulk_file_agrees(void)
{
    struct decide_tally tally = { 0 };

    check_file("bulk.jsonl", &tally);
    CHECK_I64(tally.ok, 127);
    CHECK_I64(tally.deviations, 3); /* the reference dies of rounding */
    CHECK(tally.exact >= 115);
}

/* covers: S0.18 S0.32 */
static void the_tables_agree(void)
{
    struct decide_tally tally = { 0 };

    check_file("tables.json", &tally);
    CHECK_I64(tally.ok, 54);
    CHECK_I64(tally.deviations, 33); /* 8 shapes, 25 overdrafts */
}

/* Writes `text` to a new file and checks it; the failures it counts. */
static uint32_t failures_in(const char *text)
{
    char path[] = "/tmp/weir-decide-XXXXXX";
    struct decide_tally tally = { 0 };
    const int descriptor = mkstemp(path);
    FILE *const file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;

    if (!CHECK(file != NULL))
        return 0;
    fputs(text, file);
    fclose(file);
    CHECK_I64(decide_check_file(path, NULL, &tally, NULL), WEIR_OK);
    remove(path);
    return tally.failed;
}

static void a_wrong_answer_is_found(void)
{
    CHECK_I64(failures_in("{\"input\": {\"command\": \"slots\", \"num_workers\": [1, 4],"
                          " \"current_slots\": [2, 2], \"speeds\": [10, 10]},"
                          " \"output\": {\"status\": \"ok\", \"slots\": [20, 6]}}"),
              1);
    CHECK_I64(failures_in("{\"input\": {\"command\": \"slots\", \"num_workers\": [1, 4],"
                          " \"current_slots\": [2, 2], \"speeds\": [10, 10]},"
                          " \"output\": {\"status\": \"ok\", \"slots\": [20, 5]}}"),
              0);
}

static void broken_documents_are_named(void)
{
    static const char *const documents[][2] = {
        { "{}", "command is missing" },
        { "{\"command\": \"fly\"}", "unknown command fly; known are autoscale, place, remove, "
                                    "fragmentation, shape, slots and naive" },
        { "{\"command\": \"autoscale\"}", "nodes is missing" },
        { "{\"command\": \"autoscale\", \"nodes\": [{\"cpus\": 1}, {}], \"stages\": []}",
          "nodes[1]: cpus is missing" },
        { "{\"command\": \"autoscale\", \"nodes\": [], \"stages\": [{\"name\": \"a\", "
          "\"batch_size\": 1, \"shape\": {\"type\": \"round\"}}]}",
          "stages[0]: shape: unknown type round" },
        { "{\"command\": \"autoscale\", \"nodes\": [], \"stages\": [], \"policy\": "
          "{\"placement\": \"fgd\", \"scaling\": \"magic\"}}",
          "policy.scaling: unknown policy magic" },
    };

    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        json_t *const input = json_loads(documents[i][0], 0, NULL);
        struct weir_error error = { 0 };
        json_t *answer = NULL;
        CHECK_I64(decide_answer(input, &answer, &error), WEIR_EFORMAT);
        CHECK_STR(error.text, documents[i][1]);
        CHECK(answer == NULL);
        json_decref(input);
    }
}

static weir_status append(void *state, const char *text, size_t length)
{
    return fwrite(text, 1, length, state) == length ? WEIR_OK : WEIR_EIO;
}

/* What a host exports, `weir decide` decides as the host does. */
static void an_exported_state_gives_the_same_decision(void)
{
    const struct test_pipeline pipeline = test_reference(2, true);
    const struct weir_host_config config = test_config("fgd", "xenna");
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
    json_t *const document = json_loads(text, 0, NULL);
    CHECK_I64(decide_answer(document, &answer, NULL), WEIR_OK);
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
    json_decref(document);
    free(text);
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "every case agrees with the reference", every_case_agrees },
    { "the bulk file agrees with the reference", the_bulk_file_agrees },
    { "the tables agree with the reference", the_tables_agree },
    { "a wrong answer is found", a_wrong_answer_is_found },
    { "broken documents are named with their path", broken_documents_are_named },
    { "an exported state gives the same decision", an_exported_state_gives_the_same_decision },
};

TEST_MAIN(tests)
