/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What no scaling policy can exceed: the largest rate z for which fractions of nodes, each filled
 * in a way that one node can be filled, hold x_i(z) = ceil(z / c_i) workers of each stage; see
 * sched/solve/fillings.h. CPUs are whole numbers there and shares steps of 1/20, or 1/100 where one
 * is none; of codecs and memory it knows only what one big node has, and what a stage would find
 * alone (so it stays a bound). property/bound_placed.c holds it against another programme with
 * another solver.
 */
#include "sched/internal/alloc.h"
#include "sched/solve/fillings.h"
#include "tests/support/scaling_problems.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 20, FINE_STEPS = 100, BISECTIONS = 24, MOST_ROOM = 10000000 };

struct filled {
    struct weir_filling_item items[SCALING_STAGES];
    struct weir_filling_node nodes[SCALING_NODE_TYPES];
    bool may_stand[SCALING_NODE_TYPES * SCALING_STAGES];
};

static bool is_part(const struct weir_shape *shape)
{
    return shape->gpu_units > 0 && shape->gpu_units < WEIR_ONE;
}

static uint32_t steps_of(const struct scaling_problem *problem)
{
    for (uint32_t i = 0; i < problem->stages; i++)
        if (is_part(&problem->shapes[i]) && problem->shapes[i].gpu_units * STEPS % WEIR_ONE != 0)
            return FINE_STEPS;
    return STEPS;
}

static bool may_stand(const struct weir_shape *shape, const struct scaling_node_type *node)
{
    const bool needs_gpu = shape->kind != WEIR_SHAPE_CPU;

    return shape->ram_bytes <= node->ram_bytes &&
           (!needs_gpu || (node->gpus > 0 && weir_shape_takes_type(shape, node->gpu_type) &&
                           shape->gpu_mem_bytes <= node->gpu_mem_bytes));
}

static struct weir_filling_question describe(const struct scaling_problem *problem,
                                             struct filled *filled)
{
    const uint32_t steps = steps_of(problem);

    for (uint32_t i = 0; i < problem->stages; i++) {
        const struct weir_shape *const shape = &problem->shapes[i];
        filled->items[i] = (struct weir_filling_item){
            .cpus = (uint32_t)(shape->cpu_units / WEIR_ONE),
            .part =
                is_part(shape) ? (uint32_t)lround((double)shape->gpu_units * steps / WEIR_ONE) : 0,
            .gpus = shape->gpu_units == WEIR_ONE ? shape->gpu_count : 0,
        };
    }
    for (uint32_t t = 0; t < problem->types; t++) {
        const struct scaling_node_type *const node = &problem->nodes[t];
        filled->nodes[t] = (struct weir_filling_node){ .cpus = (uint32_t)node->cpus,
                                                       .gpus = node->gpus,
                                                       .count = node->count };
        for (uint32_t i = 0; i < problem->stages; i++)
            filled->may_stand[t * problem->stages + i] = may_stand(&problem->shapes[i], node);
    }
    return (struct weir_filling_question){ .items = filled->items,
                                           .nodes = filled->nodes,
                                           .may_stand = filled->may_stand,
                                           .item_count = problem->stages,
                                           .node_count = problem->types,
                                           .steps = steps };
}

/* Of a group every node counts as a worker. */
static bool passes(struct weir_fillings *fillings, const struct scaling_problem *problem,
                   double z_per_s)
{
    double counts[SCALING_STAGES];
    bool does = true;

    for (uint32_t k = 0; k < problem->stages; k++)
        counts[k] = scaling_wanted(problem, k, z_per_s) * weir_shape_members(&problem->shapes[k]);
    if (weir_fillings_pass(fillings, counts, &does) != WEIR_OK)
        abort();
    return does;
}

/* Of one big node, and of each stage if it were alone; of one whose engines may come from several
 * GPUs that is not known. */
static double loose_bound(const struct scaling_problem *problem)
{
    struct weir_host *const host = scaling_host(problem, "fixed", "best_fit");
    double most_per_s = scaling_pool_bound(problem);

    if (host == NULL)
        return 0;
    for (uint32_t i = 0; i < problem->stages; i++)
        if (problem->fixed[i] < 0 && problem->shapes[i].kind != WEIR_SHAPE_CODEC)
            most_per_s =
                fmin(most_per_s, problem->speeds_per_s[i] *
                                     (double)weir_cluster_room(weir_host_cluster(host),
                                                               &problem->shapes[i], MOST_ROOM));
    weir_host_destroy(host);
    return most_per_s;
}

double scaling_bound(const struct scaling_problem *problem)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct weir_fillings fillings;
    struct filled filled;
    double low = 0;
    double high = loose_bound(problem);
    const struct weir_filling_question question = describe(problem, &filled);

    weir_fillings_open(&fillings, &memory);
    if (weir_fillings_begin(&fillings, &question) != WEIR_OK)
        abort();
    if (!passes(&fillings, problem, 0))
        high = 0;
    for (uint32_t i = 0; i < BISECTIONS && high - low > 1e-5 * high; i++) {
        const double z_per_s = i == 0 ? high : low + (high - low) / 2;
        *(passes(&fillings, problem, z_per_s) ? &low : &high) = z_per_s;
    }
    weir_fillings_close(&fillings);
    return high;
}
