/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory of GPUs that nobody has any more and that is not free yet (`cluster.gpu_reap`): a process
 * that is killed leaves its contexts behind until they are reaped. The scheduler does not know of
 * it, so who comes next may find too little.
 *
 * Instances are left empty: they end with their process. The loss of a node or GPU frees it, too.
 */
#ifndef SIM_CLUSTER_GHOSTS_H
#define SIM_CLUSTER_GHOSTS_H

#include "sim/cluster/cluster.h"

/* To be called before the lease is given back: what it holds of its GPUs, and `bytes` of each
 * beside it, stay in use until that time. True when there is any; times never fall.
 * WEIR_ENOMEM. */
weir_status sim_ghosts_leave(struct sim_cluster *cluster, const struct sim_lease *lease,
                             int64_t bytes, int64_t until_ns, bool *is_left);
/* Those whose time has come are free. */
void sim_ghosts_reap(struct sim_cluster *cluster, int64_t now_ns);
/* Those of one GPU, or of all of a node (WEIR_NO_INDEX), are. */
void sim_ghosts_forget(struct sim_cluster *cluster, uint32_t node, uint32_t gpu);
void sim_ghosts_destroy(struct sim_cluster *cluster);

#endif
