/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Power of a node; see the header. */
#include "sim/cluster/power.h"

#include <math.h>

/* Sockets that these CPUs fill; a residue of rounding opens no other one. */
static double sockets_of(const struct sim_power *power, int64_t cpu_units)
{
    const double cores = weir_units_amount(cpu_units) / power->cpus_per_core;
    return ceil(cores / power->cores_per_socket - 1e-9);
}

struct sim_power_draw sim_power_node(const struct sim_cluster *cluster, uint32_t node)
{
    const struct sim_power *power = &cluster->scenario->power;
    const struct sim_node *host = &cluster->nodes[node];
    struct sim_power_draw draw = { .gpu_w = 0 };
    if (!host->is_up)
        return draw;
    for (uint32_t g = 0; g < host->gpu_count; g++) {
        const struct sim_gpu *gpu = &cluster->gpus[host->gpu_first + g];
        const struct sim_gpu_type *type = &cluster->scenario->gpu_truth[gpu->type];
        const bool is_idle = gpu->units_held == 0 && gpu->nvdec_held == 0 && gpu->nvenc_held == 0;
        draw.gpu_w += is_idle ? type->idle_w : type->limit_w;
    }
    const double sockets = sockets_of(power, host->cpu_total);
    const double active = sockets_of(power, host->cpu_held);
    draw.cpu_w = active * power->socket_full_w + (sockets - active) * power->socket_idle_w;
    return draw;
}
