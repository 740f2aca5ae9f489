/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random jobs whose ranks come and go, saving what they have done, on nodes and GPUs that fail: all
 * invariants hold after every event (what is done is conserved, nobody keeps what is over), nobody
 * is lost, and a run repeats.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <stdio.h>
#include <stdlib.h>

enum { RUNS = 24 };

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

static void write_scenario(uint64_t seed, char *text, size_t capacity)
{
    static const char *const on_loss[] = { "requeue", "shrink", "heal" };
    static const char *const queueing[] = { "fcfs", "first_fit", "easy", "priority", "las_2d" };
    static const char *const sizes[] = { "cost: 20 s", "cost: 0 s", "bytes: 40 GB, store: s" };
    static const uint32_t below[] = { 4, 60, 5, 10, 3, 90, 2, 8, 5, 200, 3, 3 };
    uint32_t drawn[sizeof below / sizeof below[0]];
    uint64_t state = seed;
    for (size_t i = 0; i < sizeof below / sizeof below[0]; i++)
        drawn[i] = draw(&state, below[i]); /* one after the other: arguments have no order */
    (void)snprintf(
        text, capacity,
        "schema: 2\nname: elastic\nseed: %llu\nhorizon: 8 h\n"
        "cluster:\n  nodes: [{name: n, count: 4, cpus: 32, gpus: {h100: 4}}]\n"
        "  stores: {s: {bandwidth: %u GB/s}}\n"
        "  failures: {node_between: exp(%u min), node_repair: exp(6 min)}\n"
        "sched: {placement: first_fit, queueing: %s}\n"
        "jobs:\n  - name: w\n    count: 12\n    arrivals: {process: poisson, rate: 6/h}\n"
        "    checkpoint: {interval: %u min, %s, restart: %u s}\n"
        "    preemption: {keeps: %s, restart: 15 s}\n"
        "    classes:\n"
        "      - {name: a, members: %u, request: {gpus: 1}, run_time: exp(50 min), elastic: "
        "{least: %u, resize: %u s, on_loss: %s}}\n"
        "      - {name: b, members: 2, request: {gpus: 1}, run_time: exp(20 min), elastic: {least: "
        "1, "
        "on_loss: %s}}\n",
        (unsigned long long)seed, 1 + drawn[0], 20 + drawn[1], queueing[drawn[2]], 2 + drawn[3],
        sizes[drawn[4]], drawn[5], drawn[6] == 0 ? "all" : "checkpoint", 6 + drawn[7], 1 + drawn[8],
        10 + drawn[9], on_loss[drawn[10]], on_loss[drawn[11]]);
}

static void check_seed(uint64_t seed, double sums[4])
{
    char text[2000];
    write_scenario(seed, text, sizeof text);
    struct sim_run_summary *first = test_run_text(text, NULL);
    struct sim_run_summary *again = test_run_text(text, NULL);
    const double came = test_value(first, "jobs.arrived", "");
    const double gone = test_value(first, "jobs.done", "") + test_value(first, "jobs.refused", "");
    if (!CHECK_I64(first->status, WEIR_OK) ||
        !CHECK(first->result_digest == again->result_digest) || !CHECK(gone <= came))
        printf("seed %llu: %s\n%s", (unsigned long long)seed, first->message, text);
    CHECK_NEAR(test_value(first, "invariant.violations", ""), 0, 0);
    static const char *const counts[] = { "jobs.done", "jobs.shrunk", "jobs.restarted",
                                          "jobs.grown" };
    for (int i = 0; i < 4; i++) {
        const double value = test_value(first, counts[i], "");
        sums[i] += value > 0 ? value : 0;
    }
    free(first);
    free(again);
}

static void ranks_that_come_and_go_lose_nothing(void)
{
    double sums[4] = { 0 };
    for (uint64_t seed = 1; seed <= RUNS; seed++)
        check_seed(seed, sums);
    printf("%g done, %g shrunk, %g restarted, %g grown\n", sums[0], sums[1], sums[2], sums[3]);
    CHECK(sums[0] > 100 && sums[1] > 10 && sums[2] > 10 && sums[3] > 10);
}

static const struct test tests[] = {
    { "ranks that come and go lose nothing", ranks_that_come_and_go_lose_nothing },
};
TEST_MAIN(tests)
