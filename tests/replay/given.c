/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * xenna, version P, with the counts of phase 0 given: some cases replace the pool optimum by a
 * result of their own, to test what follows it alone.
 */
#include "tests/replay/replay.h"

#include "sched/scaling/run.h"
#include "sched/scaling/xenna.h"

#include <stdlib.h>

enum { PARAM_OVERALLOCATION = WEIR_RUN_PARAM_COUNT, PARAM_FIRST, MOST_STAGES = 32 };
enum { PARAM_COUNT = PARAM_FIRST + MOST_STAGES };

#define COUNT(n)                                                                                   \
    {                                                                                              \
        .name = "workers_" #n, .unit = "", .kind = WEIR_PARAM_COUNT, .min = 0, .max = 1e6,         \
        .initial = 0, .help = "count of a stage"                                                   \
    }

static const struct weir_param params[PARAM_COUNT] = {
    WEIR_RUN_PARAMS,
    { .name = "overallocation", .unit = "", .min = 1, .max = 100, .initial = 1.5, .help = "" },
    COUNT(0),
    COUNT(1),
    COUNT(2),
    COUNT(3),
    COUNT(4),
    COUNT(5),
    COUNT(6),
    COUNT(7),
    COUNT(8),
    COUNT(9),
    COUNT(10),
    COUNT(11),
    COUNT(12),
    COUNT(13),
    COUNT(14),
    COUNT(15),
    COUNT(16),
    COUNT(17),
    COUNT(18),
    COUNT(19),
    COUNT(20),
    COUNT(21),
    COUNT(22),
    COUNT(23),
    COUNT(24),
    COUNT(25),
    COUNT(26),
    COUNT(27),
    COUNT(28),
    COUNT(29),
    COUNT(30),
    COUNT(31),
};

struct given {
    struct weir_run run; /* first: destroyed through it */
    double values[PARAM_COUNT];
};

static weir_status create(const struct weir_params *values, const struct weir_allocator *allocator,
                          void **state, struct weir_error *error)
{
    WEIR_TRY(weir_run_make(sizeof(struct given), values, allocator, state, error));
    struct given *const given = *state;
    for (uint32_t i = 0; i < PARAM_COUNT; i++)
        given->values[i] = values->values[i];
    return WEIR_OK;
}

static weir_status decide(void *state, const struct weir_view *view, struct weir_placer *placer,
                          struct weir_plan *plan, struct weir_error *error)
{
    struct given *const given = state;
    struct weir_run *const run = &given->run;
    double sum = 0;

    WEIR_TRY(weir_run_begin(run, view, placer, plan, error));
    if (run->count > MOST_STAGES)
        return weir_fail(error, WEIR_EUNSUPPORTED, "counts are given for %d stages at most",
                         MOST_STAGES);
    for (uint32_t i = 0; i < run->count; i++) {
        run->pools[i].optimum = (uint32_t)given->values[PARAM_FIRST + i];
        sum += run->pools[i].optimum;
    }
    for (uint32_t i = 0; i < run->count; i++)
        run->frequencies[i] = sum > 0 ? run->pools[i].optimum / sum : 1.0 / run->count;
    WEIR_TRY(weir_placer_set_mix(placer, run->frequencies, run->count));
    WEIR_TRY(weir_xenna_phases(run, given->values[PARAM_OVERALLOCATION]));
    for (uint32_t i = 0; i < run->count; i++)
        run->pools[i].target = run->pools[i].optimum;
    return weir_run_end(run);
}

const struct weir_scaling_ops replay_given = {
    .size = sizeof replay_given,
    .abi = WEIR_ABI_MAJOR,
    .name = "xenna_given",
    .summary = "xenna with the counts of its first phase given",
    .params = params,
    .param_count = PARAM_COUNT,
    .create = create,
    .destroy = weir_run_destroy,
    .decide = decide,
};
