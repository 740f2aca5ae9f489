/* SPDX-License-Identifier: Apache-2.0 */
/* Pressure on types of GPUs; see pressure.h. */
#include "sched/placement/pressure.h"

#include "sched/cluster/state.h"

#include <string.h>

static double gpus_asked(const struct weir_mix *mix, uint32_t entry)
{
    const struct weir_shape *const shape = &mix->shapes[entry];

    return mix->frequencies[entry] * weir_units_amount(shape->gpu_units) * shape->gpu_count;
}

static bool insists(const struct weir_mix *mix, uint32_t entry)
{
    return mix->shapes[entry].gpu_type != 0 && mix->shapes[entry].gpu_units > 0 &&
           mix->frequencies[entry] > 0;
}

static bool anybody_insists(const struct weir_mix *mix)
{
    for (uint32_t i = 0; i < mix->count; i++)
        if (insists(mix, i))
            return true;
    return false;
}

/* GPUs by type; their sum. */
static double count_gpus(const struct weir_cluster *cluster, double gpus[WEIR_PRESSURE_TYPES])
{
    double all = 0;

    for (uint32_t n = 0; n < cluster->node_count; n++) {
        const struct weir_node *const node = &cluster->nodes[n];
        all += node->gpu_count;
        for (uint32_t g = 0; g < node->gpu_count; g++) {
            const uint32_t type = cluster->gpus[node->gpu_first + g].type;
            if (type < WEIR_PRESSURE_TYPES)
                gpus[type]++;
        }
    }
    return all;
}

static void press(const struct weir_shape *shape, double asked,
                  const double gpus[WEIR_PRESSURE_TYPES], struct weir_pressure *pressure)
{
    double accepted = 0;

    for (uint32_t t = 0; t < WEIR_PRESSURE_TYPES; t++)
        accepted += weir_shape_takes_type(shape, t) ? gpus[t] : 0;
    for (uint32_t t = 0; t < WEIR_PRESSURE_TYPES && accepted > 0; t++)
        pressure->of[t] += weir_shape_takes_type(shape, t) ? asked / accepted : 0;
}

void weir_pressure_measure(const struct weir_cluster *cluster, const struct weir_mix *mix,
                           struct weir_pressure *pressure)
{
    double gpus[WEIR_PRESSURE_TYPES] = { 0 };
    double asked = 0;

    memset(pressure, 0, sizeof *pressure);
    if (!anybody_insists(mix))
        return;
    const double all = count_gpus(cluster, gpus);
    for (uint32_t i = 0; i < mix->count; i++) {
        asked += gpus_asked(mix, i);
        if (insists(mix, i))
            press(&mix->shapes[i], gpus_asked(mix, i), gpus, pressure);
    }
    for (uint32_t t = 0; t < WEIR_PRESSURE_TYPES; t++)
        pressure->of[t] *= all / asked;
}

double weir_pressure_on(const struct weir_pressure *pressure, const struct weir_cluster *cluster,
                        uint32_t node)
{
    const struct weir_node *const books = &cluster->nodes[node];
    double sum = 0;

    for (uint32_t g = 0; g < books->gpu_count; g++) {
        const uint32_t type = cluster->gpus[books->gpu_first + g].type;
        sum += type < WEIR_PRESSURE_TYPES ? pressure->of[type] : 0;
    }
    return books->gpu_count > 0 ? sum / books->gpu_count : 0;
}
