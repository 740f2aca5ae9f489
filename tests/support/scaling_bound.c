/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What no scaling policy can exceed: the largest rate z for which fractions of nodes, each filled
 * in a way that one node can be filled, hold x_i(z) = ceil(z / c_i) workers of each stage; see
 * sched/solve/fillings.h. CPUs are whole numbers there and shares steps of 1/20; of codecs it knows
 * only that they are on nodes with GPUs (so it stays a bound). property/bound_placed.c holds it
 * against another programme with another solver.
 */
#include "sched/internal/alloc.h"
#include "sched/solve/fillings.h"
#include "tests/support/scaling_problems.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 20, BISECTIONS = 24 };

struct filled {
    struct weir_filling_item items[SCALING_STAGES];
    struct weir_filling_node nodes[SCALING_NODE_TYPES];
    bool may_stand[SCALING_NODE_TYPES * SCALING_STAGES];
};

static struct weir_filling_question describe(const struct scaling_problem *problem,
                                             struct filled *filled)
{
    for (uint32_t i = 0; i < problem->stages; i++) {
        const struct weir_shape *const shape = &problem->shapes[i];
        const bool is_part = shape->gpu_units > 0 && shape->gpu_units < WEIR_ONE;
        filled->items[i] = (struct weir_filling_item){
            .cpus = (uint32_t)(shape->cpu_units / WEIR_ONE),
            .part = is_part ? (uint32_t)lround((double)shape->gpu_units * STEPS / WEIR_ONE) : 0,
            .gpus = shape->gpu_units == WEIR_ONE ? shape->gpu_count : 0,
        };
    }
    for (uint32_t t = 0; t < problem->types; t++) {
        const struct scaling_node_type *const node = &problem->nodes[t];
        filled->nodes[t] = (struct weir_filling_node){ .cpus = (uint32_t)node->cpus,
                                                       .gpus = node->gpus,
                                                       .count = node->count };
        for (uint32_t i = 0; i < problem->stages; i++)
            filled->may_stand[t * problem->stages + i] =
                problem->shapes[i].nvdecs == 0 || node->gpus > 0;
    }
    return (struct weir_filling_question){ .items = filled->items,
                                           .nodes = filled->nodes,
                                           .may_stand = filled->may_stand,
                                           .item_count = problem->stages,
                                           .node_count = problem->types,
                                           .steps = STEPS };
}

double scaling_bound(const struct scaling_problem *problem)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct weir_fillings fillings;
    struct filled filled;
    double counts[SCALING_STAGES];
    double low = 0;
    double high = scaling_pool_bound(problem);
    const struct weir_filling_question question = describe(problem, &filled);

    weir_fillings_open(&fillings, &memory);
    if (weir_fillings_begin(&fillings, &question) != WEIR_OK)
        abort();
    for (uint32_t i = 0; i < BISECTIONS && high - low > 1e-5 * high; i++) {
        const double z_per_s = i == 0 ? high : low + (high - low) / 2;
        bool passes = true;
        for (uint32_t k = 0; k < problem->stages; k++)
            counts[k] = fmax(1, ceil(z_per_s / problem->speeds_per_s[k] - 1e-9));
        if (weir_fillings_pass(&fillings, counts, &passes) != WEIR_OK)
            abort();
        if (passes)
            low = z_per_s;
        else
            high = z_per_s;
    }
    weir_fillings_close(&fillings);
    return high;
}
