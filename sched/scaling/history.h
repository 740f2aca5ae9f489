/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pool could do with each number of workers it had, and the least number that does enough.
 *
 * Between two counts the ability is interpolated on a line, and never falls with more workers: a
 * Gaussian process through the same points may (ContTune's own, with its published length of 4.37,
 * does between 12 and 13 workers of its published example). Beyond the largest count it grows as
 * that count has it.
 */
#ifndef SCHED_SCALING_HISTORY_H
#define SCHED_SCALING_HISTORY_H

#include "sched/internal/memory.h"

enum { WEIR_HISTORY_MOST = 16 };

/* By workers, ascending. */
struct weir_history {
    uint32_t count;
    uint32_t workers[WEIR_HISTORY_MOST];
    double ability[WEIR_HISTORY_MOST]; /* in any unit that demands have, too */
};

/* One more look at a count, averaged with those before. One that differs by more than half says
 * that the work has changed: all others are forgotten. With no room the count furthest away goes.
 */
void weir_history_add(struct weir_history *history, uint32_t workers, double ability);

/* The least count whose ability reaches `demand`, and how far the nearest count that was seen is.
 * 0 = nothing was seen. */
uint32_t weir_history_least(const struct weir_history *history, double demand, uint32_t *distance);

void weir_history_remember(struct weir_history *history, struct weir_memory *memory);

#endif
