/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Failures by hand: who is lost with what, when the scheduler hears of it, and stragglers. All
 * laws are constants where times are checked. Invariants hold at every event.
 */
#include "sim/world/world.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <stdio.h>
#include <stdlib.h>

enum { JOBS = 16 };

struct lives {
    double start_s[JOBS], end_s[JOBS];
    size_t count;
};

static void add_job(void *state, const struct sim_job_row *row)
{
    struct lives *lives = state;
    if (lives->count == JOBS)
        return;
    lives->start_s[lives->count] = sim_time_s(row->start_ns);
    lives->end_s[lives->count++] = sim_time_s(row->end_ns);
}

/* `nodes` nodes of four GPUs that fail as `failures` says, and jobs of the classes. */
static struct sim_run_summary *run(const char *nodes, const char *failures, const char *classes,
                                   const char *horizon, struct lives *lives)
{
    char text[2000];
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\nhorizon: %s\n"
                   "cluster:\n  failures: {%s}\n"
                   "  nodes: [{name: n, count: %s, cpus: 64, gpus: {h100: 4}}]\n"
                   "jobs: [{name: w, classes: [%s]}]\n",
                   horizon, failures, nodes, classes);
    *lives = (struct lives){ .count = 0 };
    const struct sim_observer observer = { .job = add_job, .state = lives };
    return test_watch_text(text, &observer);
}

static double restarted(const struct sim_run_summary *summary)
{
    return test_value(summary, "jobs.restarted", "");
}

/* Every GPU has its own job whenever it works, so each failure restarts exactly one. */
static void a_lost_gpu_takes_only_its_own_workers(void)
{
    struct lives lives;
    struct sim_run_summary *summary =
        run("2", "gpu_between: exp(20 h), gpu_repair: exp(1 h)",
            "{name: a, count: 8, run_time: 9999 h, request: {gpus: 1, cpus: 1}}", "100 h", &lives);
    const double failures = test_value(summary, "failures", "gpu");
    CHECK(failures > 10);
    CHECK_NEAR(restarted(summary), failures, 0);
    free(summary);
}

/* Three nodes, two in the first rack: a job on each of them whenever it is up. */
static void a_rack_takes_all_its_nodes_and_no_other(void)
{
    struct lives lives;
    static const char jobs[] = "{name: a, count: 3, run_time: 9999 h, request: {gpus: 4, cpus: 1}}";
    struct sim_run_summary *summary =
        run("3", "rack_between: const(10 h), rack_repair: const(5 h), rack_nodes: 2", jobs, "21 h",
            &lives);
    CHECK_NEAR(test_value(summary, "failures", "rack"), 2, 0); /* of both racks, at 10 h */
    CHECK_NEAR(restarted(summary), 3, 0);
    free(summary);
    summary = run("3", "switch_between: const(10 h), switch_repair: const(5 h), switch_nodes: 3",
                  jobs, "21 h", &lives);
    CHECK_NEAR(test_value(summary, "failures", "switch"), 1, 0);
    CHECK_NEAR(restarted(summary), 3, 0);
    free(summary);
}

/* A node and its rack are away from 10 h on, for 2 and for 5 h: it is back when both are. */
static void a_node_is_up_when_its_last_reason_is_gone(void)
{
    struct lives lives;
    free(run("1",
             "node_between: const(10 h), node_repair: const(2 h), rack_between: const(11 h), "
             "rack_repair: const(5 h)",
             "{name: a, count: 1, at: 10.5 h, run_time: 1 h, request: {gpus: 4, cpus: 1}}", "20 h",
             &lives));
    CHECK_I64(lives.count, 1);
    CHECK_NEAR(lives.start_s[0], 16 * 3600, 0);
}

/* It is away from 100 s to 150 s. A job that comes at 105 s is placed there and refused, unless the
 * scheduler has heard of it by then; it starts when the node is back. */
static void until_it_is_detected_a_lost_device_is_planned_with(void)
{
    static const char early[] =
        "{name: a, count: 1, at: 105 s, run_time: 20 s, request: {gpus: 4, cpus: 1}}";
    static const char late[] =
        "{name: a, count: 1, at: 130 s, run_time: 20 s, request: {gpus: 4, cpus: 1}}";
    static const struct {
        const char *failures, *jobs;
        double refused, mismatch_s;
    } cases[] = {
        { "node_between: const(100 s), node_repair: const(50 s)", early, 0, 0 },
        { "node_between: const(100 s), node_repair: const(50 s), detection: const(20 s)", early, 1,
          20 },
        { "node_between: const(100 s), node_repair: const(50 s), detection: const(20 s)", late, 0,
          20 },
        { "node_between: const(100 s), node_repair: const(50 s), detection: const(60 s)", late, 1,
          50 },
        { "gpu_between: const(100 s), gpu_repair: const(50 s)", early, 0, 0 },
        { "gpu_between: const(100 s), gpu_repair: const(50 s), detection: const(20 s)", early, 1,
          0 },
        { "gpu_between: const(100 s), gpu_repair: const(50 s), detection: const(20 s)", late, 0,
          0 },
        { "gpu_between: const(100 s), gpu_repair: const(50 s), detection: const(60 s)", late, 1,
          0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lives lives;
        struct sim_run_summary *summary =
            run("1", cases[i].failures, cases[i].jobs, "200 s", &lives);
        CHECK_I64(lives.count, 1);
        CHECK_NEAR(lives.start_s[0], 150, 0);
        CHECK_NEAR(lives.end_s[0], 170, 0);
        const double mismatch_s = test_value(summary, "belief.mismatch_s", "");
        if (!CHECK_NEAR(test_value(summary, "sched.refused", ""), cases[i].refused, 0) ||
            !CHECK_NEAR(mismatch_s, cases[i].mismatch_s, 0))
            (void)printf("    case %zu\n", i);
        free(summary);
    }
}

/* 100 s at full speed, 50 s at half of it, and the rest: 200 s of work take 225 s. */
static void a_straggler_is_slow_for_a_while(void)
{
    struct lives lives;
    free(run("1", "slow_between: const(100 s), slow_for: const(50 s), slow_factor: const(2)",
             "{name: a, count: 1, run_time: 200 s, request: {gpus: 4, cpus: 1}}", "300 s", &lives));
    CHECK_I64(lives.count, 1);
    CHECK_NEAR(lives.end_s[0], 225, 0);
    /* One GPU of four that is slow holds up who computes on all of them, and who is on it alone. */
    free(run("1",
             "gpu_slow_between: const(100 s), gpu_slow_for: const(50 s), slow_factor: const(2)",
             "{name: a, count: 1, run_time: 200 s, request: {gpus: 4, cpus: 1}}", "300 s", &lives));
    CHECK_I64(lives.count, 1);
    CHECK_NEAR(lives.end_s[0], 225, 0);
    free(run("1", "gpu_slow_between: \"uniform(100 s, 101 s)\", slow_factor: const(2)",
             "{name: a, count: 4, run_time: 200 s, request: {gpus: 1, cpus: 1}}", "400 s", &lives));
    CHECK_I64(lives.count, 4);
    for (size_t i = 0; i < lives.count; i++)
        CHECK(lives.end_s[i] > 299 && lives.end_s[i] <= 300);
    CHECK(lives.end_s[0] < lives.end_s[1]); /* each slow from its own time on */
}

/* Two failures of one GPU, and failures of two GPUs, are different draws: between constants they
 * would be at one time, and a law that repeats one draw would have one gap. */
static void entities_and_their_failures_have_draws_of_their_own(void)
{
    struct lives lives;
    struct sim_run_summary *summary = run(
        "1", "gpu_between: \"uniform(1 h, 99 h)\", gpu_repair: const(1 s)",
        "{name: a, count: 1, run_time: 99999 h, request: {gpus: 1, cpus: 1}}", "10000 h", &lives);
    const double failures = test_value(summary, "failures", "gpu");
    /* Four renewal processes of mean 50 h and standard deviation 28.3 h: 800 with a standard
     * deviation of sqrt(4 x 200) x 0.566 = 16. */
    CHECK_NEAR(failures, 800, 4 * 16.0);
    free(summary);
}

/* The original brings a worker back in its place at the next turns of its loop: a GPU that is away
 * for two of them is waited for, as a node is, and no plan is needed. */
static void a_worker_comes_back_on_its_gpu_when_that_is_back(void)
{
    static const char *const failures[] = {
        "gpu_between: const(100 s), gpu_repair: const(1.5 s)",
        "node_between: const(100 s), node_repair: const(1.5 s)"
    };
    double ends_s[2] = { 0 };
    for (size_t i = 0; i < 2; i++) {
        char text[1000];
        (void)snprintf(text, sizeof(text),
                       "schema: 2\nname: t\nhorizon: 1000 s\n"
                       "cluster:\n  failures: {%s}\n"
                       "  nodes: [{name: n, cpus: 64, gpus: {h100: 1}}]\n"
                       "sched: {scaling: {policy: fixed, interval: 5000 s}}\n"
                       "pipelines:\n  - name: p\n    semantics: runtime\n    loop_hz: 1\n"
                       "    restart: same_place\n    input: {items: 15}\n"
                       "    stages: [{name: a, cpus: 1, gpus: 1, workers: 1, service: 10 s}]\n",
                       failures[i]);
        struct sim_run_summary *summary = test_run_text(text, NULL);
        ends_s[i] = test_value(summary, "makespan", "");
        free(summary);
    }
    CHECK(ends_s[1] > 150 && ends_s[1] < 200);
    CHECK_NEAR(ends_s[0], ends_s[1], 0);
}

static void keys_that_mean_nothing_are_refused(void)
{
    static const char *const bad[] = { "gpu_repair: 1 h",       "rack_nodes: 4",
                                       "slow_factor: 3",        "switch_nodes: 2",
                                       "slow_for: 1 h",         "gpu_slow_for: 1 h",
                                       "node_between: const(0)" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[1000];
        struct sim_scenario *scenario = NULL;
        struct sim_diagnostics diagnostics = { .items = NULL };
        (void)snprintf(text, sizeof(text),
                       "schema: 2\nname: t\ncluster:\n  failures: {%s}\n"
                       "  nodes: [{name: n, cpus: 64, gpus: {h100: 4}}]\n"
                       "jobs: [{name: w, classes: [{name: a, count: 1, run_time: 1 s, "
                       "request: {gpus: 1}}]}]\n",
                       bad[i]);
        const struct sim_scenario_source source = { .path = "t.yaml", .text = text };
        if (!CHECK_I64(sim_scenario_load(&source, &scenario, &diagnostics), WEIR_EFORMAT))
            (void)printf("%s\n", bad[i]);
        CHECK_I64(diagnostics.errors, 1);
        sim_diagnostics_clear(&diagnostics);
    }
}

/* The node is away from 100 to 110 s and from 112 s on, and every loss is heard of after 20 s: that
 * of 100 s never, as the node was back; that of 112 s at 132 s. A job of 125 s is refused, one of
 * 140 s waits; both start when the node is back. */
static void a_second_loss_is_not_heard_of_when_the_first_is_due(void)
{
    static const struct {
        const char *at;
        double refused;
    } cases[] = { { "125 s", 1 }, { "131 s", 1 }, { "133 s", 0 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[1000];
        (void)snprintf(text, sizeof(text),
                       "schema: 2\nname: t\nhorizon: 300 s\n"
                       "cluster:\n  failures: {detection: const(20 s)}\n"
                       "  nodes: [{name: n, cpus: 64}]\n"
                       "jobs: [{name: w, classes: [{name: a, count: 1, at: %s, run_time: 20 s}]}]\n"
                       "timeline:\n  - {at: 100 s, for: 10 s, action: node_down, node: n}\n"
                       "  - {at: 112 s, for: 88 s, action: node_down, node: n}\n",
                       cases[i].at);
        struct lives lives = { .count = 0 };
        const struct sim_observer observer = { .job = add_job, .state = &lives };
        struct sim_run_summary *summary = test_watch_text(text, &observer);
        CHECK_I64(lives.count, 1);
        CHECK_NEAR(lives.start_s[0], 200, 0);
        CHECK_NEAR(test_value(summary, "sched.refused", ""), cases[i].refused, 0);
        free(summary);
    }
}

/* ---- attempts ---- */

#define ATTEMPTS(items, keys)                                                                      \
    "schema: 2\nname: t\ncluster: {nodes: [{name: n, cpus: 64}]}\n"                                \
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 9999 s}}\n"                  \
    "pipelines:\n  - name: p\n    semantics: event\n    input: {items: " items "}\n"               \
    "    stages: [{name: a, cpus: 1, workers: 64, service: 1 s, " keys "}]\n"

/* An attempt gets through where none of 20, 50 and 40 % strikes: 0.8 x 0.5 x 0.6 = 0.24 of 20 000
 * do, 4 800 with a standard deviation of 60; with the timeline's 50 % alone 0.4 of them, 8 000 with
 * one of 69. */
static void chances_of_failures_are_independent(void)
{
    static const char one[] = ATTEMPTS(
        "20000",
        "process_failure: 20 %, max_attempts: 1") "timeline:\n  - {at: 0 s, action: stage_fail, "
                                                  "stage: p.a, probability: 50 %}\n";
    static const char two[] = ATTEMPTS(
        "20000",
        "process_failure: 20 %, max_attempts: 1") "timeline:\n  - {at: 0 s, action: stage_fail, "
                                                  "stage: p.a, probability: 50 %}\n"
                                                  "  - {at: 0 s, action: stage_fail, stage: p.a, "
                                                  "probability: 40 %}\n";
    struct sim_scenario *scenario = test_scenario(one, NULL);
    struct sim_run_summary *summary = test_run_fast(scenario, 0, NULL);
    CHECK_NEAR(20000 - test_value(summary, "retry.exhausted", ""), 8000, 5 * 69);
    free(summary);
    sim_scenario_destroy(scenario);
    scenario = test_scenario(two, NULL);
    summary = test_run_fast(scenario, 0, NULL);
    CHECK_NEAR(20000 - test_value(summary, "retry.exhausted", ""), 4800, 5 * 60);
    free(summary);
    sim_scenario_destroy(scenario);
}

/* Ten items that always fail are tried three times each: twenty of the attempts are repeated. */
static void an_item_has_so_many_attempts_and_no_more(void)
{
    struct sim_run_summary *summary =
        test_run_text(ATTEMPTS("10", "process_failure: 0.999999, max_attempts: 3"), NULL);
    CHECK_NEAR(test_value(summary, "retry.count", ""), 20, 0);
    CHECK_NEAR(test_value(summary, "retry.exhausted", ""), 10, 0);
    CHECK_NEAR(summary->simulated_s, 3, 1e-9);
    free(summary);
}

/* ---- who goes first ---- */

/* Workers of a node are named the oldest first, whatever came in between. */
static void workers_of_a_node_are_in_the_order_of_their_age(void)
{
    static const struct sim_run_options options = { .seed = 1 };
    struct sim_scenario *scenario =
        test_scenario("schema: 2\nname: t\nhorizon: 100 s\n"
                      "cluster: {nodes: [{name: n, cpus: 64}]}\n"
                      "sched: {placement: first_fit, scaling: {policy: fixed, interval: 5 s}}\n"
                      "pipelines:\n  - name: p\n    semantics: event\n    input: {items: 1000}\n"
                      "    stages: [{name: a, cpus: 1, workers: 9, service: 1 s, "
                      "worker_between: exp(20 s)}]\n",
                      NULL);
    struct sim_world *world = NULL;
    struct weir_error error = { .phase = -1 };
    uint64_t *ids = NULL;
    uint32_t count = 0;
    if (!CHECK(scenario != NULL) ||
        !CHECK_I64(sim_world_create(scenario, &options, &world, &error), WEIR_OK))
        return;
    CHECK_I64(sim_world_begin(world), WEIR_OK);
    CHECK_I64(sim_world_advance(world, 51 * SIM_NS_PER_S), WEIR_OK);
    CHECK_I64(sim_workers_on_node(world->workers, 0, WEIR_NO_INDEX, &ids, &count), WEIR_OK);
    CHECK(count > 4 && ids[count - 1] > 9); /* some died, and others came */
    for (uint32_t i = 1; i < count; i++)
        CHECK(sim_workers_find(world->workers, ids[i])->created_ns >=
                  sim_workers_find(world->workers, ids[i - 1])->created_ns &&
              ids[i] > ids[i - 1]);
    free(ids);
    sim_world_destroy(world);
    sim_scenario_destroy(scenario);
}

/* ---- detection ---- */

static double detection_s(const char *keys)
{
    char text[500];
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\ncluster:\n  failures: {rates: default%s}\n"
                   "  nodes: [{name: n, cpus: 64}]\n"
                   "jobs: [{name: w, classes: [{name: a, count: 1, run_time: 1 s}]}]\n",
                   keys);
    struct sim_scenario *scenario = test_scenario(text, NULL);
    CHECK(scenario != NULL);
    const double mean_s = scenario == NULL ? 0 : sim_law_mean(scenario->failures.detection);
    sim_scenario_destroy(scenario);
    return mean_s;
}

/* A sweep every five minutes finds it, unless the scenario says otherwise. */
static void default_rates_leave_what_is_said(void)
{
    CHECK_NEAR(detection_s(""), 150, 1e-9);
    CHECK_NEAR(detection_s(", detection: const(7 s)"), 7, 1e-9);
}

static const struct test tests[] = {
    { "a lost GPU takes only its own workers", a_lost_gpu_takes_only_its_own_workers },
    { "a rack takes all its nodes and no other", a_rack_takes_all_its_nodes_and_no_other },
    { "a node is up when its last reason is gone", a_node_is_up_when_its_last_reason_is_gone },
    { "until it is detected a lost device is planned with",
      until_it_is_detected_a_lost_device_is_planned_with },
    { "a straggler is slow for a while", a_straggler_is_slow_for_a_while },
    { "entities and their failures have draws of their own",
      entities_and_their_failures_have_draws_of_their_own },
    { "a worker comes back on its GPU when that is back",
      a_worker_comes_back_on_its_gpu_when_that_is_back },
    { "keys that mean nothing are refused", keys_that_mean_nothing_are_refused },
    { "a second loss is not heard of when the first is due",
      a_second_loss_is_not_heard_of_when_the_first_is_due },
    { "chances of failures are independent", chances_of_failures_are_independent },
    { "an item has so many attempts and no more", an_item_has_so_many_attempts_and_no_more },
    { "workers of a node are in the order of their age",
      workers_of_a_node_are_in_the_order_of_their_age },
    { "default rates leave what is said", default_rates_leave_what_is_said },
};
TEST_MAIN(tests)
