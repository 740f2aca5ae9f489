/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an amount is divided among siblings with guarantees, weights and limits, in whole units.
 *
 * First everybody gets what is guaranteed to him, as far as he asks for it; the rest goes band by
 * band, and in a band by weight among those who ask for more; what one cannot take is divided
 * again. Then shares are rounded down, and the units left over go one each to the largest
 * fractions, the first of equal ones.
 *
 * With k > 0 the past counts, as in KAI (resource_division.go): a weight is max(0, w + k (w - u)),
 * w and u being its parts of the weights and of the past use of those who ask for more. Where
 * nothing is left of all weights they are as they were.
 */
#ifndef SCHED_QUEUEING_QUOTA_SHARES_H
#define SCHED_QUEUEING_QUOTA_SHARES_H

#include <stdint.h>

struct weir_claim {
    double guarantee, weight;
    double past;  /* use of before, in any unit: whoever had more than his weight has less weight */
    int32_t band; /* higher ones take all they ask for before lower ones get any of the rest */
    double most;  /* what it asks for, and its hard limit */
    double share; /* out */
};

/* Cost: O(count^2) at worst. */
void weir_quota_divide(double amount, double k, struct weir_claim *claims, uint32_t count);

#endif
