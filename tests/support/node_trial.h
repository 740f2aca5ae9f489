/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A host with a capacity policy, offers of nodes with CPUs, four or eight GPUs, and jobs: what the
 * policy says at which time. One node of eight GPUs is there for good.
 */
#ifndef TESTS_SUPPORT_NODE_TRIAL_H
#define TESTS_SUPPORT_NODE_TRIAL_H

#include "weir/capacity.h"
#include "weir/host.h"

enum { TEST_NODE_CPUS = 1, TEST_NODE_FOUR, TEST_NODE_EIGHT, TEST_NODE_TYPES };

struct test_nodes {
    struct weir_host *host;
    struct weir_node_offer offers[TEST_NODE_TYPES];
    uint64_t jobs;
    /* Of the latest decision: by type; and how many. */
    uint32_t asked[TEST_NODE_TYPES], released, preempted, stopped;
    uint32_t released_node; /* the last one */
    int64_t woken_ns;       /* the latest wake that was asked for */
};

/* A parameter and its value; lists of them end with NULL. */
struct test_setting {
    const char *name;
    double value;
};

/* `set` NULL = parameters as they are usual. */
struct test_nodes *test_nodes_open(const struct weir_capacity_ops *policy,
                                   const struct test_setting *set);
void test_nodes_close(struct test_nodes *nodes);

/* So many there are, and boot; of 32 CPUs and 64 GiB each. */
void test_nodes_offer(struct test_nodes *nodes, uint32_t type, uint32_t max, uint32_t up,
                      uint32_t coming);
/* One of such a kind (0 = of no offer) is there. */
void test_nodes_add(struct test_nodes *nodes, uint64_t id, uint32_t type, uint32_t gpus);

/* Jobs of so many ranks with so many GPUs and one CPU or, without GPUs, with so many CPUs each. */
void test_nodes_submit(struct test_nodes *nodes, uint32_t count, uint32_t ranks, uint32_t gpus,
                       uint32_t cpus, uint32_t strategy);

weir_status test_nodes_ask(struct test_nodes *nodes, int64_t at_s, const struct weir_plan **plan,
                           struct weir_error *error);
/* What starts has started; nodes are not there yet. */
void test_nodes_decide(struct test_nodes *nodes, int64_t at_s);
/* What became of a request (node WEIR_NO_INDEX), or of a release. */
void test_nodes_hear(struct test_nodes *nodes, enum weir_outcome_kind kind, uint32_t node,
                     int64_t at_s);

#endif
