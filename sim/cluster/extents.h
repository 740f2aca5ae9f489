/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Addresses of the memory of GPUs (`cluster.gpu_addresses`).
 *
 * A driver that maps pages finds free memory wherever it lies (`paged`), and nothing is kept here.
 * Without pages an allocation is one extent of addresses: the first hole that holds it, or the
 * smallest (Knuth, TAOCP 1, 2.5). It stays there to its end; what is free falls apart, and who asks
 * for more than the largest hole gets nothing though enough is free. What steps give back to the
 * GPU (`reuse: none`) is taken anew at every step: whenever something else changes there it goes to
 * where the rule now puts it. `largest hole / all that is free` says how far it fell apart.
 *
 * Instances of cut GPUs have memory of their own, and of GPUs whose memory is not known nothing is
 * kept. Every change costs O(extents of the GPU).
 *
 * Invariant: extents of a GPU do not overlap, lie within its memory, and add up to what is in use.
 */
#ifndef SIM_CLUSTER_EXTENTS_H
#define SIM_CLUSTER_EXTENTS_H

#include "sim/cluster/cluster.h"

/* Leases of such a cluster stay where they are in memory: they say whose an extent is. */
weir_status sim_extents_open(struct sim_cluster *cluster);
void sim_extents_close(struct sim_cluster *cluster);

/* Room for one extent more on each GPU that the lease uses. */
weir_status sim_extents_reserve(struct sim_cluster *cluster, const struct sim_lease *lease);
/* Whether so many bytes lie free in one piece. */
bool sim_extents_fit(const struct sim_cluster *cluster, const struct sim_gpu *gpu, int64_t bytes);

/* Whose: of a lease what it is, or what its work takes, perhaps anew at every step. */
struct sim_extent_owner {
    const struct sim_lease *lease;
    bool is_work, is_anew;
};
/* Bytes that fit are taken (there is room for the extent); or given back (negative), one extent of
 * the owner of that size, or all it has. */
void sim_extents_book(struct sim_cluster *cluster, const struct sim_gpu *gpu,
                      struct sim_extent_owner owner, int64_t bytes);

/* Reports the mean over GPUs of 1 - largest hole / free memory. */
void sim_extents_meter(const struct sim_cluster *cluster, struct sim_meter *meter, int64_t now_ns);
weir_status sim_extents_check(const struct sim_cluster *cluster, struct weir_error *error);

#endif
