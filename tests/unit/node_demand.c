/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The capacity policy demand: which nodes it asks for, how many at once, and when it gives them
 * back. A host with a small node that is full, and offers of nodes with CPUs, four or eight GPUs.
 */
#include "tests/support/check.h"
#include "tests/support/node_trial.h"
#include "weir/group.h"

enum { CPUS = TEST_NODE_CPUS, FOUR = TEST_NODE_FOUR, EIGHT = TEST_NODE_EIGHT };
static const int64_t NS = 1000000000;

static void submit(struct test_nodes *trial, uint32_t count, uint32_t gpus)
{
    test_nodes_submit(trial, count, 1, gpus, 32, 0);
}

static struct test_nodes *open_trial(void)
{
    return test_nodes_open(weir_capacity_find("demand"), NULL);
}

/* Two of three GPUs to a node: what waits of nine jobs, two on the node that is there. */
static void what_waits_is_laid_on_nodes_first_fit(void)
{
    struct test_nodes *trial = open_trial();
    test_nodes_offer(trial, EIGHT, 40, 0, 0);
    submit(trial, 9, 3);
    test_nodes_decide(trial, 0);
    CHECK_I64(trial->asked[EIGHT], 4);
    test_nodes_offer(trial, EIGHT, 40, 0, 3);
    test_nodes_decide(trial, 1);
    CHECK_I64(trial->asked[EIGHT], 1); /* three are on their way */
    test_nodes_offer(trial, EIGHT, 3, 0, 3);
    test_nodes_decide(trial, 2);
    CHECK_I64(trial->asked[EIGHT], 0); /* no more may be */
    test_nodes_close(trial);
}

static uint32_t asked_of(uint32_t up, const char *name, double value)
{
    struct test_nodes *trial = test_nodes_open(
        weir_capacity_find("demand"), (struct test_setting[]){ { name, value }, { NULL, 0 } });
    test_nodes_offer(trial, EIGHT, 1000, up, 0);
    submit(trial, 200, 8);
    test_nodes_decide(trial, 0);
    const uint32_t asked = trial->asked[EIGHT];
    test_nodes_offer(trial, EIGHT, 1000, up, asked);
    test_nodes_decide(trial, 1);
    CHECK_I64(trial->asked[EIGHT], 0);
    test_nodes_close(trial);
    return asked;
}

/* Of 20 nodes 20 more may be on their way, of two five; and what the parameters make of it. */
static void so_many_are_on_their_way_at_once(void)
{
    CHECK_I64(asked_of(20, NULL, 0), 20);
    CHECK_I64(asked_of(2, NULL, 0), 5);
    CHECK_I64(asked_of(20, "upscaling_speed", 0.5), 10);
    CHECK_I64(asked_of(2, "at_once", 7), 7);
}

/* The one that is used best: four GPUs of four and not of eight, and no GPUs for jobs without.
 * Where the best have run out, the next. */
static void the_node_that_is_used_best_is_asked_for(void)
{
    struct test_nodes *trial = open_trial();
    submit(trial, 1, 8); /* fills the node that is there */
    test_nodes_decide(trial, 0);
    test_nodes_offer(trial, EIGHT, 9, 0, 0);
    test_nodes_offer(trial, FOUR, 1, 0, 0);
    test_nodes_offer(trial, CPUS, 9, 0, 0);
    submit(trial, 1, 4);
    test_nodes_decide(trial, 1);
    CHECK_I64(trial->asked[FOUR], 1);
    CHECK_I64(trial->asked[EIGHT], 0);
    submit(trial, 2, 4);
    test_nodes_decide(trial, 2);
    CHECK_I64(trial->asked[FOUR], 1);
    CHECK_I64(trial->asked[EIGHT], 1);
    CHECK_I64(trial->asked[CPUS], 0);
    test_nodes_close(trial);
    trial = open_trial();
    test_nodes_offer(trial, EIGHT, 9, 0, 0);
    test_nodes_offer(trial, CPUS, 9, 0, 0);
    submit(trial, 3, 0);
    test_nodes_decide(trial, 0);
    CHECK_I64(trial->asked[EIGHT], 0);
    CHECK_I64(trial->asked[CPUS], 2);
    trial->offers[CPUS].holds.cpu_units = 256 * WEIR_ONE; /* of which little would be used */
    CHECK_I64(weir_host_offer_nodes(trial->host, &trial->offers[CPUS], NULL), WEIR_OK);
    test_nodes_decide(trial, 1);
    CHECK_I64(trial->asked[EIGHT], 0);
    CHECK_I64(trial->asked[CPUS], 1);
    test_nodes_close(trial);
}

/* Four bundles of two GPUs: on one node together, on four apart, or wherever they fit. */
static void groups_are_one_demand_or_several(void)
{
    static const struct {
        uint32_t strategy, nodes;
    } rows[] = { { 0, 1 }, { WEIR_GROUP_STRICT_PACK + 1, 1 }, { WEIR_GROUP_STRICT_SPREAD + 1, 4 } };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct test_nodes *trial = open_trial();
        for (uint64_t n = 0; n < 3; n++)
            test_nodes_add(trial, 2 + n, 0, 4);
        submit(trial, 1, 8);
        submit(trial, 3, 4);
        test_nodes_decide(trial, 0);
        test_nodes_offer(trial, EIGHT, 9, 0, 0);
        test_nodes_submit(trial, 1, 4, 2, 0, rows[i].strategy);
        test_nodes_decide(trial, 1);
        CHECK_I64(trial->asked[EIGHT], rows[i].nodes);
        test_nodes_close(trial);
    }
}

/* Five minutes after it was first idle, but not below the minimum. */
static void nodes_that_idle_are_given_back(void)
{
    struct test_nodes *trial = open_trial();
    test_nodes_offer(trial, EIGHT, 9, 2, 0);
    test_nodes_add(trial, 2, EIGHT, 8);
    test_nodes_add(trial, 3, EIGHT, 8);
    test_nodes_decide(trial, 10);
    CHECK_I64(trial->released, 0);
    CHECK_I64(trial->woken_ns, 310 * NS);
    test_nodes_decide(trial, 309);
    CHECK_I64(trial->released, 0);
    trial->offers[EIGHT].min = 1;
    CHECK_I64(weir_host_offer_nodes(trial->host, &trial->offers[EIGHT], NULL), WEIR_OK);
    test_nodes_decide(trial, 310);
    CHECK_I64(trial->released, 1);
    test_nodes_close(trial);
}

static void after_a_failure_it_waits(void)
{
    struct test_nodes *trial = open_trial();
    test_nodes_offer(trial, EIGHT, 9, 0, 0);
    submit(trial, 2, 8);
    test_nodes_decide(trial, 0);
    CHECK_I64(trial->asked[EIGHT], 1);
    test_nodes_hear(trial, WEIR_OUTCOME_FAILED, WEIR_NO_INDEX, 5);
    test_nodes_decide(trial, 64);
    CHECK_I64(trial->asked[EIGHT], 0);
    CHECK_I64(trial->woken_ns, 65 * NS);
    test_nodes_decide(trial, 65);
    CHECK_I64(trial->asked[EIGHT], 1);
    test_nodes_close(trial);
}

static const struct test tests[] = {
    { "what waits is laid on nodes first fit", what_waits_is_laid_on_nodes_first_fit },
    { "so many are on their way at once", so_many_are_on_their_way_at_once },
    { "the node that is used best is asked for", the_node_that_is_used_best_is_asked_for },
    { "groups are one demand or several", groups_are_one_demand_or_several },
    { "nodes that idle are given back", nodes_that_idle_are_given_back },
    { "after a failure it waits", after_a_failure_it_waits },
};
TEST_MAIN(tests)
