/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole GPUs of a node with islands, whatever else runs there and whichever policy is asked:
 * against an enumeration of all sets of GPUs that are free.
 */
#include "sched/cluster/state.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "weir/policy.h"

#include <stdio.h>
#include <string.h>

enum { GPUS = 8, STATES = 400 };

struct layout {
    const char *name;
    struct weir_topology topology;
};

static const struct layout layouts[] = {
    { "4+4", { .island_gpus = 4 } },
    { "4+4 on two sockets", { .sockets = 2, .island_gpus = 4 } },
    { "2+2+2+2 on two sockets", { .sockets = 2, .island_gpus = 2 } },
    { "one island over two sockets", { .sockets = 2, .island_gpus = 8 } },
    { "4+4 over four sockets", { .sockets = 4, .island_gpus = 4 } },
};
enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

static struct weir_cluster *one_node(const struct weir_topology *topology)
{
    struct weir_cluster *cluster = NULL;
    struct weir_gpu_spec gpus[GPUS];

    for (uint32_t g = 0; g < GPUS; g++)
        gpus[g] = (struct weir_gpu_spec){ .units = WEIR_ONE, .nvdecs = 2, .mem_bytes = 4 };
    const struct weir_node_spec spec = { .size = sizeof spec,
                                         .id = 1,
                                         .gpu_count = GPUS,
                                         .cpu_units = 64 * WEIR_ONE,
                                         .ram_bytes = 64,
                                         .gpus = gpus,
                                         .topology = *topology };
    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
    return cluster;
}

/* Some GPUs are held whole, some in part, of some a decoder alone. Returns those free, by bit. */
static uint32_t fill(struct weir_cluster *cluster, struct draws *draws, bool has_codecs)
{
    uint32_t free = 0;

    for (uint32_t g = 0; g < GPUS; g++) {
        const uint64_t what = draws_below(draws, 5);
        struct weir_alloc alloc = { .device_count = 1, .devices = { { .gpu = g } } };
        free |= (uint32_t)(what > 1) << g;
        if (what == 0)
            alloc.devices[0].units = WEIR_ONE;
        if (what == 1)
            alloc.devices[0].units = WEIR_ONE / 4;
        if (what == 2 && has_codecs)
            alloc.devices[0].nvdec_mask = 1;
        if (what < 2 || (what == 2 && has_codecs))
            CHECK_I64(weir_cluster_add_worker(cluster, 100 + g, weir_job_owner(9, g), &alloc, NULL),
                      WEIR_OK);
    }
    return free;
}

static uint32_t parts_of(uint32_t gpus, uint32_t size)
{
    uint32_t parts = 0;

    for (uint32_t g = 0; g < GPUS; g += size)
        parts += (gpus >> g & ((1U << size) - 1)) != 0;
    return parts;
}

static uint32_t islands_of(const struct layout *layout, uint32_t gpus)
{
    return parts_of(gpus, layout->topology.island_gpus);
}

static uint32_t sockets_of(const struct layout *layout, uint32_t gpus)
{
    return layout->topology.sockets < 2 ? 1 : parts_of(gpus, GPUS / layout->topology.sockets);
}

/* The fewest islands, or sockets, of any `wanted` of the GPUs. */
static uint32_t find_least(const struct layout *layout, uint32_t free, uint32_t wanted,
                           uint32_t (*parts)(const struct layout *layout, uint32_t gpus))
{
    uint32_t least = GPUS + 1;

    for (uint32_t set = 1; set < 1U << GPUS; set++) {
        if ((set & ~free) != 0 || (uint32_t)__builtin_popcount(set) != wanted)
            continue;
        least = parts(layout, set) < least ? parts(layout, set) : least;
    }
    return least;
}

static uint32_t gpus_of(const struct weir_alloc *alloc)
{
    uint32_t gpus = 0;

    for (uint32_t d = 0; d < alloc->device_count; d++)
        gpus |= 1U << alloc->devices[d].gpu;
    return gpus;
}

/* Free GPUs of the tightest island with room for `wanted`, 0 = there is none. */
static uint32_t tightest_room(const struct layout *layout, uint32_t free, uint32_t wanted)
{
    const uint32_t size = layout->topology.island_gpus;
    uint32_t least = 0;

    for (uint32_t g = 0; g < GPUS; g += size) {
        const uint32_t room = (uint32_t)__builtin_popcount(free >> g & ((1U << size) - 1));
        least = room >= wanted && (least == 0 || room < least) ? room : least;
    }
    return least;
}

/* What is free on the island of the first of these. */
static uint32_t free_around(const struct layout *layout, uint32_t free, uint32_t gpus)
{
    const uint32_t size = layout->topology.island_gpus;
    const uint32_t first = (uint32_t)__builtin_ctz(gpus) / size * size;

    return free & ((1U << size) - 1) << first;
}

/* A policy that is asked. */
struct asked {
    const struct weir_placement_ops *ops;
    struct weir_chooser *chooser;
    const struct layout *layout;
    uint32_t free, wanted;
    bool has_codecs;
};

static bool look(const struct asked *asked, uint32_t gpus)
{
    const struct layout *const layout = asked->layout;
    const uint32_t islands = find_least(layout, asked->free, asked->wanted, islands_of);
    bool is_good = CHECK_I64(__builtin_popcount(gpus), asked->wanted);

    is_good &= CHECK_I64(gpus & ~asked->free, 0);
    is_good &= CHECK_I64(islands_of(layout, gpus), islands);
    /* What a policy thinks of decoders, or its dice, may be for another socket or island. */
    if (islands > 1 || asked->has_codecs || strcmp(asked->ops->name, "random") == 0)
        return is_good;
    const uint32_t around = free_around(layout, asked->free, gpus);
    is_good &=
        CHECK_I64(__builtin_popcount(around), tightest_room(layout, asked->free, asked->wanted));
    is_good &=
        CHECK_I64(sockets_of(layout, gpus), find_least(layout, around, asked->wanted, sockets_of));
    return is_good;
}

static void ask(struct asked *asked, const struct weir_cluster *cluster)
{
    const struct weir_shape shape = { .kind = WEIR_SHAPE_WHOLE,
                                      .cpu_units = WEIR_ONE,
                                      .gpu_count = asked->wanted,
                                      .gpu_units = WEIR_ONE };
    const double often = 1;
    const struct weir_mix mix = { .shapes = &shape, .frequencies = &often, .count = 1 };
    const struct weir_place_query query = { .size = sizeof query,
                                            .cluster = cluster,
                                            .mix = &mix,
                                            .shape = &shape,
                                            .owner = weir_job_owner(0, 1),
                                            .seed = asked->free };
    struct weir_place_answer answer;
    const weir_status status = weir_chooser_place(asked->chooser, &query, &answer, NULL);

    if ((uint32_t)__builtin_popcount(asked->free) < asked->wanted) {
        CHECK_I64(status, WEIR_EBUSY);
        return;
    }
    if (!CHECK_I64(status, WEIR_OK) || !look(asked, gpus_of(&answer.alloc)))
        (void)printf("    %s, %s: %u of %02x: %02x\n", asked->ops->name, asked->layout->name,
                     asked->wanted, asked->free, gpus_of(&answer.alloc));
}

static void ask_in_many_states(const struct weir_placement_ops *ops, const struct layout *layout)
{
    static const uint32_t wanted[] = { 1, 2, 3, 4, 6 };
    struct asked asked = { .ops = ops, .layout = layout };
    struct draws draws = draws_seeded(7);

    CHECK_I64(weir_chooser_create(ops, NULL, NULL, &asked.chooser, NULL), WEIR_OK);
    for (uint32_t i = 0; i < STATES; i++) {
        struct weir_cluster *const cluster = one_node(&layout->topology);
        asked.has_codecs = i % 2 == 1;
        asked.free = fill(cluster, &draws, asked.has_codecs);
        asked.wanted = wanted[draws_below(&draws, sizeof wanted / sizeof wanted[0])];
        ask(&asked, cluster);
        weir_cluster_destroy(cluster);
    }
    weir_chooser_destroy(asked.chooser);
}

/* covers: S1.35 */
/* Two, four or any number of GPUs: on as few islands as there can be, in 100 % of the states. */
static void whole_gpus_are_inside_an_island_whenever_one_has_room(void)
{
    for (uint32_t p = 0; p < weir_placement_count(); p++)
        for (size_t l = 0; l < LAYOUTS; l++)
            ask_in_many_states(weir_placement_at(p), &layouts[l]);
}

/* ---- several workers of one job ---- */

/* Members of one GPU each, one after the other: inside an island whenever one has room for all. */
static void ask_for_members(const struct weir_placement_ops *ops, const struct layout *layout)
{
    const struct weir_shape shape = {
        .kind = WEIR_SHAPE_WHOLE, .cpu_units = WEIR_ONE, .gpu_count = 1, .gpu_units = WEIR_ONE
    };
    const double often = 1;
    const struct weir_mix mix = { .shapes = &shape, .frequencies = &often, .count = 1 };
    struct weir_chooser *chooser = NULL;
    struct draws draws = draws_seeded(11);

    CHECK_I64(weir_chooser_create(ops, NULL, NULL, &chooser, NULL), WEIR_OK);
    for (uint32_t i = 0; i < STATES / 4; i++) {
        struct weir_cluster *const cluster = one_node(&layout->topology);
        const uint32_t free = fill(cluster, &draws, false);
        struct weir_place_answer answers[4];
        uint32_t placed = 0;
        const struct weir_members_query query = { .size = sizeof query,
                                                  .count = 2 + (uint32_t)draws_below(&draws, 3),
                                                  .scratch = cluster,
                                                  .mix = &mix,
                                                  .shape = &shape,
                                                  .owner = weir_job_owner(0, 1) };
        if (weir_chooser_place_members(chooser, &query, answers, &placed, NULL) == WEIR_OK) {
            uint32_t gpus = 0;
            for (uint32_t m = 0; m < query.count; m++)
                gpus |= gpus_of(&answers[m].alloc);
            if (tightest_room(layout, free, query.count) > 0 &&
                !CHECK_I64(islands_of(layout, gpus), 1))
                (void)printf("    %s, %s: %u of %02x: %02x\n", ops->name, layout->name, query.count,
                             free, gpus);
        }
        weir_cluster_destroy(cluster);
    }
    weir_chooser_destroy(chooser);
}

static void members_of_a_job_are_inside_an_island_whenever_one_has_room(void)
{
    for (uint32_t p = 0; p < weir_placement_count(); p++)
        for (size_t l = 0; l < LAYOUTS; l++)
            if (strcmp(weir_placement_at(p)->name, "random") != 0)
                ask_for_members(weir_placement_at(p), &layouts[l]);
}

/* ---- what cannot be ---- */

static void what_does_not_divide_a_node_is_refused(void)
{
    static const struct weir_topology bad[] = { { .sockets = 3 }, { .island_gpus = 5 } };
    static const struct weir_gpu_spec gpus[GPUS];
    struct weir_cluster *cluster = NULL;

    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct weir_node_spec spec = {
            .size = sizeof spec, .id = 1, .gpu_count = GPUS, .gpus = gpus, .topology = bad[i]
        };
        CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_EINVAL);
        spec.size = offsetof(struct weir_node_spec, topology); /* built before there was one */
        CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
        CHECK_I64(weir_cluster_topology(cluster, 0).sockets, 0);
        CHECK_I64(weir_cluster_remove_node(cluster, 0, NULL), WEIR_OK);
    }
    weir_cluster_destroy(cluster);
}

static const struct test tests[] = {
    { "whole GPUs are inside an island whenever one has room",
      whole_gpus_are_inside_an_island_whenever_one_has_room },
    { "members of a job are inside an island whenever one has room",
      members_of_a_job_are_inside_an_island_whenever_one_has_room },
    { "what does not divide a node is refused", what_does_not_divide_a_node_is_refused },
};
TEST_MAIN(tests)
