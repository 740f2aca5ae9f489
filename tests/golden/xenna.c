/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Known answers of the later versions of the reference (N, and C with codecs): every case, as
 * tests/replay judges them; and what the comparison must not let through.
 */
#include "sched/scaling/saturation.h"
#include "sim/cli/decide/decide_document.h"
#include "tests/replay/replay.h"
#include "tests/support/check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_file(const char *name, struct replay_tally *tally)
{
    char relative[512];
    struct weir_error error = { 0 };
    const uint32_t failed = tally->failed;

    snprintf(relative, sizeof relative, "golden/xenna/%s", name);
    const char *const path = test_data(relative);
    if (!CHECK(replay_check_file(path, NULL, tally, &error) == WEIR_OK))
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

/* Answers a document; the caller releases it. NULL after a failure. */
static json_t *answer_to(const char *text)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    json_t *const input = json_loads(text, 0, NULL);
    json_t *answer = NULL;

    if (!CHECK(input != NULL) || replay_answer(input, &answer, &error) != WEIR_OK)
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
    char both[768];
    char one[256];
    char other[256];

    (void)snprintf(one, sizeof one, text, 6);
    (void)snprintf(other, sizeof other, text, 7);
    (void)snprintf(both, sizeof both, "[%s, %s]", one, other);
    const struct replay_tally tally = tally_of(both);
    CHECK_I64(tally.exact, 1);
    CHECK_I64(tally.failed, 1);
}

/* A pass that ends with no room for a requested worker of the stage `pre:b`, beside a stage `pre`.
 */
static struct replay_tally tally_of_refusal(const char *sentence)
{
    char text[1024];

    (void)snprintf(
        text, sizeof text,
        "{\"id\": \"x\", \"input\": {\"op\": \"autoscale\", \"cluster\": {\"nodes\": [{"
        "\"id\": \"n\", \"cpus\": 2, \"gpus\": []}]}, \"stages\": [{\"name\": \"pre\", "
        "\"batch\": 1, \"shape\": {\"kind\": \"cpu\", \"cpus\": 1}, \"speed\": 1}, {\"name\": "
        "\"pre:b\", \"batch\": 1, \"shape\": {\"kind\": \"cpu\", \"cpus\": 1}, "
        "\"requested\": 3, \"speed\": 1}]}, \"expected\": {\"error\": \"%s\"}}",
        sentence);
    return tally_of(text);
}

/* What could not be done and for which stage, in whatever words. */
static void refusals_agree_by_their_class(void)
{
    CHECK_I64(
        tally_of_refusal("Unable to allocate requested workers for stage pre:b: requested=3").ok,
        1);
    CHECK_I64(tally_of_refusal("unable to allocate requested workers. Stage: pre:b, used gpu=0").ok,
              1);
    CHECK_I64(tally_of_refusal("Unable to allocate requested workers").ok, 1);
    CHECK_I64(tally_of_refusal("Unable to allocate requested workers for stage pre").failed, 1);
    CHECK_I64(tally_of_refusal("Unable to allocate minimum worker for stage pre:b").failed, 1);
    CHECK_I64(tally_of_refusal("Something else").failed, 1);
}

/* Added whole or not at all: after a refusal the cluster is as before. */
static void a_list_is_added_whole_or_not_at_all(void)
{
    json_t *const answer =
        answer_to("{\"op\": \"allocator\", \"cluster\": {\"nodes\": [{\"id\": \"n\", \"cpus\": 4, "
                  "\"gpus\": []}]}, \"steps\": ["
                  "{\"add\": [{\"id\": \"a\", \"node\": \"n\", \"cpus\": 1}, {\"id\": \"b\", "
                  "\"node\": \"n\", \"cpus\": 2}]}, "
                  "{\"add_workers\": [{\"id\": \"c\", \"node\": \"n\", \"cpus\": 1}, {\"id\": "
                  "\"d\", \"node\": \"n\", \"cpus\": 1}]}, "
                  "{\"add\": [{\"id\": \"c\", \"node\": \"n\", \"cpus\": 1}, {\"id\": \"c\", "
                  "\"node\": \"n\", \"cpus\": 0}]}, "
                  "{\"add\": [{\"id\": \"c\", \"node\": \"n\", \"cpus\": 1}, {\"id\": \"a\", "
                  "\"node\": \"n\", \"cpus\": 0}]}, "
                  "{\"add\": {\"id\": \"c\", \"node\": \"n\", \"cpus\": 1}}, {\"remove\": [\"a\", "
                  "\"x\"]}, {\"remove\": [\"a\", \"c\"]}]}");
    static const char *const results[] = { "ok",
                                           "NotEnoughResources",
                                           "DuplicateWorkerId",
                                           "DuplicateWorkerId",
                                           "ok",
                                           "WorkerNotFound",
                                           "ok" };
    static const double used[] = { 3, 3, 3, 3, 4, 4, 2 };

    for (size_t i = 0; i < 7; i++) {
        const json_t *const step = at(json_object_get(answer, "steps"), i);
        CHECK_STR(json_string_value(json_object_get(step, "result")), results[i]);
        CHECK_NEAR(json_number_value(
                       json_object_get(at(json_object_get(step, "cluster"), 0), "used_cpus")),
                   used[i], 0);
    }
    json_decref(answer);
}

static void what_is_not_of_the_format_is_no_answer(void)
{
    static const char *const questions[][2] = {
        { "{\"op\": \"allocator\", \"cluster\": {\"nodes\": []}, \"steps\": [{\"move\": \"a\"}]}",
          "steps[0]: a step must be add or remove of workers" },
        { "{\"op\": \"allocator\", \"cluster\": {\"nodes\": []}, \"steps\": [{\"remove\": 7}]}",
          "steps[0]: remove must name ids of workers" },
        { "{\"op\": \"fly\"}", "unknown op fly; known are shape, frag, place, delete, slots, "
                               "estimate, allocator, autoscale and saturation_aware" },
        { "{\"command\": \"fly\"}", "unknown command fly; known are autoscale, place, remove, "
                                    "fragmentation, shape, slots and naive" },
    };

    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        json_t *const input = json_loads(questions[i][0], 0, NULL);
        struct weir_error error = { 0 };
        json_t *answer = NULL;
        CHECK_I64(replay_answer(input, &answer, &error), WEIR_EFORMAT);
        CHECK_STR(error.text, questions[i][1]);
        CHECK(answer == NULL);
        json_decref(input);
    }
}

/* The original checks 0.6 and 0.6 of one GPU apart; what is right then is what they are together.
 */
static void parts_of_one_gpu_add_up(void)
{
    static const char format[] =
        "{\"id\": \"x\", \"input\": {\"op\": \"allocator\", \"cluster\": {\"nodes\": [{\"id\": "
        "\"n\", "
        "\"cpus\": 4, \"gpus\": [{}, {}]}]}, \"steps\": [{\"add\": {\"id\": \"a\", \"node\": "
        "\"n\", "
        "\"cpus\": 1, \"gpus\": [{\"offset\": 0, \"fraction\": 0.625}, {\"offset\": %d, "
        "\"fraction\": 0.625}]}}]}, \"expected\": {\"steps\": [{\"result\": \"ok\", \"cluster\": [{"
        "\"gpus_used\": [1.25, 0]}]}]}}";
    char text[1024];

    (void)snprintf(text, sizeof text, format, 0);
    CHECK_I64(tally_of(text).deviations, 1);
    (void)snprintf(text, sizeof text, format, 1);
    CHECK_I64(tally_of(text).failed, 1);
}

/* A stage that works and has some measurements, but too few, is warming. */
static void a_stage_with_few_measurements_is_warming(void)
{
    const struct weir_saturation_config config = weir_saturation_config_default();
    static const char *const reasons[] = { "pipeline_warming", "warming", "warming" };
    struct weir_saturation *rules = NULL;

    if (!CHECK(weir_saturation_create(NULL, &config, 1, &rules) == WEIR_OK))
        return;
    rules->pools[0].workers = 1;
    rules->pools[0].active = 3;
    for (uint32_t samples = 0; samples < 3; samples++) {
        const char *reason = NULL;
        rules->pools[0].samples = samples;
        CHECK_NEAR(weir_saturation_cap(rules, 0, 0, &reason), 2, 0);
        CHECK_STR(reason, reasons[samples]);
    }
    weir_saturation_destroy(rules);
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
    { "refusals agree by their class", refusals_agree_by_their_class },
    { "a list is added whole or not at all", a_list_is_added_whole_or_not_at_all },
    { "what is not of the format is no answer", what_is_not_of_the_format_is_no_answer },
    { "parts of one GPU add up", parts_of_one_gpu_add_up },
    { "a stage with few measurements is warming", a_stage_with_few_measurements_is_warming },
};

TEST_MAIN(tests)
