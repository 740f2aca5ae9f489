/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * F of libweir against a plain version that follows the definition sentence by sentence, over
 * random nodes, shapes and sets of what is looked at.
 */
#include "sim/scenario/catalog/catalog_mig.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "weir/frag.h"

#include <stdio.h>

enum { CASES = 40000, GPUS = 6, STEPS = 4 };

struct lab {
    struct weir_node node;
    struct weir_gpu gpus[GPUS];
    struct weir_shape shape;
    uint32_t looks;
};

/* ---- by the definition ---- */

static bool looks_at(const struct lab *lab, uint32_t what)
{
    return (lab->looks & what) != 0;
}

static uint32_t engines(uint32_t mask)
{
    return (uint32_t)__builtin_popcount(mask);
}

/* Bits of the compute slices that free places of instances with enough slices cover; where
 * instances are made on demand, the smallest such profile is made. */
static uint32_t covered_slices(const struct weir_gpu *gpu, const struct weir_shape *shape)
{
    uint32_t bits = 0;
    for (uint32_t p = 0; p < gpu->mig->profile_count; p++) {
        const struct weir_mig_profile *profile = &gpu->mig->profiles[p];
        if (profile->slices < shape->mig_slices)
            continue;
        for (uint32_t s = 0; s < gpu->mig->slots; s++)
            if (weir_mig_free(gpu->mig, gpu->mig_state, p, s))
                bits |= ((UINT32_C(1) << profile->slices) - 1) << s;
        if (gpu->mig_state.cut == 0)
            break;
    }
    return bits;
}

static bool hosts_a_device(const struct lab *lab, const struct weir_gpu *gpu)
{
    const struct weir_shape *shape = &lab->shape;
    if (looks_at(lab, WEIR_FRAG_TYPES) && !weir_shape_takes_type(shape, gpu->type))
        return false;
    if (shape->kind == WEIR_SHAPE_SLICE)
        return gpu->mig != NULL && covered_slices(gpu, shape) != 0;
    if (gpu->mig != NULL || gpu->units_free < shape->gpu_units)
        return false;
    if (looks_at(lab, WEIR_FRAG_GPU_MEM) && gpu->mem_free_bytes < shape->gpu_mem_bytes)
        return false;
    if (!looks_at(lab, WEIR_FRAG_ENGINES))
        return true;
    if (shape->kind == WEIR_SHAPE_ENTIRE)
        return gpu->nvdec_free == gpu->nvdec_all && gpu->nvenc_free == gpu->nvenc_all &&
               gpu->mem_free_bytes == gpu->mem_total_bytes;
    return engines(gpu->nvdec_free) >= shape->nvdecs && engines(gpu->nvenc_free) >= shape->nvencs;
}

/* Free compute of a GPU that hosts a device and still is of no use to the shape. */
static int64_t dead_units(const struct weir_gpu *gpu, const struct weir_shape *shape)
{
    if (gpu->mig == NULL)
        return 0;
    const uint32_t all = (UINT32_C(1) << gpu->mig->slices) - 1;
    const uint32_t held = weir_mig_slices(gpu->mig, gpu->mig_state.held);
    const uint32_t dead = all & ~held & ~covered_slices(gpu, shape);
    return WEIR_ONE / gpu->mig->slices * engines(dead);
}

static int64_t lost_by_definition(const struct lab *lab, uint64_t *usable)
{
    const struct weir_shape *shape = &lab->shape;
    int64_t free_units = 0;
    int64_t lost = 0;
    uint32_t hosts = 0;
    *usable = 0;
    for (uint32_t g = 0; g < lab->node.gpu_count; g++) {
        const struct weir_gpu *gpu = &lab->gpus[g];
        const bool is_host = hosts_a_device(lab, gpu);
        free_units += gpu->units_free;
        hosts += is_host ? 1 : 0;
        *usable |= is_host ? UINT64_C(1) << g : 0;
        lost += is_host ? dead_units(gpu, shape) : gpu->units_free;
    }
    if (shape->kind == WEIR_SHAPE_CPU || shape->kind == WEIR_SHAPE_CODEC ||
        hosts < shape->gpu_count || lab->node.cpu_free < shape->cpu_units ||
        (looks_at(lab, WEIR_FRAG_RAM) && lab->node.ram_free_bytes < shape->ram_bytes))
        return free_units;
    return lost;
}

/* ---- cases ---- */

static int64_t some(struct draws *draws, int64_t whole)
{
    return whole / STEPS * (int64_t)draws_below(draws, STEPS + 1);
}

static void cut_gpu(struct draws *draws, struct weir_gpu *gpu)
{
    gpu->mig = sim_catalog_mig_find("h100");
    gpu->units_free = WEIR_ONE;
    for (int i = 0; i < 3; i++) {
        const uint32_t profile = (uint32_t)draws_below(draws, gpu->mig->profile_count);
        const uint32_t start = (uint32_t)draws_below(draws, gpu->mig->slots);
        if (!weir_mig_fits(gpu->mig, gpu->mig_state.held, profile, start))
            continue;
        gpu->mig_state.held |= weir_mig_instance(profile, start);
        gpu->units_free -= weir_mig_units(gpu->mig, profile);
    }
}

static struct weir_gpu draw_gpu(struct draws *draws)
{
    struct weir_gpu gpu = { .type = (uint32_t)draws_below(draws, 2),
                            .nvdec_all = 0x7f,
                            .nvenc_all = 0x7,
                            .nvdec_free = (uint32_t)draws_below(draws, 0x80),
                            .nvenc_free = (uint32_t)draws_below(draws, 8),
                            .units_free = some(draws, WEIR_ONE),
                            .units_total = WEIR_ONE,
                            .mem_free_bytes = some(draws, 80),
                            .mem_total_bytes = 80 };
    if (draws_one_in(draws, 4)) {
        gpu.units_free = WEIR_ONE;
        gpu.nvdec_free = gpu.nvdec_all;
        gpu.nvenc_free = gpu.nvenc_all;
    }
    if (draws_one_in(draws, 4))
        cut_gpu(draws, &gpu);
    return gpu;
}

static struct weir_shape draw_shape(struct draws *draws)
{
    static const uint32_t kinds[] = { WEIR_SHAPE_CPU,        WEIR_SHAPE_CODEC,
                                      WEIR_SHAPE_FRACTIONAL, WEIR_SHAPE_FRACTIONAL,
                                      WEIR_SHAPE_WHOLE,      WEIR_SHAPE_ENTIRE,
                                      WEIR_SHAPE_SLICE };
    struct weir_shape shape = { .kind = kinds[draws_below(draws, sizeof kinds / sizeof kinds[0])],
                                .cpu_units = some(draws, 8),
                                .ram_bytes = some(draws, 64),
                                .gpu_type = (uint32_t)draws_below(draws, 3) };
    const bool is_whole = shape.kind == WEIR_SHAPE_WHOLE || shape.kind == WEIR_SHAPE_ENTIRE;
    if (shape.kind == WEIR_SHAPE_CPU)
        return shape;
    shape.gpu_count = is_whole ? 1 + (uint32_t)draws_below(draws, 3) : 1;
    if (shape.kind == WEIR_SHAPE_SLICE) {
        shape.mig_slices = 1 + (uint32_t)draws_below(draws, 4);
        return shape;
    }
    if (shape.kind != WEIR_SHAPE_CODEC)
        shape.gpu_units = is_whole ? WEIR_ONE : some(draws, WEIR_ONE * 3 / 4) + WEIR_ONE / STEPS;
    if (shape.kind != WEIR_SHAPE_ENTIRE) {
        shape.nvdecs = (uint32_t)draws_below(draws, 6);
        shape.nvencs = (uint32_t)draws_below(draws, 3);
    }
    shape.gpu_mem_bytes = some(draws, 80);
    return shape;
}

static struct lab draw_lab(struct draws *draws)
{
    struct lab lab = { .node = { .gpu_count = (uint32_t)draws_below(draws, GPUS + 1),
                                 .cpu_free = some(draws, 8),
                                 .ram_free_bytes = some(draws, 64) },
                       .shape = draw_shape(draws),
                       .looks = (uint32_t)draws_below(draws, WEIR_FRAG_EVERYTHING + 1) };
    for (uint32_t g = 0; g < lab.node.gpu_count; g++)
        lab.gpus[g] = draw_gpu(draws);
    return lab;
}

/* ---- tests ---- */

/* covers: S0.27 */
static void f_is_what_the_definition_says(void)
{
    uint32_t seen = 0;
    uint32_t parts = 0;
    uint32_t fits = 0;
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        struct draws draws = draws_seeded(seed);
        const struct lab lab = draw_lab(&draws);
        uint64_t usable = 0;
        const int64_t lost = lost_by_definition(&lab, &usable);
        const struct weir_frag_find find =
            weir_frag_find(&lab.node, lab.gpus, &lab.shape, lab.looks);
        seen |= find.obstacles;
        fits += find.obstacles == 0 ? 1 : 0;
        parts += find.obstacles == 0 && lost > 0 && find.engines_lost_units > 0 ? 1 : 0;
        if (!CHECK_I64(find.lost_units, lost) || !CHECK_I64(find.usable, usable) ||
            !CHECK(find.engines_lost_units <= find.lost_units)) {
            printf("seed %llu\n", (unsigned long long)seed);
            return;
        }
    }
    CHECK(parts > 100); /* the cases reach what they are meant to */
    CHECK(fits > 100);
    CHECK_I64(seen, 2 * WEIR_FRAG_NO_RAM - 1); /* every obstacle */
}

static void the_order_of_the_gpus_does_not_matter(void)
{
    for (uint64_t seed = 1; seed <= CASES / 10; seed++) {
        struct draws draws = draws_seeded(seed);
        const struct lab lab = draw_lab(&draws);
        struct weir_gpu back[GPUS];
        for (uint32_t g = 0; g < lab.node.gpu_count; g++)
            back[g] = lab.gpus[lab.node.gpu_count - 1 - g];
        const struct weir_frag_find a = weir_frag_find(&lab.node, lab.gpus, &lab.shape, lab.looks);
        const struct weir_frag_find b = weir_frag_find(&lab.node, back, &lab.shape, lab.looks);
        if (!CHECK_I64(a.lost_units, b.lost_units) || !CHECK_I64(a.obstacles, b.obstacles) ||
            !CHECK_I64(a.engines_lost_units, b.engines_lost_units)) {
            printf("seed %llu\n", (unsigned long long)seed);
            return;
        }
    }
}

/* Three workers of a quarter and 30 GB on 80 GB: the third finds compute, not memory. */
static void memory_too_small_is_a_gpu_too_small_for_who_looks_at_memory(void)
{
    const struct weir_shape shape = { .kind = WEIR_SHAPE_FRACTIONAL,
                                      .gpu_count = 1,
                                      .gpu_units = WEIR_ONE / 4,
                                      .gpu_mem_bytes = 30 };
    const struct weir_gpu gpu = { .units_free = WEIR_ONE / 2,
                                  .units_total = WEIR_ONE,
                                  .mem_free_bytes = 20,
                                  .mem_total_bytes = 80 };
    const struct weir_node node = { .gpu_count = 1 };
    const struct weir_frag_find blind = weir_frag_find(&node, &gpu, &shape, WEIR_FRAG_TYPES);
    const struct weir_frag_find find = weir_frag_find(&node, &gpu, &shape, WEIR_FRAG_DEVICES);
    CHECK_I64(blind.lost_units, 0);
    CHECK_I64(find.lost_units, WEIR_ONE / 2);
    CHECK_I64(find.obstacles, WEIR_FRAG_NO_GPUS);
}

static const struct test tests[] = {
    { "F is what the definition says", f_is_what_the_definition_says },
    { "the order of the GPUs does not matter", the_order_of_the_gpus_does_not_matter },
    { "memory too small is a GPU too small for who looks at memory",
      memory_too_small_is_a_gpu_too_small_for_who_looks_at_memory },
};
TEST_MAIN(tests)
