/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The policy "topology" on random states of racks: as few racks as there can be, as few nodes in
 * them, and one island where there is one with room. Rooms are counted here by hand.
 */
#include "sched/cluster/state.h"
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "weir/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RACKS = 4, PER_RACK = 3, NODES = RACKS * PER_RACK, GPUS = 8, STATES = 600, MEMBERS = 12 };

/* Racks are called 7, 17, 27 ..; their nodes are not neighbours. */
static struct weir_cluster *open_racks(void)
{
    struct weir_cluster *cluster = NULL;
    struct weir_gpu_spec gpus[GPUS];

    for (uint32_t g = 0; g < GPUS; g++)
        gpus[g] = (struct weir_gpu_spec){ .units = WEIR_ONE, .mem_bytes = 4 };
    CHECK_I64(weir_cluster_create(NULL, &cluster), WEIR_OK);
    for (uint32_t n = 0; n < NODES; n++) {
        const struct weir_node_spec spec = { .size = sizeof spec,
                                             .id = n,
                                             .gpu_count = GPUS,
                                             .cpu_units = 64 * WEIR_ONE,
                                             .ram_bytes = 64,
                                             .gpus = gpus,
                                             .topology = { .island_gpus = 4,
                                                           .rack = 7 + 10 * (n % RACKS) } };
        CHECK_I64(weir_cluster_add_node(cluster, &spec, NULL, NULL), WEIR_OK);
    }
    return cluster;
}

/* Nodes are filled to a different degree each. `free`: GPUs by node. */
static void fill(struct weir_cluster *cluster, struct draws *draws, uint32_t free[NODES])
{
    for (uint32_t n = 0; n < NODES; n++) {
        const uint64_t odds = 1 + draws_below(draws, 5);
        free[n] = 0;
        for (uint32_t g = 0; g < GPUS; g++) {
            const struct weir_alloc alloc = { .node = n,
                                              .device_count = 1,
                                              .devices = { { .gpu = g, .units = WEIR_ONE } } };
            if (draws_below(draws, odds) == 0)
                CHECK_I64(weir_cluster_add_worker(cluster, 1000 + n * GPUS + g,
                                                  weir_job_owner(0, 1000 + n), &alloc, NULL),
                          WEIR_OK);
            else
                free[n]++;
        }
    }
}

static int largest_first(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;
    return a < b ? 1 : a > b ? -1 : 0;
}

/* How many of these rooms are needed for `wanted` workers, at least. */
static uint32_t needed(const uint32_t *rooms, uint32_t count, uint32_t wanted)
{
    uint32_t sorted[NODES];
    uint32_t taken = 0;

    memcpy(sorted, rooms, count * sizeof rooms[0]);
    qsort(sorted, count, sizeof sorted[0], largest_first);
    for (uint32_t sum = 0; taken < count && sum < wanted; taken++)
        sum += sorted[taken];
    return taken;
}

struct gang {
    uint32_t members, gpus;
    uint32_t free[NODES];
    struct weir_place_answer answers[MEMBERS];
};

static uint32_t count_of(uint32_t bits)
{
    return (uint32_t)__builtin_popcount(bits);
}

static void look(const struct gang *gang)
{
    uint32_t racks[RACKS] = { 0 };
    uint32_t nodes[NODES];
    uint32_t used_racks = 0;
    uint32_t used_nodes = 0;

    for (uint32_t n = 0; n < NODES; n++) {
        nodes[n] = gang->free[n] / gang->gpus;
        racks[n % RACKS] += nodes[n];
    }
    for (uint32_t m = 0; m < gang->members; m++) {
        used_racks |= 1U << gang->answers[m].alloc.node % RACKS;
        used_nodes |= 1U << gang->answers[m].alloc.node;
    }
    if (!CHECK_I64(count_of(used_racks), needed(racks, RACKS, gang->members)))
        (void)printf("    %u members of %u GPUs\n", gang->members, gang->gpus);
    if (count_of(used_racks) > 1)
        return;
    uint32_t inside[PER_RACK];
    const uint32_t rack = gang->answers[0].alloc.node % RACKS;
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < PER_RACK; i++)
        inside[i] = nodes[rack + i * RACKS];
    CHECK_I64(count_of(used_nodes), needed(inside, PER_RACK, gang->members));
    for (uint32_t r = 0; r < RACKS; r++) /* the tightest of those that hold all */
        least = racks[r] >= gang->members && racks[r] < least ? racks[r] : least;
    CHECK_I64(racks[rack], least);
}

static bool place(struct weir_chooser *chooser, struct weir_cluster *cluster, struct gang *gang)
{
    const struct weir_shape shape = { .kind = WEIR_SHAPE_WHOLE,
                                      .cpu_units = WEIR_ONE,
                                      .gpu_count = gang->gpus,
                                      .gpu_units = WEIR_ONE };
    const struct weir_mix mix = { .count = 0 };
    const struct weir_members_query query = { .size = sizeof query,
                                              .count = gang->members,
                                              .scratch = cluster,
                                              .mix = &mix,
                                              .shape = &shape,
                                              .owner = weir_job_owner(0, 1) };
    uint32_t placed = 0;

    return weir_chooser_place_members(chooser, &query, gang->answers, &placed, NULL) == WEIR_OK;
}

/* covers: S1.115 */
static void a_job_is_in_the_fewest_racks_and_nodes(void)
{
    static const uint32_t gpus[] = { 1, 2, 4, 8 };
    static struct gang gang; /* large */
    struct weir_chooser *chooser = NULL;
    struct draws draws = draws_seeded(3);
    uint32_t placed = 0;
    uint32_t gangs = 0;

    CHECK_I64(weir_chooser_create(weir_placement_find("topology"), NULL, NULL, &chooser, NULL),
              WEIR_OK);
    for (uint32_t i = 0; i < STATES; i++) {
        struct weir_cluster *const cluster = open_racks();
        fill(cluster, &draws, gang.free);
        gang.gpus = gpus[draws_below(&draws, 4)];
        gang.members = 1 + (uint32_t)draws_below(&draws, MEMBERS);
        if (place(chooser, cluster, &gang)) {
            placed++;
            look(&gang);
            gangs += gang.members > 1;
        }
        weir_cluster_destroy(cluster);
    }
    CHECK(placed > STATES / 4);
    CHECK(gangs > STATES / 8);
    weir_chooser_destroy(chooser);
}

static const struct test tests[] = {
    { "a job is in the fewest racks and nodes", a_job_is_in_the_fewest_racks_and_nodes },
};
TEST_MAIN(tests)
