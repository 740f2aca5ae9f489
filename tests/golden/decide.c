/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The format of `weir decide`: what is refused and where it stands, versions, ids, its page in
 * docs/, and that an exported state gives the decision of the host that wrote it.
 */
#include "sim/cli/decide/decide.h"

#include "sim/cli/decide/decide_format.h"
#include "sim/cli/decide/decide_host.h"
#include "tests/support/check.h"
#include "tests/support/pipeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define POLICY "\"policy\": {\"placement\": \"best_fit\", \"scaling\": \"xenna\"}"
#define STAGE                                                                                      \
    "{\"name\": \"a\", \"batch_size\": 1, \"requested_workers\": 2, \"shape\": {\"type\": "        \
    "\"cpu_only\", \"cpus\": 1}}"
#define HEAD "{\"format\": \"weir-decision\", \"version\": 3, \"command\": \"autoscale\", "

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

/* The document of a node "n", one kind of jobs and whatever follows. */
#define JOBS(more)                                                                                 \
    HEAD "\"nodes\": [{\"id\": \"n\", \"cpus\": 4}], \"stages\": [], \"workloads\": [{\"name\": "  \
         "\"w\"}],\n\"job_kinds\": [{\"groups\": [{\"ranks\": 1, \"shape\": {\"type\": "           \
         "\"cpu_only\", \"cpus\": 1}}]}],\n" more ", " POLICY "}"

/* What is asked, and what is said of it. */
static const char *const mistakes[][2] = {
    { "{}", "1:1: format must be weir-decision" },
    { "[1]", "1:2: must be an object" },
    { "{\"a\": 1, \"a\": 2}", "f:1:12: duplicate object key near '\"a\"'" },
    { "{\"format\": \"weir-decision\", \"version\": 3, \"command\": \"fly\"}",
      "1:1: command must be autoscale, got fly" },
    { "{\"format\": \"weir-decision\", \"version\": 2}",
      "1:1: version must be 3, which weir explain --decide writes; got 2" },
    { "{\"format\": \"weir-decision\", \"version\": 4}",
      "1:1: version must be 3, which weir explain --decide writes; got 4" },
    { "{\"format\": \"yours\", \"version\": 3}", "1:1: format must be weir-decision" },
    { "{\"format\": \"weir-decision\", \"version\": 3}",
      "1:1: key 'command' is missing (`autoscale`)" },
    { "{\"op\": \"shape\"}", "1:1: format must be weir-decision" },
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
    { HEAD "\"next_worker\": 5, \"nodes\": [{\"id\": \"n\", \"cpus\": 1}],\n\"stages\": [], " POLICY
           "}",
      "1:95: nodes[0]: id must be a whole number beside next_worker" },
    { HEAD "\"nodes\": [], \"stages\": [],\n\"causes\": [\"jobs\", \"timr\"], " POLICY "}",
      "2:20: causes[1]: must be one of timer|wake|jobs|nodes|workers|capacity; near timer" },
    { HEAD "\"nodes\": [], \"stages\": [],\n\"seed\": -1, " POLICY "}",
      "2:1: seed: must be a whole number from 0 on, or a text of its digits" },
    { JOBS("\"jobs\": [{\"workload\": 0, \"id\": 1, \"kind\": 1}]"),
      "3:35: jobs[0]: kind: there are 1 job_kinds" },
    { JOBS("\"jobs\": [{\"workload\": 1, \"id\": 1, \"kind\": 0}]"),
      "3:10: jobs[0]: workload 1 of 1" },
    { JOBS("\"jobs\": [{\"workload\": 0, \"id\": 1, \"kind\": 0},\n{\"workload\": 0, "
           "\"id\": 1, \"kind\": 0}]"),
      "4:1: jobs[1]: it is known already" },
    { JOBS("\"jobs\": [{\"workload\": 0, \"id\": 1, \"kind\": 0, \"state\": \"runing\"}]"),
      "3:46: jobs[0].state: must be one of waiting|starting|running; near running" },
    { JOBS("\"jobs\": [{\"workload\": 0, \"id\": 1, \"kind\": 0, \"started\": 2}]"),
      "3:10: jobs[0]: 2 of its 1 ranks are there" },
    { JOBS("\"new_jobs\": [{\"workload\": 0, \"id\": 1}]"),
      "3:30: new_jobs[0]: id: it is not in jobs" },
    { JOBS("\"cuts\": [{\"node\": \"n\", \"gpu\": 0}]"),
      "3:10: cuts[0]: node 0 GPU 0 is not there or cannot be cut so" },
    { HEAD "\"nodes\": [], \"stages\": [], \"mig_tables\": [\n{\"name\": "
           "\"0123456789abcdef\", \"slices\": 7, \"slots\": 8, \"profiles\": []}], " POLICY "}",
      "2:2: mig_tables[0].name: must have at most 15 bytes" },
    { HEAD "\"nodes\": [], \"stages\": [],\n\"policy\": {\"placement\": \"best_fit\", "
           "\"scaling\": \"xenna\", \"scaling_memory\": [1]}}",
      "2:57: policy.scaling_memory: this policy remembers nothing" },
    { HEAD "\"nodes\": [], \"stages\": [],\n\"policy\": {\"placement\": \"best_fit\", "
           "\"scaling\": \"saturation_aware\", \"scaling_memory\": [1, 2]}}",
      "2:68: policy.scaling_memory: its memory is 14 numbers, got 2" },
    { HEAD "\"nodes\": [], \"stages\": [], \"policy\": {\"placement\": \"fgd\", \"scaling\": "
           "\"xenna\",\n\"queueing\": \"lifo\"}}",
      "2:1: policy.queueing: unknown policy lifo" },
};

static void mistakes_are_named_with_their_place(void)
{
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        char said[512];
        json_t *answer = NULL;
        ask(mistakes[i][0], said, &answer);
        CHECK_STR(said, mistakes[i][1]);
        CHECK(answer == NULL);
        json_decref(answer);
    }
}

/* In lines and in arrays every document has its own place. */
static void a_mistake_in_a_later_document_has_its_line(void)
{
    char said[512];
    json_t *answer = NULL;

    ask(HEAD "\"nodes\": [], \"stages\": [], " POLICY "}\n\n" HEAD
             "\"max_actions\": -1, \"nodes\": [], \"stages\": [], " POLICY "}\n",
        said, &answer);
    CHECK_STR(said, "3:67: max_actions: must be within [0, 4.29497e+09], got -1");
    json_decref(answer);
    ask("[" HEAD "\"nodes\": [], \"stages\": [], " POLICY "},\n {\"command\": \"fly\"}]", said,
        &answer);
    CHECK_STR(said, "2:2: format must be weir-decision");
    json_decref(answer);
}

static const json_t *first_new(const json_t *answer)
{
    const json_t *const stage = json_array_get(json_object_get(answer, "stages"), 0);

    return json_array_get(json_object_get(stage, "new"), 0);
}

/* Ids that are numbers are their digits, in nodes and in workers, beside names or alone. */
static void numbers_as_ids_are_read_and_answered(void)
{
    static const char *const nexts[][2] = { { "", "n0" }, { "\"next_worker\": 9, ", "9" } };

    for (size_t i = 0; i < 2; i++) {
        char text[1024];
        char said[512];
        json_t *answer = NULL;
        (void)snprintf(
            text, sizeof text,
            HEAD "\"nodes\": [{\"id\": 12, \"cpus\": 4, \"gpus\": 0.0}], \"stages\": [" STAGE "], "
                 "\"workers\": [{\"id\": 5, \"stage\": \"a\", \"node\": \"12\", \"cpus\": 1}], "
                 "%s" POLICY "}",
            nexts[i][0]);
        ask(text, said, &answer);
        CHECK_STR(said, "");
        CHECK_STR(json_string_value(json_object_get(answer, "format")), "weir-decision-answer");
        CHECK_I64(json_integer_value(json_object_get(answer, "version")), 3);
        CHECK_STR(json_string_value(json_object_get(first_new(answer), "node")), "12");
        CHECK_STR(json_string_value(json_object_get(first_new(answer), "id")), nexts[i][1]);
        const json_t *const action = json_array_get(json_object_get(answer, "actions"), 0);
        CHECK_STR(json_string_value(json_object_get(action, "verb")), "start");
        CHECK_STR(json_string_value(json_object_get(action, "node")), "12");
        CHECK_STR(json_string_value(json_object_get(action, "id")), nexts[i][1]);
        json_decref(answer);
    }
}

/* Written by hand: a job is started where there is room, and one that must wait is denied. */
static void jobs_written_by_hand_are_started(void)
{
    char said[512];
    json_t *answer = NULL;

    ask(JOBS("\"jobs\": [{\"workload\": 0, \"id\": 8, \"kind\": 0}]"), said, &answer);
    CHECK_STR(said, "");
    const json_t *const actions = json_object_get(answer, "actions");
    CHECK_I64(json_array_size(actions), 1);
    CHECK_I64(json_integer_value(json_object_get(json_array_get(actions, 0), "job")), 8);
    CHECK_STR(json_string_value(json_object_get(json_array_get(actions, 0), "node")), "n");
    json_decref(answer);
    ask(JOBS("\"causes\": [\"jobs\"], \"may_start_jobs\": false, \"jobs\": [{\"workload\": 0, "
             "\"id\": 8, \"kind\": 0}]"),
        said, &answer);
    CHECK_I64(json_array_size(json_object_get(answer, "actions")), 0);
    json_decref(answer);
}

/* Three GPUs of the first island are held: two more are beside each other on the second one, and
 * what the host says of its nodes is read again. */
#define NEAR(topology)                                                                             \
    HEAD                                                                                           \
        "\"nodes\": [{\"id\": \"n\", \"cpus\": 16, \"gpus\": 8" topology                           \
        "}], \"stages\": [], \"workloads\": [{\"name\": \"w\"}], \"job_kinds\": [{\"groups\": "    \
        "[{\"ranks\": 1, \"shape\": {\"type\": \"whole_gpu\", \"cpus\": 1, \"gpus\": 3}}]}, "      \
        "{\"groups\": [{\"ranks\": 1, \"shape\": {\"type\": \"whole_gpu\", \"cpus\": 1, "          \
        "\"gpus\": "                                                                               \
        "2}}]}], \"jobs\": [{\"workload\": 0, \"id\": 1, \"kind\": 0}, {\"workload\": 0, \"id\": " \
        "2, \"kind\": 1}], " POLICY "}"
static int64_t second_job_at(const char *text)
{
    char said[512];
    json_t *answer = NULL;

    ask(text, said, &answer);
    CHECK_STR(said, "");
    const json_t *const action = json_array_get(json_object_get(answer, "actions"), 1);
    const json_t *const gpu = json_array_get(json_object_get(action, "gpus"), 0);
    CHECK_I64(json_integer_value(json_object_get(action, "job")), 2);
    const int64_t index = json_integer_value(json_object_get(gpu, "gpu"));
    json_decref(answer);
    return index;
}

static void islands_of_a_document_are_kept_to(void)
{
    CHECK_I64(second_job_at(NEAR("")), 3);
    CHECK_I64(second_job_at(NEAR(", \"island_gpus\": 4, \"rack\": 2")), 4);
    CHECK_I64(second_job_at(NEAR(", \"sockets\": 2")), 4);
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
    static const char *const kinds[] = { [DECIDE_NUMBER] = "number",
                                         [DECIDE_UNITS] = "number",
                                         [DECIDE_COUNT] = "whole number",
                                         [DECIDE_WHOLE] = "whole number",
                                         [DECIDE_WORD] = "whole number or its digits",
                                         [DECIDE_FLAG] = "flag",
                                         [DECIDE_CHOICE] = "word",
                                         [DECIDE_TEXT] = "text",
                                         [DECIDE_NAME] = "text",
                                         [DECIDE_ID] = "id",
                                         [DECIDE_OBJECT] = "object",
                                         [DECIDE_LIST] = "list",
                                         [DECIDE_PARAMS] = "object",
                                         [DECIDE_TYPES] = "whole number or list of whole number" };
    const char *const words = key->choices != NULL ? key->choices : "";
    char type[192];
    size_t used = 0;

    if (key->of != NULL)
        (void)snprintf(type, sizeof type, "%s of %s", kinds[key->kind], key->of->name);
    else
        used = (size_t)snprintf(type, sizeof type, "%s%s%s", kinds[key->kind],
                                key->kind == DECIDE_LIST ? " of " : "",
                                key->kind == DECIDE_LIST ? kinds[key->element] : "");
    for (const char *at = words; *at != '\0'; at += strcspn(at, "|") + (strchr(at, '|') != NULL))
        used += (size_t)snprintf(type + used, sizeof type - used, "%s`%.*s`",
                                 at == words ? ": " : ", ", (int)strcspn(at, "|"), at);
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

/* What only controllers do: nodes and stages that are gone, a GPU that is ill, a cap on actions. */
static void gaps_and_limits_are_exported_too(void)
{
    const struct test_pipeline pipeline = test_reference(3, true);
    const struct weir_host_config config = test_config("random", "xenna");
    struct weir_host *const host = test_host(&config, &pipeline);
    const struct weir_call call = { .size = sizeof call,
                                    .causes = WEIR_CAUSE_NODES | WEIR_CAUSE_WORKERS,
                                    .now_ns = 5,
                                    .max_actions = 2 };
    const struct weir_pool_spec gone = { .size = sizeof gone,
                                         .name = "gone",
                                         .requested_workers = -1,
                                         .batch_size = 1,
                                         .slots = 2,
                                         .speed_hint_per_s = (double)NAN,
                                         .shape = { .kind = WEIR_SHAPE_CPU,
                                                    .cpu_units = WEIR_ONE } };
    const struct weir_estimate slower = { .batches_per_s = 0.05, .returns_per_batch = 1 };
    const struct weir_plan *plan;
    char *text = NULL;
    size_t size = 0;
    uint32_t index = 0;
    json_t *answer = NULL;
    char said[512];

    const struct weir_node_spec far = { .size = sizeof far,
                                        .id = 99,
                                        .topology = { .sockets = 2, .rack = 3 } };
    CHECK_I64(weir_host_add_node(host, &far, NULL, NULL), WEIR_OK);
    CHECK_I64(weir_host_add_pool(host, &gone, &index, NULL), WEIR_OK);
    CHECK_I64(weir_host_remove_pool(host, index, NULL), WEIR_OK);
    CHECK_I64(test_step(host, NULL), WEIR_OK);
    CHECK_I64(weir_host_remove_node(host, 1, 2), WEIR_OK);
    CHECK_I64(weir_host_set_gpu_health(host, 0, 2, false), WEIR_OK);
    CHECK_I64(weir_host_set_estimate(host, 2, slower), WEIR_OK);
    FILE *const file = open_memstream(&text, &size);
    const struct weir_sink sink = { .write = append, .state = file };
    CHECK_I64(weir_host_export_call(host, &call, &sink), WEIR_OK);
    fclose(file);
    CHECK(strstr(text, "\"sockets\": 2, \"rack\": 3") != NULL);
    ask(text, said, &answer);
    CHECK_STR(said, "");
    CHECK_I64(weir_host_decide(host, &call, &plan, NULL), WEIR_OK);
    CHECK(weir_plan_count(plan) > 2); /* two, and the wish to go on */
    CHECK(weir_plan_count(plan) > 2 && weir_plan_action(plan, 2)->verb == WEIR_VERB_WAKE);
    json_t *const nodes = json_pack("[s, s, s, s]", "0", "1", "2", "3");
    for (uint32_t i = 0; i < 4; i++)
        json_array_set_new(
            nodes, i,
            json_sprintf("%llu",
                         (unsigned long long)weir_cluster_node(weir_host_cluster(host), i)->id));
    const struct decide_names names = { .nodes = nodes, .is_numbered = true };
    json_t *const actions = decide_actions_json(plan, &names);
    CHECK(json_equal(actions, json_object_get(answer, "actions")));
    json_decref(actions);
    json_decref(nodes);
    json_decref(answer);
    free(text);
    weir_host_destroy(host);
}

#define ALL                                                                                        \
    "{\"type\": \"cpu_only\", \"cpus\": 1, \"gpus\": 0, \"nvdecs\": 0, \"nvencs\": 0, "            \
    "\"ram_bytes\": 0, \"gpu_mem_bytes\": 0, \"gpu_type\": null, \"codec_same_gpu\": false}"

/* A document that says only what is needed is that of which all is said, as the host that hears it
 * writes it: each default stands in docs/decide.md. */
static void what_is_left_out_is_its_default(void)
{
    static const char said[] =
        HEAD "\"nodes\": [{\"id\": \"n\", \"cpus\": 4, \"gpus\": 1}], \"stages\": [" STAGE "], "
             "\"workloads\": [{\"name\": \"w\"}], \"job_kinds\": [{\"groups\": [{\"ranks\": 1, "
             "\"shape\": {\"type\": \"cpu_only\", \"cpus\": 1}}]}], \"jobs\": [{\"workload\": 0, "
             "\"id\": 8, \"kind\": 0}], " POLICY "}";
    static const char written[] =
        "{\"format\": \"weir-decision\", \"version\": 3, \"command\": \"autoscale\", \"time_ns\": "
        "0, \"causes\": [\"timer\"], \"seed\": \"0\", \"decision\": \"0\", \"next_worker\": \"1\", "
        "\"may_start_jobs\": true, \"nodes\": [{\"id\": \"0\", \"cpus\": 4, \"ram_bytes\": 0, "
        "\"type\": 0, \"up\": true, \"cordoned\": false, \"gpu_list\": [{\"fraction\": 1, "
        "\"nvdecs\": 0, \"nvencs\": 0, \"type\": 0, \"mem_bytes\": 0}]}], \"stages\": [{\"name\": "
        "\"a\", \"pipeline\": 0, \"shape\": " ALL
        ", \"batch_size\": 1, \"requested_workers\": 2, \"over_provision_factor\": null, "
        "\"speed_hint\": null, \"finished\": false, \"ready\": 0, \"busy\": 0, \"queued_items\": "
        "0}], \"slots\": [2], \"estimates\": [{\"batches_per_s\": null, \"returns_per_batch\": "
        "null, \"points\": 0}], \"workers\": [], \"workloads\": [{\"name\": \"w\"}], "
        "\"job_kinds\": [{\"groups\": [{\"ranks\": 1, \"shape\": " ALL
        "}]}], \"jobs\": [{\"workload\": 0, \"id\": 8, \"kind\": 0, \"state\": \"waiting\", "
        "\"submit_ns\": 0, \"seed\": \"595075167274101672\"}], \"new_jobs\": "
        "[], \"policy\": "
        "{\"placement\":\"best_fit\",\"scaling\":\"xenna\",\"queueing\":\"first_fit\",\"queueing_"
        "params\":{},\"group_scorer\":\"ray\",\"group_report\":\"all\"}}";
    struct decide_documents documents;
    struct decide_host made;
    char *text = NULL;
    size_t size = 0;

    CHECK_I64(decide_documents_parse("f", said, strlen(said), &documents, NULL), WEIR_OK);
    const struct decide_question question = { .input = json_array_get(documents.list, 0) };
    CHECK_I64(decide_host_open(&made, &question, NULL), WEIR_OK);
    FILE *const file = open_memstream(&text, &size);
    const struct weir_sink sink = { .write = append, .state = file };
    CHECK_I64(weir_host_export_call(made.host, &made.call, &sink), WEIR_OK);
    fclose(file);
    json_t *const all = json_loads(text, 0, NULL);
    json_t *const wanted = json_loads(written, 0, NULL);
    json_object_del(json_object_get(all, "policy"), "placement_params");
    json_object_del(json_object_get(all, "policy"), "scaling_params");
    if (!CHECK(wanted != NULL && json_equal(all, wanted)))
        puts(text);
    json_decref(wanted);
    json_decref(all);
    free(text);
    decide_host_close(&made);
    decide_documents_clear(&documents);
}

/* The last type that a set has room for is one of it, and no other beyond. */
static void sets_of_types_end_where_they_end(void)
{
    const int last = WEIR_GPU_TYPE_SET_MOST - 1;
    const int types[] = { -1, 0, last, last + 1 };
    for (size_t i = 0; i < 4; i++) {
        char text[600];
        char said[512];
        json_t *answer = NULL;
        (void)snprintf(text, sizeof text,
                       HEAD
                       "\"nodes\": [{\"id\": \"n\", \"cpus\": 4}], \"stages\": [{\"name\": \"a\", "
                       "\"batch_size\": 1, \"requested_workers\": 2, \"shape\": {\"type\": "
                       "\"cpu_only\", \"cpus\": 1, \"gpu_type\": [%d]}}], " POLICY "}",
                       types[i]);
        ask(text, said, &answer);
        const bool is_refused = strstr(said, "gpu_type[0]") != NULL;
        if (!CHECK_I64(is_refused, i == 0 || i == 3))
            printf("%s\n", said);
        json_decref(answer);
    }
}

static const struct test tests[] = {
    { "sets of types end where they end", sets_of_types_end_where_they_end },
    { "mistakes are named with their place", mistakes_are_named_with_their_place },
    { "a mistake in a later document has its line", a_mistake_in_a_later_document_has_its_line },
    { "numbers as ids are read and answered", numbers_as_ids_are_read_and_answered },
    { "jobs written by hand are started", jobs_written_by_hand_are_started },
    { "islands of a document are kept to", islands_of_a_document_are_kept_to },
    { "what is left out is its default", what_is_left_out_is_its_default },
    { "the page has every key", the_page_has_every_key },
    { "an exported state gives the same decision", an_exported_state_gives_the_same_decision },
    { "gaps and limits are exported too", gaps_and_limits_are_exported_too },
};

TEST_MAIN(tests)
