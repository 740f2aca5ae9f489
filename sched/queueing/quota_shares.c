/* SPDX-License-Identifier: Apache-2.0 */
/* Dividing among siblings (see quota_shares.h). */
#include "sched/queueing/quota_shares.h"

#include <math.h>
#include <stdbool.h>

static const double TINY = 1e-9; /* of a unit */

/* Guarantees; returns what is left. Those that are more than there is are cut in proportion. */
static double give_guarantees(double amount, struct weir_claim *claims, uint32_t count)
{
    double sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        claims[i].share = fmin(claims[i].guarantee, claims[i].most);
        sum += claims[i].share;
    }
    for (uint32_t i = 0; sum > amount && i < count; i++)
        claims[i].share *= amount / sum;
    return fmax(0, amount - sum);
}

static double weight_of_hungry(const struct weir_claim *claims, uint32_t count)
{
    double weight = 0;

    for (uint32_t i = 0; i < count; i++)
        weight += claims[i].share < claims[i].most ? claims[i].weight : 0;
    return weight;
}

/* One round by weight; returns what nobody could take. */
static double give_by_weight(double rest, struct weir_claim *claims, uint32_t count)
{
    const double weight = weight_of_hungry(claims, count);
    double left = 0;

    if (!(weight > 0))
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!(claims[i].share < claims[i].most))
            continue;
        const double offer = rest * claims[i].weight / weight;
        const double taken = fmin(offer, claims[i].most - claims[i].share);
        claims[i].share += taken;
        left += offer - taken;
    }
    return left;
}

static double part_of(double share)
{
    return share - floor(share + TINY);
}

/* Rounds down; the units left go to the largest fractions. */
static void make_whole(struct weir_claim *claims, uint32_t count)
{
    double parts = 0;

    for (uint32_t i = 0; i < count; i++)
        parts += fmax(0, part_of(claims[i].share));
    for (uint32_t left = (uint32_t)floor(parts + TINY); left > 0; left--) {
        uint32_t best = count;
        for (uint32_t i = 0; i < count; i++)
            if (part_of(claims[i].share) > TINY &&
                (best == count || part_of(claims[i].share) > part_of(claims[best].share) + TINY))
                best = i;
        if (best == count)
            break;
        claims[best].share = floor(claims[best].share) + 1;
    }
    for (uint32_t i = 0; i < count; i++)
        claims[i].share = floor(claims[i].share + TINY);
}

void weir_quota_divide(double amount, struct weir_claim *claims, uint32_t count)
{
    double rest = give_guarantees(amount, claims, count);

    while (rest > TINY)
        rest = give_by_weight(rest, claims, count);
    make_whole(claims, count);
}
