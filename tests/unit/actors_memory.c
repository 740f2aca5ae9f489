/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory of actors by hand: leaks that fill a node at an instant that is known, activations of
 * steps with and without gradient checkpointing, and where the model of a trainer lies that works
 * on no GPU.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <stdlib.h>

/* One caller asks one server every 10 s; the server has 2 of 20 GB and leaks 1 GB a call. */
#define LEAK                                                                                       \
    "schema: 2\nname: t\nhorizon: 1000 s\n"                                                        \
    "cluster: {nodes: [{name: n, cpus: 16, ram: 20 GB}], memory: {rule: oom_killer}}\n"            \
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 30 s}}\n"                    \
    "actors:\n  - name: s\n    environment: 0 B\n    on_loss: stop\n"                              \
    "    roles: {caller: {count: 1}, server: {count: 1, ram: 2 GB, leak: 1 GB}}\n"                 \
    "    calls: [{from: caller, to: server, think: 10 s}]\n"

static double value_of(const char *text, const char *sets, const char *metric, const char *label)
{
    struct sim_run_summary *summary = test_run_text(text, sets);
    const double found = test_value(summary, metric, label);
    free(summary);
    return found;
}

/* After k calls it has 2 + k GB: the 19th is one too many, (limit - base) / leak + 1. */
static void a_leak_fills_the_node_after_so_many_calls(void)
{
    static const struct {
        const char *sets;
        double end_s;
    } leaks[] = { { NULL, 190 },
                  { "actors.s.roles.server.leak=2GB", 100 },
                  { "actors.s.roles.server.ram=11GB", 100 },
                  { "cluster.nodes.n.ram=40GB", 390 },
                  { "actors.s.roles.server.leak=0GB actors.s.roles.caller.leak=2GB "
                    "actors.s.calls[0].work=1s",
                    110 } };
    for (size_t i = 0; i < sizeof leaks / sizeof leaks[0]; i++) {
        CHECK_NEAR(value_of(LEAK, leaks[i].sets, "run.ended_early.at", ""), leaks[i].end_s, 1e-6);
        CHECK_NEAR(value_of(LEAK, leaks[i].sets, "oom.host.count", ""), 1, 0);
    }
    CHECK_NEAR(value_of(LEAK, "actors.s.roles.server.leak=10MB", "oom.host.count", ""), 0, 0);
}

/* It starts anew, with nothing: every 190 s. */
static void a_process_that_starts_anew_has_leaked_nothing(void)
{
    CHECK_NEAR(value_of(LEAK, "actors.s.on_loss=restart", "oom.host.count", ""), 5, 0);
    CHECK_NEAR(value_of(LEAK, "actors.s.on_loss=restart", "run.ended_early", ""), 0, 0);
}

/* ---- a trainer ---- */

/* Sixteen rollouts of 10 s, a step of 6 s that may begin at any millisecond. */
#define LOOP                                                                                       \
    "schema: 2\nname: t\nhorizon: 1000 s\n"                                                        \
    "cluster: {nodes: [{name: n, cpus: 32, ram: 200 GB, gpus: {h100: 2}}],\n"                      \
    "  memory: {rule: oom_killer}}\n"                                                              \
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 30 s}}\n"                    \
    "actors:\n  - name: rl\n    environment: 0 B\n"                                                \
    "    roles:\n      rollout_worker: {count: 16}\n"                                              \
    "      trainer: {count: 1, cpus: 4, gpus: 1, concurrency: 1, model: 16 GB,\n"                  \
    "        gpu_context: 300 MB}\n"                                                               \
    "    training: {batch: 4, repeat: 4, rollout: 10 s, put: 0 s, step: 6 s, turn: 1 ms,\n"        \
    "      poll: 1 ms, sync: sync, activations: 32 GB}\n"
#define TRAINER(key)  "actors.rl.roles.trainer." key
#define TRAINING(key) "actors.rl.training." key

static double trained(const char *sets, const char *metric, const char *label)
{
    return value_of(LOOP, sets, metric, label);
}

/* Of n layers about 2 / sqrt(n) of the activations, for one more pass forward in three. */
static void checkpointing_keeps_a_few_layers_for_a_third_more_time(void)
{
    static const struct {
        const char *sets;
        double kept;
    } models[] = { { TRAINING("checkpointed_layers=1"), 1 },
                   { TRAINING("checkpointed_layers=4"), 1 },
                   { TRAINING("checkpointed_layers=10"), 7.0 / 10 },
                   { TRAINING("checkpointed_layers=64"), 16.0 / 64 },
                   { TRAINING("checkpointed_layers=100"), 20.0 / 100 } };
    const double cycle_s = trained(NULL, "rl.cycle_s", "");
    CHECK_NEAR(cycle_s, 16, 0.01);
    CHECK_NEAR(trained(NULL, "actor.gpu_bytes", "trainer"), 48.3e9, 1);
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
        CHECK_NEAR(trained(models[i].sets, "actor.gpu_bytes", "trainer"),
                   16.3e9 + models[i].kept * 32e9, 1);
        CHECK_NEAR(trained(models[i].sets, "rl.cycle_s", ""), cycle_s + 2, 0.01);
    }
}

/* 16.3 and 64 of 80 GB: the step fails and the system with it, unless it computes elsewhere. */
static void a_step_without_memory_on_its_gpu_ends_the_system(void)
{
    const char *const large = TRAINING("activations=64GB");
    const char *const fits = TRAINING("activations=63.7GB");
    const char *const on_node = TRAINING("activations=64GB ") TRAINER("uses.gpus=0");
    CHECK_NEAR(trained(large, "oom.gpu.count", ""), 1, 0);
    CHECK_NEAR(trained(large, "run.ended_early", ""), 1, 0);
    CHECK_NEAR(trained(large, "run.ended_early.at", ""), 10, 0.01);
    CHECK_NEAR(trained(large, "rl.steps", ""), 0, 0);
    CHECK_NEAR(trained(fits, "oom.gpu.count", ""), 0, 0);
    CHECK_NEAR(trained(on_node, "oom.gpu.count", ""), 0, 0);
    CHECK_NEAR(trained(on_node, "actor.host_bytes", "trainer"), 80e9, 1);
}

/* ---- three causes of an idle GPU ---- */

/* covers: S4.33 */
static void a_gpu_idles_for_three_reasons_that_are_told_apart(void)
{
    static const struct {
        const char *sets;
        double assigned, active, seen, on_gpu, on_node;
    } causes[] = {
        { NULL, 0.5, 0.1875, 1, 48.3e9, 0 },
        { TRAINER("gpus=0"), 0, 0, 0, 0, 48e9 },
        { TRAINER("visible_gpus=0"), 0.5, 0, 0, 0, 48e9 },
        { TRAINER("uses.gpus=0"), 0.5, 0, 1, 0.3e9, 48e9 },
    };
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        struct sim_run_summary *summary = test_run_text(LOOP, causes[i].sets);
        CHECK_NEAR(test_value(summary, "util.gpu.assigned", ""), causes[i].assigned, 1e-9);
        CHECK_NEAR(test_value(summary, "util.gpu.active", ""), causes[i].active, 0.01);
        CHECK_NEAR(test_value(summary, "actor.gpus.seen", "trainer"), causes[i].seen, 0);
        CHECK_NEAR(test_value(summary, "actor.gpu_bytes", "trainer"), causes[i].on_gpu, 1);
        CHECK_NEAR(test_value(summary, "actor.host_bytes", "trainer"), causes[i].on_node, 1);
        CHECK_NEAR(test_value(summary, "rl.cycle_s", ""), i == 0 ? 16 : 10 + 6 * 30, 0.01);
        free(summary);
    }
}

static void who_sees_one_of_two_gpus_works_on_one(void)
{
    const char *const one = TRAINER("gpus=2 ") TRAINER("visible_gpus=1");
    CHECK_NEAR(trained(TRAINER("gpus=2"), "util.gpu.active", ""), 0.375, 0.01);
    CHECK_NEAR(trained(one, "util.gpu.active", ""), 0.1875, 0.01);
    CHECK_NEAR(trained(one, "util.gpu.assigned", ""), 1, 1e-9);
}

static const struct test tests[] = {
    { "a leak fills the node after so many calls", a_leak_fills_the_node_after_so_many_calls },
    { "a process that starts anew has leaked nothing",
      a_process_that_starts_anew_has_leaked_nothing },
    { "checkpointing keeps a few layers for a third more time",
      checkpointing_keeps_a_few_layers_for_a_third_more_time },
    { "a step without memory on its GPU ends the system",
      a_step_without_memory_on_its_gpu_ends_the_system },
    { "a GPU idles for three reasons that are told apart",
      a_gpu_idles_for_three_reasons_that_are_told_apart },
    { "who sees one of two GPUs works on one", who_sees_one_of_two_gpus_works_on_one },
};
TEST_MAIN(tests)
