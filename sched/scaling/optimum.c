/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool optimum by bisection on z and a short descent over the values z can take.
 *
 * Amounts are whole units, so feasibility is exact. Rates are floating point: a count is rounded up
 * with a tolerance of 1e-9 workers, so that 2.1 / 0.3 needs 7 and not 8.
 */
#include "sched/scaling/optimum.h"

#include <math.h>

static const double EVENNESS = 0.001; /* weight of the spread in the objective */
static const double COUNT_TOLERANCE = 1e-9;

enum {
    BISECTIONS = 200,
    MOST_CANDIDATES = 1000000, /* a guard against rates that differ by a factor of 1e9 */
    MOST_WORKERS = 1 << 30
};

bool weir_amounts_fit(const struct weir_amounts *need, const struct weir_amounts *free)
{
    return need->cpu_units <= free->cpu_units && need->gpu_units <= free->gpu_units &&
           need->nvdecs <= free->nvdecs && need->nvencs <= free->nvencs &&
           need->ram_bytes <= free->ram_bytes && need->gpu_mem_bytes <= free->gpu_mem_bytes;
}

void weir_amounts_add(struct weir_amounts *sum, const struct weir_amounts *need, int64_t count)
{
    const int64_t needs[] = { need->cpu_units, need->gpu_units, need->nvdecs,
                              need->nvencs,    need->ram_bytes, need->gpu_mem_bytes };
    int64_t *const sums[] = { &sum->cpu_units, &sum->gpu_units, &sum->nvdecs,
                              &sum->nvencs,    &sum->ram_bytes, &sum->gpu_mem_bytes };

    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        int64_t product;
        if (__builtin_mul_overflow(needs[i], count, &product) ||
            __builtin_add_overflow(*sums[i], product, sums[i]))
            *sums[i] = INT64_MAX;
    }
}

uint32_t weir_amounts_most(const struct weir_amounts *need, const struct weir_amounts *free)
{
    const int64_t needs[] = { need->cpu_units, need->gpu_units, need->nvdecs,
                              need->nvencs,    need->ram_bytes, need->gpu_mem_bytes };
    const int64_t frees[] = { free->cpu_units, free->gpu_units, free->nvdecs,
                              free->nvencs,    free->ram_bytes, free->gpu_mem_bytes };
    int64_t most = MOST_WORKERS;

    for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
        if (needs[i] > 0 && frees[i] / needs[i] < most)
            most = frees[i] / needs[i];
    }
    return most < 0 ? 0 : (uint32_t)most;
}

static bool is_auto(const struct weir_optimum_pool *pool)
{
    return pool->requested < 0;
}

/* The trial counts for a wanted throughput, and whether they fit. */
static bool try_throughput(struct weir_optimum_pool *pools, uint32_t count,
                           const struct weir_amounts *free, double z_per_s)
{
    struct weir_amounts sum = { 0 };

    for (uint32_t i = 0; i < count; i++) {
        if (!is_auto(&pools[i]))
            continue;
        const double wanted = ceil(z_per_s / pools[i].rate_per_s - COUNT_TOLERANCE);
        if (wanted > pools[i].most)
            return false;
        pools[i].trial = wanted < 1 ? 1 : (uint32_t)wanted;
        weir_amounts_add(&sum, &pools[i].need, pools[i].trial);
    }
    return weir_amounts_fit(&sum, free);
}

/* Least throughput and objective of the trial counts. */
static struct weir_optimum_result judge_trial(const struct weir_optimum_pool *pools, uint32_t count)
{
    double least = (double)INFINITY;
    double sum = 0;
    uint32_t autos = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (!is_auto(&pools[i]))
            continue;
        const double throughput = pools[i].trial * pools[i].rate_per_s;
        least = throughput < least ? throughput : least;
        sum += throughput;
        autos++;
    }
    return (struct weir_optimum_result){ .z_per_s = least,
                                         .objective =
                                             (1 + EVENNESS * autos) * least - EVENNESS * sum };
}

static void keep_trial(struct weir_optimum_pool *pools, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (is_auto(&pools[i]))
            pools[i].workers = pools[i].trial;
    }
}

/* The next value below `z_per_s` that is a whole multiple of some rate; 0 when there is none. */
static double next_lower(const struct weir_optimum_pool *pools, uint32_t count, double z_per_s)
{
    double next = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (!is_auto(&pools[i]))
            continue;
        const double rate = pools[i].rate_per_s;
        double multiple = ceil(z_per_s / rate - COUNT_TOLERANCE) - 1;
        if (multiple * rate > z_per_s * (1 - 1e-12))
            multiple -= 1;
        if (multiple >= 1 && multiple * rate > next)
            next = multiple * rate;
    }
    return next;
}

static double highest_feasible(struct weir_optimum_pool *pools, uint32_t count,
                               const struct weir_amounts *free)
{
    double high = (double)INFINITY;
    double low = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (is_auto(&pools[i]) && pools[i].most * pools[i].rate_per_s < high)
            high = pools[i].most * pools[i].rate_per_s;
    }
    if (try_throughput(pools, count, free, high))
        return high;
    for (uint32_t i = 0; i < BISECTIONS; i++) {
        const double middle = low + (high - low) / 2;
        if (try_throughput(pools, count, free, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Descends from the highest throughput. A plan for z can never be worth more than z, so the descent
 * ends where z falls to the best value found, or to nothing when uneven pools make that negative.
 */
static struct weir_optimum_result descend(struct weir_optimum_pool *pools, uint32_t count,
                                          const struct weir_amounts *free)
{
    const double high = highest_feasible(pools, count, free);

    /* Feasible, but what its tolerance rounded up needlessly must come off: once more for the
     * throughput that these counts really give. */
    (void)try_throughput(pools, count, free, high);
    (void)try_throughput(pools, count, free, judge_trial(pools, count).z_per_s);
    struct weir_optimum_result best = judge_trial(pools, count);
    keep_trial(pools, count);
    double z_per_s = best.z_per_s;
    for (uint32_t i = 0; i < MOST_CANDIDATES; i++) {
        z_per_s = next_lower(pools, count, z_per_s);
        if (!(z_per_s > fmax(best.objective, 0)))
            break;
        if (!try_throughput(pools, count, free, z_per_s))
            continue;
        const struct weir_optimum_result found = judge_trial(pools, count);
        if (found.objective > best.objective) {
            best = found;
            keep_trial(pools, count);
        }
    }
    (void)try_throughput(pools, count, free, 0); /* one worker each */
    const struct weir_optimum_result ones = judge_trial(pools, count);
    if (ones.objective > best.objective) {
        best = ones;
        keep_trial(pools, count);
    }
    return best;
}

/* Takes the fixed counts off the pool. */
static weir_status subtract_fixed(struct weir_optimum_pool *pools, uint32_t count,
                                  struct weir_amounts *free, struct weir_error *error)
{
    struct weir_amounts fixed = { 0 };

    for (uint32_t i = 0; i < count; i++) {
        if (is_auto(&pools[i]))
            continue;
        pools[i].workers = (uint32_t)pools[i].requested;
        weir_amounts_add(&fixed, &pools[i].need, pools[i].requested);
        if (!weir_amounts_fit(&fixed, free)) {
            const weir_status status =
                weir_fail(error, WEIR_EINFEASIBLE,
                          "the requested worker counts need more than the cluster has");
            if (error != NULL)
                error->pool = (int32_t)i;
            return status;
        }
    }
    weir_amounts_add(free, &fixed, -1);
    return WEIR_OK;
}

static weir_status prepare(struct weir_optimum_pool *pools, uint32_t count,
                           const struct weir_amounts *free, uint32_t *autos,
                           struct weir_error *error)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!is_auto(&pools[i]))
            continue;
        if (!(pools[i].rate_per_s > 0) || isinf(pools[i].rate_per_s)) {
            const weir_status status =
                weir_fail(error, WEIR_EINVAL, "the speed of a worker must be > 0, got %g",
                          pools[i].rate_per_s);
            if (error != NULL)
                error->pool = (int32_t)i;
            return status;
        }
        pools[i].most = weir_amounts_most(&pools[i].need, free);
        ++*autos;
    }
    return WEIR_OK;
}

/* Names the first pool whose one worker does not fit beside those before it. */
static weir_status fail_minimum(const struct weir_optimum_pool *pools, uint32_t count,
                                const struct weir_amounts *free, struct weir_error *error)
{
    const weir_status status =
        weir_fail(error, WEIR_EINFEASIBLE,
                  "no first worker: one of every stage needs more than the cluster has");
    struct weir_amounts sum = { 0 };

    for (uint32_t i = 0; i < count; i++) {
        if (!is_auto(&pools[i]))
            continue;
        weir_amounts_add(&sum, &pools[i].need, 1);
        if (!weir_amounts_fit(&sum, free)) {
            if (error != NULL)
                error->pool = (int32_t)i;
            break;
        }
    }
    return status;
}

weir_status weir_optimum_solve(struct weir_optimum_pool *pools, uint32_t count,
                               const struct weir_amounts *total, struct weir_optimum_result *result,
                               struct weir_error *error)
{
    struct weir_amounts free = *total;
    uint32_t autos = 0;

    WEIR_TRY(subtract_fixed(pools, count, &free, error));
    WEIR_TRY(prepare(pools, count, &free, &autos, error));
    if (autos == 0) {
        *result = (struct weir_optimum_result){ (double)NAN, (double)NAN };
        return WEIR_OK;
    }
    if (!try_throughput(pools, count, &free, 0))
        return fail_minimum(pools, count, &free, error);
    *result = descend(pools, count, &free);
    return WEIR_OK;
}
