/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nodes have room for a shape, and why the others have none, without asking every node.
 *
 * A walk gives the nodes that have a candidate (candidates.h) in their order, and counts what the
 * others say, exactly as asking them one by one would. The answers of all nodes are kept for every
 * shape that is asked about, in groups of 64 nodes and spans of 64 groups with a bit each for "has
 * room" and a count for each reason. A change of a node is noted by the ledger and worked in when
 * its shape is asked about again; a shape that fell behind by more changes than there are nodes
 * begins anew. Small inventories, and those whose memory is out, are asked node by node.
 *
 * Invariant: after weir_rooms_begin the answers kept are what weir_candidates_reason says.
 * Cost: O(1) for each node that changed since, then O(64 + nodes / 4096) for each step of a walk.
 * Small inventories cost O(nodes) whatever is asked.
 */
#ifndef SCHED_PLACEMENT_ROOMS_H
#define SCHED_PLACEMENT_ROOMS_H

#include "weir/policy.h"

/* Inventories of fewer nodes are asked node by node. */
enum { WEIR_ROOMS_FROM = 16 };

struct weir_room_kept;

/* A walk over the nodes that have room. Worth nothing once the inventory has changed. */
struct weir_room_walk {
    const struct weir_cluster *cluster;
    const struct weir_shape *shape;
    const struct weir_room_kept *kept; /* NULL = asked one by one */
    uint32_t next;                     /* node */
};

struct weir_room_walk weir_rooms_begin(const struct weir_cluster *cluster,
                                       const struct weir_shape *shape);
/* The next node that has room, or WEIR_NO_INDEX; counts it and those before it in `choice`:
 * nodes_seen and rejected. */
uint32_t weir_rooms_next(struct weir_room_walk *walk, struct weir_choice *choice);
/* How many nodes have room; all nodes are counted in `choice`. O(nodes / 4096). */
uint32_t weir_rooms_survey(const struct weir_room_walk *walk, struct weir_choice *choice);
/* The node that has room with `place` others before it, less than there are. O(64 + nodes / 4096).
 */
uint32_t weir_rooms_at(const struct weir_room_walk *walk, uint32_t place);

#endif
