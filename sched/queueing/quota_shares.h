/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an amount is divided among siblings with guarantees, weights and limits, in whole units.
 *
 * First everybody gets what is guaranteed to him, as far as he asks for it; the rest goes by weight
 * among those who ask for more, and what one cannot take is divided again. Then shares are rounded
 * down, and the units left over go one each to the largest fractions, the first of equal ones.
 */
#ifndef SCHED_QUEUEING_QUOTA_SHARES_H
#define SCHED_QUEUEING_QUOTA_SHARES_H

#include <stdint.h>

struct weir_claim {
    double guarantee, weight;
    double most;  /* what it asks for, and its hard limit */
    double share; /* out */
};

/* Cost: O(count^2) at worst. */
void weir_quota_divide(double amount, struct weir_claim *claims, uint32_t count);

#endif
