/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers in proportion to 1 / speed, separately for pools with and without GPUs.
 *
 * Each of the two supplies (all CPUs, all GPUs) is what remains after the pools fixed by hand. In a
 * supply pool i is due R * (1 / c_i) / sum_j (r_j / c_j) workers: R the supply, r what one worker
 * takes of it, c its throughput. Rounded down, at least one; what is left goes to the slowest
 * pools one by one. GPU pools ignore the CPUs they use, so a plan may not fit as a whole; then
 * it is placed as far as it does.
 */
#include "sched/scaling/run.h"
#include "sched/scaling/scalings.h"

#include <math.h>

static const struct weir_param PARAMS[] = { WEIR_RUN_PARAMS };

static bool uses_gpus(const struct weir_run *run, uint32_t pool)
{
    return weir_view_pool(run->view, pool)->shape.gpu_units > 0;
}

/* What one worker takes of its supply. */
static int64_t supply_need(const struct weir_run *run, uint32_t pool)
{
    const struct weir_shape *const shape = &weir_view_pool(run->view, pool)->shape;

    return uses_gpus(run, pool) ? shape->gpu_units * shape->gpu_count : shape->cpu_units;
}

static bool takes_part(const struct weir_run *run, uint32_t pool, bool gpus)
{
    return run->pools[pool].is_active && uses_gpus(run, pool) == gpus;
}

/* The supply without what pools of fixed size hold of it. */
static int64_t supply_size(const struct weir_run *run, bool gpus)
{
    int64_t units = gpus ? run->supply.gpu_units : run->supply.cpu_units;

    for (uint32_t i = 0; i < run->count; i++) {
        if (!run->pools[i].is_active && uses_gpus(run, i) == gpus)
            units -= supply_need(run, i) * run->pools[i].workers;
    }
    return units;
}

/* The slowest pool that can still be given a worker out of `free` units. */
static uint32_t slowest_that_fits(const struct weir_run *run, bool gpus, int64_t free)
{
    uint32_t found = WEIR_NO_INDEX;
    double least = (double)INFINITY;

    for (uint32_t i = 0; i < run->count; i++) {
        const double throughput = weir_run_throughput(&run->pools[i], run->pools[i].target);
        if (takes_part(run, i, gpus) && supply_need(run, i) <= free && supply_need(run, i) > 0 &&
            weir_run_less(run, throughput, least)) {
            found = i;
            least = throughput;
        }
    }
    return found;
}

static void divide_supply(struct weir_run *run, bool gpus)
{
    const int64_t units = supply_size(run, gpus);
    int64_t free = units;
    double sum = 0;
    uint32_t pool;

    for (uint32_t i = 0; i < run->count; i++) {
        if (takes_part(run, i, gpus))
            sum += (double)supply_need(run, i) / run->pools[i].rate_per_s;
    }
    for (uint32_t i = 0; i < run->count; i++) {
        if (!takes_part(run, i, gpus))
            continue;
        /* The tolerance keeps an exact share from being rounded down by its last bit. */
        const double due =
            sum > 0 ? floor((double)units / run->pools[i].rate_per_s / sum + 1e-9) : 1;
        run->pools[i].target = due < 1 ? 1 : (uint32_t)due;
        free -= supply_need(run, i) * run->pools[i].target;
    }
    while ((pool = slowest_that_fits(run, gpus, free)) != WEIR_NO_INDEX) {
        run->pools[pool].target++;
        free -= supply_need(run, pool);
    }
}

static weir_status plan_shares(struct weir_run *run, void *state)
{
    (void)state;
    WEIR_TRY(weir_run_manual(run));
    WEIR_TRY(weir_run_minimum(run));
    for (uint32_t i = 0; i < run->count; i++)
        run->pools[i].is_active = weir_run_is_free(&run->pools[i]);
    divide_supply(run, true);
    divide_supply(run, false);
    return weir_run_targets(run, false);
}

static weir_status inverse_speed_decide(void *state, const struct weir_view *view,
                                        struct weir_placer *placer, struct weir_plan *plan,
                                        struct weir_error *error)
{
    const struct weir_run_phases phases = { plan_shares, NULL };
    struct weir_run *const run = state;

    WEIR_TRY(weir_run_begin(run, view, placer, plan, error));
    WEIR_TRY(weir_run_plan_better(run, &phases));
    return weir_run_end_planned(run);
}

const struct weir_scaling_ops weir_scaling_inverse_speed =
    WEIR_RUN_POLICY("inverse_speed", PARAMS, weir_run_create, inverse_speed_decide,
                    "workers in proportion to 1 / speed, CPU and GPU stages apart");
