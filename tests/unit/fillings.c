/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many workers nodes can hold at all: small cases by hand, with parts, several GPUs, types of
 * nodes, and what the policy makes of a cluster.
 */
#include "sched/internal/alloc.h"
#include "sched/scaling/node_room.h"
#include "tests/support/check.h"
#include "tests/support/pipeline.h"

#define COUNT(list) ((uint32_t)(sizeof(list) / sizeof((list)[0])))

static bool all_stand[16] = { true, true, true, true, true, true, true, true };

static weir_status ask(const struct weir_allocator *memory,
                       const struct weir_filling_question *question, const double *counts,
                       bool *does)
{
    struct weir_fillings fillings;

    weir_fillings_open(&fillings, memory);
    weir_status status = weir_fillings_begin(&fillings, question);
    if (status == WEIR_OK)
        status = weir_fillings_pass(&fillings, counts, does);
    weir_fillings_close(&fillings);
    return status;
}

/* Whether so many of each pass, with a question of these items and nodes. */
static bool pass(const struct weir_filling_item *items, const struct weir_filling_node *nodes,
                 uint32_t node_count, const double *counts, uint32_t item_count)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    const struct weir_filling_question question = { .items = items,
                                                    .nodes = nodes,
                                                    .may_stand = all_stand,
                                                    .item_count = item_count,
                                                    .node_count = node_count,
                                                    .steps = 10 };
    bool does = false;

    CHECK_I64(ask(&memory, &question, counts, &does), WEIR_OK);
    return does;
}

/* Six GPUs hold ten workers of 0.6 in one pool, and six on nodes; of 0.4 twelve, and where both
 * stand on each GPU six of each. */
static void parts_are_of_one_gpu(void)
{
    static const struct weir_filling_item items[] = { { .part = 6 }, { .part = 4 } };
    static const struct weir_filling_node nodes[] = { { .cpus = 4, .gpus = 3, .count = 2 } };
    static const double six[] = { 6, 0 };
    static const double seven[] = { 7, 0 };
    static const double twelve[] = { 0, 12 };
    static const double both[] = { 6, 6 };
    static const double more[] = { 6, 7 };

    CHECK(pass(items, nodes, 1, six, 2));
    CHECK(!pass(items, nodes, 1, seven, 2));
    CHECK(pass(items, nodes, 1, twelve, 2));
    CHECK(pass(items, nodes, 1, both, 2));
    CHECK(!pass(items, nodes, 1, more, 2));
}

/* Four GPUs of two nodes: workers of three GPUs, of which a node holds one, leave one GPU each. */
static void several_gpus_are_of_one_node(void)
{
    static const struct weir_filling_item items[] = { { .gpus = 3 }, { .gpus = 1, .cpus = 1 } };
    static const struct weir_filling_node nodes[] = { { .cpus = 4, .gpus = 4, .count = 2 } };
    static const double fits[] = { 2, 2 };
    static const double large[] = { 2.1, 0 };
    static const double small[] = { 2, 2.1 };

    CHECK(pass(items, nodes, 1, fits, 2));
    CHECK(!pass(items, nodes, 1, large, 2));
    CHECK(!pass(items, nodes, 1, small, 2));
}

/* CPUs that GPUs leave, on nodes with and without. Workers of no size need no room. */
static void cpus_are_of_each_type_of_node(void)
{
    static const struct weir_filling_item items[] = { { .cpus = 3 },
                                                      { .gpus = 1, .cpus = 2 },
                                                      { 0 } };
    static const struct weir_filling_node nodes[] = { { .cpus = 7, .gpus = 2, .count = 1 },
                                                      { .cpus = 8, .count = 3 } };
    static const double fits[] = { 7, 2, 1e6 };
    static const double more[] = { 7.1, 2, 0 };
    static const double idle[] = { 8, 0, 0 };

    CHECK(pass(items, nodes, 2, fits, 3));
    CHECK(!pass(items, nodes, 2, more, 3));
    CHECK(pass(items, nodes, 2, idle, 3));
}

/* The most between two rates of pools whose workers make 1 a second each. */
static weir_status find_most(const struct weir_allocator *memory, struct weir_host *host,
                             uint32_t pool_count, double low_per_s, double *most_per_s)
{
    struct weir_run_pool pools[4] = { { .rate_per_s = 1 }, { .rate_per_s = 1 } };
    const struct weir_run run = { .view = weir_host_view(host, 0),
                                  .count = pool_count,
                                  .pools = pools };
    struct weir_node_room room;

    weir_node_room_open(&room, memory);
    weir_status status = weir_node_room_begin(&room, &run);
    if (status == WEIR_OK)
        status = weir_node_room_most(&room, &run, low_per_s, *most_per_s, most_per_s);
    weir_node_room_close(&room);
    return status;
}

static struct weir_host *host_of(uint32_t nodes, double cpus, double of_worker)
{
    const struct test_stage stage = { .name = "one", .cpus = of_worker, .speed_per_s = 1 };
    const struct test_pipeline pipeline = {
        .nodes = nodes, .cpus = cpus, .stages = &stage, .stage_count = 1
    };
    const struct weir_host_config config = test_config("fgd_xenna", "weir");

    return test_host(&config, &pipeline);
}

static double most_of(double of_worker, double low_per_s, double high_per_s)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct weir_host *const host = host_of(3, 5, of_worker);

    CHECK_I64(find_most(&memory, host, 1, low_per_s, &high_per_s), WEIR_OK);
    weir_host_destroy(host);
    return high_per_s;
}

/* Three nodes of 5 CPUs hold two workers of 2 CPUs each, where one pool holds seven; of 1.25 CPUs
 * four, all that there is. */
static void the_most_is_of_whole_workers_on_nodes(void)
{
    CHECK_NEAR(most_of(2, 1, 7), 6, 0.01);
    CHECK_NEAR(most_of(2, 6, 7), 6, 0.01);
    CHECK_NEAR(most_of(1.25, 1, 12), 12, 1e-9);
    CHECK_NEAR(most_of(1.25, 1, 20), 12, 0.02);
}

/* One node of 5 CPUs and others of 6, 7 ...: workers of 2 leave a CPU on every second one. Eight
 * types hold 32 of them; of nine nobody says anything. */
static void of_many_types_of_nodes_nothing_is_said(void)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct weir_host *const host = host_of(1, 5, 2);

    for (uint32_t more = 1; more <= 8; more++) {
        const struct weir_node_spec node = { .size = sizeof node,
                                             .id = 100 + more,
                                             .cpu_units = (5 + more) * WEIR_ONE };
        double most_per_s = 100;
        CHECK_I64(weir_host_add_node(host, &node, NULL, NULL), WEIR_OK);
        CHECK_I64(find_most(&memory, host, 1, 1, &most_per_s), WEIR_OK);
        if (more == 7)
            CHECK_NEAR(most_per_s, 32, 0.1);
        if (more == 8)
            CHECK_NEAR(most_per_s, 100, 1e-9);
    }
    weir_host_destroy(host);
}

/* Three nodes hold six workers; with one down that has none four, with two that has them six. */
static void nodes_that_are_down_count_while_workers_stand_there(void)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct weir_host *const host = host_of(3, 5, 2);
    double most_per_s = 100;
    struct weir_alloc alloc;

    CHECK_I64(weir_host_set_node(host, 0, 0, 0), WEIR_OK);
    CHECK_I64(find_most(&memory, host, 1, 1, &most_per_s), WEIR_OK);
    CHECK_NEAR(most_per_s, 4, 0.01);
    CHECK_I64(weir_host_set_node(host, 0, WEIR_NODE_UP, 0), WEIR_OK);
    CHECK_I64(weir_place_first(weir_host_cluster(host), 0,
                               &weir_view_pool(weir_host_view(host, 0), 0)->shape, &alloc),
              WEIR_OK);
    CHECK_I64(weir_host_adopt_worker(host, 1, weir_pool_owner(0), &alloc, NULL), WEIR_OK);
    CHECK_I64(weir_host_set_node(host, 0, WEIR_NODE_UP | WEIR_NODE_CORDONED, 0), WEIR_OK);
    most_per_s = 100;
    CHECK_I64(find_most(&memory, host, 1, 1, &most_per_s), WEIR_OK);
    CHECK_NEAR(most_per_s, 6, 0.01);
    weir_host_destroy(host);
}

static void memory_may_run_out_anywhere(void)
{
    struct test_memory memory = { .has_failed = true };
    const struct weir_allocator allocator = test_allocator(&memory);
    struct weir_host *const host = host_of(3, 5, 2);
    uint64_t at = 0;

    while (memory.has_failed) {
        double most_per_s = 7;
        memory = (struct test_memory){ .fail_at = ++at };
        const weir_status status = find_most(&allocator, host, 1, 1, &most_per_s);
        CHECK_I64(status, memory.has_failed ? WEIR_ENOMEM : WEIR_OK);
        CHECK_I64(memory.blocks, 0);
    }
    CHECK(at > 12);
    weir_host_destroy(host);
}

static const struct test tests[] = {
    { "parts are of one GPU", parts_are_of_one_gpu },
    { "several GPUs are of one node", several_gpus_are_of_one_node },
    { "CPUs are of each type of node", cpus_are_of_each_type_of_node },
    { "the most is of whole workers on nodes", the_most_is_of_whole_workers_on_nodes },
    { "of many types of nodes nothing is said", of_many_types_of_nodes_nothing_is_said },
    { "nodes that are down count while workers stand there",
      nodes_that_are_down_count_while_workers_stand_there },
    { "memory may run out anywhere", memory_may_run_out_anywhere },
};

TEST_MAIN(tests)
