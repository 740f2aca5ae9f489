/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Known answers of the codec version: every case, the bulk file and the tables, as tests/replay
 * judges them; and that the comparison finds a wrong answer.
 */
#include "sim/cli/decide/decide_document.h"
#include "tests/replay/rules.h"
#include "tests/support/check.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* Checks one file of the folder; its failures are printed. */
static void check_file(const char *name, struct replay_tally *tally)
{
    char relative[512];
    struct weir_error error = { 0 };
    const uint32_t failed = tally->failed;

    snprintf(relative, sizeof relative, "golden/xenna-codec/%s", name);
    const char *const path = test_data(relative);
    const weir_status status = replay_check_file(path, NULL, tally, &error);
    if (!CHECK(status == WEIR_OK))
        fprintf(stderr, "%s\n", error.text);
    if (tally->failed > failed) {
        struct replay_tally again = { 0 };
        (void)replay_check_file(path, stderr, &again, &error);
    }
    CHECK_I64(tally->failed, failed);
}

/* covers: S0.31 S0.38 S0.41 */
static void every_case_agrees(void)
{
    struct replay_tally tally = { 0 };
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
    CHECK_I64(tally.ok, 27);
    CHECK_I64(tally.exact, 22);
    CHECK_I64(tally.deviations, 3); /* no_workers; tie twice */
}

/* covers: S0.27 */
static void the_bulk_file_agrees(void)
{
    struct replay_tally tally = { 0 };

    check_file("bulk.jsonl", &tally);
    CHECK_I64(tally.ok, 122);
    CHECK_I64(tally.exact, 116);
    CHECK_I64(tally.deviations, 8); /* overdraft three times; tie five times */
}

/* covers: S0.18 S0.32 */
static void the_tables_agree(void)
{
    struct replay_tally tally = { 0 };

    check_file("tables.json", &tally);
    CHECK_I64(tally.ok, 54);
    CHECK_I64(tally.deviations, 33); /* 8 shapes, 25 overdrafts */
}

/* Judges the cases of a text. */
static struct replay_tally tally_of(const char *text)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct replay_tally tally = { 0 };
    struct decide_documents documents;

    if (!CHECK(decide_documents_parse("text", text, strlen(text), &documents, &error) == WEIR_OK) ||
        !CHECK(replay_check_documents(&documents, NULL, &tally, &error) == WEIR_OK))
        fprintf(stderr, "%s\n", error.text);
    decide_documents_clear(&documents);
    return tally;
}

static uint32_t failures_in(const char *text)
{
    return tally_of(text).failed;
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

/* A case of two stages on one node of 64 CPUs and two GPUs, which the original died of. */
static void write_crash(char text[2048], const char *exception, const char *first,
                        const char *second, const char *gpus)
{
    (void)snprintf(
        text, 2048,
        "{\"name\": \"x\", \"case\": 4711, \"input\": {\"command\": \"autoscale\", \"nodes\": [{"
        "\"id\": \"0\", \"cpus\": 8, %s}], \"stages\": [{\"name\": \"a\", %s, \"batch_size\": 1}, "
        "{\"name\": \"b\", %s, \"batch_size\": 1}], \"estimates\": [{\"batches_per_s\": 1, "
        "\"returns_per_batch\": 1}, {\"batches_per_s\": 2, \"returns_per_batch\": 1}], "
        "\"workers\": "
        "[{\"id\": \"w\", \"stage\": \"b\", \"node\": \"0\", \"cpus\": 1, \"gpus\": [], "
        "\"nvdecs\": "
        "[{\"gpu\": 0, \"index\": 0}]}], \"slots\": [2, 2]}, \"output\": {\"status\": \"error\", "
        "\"error_type\": \"%s\", \"error_phase\": 1}}",
        gpus, first, second, exception);
}

#define SHARE   "\"shape\": {\"type\": \"fractional_gpu\", \"cpus\": 1, \"gpus\": 0.9}"
#define CODEC   "\"shape\": {\"type\": \"codec\", \"cpus\": 1, \"nvdecs\": 1}"
#define WHOLE   "\"shape\": {\"type\": \"whole_gpu\", \"cpus\": 1, \"gpus\": 1, \"nvdecs\": 2}"
#define ENTIRE  "\"shape\": {\"type\": \"entire_gpu\", \"cpus\": 1, \"gpus\": 1}"
#define EQUAL   "\"gpus\": 2, \"nvdecs_per_gpu\": 3"
#define UNEQUAL "\"gpu_list\": [{\"fraction\": 1, \"nvdecs\": 3}, {\"fraction\": 1, \"nvdecs\": 4}]"

/* The rule follows from the exception and from what the question asks, whatever the case's name. */
static void a_crash_of_the_original_is_judged_by_its_rule(void)
{
    static const struct {
        const char *exception, *first, *second, *gpus;
        uint32_t deviations;
    } cases[] = {
        { "allocator.OverAllocatedError", SHARE, CODEC, EQUAL, 1 },
        { "resources.AllocationError", WHOLE, CODEC, EQUAL, 1 },
        { "resources.AllocationError", SHARE, CODEC, EQUAL, 0 },
        { "builtins.AssertionError", ENTIRE, CODEC, UNEQUAL, 1 },
        { "builtins.AssertionError", ENTIRE, CODEC, EQUAL, 0 },
        { "builtins.ZeroDivisionError", SHARE ", \"requested_workers\": 0", CODEC, EQUAL, 1 },
        { "builtins.ZeroDivisionError", SHARE, CODEC, EQUAL, 0 },
        { "builtins.KeyError", SHARE, CODEC, EQUAL, 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[2048];
        write_crash(text, cases[i].exception, cases[i].first, cases[i].second, cases[i].gpus);
        const struct replay_tally tally = tally_of(text);
        CHECK_I64(tally.deviations, cases[i].deviations);
        CHECK_I64(tally.failed, 1 - cases[i].deviations);
        CHECK_I64(tally.ok, 0);
    }
}

/* Every autoscale question of a file: plan, slots or refusal. */
static uint32_t compare_with_exact(const char *name)
{
    struct replay_tally tally = { 0 };
    struct replay_comparison comparison = { .tally = &tally, .tolerance = 1e-9 };
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct decide_documents documents;
    char relative[512];
    uint32_t count = 0;

    (void)snprintf(relative, sizeof relative, "golden/xenna-codec/%s", name);
    CHECK_I64(decide_documents_load(test_data(relative), &documents, &error), WEIR_OK);
    for (size_t i = 0; i < json_array_size(documents.list); i++) {
        const json_t *const entry = json_array_get(documents.list, i);
        const json_t *const input = json_object_get(entry, "input");
        json_t *ours = NULL;
        if (strcmp(replay_text(input, "command"), "autoscale") != 0)
            continue;
        CHECK_I64(replay_answer(input, &ours, &error), WEIR_OK);
        if (!CHECK(replay_same_as_exact(&comparison, input, ours)))
            fprintf(stderr, "%s[%zu]: %s\n", name, i, comparison.difference);
        json_decref(ours);
        count++;
    }
    decide_documents_clear(&documents);
    return count;
}

/* Two programs that share nothing: the oracle is right where the stored answer is no help. */
static void the_exact_pass_makes_the_plans_of_libweir(void)
{
    DIR *const folder = opendir(test_data("golden/xenna-codec"));
    struct dirent *entry;
    uint32_t count = compare_with_exact("bulk.jsonl");

    if (!CHECK(folder != NULL))
        return;
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
            count += compare_with_exact(entry->d_name);
    }
    closedir(folder);
    CHECK(count >= 85);
}

/* Counts given in place of the pool optimum: slots and mix follow them. */
static void given_counts_replace_the_pool_optimum(void)
{
    static const char format[] =
        "{\"input\": {\"command\": \"autoscale\", \"nodes\": [{\"id\": \"0\", \"cpus\": 8}], "
        "\"stages\": [{\"name\": \"a\", \"batch_size\": 1, \"shape\": {\"type\": \"cpu_only\", "
        "\"cpus\": 1}}, {\"name\": \"b\", \"batch_size\": 1, \"shape\": {\"type\": \"cpu_only\", "
        "\"cpus\": 1}}], \"estimates\": [{\"batches_per_s\": 1}, {\"batches_per_s\": 1}], "
        "\"naive_workers\": [%d, 6], \"workers\": [], \"slots\": [2, 2]}, \"output\": {\"status\": "
        "\"ok\", \"slots\": [%d, 2], \"workload_frequencies\": [%g, %g], \"stages\": [{"
        "\"workers_after\": 4}, {\"workers_after\": 4}]}}";
    char text[2048];

    (void)snprintf(text, sizeof text, format, 2, 2, 0.25, 0.75);
    CHECK_I64(tally_of(text).ok, 1);
    (void)snprintf(text, sizeof text, format, 3, 2, 3.0 / 9, 6.0 / 9);
    CHECK_I64(failures_in(text), 1); /* %g has six digits */
    (void)snprintf(text, sizeof text, format, 24, 2, 0.8, 0.2);
    CHECK_I64(tally_of(text).ok, 1);
    (void)snprintf(text, sizeof text, format, 2, 3, 0.25, 0.75);
    CHECK_I64(failures_in(text), 1);
}

/* Where stored candidates are equal but for noise, the first of them is right. */
static void a_choice_among_equals_is_the_first(void)
{
    static const char format[] =
        "{\"input\": {\"command\": \"remove\", \"nodes\": [{\"id\": \"0\", \"cpus\": 4}], "
        "\"workers\": [{\"id\": \"v\", \"stage\": \"a\", \"node\": \"0\", \"cpus\": 1}, {\"id\": "
        "\"w\", \"stage\": \"a\", \"node\": \"0\", \"cpus\": 1}], \"workload\": [], \"stage\": "
        "\"a\"}, "
        "\"output\": {\"status\": \"ok\", \"worker\": \"w\", \"candidates\": [{\"id\": \"v\", "
        "\"frag_after\": %s}, {\"id\": \"w\", \"frag_after\": 0}]}}";
    char text[1024];

    (void)snprintf(text, sizeof text, format, "1e-17");
    CHECK_I64(tally_of(text).deviations, 1);
    (void)snprintf(text, sizeof text, format, "1e-3");
    CHECK_I64(tally_of(text).failed, 1);
}

static const struct test tests[] = {
    { "every case agrees with the reference", every_case_agrees },
    { "the bulk file agrees with the reference", the_bulk_file_agrees },
    { "the tables agree with the reference", the_tables_agree },
    { "a wrong answer is found", a_wrong_answer_is_found },
    { "a crash of the original is judged by its rule",
      a_crash_of_the_original_is_judged_by_its_rule },
    { "the exact pass makes the plans of libweir", the_exact_pass_makes_the_plans_of_libweir },
    { "given counts replace the pool optimum", given_counts_replace_the_pool_optimum },
    { "a choice among equals is the first", a_choice_among_equals_is_the_first },
};

TEST_MAIN(tests)
