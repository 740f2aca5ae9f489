/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Policies whose scans are kept choose the places, devices and scores that a scan of all places
 * chooses, on histories in which workers of several stages and workloads come and go, are tried and
 * taken back, and nodes are cordoned; shapes of all kinds, workers to reuse among them.
 */
#include "sched/cluster/state.h"
#include "sched/placement/parts/scan.h"
#include "sched/placement/policies.h"
#include "sim/scenario/catalog/catalog_mig.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"

#include <stdio.h>
#include <string.h>

enum { STEPS = 1200, HISTORIES = 24, OWNERS = 4, REUSABLE = 2, POLICIES = 3 };

static struct weir_shape draw_shape(struct draws *dice)
{
    static const struct weir_shape shapes[] = {
        { .kind = WEIR_SHAPE_CPU },
        { .kind = WEIR_SHAPE_CPU, .ram_bytes = 5 },
        { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 1, .gpu_units = WEIR_ONE },
        { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 2, .gpu_units = WEIR_ONE, .ram_bytes = 3 },
        { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 1, .gpu_units = WEIR_ONE, .gpu_type = 2 },
        { .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .gpu_units = WEIR_ONE / 2 },
        { .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .gpu_units = WEIR_ONE / 4 },
        { .kind = WEIR_SHAPE_FRACTIONAL,
          .gpu_count = 1,
          .gpu_units = WEIR_ONE * 3 / 10,
          .gpu_mem_bytes = 3 },
        { .kind = WEIR_SHAPE_SLICE, .gpu_count = 1, .gpu_units = WEIR_ONE / 7, .mig_slices = 1 },
        { .kind = WEIR_SHAPE_SLICE,
          .gpu_count = 1,
          .gpu_units = WEIR_ONE * 3 / 7,
          .mig_slices = 3 },
        { .kind = WEIR_SHAPE_ENTIRE, .gpu_count = 1, .gpu_units = WEIR_ONE },
        { .kind = WEIR_SHAPE_CODEC, .nvdecs = 2, .nvencs = 1 }
    };
    struct weir_shape shape = shapes[draws_below(dice, sizeof shapes / sizeof shapes[0])];

    shape.cpu_units = WEIR_ONE / 2 * (1 + (int64_t)draws_below(dice, 3));
    return shape;
}

static void add_node(struct weir_cluster *cluster, struct draws *dice)
{
    const struct weir_mig *table = sim_catalog_mig_find("h100");
    struct weir_gpu_spec gpus[4];
    const uint32_t count = (uint32_t)draws_below(dice, 5);
    const bool is_cut = draws_below(dice, 4) == 0;

    for (uint32_t g = 0; g < count; g++)
        gpus[g] = (struct weir_gpu_spec){ .type = (uint32_t)draws_below(dice, 6) == 0,
                                          .nvdecs = is_cut ? 0 : (uint32_t)draws_below(dice, 3),
                                          .nvencs = is_cut ? 0 : (uint32_t)draws_below(dice, 2),
                                          .units = WEIR_ONE,
                                          .mem_bytes = is_cut ? 80 : 8,
                                          .mig = is_cut ? table : NULL };
    const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                         .id = weir_cluster_node_count(cluster),
                                         .gpu_count = count,
                                         .cpu_units =
                                             WEIR_ONE * (2 + (int64_t)draws_below(dice, 6)),
                                         .ram_bytes = 12,
                                         .gpus = gpus };
    CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
}

static struct weir_owner draw_owner(struct draws *dice, uint64_t id)
{
    struct weir_owner owner = weir_pool_owner((uint32_t)draws_below(dice, OWNERS));
    if (draws_below(dice, 2) == 0)
        owner = (struct weir_owner){ WEIR_OWNER_JOB, owner.index, id };
    return owner;
}

/* Same place, same score. */
static bool same(const struct weir_place_answer *a, const struct weir_place_answer *b)
{
    return a->reused == b->reused && a->alloc.node == b->alloc.node &&
           a->alloc.device_count == b->alloc.device_count &&
           memcmp(a->alloc.devices, b->alloc.devices,
                  a->alloc.device_count * sizeof a->alloc.devices[0]) == 0 &&
           !(a->choice.primary < b->choice.primary) && !(b->choice.primary < a->choice.primary) &&
           !(a->choice.secondary < b->choice.secondary) &&
           !(b->choice.secondary < a->choice.secondary);
}

struct history {
    struct weir_cluster *cluster;
    const struct weir_placement_ops *ops[POLICIES];
    void *states[POLICIES];
    struct draws dice;
    uint64_t next_id;
    uint32_t wrong, placed;
};

/* Asks both ways; takes the place of one of the policies. */
static void ask(struct history *history, const struct weir_worker *reusable, uint32_t count)
{
    const struct weir_shape shape = draw_shape(&history->dice);
    const struct weir_place_query query = { .size = sizeof query,
                                            .cluster = history->cluster,
                                            .shape = &shape,
                                            .owner = draw_owner(&history->dice, history->next_id),
                                            .reusable = reusable,
                                            .reusable_count = count };
    const uint32_t taken = (uint32_t)draws_below(&history->dice, POLICIES);
    struct weir_place_answer place = { .reused = 0 };
    weir_status placed = WEIR_EBUSY;

    for (uint32_t p = 0; p < POLICIES; p++) {
        const struct weir_scan scan = { .score = history->ops[p]->score,
                                        .mode = WEIR_CANDIDATES_DISTINCT };
        struct weir_place_answer kept = { .reused = 0 };
        struct weir_place_answer plain = { .reused = 0 };
        const weir_status status = history->ops[p]->place(history->states[p], &query, &kept, NULL);
        const weir_status expected = weir_scan_place(&scan, &query, &plain, NULL);
        history->wrong += status != expected || (status == WEIR_OK && !same(&kept, &plain));
        if (p == taken) {
            place = kept;
            placed = status;
        }
    }
    if (placed != WEIR_OK || place.reused != WEIR_NO_INDEX)
        return;
    CHECK_I64(weir_cluster_add_worker(history->cluster, history->next_id++, query.owner,
                                      &place.alloc, NULL),
              WEIR_OK);
    history->placed++;
}

/* Some that were there stop, and could come back. */
static void ask_with_stopped(struct history *history)
{
    struct weir_worker stopped[REUSABLE];
    uint32_t count = 0;

    while (count < REUSABLE) {
        const uint64_t id = 1 + draws_below(&history->dice, history->next_id);
        if (!weir_cluster_worker(history->cluster, id, &stopped[count]))
            break;
        CHECK_I64(weir_cluster_remove_worker(history->cluster, id, NULL), WEIR_OK);
        count++;
    }
    ask(history, stopped, count);
}

static void step(struct history *history)
{
    struct draws *const dice = &history->dice;
    const uint32_t node = (uint32_t)draws_below(dice, weir_cluster_node_count(history->cluster));

    switch (draws_below(dice, 8)) {
    case 0:
        (void)weir_cluster_set_node_flags(history->cluster, node,
                                          draws_below(dice, 3) == 0 ? 0 : WEIR_NODE_UP);
        return;
    case 1:
        CHECK_I64(weir_cluster_mark(history->cluster), WEIR_OK);
        for (uint32_t i = 0; i < 3; i++)
            ask(history, NULL, 0);
        weir_cluster_rollback(history->cluster);
        return;
    case 2:
        ask_with_stopped(history);
        return;
    case 3:
    case 4:
    case 5:
        (void)weir_cluster_remove_worker(history->cluster, 1 + draws_below(dice, history->next_id),
                                         NULL);
        return;
    default:
        ask(history, NULL, 0);
    }
}

static void live(uint64_t seed, uint32_t nodes, uint32_t *wrong, uint32_t *placed)
{
    struct history history = { .ops = { &weir_placement_graded[WEIR_GRADED_BEST_FIT],
                                        &weir_placement_graded[WEIR_GRADED_WORST_FIT],
                                        &weir_placement_spread },
                               .dice = { .is_seeded = true, .state = seed * 7919 },
                               .next_id = 1 };
    CHECK_I64(weir_cluster_create(NULL, &history.cluster), WEIR_OK);
    for (uint32_t n = 0; n < nodes; n++)
        add_node(history.cluster, &history.dice);
    for (uint32_t p = 0; p < POLICIES; p++)
        CHECK_I64(history.ops[p]->create(NULL, NULL, &history.states[p], NULL), WEIR_OK);
    for (uint32_t s = 0; s < STEPS; s++)
        step(&history);
    for (uint32_t p = 0; p < POLICIES; p++)
        history.ops[p]->destroy(history.states[p]);
    weir_cluster_destroy(history.cluster);
    if (history.wrong > 0)
        printf("  history %llu: %u answers differ\n", (unsigned long long)seed, history.wrong);
    *wrong += history.wrong;
    *placed += history.placed;
}

static void kept_scans_answer_as_scans(void)
{
    uint32_t wrong = 0;
    uint32_t placed = 0;

    for (uint64_t seed = 1; seed <= HISTORIES; seed++)
        live(seed, 2 + (uint32_t)seed * 3, &wrong, &placed);
    CHECK_I64(wrong, 0);
    CHECK(placed > HISTORIES * STEPS / 10);
}

static const struct test tests[] = {
    { "kept scans answer as scans of all places do", kept_scans_answer_as_scans },
};

TEST_MAIN(tests)
