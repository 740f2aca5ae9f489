/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The training loop against closed forms: with constant laws every step, synchronisation and
 * validation is at an instant that can be worked out by hand.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sixteen rollouts of 10 s on sixteen workers, a step of 5 s, a transfer of 2 s. */
#define LOOP                                                                                       \
    "schema: 2\nname: t\nhorizon: 3000 s\n"                                                        \
    "cluster: {nodes: [{name: n, cpus: 16, count: 2, gpus: {h100: 1}}]}\n"                         \
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 30 s}}\n"                    \
    "actors:\n  - name: rl\n    environment: 0 B\n"                                                \
    "    roles:\n      rollout_worker: {count: 16}\n"                                              \
    "      trainer: {count: 1, cpus: 4, gpus: 1, concurrency: 1}\n"                                \
    "      trajectory_pool: {count: 1, group: main}\n"                                             \
    "      weight_sync_controller: {count: 1, group: main}\n"                                      \
    "      data_loader: {count: 1, concurrency: 10}\n      validator: {count: 1}\n"                \
    "    groups: {main: {concurrency: 100}}\n"                                                     \
    "    training: {steps: 12, batch: 4, repeat: 4, rollout: 10 s, step: 5 s, transfer: 2 s,\n"    \
    "      trajectory: 3 MB}\n"
#define SET(key) "actors.rl.training." key

static double value(const char *sets, const char *metric, const char *label)
{
    struct sim_run_summary *summary = test_run_text(LOOP, sets);
    const double found = test_value(summary, metric, label);
    free(summary);
    return found;
}

/* 10 s, 2 ms to the pool, the next turn at 11 s; 5 s, 2 s; the next question of a worker that asks
 * every 100 ms since 10.002 s is at 18.002 s; its rollouts are there at 28.004 s, the turn is at
 * 29: 18 s a cycle, of which workers work 10. */
static void a_cycle_is_as_long_as_its_parts(void)
{
    struct sim_run_summary *summary = test_run_text(LOOP, NULL);
    CHECK_STR(summary->outcome, "complete");
    CHECK_NEAR(summary->completion_s, 16 + 11 * 18, 1e-9);
    CHECK_NEAR(test_value(summary, "rl.cycle_s", ""), 18, 1e-9);
    CHECK_NEAR(test_value(summary, "rl.steps", ""), 12, 0);
    CHECK_NEAR(test_value(summary, "rl.syncs", ""), 11, 0); /* the end comes before the last */
    CHECK_NEAR(test_value(summary, "rl.sync_s", ""), 2, 1e-9);
    CHECK_NEAR(test_value(summary, "rl.rollout_util", ""), 12 * 10.0 / (16 + 11 * 18), 1e-6);
    CHECK_NEAR(test_value(summary, "util.gpu.active", ""), 12 * 5.0 / 2 / (16 + 11 * 18), 1e-6);
    free(summary);
    CHECK_NEAR(value(SET("turn=10s"), "rl.cycle_s", ""), 20, 1e-9);
    CHECK_NEAR(value(SET("turn=1ms"), "rl.cycle_s", ""), 17.002, 1e-9);
    /* weights are there 7.05 s after a worker's last question, its next one is due after 7.1 */
    CHECK_NEAR(value(SET("turn=1ms ") SET("transfer=2050ms"), "rl.cycle_s", ""), 17.102, 1e-9);
}

/* Steps after which weights are old by t, and how often they go out.
 * covers: S4.10 */
static void weights_are_as_old_as_the_way_they_go_out_lets_them(void)
{
    static const struct {
        const char *sets;
        double most, syncs;
    } cases[] = { { SET("sync=sync"), 1, 11 },
                  { SET("sync=batch_async"), 1, 11 },
                  { SET("sync=batch_async ") SET("threshold=1"), 2, 5 },
                  { SET("sync=batch_async ") SET("threshold=2"), 3, 3 },
                  { SET("sync=batch_async ") SET("threshold=5"), 6, 1 },
                  { SET("sync=fully_async"), 12, 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_run_summary *summary = test_run_text(LOOP, cases[i].sets);
        CHECK_NEAR(test_value(summary, "rl.staleness.max", ""), cases[i].most, 0);
        CHECK_NEAR(test_value(summary, "rl.syncs", ""), cases[i].syncs, 0);
        CHECK_NEAR(test_value(summary, "rl.steps", ""), 12, 0);
        free(summary);
    }
}

/* Without a transfer the next batch is made during the step: 11 s a cycle and not 18. */
static void rollouts_go_on_during_a_step_that_locks_nothing(void)
{
    CHECK_NEAR(value(SET("sync=fully_async"), "rl.cycle_s", ""), 11, 0.2);
    CHECK_NEAR(value(SET("sync=fully_async ") SET("step=30s"), "rl.cycle_s", ""), 30, 0.6);
}

/* covers: S4.11 */
static void a_version_is_validated_if_it_divides(void)
{
    CHECK_NEAR(value(SET("validate_every=1"), "rl.validations", ""), 11, 0);
    CHECK_NEAR(value(SET("validate_every=3"), "rl.validations", ""), 3, 0);
    CHECK_NEAR(value(SET("validate_every=5"), "rl.validations", ""), 2, 0);
    CHECK_NEAR(value(SET("validate_every=0"), "rl.validations", ""), 0, 0);
    CHECK_NEAR(value(SET("validate_every=4"), "rpc.calls", "validator"), 2, 0);
    /* locks are kept meanwhile: two of eleven cycles are 18 s longer */
    CHECK_NEAR(value(SET("validate_every=4 ") SET("validation=18s"), "rl.cycle_s", ""),
               18 + 2 * 18.0 / 11, 1e-6);
}

/* covers: S4.8 S4.9 */
static void a_batch_is_its_prompts_times_their_rollouts(void)
{
    struct sim_run_summary *summary =
        test_run_text(LOOP, SET("batch=32 ") SET("repeat=8 ") SET("steps=3"));
    CHECK_I64(summary->items_done, 3 * 256);
    CHECK_NEAR(test_value(summary, "rl.pool.max", ""), 256 * 3e6, 0.5);
    free(summary);
    CHECK_NEAR(value(NULL, "rl.pool.max", ""), 16 * 3e6, 0.5);
}

/* A pool that need not wait for its batch takes what comes; a slow trainer lets it grow. */
static void a_pool_grows_where_rollouts_are_faster(void)
{
    const char *const sets = SET("keep_order=false ") SET("ready=batch_size_reached ")
        SET("sync=fully_async ") SET("step=40s ") SET("steps=20");
    struct sim_run_summary *summary = test_run_text(LOOP, sets);
    /* 1.6 trajectories a second come, 0.4 go, over 800 s */
    CHECK_NEAR(test_value(summary, "rl.pool.max", "") / 3e6, 800 * 1.2, 40);
    CHECK_NEAR(test_value(summary, "rl.rollout_util", ""), 1, 0.001);
    free(summary);
}

/* With a bound workers that bring more wait for the next step: the pool and all that is under way.
 */
static void a_full_pool_holds_workers_up(void)
{
    const char *const sets = SET("keep_order=false ") SET("ready=batch_size_reached ")
        SET("sync=fully_async ") SET("step=40s ") SET("steps=20 ") SET("pool_limit=20");
    struct sim_run_summary *summary = test_run_text(LOOP, sets);
    CHECK_NEAR(test_value(summary, "rl.pool.max", ""), 20 * 3e6, 0.5);
    CHECK_NEAR(test_value(summary, "rl.cycle_s", ""), 40, 0.5);
    CHECK_NEAR(test_value(summary, "rl.rollout_util", ""), 0.25, 0.03); /* 0.4 of 1.6 a second */
    free(summary);
}

/* What lies in a process goes with it, and a batch of which nothing is left gives way to the next.
 */
static void trajectories_of_a_lost_pool_are_gone(void)
{
    struct sim_run_summary *summary = test_run_text(
        LOOP "timeline: [{at: 10.5 s, action: node_down, node: n-1, for: 20 s}]\n", NULL);
    CHECK_STR(summary->outcome, "complete");
    CHECK_NEAR(test_value(summary, "rl.lost", ""), 16, 0);
    CHECK_NEAR(test_value(summary, "rl.steps", ""), 12, 0);
    CHECK_I64(summary->items_done, 13 * 16);
    free(summary);
    summary =
        test_run_text(LOOP "timeline: [{at: 10.5 s, action: node_down, node: n-1, for: 20 s}]\n",
                      "actors.rl.on_loss=stop");
    CHECK_STR(summary->outcome, "ended early");
    CHECK_NEAR(summary->early_s, 10.5, 1e-9);
    free(summary);
}

/* covers: S4.25 */
static void a_trainer_without_a_gpu_is_slow_and_leaves_it_idle(void)
{
    const char *const none = "actors.rl.roles.trainer.gpus=0";
    const char *const hidden = "actors.rl.roles.trainer.uses.gpus=0";
    CHECK_NEAR(value(none, "rl.cycle_s", ""), 13 + 150, 1e-9);
    CHECK_NEAR(value(none, "util.gpu.assigned", ""), 0, 0);
    CHECK_NEAR(value(hidden, "rl.cycle_s", ""), 13 + 150, 1e-9);
    CHECK_NEAR(value(hidden, "util.gpu.assigned", ""), 0.5, 1e-9);
    CHECK_NEAR(value(hidden, "util.gpu.active", ""), 0, 0);
}

/* Rollouts of a lost node are made again, by others; the batch is complete. */
static void rollouts_of_a_lost_node_are_made_again(void)
{
    struct sim_run_summary *summary =
        test_run_text(LOOP "timeline: [{at: 5 s, action: node_down, node: n-0, for: 20 s}]\n",
                      "sched.placement=spread");
    CHECK_STR(summary->outcome, "complete");
    CHECK_I64(summary->items_done, 12 * 16);
    CHECK_NEAR(test_value(summary, "rl.steps", ""), 12, 0);
    CHECK(summary->completion_s > 16 + 11 * 18 + 3);
    free(summary);
}

static const struct test tests[] = {
    { "a cycle is as long as its parts", a_cycle_is_as_long_as_its_parts },
    { "weights are as old as the way they go out lets them",
      weights_are_as_old_as_the_way_they_go_out_lets_them },
    { "rollouts go on during a step that locks nothing",
      rollouts_go_on_during_a_step_that_locks_nothing },
    { "a version is validated if it divides", a_version_is_validated_if_it_divides },
    { "a batch is its prompts times their rollouts", a_batch_is_its_prompts_times_their_rollouts },
    { "a pool grows where rollouts are faster", a_pool_grows_where_rollouts_are_faster },
    { "a full pool holds workers up", a_full_pool_holds_workers_up },
    { "trajectories of a lost pool are gone", trajectories_of_a_lost_pool_are_gone },
    { "a trainer without a GPU is slow and leaves it idle",
      a_trainer_without_a_gpu_is_slow_and_leaves_it_idle },
    { "rollouts of a lost node are made again", rollouts_of_a_lost_node_are_made_again },
};
TEST_MAIN(tests)
