/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool optimum: how many workers each pool should have if all nodes were one big pool.
 *
 * Maximises z - w * sum(t_i - z) over whole counts x_i >= 1, where t_i = x_i * rate_i is the
 * throughput of pool i in items of the source per second, z the least of them and w = 0.001: the
 * most even plan among those of highest throughput. Pools with a count fixed by hand are taken
 * off the pool first and do not enter the objective. It is an integer programme, but needs no
 * solver: for a given z the best x_i is max(1, ceil(z / rate_i)) and feasibility falls with z.
 */
#ifndef SCHED_SCALING_OPTIMUM_H
#define SCHED_SCALING_OPTIMUM_H

#include "weir/shape.h"

#include <stdint.h>

struct weir_optimum_pool {
    double rate_per_s;        /* of one worker, in items of the source, > 0 */
    struct weir_amounts need; /* of one worker */
    int32_t requested;        /* fixed by hand, or -1 */
    uint32_t workers;         /* out: count of the optimum */
    uint32_t most;            /* work: more than this never fits */
    uint32_t trial;           /* work */
};

struct weir_optimum_result {
    double z_per_s;   /* least throughput of the pools that are not fixed; NAN without any */
    double objective; /* NAN without any */
};

/* Errors: WEIR_EINFEASIBLE (fixed counts, or one worker of each pool, exceed the pool),
 * WEIR_EINVAL (a rate that is not positive). error->pool is an index into `pools`. */
weir_status weir_optimum_solve(struct weir_optimum_pool *pools, uint32_t count,
                               const struct weir_amounts *total, struct weir_optimum_result *result,
                               struct weir_error *error);

/* Whether an amount for `workers` of every pool's need is within `total`; the trial counts. */
bool weir_amounts_fit(const struct weir_amounts *need, const struct weir_amounts *free);
/* *sum += count * need, saturating. */
void weir_amounts_add(struct weir_amounts *sum, const struct weir_amounts *need, int64_t count);
/* How many times `need` goes into `free`. */
uint32_t weir_amounts_most(const struct weir_amounts *need, const struct weir_amounts *free);

#endif
