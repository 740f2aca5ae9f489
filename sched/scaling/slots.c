/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slot rule.
 */
#include "sched/scaling/slots.h"

#include <math.h>

/* Batches per second of the slowest pool; negative while a speed is unknown. */
static double slowest_per_s(const struct weir_slots_pool *pools, uint32_t count)
{
    double least = (double)INFINITY;

    for (uint32_t i = 0; i < count; i++) {
        if (isnan(pools[i].speed_per_s))
            return -1;
        const double speed = pools[i].workers * pools[i].speed_per_s;
        if (speed < least)
            least = speed;
    }
    return isinf(least) ? 0 : least;
}

void weir_slots_apply(const struct weir_slots_rule *rule, struct weir_slots_pool *pools,
                      uint32_t count)
{
    const double slowest = slowest_per_s(pools, count);

    if (slowest < 0)
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct weir_slots_pool *const pool = &pools[i];
        if (pool->slots < rule->least)
            pool->slots = rule->least;
        if (pool->workers == 0)
            continue;
        const double wanted = ceil(2 * slowest * rule->period_s / pool->workers);
        if (wanted > pool->slots)
            pool->slots = wanted < UINT32_MAX ? (uint32_t)wanted : UINT32_MAX;
    }
}
