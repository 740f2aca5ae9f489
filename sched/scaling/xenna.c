/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The xenna autoscaler: even throughput over all pools by moving workers, in four phases.
 *
 *   0  the pool optimum gives the mix for placement and the slots
 *   1  counts fixed by hand
 *   2  every pool has a worker
 *   3  the slowest pool gets one more; when nothing fits, the pool that would still be faster
 *      without one of its workers gives it up
 *   4  head-room: pools may grow to `overallocation` times the throughput of the slowest
 *
 * Version P is the codec version of the reference (August 2025); C and N are its two later ones: no
 * phase 0, the mix is the counts at the start (N: requested ones where there are), slots follow the
 * counts at the start, finished pools are left alone, and a speed of 0 is a speed. How they place
 * is up to the placement policies fgd_c and fgd_n. The least throughput never falls in phase 3 and
 * a pool that was given a worker there never gives one up, so phase 3 ends. Each step looks at
 * every pool once.
 */
#include "sched/scaling/xenna.h"
#include "sched/host/placer.h"
#include "sched/internal/params.h"
#include "sched/scaling/run.h"
#include "sched/scaling/scalings.h"

#include <math.h>

enum { PARAM_OVERALLOCATION = WEIR_RUN_PARAM_COUNT, PARAM_VERSION, PARAM_COUNT };

enum version { VERSION_P, VERSION_C, VERSION_N };

/* The same parameters for every descriptor below. */
#define XENNA_PARAMS(version_default)                                                              \
    WEIR_RUN_PARAMS,                                                                               \
        WEIR_NUMBER("overallocation", "", 1, 100, 1.5,                                             \
                    "head-room: throughput allowed above that of the slowest stage"),              \
        WEIR_CHOICE("version", "P|C|N", 2, version_default,                                        \
                    "version of the reference that is followed: P is the codec version, C its "    \
                    "successor, N today's")

static const struct weir_param PARAMS[] = { XENNA_PARAMS(VERSION_P) };
static const struct weir_param PARAMS_N[] = { XENNA_PARAMS(VERSION_N) };
static const struct weir_param PARAMS_C[] = { XENNA_PARAMS(VERSION_C) };

struct xenna {
    struct weir_run run; /* first: destroyed through it */
    double overallocation;
    uint32_t version;
};

static weir_status xenna_create(const struct weir_params *params,
                                const struct weir_allocator *allocator, void **state,
                                struct weir_error *error)
{
    WEIR_TRY(weir_run_make(sizeof(struct xenna), params, allocator, state, error));
    struct xenna *const xenna = *state;
    xenna->overallocation = params->values[PARAM_OVERALLOCATION];
    xenna->version = (uint32_t)params->values[PARAM_VERSION];
    if (xenna->version != VERSION_P) {
        xenna->run.settings.divides_samples = true;
        xenna->run.settings.skips_finished = true;
    }
    return WEIR_OK;
}

/* The first active pool of least throughput, or WEIR_NO_INDEX. */
static uint32_t slowest(const struct weir_run *run, double *throughput_per_s)
{
    uint32_t found = WEIR_NO_INDEX;

    *throughput_per_s = (double)INFINITY;
    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_run_pool *const pool = &run->pools[i];
        const double throughput = weir_run_throughput(pool, pool->workers);
        if (pool->is_active && weir_run_less(run, throughput, *throughput_per_s)) {
            found = i;
            *throughput_per_s = throughput;
        }
    }
    return found;
}

/* The first pool that would be the fastest without one of its workers, and still be faster than
 * `least_per_s`. */
static uint32_t best_donor(const struct weir_run *run, uint32_t receiver, double least_per_s)
{
    uint32_t found = WEIR_NO_INDEX;
    double best = least_per_s;

    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_run_pool *const pool = &run->pools[i];
        if (!pool->is_active || i == receiver || pool->workers <= 1)
            continue;
        const double without = weir_run_throughput(pool, pool->workers - 1);
        if (weir_run_less(run, best, without)) {
            found = i;
            best = without;
        }
    }
    return found;
}

static weir_status raise_slowest(struct weir_run *run)
{
    double least_per_s;

    weir_plan_set_phase(run->plan, 3);
    for (;;) {
        const uint32_t pool = slowest(run, &least_per_s);
        if (pool == WEIR_NO_INDEX)
            return WEIR_OK;
        const weir_status status = weir_run_start(run, pool);
        if (status == WEIR_OK)
            continue;
        if (status != WEIR_EBUSY)
            return status;
        const uint32_t donor = best_donor(run, pool, least_per_s);
        if (donor == WEIR_NO_INDEX)
            return WEIR_OK;
        WEIR_TRY(weir_run_stop(run, donor));
    }
}

/* The first pool of least throughput that may grow and was not tried in this round. */
static uint32_t next_to_grow(const struct weir_run *run, double least_per_s)
{
    uint32_t found = WEIR_NO_INDEX;
    double least = (double)INFINITY;

    for (uint32_t i = 0; i < run->count; i++) {
        const struct weir_run_pool *const pool = &run->pools[i];
        if (!pool->is_active || weir_run_less(run, least_per_s * pool->head_room,
                                              weir_run_throughput(pool, pool->workers + 1)))
            continue;
        const double throughput = weir_run_throughput(pool, pool->workers);
        if (weir_run_less(run, throughput, least)) {
            found = i;
            least = throughput;
        }
    }
    return found;
}

/* A pool that does not fit leaves for good: room only shrinks in this phase. */
static weir_status give_head_room(struct weir_run *run)
{
    double least_per_s;

    weir_plan_set_phase(run->plan, 4);
    if (slowest(run, &least_per_s) == WEIR_NO_INDEX)
        return WEIR_OK;
    for (;;) {
        const uint32_t pool = next_to_grow(run, least_per_s);
        if (pool == WEIR_NO_INDEX)
            return WEIR_OK;
        const weir_status status = weir_run_start(run, pool);
        if (status == WEIR_EBUSY)
            run->pools[pool].is_active = 0;
        else if (status != WEIR_OK)
            return status;
    }
}

static void name_bindings(struct weir_run *run)
{
    for (uint32_t i = 0; i < run->count; i++) {
        const uint32_t refusal = weir_placer_refusal(run->placer, i);
        run->pools[i].binding = refusal != WEIR_REASON_NONE ? refusal : WEIR_REASON_TARGET;
    }
}

static void activate_free(struct weir_run *run)
{
    for (uint32_t i = 0; i < run->count; i++)
        run->pools[i].is_active = weir_run_is_free(&run->pools[i]);
}

weir_status weir_xenna_head_room(struct weir_run *run)
{
    activate_free(run);
    WEIR_TRY(give_head_room(run));
    name_bindings(run);
    return WEIR_OK;
}

weir_status weir_xenna_phases(struct weir_run *run, double overallocation)
{
    WEIR_TRY(weir_run_manual(run));
    WEIR_TRY(weir_run_minimum(run));
    activate_free(run);
    WEIR_TRY(raise_slowest(run));
    for (uint32_t i = 0; i < run->count; i++)
        run->pools[i].head_room = overallocation;
    return weir_xenna_head_room(run);
}

static weir_status plan_phases(struct weir_run *run, void *state)
{
    const struct xenna *const xenna = state;

    if (xenna->version == VERSION_P)
        WEIR_TRY(weir_run_optimum(run));
    else
        WEIR_TRY(weir_run_mix_of_counts(run, xenna->version == VERSION_N));
    WEIR_TRY(weir_xenna_phases(run, xenna->overallocation));
    for (uint32_t i = 0; i < run->count; i++)
        run->pools[i].target =
            xenna->version == VERSION_P ? run->pools[i].optimum : run->pools[i].before;
    return WEIR_OK;
}

static weir_status xenna_decide(void *state, const struct weir_view *view,
                                struct weir_placer *placer, struct weir_plan *plan,
                                struct weir_error *error)
{
    struct xenna *const xenna = state;
    struct weir_run *const run = &xenna->run;
    const struct weir_run_phases phases = { plan_phases, xenna };

    WEIR_TRY(weir_run_begin(run, view, placer, plan, error));
    WEIR_TRY(weir_run_plan_better(run, &phases));
    return weir_run_end(run);
}

const struct weir_scaling_ops weir_scaling_xenna =
    WEIR_RUN_POLICY("xenna", PARAMS, xenna_create, xenna_decide,
                    "even throughput in four phases: manual, minimum, slowest first, head-room");

const struct weir_scaling_ops weir_scaling_xenna_n =
    WEIR_RUN_POLICY("xenna_n", PARAMS_N, xenna_create, xenna_decide,
                    "xenna as it is today: mix and slots from the counts that run");

const struct weir_scaling_ops weir_scaling_xenna_c =
    WEIR_RUN_POLICY("xenna_c", PARAMS_C, xenna_create, xenna_decide,
                    "xenna in its first version in Rust, with codecs");
