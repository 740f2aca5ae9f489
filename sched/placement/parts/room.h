/* SPDX-License-Identifier: Apache-2.0 */
/* How many workers go where; of an empty cluster see weir_cluster_room. */
#ifndef SCHED_PLACEMENT_ROOM_H
#define SCHED_PLACEMENT_ROOM_H

#include "weir/policy.h"

/* How many more workers of `shape` a node could hold as it is, each on one GPU or as many whole
 * ones as it wants; UINT64_MAX for one that wants nothing. Engines that may come from several GPUs
 * (CODEC) are counted by the GPU. 0 = not one. O(GPUs). */
uint64_t weir_node_room(const struct weir_cluster *cluster, uint32_t node,
                        const struct weir_shape *shape);

/* Whether a node that is up and not cordoned could hold a worker of `shape` if it were empty. */
bool weir_cluster_serves(const struct weir_cluster *cluster, const struct weir_shape *shape);

#endif
