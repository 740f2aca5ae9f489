/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Electric power of a node from what is allocated on it (the model of PWR: Lettich et al., CCGrid
 * 2025).
 *
 * A GPU on which nothing lies draws its idle power, one with any allocation its limit, however
 * small the share is. CPUs are sockets of equal size: those that hold the allocated cores draw full
 * power, the others idle power. A node that is down draws nothing. Memory, disks, fans and losses
 * are left out, so that differences between placements mean more than totals.
 */
#ifndef SIM_CLUSTER_POWER_H
#define SIM_CLUSTER_POWER_H

#include "sim/cluster/cluster.h"

struct sim_power_draw {
    double gpu_w, cpu_w;
};

struct sim_power_draw sim_power_node(const struct sim_cluster *cluster, uint32_t node);

#endif
