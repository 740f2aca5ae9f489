/* SPDX-License-Identifier: Apache-2.0 */
/* Dividing among siblings (see quota_shares.h). */
#include "sched/queueing/parts/quota_shares.h"

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

static bool is_hungry(const struct weir_claim *claim, int32_t band)
{
    return claim->band == band && claim->share < claim->most;
}

/* Of those who are hungry in a band. */
struct hunger {
    double weight, past;
    double left; /* of the parts of all, after the past; 0 = it does not count */
    double k;
    int32_t band;
};

/* 1 is the whole of all weights. */
static double part_by_past(const struct hunger *hunger, const struct weir_claim *claim)
{
    const double part = claim->weight / hunger->weight;
    const double past = hunger->past > 0 ? claim->past / hunger->past : 0;

    return fmax(0, part + hunger->k * (part - past));
}

static double part_of_rest(const struct hunger *hunger, const struct weir_claim *claim)
{
    return hunger->left > 0 ? part_by_past(hunger, claim) / hunger->left
                            : claim->weight / hunger->weight;
}

static struct hunger ask_band(const struct weir_claim *claims, uint32_t count, double k,
                              int32_t band)
{
    struct hunger hunger = { .k = k, .band = band };

    for (uint32_t i = 0; i < count; i++) {
        hunger.weight += is_hungry(&claims[i], band) ? claims[i].weight : 0;
        hunger.past += is_hungry(&claims[i], band) ? claims[i].past : 0;
    }
    for (uint32_t i = 0; k > 0 && hunger.weight > 0 && i < count; i++)
        hunger.left += is_hungry(&claims[i], band) ? part_by_past(&hunger, &claims[i]) : 0;
    return hunger;
}

/* One round by weight; returns what nobody could take. */
static double give_by_weight(double rest, const struct hunger *hunger, struct weir_claim *claims,
                             uint32_t count)
{
    double left = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (!is_hungry(&claims[i], hunger->band))
            continue;
        const double offer = rest * part_of_rest(hunger, &claims[i]);
        const double taken = fmin(offer, claims[i].most - claims[i].share);
        claims[i].share += taken;
        left += offer - taken;
    }
    return left;
}

/* The highest band below this one with somebody in it; false when there is none. */
static bool next_band(const struct weir_claim *claims, uint32_t count, int64_t below, int32_t *band)
{
    bool is_there = false;

    for (uint32_t i = 0; i < count; i++) {
        if (claims[i].band >= below || (is_there && claims[i].band <= *band))
            continue;
        *band = claims[i].band;
        is_there = true;
    }
    return is_there;
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

void weir_quota_divide(double amount, double k, struct weir_claim *claims, uint32_t count)
{
    double rest = give_guarantees(amount, claims, count);
    int32_t band = 0;

    for (int64_t below = INT64_MAX; rest > TINY && next_band(claims, count, below, &band);
         below = band) {
        struct hunger hunger = ask_band(claims, count, k, band);
        while (rest > TINY && hunger.weight > 0) {
            rest = give_by_weight(rest, &hunger, claims, count);
            hunger = ask_band(claims, count, k, band);
        }
    }
    make_whole(claims, count);
}
