/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is kept of which nodes have room says exactly what asking every node says, on histories in
 * which workers come and go, are tried and taken back, nodes are added, resized, cordoned and
 * removed, GPUs fall ill, all is as it was before, and more shapes are asked about than are kept.
 */
#include "sched/placement/parts/rooms.h"
#include "sched/cluster/state.h"
#include "sched/placement/parts/candidates.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"

#include <stdio.h>
#include <string.h>

enum { STEPS = 1500, SHAPES = 14, SPANS = 2 * 64 * 64 };

/* Every reason occurs. */
static struct weir_shape shape_at(uint32_t i)
{
    static const struct weir_shape shapes[SHAPES] = {
        { .kind = WEIR_SHAPE_CPU, .cpu_units = WEIR_ONE },
        { .kind = WEIR_SHAPE_CPU, .cpu_units = WEIR_ONE, .ram_bytes = 5 },
        { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 1, .gpu_units = WEIR_ONE },
        { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 2, .gpu_units = WEIR_ONE },
        { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 4, .gpu_units = WEIR_ONE, .cpu_units = WEIR_ONE },
        { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 1, .gpu_units = WEIR_ONE, .gpu_type = 2 },
        { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 1, .gpu_units = WEIR_ONE, .nvdecs = 1 },
        { .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .gpu_units = WEIR_ONE / 2 },
        { .kind = WEIR_SHAPE_FRACTIONAL,
          .gpu_count = 1,
          .gpu_units = WEIR_ONE / 4,
          .gpu_mem_bytes = 3 },
        { .kind = WEIR_SHAPE_ENTIRE, .gpu_count = 1, .gpu_units = WEIR_ONE },
        { .kind = WEIR_SHAPE_CODEC, .cpu_units = WEIR_ONE / 2, .nvdecs = 2, .nvencs = 1 },
        { .kind = WEIR_SHAPE_WHOLE,
          .gpu_count = 2,
          .gpu_units = WEIR_ONE,
          .cpu_units = 3 * WEIR_ONE },
        { .kind = WEIR_SHAPE_CPU, .cpu_units = WEIR_ONE, .labels = 1 },
        { .kind = WEIR_SHAPE_CPU, .cpu_units = WEIR_ONE, .labels = WEIR_LABEL_KEPT }
    };
    return shapes[i];
}

static void add_node(struct weir_cluster *cluster, struct draws *dice)
{
    struct weir_gpu_spec gpus[4];
    const uint32_t count = (uint32_t)draws_below(dice, 5);
    const uint32_t how = (uint32_t)draws_below(dice, 8);
    const uint32_t labels = (how < 2) | (how == 0 ? WEIR_LABEL_KEPT : 0);
    for (uint32_t g = 0; g < count; g++)
        gpus[g] = (struct weir_gpu_spec){ .type = (uint32_t)draws_below(dice, 6) == 0,
                                          .nvdecs = (uint32_t)draws_below(dice, 3),
                                          .nvencs = (uint32_t)draws_below(dice, 2),
                                          .units = WEIR_ONE,
                                          .mem_bytes = 4 };
    const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                         .id = weir_cluster_node_count(cluster),
                                         .gpu_count = count,
                                         .cpu_units =
                                             WEIR_ONE * (1 + (uint32_t)draws_below(dice, 5)),
                                         .ram_bytes = 12,
                                         .gpus = gpus,
                                         .topology.labels = labels };
    CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
}

/* The walk of this shape to its end, and each node by how many are before it. */
static uint32_t compare(const struct weir_cluster *cluster, const struct weir_shape *shape)
{
    struct weir_room_walk walk = weir_rooms_begin(cluster, shape);
    const struct weir_room_walk all = walk;
    struct weir_choice found = { .nodes_seen = 0 };
    struct weir_choice expected = { .nodes_seen = 0 };
    struct weir_choice survey = { .nodes_seen = 0 };
    uint32_t wrong = 0;
    uint32_t open = 0;

    for (uint32_t n = 0; n < cluster->node_count; n++) {
        const uint32_t reason = weir_candidates_reason(cluster, shape, n);
        expected.nodes_seen++;
        expected.rejected[reason] += reason != WEIR_REASON_NONE;
        if (reason == WEIR_REASON_NONE) {
            wrong += weir_rooms_next(&walk, &found) != n;
            wrong += memcmp(&found, &expected, sizeof found) != 0;
            wrong += weir_rooms_at(&all, open++) != n;
        }
    }
    wrong += weir_rooms_next(&walk, &found) != WEIR_NO_INDEX;
    wrong += weir_rooms_survey(&all, &survey) != open;
    wrong += memcmp(&survey, &expected, sizeof survey) != 0;
    return wrong + (memcmp(&found, &expected, sizeof found) != 0);
}

/* Puts a worker of some shape on some node. */
static void start(struct weir_cluster *cluster, struct draws *dice, uint64_t id)
{
    const struct weir_shape shape = shape_at((uint32_t)draws_below(dice, SHAPES));
    const uint32_t node = (uint32_t)draws_below(dice, cluster->node_count);
    struct weir_alloc alloc;

    if (weir_place_first(cluster, node, &shape, &alloc) == WEIR_OK)
        CHECK_I64(weir_cluster_add_worker(cluster, id, weir_pool_owner(0), &alloc, NULL), WEIR_OK);
}

/* What changes from outside; refused where workers are in the way. */
static void change_node(struct weir_cluster *cluster, struct draws *dice)
{
    const uint32_t node = (uint32_t)draws_below(dice, cluster->node_count);

    switch ((uint32_t)draws_below(dice, 5)) {
    case 0:
        (void)weir_cluster_set_node_flags(cluster, node,
                                          (uint32_t)draws_below(dice, 3) == 0 ? 0 : WEIR_NODE_UP);
        return;
    case 1:
        (void)weir_cluster_set_gpu_health(cluster, node, 0, (uint32_t)draws_below(dice, 2) == 0);
        return;
    case 2:
        (void)weir_cluster_resize_node(cluster, node,
                                       WEIR_ONE * (1 + (uint32_t)draws_below(dice, 6)), 12, NULL);
        return;
    case 3:
        if ((uint32_t)draws_below(dice, 8) == 0)
            (void)weir_cluster_remove_node(cluster, node, NULL);
        return;
    default:
        if ((uint32_t)draws_below(dice, 8) == 0)
            add_node(cluster, dice);
        return;
    }
}

/* Tries some on the scratch, asks there too, and takes them back. */
static uint32_t try_some(struct weir_cluster *cluster, struct draws *dice)
{
    uint32_t wrong = 0;

    CHECK_I64(weir_cluster_mark(cluster), WEIR_OK);
    for (uint32_t i = (uint32_t)draws_below(dice, 4); i > 0; i--) {
        const struct weir_shape shape = shape_at((uint32_t)draws_below(dice, SHAPES));
        start(cluster, dice, UINT64_MAX - i);
        wrong += compare(cluster, &shape);
    }
    weir_cluster_rollback(cluster);
    return wrong;
}

static uint32_t live(uint64_t seed, uint32_t nodes, uint32_t steps)
{
    struct draws dice = { .is_seeded = true, .state = seed * 977 };
    struct weir_cluster *cluster = NULL;
    struct weir_cluster *earlier = NULL;
    uint32_t wrong = 0;

    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    CHECK_I64(weir_cluster_create(NULL, &earlier), WEIR_OK);
    for (uint32_t n = 0; n < nodes; n++)
        add_node(cluster, &dice);
    for (uint32_t step = 0; step < steps; step++) {
        const struct weir_shape shape = shape_at((uint32_t)draws_below(&dice, SHAPES));
        if (step % 400 == 100)
            CHECK_I64(weir_cluster_assign(earlier, cluster), WEIR_OK);
        if (step % 400 == 220)
            CHECK_I64(weir_cluster_assign(cluster, earlier), WEIR_OK);
        if ((uint32_t)draws_below(&dice, 3) > 0)
            start(cluster, &dice, step);
        else if ((uint32_t)draws_below(&dice, 2) > 0)
            (void)weir_cluster_remove_worker(cluster, (uint32_t)draws_below(&dice, step + 1), NULL);
        else if ((uint32_t)draws_below(&dice, 2) > 0)
            change_node(cluster, &dice);
        else
            wrong += try_some(cluster, &dice);
        if (step % 512 < 256 &&
            (uint32_t)draws_below(&dice, 2) == 0) /* then nobody asks for long */
            wrong += compare(cluster, &shape);
    }
    weir_cluster_destroy(cluster);
    weir_cluster_destroy(earlier);
    return wrong;
}

static void kept_equals_asked(void)
{
    uint32_t wrong = 0;

    for (uint64_t seed = 1; seed <= 40; seed++) {
        const uint32_t found = live(seed, 1 + (uint32_t)seed * 7, STEPS);
        if (found > 0)
            printf("  seed %llu: %u walks differ\n", (unsigned long long)seed, found);
        wrong += found;
    }
    CHECK_I64(wrong + live(41, SPANS + 77, STEPS / 3), 0);
}

/* Of the 1 024 that are kept at most some begin anew, and none is taken for another. */
static void more_shapes_than_are_kept(void)
{
    struct draws dice = { .is_seeded = true, .state = 5 };
    struct weir_cluster *cluster = NULL;
    uint32_t wrong = 0;

    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (uint32_t n = 0; n < 2 * WEIR_ROOMS_FROM; n++)
        add_node(cluster, &dice);
    for (uint32_t i = 0; i < 3000; i++) {
        const struct weir_shape shape = { .kind = WEIR_SHAPE_CPU,
                                          .cpu_units =
                                              1 + (int64_t)(i * 7 % 1500) * WEIR_ONE / 500 };
        start(cluster, &dice, i);
        wrong += compare(cluster, &shape);
    }
    CHECK_I64(wrong, 0);
    weir_cluster_destroy(cluster);
}

static const struct test tests[] = {
    { "nodes with room are those that say so when asked one by one", kept_equals_asked },
    { "more shapes may be asked about than are kept", more_shapes_than_are_kept },
};
TEST_MAIN(tests)
