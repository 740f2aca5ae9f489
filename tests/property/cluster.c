/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random histories of the inventory: after every roll-back the state is that of the mark, orders
 * included, and the audit always agrees with the books.
 */
#include "sched/cluster/state.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 5, STAGES = 4, GPUS = 6, IDS = 64, DEPTH = 4 };

struct dice {
    uint64_t state;
};

static uint32_t roll(struct dice *dice, uint32_t below)
{
    dice->state = dice->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((dice->state >> 33) % below);
}

/* Everything observable, as comparable bytes. */
struct picture {
    struct weir_amounts free;
    struct weir_node nodes[NODES];
    struct weir_gpu gpus[NODES * GPUS];
    struct weir_worker workers[STAGES][IDS];
    uint32_t counts[STAGES];
};

static struct picture *take_picture(const struct weir_cluster *cluster)
{
    struct picture *const picture = calloc(1, sizeof *picture);

    picture->free = weir_cluster_free(cluster);
    for (uint32_t n = 0; n < NODES; n++) {
        picture->nodes[n] = *weir_cluster_node(cluster, n);
        for (uint32_t g = 0; g < GPUS; g++)
            picture->gpus[n * GPUS + g] = *weir_cluster_gpu(cluster, n, g);
    }
    for (uint32_t s = 0; s < STAGES; s++) {
        picture->counts[s] = weir_cluster_pool_workers(cluster, s);
        for (uint32_t i = 0; i < picture->counts[s]; i++)
            CHECK(weir_cluster_pool_worker(cluster, s, i, &picture->workers[s][i]));
    }
    return picture;
}

static struct weir_cluster *open_cluster(void)
{
    struct weir_cluster *cluster = NULL;
    struct weir_gpu_spec gpus[GPUS];

    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (uint32_t g = 0; g < GPUS; g++)
        gpus[g] =
            (struct weir_gpu_spec){ .nvdecs = 32, .nvencs = 3, .units = WEIR_ONE, .mem_bytes = 9 };
    for (uint32_t n = 0; n < NODES; n++) {
        const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .gpu_count = GPUS,
                                             .cpu_units = 8 * WEIR_ONE,
                                             .ram_bytes = 50,
                                             .gpus = gpus };
        CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
    }
    return cluster;
}

static struct weir_alloc random_alloc(struct dice *dice)
{
    struct weir_alloc alloc = { .node = roll(dice, NODES),
                                .cpu_units = roll(dice, 3) * WEIR_ONE / 2,
                                .ram_bytes = roll(dice, 4) };

    for (uint32_t g = 0; g < GPUS; g++) {
        if (roll(dice, 3) != 0)
            continue;
        alloc.devices[alloc.device_count++] =
            (struct weir_device){ .gpu = g,
                                  .nvdec_mask = UINT32_C(1) << roll(dice, 32),
                                  .nvenc_mask = roll(dice, 2) << roll(dice, 3),
                                  .units = roll(dice, 4) * WEIR_ONE / 4,
                                  .mem_bytes = roll(dice, 3) };
    }
    return alloc;
}

/* One random change; counts what happened so that the test shows it did something. */
static void change(struct weir_cluster *cluster, struct dice *dice, uint32_t *done)
{
    const uint64_t id = roll(dice, IDS);

    switch (roll(dice, 10)) {
    case 0:
        done[0] +=
            weir_cluster_set_worker_state(cluster, id, roll(dice, 3), roll(dice, 9)) == WEIR_OK;
        return;
    case 1:
        done[1] +=
            weir_cluster_set_node_flags(cluster, roll(dice, NODES), roll(dice, 4)) == WEIR_OK;
        return;
    case 2:
    case 3:
    case 4:
        done[2] += weir_cluster_remove_worker(cluster, id, NULL) == WEIR_OK;
        return;
    default: {
        const struct weir_alloc alloc = random_alloc(dice);
        const bool up = weir_cluster_node(cluster, alloc.node)->flags == WEIR_NODE_UP;
        const bool fits = weir_cluster_fits(cluster, &alloc);
        const weir_status status =
            weir_cluster_add_worker(cluster, id, weir_pool_owner(roll(dice, STAGES)), &alloc, NULL);
        /* Away from nodes that are down, fits and add agree. */
        if (up && status != WEIR_EDUPLICATE)
            CHECK_I64(status == WEIR_OK, fits);
        done[3] += status == WEIR_OK;
        return;
    }
    }
}

/* covers: S0.26 */
static void rollback_restores_the_mark(void)
{
    struct weir_cluster *const cluster = open_cluster();
    struct picture *marks[DEPTH] = { NULL };
    struct dice dice = { .state = 11 };
    uint32_t depth = 0;
    uint32_t done[4] = { 0 };
    uint32_t different = 0;
    uint32_t rollbacks = 0;
    struct weir_error error = { .phase = 0 };

    for (uint32_t i = 0; i < 60000; i++) {
        const uint32_t what = roll(&dice, 40);
        if (what == 0 && depth < DEPTH) {
            marks[depth++] = take_picture(cluster);
            CHECK_I64(weir_cluster_mark(cluster), WEIR_OK);
        } else if (what == 1 && depth > 0) {
            weir_cluster_rollback(cluster);
            struct picture *const now = take_picture(cluster);
            different += memcmp(now, marks[--depth], sizeof *now) != 0;
            rollbacks++;
            free(now);
            free(marks[depth]);
        } else if (what == 2 && depth > 0) {
            weir_cluster_release(cluster);
            free(marks[--depth]);
        } else {
            change(cluster, &dice, done);
        }
        if (i % 64 == 0 && weir_cluster_check(cluster, &error) != WEIR_OK) {
            printf("  step %u: %s\n", i, error.text);
            different++;
        }
    }
    CHECK_I64(different, 0);
    CHECK(rollbacks > 200);
    for (uint32_t d = 0; d < 4; d++)
        CHECK(done[d] > 1000);
    while (depth > 0)
        free(marks[--depth]);
    weir_cluster_destroy(cluster);
}

/* Equal states have equal versions, and every change of free amounts changes them. */
static void versions_tell_states_apart(void)
{
    struct weir_cluster *const cluster = open_cluster();
    struct dice dice = { .state = 5 };
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < 20000; i++) {
        const struct weir_alloc alloc = random_alloc(&dice);
        const uint64_t before = weir_cluster_node(cluster, alloc.node)->version;
        const bool holds = alloc.cpu_units > 0 || alloc.ram_bytes > 0 || alloc.device_count > 0;
        if (weir_cluster_add_worker(cluster, i, weir_pool_owner(0), &alloc, NULL) != WEIR_OK)
            continue;
        const uint64_t after = weir_cluster_node(cluster, alloc.node)->version;
        wrong += (before == after) == holds;
        if (roll(&dice, 8) == 0)
            continue; /* it stays */
        CHECK_I64(weir_cluster_remove_worker(cluster, i, NULL), WEIR_OK);
        wrong += before != weir_cluster_node(cluster, alloc.node)->version;
    }
    CHECK_I64(wrong, 0);
    weir_cluster_destroy(cluster);
}

static const struct test tests[] = {
    { "roll-back restores the mark, orders included", rollback_restores_the_mark },
    { "versions tell states apart", versions_tell_states_apart },
};
TEST_MAIN(tests)
