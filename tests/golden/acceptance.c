/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Acceptance rows that need the whole simulator: what the pipeline, the scheduler and the cluster
 * do together, on the reference problems and on small ones with an answer known beforehand.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct sim_run_summary *run_sets(const char *text, const char *sets)
{
    struct sim_scenario *scenario = test_scenario(text, sets);
    CHECK(scenario != NULL);
    struct sim_run_summary *summary =
        scenario == NULL ? test_summary() : test_run_fast(scenario, 0, NULL);
    sim_scenario_destroy(scenario);
    return summary;
}

#define PLAIN "scenarios/reference/xenna_plain_n2.yaml"
#define NVDEC "scenarios/reference/xenna_nvdec_n2.yaml"

/* covers: S0.1 S0.4 S0.9 S0.43 */
static void the_reference_runs_are_met(void)
{
    struct sim_run_summary *plain = run_sets(PLAIN, NULL);
    struct sim_run_summary *nvdec = run_sets(NVDEC, NULL);
    CHECK_NEAR(plain->completion_s, 13118.0, 13.1);
    CHECK_NEAR(nvdec->completion_s, 13089.0, 13.1);
    CHECK_NEAR(test_value(plain, "thr.pipeline.steady", ""), 0.7792, 0.7792 * 0.005);
    CHECK_NEAR(test_value(nvdec, "thr.pipeline.steady", ""), 0.7792, 0.7792 * 0.005);
    CHECK_NEAR(test_value(nvdec, "util.nvdec.active", ""), 0.168, 0.005);
    CHECK_NEAR(test_value(plain, "balance.stage.gpu.steady", ""), 0.584, 0.001);
    CHECK_NEAR(test_value(plain, "invariant.violations", ""), 0.0, 0.0);
    free(plain);
    free(nvdec);
}

/* covers: S0.43 */
static void ten_nodes_balance_better(void)
{
    struct sim_run_summary *ten = run_sets(NVDEC, "cluster.nodes[0].count=10");
    CHECK_NEAR(test_value(ten, "balance.stage.gpu.steady", ""), 0.760, 0.001);
    CHECK_NEAR(test_value(ten, "thr.pipeline.steady", ""), 5.065, 5.065 * 0.02);
    free(ten);
}

/* covers: S0.2 */
static void encoders_limit_the_four_stage_example(void)
{
    struct sim_run_summary *run = run_sets("scenarios/examples/video4.yaml", NULL);
    CHECK_NEAR(test_value(run, "thr.pipeline.steady", ""), 8.0, 0.08);
    CHECK(test_value(run, "bottleneck.share", "encode") >= 0.95);
    free(run);
}

/* Without a hint a first decision takes every stage for equally fast: 6 items are done after 180 s.
 * With the true speeds the first counts are those that the second decision would find.
 * covers: S2.29 */
static void hints_of_speed_spare_the_start_up(void)
{
    static const double service_s[] = { 3.1, 38.7, 1.5,  20.2, 3.9, 0.1, 1.6,
                                        0.9, 0.9,  31.8, 9.6,  7.7, 0.6, 3.1 };
    char sets[1024] = "horizon=180s";
    for (int i = 0; i < (int)(sizeof service_s / sizeof service_s[0]); i++)
        (void)snprintf(sets + strlen(sets), sizeof sets - strlen(sets),
                       " pipelines[0].stages[%d].speed_hint=%.9g", i, 1 / service_s[i]);
    struct sim_run_summary *blind = run_sets(PLAIN, "horizon=180s");
    struct sim_run_summary *hinted = run_sets(PLAIN, sets);
    CHECK(blind->items_done > 0);
    CHECK(hinted->items_done >= 5 * blind->items_done);
    free(blind);
    free(hinted);
}

/* covers: S0.5 S0.6 */
static void equal_split_is_an_order_of_magnitude_worse(void)
{
    struct sim_run_summary *xenna = run_sets(PLAIN, NULL);
    struct sim_run_summary *equal =
        run_sets(PLAIN, "sched.scaling.policy=equal_split pipelines[0].input.items=2000");
    const double good = test_value(xenna, "thr.pipeline.steady", "");
    const double bad = test_value(equal, "thr.pipeline.steady", "");
    CHECK(bad <= 0.0776);
    CHECK(good / bad >= 9.5);
    free(xenna);
    free(equal);
}

static const char slow_down[] =
    "schema: 1\nname: step\nhorizon: 4 h\n"
    "cluster: {nodes: [{name: n, cpus: 64, gpus: {h100: 8}, count: 2}]}\n"
    "sched: {placement: fgd, scaling: {policy: xenna, interval: 180 s, window: 180 s}}\n"
    "pipelines:\n  - name: p\n    input: {items: 1000000}\n    stages:\n"
    "      - {name: a, cpus: 1, gpus: 1, service: 4, setup: 20}\n"
    "      - {name: b, cpus: 1, gpus: 1, service: 4, setup: 20}\n"
    "timeline: [{at: 1 h, action: stage_slow, stage: b, factor: 2}]\n";

/* 16 GPUs: 8 + 8 give 2/s; with stage b at 8 s the integer bound is 6 + 10 (1.25/s) or 5 + 11
 * (1.25/s against 1.375/s): 1.25/s. */
/* covers: S0.7 */
static void a_step_change_is_answered_within_two_periods(void)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_world *world = NULL;
    struct sim_scenario *scenario = test_scenario(slow_down, NULL);
    const struct sim_run_options options = { .seed = 1, .export_at_s = (double)NAN };
    CHECK(scenario != NULL);
    if (scenario == NULL || sim_world_create(scenario, &options, &world, &error) != WEIR_OK)
        return;
    CHECK_I64(sim_world_begin(world), WEIR_OK);
    CHECK_I64(sim_world_advance(world, sim_time_from_s(3600)), WEIR_OK);
    CHECK_I64(test_stage(world, 1)->worker_count, 8);
    const uint64_t before = test_stage(world, 0)->pipeline->finished;
    CHECK(before > 6000);
    CHECK_I64(sim_world_advance(world, sim_time_from_s(3600 + 361)), WEIR_OK);
    CHECK(test_stage(world, 1)->worker_count >= 10);
    CHECK_I64(sim_world_advance(world, sim_time_from_s(3600 + 400)), WEIR_OK);
    const uint64_t settled = test_stage(world, 0)->pipeline->finished;
    CHECK_I64(sim_world_advance(world, sim_time_from_s(3600 + 400 + 3600)), WEIR_OK);
    CHECK((double)(test_stage(world, 0)->pipeline->finished - settled) / 3600.0 >= 0.95 * 1.25);
    sim_world_destroy(world);
    sim_scenario_destroy(scenario);
}

static const char two_to_one[] =
    "schema: 1\nname: ratio\n"
    "cluster: {nodes: [{name: n, cpus: 64, gpus: {h100: 4}, count: 3}]}\n"
    "sched: {placement: fgd, scaling: {policy: xenna, interval: 60 s, window: 60 s}}\n"
    "pipelines:\n  - name: p\n    input: {items: 2000}\n    stages:\n"
    "      - {name: slow, cpus: 1, gpus: 1, service: 2}\n"
    "      - {name: quick, cpus: 1, gpus: 1, service: 1}\n";

/* covers: S0.15 */
static void workers_follow_the_service_times(void)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_world *world = NULL;
    struct sim_scenario *scenario = test_scenario(two_to_one, NULL);
    const struct sim_run_options options = { .seed = 1, .export_at_s = (double)NAN };
    CHECK(scenario != NULL);
    if (scenario == NULL || sim_world_create(scenario, &options, &world, &error) != WEIR_OK)
        return;
    CHECK_I64(sim_world_begin(world), WEIR_OK);
    CHECK_I64(sim_world_advance(world, sim_time_from_s(60) +
                                           test_stage(world, 0)->pipeline->spec->turn_ns),
              WEIR_OK);
    CHECK_I64(test_stage(world, 0)->worker_count, 8);
    CHECK_I64(test_stage(world, 1)->worker_count, 4);
    sim_world_destroy(world);
    sim_scenario_destroy(scenario);
}

/* covers: S0.16 S2.18 */
static void a_pinned_stage_keeps_its_count_all_the_time(void)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_world *world = NULL;
    struct sim_scenario *scenario = test_scenario(NVDEC, "pipelines[0].stages[0].workers=5");
    const struct sim_run_options options = { .seed = 1, .export_at_s = (double)NAN };
    CHECK(scenario != NULL);
    if (scenario == NULL || sim_world_create(scenario, &options, &world, &error) != WEIR_OK)
        return;
    CHECK_I64(sim_world_begin(world), WEIR_OK);
    for (int minute = 0; minute < 30; minute++) {
        CHECK_I64(sim_world_advance(world, minute * 60 * SIM_NS_PER_S), WEIR_OK);
        CHECK_I64(test_stage(world, 0)->worker_count, 5);
    }
    CHECK_I64(test_stage(world, 1)->worker_count, 45);
    sim_world_destroy(world);
    sim_scenario_destroy(scenario);
}

/* Where workers were set up, in order, and how many of each stage. */
struct places {
    uint64_t nodes; /* a digit to the base of 4 for each */
    uint32_t setups[2];
};

static void see_setup(void *state, const struct sim_setup_span *setup)
{
    struct places *places = state;
    places->nodes = places->nodes * 4 + setup->node + 1;
    places->setups[setup->stage]++;
}

static void see_span(void *state, const struct sim_span *span)
{
    (void)state;
    (void)span;
}

static struct places run_pair(const char *scaling, const char *placement)
{
    char sets[256];
    struct places places = { .nodes = 0 };
    const struct sim_observer observer = { .span = see_span, .setup = see_setup, .state = &places };
    (void)snprintf(sets, sizeof(sets),
                   "sched.scaling.policy=%s sched.placement=%s pipelines[0].input.items=800 "
                   "pipelines[0].stages[0].setup=1s pipelines[0].stages[1].setup=1s",
                   scaling, placement);
    struct sim_scenario *scenario = test_scenario(two_to_one, sets);
    CHECK(scenario != NULL);
    if (scenario == NULL)
        return places;
    struct sim_run_summary *run = test_run(scenario, 0, &observer);
    CHECK_STR(run->outcome, "complete");
    CHECK_I64(run->items_done, 800);
    free(run);
    sim_scenario_destroy(scenario);
    return places;
}

/* Neither part gets lost on the way to a run: under every scaling policy it can be seen which
 * placement policy chose, under every placement policy which scaling policy counted. */
/* covers: S0.17 */
static void every_scaling_policy_runs_with_every_placement_policy(void)
{
    for (uint32_t s = 0; s < weir_scaling_count(); s++) {
        const char *const scaling = weir_scaling_at(s)->name;
        CHECK(run_pair(scaling, "first_fit").nodes != run_pair(scaling, "spread").nodes);
    }
    for (uint32_t p = 0; p < weir_placement_count(); p++) {
        const char *const placement = weir_placement_at(p)->name;
        struct places equal = { .nodes = 0 };
        struct places inverse = equal;
        for (uint32_t s = 0; s < weir_scaling_count(); s++) {
            const struct places places = run_pair(weir_scaling_at(s)->name, placement);
            if (strcmp(weir_scaling_at(s)->name, "equal_split") == 0)
                equal = places;
            if (strcmp(weir_scaling_at(s)->name, "inverse_speed") == 0)
                inverse = places;
        }
        CHECK_I64(equal.setups[0], equal.setups[1]);
        CHECK(inverse.setups[0] > equal.setups[0]);
    }
    CHECK(weir_scaling_count() >= 4 && weir_placement_count() >= 4);
}

/* The bonus for reused workers as the original grants it (to everybody) has no effect: in a steady
 * state workers are replaced by equal ones. Granted to the reused alone, nobody is replaced. */
/* covers: S0.42 */
static void the_reuse_bonus_ends_churn(void)
{
#define TEN "cluster.nodes[0].count=10 "
    struct sim_run_summary *inert =
        run_sets(NVDEC, TEN "sched.placement.reuse_bonus_applies=everyone");
    struct sim_run_summary *bonus =
        run_sets(NVDEC, TEN "sched.placement.reuse_bonus_applies=reused");
    CHECK(test_value(bonus, "worker.churn", "") < test_value(inert, "worker.churn", ""));
    CHECK_NEAR(test_value(bonus, "thr.pipeline", "") / test_value(inert, "thr.pipeline", ""), 1.0,
               0.02);
    free(inert);
    free(bonus);
}

/* The scheduler believes in 7 decoders a GPU, there are 5: what does not exist is refused by the
 * cluster, the run goes on, and no engine is given out twice. */
/* covers: S0.12 S0.26 */
static void phantom_decoders_are_refused_by_the_cluster(void)
{
    static const char text[] =
        "schema: 1\nname: phantom\nhorizon: 30 min\n"
        "catalog: {gpu_types: {a100-80: {nvdec: 7}}}\n"
        "truth: {gpu_types: {a100-80: {nvdec: 5}}}\n"
        "cluster: {nodes: [{name: n, cpus: 64, gpus: {a100-80: 1}}]}\n"
        "sched: {placement: first_fit, scaling: {policy: fixed, interval: 60 s}}\n"
        "pipelines:\n  - name: p\n    input: {items: 100000}\n    stages:\n"
        "      - {name: decode, cpus: 1, nvdecs: 1, workers: 7, service: 2}\n";
    struct sim_scenario *scenario = test_scenario(text, NULL);
    CHECK(scenario != NULL);
    if (scenario == NULL)
        return;
    struct sim_run_summary *run = test_run(scenario, 0, NULL);
    CHECK_STR(run->outcome, "horizon");
    CHECK_NEAR(test_value(run, "thr.pipeline", ""), 2.5, 0.05);
    free(run);
    sim_scenario_destroy(scenario);
}

/* A stage that asks for a quarter GPU and really takes one decoder: 8 such workers share 2 GPUs of
 * one decoder each, so they are four times slower than alone. */
static void use_beyond_the_request_slows_everybody_down(void)
{
    static const char text[] =
        "schema: 1\nname: hidden\nhorizon: 1 h\n"
        "catalog: {gpu_types: {small: {memory: 24 GB, nvdec: 1, nvenc: 0}}}\n"
        "cluster: {nodes: [{name: n, cpus: 64, gpus: {small: 2}}]}\n"
        "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1 h}}\n"
        "pipelines:\n  - name: p\n    input: {items: 100000}\n    stages:\n"
        "      - {name: decode, cpus: 1, gpus: 0.25, uses: {cpus: 1, nvdecs: 1}, workers: 8, "
        "service: 1}\n";
    struct sim_run_summary *run = run_sets(text, NULL);
    CHECK_NEAR(test_value(run, "thr.pipeline", ""), 2.0, 0.05);
    free(run);
}

/* A stage that makes ten of one says nothing about the pipeline that follows it in the file. */
static void pipelines_are_planned_apart(void)
{
    static const char text[] =
        "schema: 1\nname: two\nhorizon: 1 h\n"
        "cluster: {nodes: [{name: n, cpus: 64}]}\n"
        "sched: {placement: first_fit, scaling: {policy: pool_optimum, interval: 60 s}}\n"
        "pipelines:\n  - name: p\n    input: {items: 0, arrivals: const(10)}\n    stages:\n"
        "      - {name: a, cpus: 1, service: 1, returns: const(10), speed_hint: 1}\n"
        "      - {name: b, cpus: 1, service: 1, speed_hint: 1}\n"
        "  - name: q\n    input: {items: 0, arrivals: const(10)}\n    stages:\n"
        "      - {name: c, cpus: 1, service: 1, speed_hint: 1}\n";
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_world *world = NULL;
    struct sim_scenario *scenario = test_scenario(text, NULL);
    const struct sim_run_options options = { .seed = 1, .export_at_s = (double)NAN };
    CHECK(scenario != NULL);
    if (scenario == NULL || sim_world_create(scenario, &options, &world, &error) != WEIR_OK)
        return;
    CHECK_I64(sim_world_begin(world), WEIR_OK);
    CHECK_I64(sim_world_advance(world, sim_time_from_s(600)), WEIR_OK);
    /* 64 workers: 5.2 source items a second need 6 of a, 52 of b and 6 of c */
    CHECK_I64(test_stage(world, 0)->worker_count, 6);
    CHECK_I64(test_stage(world, 1)->worker_count, 52);
    CHECK_I64(test_stage(world, 2)->worker_count, 6);
    sim_world_destroy(world);
    sim_scenario_destroy(scenario);
}

/* Two slow-downs that overlap multiply, and the end of one leaves the other. */
static void overlapping_entries_compose(void)
{
    static const char text[] =
        "schema: 1\nname: overlap\nhorizon: 10 min\n"
        "cluster: {nodes: [{name: n, cpus: 4}]}\n"
        "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1 h}}\n"
        "pipelines:\n  - name: p\n    input: {items: 0, arrivals: const(1)}\n    stages:\n"
        "      - {name: a, cpus: 1, workers: 1, service: 0.1}\n"
        "timeline:\n  - {at: 60, for: 120, action: stage_slow, stage: a, factor: 2}\n"
        "  - {at: 120, for: 120, action: stage_slow, stage: a, factor: 3}\n"
        "  - {at: 300, for: 60, action: arrivals, pipeline: p, factor: 0}\n"
        "  - {at: 330, for: 120, action: arrivals, pipeline: p, factor: 0.5}\n";
    static const struct {
        double at_s, slow, rate;
    } expected[] = { { 30, 1, 1 },  { 90, 2, 1 },  { 150, 6, 1 },   { 200, 3, 1 }, { 250, 1, 1 },
                     { 310, 1, 0 }, { 340, 1, 0 }, { 400, 1, 0.5 }, { 500, 1, 1 } };
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_world *world = NULL;
    struct sim_scenario *scenario = test_scenario(text, NULL);
    const struct sim_run_options options = { .seed = 1, .export_at_s = (double)NAN };
    CHECK(scenario != NULL);
    if (scenario == NULL || sim_world_create(scenario, &options, &world, &error) != WEIR_OK)
        return;
    CHECK_I64(sim_world_begin(world), WEIR_OK);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        CHECK_I64(sim_world_advance(world, sim_time_from_s(expected[i].at_s)), WEIR_OK);
        CHECK_NEAR(test_stage(world, 0)->slow, expected[i].slow, 1e-12);
        CHECK_NEAR(test_stage(world, 0)->pipeline->arrival_factor, expected[i].rate, 1e-12);
    }
    sim_world_destroy(world);
    sim_scenario_destroy(scenario);
}

/* Workers of the initial state are set up already: a set-up that always fails does not touch them.
 */
static void initial_workers_need_no_setup(void)
{
    static const char text[] =
        "schema: 1\nname: initial\nhorizon: 10 min\n"
        "cluster: {nodes: [{name: n, cpus: 4}]}\n"
        "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1 h}}\n"
        "pipelines:\n  - name: p\n    input: {items: 100}\n    stages:\n"
        "      - {name: a, cpus: 1, workers: 2, service: 1, setup: 5, setup_failure: 0.999999}\n"
        "initial: {workers: [{stage: a, node: n, count: 2}]}\n";
    struct sim_run_summary *run = run_sets(text, NULL);
    CHECK_I64(run->items_done, 100);
    CHECK_NEAR(run->completion_s, 50.01, 1e-9); /* fed at the turn at 0, begun at the next */
    free(run);
}

static const struct test tests[] = {
    { "the reference runs are met", the_reference_runs_are_met },
    { "ten nodes balance better", ten_nodes_balance_better },
    { "encoders limit the four-stage example", encoders_limit_the_four_stage_example },
    { "equal split is an order of magnitude worse", equal_split_is_an_order_of_magnitude_worse },
    { "a step change is answered within two periods",
      a_step_change_is_answered_within_two_periods },
    { "workers follow the service times", workers_follow_the_service_times },
    { "a pinned stage keeps its count all the time", a_pinned_stage_keeps_its_count_all_the_time },
    { "every scaling policy runs with every placement policy",
      every_scaling_policy_runs_with_every_placement_policy },
    { "the reuse bonus ends churn", the_reuse_bonus_ends_churn },
    { "hints of speed spare the start-up", hints_of_speed_spare_the_start_up },
    { "phantom decoders are refused by the cluster", phantom_decoders_are_refused_by_the_cluster },
    { "use beyond the request slows everybody down", use_beyond_the_request_slows_everybody_down },
    { "initial workers need no set-up", initial_workers_need_no_setup },
    { "pipelines are planned apart", pipelines_are_planned_apart },
    { "overlapping entries compose", overlapping_entries_compose },
};
TEST_MAIN(tests)
