/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is near what inside a node: GPUs and CPUs by socket, GPUs by island.
 *
 * CPUs and GPUs are divided over the sockets of a node, and GPUs over its NVLink islands, evenly
 * and in order; a node of which nothing is said has one socket and one island. Islands and sockets
 * know nothing of one another: an island may span sockets (NVSwitch), and a socket islands.
 *
 * CPUs by socket: those of a worker come from the sockets of its GPUs as long as there are some,
 * from the one with most free CPUs first, then from the others likewise; without a GPU they come
 * from wherever most are free. They stay where they are for its life. Who has any of them away from
 * all of its GPUs reaches memory through another socket and takes `numa_penalty` times as long,
 * whatever part of them it is: the slowest thread is waited for.
 *
 * Invariant (sim_sockets_check): 0 <= held <= CPUs on every socket, and their sum is what the node
 * holds.
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

/* From now on CPUs are counted by socket where there are several; nobody holds any yet. */
weir_status sim_sockets_open(struct sim_cluster *cluster);
/* Which sockets the CPUs of a claim come from as things are now. */
void sim_sockets_choose(const struct sim_cluster *cluster, uint32_t node, struct sim_claim *claim);
/* Takes them (sign 1) or gives them back (-1). */
void sim_sockets_book(struct sim_cluster *cluster, const struct sim_lease *lease, int64_t sign);
/* So many times as long takes what runs there because of where its CPUs are: 1, or the penalty. */
double sim_lease_numa(const struct sim_cluster *cluster, const struct sim_lease *lease);
weir_status sim_sockets_check(const struct sim_cluster *cluster, uint32_t node,
                              struct weir_error *error);

#endif
