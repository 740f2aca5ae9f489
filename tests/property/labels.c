/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Labels of nodes under every placement policy, on random clusters: no worker stands on a node that
 * its shape may not use, and a place is found exactly when some node has one.
 *
 * The oracle asks the same inventory without any labels whether a node has room, and judges labels
 * by itself.
 */
#include "sched/placement/parts/candidates.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "weir/policy.h"

#include <stdio.h>

enum { NODES = 24, STEPS = 120, SHAPES = 8 };

struct game {
    struct draws dice;
    struct weir_cluster *cluster, *plain; /* the same, without labels */
    uint32_t labels[NODES];               /* of which `kept` are for those who ask */
    bool kept[NODES];
    uint64_t next;
};

static uint32_t roll(struct game *game, uint32_t below)
{
    return (uint32_t)draws_below(&game->dice, below);
}

static void add_node(struct game *game, uint32_t index)
{
    const struct weir_gpu_spec gpus[2] = {
        { .units = WEIR_ONE, .mem_bytes = 4 },
        { .type = roll(game, 2), .units = WEIR_ONE, .mem_bytes = 4 }
    };
    struct weir_node_spec spec = { .size = sizeof spec,
                                   .id = 100 + index,
                                   .gpu_count = roll(game, 3),
                                   .cpu_units = WEIR_ONE * (2 + roll(game, 6)),
                                   .ram_bytes = 8,
                                   .gpus = gpus };

    game->labels[index] = roll(game, 8);
    game->kept[index] = game->labels[index] != 0 && roll(game, 3) == 0;
    CHECK_I64(weir_cluster_add_node(game->plain, &spec, NULL, NULL), WEIR_OK);
    spec.topology.labels = game->labels[index] | (game->kept[index] ? WEIR_LABEL_KEPT : 0);
    CHECK_I64(weir_cluster_add_node(game->cluster, &spec, NULL, NULL), WEIR_OK);
}

static struct weir_shape draw_shape(struct game *game)
{
    static const struct weir_shape shapes[SHAPES] = {
        { .kind = WEIR_SHAPE_CPU, .cpu_units = WEIR_ONE },
        { .kind = WEIR_SHAPE_CPU, .cpu_units = 2 * WEIR_ONE, .ram_bytes = 3 },
        { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 1, .gpu_units = WEIR_ONE },
        { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 2, .gpu_units = WEIR_ONE, .cpu_units = WEIR_ONE },
        { .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .gpu_units = WEIR_ONE / 2 },
        { .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .gpu_units = WEIR_ONE / 4, .gpu_type = 2 },
        { .kind = WEIR_SHAPE_ENTIRE, .gpu_count = 1, .gpu_units = WEIR_ONE },
        { .kind = WEIR_SHAPE_CPU, .cpu_units = WEIR_ONE / 2 }
    };
    struct weir_shape shape = shapes[roll(game, SHAPES)];

    shape.labels = roll(game, 2) == 0 ? 0 : roll(game, 8);
    if (roll(game, 5) == 0)
        shape.labels |= WEIR_LABEL_KEPT;
    return shape;
}

/* Word for word. */
static bool may_use(const struct game *game, const struct weir_shape *shape, uint32_t node)
{
    bool asks = false;

    for (uint32_t i = 0; i < 3; i++) {
        if ((shape->labels & (1U << i)) == 0)
            continue;
        asks = true;
        if ((game->labels[node] & (1U << i)) == 0)
            return false;
    }
    return !game->kept[node] || asks || (shape->labels & WEIR_LABEL_KEPT) != 0;
}

static bool has_place(const struct game *game, const struct weir_shape *shape)
{
    struct weir_shape plain = *shape;

    plain.labels = 0;
    for (uint32_t n = 0; n < NODES; n++)
        if (may_use(game, shape, n) &&
            weir_candidates_reason(game->plain, &plain, n) == WEIR_REASON_NONE)
            return true;
    return false;
}

static void change(struct game *game)
{
    const uint32_t node = roll(game, NODES);
    const uint32_t flags = roll(game, 3) == 0 ? WEIR_NODE_UP | WEIR_NODE_CORDONED : WEIR_NODE_UP;
    const uint64_t worker = 1 + roll(game, (uint32_t)game->next);

    CHECK_I64(weir_cluster_set_node_flags(game->cluster, node, flags), WEIR_OK);
    CHECK_I64(weir_cluster_set_node_flags(game->plain, node, flags), WEIR_OK);
    CHECK_I64(weir_cluster_remove_worker(game->cluster, worker, NULL),
              weir_cluster_remove_worker(game->plain, worker, NULL));
}

/* One question; how many mistakes it shows. */
static uint32_t ask(struct game *game, struct weir_chooser *chooser)
{
    const struct weir_shape shape = draw_shape(game);
    const struct weir_mix mix = { .shapes = &shape, .frequencies = (const double[]){ 1 }, 1 };
    const struct weir_place_query query = { .size = sizeof query,
                                            .cluster = game->cluster,
                                            .mix = &mix,
                                            .shape = &shape,
                                            .owner = weir_job_owner(0, game->next),
                                            .seed = game->next * 31,
                                            .together = 1 };
    struct weir_place_answer answer = { .reused = WEIR_NO_INDEX };
    const weir_status status = weir_chooser_place(chooser, &query, &answer, NULL);

    if (status == WEIR_EBUSY)
        return has_place(game, &shape);
    if (status != WEIR_OK || !may_use(game, &shape, answer.alloc.node))
        return 1;
    const struct weir_owner owner = query.owner;
    CHECK_I64(weir_cluster_add_worker(game->cluster, game->next, owner, &answer.alloc, NULL),
              WEIR_OK);
    CHECK_I64(weir_cluster_add_worker(game->plain, game->next, owner, &answer.alloc, NULL),
              WEIR_OK);
    game->next++;
    return 0;
}

static uint32_t play(const struct weir_placement_ops *ops, uint64_t seed)
{
    struct game game = { .dice = draws_seeded(seed), .next = 1 };
    struct weir_chooser *chooser = NULL;
    struct weir_error error;
    uint32_t wrong = 0;

    CHECK_I64(weir_cluster_create(NULL, &game.cluster), WEIR_OK);
    CHECK_I64(weir_cluster_create(NULL, &game.plain), WEIR_OK);
    for (uint32_t n = 0; n < NODES; n++)
        add_node(&game, n);
    CHECK_I64(weir_chooser_create(ops, NULL, NULL, &chooser, &error), WEIR_OK);
    for (uint32_t step = 0; step < STEPS; step++) {
        if (roll(&game, 4) == 0)
            change(&game);
        wrong += ask(&game, chooser);
    }
    CHECK_I64(weir_cluster_check(game.cluster, &error), WEIR_OK);
    weir_chooser_destroy(chooser);
    weir_cluster_destroy(game.cluster);
    weir_cluster_destroy(game.plain);
    return wrong;
}

static void every_policy_heeds_labels(void)
{
    for (uint32_t p = 0; p < weir_placement_count(); p++) {
        const struct weir_placement_ops *const ops = weir_placement_at(p);
        uint32_t wrong = 0;
        for (uint64_t seed = 1; seed <= 12; seed++)
            wrong += play(ops, seed);
        if (wrong > 0)
            printf("  %s: %u answers are wrong\n", ops->name, wrong);
        CHECK_I64(wrong, 0);
    }
}

static const struct test tests[] = {
    { "every placement policy heeds labels and finds a place where there is one",
      every_policy_heeds_labels },
};
TEST_MAIN(tests)
