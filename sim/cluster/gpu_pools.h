/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory of GPUs that belongs to tenants: pools, and limits of processes (sim_tenant).
 *
 * A pool is so much of the memory of every GPU. What its tenant does not use of it is there for
 * nobody else; beyond it the tenant has what anybody has. Instances of cut GPUs have memory of
 * their own and are in no pool.
 *
 * Invariant: the use of a pool on a GPU is what the leases of its tenants take there.
 */
#ifndef SIM_CLUSTER_GPU_POOLS_H
#define SIM_CLUSTER_GPU_POOLS_H

#include "sim/cluster/cluster.h"

weir_status sim_pools_open(struct sim_cluster *cluster);
void sim_pools_close(struct sim_cluster *cluster);

/* Of the memory of a GPU that is free, what others keep from a tenant (0 = nobody). */
int64_t sim_pools_kept(const struct sim_cluster *cluster, const struct sim_gpu *gpu,
                       uint32_t tenant);
/* A tenant takes so much more of it, or gives it back (negative). */
void sim_pools_book(struct sim_cluster *cluster, const struct sim_gpu *gpu, uint32_t tenant,
                    int64_t bytes);
/* Whether a process of the tenant may have so much of one GPU. */
bool sim_pools_allow(const struct sim_cluster *cluster, uint32_t tenant, int64_t bytes);
/* Reports what pools have that nobody uses. */
void sim_pools_meter(const struct sim_cluster *cluster, struct sim_meter *meter, int64_t now_ns);
weir_status sim_pools_check(const struct sim_cluster *cluster, struct weir_error *error);

#endif
