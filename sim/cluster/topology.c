/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sockets and islands (see topology.h).
 */
#include "sim/cluster/topology.h"

uint32_t sim_node_sockets(const struct sim_cluster *cluster, uint32_t node)
{
    const struct sim_topology *topology = cluster->nodes[node].topology;
    return topology->sockets > 1 ? topology->sockets : 1;
}

/* Fewer GPUs than sockets are on every so many-th of them. */
uint32_t sim_gpu_socket(const struct sim_cluster *cluster, uint32_t node, uint32_t gpu)
{
    return gpu * sim_node_sockets(cluster, node) / cluster->nodes[node].gpu_count;
}

uint32_t sim_gpu_island(const struct sim_cluster *cluster, uint32_t node, uint32_t gpu)
{
    const uint32_t gpus = cluster->nodes[node].topology->island_gpus;
    return gpus == 0 ? 0 : gpu / gpus;
}

/* What cannot be divided further goes to the first. */
int64_t sim_socket_cpus(const struct sim_cluster *cluster, uint32_t node, uint32_t socket)
{
    const int64_t total = cluster->nodes[node].cpu_total;
    const int64_t sockets = sim_node_sockets(cluster, node);
    return total / sockets + (socket < total % sockets);
}
