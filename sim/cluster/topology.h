/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is near what inside a node: GPUs and CPUs by socket, GPUs by island.
 *
 * CPUs and GPUs are divided over the sockets of a node, and GPUs over its NVLink islands, evenly
 * and in order; a node of which nothing is said has one socket and one island. Islands and sockets
 * know nothing of one another: an island may span sockets (NVSwitch), and a socket islands.
 */
#ifndef SIM_CLUSTER_TOPOLOGY_H
#define SIM_CLUSTER_TOPOLOGY_H

#include "sim/cluster/cluster.h"

/* Of a GPU by its index within the node. */
uint32_t sim_gpu_island(const struct sim_cluster *cluster, uint32_t node, uint32_t gpu);
uint32_t sim_gpu_socket(const struct sim_cluster *cluster, uint32_t node, uint32_t gpu);

/* At least one. */
uint32_t sim_node_sockets(const struct sim_cluster *cluster, uint32_t node);
/* CPUs of one socket, in units. */
int64_t sim_socket_cpus(const struct sim_cluster *cluster, uint32_t node, uint32_t socket);

#endif
