/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Known answers of the later versions of the reference (N, and C with codecs): every case, as `weir
 * decide --check` compares them; and what the comparison must not let through.
 */
#include "sim/cli/decide.h"
#include "tests/support/check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_file(const char *name, struct decide_tally *tally)
{
    char relative[512];
    struct weir_error error = { 0 };
    const uint32_t failed = tally->failed;

    snprintf(relative, sizeof relative, "golden/xenna/%s", name);
    const char *const path = test_data(relative);
    if (!CHECK(decide_check_file(path, NULL, tally, &error) == WEIR_OK))
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
    struct dirent *entry;
    DIR *const folder = opendir(test_data("golden/xenna"));

    if (!CHECK(folder != NULL))
        return;
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9')
            check_file(entry->d_name, &tally);
    }
    closedir(folder);
    CHECK_I64(tally.ok, 48);
    CHECK_I64(tally.exact, 48);
    CHECK_I64(tally.deviations, 0);
}

/* Answers a document; the caller releases it. NULL after a failure. */
static json_t *answer_to(const char *text)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    json_t *const input = json_loads(text, 0, NULL);
    json_t *answer = NULL;

    if (!CHECK(input != NULL) || decide_answer(input, &answer, &error) != WEIR_OK)
        fprintf(stderr, "%s\n", error.text);
    json_decref(input);
    return answer;
}

static const json_t *at(const json_t *list, size_t index)
{
    return json_array_get(list, index);
}

static void a_pass_that_cannot_place_a_requested_worker_says_so(void)
{
    json_t *const answer =
        answer_to("{\"op\": \"autoscale\", \"cluster\": {\"nodes\": [{\"id\": \"n\", \"cpus\": 2,"
                  " \"gpus\": []}]}, \"stages\": [{\"name\": \"a\", \"batch\": 1, \"shape\": "
                  "{\"kind\": \"cpu\", \"cpus\": 1}, \"requested\": 3, \"speed\": 1}]}");
    const char *const text = json_string_value(json_object_get(answer, "error"));

    CHECK(text != NULL &&
          strncmp(text, "Unable to allocate requested workers for stage a:", 49) == 0);
    json_decref(answer);
}

static void workers_that_do_not_fit_together_are_a_panic(void)
{
    json_t *const answer = answer_to(
        "{\"op\": \"autoscale\", \"cluster\": {\"nodes\": [{\"id\": \"n\", \"cpus\": 2, \"gpus\": "
        "[]}]}, \"stages\": [{\"name\": \"a\", \"batch\": 1, \"shape\": {\"kind\": \"cpu\", "
        "\"cpus\": 3}, \"speed\": 1, \"workers\": [{\"id\": \"0\", \"resources\": [{\"node\": "
        "\"n\", \"cpus\": 3, \"gpus\": []}]}]}]}");

    CHECK(json_is_string(json_object_get(answer, "panic")));
    json_decref(answer);
}

/* A whole-GPU worker in N takes the first free GPUs of a node, in C any combination. */
static void the_version_follows_from_the_document(void)
{
    static const char format[] =
        "{\"op\": \"place\", \"cluster\": {\"nodes\": [{\"id\": \"n\", \"cpus\": 8, \"gpus\": "
        "[{\"used\": 0%s}, {\"used\": 0}, {\"used\": 0}]}]}, \"workload\": [], \"shape\": "
        "{\"resources\": {\"cpus\": 1, \"gpus\": 2}}}";
    char text[512];

    snprintf(text, sizeof text, format, "");
    json_t *const n = answer_to(text);
    snprintf(text, sizeof text, format, ", \"nvdecs\": 1");
    json_t *const c = answer_to(text);
    CHECK_I64(json_array_size(json_object_get(n, "candidates")), 1);
    CHECK_I64(json_array_size(json_object_get(c, "candidates")), 3);
    /* CPUs are for each GPU in N, for the worker in C. */
    CHECK_NEAR(json_number_value(json_object_get(json_object_get(n, "resources"), "cpus")), 2, 0);
    CHECK_NEAR(json_number_value(json_object_get(json_object_get(c, "resources"), "cpus")), 1, 0);
    json_decref(n);
    json_decref(c);
}

/* In C a whole GPU comes with its engines 0 to k-1; where one of them is taken it is lost. */
static void whole_gpus_of_version_c_insist_on_the_lowest_engines(void)
{
    json_t *const answer = answer_to(
        "{\"op\": \"place\", \"cluster\": {\"nodes\": [{\"id\": \"n\", \"cpus\": 8, \"gpus\": "
        "[{\"nvdecs\": 2}, {\"nvdecs\": 2}]}]}, \"workload\": [], \"placed\": [{\"node\": \"n\", "
        "\"cpus\": 0, \"gpus\": [], \"nvdecs\": [{\"gpu\": 0, \"codec\": 0}]}], \"shape\": "
        "{\"resources\": {\"cpus\": 1, \"gpus\": 1, \"nvdecs\": 1}}}");
    const json_t *const resources = json_object_get(answer, "resources");

    CHECK_I64(json_array_size(json_object_get(answer, "candidates")), 1);
    CHECK_I64(
        json_integer_value(json_object_get(at(json_object_get(resources, "gpus"), 0), "offset")),
        1);
    json_decref(answer);
}

/* Groups on several nodes: taken whole, counted as one, given back whole. */
static void groups_of_nodes_are_one_worker(void)
{
    json_t *const answer = answer_to(
        "{\"op\": \"autoscale\", \"id_start\": 7, \"cluster\": {\"nodes\": ["
        "{\"id\": \"b\", \"cpus\": 4, \"gpus\": [{\"used\": 0}, {\"used\": 0}]},"
        "{\"id\": \"a\", \"cpus\": 4, \"gpus\": [{\"used\": 0}, {\"used\": 0}]},"
        "{\"id\": \"c\", \"cpus\": 4, \"gpus\": [{\"used\": 0}, {\"used\": 0}]},"
        "{\"id\": \"d\", \"cpus\": 4, \"gpus\": [{\"used\": 0}]}]}, \"stages\": ["
        "{\"name\": \"old\", \"batch\": 1, \"requested\": 0, \"speed\": 1, \"shape\": {\"kind\": "
        "\"spmd_multi\", \"actors\": 4, \"cpus_per_actor\": 1, \"gpus_in_node\": 2}, \"workers\": "
        "[{\"id\": \"x\", \"resources\": [{\"node\": \"b\", \"cpus\": 2, \"gpus\": [{\"offset\": 0,"
        " \"fraction\": 1}, {\"offset\": 1, \"fraction\": 1}]}, {\"node\": \"c\", \"cpus\": 2, "
        "\"gpus\": [{\"offset\": 0, \"fraction\": 1}, {\"offset\": 1, \"fraction\": 1}]}]}]},"
        "{\"name\": \"new\", \"batch\": 1, \"requested\": 1, \"speed\": 1, \"shape\": "
        "{\"resources\": {\"cpus\": 1, \"gpus\": 6, \"spmd\": true}}},"
        "{\"name\": \"cpu\", \"batch\": 1, \"requested\": 1, \"speed\": 1, \"shape\": {\"kind\": "
        "\"cpu\", \"cpus\": 1}}]}");
    const json_t *const stages = json_object_get(answer, "stages");
    const json_t *const group = at(json_object_get(at(stages, 1), "new_workers"), 0);
    const json_t *const single = at(json_object_get(at(stages, 2), "new_workers"), 0);
    static const char *const nodes[] = { "a", "b", "c" };

    CHECK_STR(json_string_value(at(json_object_get(at(stages, 0), "deleted_ids"), 0)), "x");
    CHECK_I64(json_integer_value(json_object_get(at(stages, 0), "workers_after")), 0);
    CHECK_I64(json_array_size(json_object_get(group, "resources")), 3);
    for (size_t i = 0; i < 3; i++)
        CHECK_STR(
            json_string_value(json_object_get(at(json_object_get(group, "resources"), i), "node")),
            nodes[i]);
    CHECK_STR(json_string_value(json_object_get(group, "id")), "7");
    CHECK_STR(json_string_value(json_object_get(single, "id")), "8");
    json_decref(answer);
}

static void an_allocator_refuses_what_the_reference_refuses(void)
{
    json_t *const answer = answer_to(
        "{\"op\": \"allocator\", \"cluster\": {\"nodes\": [{\"id\": \"n\", \"cpus\": 2, "
        "\"gpus\": []}]}, \"steps\": [{\"add\": {\"id\": \"a\", \"node\": \"n\", \"cpus\": 2, "
        "\"gpus\": []}}, {\"add\": {\"id\": \"a\", \"node\": \"n\", \"cpus\": 0}}, {\"add\": "
        "{\"id\": \"b\", \"node\": \"n\", \"cpus\": 1}}, {\"remove\": \"c\"}, {\"remove\": "
        "\"a\"}]}");
    static const char *const results[] = { "ok", "DuplicateWorkerId", "NotEnoughResources",
                                           "WorkerNotFound", "ok" };
    static const double used[] = { 2, 2, 2, 2, 0 };

    for (size_t i = 0; i < 5; i++) {
        const json_t *const step = at(json_object_get(answer, "steps"), i);
        CHECK_STR(json_string_value(json_object_get(step, "result")), results[i]);
        CHECK_NEAR(json_number_value(
                       json_object_get(at(json_object_get(step, "cluster"), 0), "used_cpus")),
                   used[i], 0);
    }
    json_decref(answer);
}

static void a_wrong_answer_is_found(void)
{
    static const char text[] =
        "{\"id\": \"x\", \"input\": {\"op\": \"slots\", \"num_workers\": [1], \"current_slots\": "
        "[2], \"speeds\": [3]}, \"expected\": {\"slots\": [%d]}}";
    char path[] = "/tmp/weir-xenna-XXXXXX";
    const int descriptor = mkstemp(path);
    FILE *const file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
    struct decide_tally tally = { 0 };

    if (!CHECK(file != NULL))
        return;
    fputc('[', file);
    fprintf(file, text, 6);
    fputc(',', file);
    fprintf(file, text, 7);
    fputc(']', file);
    fclose(file);
    CHECK_I64(decide_check_file(path, NULL, &tally, NULL), WEIR_OK);
    remove(path);
    CHECK_I64(tally.exact, 1);
    CHECK_I64(tally.failed, 1);
}

static const struct test tests[] = {
    { "every case agrees with the reference", every_case_agrees },
    { "a pass that cannot place a requested worker says so",
      a_pass_that_cannot_place_a_requested_worker_says_so },
    { "workers that do not fit together are a panic",
      workers_that_do_not_fit_together_are_a_panic },
    { "the version follows from the document", the_version_follows_from_the_document },
    { "whole GPUs of version C insist on the lowest engines",
      whole_gpus_of_version_c_insist_on_the_lowest_engines },
    { "groups of nodes are one worker", groups_of_nodes_are_one_worker },
    { "an allocator refuses what the reference refuses",
      an_allocator_refuses_what_the_reference_refuses },
    { "a wrong answer is found", a_wrong_answer_is_found },
};

TEST_MAIN(tests)
