/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory system of a GPU that several use at once: bandwidth and cache.
 *
 * Bandwidth: with b_i asked for by each, S = max(1, sum b_i) (1 = all there is), and work that
 * waits for memory m_i of its time takes (1 - m_i) + m_i S times as long. What is set aside for
 * somebody he has first, up to what he asks for; the others share what is left, and S of each is
 * what he asks for over what he gets.
 *
 * Cache: who wants c_i of it has min(1, 1 / sum c_i) of that, and takes 1 + k_i (1 - that) times as
 * long, k_i the penalty. Pinned parts are kept first; the others share the rest.
 *
 * An instance of a GPU that is cut has its part of both to itself: it is as if alone on a smaller
 * device.
 */
#ifndef SIM_CLUSTER_TRAFFIC_H
#define SIM_CLUSTER_TRAFFIC_H

#include "sim/cluster/cluster.h"

/* Work with this traffic begins on the GPU (sign 1) or ends (-1). NULL = none. */
void sim_traffic_run(struct sim_gpu *gpu, const struct sim_memory_traffic *traffic, double sign);
/* More is asked for than there is. */
bool sim_traffic_is_scarce(const struct sim_gpu *gpu);
/* How much longer than alone work with this traffic takes that runs there; >= 1. */
double sim_traffic_slowdown(const struct sim_gpu *gpu, const struct sim_use *use,
                            const struct sim_memory_traffic *traffic);

#endif
