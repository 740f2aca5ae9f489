/* SPDX-License-Identifier: Apache-2.0 */
/* Which jobs to preempt (see benefit.h). */
#include "sched/queueing/benefit.h"

#include <math.h>
#include <stdlib.h>

double weir_benefit_cost(const struct weir_benefit_victim *victim)
{
    return victim->checkpoint_s + victim->restart_s + victim->wasted_s;
}

bool weir_benefit_may_go(const struct weir_benefit_victim *victim, double priority, double scale,
                         double limit_s)
{
    const double gain = scale * (priority - victim->priority) * victim->left_s;

    return victim->checkpoint_s >= 0 && victim->checkpoint_s <= limit_s &&
           gain > weir_benefit_cost(victim);
}

static void swap(struct weir_benefit_victim *a, struct weir_benefit_victim *b)
{
    const struct weir_benefit_victim kept = *a;

    *a = *b;
    *b = kept;
}

/* ---- all subsets ---- */

/* Infinite when it does not give enough. */
static double cost_of(const struct weir_benefit_victim *victims, uint32_t count, uint32_t set,
                      double gpus)
{
    double given = 0;
    double cost = 0;

    for (uint32_t i = 0; i < count; i++) {
        given += (set >> i & 1) != 0 ? victims[i].gpus : 0;
        cost += (set >> i & 1) != 0 ? victims[i].gpus * weir_benefit_cost(&victims[i]) : 0;
    }
    return given < gpus ? HUGE_VAL : cost;
}

static uint32_t choose_exactly(struct weir_benefit_victim *victims, uint32_t count, double gpus)
{
    uint32_t best = 0;
    uint32_t chosen = 0;
    double least = HUGE_VAL;

    for (uint32_t set = 1; set >> count == 0; set++) {
        const double cost = cost_of(victims, count, set, gpus);
        if (cost >= least)
            continue;
        least = cost;
        best = set;
    }
    for (uint32_t i = 0; i < count; i++)
        if ((best >> i & 1) != 0)
            swap(&victims[chosen++], &victims[i]);
    return chosen;
}

/* ---- one by one ---- */

static int compare(const void *left, const void *right)
{
    const struct weir_benefit_victim *const a = left;
    const struct weir_benefit_victim *const b = right;
    const double cost_a = weir_benefit_cost(a);
    const double cost_b = weir_benefit_cost(b);

    if (a->priority < b->priority || a->priority > b->priority)
        return a->priority < b->priority ? -1 : 1;
    if (cost_a < cost_b || cost_a > cost_b)
        return cost_a < cost_b ? -1 : 1;
    return a->place < b->place ? -1 : 1;
}

static uint32_t choose_in_order(struct weir_benefit_victim *victims, uint32_t count, double gpus)
{
    uint32_t chosen = 0;
    double given = 0;

    if (count > 1)
        qsort(victims, count, sizeof *victims, compare);
    while (chosen < count && given < gpus)
        given += victims[chosen++].gpus;
    if (given < gpus)
        return 0;
    for (uint32_t i = chosen; i-- > 0;) {
        if (given - victims[i].gpus < gpus)
            continue;
        given -= victims[i].gpus;
        swap(&victims[i], &victims[--chosen]);
    }
    return chosen;
}

uint32_t weir_benefit_choose(struct weir_benefit_victim *victims, uint32_t count, double gpus,
                             bool is_exact)
{
    return is_exact && count <= WEIR_BENEFIT_EXACT ? choose_exactly(victims, count, gpus)
                                                   : choose_in_order(victims, count, gpus);
}
