/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory of nodes in time: what workers are, what their tasks hold, and what lies there for others.
 *
 * In use = the workers' own memory, and unless the rule is `admit` also the input of tasks that
 * run and outputs that wait, which lie in the node's store: a share of its memory, beyond which
 * they are written to disk. Workers for whose own memory together there is no room do not start;
 * where all of it together grows beyond the limit somebody dies (sim/world/memory.c). A node
 * without `ram` has any amount.
 *
 * A GPU has what workers hold of its memory and what their tasks take on top. Nobody dies for
 * another there: who asks for more than is left does not get it.
 */
#ifndef SIM_CLUSTER_MEMORY_H
#define SIM_CLUSTER_MEMORY_H

#include "sim/cluster/extents.h"

static inline bool sim_memory_is_timed(const struct sim_cluster *cluster)
{
    return cluster->scenario->memory.rule != SIM_MEMORY_ADMIT;
}

/* The input of a task comes into hand on the node, or leaves it (negative). */
void sim_memory_work(struct sim_cluster *cluster, uint32_t node, int64_t bytes);
/* Outputs come to lie there, or leave; returns bytes that go to disk because of it. */
int64_t sim_memory_store(struct sim_cluster *cluster, uint32_t node, int64_t bytes);
/* Something grew there: its use is to be looked at after the event. */
void sim_memory_note(struct sim_cluster *cluster, uint32_t node);

/* Running work asks for so many bytes more on every GPU it uses. Where one of them, or an instance
 * there, has not got so many, or not in one piece, nothing is taken. The extents they become have
 * room (extents.h). */
enum sim_gpu_memory { SIM_GPU_MEMORY_TAKEN, SIM_GPU_MEMORY_SHORT, SIM_GPU_MEMORY_SCATTERED };
enum sim_gpu_memory sim_memory_take(struct sim_cluster *cluster, struct sim_extent_owner owner,
                                    int64_t bytes);
/* It gives so many back. */
void sim_memory_give(struct sim_cluster *cluster, const struct sim_lease *lease, int64_t bytes);

int64_t sim_memory_in_use(const struct sim_cluster *cluster, uint32_t node);
/* Above it somebody dies; 0 = never. */
double sim_memory_limit(const struct sim_cluster *cluster, uint32_t node);
bool sim_memory_is_over(const struct sim_cluster *cluster, uint32_t node);
/* The next node of those on which something grew, which is then no longer one; WEIR_NO_INDEX. */
uint32_t sim_memory_next(struct sim_cluster *cluster);

#endif
