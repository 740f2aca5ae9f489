/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One shared resource by brute force, in exact fractions: the oracle of the activities.
 *
 * Work left is a whole number of 1 / scale quanta, where every sum of weights that occurs divides
 * the scale, so that no rate is ever rounded. Rates are found anew, by definition, whenever
 * something changes; an end is the first ns at which nothing is left. No clock, no tag, no heap.
 */
#ifndef TESTS_SUPPORT_ORACLE_ACTIVITY_H
#define TESTS_SUPPORT_ORACLE_ACTIVITY_H

#include "sim/engine/activity.h"

enum { ORACLE_ACTIVITIES = 512 };

struct oracle_activity {
    bool lives;
    sim_quanta left; /* of 1 / scale quanta */
    sim_quanta rate; /* of 1 / scale quanta a ns */
    uint64_t cap;
    uint32_t weight, turn_cost;
    uint16_t bound_mille;
    uint8_t priority;
    int64_t end_ns;
};

struct oracle_resource {
    enum sim_share share;
    uint64_t capacity;
    uint64_t scale;
    int64_t now_ns;
    uint32_t count;
    uint32_t ended[ORACLE_ACTIVITIES]; /* in order */
    uint32_t ended_count;
    struct oracle_activity list[ORACLE_ACTIVITIES];
};

/* The sum of weights (and turn costs; bandwidth: in tenths of the whole, plus 10) that may run
 * together with this scale. */
enum { ORACLE_WEIGHTS_MAX = 16, ORACLE_TENTHS_MAX = 30 };
#define ORACLE_SCALE           UINT64_C(720720)           /* lcm(1 .. 16) */
#define ORACLE_BANDWIDTH_SCALE UINT64_C(5342931457063200) /* lcm(1 .. 40) */

void oracle_start(struct oracle_resource *resource, const struct sim_activity_spec *spec);
void oracle_advance(struct oracle_resource *resource, int64_t to_ns);
/* Weights (or tenths) in use. */
uint32_t oracle_weights(const struct oracle_resource *resource);
/* Quanta left, rounded up. */
sim_quanta oracle_left(const struct oracle_resource *resource, uint32_t index);

#endif
