/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Placing all members of a gang at once, and the room of an empty cluster.
 */
#include "sched/placement/parts/room.h"
#include "tests/support/check.h"
#include "weir/policy.h"

enum { GANG = 9 };

static const struct weir_shape HALF = {
    .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .cpu_units = WEIR_ONE, .gpu_units = WEIR_ONE / 2
};
static const struct weir_shape PAIR = { .kind = WEIR_SHAPE_WHOLE,
                                        .gpu_count = 2,
                                        .gpu_units = WEIR_ONE };

/* Two nodes of 8 CPUs and two GPUs with 80 bytes each. */
static struct weir_cluster *two_nodes(void)
{
    struct weir_cluster *cluster = NULL;
    const struct weir_gpu_spec gpus[2] = { { .units = WEIR_ONE, .mem_bytes = 80, .nvdecs = 3 },
                                           { .units = WEIR_ONE, .mem_bytes = 80, .nvdecs = 3 } };

    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (uint32_t n = 0; n < 2; n++) {
        const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .gpu_count = 2,
                                             .cpu_units = 8 * WEIR_ONE,
                                             .ram_bytes = 100,
                                             .gpus = gpus };
        CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
    }
    return cluster;
}

static struct weir_chooser *chooser_of(const char *policy)
{
    struct weir_chooser *chooser = NULL;

    CHECK_I64(weir_chooser_create(weir_placement_find(policy), NULL, NULL, &chooser, NULL),
              WEIR_OK);
    return chooser;
}

static void a_gang_gets_all_its_places_and_the_scratch_cluster_is_as_before(void)
{
    struct weir_cluster *const cluster = two_nodes();
    struct weir_place_answer answers[GANG];
    const struct weir_mix mix = { .count = 0 };

    for (uint32_t p = 0; p < weir_placement_count(); p++) {
        struct weir_chooser *const chooser = chooser_of(weir_placement_at(p)->name);
        const struct weir_members_query query = { .size = sizeof(struct weir_members_query),
                                                  .scratch = cluster,
                                                  .mix = &mix,
                                                  .shape = &HALF,
                                                  .count = 8 };
        uint32_t placed = 0;
        CHECK_I64(weir_chooser_place_members(chooser, &query, answers, &placed, NULL), WEIR_OK);
        CHECK_I64(placed, 8);
        CHECK_I64(weir_cluster_worker_count(cluster), 0);
        CHECK_I64(weir_cluster_check(cluster, NULL), WEIR_OK);
        for (uint32_t i = 0; i < 8; i++)
            CHECK_I64(weir_cluster_add_worker(cluster, i + 1, weir_pool_owner(0), &answers[i].alloc,
                                              NULL),
                      WEIR_OK);
        for (uint32_t i = 0; i < 8; i++)
            CHECK_I64(weir_cluster_remove_worker(cluster, i + 1, NULL), WEIR_OK);
        weir_chooser_destroy(chooser);
    }
    weir_cluster_destroy(cluster);
}

/* covers: S1.17 */
static void a_gang_that_lacks_one_place_gets_none_and_says_why(void)
{
    struct weir_cluster *const cluster = two_nodes();
    struct weir_chooser *const chooser = chooser_of("fgd_xenna");
    struct weir_place_answer answers[GANG];
    const struct weir_mix mix = { .count = 0 };
    const struct weir_members_query query = { .size = sizeof(struct weir_members_query),
                                              .scratch = cluster,
                                              .mix = &mix,
                                              .shape = &HALF,
                                              .count = 9 };
    struct weir_error error = { .phase = -1 };
    uint32_t placed = 0;

    CHECK_I64(weir_chooser_place_members(chooser, &query, answers, &placed, &error), WEIR_EBUSY);
    CHECK_I64(placed, 8);
    CHECK_I64(answers[8].choice.rejected[WEIR_REASON_GPU_FREE], 2);
    CHECK_STR(error.text, "member 9 of 9: fits none of 2 nodes now, 2 of them: too little free on "
                          "a GPU");
    CHECK_I64(weir_cluster_worker_count(cluster), 0);
    weir_chooser_destroy(chooser);
    weir_cluster_destroy(cluster);
}

static void members_see_each_other(void)
{
    struct weir_cluster *const cluster = two_nodes();
    struct weir_chooser *const chooser = chooser_of("spread");
    struct weir_place_answer answers[4];
    const struct weir_mix mix = { .count = 0 };
    const struct weir_members_query query = { .size = sizeof(struct weir_members_query),
                                              .scratch = cluster,
                                              .mix = &mix,
                                              .shape = &HALF,
                                              .owner = weir_pool_owner(3),
                                              .count = 4 };
    uint32_t placed = 0;

    CHECK_I64(weir_chooser_place_members(chooser, &query, answers, &placed, NULL), WEIR_OK);
    for (uint32_t i = 0; i < 4; i++)
        CHECK_I64(answers[i].alloc.node, i % 2);
    weir_chooser_destroy(chooser);
    weir_cluster_destroy(cluster);
}

/* covers: S1.11 */
static void the_third_share_is_refused_for_its_memory(void)
{
    struct weir_cluster *cluster = NULL;
    const struct weir_gpu_spec gpu = { .units = WEIR_ONE, .mem_bytes = INT64_C(80000000000) };
    const struct weir_node_spec spec = {
        .size = sizeof(struct weir_node_spec), .gpu_count = 1, .cpu_units = WEIR_ONE, .gpus = &gpu
    };
    const struct weir_shape quarter = { .kind = WEIR_SHAPE_FRACTIONAL,
                                        .gpu_count = 1,
                                        .gpu_units = WEIR_ONE / 4,
                                        .gpu_mem_bytes = INT64_C(30000000000) };
    const struct weir_mix mix = { .count = 0 };
    struct weir_place_answer answers[3];
    uint32_t placed = 0;

    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
    const struct weir_members_query query = { .size = sizeof(struct weir_members_query),
                                              .scratch = cluster,
                                              .mix = &mix,
                                              .shape = &quarter,
                                              .count = 3 };
    for (uint32_t p = 0; p < weir_placement_count(); p++) {
        struct weir_chooser *const chooser = chooser_of(weir_placement_at(p)->name);
        CHECK_I64(weir_chooser_place_members(chooser, &query, answers, &placed, NULL), WEIR_EBUSY);
        CHECK_I64(placed, 2);
        CHECK_I64(answers[2].choice.rejected[WEIR_REASON_GPU_MEM], 1);
        CHECK_I64(answers[2].choice.rejected[WEIR_REASON_GPU_FREE], 0);
        weir_chooser_destroy(chooser);
    }
    CHECK_I64(weir_cluster_room(cluster, &quarter, 100), 2);
    weir_cluster_destroy(cluster);
}

static void the_room_of_an_empty_cluster_tells_infeasible_from_busy(void)
{
    struct weir_cluster *const cluster = two_nodes();
    const struct weir_alloc all = { .node = 0, .cpu_units = 8 * WEIR_ONE };
    static const struct {
        struct weir_shape shape;
        int64_t room;
    } rows[] = {
        { { .kind = WEIR_SHAPE_CPU, .cpu_units = 3 * WEIR_ONE }, 4 },
        { { .kind = WEIR_SHAPE_CPU, .cpu_units = 9 * WEIR_ONE }, 0 },
        { { .kind = WEIR_SHAPE_CPU, .cpu_units = WEIR_ONE, .ram_bytes = 34 }, 4 },
        { { .kind = WEIR_SHAPE_CPU }, 50 },
        { { .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .gpu_units = WEIR_ONE * 2 / 5 }, 8 },
        { { .kind = WEIR_SHAPE_FRACTIONAL,
            .gpu_count = 1,
            .gpu_units = WEIR_ONE / 10,
            .gpu_mem_bytes = 27 },
          8 },
        { { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 2, .gpu_units = WEIR_ONE }, 2 },
        { { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 3, .gpu_units = WEIR_ONE }, 0 },
        { { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 1, .gpu_units = WEIR_ONE, .gpu_type = 2 }, 0 },
        { { .kind = WEIR_SHAPE_CODEC, .nvdecs = 2 }, 6 },
        { { .kind = WEIR_SHAPE_CODEC, .nvdecs = 2, .codec_same_gpu = 1 }, 4 },
        { { .kind = WEIR_SHAPE_CODEC, .nvencs = 1 }, 0 },
        { { .kind = WEIR_SHAPE_SPMD_MULTI,
            .gpu_count = 2,
            .gpu_units = WEIR_ONE,
            .node_count = 2,
            .node_gpus = 2 },
          2 },
    };

    CHECK_I64(weir_cluster_add_worker(cluster, 1, weir_pool_owner(0), &all, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_set_node_flags(cluster, 1, 0), WEIR_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_I64(weir_cluster_room(cluster, &rows[i].shape, 50), rows[i].room);
    CHECK_I64(weir_cluster_room(cluster, &PAIR, 1), 1);
    weir_cluster_destroy(cluster);
}

/* Half of a GPU, half of its memory and one of its decoders are taken, and two of the CPUs. */
static void the_room_of_a_node_is_what_is_free_on_it(void)
{
    struct weir_cluster *const cluster = two_nodes();
    const struct weir_alloc half = {
        .node = 0,
        .device_count = 1,
        .cpu_units = 2 * WEIR_ONE,
        .devices = { { .units = WEIR_ONE / 2, .mem_bytes = 40, .nvdec_mask = 1 } }
    };
    static const struct {
        struct weir_shape shape;
        uint64_t room;
    } rows[] = {
        { { .kind = WEIR_SHAPE_CPU, .cpu_units = 3 * WEIR_ONE }, 2 },
        { { .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .gpu_units = WEIR_ONE / 4 }, 6 },
        { { .kind = WEIR_SHAPE_FRACTIONAL,
            .gpu_count = 1,
            .gpu_units = WEIR_ONE / 10,
            .gpu_mem_bytes = 27 },
          3 },
        { { .kind = WEIR_SHAPE_CODEC, .nvdecs = 1, .codec_same_gpu = 1 }, 5 },
        { { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 1, .gpu_units = WEIR_ONE }, 1 },
    };

    CHECK_I64(weir_cluster_add_worker(cluster, 1, weir_pool_owner(0), &half, NULL), WEIR_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        CHECK_I64(weir_node_room(cluster, 0, &rows[i].shape), rows[i].room);
    weir_cluster_destroy(cluster);
}

/* All on one node would be a draw made once. */
static void members_are_drawn_one_by_one(void)
{
    struct weir_cluster *const cluster = two_nodes();
    struct weir_chooser *const chooser = chooser_of("random");
    const struct weir_shape cpu = { .kind = WEIR_SHAPE_CPU, .cpu_units = WEIR_ONE };
    const struct weir_mix mix = { .count = 0 };
    struct weir_place_answer answers[4];
    uint32_t together = 0;
    uint32_t placed = 0;

    for (uint64_t seed = 1; seed <= 64; seed++) {
        const struct weir_members_query query = { .size = sizeof(struct weir_members_query),
                                                  .scratch = cluster,
                                                  .mix = &mix,
                                                  .shape = &cpu,
                                                  .seed = seed,
                                                  .count = 4 };
        CHECK_I64(weir_chooser_place_members(chooser, &query, answers, &placed, NULL), WEIR_OK);
        uint32_t same = 0;
        for (uint32_t i = 0; i < 4; i++)
            same += answers[i].alloc.node == answers[0].alloc.node;
        together += same == 4;
    }
    CHECK(together > 0 && together < 24); /* one in eight */
    weir_chooser_destroy(chooser);
    weir_cluster_destroy(cluster);
}

static const struct test tests[] = {
    { "a gang gets all its places and the scratch cluster is as before",
      a_gang_gets_all_its_places_and_the_scratch_cluster_is_as_before },
    { "a gang that lacks one place gets none and says why",
      a_gang_that_lacks_one_place_gets_none_and_says_why },
    { "members see each other", members_see_each_other },
    { "the third share is refused for its memory", the_third_share_is_refused_for_its_memory },
    { "the room of an empty cluster tells infeasible from busy",
      the_room_of_an_empty_cluster_tells_infeasible_from_busy },
    { "the room of a node is what is free on it", the_room_of_a_node_is_what_is_free_on_it },
    { "members are drawn one by one", members_are_drawn_one_by_one },
};
TEST_MAIN(tests)
