/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The built-in placement policies on small clusters with answers worked out by hand.
 */
#include "sched/cluster/state.h"
#include "sched/placement/fgd.h"
#include "sched/placement/parts/scan.h"
#include "sched/placement/policies.h"
#include "tests/support/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct weir_shape CPU_ONE = { .kind = WEIR_SHAPE_CPU, .cpu_units = WEIR_ONE };
static const struct weir_shape HALF = { .kind = WEIR_SHAPE_FRACTIONAL,
                                        .gpu_count = 1,
                                        .gpu_units = WEIR_ONE / 2 };
static const struct weir_shape WHOLE = { .kind = WEIR_SHAPE_WHOLE,
                                         .gpu_count = 1,
                                         .gpu_units = WEIR_ONE };
static const struct weir_shape ENTIRE = { .kind = WEIR_SHAPE_ENTIRE,
                                          .gpu_count = 1,
                                          .gpu_units = WEIR_ONE };
static const struct weir_shape NVDEC = { .kind = WEIR_SHAPE_CODEC, .nvdecs = 1 };

/* The mix half a half-GPU shape, half a whole one. */
static const struct weir_shape HALF_AND_WHOLE[] = {
    { .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .gpu_units = WEIR_ONE / 2 },
    { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 1, .gpu_units = WEIR_ONE },
};
static const double EVENLY[] = { 0.5, 0.5 };
static const struct weir_mix MIX = { HALF_AND_WHOLE, EVENLY, 2, 0 };

struct lab {
    struct weir_cluster *cluster;
    const struct weir_placement_ops *ops;
    void *state;
    uint64_t next_worker;
    uint64_t seed;
    struct weir_place_answer answer;
    struct weir_error error;
};

/* `nodes` nodes of 8 CPUs and `gpus` GPUs with `nvdecs` decoders (and 2 bytes of memory) each. */
static struct lab open_lab_of(const struct weir_placement_ops *ops, uint32_t nodes, uint32_t gpus,
                              uint32_t nvdecs)
{
    struct lab lab = { .ops = ops };
    struct weir_gpu_spec specs[WEIR_MAX_NODE_GPUS];

    CHECK(lab.ops != NULL);
    CHECK_I64(weir_cluster_create(NULL, &lab.cluster), WEIR_OK);
    for (uint32_t g = 0; g < gpus; g++)
        specs[g] = (struct weir_gpu_spec){ .nvdecs = nvdecs, .units = WEIR_ONE, .mem_bytes = 2 };
    for (uint32_t n = 0; n < nodes; n++) {
        const struct weir_node_spec spec = { .size = sizeof(struct weir_node_spec),
                                             .id = n,
                                             .gpu_count = gpus,
                                             .cpu_units = 8 * WEIR_ONE,
                                             .gpus = specs };
        CHECK_I64(weir_cluster_add_node(lab.cluster, &spec, NULL, NULL), WEIR_OK);
    }
    if (lab.ops->create != NULL)
        CHECK_I64(lab.ops->create(NULL, NULL, &lab.state, NULL), WEIR_OK);
    return lab;
}

static struct lab open_lab(const char *policy, uint32_t nodes, uint32_t gpus, uint32_t nvdecs)
{
    return open_lab_of(weir_placement_find(policy), nodes, gpus, nvdecs);
}

static void close_lab(struct lab *lab)
{
    CHECK_I64(weir_cluster_check(lab->cluster, NULL), WEIR_OK);
    if (lab->ops->destroy != NULL)
        lab->ops->destroy(lab->state);
    weir_cluster_destroy(lab->cluster);
}

static weir_status ask(struct lab *lab, const struct weir_shape *shape, uint32_t stage)
{
    const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                            .cluster = lab->cluster,
                                            .mix = &MIX,
                                            .shape = shape,
                                            .owner = weir_pool_owner(stage),
                                            .seed = lab->seed++ };

    return weir_placement_place(lab->ops, lab->state, &query, &lab->answer, &lab->error);
}

/* Asks and starts a worker there. */
static weir_status start(struct lab *lab, const struct weir_shape *shape, uint32_t stage)
{
    WEIR_TRY(ask(lab, shape, stage));
    return weir_cluster_add_worker(lab->cluster, lab->next_worker++, weir_pool_owner(stage),
                                   &lab->answer.alloc, NULL);
}

/* covers: S0.3 S0.28 */
static void fgd_packs_and_spread_splits(void)
{
    struct lab fgd = open_lab("fgd_xenna", 1, 2, 0);
    struct lab spread = open_lab("spread", 1, 2, 0);

    for (int i = 0; i < 2; i++) {
        CHECK_I64(start(&fgd, &HALF, 0), WEIR_OK);
        CHECK_I64(start(&spread, &HALF, 0), WEIR_OK);
    }
    CHECK_I64(weir_cluster_gpu(fgd.cluster, 0, 0)->units_free, 0);
    CHECK_I64(weir_cluster_gpu(spread.cluster, 0, 0)->units_free, WEIR_ONE / 2);
    CHECK(fabs(weir_frag_cluster(fgd.cluster, &MIX, WEIR_FRAG_XENNA) - 0.0) <= 0);
    CHECK(fabs(weir_frag_cluster(spread.cluster, &MIX, WEIR_FRAG_XENNA) - 0.5) <= 0);
    CHECK_I64(start(&fgd, &WHOLE, 1), WEIR_OK);
    CHECK_I64(start(&spread, &WHOLE, 1), WEIR_EBUSY);
    CHECK_I64(spread.answer.choice.rejected[WEIR_REASON_GPU_WHOLE], 1);
    CHECK_STR(spread.error.text, "fits none of 1 nodes now, 1 of them: too few free GPUs");
    close_lab(&fgd);
    close_lab(&spread);
}

/* covers: S0.27 */
static void fragmentation_of_shapes_by_hand(void)
{
    struct lab lab = open_lab("fgd_xenna", 1, 2, 3);
    const double one = 1;
    const struct weir_mix cpu_only = { &CPU_ONE, &one, 1, 0 };
    const struct weir_shape wants_nvdec = {
        .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .gpu_units = WEIR_ONE / 2, .nvdecs = 1
    };

    CHECK_NEAR(weir_frag_node(lab.cluster, 0, &cpu_only, WEIR_FRAG_XENNA), 2.0, 0);
    CHECK_I64(weir_frag_units(lab.cluster, 0, &WHOLE, WEIR_FRAG_XENNA), 0);
    for (int i = 0; i < 3; i++)
        CHECK_I64(start(&lab, &NVDEC, 0), WEIR_OK);
    CHECK_I64(weir_cluster_gpu(lab.cluster, 0, 0)->nvdec_free, 0);
    /* A GPU without decoders is lost for shapes that want one, in the paper's metric it is not. */
    CHECK_I64(weir_frag_units(lab.cluster, 0, &wants_nvdec, WEIR_FRAG_XENNA), WEIR_ONE);
    CHECK_I64(weir_frag_units(lab.cluster, 0, &wants_nvdec, WEIR_FRAG_PAPER), 0);
    CHECK_I64(weir_frag_units(lab.cluster, 0, &ENTIRE, WEIR_FRAG_XENNA), WEIR_ONE);
    CHECK_I64(weir_frag_units(lab.cluster, 0, &ENTIRE, WEIR_FRAG_PAPER), 0);
    close_lab(&lab);
}

/* covers: S0.12 */
static void decoders_run_out_and_come_back(void)
{
    struct lab lab = open_lab("fgd_xenna", 1, 8, 7);
    const struct weir_shape nvenc = { .kind = WEIR_SHAPE_CODEC, .nvencs = 1 };
    struct weir_worker removed;

    for (int i = 0; i < 56; i++)
        CHECK_I64(start(&lab, &NVDEC, 0), WEIR_OK);
    CHECK_I64(start(&lab, &NVDEC, 0), WEIR_EBUSY);
    CHECK_I64(lab.answer.choice.rejected[WEIR_REASON_NVDEC], 1);
    CHECK(weir_cluster_worker(lab.cluster, 17, &removed));
    CHECK_I64(weir_cluster_remove_worker(lab.cluster, 17, NULL), WEIR_OK);
    CHECK_I64(start(&lab, &NVDEC, 0), WEIR_OK);
    CHECK_I64(lab.answer.alloc.devices[0].gpu, removed.alloc.devices[0].gpu);
    CHECK_I64(lab.answer.alloc.devices[0].nvdec_mask, removed.alloc.devices[0].nvdec_mask);
    CHECK_I64(start(&lab, &nvenc, 0), WEIR_EBUSY);
    CHECK_I64(lab.answer.choice.rejected[WEIR_REASON_NVENC], 1);
    close_lab(&lab);
}

/* covers: S0.20 */
static void codecs_spread_unless_told_otherwise(void)
{
    struct lab lab = open_lab("fgd_xenna", 1, 2, 2);
    struct weir_shape two = { .kind = WEIR_SHAPE_CODEC, .nvdecs = 2, .codec_same_gpu = 1 };
    struct weir_alloc taken = { .device_count = 2,
                                .devices = { { .gpu = 0, .nvdec_mask = 1 },
                                             { .gpu = 1, .nvdec_mask = 2 } } };

    CHECK_I64(weir_cluster_add_worker(lab.cluster, 50, weir_pool_owner(9), &taken, NULL), WEIR_OK);
    CHECK_I64(ask(&lab, &two, 0), WEIR_EBUSY);
    CHECK_I64(lab.answer.choice.rejected[WEIR_REASON_NVDEC], 1);
    two.codec_same_gpu = 0;
    CHECK_I64(start(&lab, &two, 0), WEIR_OK);
    CHECK_I64(lab.answer.alloc.device_count, 2);
    CHECK_I64(lab.answer.alloc.devices[0].nvdec_mask, 2);
    CHECK_I64(lab.answer.alloc.devices[1].nvdec_mask, 1);
    close_lab(&lab);
}

/* covers: S0.21 */
static void shares_fill_a_gpu_and_need_its_decoders(void)
{
    struct lab lab = open_lab("fgd_xenna", 1, 1, 1);
    struct weir_shape fifth = { .kind = WEIR_SHAPE_FRACTIONAL,
                                .gpu_count = 1,
                                .gpu_units = WEIR_ONE / 5 };
    const struct weir_alloc decoder = { .device_count = 1, .devices = { { .nvdec_mask = 1 } } };

    for (int i = 0; i < 4; i++)
        CHECK_I64(start(&lab, &fifth, 0), WEIR_OK);
    CHECK_I64(weir_cluster_add_worker(lab.cluster, 50, weir_pool_owner(9), &decoder, NULL),
              WEIR_OK);
    fifth.nvdecs = 1;
    CHECK_I64(start(&lab, &fifth, 0), WEIR_EBUSY);
    CHECK_I64(lab.answer.choice.rejected[WEIR_REASON_NVDEC], 1);
    fifth.nvdecs = 0;
    CHECK_I64(start(&lab, &fifth, 0), WEIR_OK);
    CHECK_I64(start(&lab, &fifth, 0), WEIR_EBUSY);
    CHECK_I64(lab.answer.choice.rejected[WEIR_REASON_GPU_FREE], 1);
    close_lab(&lab);
}

/* covers: S0.22 S0.23 S0.24 */
static void whole_gpus_share_codecs_and_entire_ones_do_not(void)
{
    struct lab lab = open_lab("fgd_xenna", 1, 1, 7);
    const struct weir_alloc decoder = { .device_count = 1, .devices = { { .nvdec_mask = 1 } } };
    struct weir_shape whole = WHOLE;

    CHECK_I64(weir_cluster_add_worker(lab.cluster, 50, weir_pool_owner(9), &decoder, NULL),
              WEIR_OK);
    CHECK_I64(ask(&lab, &ENTIRE, 0), WEIR_EBUSY);
    CHECK_I64(lab.answer.choice.rejected[WEIR_REASON_NVDEC], 1);
    whole.nvdecs = 7;
    CHECK_I64(ask(&lab, &whole, 0), WEIR_EBUSY);
    whole.nvdecs = 6;
    CHECK_I64(start(&lab, &whole, 0), WEIR_OK);
    CHECK_I64(lab.answer.alloc.devices[0].nvdec_mask, 0x7e);
    CHECK_I64(weir_cluster_remove_worker(lab.cluster, 50, NULL), WEIR_OK);
    CHECK_I64(weir_cluster_remove_worker(lab.cluster, 0, NULL), WEIR_OK);
    CHECK_I64(start(&lab, &ENTIRE, 0), WEIR_OK);
    CHECK_I64(weir_cluster_gpu(lab.cluster, 0, 0)->nvdec_free, 0);
    CHECK_I64(weir_cluster_free(lab.cluster).nvdecs, 0);
    close_lab(&lab);
}

/* covers: S0.29 */
static void every_lack_has_its_reason(void)
{
    struct lab lab = open_lab("best_fit", 1, 2, 1);
    static const struct {
        struct weir_shape shape;
        uint32_t reason;
    } rows[] = {
        { { .kind = WEIR_SHAPE_CPU, .cpu_units = 9 * WEIR_ONE }, WEIR_REASON_CPU },
        { { .kind = WEIR_SHAPE_CPU, .ram_bytes = 1 }, WEIR_REASON_RAM },
        { { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 3, .gpu_units = WEIR_ONE },
          WEIR_REASON_GPU_WHOLE },
        { { .kind = WEIR_SHAPE_WHOLE, .gpu_count = 17, .gpu_units = WEIR_ONE },
          WEIR_REASON_GPU_WHOLE },
        { { .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .gpu_units = 5, .gpu_type = 2 },
          WEIR_REASON_GPU_TYPE },
        { { .kind = WEIR_SHAPE_FRACTIONAL, .gpu_count = 1, .gpu_units = 5, .gpu_mem_bytes = 3 },
          WEIR_REASON_GPU_MEM },
        { { .kind = WEIR_SHAPE_CODEC, .nvdecs = 3 }, WEIR_REASON_NVDEC },
        { { .kind = WEIR_SHAPE_CODEC, .nvdecs = 1, .nvencs = 1 }, WEIR_REASON_NVENC },
        { { .kind = WEIR_SHAPE_CODEC, .nvdecs = 1, .gpu_type = 1, .gpu_mem_bytes = 2 },
          WEIR_REASON_NONE },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const weir_status status = ask(&lab, &rows[i].shape, 0);
        CHECK_I64(status, rows[i].reason == WEIR_REASON_NONE ? WEIR_OK : WEIR_EBUSY);
        CHECK_I64(weir_candidates_reason(lab.cluster, &rows[i].shape, 0), rows[i].reason);
        if (status != WEIR_OK)
            CHECK_I64(lab.answer.choice.rejected[rows[i].reason], 1);
    }
    CHECK_I64(weir_cluster_set_node_flags(lab.cluster, 0, WEIR_NODE_UP | WEIR_NODE_CORDONED),
              WEIR_OK);
    CHECK_I64(ask(&lab, &HALF, 0), WEIR_EBUSY);
    CHECK_I64(lab.answer.choice.rejected[WEIR_REASON_NODE_DOWN], 1);
    close_lab(&lab);
}

/* Where each policy puts half a GPU when node 0 is half used on its GPU 1 and node 1 is empty. */
static void the_fits_differ_as_named(void)
{
    static const struct {
        const char *policy;
        uint32_t node, gpu;
    } rows[] = {
        { "first_fit", 0, 0 }, { "best_fit", 0, 1 },  { "worst_fit", 1, 0 },
        { "spread", 1, 0 },    { "fgd_xenna", 0, 1 },
    };
    const struct weir_alloc used = { .device_count = 1,
                                     .cpu_units = WEIR_ONE,
                                     .devices = { { .gpu = 1, .units = WEIR_ONE / 2 } } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct lab lab = open_lab(rows[i].policy, 2, 2, 0);
        CHECK_I64(weir_cluster_add_worker(lab.cluster, 50, weir_pool_owner(0), &used, NULL),
                  WEIR_OK);
        CHECK_I64(ask(&lab, &HALF, 0), WEIR_OK);
        CHECK_I64(lab.answer.alloc.node, rows[i].node);
        CHECK_I64(lab.answer.alloc.devices[0].gpu, rows[i].gpu);
        CHECK(lab.answer.choice.candidates > 0);
        close_lab(&lab);
    }
}

static void random_draws_evenly_and_repeatably(void)
{
    struct lab lab = open_lab("random", 3, 2, 0);
    uint32_t hits[6] = { 0 };

    for (int i = 0; i < 6000; i++) {
        CHECK_I64(ask(&lab, &HALF, 0), WEIR_OK);
        hits[lab.answer.alloc.node * 2 + lab.answer.alloc.devices[0].gpu]++;
    }
    /* 1000 each expected, standard deviation 29: beyond 5.5 of them once in a million. */
    for (int i = 0; i < 6; i++)
        CHECK(hits[i] > 840 && hits[i] < 1160);
    lab.seed = 99;
    CHECK_I64(ask(&lab, &HALF, 0), WEIR_OK);
    const struct weir_alloc first = lab.answer.alloc;
    lab.seed = 99;
    CHECK_I64(ask(&lab, &HALF, 0), WEIR_OK);
    CHECK_I64(lab.answer.alloc.node, first.node);
    CHECK_I64(lab.answer.alloc.devices[0].gpu, first.devices[0].gpu);
    close_lab(&lab);
}

static uint64_t evicted(struct lab *lab, uint32_t stage)
{
    const struct weir_evict_query query = { .size = sizeof(struct weir_evict_query),
                                            .cluster = lab->cluster,
                                            .mix = &MIX,
                                            .owner = weir_pool_owner(stage) };
    uint64_t worker = UINT64_MAX;

    CHECK_I64(weir_placement_evict(lab->ops, lab->state, &query, &worker, NULL), WEIR_OK);
    return worker;
}

/* Node 0 holds workers 0 and 1 on one GPU, node 1 holds worker 2 alone and CPU work. */
static void victims_differ_by_policy(void)
{
    static const struct {
        const char *policy;
        uint64_t victim;
    } rows[] = { { "first_fit", 2 }, { "best_fit", 2 }, { "spread", 1 }, { "fgd_xenna", 2 } };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct lab lab = open_lab(rows[i].policy, 2, 1, 0);
        for (uint64_t w = 0; w < 3; w++) {
            const struct weir_alloc alloc = { .node = w == 2,
                                              .device_count = 1,
                                              .devices = { { .units = WEIR_ONE / 2 } } };
            CHECK_I64(weir_cluster_add_worker(lab.cluster, w, weir_pool_owner(0), &alloc, NULL),
                      WEIR_OK);
        }
        CHECK_I64(evicted(&lab, 0), rows[i].victim);
        const struct weir_evict_query nobody = { .size = sizeof(struct weir_evict_query),
                                                 .cluster = lab.cluster,
                                                 .mix = &MIX,
                                                 .owner = weir_pool_owner(5) };
        uint64_t untouched = 77;
        CHECK_I64(weir_placement_evict(lab.ops, lab.state, &nobody, &untouched, NULL),
                  WEIR_ENOTFOUND);
        CHECK_I64(untouched, 77);
        close_lab(&lab);
    }
}

/* So many that victims are followed. In the second inventory others have their slots. */
static void a_victim_is_of_the_inventory_that_is_asked_about(void)
{
    struct lab first = open_lab("fgd_xenna", 4, 1, 0);
    struct lab second = open_lab("fgd_xenna", 4, 1, 0);

    second.next_worker = 100;
    for (int i = 0; i < 2; i++)
        CHECK_I64(start(&second, &CPU_ONE, 1), WEIR_OK);
    for (int i = 0; i < 30; i++) {
        CHECK_I64(start(&first, &CPU_ONE, 0), WEIR_OK);
        CHECK_I64(start(&second, &CPU_ONE, 0), WEIR_OK);
    }
    const uint64_t expected = evicted(&second, 0);
    CHECK(evicted(&first, 0) < 100);
    struct lab moved = first;
    moved.cluster = second.cluster;
    CHECK_I64(evicted(&moved, 0), (int64_t)expected);
    close_lab(&first);
    close_lab(&second);
}

/* A worker to reuse sits on an empty GPU; a fresh place next to another worker is better. */
static uint32_t reused_with(uint32_t applies)
{
    const double values[WEIR_FGD_PARAM_COUNT] = { [WEIR_FGD_PARAM_BONUS] = 10,
                                                  [WEIR_FGD_PARAM_BONUS_APPLIES] = applies,
                                                  [WEIR_FGD_PARAM_RESOLUTION] = 0x1p-40 };
    const struct weir_params params = { values, WEIR_FGD_PARAM_COUNT, 0 };
    struct lab lab = open_lab("fgd_xenna", 1, 2, 0);
    const struct weir_alloc used = { .device_count = 1, .devices = { { .units = WEIR_ONE / 2 } } };
    const struct weir_worker reusable = {
        .id = 7, .alloc = { .device_count = 1, .devices = { { .gpu = 1, .units = WEIR_ONE / 2 } } }
    };
    struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                      .cluster = lab.cluster,
                                      .mix = &MIX,
                                      .shape = &HALF,
                                      .reusable = &reusable,
                                      .reusable_count = 1 };

    CHECK_I64(weir_cluster_add_worker(lab.cluster, 50, weir_pool_owner(0), &used, NULL), WEIR_OK);
    lab.ops->destroy(lab.state);
    CHECK_I64(lab.ops->create(&params, NULL, &lab.state, NULL), WEIR_OK);
    CHECK_I64(lab.ops->place(lab.state, &query, &lab.answer, NULL), WEIR_OK);
    close_lab(&lab);
    return lab.answer.reused;
}

/* covers: S0.42 */
static void the_reuse_bonus_works_only_for_the_reused(void)
{
    CHECK_I64(reused_with(WEIR_FGD_REUSED), 0);
    CHECK_I64(reused_with(WEIR_FGD_EVERYONE), WEIR_NO_INDEX);
}

/* A stream of mixed workers on 4 nodes of 8 GPUs until the first refusal; share of GPUs used. */
static double density(const char *policy, uint64_t seed)
{
    static const int64_t shares[] = { WEIR_ONE / 10, WEIR_ONE / 4, WEIR_ONE / 2, WEIR_ONE };
    struct weir_shape shapes[5];
    static const double frequencies[5] = { .2, .2, .2, .2, .2 };
    const struct weir_mix mix = { shapes, frequencies, 5, 0 };
    struct lab lab = open_lab(policy, 4, 8, 0);

    for (uint32_t s = 0; s < 5; s++) {
        shapes[s] = s < 3 ? HALF : WHOLE;
        shapes[s].gpu_units = s < 4 ? shares[s] : WEIR_ONE;
        shapes[s].gpu_count = s == 4 ? 4 : 1;
    }
    for (uint64_t i = 0;; i++) {
        uint64_t draw = (seed * 1000 + i + 1) * UINT64_C(0x9e3779b97f4a7c15);
        draw = (draw ^ (draw >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
        const uint32_t stage = (uint32_t)((draw >> 32) % 5);
        const struct weir_place_query query = { .size = sizeof(struct weir_place_query),
                                                .cluster = lab.cluster,
                                                .mix = &mix,
                                                .shape = &shapes[stage],
                                                .owner = weir_pool_owner(stage),
                                                .seed = draw };
        if (weir_placement_place(lab.ops, lab.state, &query, &lab.answer, NULL) != WEIR_OK)
            break;
        CHECK_I64(weir_cluster_add_worker(lab.cluster, i, weir_pool_owner(stage), &lab.answer.alloc,
                                          NULL),
                  WEIR_OK);
    }
    const double rest = (double)weir_cluster_free(lab.cluster).gpu_units;
    const double total = (double)weir_cluster_total(lab.cluster).gpu_units;
    close_lab(&lab);
    return 1 - rest / total;
}

/* covers: S0.30 */
static void fgd_packs_denser_than_random(void)
{
    enum { SEEDS = 60 };
    double sum = 0;
    double squares = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const double gain = density("fgd_xenna", seed) - density("random", seed);
        sum += gain;
        squares += gain * gain;
    }
    const double mean = sum / SEEDS;
    const double deviation = sqrt((squares / SEEDS - mean * mean) / (SEEDS - 1));
    printf("\n    density: fgd - random = %.1f %% of GPUs, 95 %% interval +- %.1f\n", 100 * mean,
           196 * deviation);
    CHECK(mean > 0.05);
    CHECK(mean - 1.96 * deviation > 0.05);
}

static void the_registry_is_complete(void)
{
    CHECK_I64(weir_placement_count(), 22);
    CHECK(weir_placement_at(weir_placement_count()) == NULL);
    CHECK(weir_placement_find("nosuch") == NULL);
    for (uint32_t i = 0; i < weir_placement_count(); i++) {
        const struct weir_placement_ops *const ops = weir_placement_at(i);
        CHECK(weir_placement_find(ops->name) == ops);
        CHECK_I64(ops->abi, WEIR_ABI_MAJOR);
        CHECK_I64(ops->size, sizeof *ops);
        CHECK(strlen(ops->summary) > 10);
        CHECK(ops->place != NULL || ops->score != NULL);
        for (uint32_t p = 0; p < ops->param_count; p++) {
            const struct weir_param *const param = &ops->params[p];
            CHECK(param->min <= param->initial && param->initial <= param->max);
            CHECK((param->choices != NULL) == (param->kind == WEIR_PARAM_CHOICE));
            CHECK(param->name != NULL && param->unit != NULL && param->help != NULL);
        }
    }
}

/* A policy may consist of a score alone, and refuse places with NAN. */
static struct weir_score only_odd_nodes(void *state, const struct weir_place_query *query,
                                        const struct weir_alloc *candidate)
{
    (void)state;
    (void)query;
    return (struct weir_score){ .primary = candidate->node % 2 == 1 ? -(double)candidate->node
                                                                    : (double)NAN };
}

static void a_score_is_enough_for_a_policy(void)
{
    static const struct weir_placement_ops odd = {
        .size = sizeof odd, .abi = WEIR_ABI_MAJOR, .name = "odd", .score = only_odd_nodes
    };
    struct lab lab = open_lab_of(&odd, 5, 0, 0);

    CHECK_I64(start(&lab, &CPU_ONE, 0), WEIR_OK);
    CHECK_I64(lab.answer.alloc.node, 3);
    CHECK_I64(lab.answer.choice.runner_up_node, 1);
    CHECK_I64(lab.answer.choice.candidates, 2);
    CHECK_I64(lab.answer.choice.ties, 1);
    CHECK_I64(weir_cluster_set_node_flags(lab.cluster, 1, 0), WEIR_OK);
    CHECK_I64(weir_cluster_set_node_flags(lab.cluster, 3, 0), WEIR_OK);
    CHECK_I64(start(&lab, &CPU_ONE, 0), WEIR_EBUSY);
    CHECK_I64(start(&lab, &CPU_ONE, 0), WEIR_EBUSY);
    CHECK_I64(evicted(&lab, 0), 0);
    close_lab(&lab);
}

/* An allocator that fails from a given call on. */
struct failing {
    int64_t calls_left;
    int64_t blocks;
};

static void *failing_resize(void *state, void *block, size_t size)
{
    struct failing *const failing = state;

    if (size == 0) {
        failing->blocks -= block != NULL;
        free(block);
        return NULL;
    }
    if (failing->calls_left-- <= 0)
        return NULL;
    failing->blocks += block == NULL;
    return realloc(block, size);
}

static weir_status use_fgd(const struct lab *lab, const struct weir_allocator *allocator)
{
    static const struct weir_worker reusable = { .id = 1, .alloc = { .node = 9 } };
    const struct weir_place_query place = { .size = sizeof(struct weir_place_query),
                                            .cluster = lab->cluster,
                                            .mix = &MIX,
                                            .shape = &HALF,
                                            .reusable = &reusable,
                                            .reusable_count = 1 };
    const struct weir_evict_query evict = { .size = sizeof(struct weir_evict_query),
                                            .cluster = lab->cluster,
                                            .mix = &MIX,
                                            .owner = weir_pool_owner(0) };
    struct weir_place_answer answer;
    uint64_t victim;
    void *state = NULL;
    weir_status status = weir_placement_fgd_xenna.create(NULL, allocator, &state, NULL);

    if (status != WEIR_OK)
        return status;
    /* Twice: a state that ran out of memory must still be usable. */
    for (int i = 0; i < 2; i++) {
        status = weir_placement_fgd_xenna.place(state, &place, &answer, NULL);
        if (status == WEIR_OK)
            status = weir_placement_fgd_xenna.evict(state, &evict, &victim, NULL);
    }
    weir_placement_fgd_xenna.destroy(state);
    return status;
}

static void fgd_survives_running_out_of_memory(void)
{
    struct lab lab = open_lab("fgd_xenna", 6, 4, 0);
    weir_status status = WEIR_ENOMEM;
    int64_t calls = 0;

    for (int i = 0; i < 40; i++)
        CHECK_I64(start(&lab, &HALF, 0), WEIR_OK);
    for (; status != WEIR_OK && calls < 1000; calls++) {
        struct failing failing = { .calls_left = calls };
        const struct weir_allocator allocator = { failing_resize, &failing };
        status = use_fgd(&lab, &allocator);
        CHECK(status == WEIR_OK || status == WEIR_ENOMEM);
        CHECK_I64(failing.blocks, 0);
    }
    CHECK_I64(status, WEIR_OK);
    CHECK(calls > 10);
    close_lab(&lab);
}

static const struct test tests[] = {
    { "fgd packs half GPUs together, spread splits them", fgd_packs_and_spread_splits },
    { "fragmentation of shapes, by hand", fragmentation_of_shapes_by_hand },
    { "the 57th decoder worker is refused, a freed engine is used again",
      decoders_run_out_and_come_back },
    { "codec workers spread over GPUs unless told otherwise", codecs_spread_unless_told_otherwise },
    { "shares fill a GPU and need its decoders", shares_fill_a_gpu_and_need_its_decoders },
    { "whole GPUs share codecs, entire ones take them all",
      whole_gpus_share_codecs_and_entire_ones_do_not },
    { "every lack has its reason", every_lack_has_its_reason },
    { "the fits differ as their names say", the_fits_differ_as_named },
    { "random draws evenly and repeatably", random_draws_evenly_and_repeatably },
    { "victims differ by policy", victims_differ_by_policy },
    { "a victim is of the inventory that is asked about",
      a_victim_is_of_the_inventory_that_is_asked_about },
    { "the reuse bonus works only when the reused alone get it",
      the_reuse_bonus_works_only_for_the_reused },
    { "fgd packs denser than random", fgd_packs_denser_than_random },
    { "the registry is complete", the_registry_is_complete },
    { "a score is enough for a policy", a_score_is_enough_for_a_policy },
    { "fgd survives running out of memory", fgd_survives_running_out_of_memory },
};
TEST_MAIN(tests)
