/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The auction of Themis by itself: devices among bidders, by what each is worth to them. Exact, by
 * dynamic programming: O(bidders^2 x devices^2).
 */
#ifndef SCHED_JOINT_THEMIS_H
#define SCHED_JOINT_THEMIS_H

#include "sched/joint/joint.h"

struct weir_auction {
    uint32_t bidders, devices;
    /* How badly a bidder is treated with so many; infinite = it can do nothing with them. */
    double (*rho)(const void *state, uint32_t bidder, uint32_t devices);
    const void *state;
    uint32_t *won, *kept; /* out: what each wins, and what it keeps after its payment */
    double *part;         /* out: of what it won */
    double *worth;        /* its own */
};

weir_status weir_auction_hold(struct weir_auction *auction, const struct weir_allocator *allocator);

#endif
