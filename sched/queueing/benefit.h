/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs to preempt jobs, and which of them to take: the policy "benefit" asks, tests too.
 *
 * A victim may go when scale x (priority of the waiting job - its own) x what it has left is more
 * than what its checkpoint, its restart and the work it loses take, and when it can write a
 * checkpoint within the limit. Its GPUs stand on both sides. Of those that may go the set that
 * gives GPUs enough is taken whose cost, in GPU seconds, is least.
 */
#ifndef SCHED_QUEUEING_BENEFIT_H
#define SCHED_QUEUEING_BENEFIT_H

#include <stdbool.h>
#include <stdint.h>

/* All subsets of so many victims are compared; of more they are taken one by one. */
enum { WEIR_BENEFIT_EXACT = 12 };

struct weir_benefit_victim {
    double priority, gpus;
    double left_s;       /* of its work */
    double checkpoint_s; /* negative = it makes none */
    double restart_s, wasted_s;
    uint32_t place; /* in the caller's list, the last tie */
};

/* Seconds that it loses. */
double weir_benefit_cost(const struct weir_benefit_victim *victim);
bool weir_benefit_may_go(const struct weir_benefit_victim *victim, double priority, double scale,
                         double limit_s);
/* Moves those that go to the front; how many, 0 = all together are not enough. `is_exact`: compare
 * all subsets; else the least urgent first, of these the cheapest a GPU, and then those are spared
 * without whom it is enough, the last taken first. */
uint32_t weir_benefit_choose(struct weir_benefit_victim *victims, uint32_t count, double gpus,
                             bool is_exact);

#endif
