/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many tasks a worker may hold, the running one included.
 *
 * A worker that finishes a task must find the next one already there until the control loop comes
 * round again: two loop periods' worth of its share of the pipeline's speed.
 */
#ifndef SCHED_SCALING_SLOTS_H
#define SCHED_SCALING_SLOTS_H

#include <stdint.h>

struct weir_slots_rule {
    double period_s; /* of the control loop */
    uint32_t least;  /* slots of any worker */
};

struct weir_slots_pool {
    double speed_per_s; /* measured batches per worker and second, NAN = unknown */
    uint32_t workers;
    uint32_t slots; /* in: now; out: wanted, never fewer */
};

/* slots = max(ceil(2 * v * period / workers), now, least), v = the least workers * speed. While any
 * speed is unknown nothing changes. A pool without workers gets max(now, least); v is then 0. */
void weir_slots_apply(const struct weir_slots_rule *rule, struct weir_slots_pool *pools,
                      uint32_t count);

#endif
