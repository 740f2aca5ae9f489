/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many actors of a role a policy takes: by what binds its workers, and by how full the pool is
 * that they fill.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Workers that wait 10 s and compute 0.1 s, or compute 4 s, on a node of 16 CPUs. */
#define WORKERS                                                                                    \
    "schema: 2\nname: t\nhorizon: 3 h\nwarmup: 1 h\n"                                              \
    "cluster: {nodes: [{name: n, cpus: 16}]}\n"                                                    \
    "sched: {placement: first_fit, scaling: {policy: profile_then_scale, interval: 30 s}}\n"       \
    "actors:\n  - name: s\n    environment: 0 B\n    roles:\n"                                     \
    "      worker: {cpus: 0.2, uses: {cpus: 1}}\n      pool: {count: 1}\n"
#define WAIT    WORKERS "    calls: [{from: worker, to: pool, think: exp(10 s), work: 0.1 s}]\n"
#define COMPUTE WORKERS "    calls: [{from: worker, to: pool, work: exp(4 s)}]\n"

static double rate_of(const char *text, const char *sets)
{
    struct sim_run_summary *summary = test_run_text(text, sets);
    const double rate = test_value(summary, "thr.pipeline", "");
    free(summary);
    return rate;
}

/* Four workers first, then sixteen of them where they wait: four times as much is done. Where they
 * compute they stay four.
 * covers: S4.27 */
static void who_waits_is_multiplied_and_who_computes_is_not(void)
{
    CHECK_NEAR(rate_of(WAIT, NULL), 16 / 10.1, 0.06);
    CHECK_NEAR(rate_of(COMPUTE, NULL), 1, 0.05);
    CHECK_NEAR(rate_of(WAIT, "sched.scaling.looks=1000000"), 4 / 10.1, 0.03);
}

/* The other sign, scale up what is busy: workers that wait stay four, and four CPUs do no more with
 * sixteen workers than with four. */
static void the_other_sign_gains_nothing(void)
{
    const char *const few = "cluster.nodes[0].cpus=4.5 sched.scaling.when=busy";
    CHECK_NEAR(rate_of(WAIT, "sched.scaling.when=busy"), 4 / 10.1, 0.03);
    CHECK_NEAR(rate_of(COMPUTE, few), rate_of(COMPUTE, "cluster.nodes[0].cpus=4.5"), 0.2);
    CHECK(rate_of(WAIT, "cluster.nodes[0].cpus=4.5") > 1.5);
}

/* The rule of thumb: 64 workers if they wait, 4 if they compute.
 * covers: S4.24 */
static void the_rule_of_thumb_takes_64_or_4(void)
{
    CHECK_NEAR(rate_of(WAIT, "sched.scaling.then=64"), 6.3, 0.15);
    CHECK_NEAR(rate_of(COMPUTE, "sched.scaling.then=64"), 1, 0.05);
}

/* A trainer takes 0.8 trajectories a second, a worker brings 0.1: eight are enough. */
#define FILL                                                                                       \
    "schema: 2\nname: t\nhorizon: 4 h\nwarmup: 2 h\n"                                              \
    "cluster: {nodes: [{name: n, cpus: 64, gpus: {h100: 1}}]}\n"                                   \
    "sched: {placement: first_fit, scaling: {policy: pool_feedback, interval: 30 s,\n"             \
    "        set_point: 160}}\n"                                                                   \
    "actors:\n  - name: rl\n    environment: 0 B\n    roles:\n      rollout_worker: {cpus: 1}\n"   \
    "      trainer: {count: 1, cpus: 4, gpus: 1, concurrency: 1}\n"                                \
    "      trajectory_pool: {count: 1}\n"                                                          \
    "    training: {batch: 4, repeat: 4, keep_order: false, ready: batch_size_reached,\n"          \
    "      rollout: 10 s, step: 20 s, sync: fully_async, trajectory: 1 MB}\n"

/* covers: S4.36 */
static void rollouts_follow_the_fill_of_the_pool(void)
{
    struct sim_run_summary *summary = test_run_text(FILL, NULL);
    const double mean = test_value(summary, "rl.pool.mean", "");
    CHECK_NEAR(mean, 160e6, 10e6);
    CHECK(test_value(summary, "rl.pool.max", "") < 1.2 * mean);
    CHECK_NEAR(test_value(summary, "worker.created", ""), 0, 0); /* it has come to rest */
    CHECK_NEAR(test_value(summary, "worker.deleted", ""), 0, 0);
    CHECK_NEAR(test_value(summary, "thr.pipeline", ""), 0.8, 0.01);
    free(summary);
    summary = test_run_text(FILL, "sched.scaling.damping=0");
    CHECK(test_value(summary, "rl.pool.max", "") > 1.5 * test_value(summary, "rl.pool.mean", ""));
    CHECK(test_value(summary, "worker.created", "") > 50);
    free(summary);
}

static const struct test tests[] = {
    { "who waits is multiplied and who computes is not",
      who_waits_is_multiplied_and_who_computes_is_not },
    { "the other sign gains nothing", the_other_sign_gains_nothing },
    { "the rule of thumb takes 64 or 4", the_rule_of_thumb_takes_64_or_4 },
    { "rollouts follow the fill of the pool", rollouts_follow_the_fill_of_the_pool },
};
TEST_MAIN(tests)
