/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Set-up that reads from stores, by hand: when workers become ready that load together, or find on
 * their node what others have loaded.
 */
#include "sim/world/world.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <stdio.h>
#include <stdlib.h>

enum { READY = 64 };

struct ready {
    double at_s[READY];
    uint64_t worker[READY];
    size_t count;
};

static void add_ready(void *state, const struct sim_setup_span *span)
{
    struct ready *ready = state;
    if (ready->count == READY)
        return;
    ready->worker[ready->count] = span->worker;
    ready->at_s[ready->count++] = sim_time_s(span->end_ns);
}

/* `workers` of a stage with this set-up on nodes as in a file; a store `s` of 10 GB/s. */
static struct sim_run_summary *run(const char *nodes, int workers, const char *setup,
                                   const char *rest, struct ready *ready)
{
    char text[2000];
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: t\nhorizon: 10000 s\n"
                   "cluster: {nodes: %s, stores: {s: {bandwidth: 10 GB/s}}}\n"
                   "sched: {placement: spread, scaling: {policy: fixed, interval: 30 s}}\n"
                   "pipelines:\n  - name: p\n    semantics: event\n    input: {items: 1000}\n"
                   "    stages: [{name: a, cpus: 1, workers: %d, service: 10 s, setup: %s}]\n%s",
                   nodes, workers, setup, rest);
    ready->count = 0;
    const struct sim_observer observer = { .setup = add_ready, .state = ready };
    return test_watch_text(text, &observer);
}

#define EIGHT_NODES "[{name: n, cpus: 1, count: 8}]"
#define FORTY_NODES "[{name: n, cpus: 1, count: 40}]"
#define ONE_NODE    "[{name: n, cpus: 40}]"
#define WEIGHTS     "weights: {bytes: 140 GB, store: s}"

static void together_loads_take_as_often_as_long_as_they_are_many(void)
{
    static const struct {
        const char *nodes;
        int workers;
        double ready_s;
    } cases[] = { { ONE_NODE, 1, 14 + 5 },
                  { EIGHT_NODES, 8, 8 * 14 + 5 },
                  { ONE_NODE, 8, 8 * 14 + 5 },
                  { FORTY_NODES, 40, 40 * 14 + 5 } };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct ready ready;
        free(run(cases[c].nodes, cases[c].workers, "{" WEIGHTS ", compile: 2 s, warm_up: 3 s}", "",
                 &ready));
        CHECK_I64(ready.count, cases[c].workers);
        for (size_t i = 0; i < ready.count; i++)
            CHECK_NEAR(ready.at_s[i], cases[c].ready_s, 1e-6);
    }
}

/* Without a store between them set-ups do not hold one another up. */
static void a_plain_time_is_the_same_for_all(void)
{
    struct ready ready;
    free(run(EIGHT_NODES, 8, "20 s", "", &ready));
    CHECK_I64(ready.count, 8);
    for (size_t i = 0; i < ready.count; i++)
        CHECK_NEAR(ready.at_s[i], 20, 0);
}

/* Four nodes read the image once each, 4 x 10 GB at 10 GB/s; two workers on each have it then. */
static void what_is_cached_is_read_once_a_node(void)
{
    struct ready ready;
    struct sim_run_summary *summary =
        run("[{name: n, cpus: 2, count: 4}]", 8, "{image: {bytes: 10 GB, store: s}, time: 1 s}", "",
            &ready);
    CHECK_I64(ready.count, 8);
    for (size_t i = 0; i < ready.count; i++)
        CHECK_NEAR(ready.at_s[i], 4 + 1, 1e-6);
    CHECK_NEAR(test_value(summary, "store.read_bytes", ""), 40e9, 0);
    free(summary);
}

/* It dies 15 s after it was ready; the next finds the image at 30 s, and weights must be read. */
static void who_comes_later_finds_what_is_cached(void)
{
    static const struct {
        const char *setup;
        double first_s, second_s;
    } cases[] = {
        { "{image: {bytes: 100 GB, store: s}, time: 1 s}, worker_between: const(15 s)", 11, 31 },
        { "{image: {bytes: 50 GB, store: s}, weights: {bytes: 50 GB, store: s}, time: 1 s}, "
          "worker_between: const(15 s)",
          11, 36 },
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct ready ready;
        free(run(ONE_NODE, 1, cases[c].setup, "", &ready));
        CHECK(ready.count > 1);
        CHECK_NEAR(ready.at_s[0], cases[c].first_s, 1e-6);
        CHECK_NEAR(ready.at_s[1], cases[c].second_s, 1e-6);
    }
}

/* The image once, then both read the weights: 1 s, and 2 x 14 s. */
static void loads_come_one_after_the_other(void)
{
    struct ready ready;
    free(run(ONE_NODE, 2, "{image: {bytes: 10 GB, store: s}, " WEIGHTS "}", "", &ready));
    CHECK_I64(ready.count, 2);
    CHECK_NEAR(ready.at_s[0], 1 + 28, 1e-6);
    CHECK_NEAR(ready.at_s[1], 1 + 28, 1e-6);
}

/* A node of two is lost after 4 of 2 x 10 s: the other has the store alone from then on. The third
 * worker finds no node before 30 s, and reads anew: what a lost node kept is gone. */
static void a_lost_node_reads_no_more_and_keeps_nothing(void)
{
    struct ready ready;
    struct sim_run_summary *summary =
        run("[{name: n, cpus: 1, count: 2}]", 2, "{image: {bytes: 100 GB, store: s}}",
            "timeline: [{at: 4 s, for: 20 s, action: node_down, node: n-1}]\n", &ready);
    CHECK_I64(ready.count, 2);
    CHECK_NEAR(ready.at_s[0], 4 + 8, 1e-6);
    CHECK_NEAR(ready.at_s[1], 30 + 10, 1e-6);
    free(summary);
}

/* The interface of the node is slower than the store. */
static void the_interface_of_the_node_may_be_the_limit(void)
{
    struct ready ready;
    free(run("[{name: n, cpus: 1, nic: 2 GB/s, count: 2}]", 2, "{" WEIGHTS "}", "", &ready));
    CHECK_I64(ready.count, 2);
    CHECK_NEAR(ready.at_s[0], 70, 1e-6);
    CHECK_NEAR(ready.at_s[1], 70, 1e-6);
}

/* The image is there at 10 s; the node is away from 15 to 20 s and must read it again from 30 s on.
 */
static void a_node_that_was_down_kept_nothing(void)
{
    struct ready ready;
    free(run(ONE_NODE, 1, "{image: {bytes: 100 GB, store: s}}",
             "timeline: [{at: 15 s, for: 5 s, action: node_down, node: n}]\n", &ready));
    CHECK_I64(ready.count, 2);
    CHECK_NEAR(ready.at_s[0], 10, 1e-6);
    CHECK_NEAR(ready.at_s[1], 30 + 10, 1e-6);
}

/* Six wait for one image and have it at once: they go on in the order in which they came. */
static void who_has_loaded_goes_on_in_order(void)
{
    struct ready ready;
    free(run(ONE_NODE, 6, "{image: {bytes: 10 GB, store: s}, time: 1 s}", "", &ready));
    CHECK_I64(ready.count, 6);
    for (size_t i = 0; i < ready.count; i++) {
        CHECK_NEAR(ready.at_s[i], 2, 1e-6);
        CHECK(i == 0 || ready.worker[i] > ready.worker[i - 1]);
    }
}

/* ---- who reads on ---- */

enum { READERS = 4, STEPS = 3000, STEPS_A_S = 100 };

static const char failing[] =
    "schema: 2\nname: t\nhorizon: 100 s\ncluster:\n"
    "  nodes: [{name: n, cpus: 8, gpus: {h100: 4}}]\n  stores: {s: {bandwidth: 10 GB/s}}\n"
    "  failures: {gpu_between: \"uniform(2 s, 25 s)\"}\n"
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1000 s}}\n"
    "pipelines:\n  - name: p\n    semantics: event\n    input: {items: 1000}\n"
    "    stages: [{name: a, cpus: 1, gpus: 1, workers: 4, service: 100 s,"
    " setup: {image: {bytes: 100 GB, store: s}}}]\n";

/* How many times another one had to begin anew; -1 = nobody was left. Workers are 1 .. READERS. */
static int follow_readers(struct sim_world *world)
{
    uint64_t reader = 0;
    int begun = 0;
    int changes = -1;
    for (int step = 0; step < STEPS; step++) {
        bool is_ready = false;
        uint64_t oldest = 0;
        CHECK_I64(sim_world_advance(world, step * (SIM_NS_PER_S / STEPS_A_S)), WEIR_OK);
        for (uint64_t id = READERS; id >= 1; id--) {
            const struct sim_worker *worker = sim_workers_find(world->workers, id);
            oldest = worker != NULL ? id : oldest;
            is_ready = is_ready || (worker != NULL && worker->state != SIM_WORKER_SETUP);
        }
        if (oldest == 0)
            return -1;
        if (is_ready) { /* a step is what it may be seen late, at its beginning and its end */
            CHECK_NEAR(step - begun, 10.0 * STEPS_A_S, 2);
            return changes;
        }
        changes += oldest != reader ? 1 : 0;
        begun = oldest != reader ? step : begun;
        reader = oldest;
    }
    CHECK(false); /* nobody is ready */
    return -1;
}

/* Four wait for an image that takes 10 s, while one GPU after the other fails. The oldest who is
 * left reads, from the beginning when another one has read before; who fails while he waits costs
 * nothing. */
static void the_oldest_who_waits_reads_on(void)
{
    struct sim_scenario *scenario = test_scenario(failing, NULL);
    int changed = 0;
    if (!CHECK(scenario != NULL))
        return;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const struct sim_run_options options = { .seed = seed };
        struct sim_world *world = NULL;
        struct weir_error error = { .phase = -1 };
        if (!CHECK_I64(sim_world_create(scenario, &options, &world, &error), WEIR_OK))
            break;
        CHECK_I64(sim_world_begin(world), WEIR_OK);
        changed += follow_readers(world) > 0 ? 1 : 0;
        sim_world_destroy(world);
    }
    CHECK(changed >= 5);
    sim_scenario_destroy(scenario);
}

static const struct test tests[] = {
    { "together loads take as often as long as they are many",
      together_loads_take_as_often_as_long_as_they_are_many },
    { "a plain time is the same for all", a_plain_time_is_the_same_for_all },
    { "what is cached is read once a node", what_is_cached_is_read_once_a_node },
    { "who comes later finds what is cached", who_comes_later_finds_what_is_cached },
    { "loads come one after the other", loads_come_one_after_the_other },
    { "a lost node reads no more and keeps nothing", a_lost_node_reads_no_more_and_keeps_nothing },
    { "the interface of the node may be the limit", the_interface_of_the_node_may_be_the_limit },
    { "a node that was down kept nothing", a_node_that_was_down_kept_nothing },
    { "who has loaded goes on in order", who_has_loaded_goes_on_in_order },
    { "the oldest who waits reads on", the_oldest_who_waits_reads_on },
};
TEST_MAIN(tests)
