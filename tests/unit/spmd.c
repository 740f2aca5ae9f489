/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Groups: workers of one process a GPU, on part of a node or on whole nodes. Small runs by hand;
 * the first plan is applied at 0.01 s.
 */
#include "sim/world/world.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLUSTER(nodes)                                                                             \
    "schema: 1\nname: g\nhorizon: 1000 s\ncluster:\n  nodes:\n"                                    \
    "    - {name: n, cpus: 16, gpus: {h100: 4}, count: " nodes "}\n"
#define PIPELINE(more) "pipelines:\n  - name: p\n    input: {items: 1000000}\n" more "    stages:\n"

static struct sim_run_summary *run(const char *text, const char *sets)
{
    struct sim_scenario *scenario = test_scenario(text, sets);
    CHECK(scenario != NULL);
    struct sim_run_summary *summary =
        scenario == NULL ? test_summary() : test_run(scenario, 0, NULL);
    CHECK_I64(summary->status, WEIR_OK);
    sim_scenario_destroy(scenario);
    return summary;
}

static double value(const struct sim_run_summary *summary, const char *metric)
{
    return test_value(summary, metric, "");
}

#define GROUP                                                                                      \
    CLUSTER("3")                                                                                   \
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 100 s}}\n" PIPELINE(         \
        "") "      - {name: a, cpus: 1, gpus: 8, spmd: true, workers: 1, service: 10 s, setup: "   \
            "20 "                                                                                  \
            "s}\n"
static const char group_of_two[] = GROUP;

/* Two of three nodes are held from 0.01 s on and used from 20.01 s on; one worker is counted. */
static void a_group_is_one_worker_on_whole_nodes(void)
{
    struct sim_run_summary *summary = run(group_of_two, NULL);
    CHECK_NEAR(value(summary, "worker.created"), 1, 0);
    CHECK_NEAR(value(summary, "util.gpu.assigned"), 2.0 / 3 * (1000 - 0.01) / 1000, 1e-9);
    CHECK_NEAR(value(summary, "util.gpu.active"), 2.0 / 3 * (1000 - 20.01) / 1000, 1e-9);
    CHECK_NEAR(value(summary, "util.cpu.assigned"), 8.0 / 48 * (1000 - 0.01) / 1000, 1e-9);
    CHECK_NEAR(test_value(summary, "thr.stage", "a"), 97.0 / 1000, 1e-9);
    CHECK_NEAR(value(summary, "invariant.violations"), 0, 0);
    free(summary);
}

static const char node_lost[] =
    GROUP "timeline:\n  - {at: 505.01 s, action: node_down, node: n-1}\n";

/* The node of the second member dies at 505.01 s, in the middle of a task, and the group with it:
 * the first node is free too. The plan at 600 s starts a new group on the two nodes left. */
static void one_lost_node_ends_the_group(void)
{
    struct sim_run_summary *summary = run(node_lost, "pipelines.p.restart=next_plan");
    CHECK_NEAR(value(summary, "worker.created"), 2, 0);
    CHECK_NEAR(value(summary, "worker.deleted"), 1, 0);
    CHECK_NEAR(value(summary, "work.lost_s"), 5, 1e-9);
    /* 2 of 3 nodes for 505 s, then 2 of 2 from 600.01 s on */
    CHECK_NEAR(value(summary, "util.gpu.assigned"),
               (505.0 * 2 + 399.99 * 2) / (505.01 * 3 + 494.99 * 2), 1e-9);
    free(summary);
}

static const char node_lost_early[] =
    GROUP "timeline:\n  - {at: 3 s, action: node_down, node: n-1}\n";

/* In its place: the node is away, so four turns in vain give the group up, none of it is held. */
static void a_group_is_all_there_or_not_at_all(void)
{
    struct sim_run_summary *summary = run(node_lost, "pipelines.p.restart=same_place");
    CHECK_NEAR(value(summary, "worker.created"), 1, 0);
    CHECK_NEAR(value(summary, "util.gpu.assigned"), 505.0 * 2 / (505.01 * 3 + 494.99 * 2), 1e-9);
    free(summary);
    /* A plan that is late: one of its nodes is lost on the way, the other is not taken. */
    summary = run(node_lost_early, "sched.latency=5s pipelines.p.restart=next_plan");
    CHECK_NEAR(value(summary, "sched.refused"), 2, 0);
    CHECK_NEAR(value(summary, "worker.created"), 1, 0);
    CHECK_NEAR(value(summary, "util.gpu.assigned"), (1000.0 - 105) * 2 / (3.0 * 3 + 997 * 2), 1e-9);
    free(summary);
}

/* Crashed at 30 s of being ready (50.01 s), back in both places at this turn. */
static void a_crashed_group_returns_to_its_places(void)
{
    struct sim_run_summary *summary =
        run(group_of_two, "pipelines.p.stages.a.worker_between=const(30s) horizon=60s "
                          "pipelines.p.restart=same_place");
    CHECK_NEAR(value(summary, "worker.created"), 2, 0);
    CHECK_NEAR(value(summary, "util.gpu.assigned"), 2.0 / 3 * (60 - 0.01) / 60, 1e-9);
    free(summary);
}

static struct sim_world *world_at(const char *text, struct sim_scenario **scenario, double at_s)
{
    static const struct sim_run_options options = { .seed = 1, .export_at_s = (double)NAN };
    static struct weir_error error; /* the world keeps writing to it */
    struct sim_world *world = NULL;
    error = (struct weir_error){ .phase = -1, .pool = -1 };
    *scenario = test_scenario(text, NULL);
    CHECK(*scenario != NULL);
    if (*scenario == NULL || sim_world_create(*scenario, &options, &world, &error) != WEIR_OK)
        return NULL;
    CHECK_I64(sim_world_begin(world), WEIR_OK);
    CHECK_I64(sim_world_advance(world, sim_time_from_s(at_s)), WEIR_OK);
    return world;
}

/* The runtime counts every process as a worker: 8 processes with 2 slots may have 16 tasks under
 * way, of which the 2 in hand count 16. Of 8 tasks that waited for the set-up 2 go out at 20.01 s
 * and one every 10 s; the pool gets more only when it is empty and a slot is free, at 90 s. */
static void every_process_counts_for_back_pressure(void)
{
    struct sim_scenario *scenario = NULL;
    struct sim_world *world = world_at(group_of_two, &scenario, 85);
    if (world == NULL)
        return;
    CHECK_I64(test_stage(world, 0)->ranks, 8);
    CHECK_I64(test_stage(world, 0)->loop.used_slots, 2);
    CHECK_I64(test_stage(world, 0)->loop.pool_tasks, 0);
    CHECK_I64(sim_world_advance(world, sim_time_from_s(95)), WEIR_OK);
    CHECK_I64(test_stage(world, 0)->loop.pool_tasks, 7);
    sim_world_destroy(world);
    sim_scenario_destroy(scenario);
}

/* 6 nodes: three groups would leave nothing for a, so b gets two. */
static void the_scheduler_scales_groups(void)
{
    static const char text[] =
        CLUSTER("6") "sched: {placement: fgd, scaling: {policy: xenna, interval: 60 s}}\n" PIPELINE(
            "") "      - {name: a, cpus: 1, gpus: 2, spmd: true, service: 3 s}\n"
                "      - {name: b, cpus: 1, gpus: 8, spmd: true, service: 6 s}\n";
    struct sim_scenario *scenario = NULL;
    struct sim_world *world = world_at(text, &scenario, 200);
    if (world == NULL)
        return;
    CHECK_I64(test_stage(world, 1)->worker_count, 2);
    CHECK(test_stage(world, 0)->worker_count >= 1);
    CHECK_I64(test_stage(world, 0)->spec->shape.kind, WEIR_SHAPE_SPMD_SMALL);
    CHECK_I64(test_stage(world, 1)->spec->shape.kind, WEIR_SHAPE_SPMD_MULTI);
    sim_world_destroy(world);
    sim_scenario_destroy(scenario);
}

/* The first member on the named node, the second on the next one that fits. */
static void a_group_can_be_there_at_the_start(void)
{
    static const char text[] = GROUP "initial: {workers: [{stage: a, node: n-1, count: 1}]}\n";
    struct sim_run_summary *summary = run(text, NULL);
    CHECK_NEAR(value(summary, "util.gpu.assigned"), 2.0 / 3, 1e-9);
    CHECK_NEAR(value(summary, "worker.created"), 1, 0);
    free(summary);
}

static void note_node(void *state, const struct sim_span *span)
{
    uint32_t *node_of = state; /* by stage */
    if (node_of[span->stage] == WEIR_NO_INDEX)
        node_of[span->stage] = span->node;
}

/* Two of four nodes are gone, so that the group of three nodes finds no place, with the workers of
 * the others away neither: they stay where they came, the small one on the first node. Placed anew,
 * the largest first, they would change places. */
static void a_group_that_fits_in_part_moves_nobody(void)
{
    static const char text[] =
        "schema: 2\nname: t\nhorizon: 30 s\n"
        "cluster: {nodes: [{name: n, count: 4, cpus: 48, gpus: {h100: 8}}]}\n"
        "sched: {placement: first_fit, scaling: {policy: equal_split, interval: 10 s}}\n"
        "timeline: [{at: 0 s, action: node_down, node: n-2},"
        " {at: 0 s, action: node_down, node: n-3}]\n"
        "pipelines:\n  - name: p\n    input: {items: 1000}\n    stages:\n"
        "      - {name: small, cpus: 10, service: 1 s}\n"
        "      - {name: large, cpus: 40, service: 1 s}\n"
        "      - {name: group, cpus: 1, gpus: 24, spmd: true, service: 1 s}\n";
    uint32_t node_of[] = { WEIR_NO_INDEX, WEIR_NO_INDEX, WEIR_NO_INDEX };
    const struct sim_observer observer = { .span = note_node, .state = node_of };
    free(test_watch_text(text, &observer));
    CHECK_I64(node_of[0], 0);
    CHECK_I64(node_of[1], 1);
    CHECK_I64(node_of[2], WEIR_NO_INDEX);
}

static const struct test tests[] = {
    { "a group is one worker on whole nodes", a_group_is_one_worker_on_whole_nodes },
    { "one lost node ends the group", one_lost_node_ends_the_group },
    { "a group is all there or not at all", a_group_is_all_there_or_not_at_all },
    { "a crashed group returns to its places", a_crashed_group_returns_to_its_places },
    { "every process counts for back-pressure", every_process_counts_for_back_pressure },
    { "the scheduler scales groups", the_scheduler_scales_groups },
    { "a group can be there at the start", a_group_can_be_there_at_the_start },
    { "a group that fits in part moves nobody", a_group_that_fits_in_part_moves_nobody },
};

TEST_MAIN(tests)
