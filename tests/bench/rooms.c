/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The first node that has room, after one node has changed: from the answers that are kept, and
 * asked node by node; on clusters of 8-GPU nodes of which the first nine tenths are full. Best of
 * five.
 */
#include "sched/placement/parts/rooms.h"
#include "sched/cluster/state.h"
#include "sched/placement/parts/candidates.h"
#include "tests/support/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { GPUS = 8, TIMES = 5 };

static const struct weir_shape shape = { .kind = WEIR_SHAPE_WHOLE,
                                         .gpu_count = 2,
                                         .gpu_units = WEIR_ONE };

static void require(weir_status status)
{
    if (status == WEIR_OK)
        return;
    fprintf(stderr, "%s\n", weir_status_text(status));
    exit(EXIT_FAILURE);
}

/* One that holds all but one GPU of a node. */
static void fill(struct weir_cluster *cluster, uint32_t node)
{
    const struct weir_shape whole = { .kind = WEIR_SHAPE_WHOLE,
                                      .gpu_count = GPUS - 1,
                                      .gpu_units = WEIR_ONE };
    struct weir_alloc alloc;
    require(weir_place_first(cluster, node, &whole, &alloc));
    require(weir_cluster_add_worker(cluster, node, weir_pool_owner(0), &alloc, NULL));
}

static struct weir_cluster *make(uint32_t nodes)
{
    struct weir_cluster *cluster = NULL;
    struct weir_gpu_spec gpus[GPUS];
    for (uint32_t g = 0; g < GPUS; g++)
        gpus[g] = (struct weir_gpu_spec){ .units = WEIR_ONE, .mem_bytes = 80 };
    require(weir_cluster_create(NULL, &cluster));
    for (uint32_t n = 0; n < nodes; n++) {
        const struct weir_node_spec spec = { .size = sizeof spec,
                                             .id = n,
                                             .gpu_count = GPUS,
                                             .cpu_units = 64 * WEIR_ONE,
                                             .gpus = gpus };
        require(weir_cluster_add_node(cluster, &spec, NULL, NULL));
    }
    for (uint32_t n = 0; n < nodes / 10 * 9; n++)
        fill(cluster, n);
    return cluster;
}

static uint32_t ask_each(const struct weir_cluster *cluster)
{
    struct weir_choice choice = { .nodes_seen = 0 };
    uint32_t node = 0;
    for (; node < cluster->node_count; node++) {
        const uint32_t reason = weir_candidates_reason(cluster, &shape, node);
        if (reason == WEIR_REASON_NONE)
            return node;
        choice.rejected[reason]++;
    }
    return WEIR_NO_INDEX;
}

static uint32_t ask_kept(const struct weir_cluster *cluster)
{
    struct weir_choice choice = { .nodes_seen = 0 };
    struct weir_room_walk walk = weir_rooms_begin(cluster, &shape);
    return weir_rooms_next(&walk, &choice);
}

/* ns a question, one change before each. */
static double measure(struct weir_cluster *cluster, uint32_t (*ask)(const struct weir_cluster *),
                      uint32_t questions)
{
    const uint32_t full = cluster->node_count / 10 * 9;
    double best_s = HUGE_VAL;
    for (int time = 0; time < TIMES; time++) {
        const double begin_s = test_cpu_s();
        for (uint32_t q = 0; q < questions; q++) {
            const uint32_t node = (uint32_t)((uint64_t)q * 7919 % full);
            require(weir_cluster_remove_worker(cluster, node, NULL));
            fill(cluster, node);
            if (ask(cluster) != full)
                require(WEIR_EINVARIANT);
        }
        best_s = fmin(best_s, test_cpu_s() - begin_s);
    }
    return best_s * 1e9 / questions;
}

int main(void)
{
    double last_ns = 0;
    for (uint32_t nodes = 100; nodes <= 100000; nodes *= 10) {
        struct weir_cluster *cluster = make(nodes);
        const double kept_ns = measure(cluster, ask_kept, 20000);
        const double each_ns = measure(cluster, ask_each, 20000000 / nodes > 200 ? 200 : 40);
        printf("%7u nodes: %8.0f ns kept, %9.0f ns asked one by one", nodes, kept_ns, each_ns);
        if (last_ns > 0)
            printf(", exponent %.2f", log10(kept_ns / last_ns));
        printf("\n");
        last_ns = kept_ns;
        weir_cluster_destroy(cluster);
    }
    return EXIT_SUCCESS;
}
