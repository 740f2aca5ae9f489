/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Long random runs of placement and removal against a shadow ledger that knows nothing of the
 * inventory: what is free never falls below zero, and busy means that nothing fits.
 */
#include "sched/cluster/state.h"
#include "sched/placement/parts/scan.h"
#include "tests/support/check.h"

#include <stdio.h>
#include <string.h>

struct dice {
    uint64_t state;
};

static uint32_t roll(struct dice *dice, uint32_t below)
{
    dice->state = dice->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((dice->state >> 33) % below);
}

enum { SHADOW_NODES = 6, SHADOW_GPUS = 4, SHADOW_WORKERS = 300 };
static const int64_t SHADOW_CPUS = 5 * WEIR_ONE;
static const int64_t SHADOW_RAM = 24;
static const int64_t SHADOW_MEMORY = 80;

struct shadow {
    int64_t cpu[SHADOW_NODES], ram[SHADOW_NODES];
    int64_t gpu[SHADOW_NODES][SHADOW_GPUS], memory[SHADOW_NODES][SHADOW_GPUS];
    uint32_t decs[SHADOW_NODES][SHADOW_GPUS], encs[SHADOW_NODES][SHADOW_GPUS];
    struct weir_alloc held[SHADOW_WORKERS];
    uint32_t count;
};

/* Takes from (1) or gives back to (-1) what is free; false when more than there is goes or comes.
 */
static bool take(int64_t *free, int64_t amount, int sign, int64_t total)
{
    *free -= sign * amount;
    return *free >= 0 && *free <= total;
}

static bool take_engines(uint32_t *free, uint32_t mask, int sign)
{
    const bool is_sound = (sign > 0 ? (mask & ~*free) : (mask & *free)) == 0;
    *free ^= mask;
    return is_sound;
}

/* Gives (1) or takes back (-1); false when the shadow disagrees. */
static bool shadow_apply(struct shadow *shadow, const struct weir_alloc *alloc, int sign)
{
    const uint32_t n = alloc->node;
    bool sound = take(&shadow->cpu[n], alloc->cpu_units, sign, SHADOW_CPUS);

    sound = take(&shadow->ram[n], alloc->ram_bytes, sign, SHADOW_RAM) && sound;
    for (uint32_t d = 0; d < alloc->device_count; d++) {
        const struct weir_device *const device = &alloc->devices[d];
        const uint32_t g = device->gpu;
        sound = take(&shadow->gpu[n][g], device->units, sign, WEIR_ONE) && sound;
        sound = take(&shadow->memory[n][g], device->mem_bytes, sign, SHADOW_MEMORY) && sound;
        sound = take_engines(&shadow->decs[n][g], device->nvdec_mask, sign) && sound;
        sound = take_engines(&shadow->encs[n][g], device->nvenc_mask, sign) && sound;
    }
    return sound;
}

static bool shadow_gpu_fits(const struct shadow *shadow, uint32_t n, uint32_t g,
                            const struct weir_shape *shape)
{
    return shadow->gpu[n][g] >= shape->gpu_units && shadow->memory[n][g] >= shape->gpu_mem_bytes &&
           (uint32_t)__builtin_popcount(shadow->decs[n][g]) >= shape->nvdecs &&
           (uint32_t)__builtin_popcount(shadow->encs[n][g]) >= shape->nvencs;
}

/* Whether some node could take the shape (CPU, one share, one engine, whole GPUs). */
static bool shadow_fits(const struct shadow *shadow, const struct weir_shape *shape)
{
    for (uint32_t n = 0; n < SHADOW_NODES; n++) {
        uint32_t usable = 0;
        if (shadow->cpu[n] < shape->cpu_units || shadow->ram[n] < shape->ram_bytes)
            continue;
        for (uint32_t g = 0; g < SHADOW_GPUS; g++)
            usable += shadow_gpu_fits(shadow, n, g, shape);
        if (usable >= (shape->kind == WEIR_SHAPE_CPU     ? 0
                       : shape->kind == WEIR_SHAPE_WHOLE ? shape->gpu_count
                                                         : 1))
            return true;
    }
    return false;
}

static struct weir_cluster *shadow_open(struct shadow *shadow)
{
    struct weir_cluster *cluster = NULL;
    struct weir_gpu_spec gpus[SHADOW_GPUS];

    memset(shadow, 0, sizeof *shadow);
    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (uint32_t g = 0; g < SHADOW_GPUS; g++)
        gpus[g] = (struct weir_gpu_spec){
            .nvdecs = 3, .nvencs = 1, .units = WEIR_ONE, .mem_bytes = SHADOW_MEMORY
        };
    for (uint32_t n = 0; n < SHADOW_NODES; n++) {
        const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .gpu_count = SHADOW_GPUS,
                                             .cpu_units = SHADOW_CPUS,
                                             .ram_bytes = SHADOW_RAM,
                                             .gpus = gpus };
        CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
        shadow->cpu[n] = SHADOW_CPUS;
        shadow->ram[n] = SHADOW_RAM;
        for (uint32_t g = 0; g < SHADOW_GPUS; g++) {
            shadow->gpu[n][g] = WEIR_ONE;
            shadow->memory[n][g] = SHADOW_MEMORY;
            shadow->decs[n][g] = 7;
            shadow->encs[n][g] = 1;
        }
    }
    return cluster;
}

/* Each of the six amounts is what refuses some of these: RAM the first, memory the quarter. */
static const struct weir_shape SHADOW_SHAPES[] = {
    { .kind = WEIR_SHAPE_CPU, .cpu_units = WEIR_ONE / 4, .ram_bytes = 3 },
    { .kind = WEIR_SHAPE_CODEC, .cpu_units = WEIR_ONE / 2, .nvdecs = 1 },
    { .kind = WEIR_SHAPE_CODEC, .cpu_units = WEIR_ONE / 4, .nvencs = 1 },
    { .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .gpu_units = WEIR_ONE / 5 },
    { .kind = WEIR_SHAPE_FRACTIONAL,
      .gpu_count = 1,
      .gpu_units = WEIR_ONE / 4,
      .gpu_mem_bytes = 30,
      .ram_bytes = 1 },
    { .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .gpu_units = WEIR_ONE / 2, .nvdecs = 1 },
    { .kind = WEIR_SHAPE_WHOLE,
      .gpu_count = 2,
      .gpu_units = WEIR_ONE,
      .gpu_mem_bytes = 60,
      .cpu_units = WEIR_ONE },
};
enum { SHADOW_SHAPE_COUNT = sizeof SHADOW_SHAPES / sizeof SHADOW_SHAPES[0] };

/* One random placement or removal; false when anything disagrees. */
static bool shadow_step(struct shadow *shadow, struct weir_cluster *cluster,
                        const struct weir_placement_ops *ops, void *state, struct dice *dice)
{
    static const double frequencies[SHADOW_SHAPE_COUNT] = { .1, .1, .2, .1, .2, .2, .1 };
    const struct weir_mix mix = { .shapes = SHADOW_SHAPES,
                                  .frequencies = frequencies,
                                  .count = SHADOW_SHAPE_COUNT };
    const uint32_t stage = roll(dice, SHADOW_SHAPE_COUNT);

    if (roll(dice, 100) < 52 && shadow->count < SHADOW_WORKERS) {
        const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                                .cluster = cluster,
                                                .mix = &mix,
                                                .shape = &SHADOW_SHAPES[stage],
                                                .owner = weir_pool_owner(stage),
                                                .seed = dice->state };
        struct weir_place_answer answer;
        const weir_status status = weir_placement_place(ops, state, &query, &answer, NULL);
        if (status == WEIR_EBUSY)
            return !shadow_fits(shadow, query.shape);
        /* Worker ids are 0 .. count - 1: removal moves the last id into the hole. */
        shadow->held[shadow->count] = answer.alloc;
        return status == WEIR_OK && shadow_apply(shadow, &answer.alloc, 1) &&
               weir_cluster_add_worker(cluster, shadow->count++, weir_pool_owner(stage),
                                       &answer.alloc, NULL) == WEIR_OK;
    }
    if (shadow->count == 0)
        return true;
    const uint64_t id = roll(dice, shadow->count);
    const uint32_t last = --shadow->count;
    struct weir_worker moved;
    bool sound = weir_cluster_remove_worker(cluster, id, NULL) == WEIR_OK &&
                 shadow_apply(shadow, &shadow->held[id], -1);
    if (id != last) {
        sound = sound && weir_cluster_worker(cluster, last, &moved) &&
                weir_cluster_remove_worker(cluster, last, NULL) == WEIR_OK &&
                weir_cluster_add_worker(cluster, id, moved.owner, &moved.alloc, NULL) == WEIR_OK;
        shadow->held[id] = shadow->held[last];
    }
    return sound;
}

static void run_shadow(const char *policy, uint32_t steps)
{
    static struct shadow shadow;
    struct weir_cluster *const cluster = shadow_open(&shadow);
    const struct weir_placement_ops *const ops = weir_placement_find(policy);
    struct dice dice = { .state = 42 };
    void *state = NULL;
    uint32_t wrong = 0;

    CHECK(ops != NULL);
    if (ops->create != NULL)
        CHECK_I64(ops->create(NULL, NULL, &state, NULL), WEIR_OK);
    for (uint32_t i = 0; i < steps; i++) {
        wrong += !shadow_step(&shadow, cluster, ops, state, &dice);
        if (i % 8192 == 0)
            wrong += weir_cluster_check(cluster, NULL) != WEIR_OK;
    }
    if (!CHECK_I64(wrong, 0))
        printf("  policy %s\n", policy);
    if (ops->destroy != NULL)
        ops->destroy(state);
    weir_cluster_destroy(cluster);
}

/* covers: S0.29 S0.26 S0.19 */
static void long_runs_agree_with_a_shadow(void)
{
    run_shadow("first_fit", 500000);
    run_shadow("random", 250000);
    run_shadow("fgd_xenna", 250000);
    run_shadow("best_fit", 40000);
    run_shadow("worst_fit", 40000);
    run_shadow("spread", 20000);
}

static const struct test tests[] = {
    { "a million random operations agree with a shadow ledger", long_runs_agree_with_a_shadow },
};
TEST_MAIN(tests)
