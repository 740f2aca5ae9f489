/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Placement groups by hand: the order of bundles, the four strategies, scorers, what fails and what
 * can never fit.
 */
#include "tests/support/check.h"
#include "weir/group.h"

#include <string.h>

enum { BUNDLES = 8 };

static const struct weir_shape CPU_ONE = { .kind = WEIR_SHAPE_CPU, .cpu_units = WEIR_ONE };
static const struct weir_shape CPU_TWO = { .kind = WEIR_SHAPE_CPU, .cpu_units = 2 * WEIR_ONE };
static const struct weir_shape CPU_FIVE = { .kind = WEIR_SHAPE_CPU, .cpu_units = 5 * WEIR_ONE };
static const struct weir_shape GPU_ONE = {
    .kind = WEIR_SHAPE_WHOLE, .gpu_count = 1, .cpu_units = WEIR_ONE, .gpu_units = WEIR_ONE
};
static const struct weir_shape GPU_MOST = { .kind = WEIR_SHAPE_FRACTIONAL,
                                            .gpu_count = 1,
                                            .gpu_units = WEIR_ONE * 9 / 10 };
static const struct weir_shape GPU_CRUMB = {
    .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .ram_bytes = 130, .gpu_units = WEIR_ONE / 10
};

struct lab {
    struct weir_cluster *cluster;
    struct weir_alloc allocs[BUNDLES];
    struct weir_group_answer answer;
    struct weir_error error;
};

/* Nodes with these numbers of CPUs, the same number of GPUs each, 1000 bytes. */
static struct lab open_lab(const uint32_t *cpus, uint32_t nodes, uint32_t gpus)
{
    struct lab lab = { .cluster = NULL };
    struct weir_gpu_spec specs[8];

    CHECK_I64(weir_cluster_create(NULL, &lab.cluster), WEIR_OK);
    for (uint32_t g = 0; g < gpus; g++)
        specs[g] = (struct weir_gpu_spec){ .units = WEIR_ONE };
    for (uint32_t n = 0; n < nodes; n++) {
        const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .gpu_count = gpus,
                                             .cpu_units = cpus[n] * WEIR_ONE,
                                             .ram_bytes = 1000,
                                             .gpus = specs };
        CHECK_I64(weir_cluster_add_node(lab.cluster, &spec, NULL, NULL), WEIR_OK);
    }
    return lab;
}

static weir_status place(struct lab *lab, uint32_t strategy, const struct weir_shape *bundles,
                         uint32_t count)
{
    const struct weir_group_query query = { .size = sizeof(struct weir_group_query),
                                            .scratch = lab->cluster,
                                            .bundles = bundles,
                                            .bundle_count = count,
                                            .strategy = strategy };
    const weir_status status =
        weir_group_place(NULL, &query, lab->allocs, &lab->answer, &lab->error);

    CHECK_I64(weir_cluster_worker_count(lab->cluster), 0);
    CHECK_I64(weir_cluster_check(lab->cluster, NULL), WEIR_OK);
    for (uint32_t n = 0; n < weir_cluster_node_count(lab->cluster); n++)
        CHECK_I64(weir_cluster_node(lab->cluster, n)->flags, WEIR_NODE_UP);
    return status;
}

static void check_nodes(const struct lab *lab, const uint32_t *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        CHECK_I64(lab->allocs[i].node, nodes[i]);
}

/* GPUs first, then memory, then CPUs: the GPU takes the emptiest node, which then has too few CPUs
 * for the five, and the small one follows the GPU. */
static void bundles_go_by_gpus_then_memory_then_cpus(void)
{
    struct lab lab = open_lab((const uint32_t[]){ 5, 5, 4 }, 3, 1);
    struct weir_shape with_memory = CPU_ONE;
    with_memory.ram_bytes = 1000;
    const struct weir_shape bundles[] = { CPU_ONE, CPU_FIVE, with_memory, GPU_ONE };

    CHECK_I64(place(&lab, WEIR_GROUP_PACK, bundles, 4), WEIR_OK);
    CHECK_I64(lab.answer.placed, 4);
    check_nodes(&lab, (const uint32_t[]){ 0, 1, 0, 0 }, 4);
    weir_cluster_destroy(lab.cluster);
}

/* The larger first, whatever their order: after the smaller neither node would have room for it. */
static void equal_but_for_cpus_the_larger_comes_first(void)
{
    struct lab lab = open_lab((const uint32_t[]){ 6, 4 }, 2, 0);
    const struct weir_shape bundles[] = { CPU_TWO, CPU_FIVE, CPU_TWO };

    CHECK_I64(place(&lab, WEIR_GROUP_PACK, bundles, 3), WEIR_OK);
    check_nodes(&lab, (const uint32_t[]){ 1, 0, 1 }, 3);
    weir_cluster_destroy(lab.cluster);
}

static void pack_fills_a_node_and_goes_on_to_the_next(void)
{
    struct lab lab = open_lab((const uint32_t[]){ 4, 5, 3 }, 3, 0);
    const struct weir_shape bundles[] = { CPU_TWO, CPU_TWO, CPU_TWO, CPU_ONE, CPU_TWO };

    CHECK_I64(place(&lab, WEIR_GROUP_PACK, bundles, 5), WEIR_OK);
    check_nodes(&lab, (const uint32_t[]){ 1, 1, 0, 1, 0 }, 5);
    weir_cluster_destroy(lab.cluster);
}

static void spread_takes_new_nodes_while_they_fit_and_then_used_ones(void)
{
    struct lab lab = open_lab((const uint32_t[]){ 4, 6, 1 }, 3, 0);
    const struct weir_shape bundles[] = { CPU_TWO, CPU_TWO, CPU_TWO, CPU_ONE };

    CHECK_I64(place(&lab, WEIR_GROUP_SPREAD, bundles, 4), WEIR_OK);
    check_nodes(&lab, (const uint32_t[]){ 1, 0, 1, 2 }, 4);
    weir_cluster_destroy(lab.cluster);
}

static void strict_pack_finds_the_one_node(void)
{
    struct lab lab = open_lab((const uint32_t[]){ 4, 9, 8 }, 3, 1);
    const struct weir_shape bundles[] = { CPU_TWO, CPU_FIVE, CPU_ONE };
    const struct weir_shape shares[] = { GPU_MOST, GPU_CRUMB };
    const struct weir_alloc crumb = { .node = 0,
                                      .device_count = 1,
                                      .devices = { { .units = WEIR_ONE / 5 } } };

    CHECK_I64(place(&lab, WEIR_GROUP_STRICT_PACK, bundles, 3), WEIR_OK);
    check_nodes(&lab, (const uint32_t[]){ 1, 1, 1 }, 3);
    CHECK_I64(place(&lab, WEIR_GROUP_STRICT_PACK, shares, 2), WEIR_OK);
    check_nodes(&lab, (const uint32_t[]){ 0, 0 }, 2);
    CHECK_I64(weir_cluster_add_worker(lab.cluster, 1, weir_pool_owner(0), &crumb, NULL), WEIR_OK);
    const struct weir_group_query query = { .size = sizeof(struct weir_group_query),
                                            .scratch = lab.cluster,
                                            .bundles = shares,
                                            .bundle_count = 2,
                                            .strategy = WEIR_GROUP_STRICT_PACK };
    CHECK_I64(weir_group_place(NULL, &query, lab.allocs, &lab.answer, NULL), WEIR_OK);
    check_nodes(&lab, (const uint32_t[]){ 1, 1 }, 2);
    CHECK_I64(weir_cluster_remove_worker(lab.cluster, 1, NULL), WEIR_OK);
    weir_cluster_destroy(lab.cluster);
}

/* Sums would do, devices do not: 2 GPUs free, shares of 0.7 three times. */
static void shares_are_counted_by_the_device(void)
{
    struct lab lab = open_lab((const uint32_t[]){ 4, 4 }, 2, 2);
    struct weir_shape bundles[BUNDLES] = { { .kind = 0 } };

    for (int i = 0; i < 5; i++)
        bundles[i] = (struct weir_shape){ .kind = WEIR_SHAPE_FRACTIONAL,
                                          .gpu_count = 1,
                                          .gpu_units = WEIR_ONE * 7 / 10 };
    CHECK_I64(place(&lab, WEIR_GROUP_PACK, bundles, 4), WEIR_OK);
    check_nodes(&lab, (const uint32_t[]){ 0, 0, 1, 1 }, 4);
    CHECK_I64(place(&lab, WEIR_GROUP_PACK, bundles, 5), WEIR_EBUSY);
    CHECK_I64(lab.answer.placed, 4);
    CHECK_I64(lab.answer.bundle, 4);
    CHECK_I64(lab.answer.reason, WEIR_REASON_GPU_FREE);
    CHECK_STR(lab.error.text, "pack: 4 of 5 bundles have a place, not bundle 4, most nodes: too "
                              "little free on a GPU");
    CHECK_I64(place(&lab, WEIR_GROUP_STRICT_PACK, bundles, 3), WEIR_EINFEASIBLE);
    bundles[2].gpu_units = WEIR_ONE * 6 / 10;
    CHECK_I64(place(&lab, WEIR_GROUP_STRICT_PACK, bundles, 3), WEIR_EBUSY);
    CHECK_I64(lab.answer.reason, WEIR_REASON_GPU_FREE);
    CHECK_STR(lab.error.text, "strict_pack: no node has room for all bundles now, most: too little "
                              "free on a GPU");
    weir_cluster_destroy(lab.cluster);
}

static void strict_spread_wants_a_node_for_each(void)
{
    struct lab lab = open_lab((const uint32_t[]){ 2, 3, 1 }, 3, 0);
    const struct weir_shape bundles[] = { CPU_ONE, CPU_TWO, CPU_ONE, CPU_ONE };
    const struct weir_shape twos[] = { CPU_TWO, CPU_TWO, CPU_TWO };
    const uint32_t used[] = { 1 };
    struct weir_group_query query = { .size = sizeof(struct weir_group_query),
                                      .scratch = lab.cluster,
                                      .bundles = bundles,
                                      .bundle_count = 2,
                                      .strategy = WEIR_GROUP_STRICT_SPREAD,
                                      .used_nodes = used,
                                      .used_count = 1 };

    CHECK_I64(place(&lab, WEIR_GROUP_STRICT_SPREAD, bundles, 3), WEIR_OK);
    check_nodes(&lab, (const uint32_t[]){ 0, 1, 2 }, 3);
    CHECK_I64(place(&lab, WEIR_GROUP_STRICT_SPREAD, bundles, 4), WEIR_EINFEASIBLE);
    CHECK_STR(lab.error.text, "4 bundles need as many nodes, there are 3");
    CHECK_I64(place(&lab, WEIR_GROUP_STRICT_SPREAD, twos, 3), WEIR_EBUSY);
    CHECK_I64(lab.answer.placed, 2);
    CHECK_I64(lab.answer.bundle, 2);
    /* A node that holds another bundle of the group is left out. */
    CHECK_I64(weir_group_place(NULL, &query, lab.allocs, &lab.answer, NULL), WEIR_OK);
    check_nodes(&lab, (const uint32_t[]){ 2, 0 }, 2);
    query.bundle_count = 3;
    CHECK_I64(weir_group_place(NULL, &query, lab.allocs, &lab.answer, NULL), WEIR_EINFEASIBLE);
    weir_cluster_destroy(lab.cluster);
}

/* There are two GPUs, uncut, of no type and without encoders: enough by sums. */
static void a_bundle_of_another_kind_of_gpu_is_told_what_it_lacks(void)
{
    struct lab lab = open_lab((const uint32_t[]){ 4 }, 1, 2);
    const struct weir_shape whole = { .kind = WEIR_SHAPE_WHOLE,
                                      .gpu_count = 1,
                                      .gpu_units = WEIR_ONE };
    struct weir_shape bundles[] = { whole, whole, whole };
    static const uint32_t reasons[] = { WEIR_REASON_MIG, WEIR_REASON_GPU_TYPE, WEIR_REASON_NVENC };

    bundles[0].kind = WEIR_SHAPE_SLICE;
    bundles[0].mig_slices = 7;
    bundles[1].gpu_type = 3;
    bundles[2].kind = WEIR_SHAPE_CODEC;
    bundles[2].gpu_units = 0;
    bundles[2].nvencs = 1;
    for (uint32_t i = 0; i < 3; i++) {
        CHECK_I64(place(&lab, WEIR_GROUP_PACK, &bundles[i], 1), WEIR_EINFEASIBLE);
        CHECK_I64(lab.answer.reason, reasons[i]);
    }
    weir_cluster_destroy(lab.cluster);
}

static void a_bundle_larger_than_any_node_is_infeasible_unless_ray_is_asked(void)
{
    struct lab lab = open_lab((const uint32_t[]){ 1, 1 }, 2, 0);
    const struct weir_shape bundles[] = { CPU_ONE, CPU_TWO };
    struct weir_group_query query = { .size = sizeof(struct weir_group_query),
                                      .scratch = lab.cluster,
                                      .bundles = bundles,
                                      .bundle_count = 2,
                                      .report = WEIR_GROUP_REPORT_STRICT };

    for (uint32_t s = 0; s < WEIR_GROUP_STRATEGY_COUNT; s++) {
        CHECK_I64(place(&lab, s, bundles, 2), WEIR_EINFEASIBLE);
        CHECK_I64(lab.answer.bundle, 1);
        CHECK_I64(lab.answer.reason, WEIR_REASON_CPU);
        CHECK_STR(lab.error.text, "bundle 1 (2 CPU) fits no node, even an empty one");
        query.strategy = s;
        CHECK_I64(weir_group_place(NULL, &query, lab.allocs, &lab.answer, NULL),
                  s == WEIR_GROUP_STRICT_PACK ? WEIR_EINFEASIBLE : WEIR_EBUSY);
    }
    weir_cluster_destroy(lab.cluster);
}

/* Ray Data issue: PACK takes the emptiest node for a small group; best_fit and fgd leave it. */
static void a_policy_can_be_the_scorer(void)
{
    struct lab lab = open_lab((const uint32_t[]){ 8, 8, 8 }, 3, 4);
    const struct weir_alloc held = { .node = 1,
                                     .device_count = 2,
                                     .cpu_units = 2 * WEIR_ONE,
                                     .devices = { { .gpu = 0, .units = WEIR_ONE },
                                                  { .gpu = 1, .units = WEIR_ONE } } };
    const struct weir_shape bundles[] = { GPU_ONE, GPU_ONE };
    const struct weir_shape all = { .kind = WEIR_SHAPE_WHOLE,
                                    .gpu_count = 4,
                                    .gpu_units = WEIR_ONE };
    const double one = 1;
    const struct weir_mix mix = { .shapes = &all, .frequencies = &one, .count = 1 };
    const struct weir_group_query query = { .size = sizeof(struct weir_group_query),
                                            .scratch = lab.cluster,
                                            .mix = &mix,
                                            .bundles = bundles,
                                            .bundle_count = 2,
                                            .strategy = WEIR_GROUP_STRICT_PACK };
    static const char *const names[] = { "best_fit", "fgd" };

    CHECK_I64(weir_cluster_add_worker(lab.cluster, 1, weir_pool_owner(0), &held, NULL), WEIR_OK);
    CHECK_I64(weir_group_place(NULL, &query, lab.allocs, &lab.answer, NULL), WEIR_OK);
    check_nodes(&lab, (const uint32_t[]){ 0, 0 }, 2);
    for (size_t i = 0; i < 2; i++) {
        struct weir_chooser *chooser = NULL;
        CHECK_I64(weir_chooser_create(weir_placement_find(names[i]), NULL, NULL, &chooser, NULL),
                  WEIR_OK);
        CHECK_I64(weir_group_place(chooser, &query, lab.allocs, &lab.answer, NULL), WEIR_OK);
        check_nodes(&lab, (const uint32_t[]){ 1, 1 }, 2);
        weir_chooser_destroy(chooser);
    }
    weir_cluster_destroy(lab.cluster);
}

static void nothing_and_nonsense(void)
{
    struct lab lab = open_lab((const uint32_t[]){ 1 }, 1, 0);
    const struct weir_shape multi = { .kind = WEIR_SHAPE_SPMD_MULTI,
                                      .gpu_count = 1,
                                      .gpu_units = WEIR_ONE,
                                      .node_count = 2,
                                      .node_gpus = 1 };

    for (uint32_t s = 0; s < WEIR_GROUP_STRATEGY_COUNT; s++) {
        CHECK_I64(place(&lab, s, NULL, 0), WEIR_OK);
        CHECK(strlen(weir_group_strategy_name(s)) > 3);
    }
    CHECK_I64(place(&lab, 99, &CPU_ONE, 1), WEIR_EINVAL);
    CHECK_STR(weir_group_strategy_name(99), "?");
    CHECK_I64(place(&lab, WEIR_GROUP_PACK, &multi, 1), WEIR_EINVAL);
    weir_cluster_destroy(lab.cluster);
}

/* A trainer and two small actors on one node: it has exactly room for them; two nodes that have it
 * together get none of them. The same once it is busy, which passes.
 * covers: S4.35 */
static void a_trainer_and_its_actors_are_on_one_node_or_nowhere(void)
{
    struct weir_shape trainer = GPU_ONE;
    trainer.cpu_units = 4 * WEIR_ONE;
    const struct weir_shape bundles[] = { trainer, CPU_ONE, CPU_ONE };
    const struct weir_alloc other = { .node = 0, .cpu_units = WEIR_ONE };
    static struct lab one;
    static struct lab two;

    one = open_lab((const uint32_t[]){ 6 }, 1, 1);
    two = open_lab((const uint32_t[]){ 4, 4 }, 2, 1);
    CHECK_I64(place(&one, WEIR_GROUP_STRICT_PACK, bundles, 3), WEIR_OK);
    check_nodes(&one, (const uint32_t[]){ 0, 0, 0 }, 3);
    CHECK_I64(place(&two, WEIR_GROUP_STRICT_PACK, bundles, 3), WEIR_EINFEASIBLE);
    CHECK_I64(place(&two, WEIR_GROUP_PACK, bundles, 3), WEIR_OK);
    CHECK_I64(
        weir_cluster_add_worker(one.cluster, 1, (struct weir_owner){ .index = 9 }, &other, NULL),
        WEIR_OK);
    const struct weir_group_query query = { .size = sizeof(struct weir_group_query),
                                            .scratch = one.cluster,
                                            .bundles = bundles,
                                            .bundle_count = 3,
                                            .strategy = WEIR_GROUP_STRICT_PACK };
    CHECK_I64(weir_group_place(NULL, &query, one.allocs, &one.answer, &one.error), WEIR_EBUSY);
    CHECK_I64(weir_cluster_worker_count(one.cluster), 1);
    weir_cluster_destroy(one.cluster);
    weir_cluster_destroy(two.cluster);
}

static const struct test tests[] = {
    { "a trainer and its actors are on one node or nowhere",
      a_trainer_and_its_actors_are_on_one_node_or_nowhere },
    { "equal but for CPUs the larger comes first", equal_but_for_cpus_the_larger_comes_first },
    { "bundles go by GPUs, then memory, then CPUs", bundles_go_by_gpus_then_memory_then_cpus },
    { "pack fills a node and goes on to the next", pack_fills_a_node_and_goes_on_to_the_next },
    { "spread takes new nodes while they fit, then used ones",
      spread_takes_new_nodes_while_they_fit_and_then_used_ones },
    { "strict pack finds the one node", strict_pack_finds_the_one_node },
    { "shares are counted by the device", shares_are_counted_by_the_device },
    { "strict spread wants a node for each", strict_spread_wants_a_node_for_each },
    { "a bundle of another kind of GPU is told what it lacks",
      a_bundle_of_another_kind_of_gpu_is_told_what_it_lacks },
    { "a bundle larger than any node is infeasible, unless Ray is asked",
      a_bundle_larger_than_any_node_is_infeasible_unless_ray_is_asked },
    { "a policy can be the scorer", a_policy_can_be_the_scorer },
    { "nothing and nonsense", nothing_and_nonsense },
};
TEST_MAIN(tests)
