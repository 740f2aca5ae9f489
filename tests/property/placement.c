/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Placement against oracles: the fast fgd against the plain one on random clusters and histories
 * (ties included), and candidates against an enumeration that knows nothing of them.
 *
 * Amounts and frequencies come from small sets, so that ties are frequent.
 */
#include "sched/cluster/state.h"
#include "sched/internal/alloc.h"
#include "sched/internal/stopped.h"
#include "sched/placement/fgd.h"
#include "sched/placement/parts/scan.h"
#include "sim/scenario/catalog/catalog_mig.h"
#include "tests/support/check.h"
#include "tests/support/oracle_plain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIX_MAX = 6, REUSE_MAX = 8 };

struct dice {
    uint64_t state;
};

static uint32_t roll(struct dice *dice, uint32_t below)
{
    dice->state = dice->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((dice->state >> 33) % below);
}

static const int64_t SHARES[] = { WEIR_ONE / 10, WEIR_ONE / 4, WEIR_ONE / 2, WEIR_ONE * 3 / 10,
                                  WEIR_ONE * 9 / 10 };

/* By name, or by need. */
static void random_slice(struct dice *dice, struct weir_shape *shape)
{
    const struct weir_mig *table = sim_catalog_mig_find("h100");
    const struct weir_mig_profile *profile = &table->profiles[roll(dice, table->profile_count)];

    shape->gpu_count = 1;
    shape->mig_slices = profile->slices;
    shape->gpu_units = weir_mig_units(table, (uint32_t)(profile - table->profiles));
    if (roll(dice, 2) == 0)
        memcpy(shape->mig_profile, profile->name, sizeof shape->mig_profile);
    else if (roll(dice, 3) == 0)
        shape->gpu_mem_bytes = profile->mem_bytes;
}

static struct weir_shape random_shape(struct dice *dice)
{
    struct weir_shape shape = { .kind = roll(dice, WEIR_SHAPE_KIND_COUNT),
                                .cpu_units = WEIR_ONE / 2 * (1 + roll(dice, 4)) };

    switch ((enum weir_shape_kind)shape.kind) {
    case WEIR_SHAPE_CPU:
    case WEIR_SHAPE_KIND_COUNT:
        break;
    case WEIR_SHAPE_CODEC:
        shape.nvdecs = roll(dice, 4);
        shape.nvencs = shape.nvdecs == 0 ? 1 : roll(dice, 3);
        shape.codec_same_gpu = roll(dice, 2);
        break;
    case WEIR_SHAPE_FRACTIONAL:
        shape.gpu_count = 1;
        shape.gpu_units = SHARES[roll(dice, 5)];
        shape.nvdecs = roll(dice, 3) == 0 ? 1 + roll(dice, 2) : 0;
        break;
    case WEIR_SHAPE_WHOLE:
        shape.nvdecs = roll(dice, 3) == 0;
        shape.gpu_count = 1 + roll(dice, 3);
        shape.gpu_units = WEIR_ONE;
        break;
    case WEIR_SHAPE_ENTIRE:
        shape.gpu_count = 1 + roll(dice, 2);
        shape.gpu_units = WEIR_ONE;
        break;
    case WEIR_SHAPE_SPMD_SMALL:
    case WEIR_SHAPE_SPMD_MULTI:
        shape.gpu_count = 1 + roll(dice, 3);
        shape.gpu_units = WEIR_ONE;
        shape.node_gpus = shape.gpu_count;
        shape.node_count = shape.kind == WEIR_SHAPE_SPMD_MULTI;
        break;
    case WEIR_SHAPE_SLICE:
        random_slice(dice, &shape);
        break;
    }
    if (shape.kind != WEIR_SHAPE_CPU && roll(dice, 5) == 0)
        shape.gpu_mem_bytes = 1 + roll(dice, 3);
    if (shape.kind != WEIR_SHAPE_CPU && roll(dice, 6) == 0)
        shape.gpu_type = 1 + roll(dice, 2);
    if (roll(dice, 6) == 0)
        shape.ram_bytes = 1 + roll(dice, 4);
    if (roll(dice, 8) == 0)
        shape.labels = 1 + roll(dice, 3);
    if (roll(dice, 16) == 0)
        shape.labels |= WEIR_LABEL_KEPT;
    return shape;
}

/* Some GPUs are cut: on demand, or into 3g + 2g + 1g + 1g, or into 4g + 3g. */
static void cut_some(struct weir_gpu_spec *gpus, uint32_t count, struct dice *dice)
{
    const struct weir_mig *table = sim_catalog_mig_find("h100");
    static const uint32_t counts[2][WEIR_MIG_PROFILES] = { { 2, 0, 0, 1, 1 },
                                                           { 0, 0, 0, 0, 1, 1 } };

    for (uint32_t g = 0; g < count; g++) {
        const uint32_t how = roll(dice, 4);
        if (how == 0)
            continue;
        gpus[g].mig = table;
        if (how > 1)
            CHECK_I64(weir_mig_arrange(table, counts[how - 2], &gpus[g].mig_cut, NULL), WEIR_OK);
    }
}

/* Pairs of GPUs on every second node with an even number of them, and two sockets on some; two
 * labels, and some nodes that are kept for those who ask for one. */
static struct weir_topology topology_of(uint32_t node, uint32_t gpus)
{
    const bool is_even = gpus > 0 && gpus % 2 == 0;

    return (struct weir_topology){ .sockets = is_even && node % 4 > 1 ? 2 : 0,
                                   .island_gpus = is_even && node % 2 == 0 ? 2 : 0,
                                   .labels = node % 3 == 0   ? 0
                                             : node % 5 == 1 ? WEIR_LABEL_KEPT | 1
                                                             : node % 4 };
}

/* With islands and sockets, or of nodes of which nothing is known. */
static struct weir_cluster *random_cluster(struct dice *dice, bool has_topology)
{
    struct weir_cluster *cluster = NULL;
    const uint32_t nodes = 1 + roll(dice, 6);
    const uint32_t usual_gpus = roll(dice, 6);
    const uint32_t nvdecs = roll(dice, 4);

    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (uint32_t n = 0; n < nodes; n++) {
        struct weir_gpu_spec gpus[8];
        const uint32_t count = roll(dice, 3) > 0 ? usual_gpus : roll(dice, 7);
        for (uint32_t g = 0; g < count; g++)
            gpus[g] = (struct weir_gpu_spec){ .type = roll(dice, 8) == 0,
                                              .nvdecs = nvdecs,
                                              .nvencs = 2,
                                              .units = WEIR_ONE,
                                              .mem_bytes = 4 };
        if (count > 0 && roll(dice, 3) == 0)
            cut_some(gpus, count, dice);
        const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                             .id = 100 + n,
                                             .gpu_count = count,
                                             .cpu_units = WEIR_ONE * (4 + 4 * roll(dice, 3)),
                                             .ram_bytes = 12,
                                             .gpus = gpus,
                                             .topology = has_topology
                                                             ? topology_of(n, count)
                                                             : (struct weir_topology){ 0 } };
        CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
    }
    return cluster;
}

static struct weir_fgd_rules random_rules(struct dice *dice)
{
    return (struct weir_fgd_rules){
        .metric = roll(dice, 2),
        .tie = roll(dice, 3),
        .bonus_applies = roll(dice, 2),
        .evict_tie = roll(dice, 2),
        .bonus = roll(dice, 3) == 0 ? 0.25 : 10,
        .resolution = roll(dice, 3) == 0 ? 0x1p-6 : 0x1p-40,
    };
}

static void random_single(struct weir_fgd_rules *rules, struct dice *dice)
{
    rules->precision = WEIR_FGD_SINGLE;
    rules->evict_tie = roll(dice, 3);
    rules->whole = roll(dice, 2);
    rules->engines = roll(dice, 2);
    rules->reuse = roll(dice, 3);
}

/* The implementation that keeps things, and its rules. */
struct pair {
    struct weir_fgd_rules rules;
    struct weir_fgd *fgd;
};

static void pair_close(struct pair *pair)
{
    weir_fgd_destroy(pair->fgd);
    pair->fgd = NULL;
}

static void pair_open(struct pair *pair, const struct weir_fgd_rules *rules)
{
    *pair = (struct pair){ .rules = *rules };
    CHECK_I64(weir_fgd_create(rules, NULL, &pair->fgd), WEIR_OK);
}

/* The plain one is asked with the list of stopped workers, the other with `stopped` as well. */
static weir_status pair_place(const struct pair *pair, const struct weir_place_query *query,
                              const struct weir_stopped *stopped, struct weir_place_answer *plain,
                              struct weir_place_answer *quick)
{
    struct weir_place_query quick_query = *query;
    quick_query.stopped = stopped;
    if (stopped != NULL)
        quick_query.reusable_count = 0;
    const weir_status quick_status = weir_fgd_place(pair->fgd, &quick_query, quick, NULL);
    const weir_status plain_status = pair->rules.precision == WEIR_FGD_SINGLE
                                         ? plain_single_place(&pair->rules, query, plain, NULL)
                                         : plain_fgd_place(&pair->rules, query, plain, NULL);
    return plain_status == quick_status ? plain_status : WEIR_EINVARIANT;
}

static weir_status pair_evict(const struct pair *pair, const struct weir_evict_query *query,
                              uint64_t *plain, uint64_t *quick, weir_status *quick_status)
{
    *quick_status = weir_fgd_evict(pair->fgd, query, quick, NULL);
    if (pair->rules.precision == WEIR_FGD_SINGLE)
        return plain_single_evict(&pair->rules, query, plain, NULL);
    return plain_fgd_evict(&pair->rules, query, plain, NULL);
}

/* Ties are places of the chosen node that differ, and one of the next one. Places of nodes are
 * counted alike where the plain version leaves out those that differ by GPUs in the same state. */
static bool same_report(const struct pair *pair, const struct weir_place_query *query,
                        const struct weir_choice *a, const struct weir_choice *b)
{
    if (query->reusable_count > 0)
        return true;
    if (pair->rules.precision == WEIR_FGD_SINGLE && a->candidates != b->candidates)
        return false;
    return b->ties > 0 && b->ties <= a->ties;
}

/* A history: a cluster that changes, the mix, and workers that could be reused. */
struct history {
    struct weir_cluster *cluster;
    struct weir_shape shapes[MIX_MAX];
    double frequencies[MIX_MAX];
    struct weir_mix mix;
    struct weir_worker reusable[REUSE_MAX];
    uint32_t reusable_count;
    bool follows; /* the fast one is asked by node */
    struct weir_stopped stopped;
    uint32_t numbers[REUSE_MAX]; /* of reusable, in `stopped` */
    uint64_t next_worker;
};

static void stop_worker(struct history *history, const struct weir_worker *worker)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);

    if (history->reusable_count == REUSE_MAX)
        return;
    history->numbers[history->reusable_count] = history->stopped.entry_count;
    history->reusable[history->reusable_count++] = *worker;
    CHECK_I64(weir_stopped_add(&history->stopped, &memory, worker), WEIR_OK);
}

static void take_stopped(struct history *history, uint32_t index)
{
    const uint32_t after = --history->reusable_count - index;

    weir_stopped_take(&history->stopped, history->numbers[index]);
    memmove(&history->reusable[index], &history->reusable[index + 1],
            after * sizeof history->reusable[0]);
    memmove(&history->numbers[index], &history->numbers[index + 1],
            after * sizeof history->numbers[0]);
}

static void clear_stopped(struct history *history)
{
    history->reusable_count = 0;
    weir_stopped_clear(&history->stopped);
}

static void history_close(struct history *history)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);

    weir_stopped_free(&history->stopped, &memory);
    weir_cluster_destroy(history->cluster);
}

static void random_mix(struct history *history, struct dice *dice, bool new_shapes)
{
    uint32_t weights[MIX_MAX];
    uint32_t sum = 0;

    if (new_shapes)
        history->mix.count = 1 + roll(dice, MIX_MAX);
    for (uint32_t i = 0; i < history->mix.count; i++) {
        if (new_shapes)
            history->shapes[i] = random_shape(dice);
        weights[i] = 1 + roll(dice, 3);
        sum += weights[i];
    }
    for (uint32_t i = 0; i < history->mix.count; i++)
        history->frequencies[i] = (double)weights[i] / sum;
    history->mix.shapes = history->shapes;
    history->mix.frequencies = history->frequencies;
}

static bool same_alloc(const struct weir_alloc *a, const struct weir_alloc *b)
{
    return a->node == b->node && a->device_count == b->device_count &&
           a->cpu_units == b->cpu_units && a->ram_bytes == b->ram_bytes &&
           memcmp(a->devices, b->devices, a->device_count * sizeof a->devices[0]) == 0;
}

/* Asks both, compares, and applies the answer. Returns the number of mismatches. */
static uint32_t place_both(struct history *history, struct dice *dice, struct pair *fast)
{
    const uint32_t stage = roll(dice, history->mix.count);
    const struct weir_shape other = random_shape(dice);
    const struct weir_place_query query = {
        .size = sizeof(struct weir_place_query),
        .cluster = history->cluster,
        .mix = &history->mix,
        .shape = roll(dice, 10) == 0 ? &other : &history->shapes[stage],
        .owner = weir_pool_owner(stage),
        .reusable = history->reusable,
        .reusable_count = history->reusable_count,
    };
    struct weir_place_answer expected;
    struct weir_place_answer actual;
    const weir_status status =
        pair_place(fast, &query, history->follows ? &history->stopped : NULL, &expected, &actual);

    if (status == WEIR_EINVARIANT)
        return 1;
    if (status != WEIR_OK)
        return memcmp(expected.choice.rejected, actual.choice.rejected,
                      sizeof expected.choice.rejected) != 0;
    const bool stays = expected.reused != WEIR_NO_INDEX;
    const uint32_t number =
        stays && history->follows ? history->numbers[expected.reused] : expected.reused;
    if (!same_alloc(&expected.alloc, &actual.alloc) || actual.reused != number ||
        !same_report(fast, &query, &expected.choice, &actual.choice) ||
        !(fabs(expected.choice.primary - actual.choice.primary) < 1e-12) ||
        !(fabs(expected.choice.secondary - actual.choice.secondary) < 1e-12))
        return 1;
    uint64_t id = history->next_worker++;
    if (stays) {
        id = history->reusable[expected.reused].id;
        take_stopped(history, expected.reused);
    }
    CHECK_I64(
        weir_cluster_add_worker(history->cluster, id, weir_pool_owner(stage), &actual.alloc, NULL),
        WEIR_OK);
    return 0;
}

static uint32_t evict_both(struct history *history, struct dice *dice, struct pair *fast)
{
    const uint32_t stage = roll(dice, history->mix.count);
    const uint32_t count = weir_cluster_pool_workers(history->cluster, stage);
    uint64_t listed[2] = { 0, 0 };
    struct weir_evict_query query = { .size = sizeof(struct weir_evict_query),
                                      .cluster = history->cluster,
                                      .mix = &history->mix,
                                      .owner = weir_pool_owner(stage) };
    uint64_t expected = 0;
    uint64_t actual = 0;

    if (count >= 2 && roll(dice, 4) == 0) {
        CHECK(weir_cluster_pool_worker_id(history->cluster, stage, count - 1, &listed[0]));
        CHECK(weir_cluster_pool_worker_id(history->cluster, stage, 0, &listed[1]));
        query.candidates = listed;
        query.candidate_count = 2;
    }
    weir_status quick;
    const weir_status plain = pair_evict(fast, &query, &expected, &actual, &quick);
    if (plain != quick)
        return 1;
    if (plain != WEIR_OK)
        return count != 0;
    if (expected != actual)
        return 1;
    struct weir_worker worker;
    CHECK(weir_cluster_worker(history->cluster, actual, &worker));
    stop_worker(history, &worker);
    CHECK_I64(weir_cluster_remove_worker(history->cluster, actual, NULL), WEIR_OK);
    return 0;
}

/* A trial that is rolled back must leave no trace, in the caches neither. */
static uint32_t trial(struct history *history, struct dice *dice, struct pair *fast)
{
    struct weir_worker before[REUSE_MAX];
    const uint32_t before_count = history->reusable_count;
    uint32_t mismatches = 0;

    memcpy(before, history->reusable, before_count * sizeof before[0]);
    CHECK_I64(weir_cluster_mark(history->cluster), WEIR_OK);
    for (int i = 0; i < 5; i++)
        mismatches +=
            roll(dice, 2) ? place_both(history, dice, fast) : evict_both(history, dice, fast);
    weir_cluster_rollback(history->cluster);
    clear_stopped(history);
    for (uint32_t i = 0; i < before_count; i++)
        stop_worker(history, &before[i]);
    return mismatches;
}

static uint32_t step(struct history *history, struct dice *dice, struct pair *fast)
{
    const uint32_t what = roll(dice, 100);

    if (what < 60)
        return place_both(history, dice, fast);
    if (what < 90)
        return evict_both(history, dice, fast);
    if (what < 92)
        random_mix(history, dice, false);
    else if (what < 94)
        clear_stopped(history);
    else if (what < 96) {
        const uint32_t node = roll(dice, weir_cluster_node_count(history->cluster));
        const uint32_t flags = roll(dice, 2) == 0 ? WEIR_NODE_UP : roll(dice, 4);
        CHECK_I64(weir_cluster_set_node_flags(history->cluster, node, flags), WEIR_OK);
    } else if (what < 98) {
        struct weir_cluster *copy = NULL;
        CHECK_I64(weir_cluster_copy(history->cluster, &copy), WEIR_OK);
        weir_cluster_destroy(history->cluster);
        history->cluster = copy;
    } else {
        return trial(history, dice, fast);
    }
    return 0;
}

/* 120 steps each: 10^5 in all, ten times that with WEIR_SLOW set. */
static uint64_t history_count(void)
{
    return test_is_slow() ? 8400 : 840;
}

static void compare_on_random_clusters(uint32_t precision)
{
    static struct history history;
    uint32_t mismatches = 0;
    struct weir_error error = { .phase = 0 };
    struct pair fast = { .fgd = NULL };

    for (uint64_t seed = 1; seed <= history_count(); seed++) {
        struct dice dice = { .state = seed };
        history = (struct history){ .next_worker = 1, .follows = seed % 3 > 0 };
        history.stopped.round = seed << 32; /* no other history's */
        /* Several clusters in turn are asked about with the same state. */
        if (seed % 4 == 1) {
            struct weir_fgd_rules rules = random_rules(&dice);
            if (precision == WEIR_FGD_SINGLE)
                random_single(&rules, &dice);
            pair_close(&fast);
            pair_open(&fast, &rules);
        }
        history.cluster = random_cluster(&dice, seed % 2 == 1);
        random_mix(&history, &dice, true);
        for (int i = 0; i < 120; i++) {
            const uint32_t wrong = step(&history, &dice, &fast);
            if (wrong > 0)
                printf("  mismatch: seed %llu step %d\n", (unsigned long long)seed, i);
            mismatches += wrong;
        }
        if (!CHECK_I64(weir_cluster_check(history.cluster, &error), WEIR_OK))
            printf("  seed %llu: %s\n", (unsigned long long)seed, error.text);
        history_close(&history);
    }
    pair_close(&fast);
    CHECK_I64(mismatches, 0);
}

/* covers: S0.25 S0.28 S0.26 */
static void fast_equals_plain(void)
{
    compare_on_random_clusters(WEIR_FGD_DOUBLE);
}

static void fast_equals_plain_in_single_precision(void)
{
    compare_on_random_clusters(WEIR_FGD_SINGLE);
}

/* A long stage goes through the victims' tournament instead of the list of candidates. */
static void compare_on_long_stages(uint32_t precision, bool follows)
{
    const struct weir_fgd_rules rules = { .bonus_applies = WEIR_FGD_REUSED,
                                          .bonus = 10,
                                          .resolution = 0x1p-40,
                                          .reuse = WEIR_FGD_REUSE_MOST_USED,
                                          .precision = precision };
    struct pair fast;
    struct history history = { .next_worker = 1, .follows = follows };
    struct dice dice = { .state = 13 };
    uint32_t mismatches = 0;

    CHECK_I64(weir_cluster_create(NULL, &history.cluster), WEIR_OK);
    pair_open(&fast, &rules);
    for (uint32_t n = 0; n < 12; n++) {
        struct weir_gpu_spec gpus[8];
        for (uint32_t g = 0; g < 8; g++)
            gpus[g] = (struct weir_gpu_spec){ .nvdecs = 7, .units = WEIR_ONE };
        const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .gpu_count = 8,
                                             .cpu_units = 64 * WEIR_ONE,
                                             .gpus = gpus };
        CHECK_I64(weir_cluster_add_node(history.cluster, &spec, NULL, NULL), WEIR_OK);
    }
    history.shapes[0] = (struct weir_shape){ .kind = WEIR_SHAPE_CPU, .cpu_units = WEIR_ONE };
    history.shapes[1] = (struct weir_shape){ .kind = WEIR_SHAPE_FRACTIONAL,
                                             .gpu_count = 1,
                                             .cpu_units = WEIR_ONE,
                                             .gpu_units = WEIR_ONE / 4 };
    history.shapes[2] =
        (struct weir_shape){ .kind = WEIR_SHAPE_CODEC, .cpu_units = WEIR_ONE, .nvdecs = 1 };
    history.shapes[3] = (struct weir_shape){
        .kind = WEIR_SHAPE_WHOLE, .gpu_count = 2, .cpu_units = WEIR_ONE, .gpu_units = WEIR_ONE
    };
    history.mix.count = 4;
    random_mix(&history, &dice, false);
    for (int i = 0; i < 900; i++) {
        mismatches += i < 350 || roll(&dice, 2) ? place_both(&history, &dice, &fast)
                                                : evict_both(&history, &dice, &fast);
    }
    CHECK(weir_cluster_pool_workers(history.cluster, 0) > 50);
    CHECK(weir_cluster_pool_workers(history.cluster, 1) > 50);
    CHECK_I64(mismatches, 0);
    CHECK_I64(weir_cluster_check(history.cluster, NULL), WEIR_OK);
    pair_close(&fast);
    history_close(&history);
}

static void fast_equals_plain_for_long_stages(void)
{
    compare_on_long_stages(WEIR_FGD_DOUBLE, false);
    compare_on_long_stages(WEIR_FGD_DOUBLE, true);
    compare_on_long_stages(WEIR_FGD_SINGLE, false);
    compare_on_long_stages(WEIR_FGD_SINGLE, true);
}

/* ---- candidates against a naive enumeration ---- */

/* Whether one GPU can give `units`, `decs` and `encs`. */
static bool gpu_gives(const struct weir_gpu *gpu, const struct weir_shape *shape, uint32_t decs,
                      uint32_t encs)
{
    if (gpu->mig != NULL || gpu->units_free < shape->gpu_units ||
        gpu->mem_free_bytes < shape->gpu_mem_bytes)
        return false;
    if (shape->gpu_type != 0 && gpu->type + 1 != shape->gpu_type)
        return false;
    return (uint32_t)__builtin_popcount(gpu->nvdec_free) >= decs &&
           (uint32_t)__builtin_popcount(gpu->nvenc_free) >= encs;
}

static bool untouched(const struct weir_gpu *gpu)
{
    return gpu->units_free == WEIR_ONE && gpu->nvdec_free == gpu->nvdec_all &&
           gpu->nvenc_free == gpu->nvenc_all && gpu->mem_free_bytes == gpu->mem_total_bytes;
}

/* Ways to split (decs, encs) over GPUs from `gpu` on. */
static uint32_t count_splits(const struct weir_cluster *cluster, uint32_t node,
                             const struct weir_shape *shape, uint32_t gpu, uint32_t wanted)
{
    const uint32_t decs = wanted >> 16;
    const uint32_t encs = wanted & 0xffff;
    uint32_t ways = 0;

    if (gpu == cluster->nodes[node].gpu_count)
        return wanted == 0;
    for (uint32_t d = 0; d <= decs; d++) {
        for (uint32_t e = 0; e <= encs; e++) {
            const struct weir_gpu *const books = weir_cluster_gpu(cluster, node, gpu);
            if (d + e == 0 || gpu_gives(books, shape, d, e))
                ways +=
                    count_splits(cluster, node, shape, gpu + 1, ((decs - d) << 16) | (encs - e));
        }
    }
    return ways;
}

/* Free instances of one GPU that will do. */
static uint32_t count_instances(const struct weir_gpu *gpu, const struct weir_shape *shape)
{
    uint32_t ways = 0;

    if (gpu->mig == NULL || (shape->gpu_type != 0 && gpu->type + 1 != shape->gpu_type))
        return 0;
    for (uint32_t p = 0; p < gpu->mig->profile_count; p++) {
        const struct weir_mig_profile *profile = &gpu->mig->profiles[p];
        if ((shape->mig_profile[0] != '\0' && strcmp(shape->mig_profile, profile->name) != 0) ||
            profile->slices < shape->mig_slices || profile->mem_bytes < shape->gpu_mem_bytes)
            continue;
        for (uint32_t s = 0; s < 8; s++)
            ways += weir_mig_free(gpu->mig, gpu->mig_state, p, s);
        if (gpu->mig_state.cut == 0)
            break; /* made on demand: the smallest alone */
    }
    return ways;
}

/* Whether labels let the shape be there, one by one. */
static bool takes_naively(const struct weir_cluster *cluster, uint32_t node,
                          const struct weir_shape *shape)
{
    const uint32_t has = weir_cluster_topology(cluster, node).labels;
    bool asks = false;

    for (uint32_t i = 0; i < 31; i++) {
        const bool is_asked = (shape->labels >> i & 1) != 0;
        if (is_asked && (has >> i & 1) == 0)
            return false;
        asks |= is_asked;
    }
    return has >> 31 == 0 || asks || shape->labels >> 31 == 1;
}

/* Candidates of a node, counted without the code under test. */
static uint32_t count_naively(const struct weir_cluster *cluster, uint32_t node,
                              const struct weir_shape *shape)
{
    const struct weir_node *const books = &cluster->nodes[node];
    uint32_t usable = 0;
    uint32_t ways = 1;

    if (books->flags != WEIR_NODE_UP || books->cpu_free < shape->cpu_units ||
        books->ram_free_bytes < shape->ram_bytes || !takes_naively(cluster, node, shape))
        return 0;
    if (shape->kind == WEIR_SHAPE_CPU)
        return 1;
    if (shape->kind == WEIR_SHAPE_CODEC && !shape->codec_same_gpu)
        return count_splits(cluster, node, shape, 0, (shape->nvdecs << 16) | shape->nvencs);
    for (uint32_t g = 0; g < books->gpu_count; g++) {
        const struct weir_gpu *const gpu = weir_cluster_gpu(cluster, node, g);
        if (shape->kind == WEIR_SHAPE_SLICE) {
            usable += count_instances(gpu, shape);
            continue;
        }
        usable += gpu_gives(gpu, shape, shape->nvdecs, shape->nvencs) &&
                  (shape->kind != WEIR_SHAPE_ENTIRE || untouched(gpu));
    }
    const uint32_t needed = shape->gpu_count > 0 ? shape->gpu_count : 1;
    if (usable < needed)
        return 0;
    if (shape->kind == WEIR_SHAPE_SPMD_MULTI && books->gpu_count != needed)
        return 0;
    if (shape->kind == WEIR_SHAPE_SPMD_SMALL || shape->kind == WEIR_SHAPE_SPMD_MULTI)
        return 1;
    for (uint32_t i = 0; i < needed; i++)
        ways = ways * (usable - i) / (i + 1);
    return ways;
}

struct order {
    const struct weir_cluster *cluster;
    struct weir_alloc last;
    uint32_t seen;
    uint32_t wrong;
};

static bool check_candidate(void *state, const struct weir_alloc *candidate)
{
    struct order *const order = state;

    if (!weir_cluster_fits(order->cluster, candidate))
        order->wrong++;
    if (order->seen > 0 && same_alloc(&order->last, candidate))
        order->wrong++;
    order->last = *candidate;
    order->seen++;
    return true;
}

static void fill_randomly(struct weir_cluster *cluster, struct dice *dice, uint32_t workers)
{
    const struct weir_placement_ops *const random = weir_placement_find("random");

    for (uint32_t w = 0; w < workers; w++) {
        const struct weir_shape shape = random_shape(dice);
        const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                                .cluster = cluster,
                                                .shape = &shape,
                                                .seed = dice->state };
        struct weir_place_answer answer;
        if (weir_placement_place(random, NULL, &query, &answer, NULL) == WEIR_OK)
            CHECK_I64(weir_cluster_add_worker(cluster, w, weir_pool_owner(shape.kind),
                                              &answer.alloc, NULL),
                      WEIR_OK);
    }
}

/* covers: S0.29 S0.20 S0.21 S0.22 */
static void candidates_are_complete(void)
{
    uint32_t wrong = 0;

    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct dice dice = { .state = seed * 977 };
        struct weir_cluster *const cluster = random_cluster(&dice, false);
        fill_randomly(cluster, &dice, roll(&dice, 12));
        for (int i = 0; i < 20; i++) {
            const struct weir_shape shape = random_shape(&dice);
            struct order order = { .cluster = cluster };
            const struct weir_candidate_query query = {
                .cluster = cluster,
                .shape = &shape,
                .node = roll(&dice, weir_cluster_node_count(cluster)),
            };
            const uint32_t expected = count_naively(cluster, query.node, &shape);
            (void)weir_candidates_visit(&query, check_candidate, &order);
            const uint32_t reason = weir_candidates_reason(cluster, &shape, query.node);
            if (order.seen != expected || order.wrong > 0 ||
                (reason == WEIR_REASON_NONE) != (expected > 0)) {
                wrong++;
                printf("  seed %llu: %u candidates, %u expected, %u wrong, kind %s, %s\n",
                       (unsigned long long)seed, order.seen, expected, order.wrong,
                       weir_shape_kind_name(shape.kind), weir_reason_text(reason));
            }
        }
        weir_cluster_destroy(cluster);
    }
    CHECK_I64(wrong, 0);
}

/* Of two nodes with the same GPUs in another order the second is better for a policy that takes the
 * first GPU that is free: there that is the one whose engines are held. */
static void only_the_first_gpu_is_looked_at(void)
{
    const struct weir_fgd_rules rules = { .precision = WEIR_FGD_SINGLE,
                                          .whole = WEIR_FGD_FIRST_FREE,
                                          .resolution = 0x1p-40 };
    const struct weir_shape shapes[] = {
        { .kind = WEIR_SHAPE_ENTIRE, .gpu_count = 1, .gpu_units = WEIR_ONE },
        { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 1, .gpu_units = WEIR_ONE },
    };
    const double frequencies[] = { 1, 0 };
    const struct weir_mix mix = { .shapes = shapes, .frequencies = frequencies, .count = 2 };
    const struct weir_gpu_spec gpus[2] = { { .units = WEIR_ONE, .nvdecs = 7 },
                                           { .units = WEIR_ONE, .nvdecs = 7 } };
    struct weir_place_query query = {
        .size = sizeof query, .mix = &mix, .shape = &shapes[1], .owner = weir_pool_owner(0)
    };
    struct weir_cluster *cluster = NULL;
    struct pair fast;

    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    pair_open(&fast, &rules);
    for (uint32_t n = 0; n < 2; n++) {
        const struct weir_node_spec spec = {
            .size = sizeof spec, .id = n, .gpu_count = 2, .cpu_units = WEIR_ONE, .gpus = gpus
        };
        const struct weir_alloc held = { .node = n,
                                         .device_count = 1,
                                         .devices = { { .gpu = 1 - n, .nvdec_mask = 1 } } };
        CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
        CHECK_I64(weir_cluster_add_worker(cluster, n, weir_pool_owner(1), &held, NULL), WEIR_OK);
    }
    struct weir_place_answer expected;
    struct weir_place_answer actual;
    query.cluster = cluster;
    CHECK_I64(pair_place(&fast, &query, NULL, &expected, &actual), WEIR_OK);
    CHECK_I64(expected.alloc.node, 1);
    CHECK(same_alloc(&expected.alloc, &actual.alloc));
    pair_close(&fast);
    weir_cluster_destroy(cluster);
}

static const struct test tests[] = {
    { "fast fgd equals plain fgd on random clusters, ties included", fast_equals_plain },
    { "fast fgd equals plain fgd in single precision", fast_equals_plain_in_single_precision },
    { "fast fgd equals plain fgd when stages are long", fast_equals_plain_for_long_stages },
    { "only the first GPU that is free is looked at", only_the_first_gpu_is_looked_at },
    { "candidates are all that a naive enumeration finds", candidates_are_complete },
};
TEST_MAIN(tests)
