/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The reference's known answers for single placement questions (commands place, remove and
 * fragmentation of golden/xenna-codec): candidates in order, their costs, the chosen one, the
 * victim, and F per node and shape. Asked of the plain and of the fast implementation.
 *
 * The reference takes engine ids of WHOLE workers from all ids, free or not; where that matters the
 * case is an error there and does not appear here.
 */
#include "sched/cluster/state.h"
#include "sched/placement/fgd.h"
#include "sched/placement/parts/scan.h"
#include "tests/support/check.h"
#include "tests/support/oracle_plain.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_MIX = 64, MAX_WORKERS = 4096 };

static const struct weir_fgd_rules REFERENCE = {
    .metric = WEIR_FRAG_XENNA,
    .tie = WEIR_FGD_MOST_FREE,
    .bonus_applies = WEIR_FGD_EVERYONE,
    .evict_tie = WEIR_FGD_EMPTIEST,
    .bonus = 10,
    .resolution = 0x1p-40,
};

/* One case, read. */
struct problem {
    struct weir_cluster *cluster;
    struct weir_shape shapes[MAX_MIX];
    double frequencies[MAX_MIX];
    struct weir_mix mix;
    const char *worker_names[MAX_WORKERS];
    uint32_t worker_count;
};

static double number(const json_t *object, const char *key)
{
    const json_t *const value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : 0;
}

static int64_t units(double amount)
{
    int64_t value = 0;

    CHECK_I64(weir_units_from_amount(amount, WEIR_QUANTUM_EXACT, &value, NULL), WEIR_OK);
    return value;
}

static struct weir_shape read_shape(const json_t *json)
{
    struct weir_shape shape = { .cpu_units = units(number(json, "cpus")) };
    const char *const type = json_string_value(json_object_get(json, "type"));
    const double gpus = number(json, "gpus");

    for (uint32_t kind = 0; kind < WEIR_SHAPE_KIND_COUNT; kind++) {
        if (strcmp(weir_shape_kind_name(kind), type) == 0)
            shape.kind = kind;
    }
    shape.nvdecs = (uint32_t)number(json, "nvdecs");
    shape.nvencs = (uint32_t)number(json, "nvencs");
    if (shape.kind == WEIR_SHAPE_FRACTIONAL) {
        shape.gpu_count = 1;
        shape.gpu_units = units(gpus);
    } else if (shape.kind == WEIR_SHAPE_WHOLE || shape.kind == WEIR_SHAPE_ENTIRE) {
        shape.gpu_count = (uint32_t)gpus;
        shape.gpu_units = WEIR_ONE;
    }
    return shape;
}

static struct weir_gpu_spec read_gpu(const json_t *node, const json_t *list, size_t index)
{
    const json_t *const gpu = json_array_get(list, index);

    if (gpu == NULL)
        return (struct weir_gpu_spec){ .nvdecs = (uint32_t)number(node, "nvdecs_per_gpu"),
                                       .nvencs = (uint32_t)number(node, "nvencs_per_gpu"),
                                       .units = WEIR_ONE };
    return (struct weir_gpu_spec){ .nvdecs = (uint32_t)number(gpu, "nvdecs"),
                                   .nvencs = (uint32_t)number(gpu, "nvencs"),
                                   .units = units(number(gpu, "fraction")) };
}

static void read_nodes(struct problem *problem, const json_t *nodes)
{
    for (size_t n = 0; n < json_array_size(nodes); n++) {
        const json_t *const node = json_array_get(nodes, n);
        const json_t *const list = json_object_get(node, "gpu_list");
        struct weir_gpu_spec gpus[WEIR_MAX_NODE_GPUS];
        const size_t count = list != NULL ? json_array_size(list) : (size_t)number(node, "gpus");
        for (size_t g = 0; g < count; g++)
            gpus[g] = read_gpu(node, list, g);
        const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .gpu_count = (uint32_t)count,
                                             .cpu_units = units(number(node, "cpus")),
                                             .gpus = gpus };
        CHECK_I64(weir_cluster_add_node(problem->cluster, &spec, NULL, NULL), WEIR_OK);
    }
}

static struct weir_device *device_of(struct weir_device *devices, bool *used, size_t gpu)
{
    devices[gpu].gpu = (uint32_t)gpu;
    used[gpu] = true;
    return &devices[gpu];
}

/* Node ids of the files are texts "0", "1", … in order. */
static struct weir_alloc read_alloc(const json_t *worker)
{
    struct weir_device devices[WEIR_MAX_NODE_GPUS] = { { .gpu = 0 } };
    bool used[WEIR_MAX_NODE_GPUS] = { false };
    struct weir_alloc alloc = {
        .node = (uint32_t)strtoul(json_string_value(json_object_get(worker, "node")), NULL, 10),
        .cpu_units = units(number(worker, "cpus")),
    };
    const json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(worker, "gpus"), i, entry)
        device_of(devices, used, (size_t)number(entry, "gpu"))
            ->units = units(number(entry, "fraction"));
    json_array_foreach(json_object_get(worker, "nvdecs"), i, entry)
        device_of(devices, used, (size_t)number(entry, "gpu"))
            ->nvdec_mask |= UINT32_C(1) << (uint32_t)number(entry, "index");
    json_array_foreach(json_object_get(worker, "nvencs"), i, entry)
        device_of(devices, used, (size_t)number(entry, "gpu"))
            ->nvenc_mask |= UINT32_C(1) << (uint32_t)number(entry, "index");
    for (size_t g = 0; g < WEIR_MAX_NODE_GPUS; g++) {
        if (used[g])
            alloc.devices[alloc.device_count++] = devices[g];
    }
    return alloc;
}

static uint32_t stage_of(const json_t *worker)
{
    return (uint32_t)(unsigned char)json_string_value(json_object_get(worker, "stage"))[0];
}

static void problem_open(struct problem *problem, const json_t *input)
{
    const json_t *entry;
    size_t i;

    memset(problem, 0, sizeof *problem);
    CHECK_I64(weir_cluster_create(NULL, &problem->cluster), WEIR_OK);
    read_nodes(problem, json_object_get(input, "nodes"));
    json_array_foreach(json_object_get(input, "workers"), i, entry)
    {
        const struct weir_alloc alloc = read_alloc(entry);
        struct weir_error error = { .phase = 0 };
        problem->worker_names[i] = json_string_value(json_object_get(entry, "id"));
        if (!CHECK_I64(weir_cluster_add_worker(problem->cluster, i,
                                               weir_pool_owner(stage_of(entry)), &alloc, &error),
                       WEIR_OK))
            printf("%s\n", error.text);
        problem->worker_count++;
    }
    json_array_foreach(json_object_get(input, "workload"), i, entry)
    {
        problem->frequencies[i] = number(entry, "frequency");
        problem->shapes[i] = read_shape(json_object_get(entry, "shape"));
        problem->mix.count++;
    }
    problem->mix.shapes = problem->shapes;
    problem->mix.frequencies = problem->frequencies;
}

static void check_alloc(const struct weir_alloc *actual, const json_t *expected)
{
    const struct weir_alloc wanted = read_alloc(expected);

    CHECK_I64(actual->node, wanted.node);
    CHECK_I64(actual->cpu_units, wanted.cpu_units);
    if (!CHECK_I64(actual->device_count, wanted.device_count))
        return;
    for (uint32_t d = 0; d < wanted.device_count; d++) {
        CHECK_I64(actual->devices[d].gpu, wanted.devices[d].gpu);
        CHECK_I64(actual->devices[d].units, wanted.devices[d].units);
        CHECK_I64(actual->devices[d].nvdec_mask, wanted.devices[d].nvdec_mask);
        CHECK_I64(actual->devices[d].nvenc_mask, wanted.devices[d].nvenc_mask);
    }
}

/* Walks through our candidates and the reference's list side by side. */
struct compare {
    const struct problem *problem;
    const struct weir_place_query *query;
    const json_t *expected;
    size_t position;
};

static bool compare_candidate(void *state, const struct weir_alloc *candidate)
{
    struct compare *const compare = state;
    const json_t *const expected = json_array_get(compare->expected, compare->position++);

    if (expected == NULL)
        return true; /* long lists are cut in the file */
    check_alloc(candidate, expected);
    const struct weir_score score = weir_fgd_plain_score(&REFERENCE, compare->query, candidate);
    const json_t *const cost = json_object_get(expected, "cost");
    CHECK_NEAR(score.primary, json_number_value(json_array_get(cost, 0)), 1e-9);
    CHECK_NEAR(score.secondary, json_number_value(json_array_get(cost, 1)), 1e-9);
    CHECK_NEAR(weir_frag_node(compare->problem->cluster, candidate->node, &compare->problem->mix,
                              WEIR_FRAG_XENNA),
               number(expected, "frag_before"), 1e-9);
    return true;
}

static void compare_candidates(const struct problem *problem, const struct weir_place_query *query,
                               const json_t *output)
{
    struct compare compare = { .problem = problem,
                               .query = query,
                               .expected = json_object_get(output, "candidates") };

    for (uint32_t r = 0; r < query->reusable_count; r++) {
        if (weir_cluster_fits(query->cluster, &query->reusable[r].alloc))
            (void)compare_candidate(&compare, &query->reusable[r].alloc);
    }
    for (uint32_t n = 0; n < weir_cluster_node_count(problem->cluster); n++) {
        const struct weir_candidate_query candidates = { .cluster = problem->cluster,
                                                         .shape = query->shape,
                                                         .node = n };
        (void)weir_candidates_visit(&candidates, compare_candidate, &compare);
    }
    CHECK_I64(compare.position, (int64_t)number(output, "num_candidates"));
}

static void check_answer(const struct weir_place_answer *answer, weir_status status,
                         const json_t *input, const json_t *output)
{
    const bool allocated = json_is_true(json_object_get(output, "allocated"));

    CHECK_I64(status, allocated ? WEIR_OK : WEIR_EBUSY);
    if (!allocated || status != WEIR_OK)
        return;
    check_alloc(&answer->alloc, json_object_get(output, "alloc"));
    const char *const reused = json_string_value(json_object_get(output, "reused"));
    CHECK_I64(answer->reused != WEIR_NO_INDEX, reused != NULL);
    if (reused != NULL && answer->reused != WEIR_NO_INDEX)
        CHECK_STR(json_string_value(json_object_get(
                      json_array_get(json_object_get(input, "reusable"), answer->reused), "id")),
                  reused);
}

static void run_place(const struct problem *problem, const json_t *input, const json_t *output)
{
    static struct weir_worker reusable[MAX_MIX];
    const struct weir_shape shape = read_shape(json_object_get(input, "shape"));
    struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                      .cluster = problem->cluster,
                                      .mix = &problem->mix,
                                      .shape = &shape,
                                      .reusable = reusable };
    struct weir_place_answer answer;
    struct weir_fgd *fast = NULL;
    const json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(input, "reusable"), i, entry)
    {
        reusable[i] = (struct weir_worker){ .id = 1000 + i, .alloc = read_alloc(entry) };
        query.reusable_count++;
    }
    compare_candidates(problem, &query, output);
    weir_status status = plain_fgd_place(&REFERENCE, &query, &answer, NULL);
    check_answer(&answer, status, input, output);
    CHECK_I64(answer.choice.candidates, (int64_t)number(output, "num_candidates"));
    if (status == WEIR_OK)
        CHECK_I64(answer.choice.ties, (int64_t)number(output, "num_tied"));
    CHECK_I64(weir_fgd_create(&REFERENCE, NULL, &fast), WEIR_OK);
    status = weir_fgd_place(fast, &query, &answer, NULL);
    check_answer(&answer, status, input, output);
    weir_fgd_destroy(fast);
}

static uint64_t worker_named(const struct problem *problem, const char *name)
{
    for (uint32_t i = 0; i < problem->worker_count; i++) {
        if (strcmp(problem->worker_names[i], name) == 0)
            return i;
    }
    CHECK_STR(name, "the name of a worker");
    return 0;
}

static void run_remove(const struct problem *problem, const json_t *input, const json_t *output)
{
    const char *const stage = json_string_value(json_object_get(input, "stage"));
    const json_t *const listed = json_object_get(input, "candidates");
    const double before = weir_frag_cluster(problem->cluster, &problem->mix, WEIR_FRAG_XENNA);
    uint64_t ids[MAX_MIX];
    struct weir_evict_query query = { .size = sizeof(struct weir_evict_query),
                                      .cluster = problem->cluster,
                                      .mix = &problem->mix,
                                      .owner =
                                          weir_pool_owner(stage != NULL ? (uint32_t)stage[0] : 0),
                                      .candidates = ids };
    struct weir_fgd *fast = NULL;
    uint64_t victim = 0;
    const json_t *entry;
    size_t i;

    CHECK_NEAR(before, number(output, "frag_before"), 1e-9);
    json_array_foreach(json_object_get(output, "candidates"), i, entry)
    {
        struct weir_worker worker;
        const char *const name = json_string_value(json_object_get(entry, "id"));
        CHECK(weir_cluster_worker(problem->cluster, worker_named(problem, name), &worker));
        CHECK_NEAR(before + weir_frag_change(problem->cluster, &problem->mix, WEIR_FRAG_XENNA,
                                             &worker.alloc, -1),
                   number(entry, "frag_after"), 1e-9);
        if (listed != NULL)
            ids[query.candidate_count++] = worker.id;
    }
    const char *const expected = json_string_value(json_object_get(output, "worker"));
    CHECK_I64(plain_fgd_evict(&REFERENCE, &query, &victim, NULL), WEIR_OK);
    CHECK_STR(problem->worker_names[victim], expected);
    CHECK_I64(weir_fgd_create(&REFERENCE, NULL, &fast), WEIR_OK);
    CHECK_I64(weir_fgd_evict(fast, &query, &victim, NULL), WEIR_OK);
    CHECK_STR(problem->worker_names[victim], expected);
    weir_fgd_destroy(fast);
}

static bool count_candidate(void *state, const struct weir_alloc *candidate)
{
    (void)candidate;
    ++*(uint32_t *)state;
    return true;
}

static void run_fragmentation_node(const struct problem *problem, uint32_t node, const json_t *json)
{
    const struct weir_cluster *const cluster = problem->cluster;

    CHECK_NEAR(weir_frag_node(cluster, node, &problem->mix, WEIR_FRAG_XENNA), number(json, "F"),
               1e-9);
    CHECK_NEAR(weir_units_amount(weir_stock_free(cluster, node)), number(json, "remaining_total"),
               1e-9);
    for (uint32_t s = 0; s < problem->mix.count; s++) {
        const struct weir_shape *const shape = &problem->shapes[s];
        const struct weir_candidate_query candidates = { .cluster = cluster,
                                                         .shape = shape,
                                                         .node = node };
        const bool can = json_is_true(json_array_get(json_object_get(json, "can_allocate"), s));
        const json_t *const possible =
            json_array_get(json_object_get(json, "num_possible_allocations"), s);
        uint32_t count = 0;
        CHECK_NEAR(weir_units_amount(weir_frag_units(cluster, node, shape, WEIR_FRAG_XENNA)),
                   json_number_value(json_array_get(json_object_get(json, "per_shape"), s)), 1e-9);
        CHECK_I64(weir_candidates_reason(cluster, shape, node) == WEIR_REASON_NONE, can);
        CHECK_I64(weir_candidates_visit(&candidates, count_candidate, &count),
                  json_integer_value(possible));
        CHECK_I64(count, json_integer_value(possible));
    }
}

static void run_fragmentation(const struct problem *problem, const json_t *output)
{
    const json_t *node;
    size_t n;

    CHECK_NEAR(weir_frag_cluster(problem->cluster, &problem->mix, WEIR_FRAG_XENNA),
               number(output, "cluster"), 1e-9);
    json_array_foreach(json_object_get(output, "nodes"), n, node)
        run_fragmentation_node(problem, (uint32_t)n, node);
}

/* Runs a case when it is one of ours; returns 1 then. */
static int run_case(const json_t *document, const char *command)
{
    static struct problem problem;
    const json_t *const input = json_object_get(document, "input");
    const json_t *const output = json_object_get(document, "output");
    const char *const given = json_string_value(json_object_get(input, "command"));

    if (given == NULL || strcmp(given, command) != 0 ||
        strcmp(json_string_value(json_object_get(output, "status")), "ok") != 0)
        return 0;
    problem_open(&problem, input);
    const unsigned failures = CU_get_number_of_failures();
    if (strcmp(command, "place") == 0)
        run_place(&problem, input, output);
    else if (strcmp(command, "remove") == 0)
        run_remove(&problem, input, output);
    else
        run_fragmentation(&problem, output);
    CHECK_I64(weir_cluster_check(problem.cluster, NULL), WEIR_OK);
    if (CU_get_number_of_failures() != failures)
        printf("  in case %s%lld\n",
               json_object_get(document, "seed") != NULL ? "seed " : "number ",
               (long long)(number(document, "seed") + number(document, "case")));
    weir_cluster_destroy(problem.cluster);
    return 1;
}

/* A file of the copy in tests/, or of the shared original. */
static const char *known_answers(const char *name)
{
    static char relative[256];

    (void)snprintf(relative, sizeof relative, "golden/xenna-codec/%s", name);
    const char *const kept = test_data(relative);
    FILE *const file = fopen(kept, "r");
    if (file == NULL)
        return test_shared(relative);
    (void)fclose(file);
    return kept;
}

static int run_lines(const char *command)
{
    const char *const path = known_answers("bulk.jsonl");
    FILE *const file = path != NULL ? fopen(path, "r") : NULL;
    char *line = NULL;
    size_t size = 0;
    int count = 0;

    CHECK(file != NULL);
    while (file != NULL && getline(&line, &size, file) > 0) {
        json_t *const document = json_loads(line, 0, NULL);
        CHECK(document != NULL);
        count += run_case(document, command);
        json_decref(document);
    }
    free(line);
    if (file != NULL)
        (void)fclose(file);
    return count;
}

static int run_file(const char *name, const char *command)
{
    const char *const path = known_answers(name);

    if (!CHECK(path != NULL))
        return 0;
    json_t *const document = json_load_file(path, 0, NULL);
    CHECK(document != NULL);
    const int count = run_case(document, command);
    json_decref(document);
    return count;
}

/* covers: S0.25 S0.28 S0.29 */
static void places_agree(void)
{
    CHECK_I64(run_lines("place"), 24);
    CHECK_I64(run_file("47_place_frac_pack.json", "place"), 1);
    CHECK_I64(run_file("49_place_whole_combinations.json", "place"), 1);
    CHECK_I64(run_file("51_place_reuse_tie.json", "place"), 1);
}

/* covers: S0.25 */
static void removals_agree(void)
{
    CHECK_I64(run_lines("remove"), 20);
    CHECK_I64(run_file("53_remove_frac.json", "remove"), 1);
}

/* covers: S0.26 S0.27 */
static void fragmentation_agrees(void)
{
    CHECK_I64(run_lines("fragmentation"), 21);
}

static const struct test tests[] = {
    { "places, candidates and costs are those of the reference", places_agree },
    { "the victims are those of the reference", removals_agree },
    { "fragmentation per node and shape is that of the reference", fragmentation_agrees },
};
TEST_MAIN(tests)
