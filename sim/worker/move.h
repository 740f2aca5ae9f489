/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes on their way to a worker or from it: first the time a store takes before the first byte,
 * then the bytes, over all links of the way at once (sim/cluster/link.h).
 *
 * Who moves something keeps the struct, is told the end of its activity by `owner`, and then goes
 * on. What takes no time is over at once. The meter counts what arrived, and the time it took.
 */
#ifndef SIM_WORKER_MOVE_H
#define SIM_WORKER_MOVE_H

#include "sim/worker/context.h"

struct sim_move {
    uint32_t from, to; /* nodes; WEIR_NO_INDEX = the store */
    uint32_t store;    /* WEIR_NO_INDEX = none */
    uint32_t traffic;  /* class there, 0 = none */
    double bytes;
    uint64_t items;
    uint64_t owner; /* as in sim/world/driver.h */
    /* Its own: */
    sim_handle work; /* SIM_NO_HANDLE = it is not under way */
    bool is_delayed; /* the first byte is still to come */
    int64_t start_ns;
};

static inline bool sim_move_is_under_way(const struct sim_move *move)
{
    return move->work != SIM_NO_HANDLE;
}

/* Begins; unless it is under way afterwards, it is over already. */
weir_status sim_move_begin(const struct sim_context *context, struct sim_move *move);
/* Its activity is over: goes on with the bytes, or is over itself. */
weir_status sim_move_worked(const struct sim_context *context, struct sim_move *move);
/* Takes it away where it is; nothing when it is not under way. */
weir_status sim_move_drop(const struct sim_context *context, struct sim_move *move);
#endif
