/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unallocated GPUs by cause; see the header. */
#include "sim/lab/unallocated.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One kind of refused jobs looks at one node. */
static void look(const struct sim_free_room *room, uint32_t node, const struct weir_shape *shape,
                 double weights[SIM_CAUSES])
{
    static const enum sim_cause causes[] = {
        [SIM_OBSTACLE_NONE] = SIM_CAUSE_POLICY, [SIM_OBSTACLE_MODEL] = SIM_CAUSE_MODEL,
        [SIM_OBSTACLE_GPUS] = SIM_CAUSE_GANG,   [SIM_OBSTACLE_GPU_MEM] = SIM_CAUSE_GPU_MEM,
        [SIM_OBSTACLE_CPU] = SIM_CAUSE_CPU,     [SIM_OBSTACLE_MEMORY] = SIM_CAUSE_MEMORY
    };
    int64_t roomy_units = 0;
    const enum sim_obstacle obstacle = sim_free_room_obstacle(room, node, shape, &roomy_units);
    const double all = weir_units_amount(room->all_units[node]);
    const double roomy = obstacle == SIM_OBSTACLE_MODEL ? all : weir_units_amount(roomy_units);
    weights[causes[obstacle]] += roomy;
    weights[SIM_CAUSE_FRACTION] += all - roomy;
}

/* Weights of the causes over all nodes and refused jobs, by their GPU demand. */
static void weigh(const struct sim_unallocated_question *question, const struct sim_free_room *room,
                  double weights[SIM_CAUSES])
{
    for (uint32_t k = 0; k < question->kinds->count; k++) {
        const struct weir_shape *shape = &question->kinds->shapes[k];
        const double demand = sim_kind_gpus(shape) * (double)question->refused[k];
        double sums[SIM_CAUSES] = { 0 };
        if (!(demand > 0))
            continue;
        for (uint32_t i = 0; i < room->open_count; i++)
            look(room, room->open[i], shape, sums);
        for (int c = 0; c < SIM_CAUSES; c++)
            weights[c] += demand * sums[c];
    }
}

static void spread(const struct sim_unallocated_question *question,
                   const struct sim_free_room *room, struct sim_unallocated *unallocated)
{
    double weights[SIM_CAUSES] = { 0 };
    double all = 0;
    double idle = 0;
    weigh(question, room, weights);
    for (int c = 0; c < SIM_CAUSES; c++)
        all += weights[c];
    for (uint32_t i = 0; i < room->open_count; i++)
        idle += weir_units_amount(room->all_units[room->open[i]]);
    const double surplus = fmax(question->cluster->gpu_count - question->arrived_gpus, 0);
    const double no_demand = all > 0 ? fmin(surplus, idle) : idle;
    for (int c = 0; c < SIM_CAUSES; c++)
        unallocated->gpus[c] = all > 0 ? (idle - no_demand) * weights[c] / all : 0;
    unallocated->gpus[SIM_CAUSE_NO_DEMAND] = no_demand;
}

weir_status sim_unallocated_compute(const struct sim_unallocated_question *question,
                                    struct sim_unallocated *unallocated)
{
    struct sim_free_room room;
    memset(unallocated, 0, sizeof(*unallocated));
    WEIR_TRY(sim_free_room_create(question->cluster, &room));
    spread(question, &room, unallocated);
    const weir_status status = sim_placement_changes(question, &room, unallocated);
    sim_free_room_clear(&room);
    return status;
}
