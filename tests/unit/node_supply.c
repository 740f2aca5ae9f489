/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nodes that come and go, by hand: when they are there, what they cost, launches that fail, nodes
 * that do not fail while they are away. Invariants hold at every event.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <stdio.h>
#include <stdlib.h>

enum { JOBS = 16 };

struct lives {
    double start_s[JOBS];
    size_t count;
};

static void add_job(void *state, const struct sim_job_row *row)
{
    struct lives *lives = state;
    if (lives->count < JOBS)
        lives->start_s[lives->count++] = sim_time_s(row->start_ns);
}

/* Nodes of four GPUs, one at the start; `supply`, parameters of the policy and classes of jobs. */
static struct sim_run_summary *run(const char *supply, const char *capacity, const char *failures,
                                   const char *classes, struct lives *lives)
{
    char text[2000];
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\nhorizon: 4 h\ncatalog: {gpu_types: {h100: {price: 1}}}\n"
                   "prices: {billing: nodes}\n"
                   "cluster:\n  failures: {%s}\n"
                   "  nodes: [{name: n, count: 1, cpus: 64, gpus: {h100: 4}, supply: {%s}}]\n"
                   "sched: {capacity: {%s}}\n"
                   "jobs: [{name: w, classes: [%s]}]\n",
                   failures, supply, capacity, classes);
    *lives = (struct lives){ .count = 0 };
    const struct sim_observer observer = { .job = add_job, .state = lives };
    return test_watch_text(text, &observer);
}

static const char *const TWO = "{name: a, count: 2, run_time: 30 min, request: {gpus: 4}}";

/* One starts at once, the other when t_up and the boot are over; the node is there until all that
 * is low was so for t_down: 30 min of use and 20 of idling, and the first node all the time. */
static void a_node_comes_when_it_was_asked_for(void)
{
    struct lives lives;
    struct sim_run_summary *summary =
        run("min: 1, max: 3, boot: const(4 min)",
            "policy: threshold, t_up: 1 min, t_down: 20 min, gpu_up: 1, cooldown_in: 0 s", "",
            "{name: a, count: 2, run_time: 30 min, request: {gpus: 4}}, "
            "{name: late, count: 1, at: 3 h, run_time: 1 h, request: {gpus: 4}}",
            &lives);
    CHECK_NEAR(lives.start_s[1], 300, 1e-6);
    CHECK_NEAR(test_value(summary, "as.out", ""), 1, 0);
    CHECK_NEAR(test_value(summary, "as.in", ""), 1, 0);
    CHECK_NEAR(test_value(summary, "as.nodes", ""), (4 * 60 + 50) / 240.0, 1e-6);
    CHECK_NEAR(test_value(summary, "cost.total", ""), 4 * (4 + 50 / 60.0), 1e-3);
    CHECK_NEAR(test_value(summary, "cost.idle", ""), 4 * (4 + 50 / 60.0 - 2), 1e-3);
    free(summary);
}

/* Without anybody who asks, nodes beyond those at the start never come. */
static void without_a_policy_no_node_comes(void)
{
    struct lives lives;
    struct sim_run_summary *summary = run("max: 3", "policy: none", "", TWO, &lives);
    CHECK_NEAR(lives.start_s[1], 1800, 1e-6);
    CHECK_NEAR(test_value(summary, "as.nodes", ""), 1, 0);
    free(summary);
}

/* Launches that all fail: at t_up, then ever later, each heard of 30 s after it was asked for. */
static void launches_that_fail_are_tried_ever_later(void)
{
    struct lives lives;
    struct sim_run_summary *summary =
        run("max: 2, boot: const(30 s), launch_failure: 1",
            "policy: threshold, t_up: 1 min, backoff: 1 min, gpu_up: 1", "",
            "{name: a, count: 2, run_time: 20 min, request: {gpus: 4}}", &lives);
    /* at 60, 150, 300, 570 and 1080 s; the second job starts on the first node at 1200 s */
    CHECK_NEAR(test_value(summary, "as.out", ""), 5, 0);
    CHECK_NEAR(test_value(summary, "as.failed", ""), 5, 0);
    CHECK_NEAR(lives.start_s[1], 1200, 1e-6);
    free(summary);
}

/* The one node that is there fails every hour, the two that are away never. */
static void a_node_that_is_away_does_not_fail(void)
{
    struct lives lives;
    struct sim_run_summary *summary =
        run("max: 3", "policy: none", "node_between: const(40 min), node_repair: const(20 min)",
            "{name: a, count: 1, run_time: 4 h, request: {gpus: 4}}", &lives);
    CHECK_NEAR(test_value(summary, "failures", "node"), 4, 0); /* of the one there is */
    free(summary);
}

/* What waits for three nodes of which there are two at most waits for ever. */
static void no_more_nodes_come_than_there_are(void)
{
    struct lives lives;
    struct sim_run_summary *summary =
        run("max: 2", "policy: threshold, t_up: 0 s, cooldown_out: 0 s, gpu_up: 1", "",
            "{name: a, count: 3, run_time: 5 h, request: {gpus: 4}}", &lives);
    CHECK_NEAR(test_value(summary, "as.out", ""), 1, 0);
    CHECK_NEAR(test_value(summary, "jobs.waiting", ""), 1, 0);
    free(summary);
}

/* What a node asked for draws depends on its name and its launches alone: the same run again, and
 * one with another group before it. */
static void boots_are_drawn_by_the_node(void)
{
    struct lives first;
    struct lives again;
    static const char supply[] = "max: 3, boot: exp(4 min)";
    static const char capacity[] = "policy: threshold, t_up: 1 min, gpu_up: 1";
    free(run(supply, capacity, "", TWO, &first));
    free(run(supply, capacity, "", TWO, &again));
    CHECK(first.start_s[1] > 60);
    CHECK_NEAR(first.start_s[1], again.start_s[1], 0);
}

static const struct test tests[] = {
    { "a node comes when it was asked for", a_node_comes_when_it_was_asked_for },
    { "without a policy no node comes", without_a_policy_no_node_comes },
    { "launches that fail are tried ever later", launches_that_fail_are_tried_ever_later },
    { "a node that is away does not fail", a_node_that_is_away_does_not_fail },
    { "no more nodes come than there are", no_more_nodes_come_than_there_are },
    { "boots are drawn by the node", boots_are_drawn_by_the_node },
};
TEST_MAIN(tests)
