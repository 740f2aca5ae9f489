/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fragmentation of single nodes, all values by hand.
 */
#include "sim/record/meter/fragmentation.h"
#include "sched/placement/parts/frag_state.h"
#include "tests/support/check.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static int64_t units(double amount)
{
    return (int64_t)(amount * (double)WEIR_ONE + 0.5);
}

static struct sim_meter_stage_info want(double mix, double cpus, double gpus)
{
    struct sim_meter_stage_info stage = { .mix = mix, .batch = 1 };
    stage.shape.cpu_units = units(cpus);
    if (gpus > 0.0) {
        stage.shape.kind = gpus < 1.0 ? WEIR_SHAPE_FRACTIONAL : WEIR_SHAPE_WHOLE;
        stage.shape.gpu_count = gpus < 1.0 ? 1 : (uint32_t)gpus;
        stage.shape.gpu_units = gpus < 1.0 ? units(gpus) : WEIR_ONE;
    }
    return stage;
}

static struct weir_gpu gpu(double free_share, uint32_t nvdecs_free)
{
    return (struct weir_gpu){ .units_free = units(free_share),
                              .nvdec_free = (UINT32_C(1) << nvdecs_free) - 1,
                              .nvdec_all = 0x7f };
}

static struct sim_frag measure(const struct sim_meter_stage_info *stages, size_t stage_count,
                               double cpus_free, const struct weir_gpu *gpus, uint32_t gpu_count)
{
    struct sim_frag_mix mix;
    sim_frag_mix_open(&mix, stages, stage_count);
    const struct weir_node node = { .gpu_count = gpu_count, .cpu_free = units(cpus_free) };
    const struct sim_frag frag = sim_frag_node(&mix, &node, gpus);
    CHECK_NEAR(frag.part[SIM_FRAG_GPU],
               frag.part[SIM_FRAG_NO_CPU] + frag.part[SIM_FRAG_NO_CODEC] +
                   frag.part[SIM_FRAG_FRACTION] + frag.part[SIM_FRAG_NO_GPU_DEMAND],
               1e-12);
    return frag;
}

/* covers: S0.3 S0.27 */
static void co_located_halves_leave_no_fragments_and_split_ones_half_a_gpu(void)
{
    const struct sim_meter_stage_info mix[] = { want(0.5, 1, 0.5), want(0.5, 1, 1) };
    const struct weir_gpu together[] = { gpu(0, 0), gpu(1, 0) };
    const struct weir_gpu split[] = { gpu(0.5, 0), gpu(0.5, 0) };
    CHECK_NEAR(measure(mix, 2, 10, together, 2).part[SIM_FRAG_GPU], 0.0, 0.0);
    const struct sim_frag frag = measure(mix, 2, 10, split, 2);
    CHECK_NEAR(frag.part[SIM_FRAG_GPU], 0.5, 0.0);
    CHECK_NEAR(frag.part[SIM_FRAG_FRACTION], 0.5, 0.0);
    CHECK_NEAR(frag.part[SIM_FRAG_WHOLE], 0.0, 0.0);
    CHECK_NEAR(frag.part[SIM_FRAG_FREE], 1.0, 0.0);
}

/* covers: S0.27 */
static void a_stage_without_gpu_demand_can_use_no_gpu(void)
{
    const struct sim_meter_stage_info mix[] = { want(1.0, 1, 0) };
    const struct weir_gpu empty[] = { gpu(1, 0), gpu(1, 0) };
    const struct sim_frag frag = measure(mix, 1, 10, empty, 2);
    CHECK_NEAR(frag.part[SIM_FRAG_GPU], 2.0, 0.0);
    CHECK_NEAR(frag.part[SIM_FRAG_NO_GPU_DEMAND], 2.0, 0.0);
    CHECK_NEAR(frag.part[SIM_FRAG_STRANDED], 2.0, 0.0);
}

/* covers: S0.27 */
static void a_partly_used_node_gives_the_known_value(void)
{
    const struct sim_meter_stage_info mix[] = { want(0.7, 2, 0.5), want(0.3, 4, 1) };
    const struct weir_gpu gpus[] = { gpu(0.7, 0), gpu(1, 0) };
    CHECK_NEAR(measure(mix, 2, 6, gpus, 2).part[SIM_FRAG_GPU], 0.21, 1e-12);
    /* 3 CPUs left: the whole-GPU shape does not fit at all, 0.3 * 1.7 */
    const struct sim_frag frag = measure(mix, 2, 3, gpus, 2);
    CHECK_NEAR(frag.part[SIM_FRAG_NO_CPU], 0.51, 1e-12);
    CHECK_NEAR(frag.part[SIM_FRAG_GPU], 0.51, 1e-12);
    CHECK_NEAR(frag.part[SIM_FRAG_STRANDED], 0.0, 0.0);
    CHECK_NEAR(measure(mix, 2, 1, gpus, 2).part[SIM_FRAG_STRANDED], 1.7, 1e-12);
}

/* covers: S0.22 S0.27 */
static void a_gpu_without_free_decoders_is_lost_to_those_who_need_them(void)
{
    struct sim_meter_stage_info mix[] = { want(1.0, 1, 0.5) };
    mix[0].shape.nvdecs = 2;
    const struct weir_gpu gpus[] = { gpu(1, 1), gpu(0.75, 7) };
    struct sim_frag frag = measure(mix, 1, 10, gpus, 2);
    CHECK_NEAR(frag.part[SIM_FRAG_NO_CODEC], 1.0, 0.0);
    CHECK_NEAR(frag.part[SIM_FRAG_GPU], 1.0, 0.0);
    CHECK_NEAR(frag.part[SIM_FRAG_CODEC], 1.0, 0.0);
    /* no GPU has both: everything is lost, to codecs, since compute alone would do */
    const struct weir_gpu apart[] = { gpu(1, 1), gpu(0.25, 7) };
    frag = measure(mix, 1, 10, apart, 2);
    CHECK_NEAR(frag.part[SIM_FRAG_NO_CODEC], 1.25, 0.0);
    CHECK_NEAR(frag.part[SIM_FRAG_CODEC], 8.0, 0.0);
    /* an entire GPU wants every engine free, and asks for none by number */
    mix[0] = want(1.0, 1, 1);
    mix[0].shape.kind = WEIR_SHAPE_ENTIRE;
    frag = measure(mix, 1, 10, gpus, 2);
    CHECK_NEAR(frag.part[SIM_FRAG_NO_CODEC], 1.75, 0.0);
    CHECK_NEAR(frag.part[SIM_FRAG_CODEC], 0.0, 0.0);
}

static void engines_of_a_codec_shape_may_lie_on_several_gpus(void)
{
    struct sim_meter_stage_info mix[] = { want(0.5, 1, 0) };
    mix[0].shape.kind = WEIR_SHAPE_CODEC;
    mix[0].shape.nvdecs = 3;
    const struct weir_gpu gpus[] = { gpu(0, 2), gpu(0, 2) };
    CHECK_NEAR(measure(mix, 1, 10, gpus, 2).part[SIM_FRAG_CODEC], 0.0, 0.0);
    mix[0].shape.codec_same_gpu = 1;
    CHECK_NEAR(measure(mix, 1, 10, gpus, 2).part[SIM_FRAG_CODEC], 2.0, 0.0);
    const struct weir_gpu uneven[] = { gpu(0, 2), gpu(0, 3) };
    CHECK_NEAR(measure(mix, 1, 10, uneven, 2).part[SIM_FRAG_CODEC], 1.0, 0.0);
    CHECK_NEAR(measure(mix, 1, 0.5, uneven, 2).part[SIM_FRAG_CODEC], 2.5, 0.0);
}

/* Three encoders are just enough for who wants three, and two are none for him. */
static void encoders_of_several_gpus_are_counted_exactly(void)
{
    struct sim_meter_stage_info mix[] = { want(0.5, 1, 0) };
    struct weir_gpu gpus[] = { gpu(0, 0), gpu(0, 0) };
    mix[0].shape.kind = WEIR_SHAPE_CODEC;
    mix[0].shape.nvencs = 3;
    gpus[0].nvenc_free = 1;
    gpus[1].nvenc_free = 3;
    CHECK_NEAR(measure(mix, 1, 10, gpus, 2).part[SIM_FRAG_CODEC], 0.0, 0.0);
    gpus[1].nvenc_free = 1;
    CHECK_NEAR(measure(mix, 1, 10, gpus, 2).part[SIM_FRAG_CODEC], 1.0, 0.0);
}

static void too_few_whole_gpus_lose_all_that_is_free(void)
{
    const struct sim_meter_stage_info mix[] = { want(1.0, 1, 4) };
    const struct weir_gpu gpus[] = { gpu(1, 0), gpu(1, 0), gpu(1, 0), gpu(0.9, 0) };
    const struct sim_frag frag = measure(mix, 1, 10, gpus, 4);
    CHECK_NEAR(frag.part[SIM_FRAG_FRACTION], 3.9, 1e-12);
    CHECK_NEAR(frag.part[SIM_FRAG_WHOLE], 3.0, 0.0);
}

static void crumbs_are_what_the_smallest_request_cannot_use(void)
{
    const struct sim_meter_stage_info mix[] = { want(0.5, 1, 0.25), want(0.5, 1, 1),
                                                want(0.0, 1, 0.01) };
    const struct weir_gpu gpus[] = { gpu(0.2, 0), gpu(0.25, 0), gpu(0.05, 0), gpu(0, 0) };
    CHECK_NEAR(measure(mix, LENGTH(mix), 10, gpus, 4).part[SIM_FRAG_CRUMBS], 0.25, 1e-12);
}

static void sums_do_not_depend_on_the_order_of_the_gpus(void)
{
    const struct sim_meter_stage_info mix[] = { want(0.3, 1, 0.3), want(0.7, 1, 1) };
    const struct weir_gpu gpus[] = { gpu(0.1, 0), gpu(0.2, 0), gpu(0.3, 0), gpu(0.7, 0) };
    const struct weir_gpu back[] = { gpu(0.7, 0), gpu(0.3, 0), gpu(0.2, 0), gpu(0.1, 0) };
    CHECK_NEAR(measure(mix, 2, 10, gpus, 4).part[SIM_FRAG_GPU],
               measure(mix, 2, 10, back, 4).part[SIM_FRAG_GPU], 0.0);
}

/* covers: S0.27 */
static void a_gpu_of_another_type_hosts_nobody(void)
{
    struct sim_meter_stage_info mix[] = { want(1.0, 1, 0.5) };
    struct weir_gpu gpus[] = { gpu(1, 0), gpu(0.75, 0) };
    gpus[1].type = 1;
    mix[0].shape.gpu_type = 1; /* type 0 */
    CHECK_NEAR(measure(mix, 1, 10, gpus, 2).part[SIM_FRAG_FRACTION], 0.75, 0.0);
    mix[0].shape.gpu_type = 3; /* none of the node */
    CHECK_NEAR(measure(mix, 1, 10, gpus, 2).part[SIM_FRAG_FRACTION], 1.75, 0.0);
}

/* Of two that want the same GPUs the one with fewer CPUs says when a node is stranded. */
static void the_smallest_request_is_the_one_with_fewest_cpus(void)
{
    const struct sim_meter_stage_info stages[] = { want(0.2, 4, 1), want(0.3, 1, 1),
                                                   want(0.2, 3, 1), want(0.3, 0.5, 2) };
    struct sim_frag_mix mix;
    for (size_t count = 2; count <= LENGTH(stages); count++) {
        sim_frag_mix_open(&mix, stages, count);
        CHECK_I64(mix.smallest_cpu_units, units(1));
        CHECK_I64(mix.smallest_gpu_units, units(1));
    }
}

/* A node that has just what is asked has room; with a byte or a CPU less it has not. */
static void what_just_fits_is_no_obstacle(void)
{
    const struct weir_gpu empty = gpu(1, 0);
    const struct weir_shape shape = { .kind = WEIR_SHAPE_WHOLE,
                                      .gpu_count = 1,
                                      .cpu_units = WEIR_ONE,
                                      .ram_bytes = 100,
                                      .gpu_units = WEIR_ONE };
    static const struct {
        int64_t cpu_units, ram_bytes;
        uint32_t obstacles;
    } cases[] = { { WEIR_ONE, 100, 0 },
                  { WEIR_ONE, 99, WEIR_FRAG_NO_RAM },
                  { WEIR_ONE - 1, 100, WEIR_FRAG_NO_CPUS } };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const struct weir_node node = { .gpu_count = 1,
                                        .cpu_free = cases[i].cpu_units,
                                        .ram_free_bytes = cases[i].ram_bytes };
        CHECK_I64(weir_frag_find(&node, &empty, &shape, WEIR_FRAG_EVERYTHING).obstacles,
                  cases[i].obstacles);
    }
}

static const struct test tests[] = {
    { "co-located halves leave no fragments, split ones half a GPU",
      co_located_halves_leave_no_fragments_and_split_ones_half_a_gpu },
    { "a stage without GPU demand can use no GPU", a_stage_without_gpu_demand_can_use_no_gpu },
    { "a partly used node gives the known value", a_partly_used_node_gives_the_known_value },
    { "a GPU without free decoders is lost to those who need them",
      a_gpu_without_free_decoders_is_lost_to_those_who_need_them },
    { "engines of a codec shape may lie on several GPUs",
      engines_of_a_codec_shape_may_lie_on_several_gpus },
    { "encoders of several GPUs are counted exactly",
      encoders_of_several_gpus_are_counted_exactly },
    { "too few whole GPUs lose all that is free", too_few_whole_gpus_lose_all_that_is_free },
    { "crumbs are what the smallest request cannot use",
      crumbs_are_what_the_smallest_request_cannot_use },
    { "a GPU of another type hosts nobody", a_gpu_of_another_type_hosts_nobody },
    { "sums do not depend on the order of the GPUs", sums_do_not_depend_on_the_order_of_the_gpus },
    { "the smallest request is the one with fewest CPUs",
      the_smallest_request_is_the_one_with_fewest_cpus },
    { "what just fits is no obstacle", what_just_fits_is_no_obstacle },
};
TEST_MAIN(tests)
