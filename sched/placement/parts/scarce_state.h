/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of what weir knows of scarce room: scarce.c learns and prices, scarce_room.c counts.
 */
#ifndef SCHED_PLACEMENT_SCARCE_STATE_H
#define SCHED_PLACEMENT_SCARCE_STATE_H

#include "sched/cluster/state.h"
#include "sched/placement/parts/scarce.h"

/* Whether who comes finds a place: GPUs asked for lately, and in vain. */
struct weir_slack {
    double asked, lost;
    double told; /* 1 = everybody does */
};

struct weir_scarce {
    struct weir_allocator allocator;
    struct weir_scarce_rules rules;
    struct weir_claim claims[WEIR_CLAIMS_MOST]; /* room -1 = to be counted anew */
    uint32_t count;
    bool is_primed, is_following, is_dear;
    uint64_t stale;                          /* bits of the claims to be counted anew */
    double seen, gpus;                       /* arrivals, and what they asked for */
    double ended;                            /* workers, what was long ago counts less */
    double departures;                       /* as it is told */
    double large;                            /* likewise */
    struct weir_slack small, open;           /* jobs of one GPU; all that insist on no type */
    bool is_known;                           /* the job that asks has asked before */
    uint64_t begun_before, ended_before;     /* of the inventory */
    uint64_t last_ids[WEIR_CLAIM_WORKLOADS]; /* by workload: ids below are known */
    struct weir_change_mark mark;
    uint32_t node_count;
    uint64_t *versions; /* per node: the state its rooms are of */
    int32_t *rooms;     /* WEIR_CLAIMS_MOST a node */
};

/* Brings the rooms of all claims up to date. */
weir_status weir_scarce_count_rooms(struct weir_scarce *scarce, const struct weir_cluster *cluster);
void weir_scarce_forget_rooms(struct weir_scarce *scarce);
#endif
