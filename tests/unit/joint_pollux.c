/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pollux' search over placements against all placements there are. */
#include "sched/internal/alloc.h"
#include "sched/joint/pollux.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 4, NODES = 2, GPUS = 4 };

/* K^e, less by a fifth over two nodes. */
static double by_power(const void *state, uint32_t job, uint32_t ranks, uint32_t nodes)
{
    const double *exponents = state;
    return pow(ranks, exponents[job]) * (nodes > 1 ? .8 : 1);
}

/* The best of all, one job after the other. */
struct all {
    const struct weir_pollux_problem *problem;
    uint32_t ranks[JOBS * NODES];
    double best;
};

static void go_on(struct all *all, uint32_t job, const uint32_t *left, const bool *is_spread)
{
    if (job == JOBS) {
        all->best = fmax(all->best, weir_pollux_fitness(all->problem, all->ranks));
        return;
    }
    for (uint32_t a = 0; a <= left[0]; a++)
        for (uint32_t b = 0; b <= left[1]; b++) {
            const bool spreads = a > 0 && b > 0;
            if (spreads && (is_spread[0] || is_spread[1]))
                continue;
            all->ranks[job * NODES] = a;
            all->ranks[job * NODES + 1] = b;
            go_on(all, job + 1, (const uint32_t[]){ left[0] - a, left[1] - b },
                  (const bool[]){ is_spread[0] || spreads, is_spread[1] || spreads });
        }
}

static void search(const double *exponents, const uint32_t *now, double power, double *found,
                   double *best, uint32_t *ranks)
{
    static const uint32_t room[] = { GPUS, GPUS };
    static const uint32_t least[] = { 1, 1, 1, 1 };
    static const uint32_t most[] = { 8, 8, 8, 8 };
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    const struct weir_pollux_problem problem = { .jobs = JOBS,
                                                 .nodes = NODES,
                                                 .room = room,
                                                 .least = least,
                                                 .most = most,
                                                 .gpus = least,
                                                 .now = now,
                                                 .speedup = by_power,
                                                 .state = exponents,
                                                 .power = power,
                                                 .changed = .9 };
    struct all all = { .problem = &problem };
    CHECK_I64(weir_pollux_search(&memory, &problem, ranks, found), WEIR_OK);
    go_on(&all, 0, room, (const bool[]){ false, false });
    *best = all.best;
}

static void the_published_example_is_found(void)
{
    static const double exponents[] = { .9, .7, .5, .3 };
    static const uint32_t now[] = { 2, 0, 2, 0, 0, 2, 0, 0 };
    static const uint32_t by_sum[] = { 0, 4, 2, 0, 1, 0, 1, 0 };
    static const uint32_t by_mean[] = { 2, 0, 2, 0, 0, 2, 0, 2 };
    uint32_t ranks[JOBS * NODES];
    double found = 0;
    double best = 0;
    search(exponents, now, 1, &found, &best, ranks);
    CHECK_NEAR(best, 6.558487, 1e-6);
    CHECK_NEAR(found, 6.558487, 1e-6);
    for (uint32_t i = 0; i < JOBS * NODES; i++)
        CHECK_I64(ranks[i], by_sum[i]);
    search(exponents, now, -1, &found, &best, ranks);
    CHECK_NEAR(best, 1.448715, 1e-6);
    CHECK_NEAR(found, 1.448715, 1e-6);
    for (uint32_t i = 0; i < JOBS * NODES; i++)
        CHECK_I64(ranks[i], by_mean[i]);
}

static double draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* Random ones, by sums and by means, powers between too: mostly the best, never a tenth below it,
 * never more than there is. */
static void the_search_comes_close_to_the_best(void)
{
    uint64_t state = 21;
    static const double powers[] = { 1, -1, 0.5, -0.5 };
    unsigned exact = 0;
    enum { CASES = 60 };
    for (unsigned n = 0; n < CASES; n++) {
        double exponents[JOBS];
        uint32_t now[JOBS * NODES] = { 0 };
        uint32_t ranks[JOBS * NODES];
        double found = 0;
        double best = 0;
        for (uint32_t j = 0; j < JOBS; j++) {
            exponents[j] = draw(&state);
            now[j * NODES + (j + n) % NODES] = (uint32_t)(draw(&state) * 3);
        }
        search(exponents, now, powers[n % 4], &found, &best, ranks);
        for (uint32_t k = 0; k < NODES; k++) {
            uint32_t used = 0;
            for (uint32_t j = 0; j < JOBS; j++)
                used += ranks[j * NODES + k];
            CHECK(used <= GPUS);
        }
        CHECK(found <= best + 1e-9);
        CHECK(found >= .9 * best);
        exact += found >= best - 1e-9;
    }
    printf("    %u of %u are the best\n", exact, CASES);
    CHECK(exact >= CASES * 2 / 3);
}

/* ---- runs ---- */

#define BATCH                                                                                      \
    "goodput: [0.121, 0.00568, 0.0236, 0.00634, 0.0118, 0.00317, 1.14, 0.00136, "                  \
    "0.000502, 128, 1280, 64, 256]"

/* Two jobs by their goodput on two nodes of four: each has a node for itself, and is as fast as the
 * published speed-up of four there. */
static void each_job_has_a_node(void)
{
    const struct sim_observer observer = { .state = NULL };
    struct sim_run_summary *summary = test_watch_text(
        "schema: 2\nname: t\nhorizon: 10 d\nsched: {placement: first_fit, queueing: pollux}\n"
        "cluster: {nodes: [{name: n, count: 2, cpus: 64, gpus: {h100: 4}}]}\n"
        "jobs:\n  - name: w\n    run_time: 1 h\n    preemption: {keeps: all, restart: 10 s}\n"
        "    classes:\n"
        "      - {name: a, count: 2, request: {gpus: 1}, elastic: {least: 1, most: 8, " BATCH
        "}}\n",
        &observer);
    CHECK_NEAR(test_value(summary, "jct.mean", ""), 3600 / 1.981932, 2e-3);
    CHECK_NEAR(test_value(summary, "jobs.done", ""), 2, 0);
    CHECK_NEAR(test_value(summary, "invariant.violations", ""), 0, 0);
    free(summary);
}

static const struct test tests[] = {
    { "the published example is found", the_published_example_is_found },
    { "the search comes close to the best", the_search_comes_close_to_the_best },
    { "each job has a node", each_job_has_a_node },
};
TEST_MAIN(tests)
