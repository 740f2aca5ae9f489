/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Turns on a GPU count all who run on it, whoever owns them: jobs of several workloads, and jobs
 * beside a stage. With turns of 100 ms and switches of 1 ms two of them take 2.02 times as long.
 */
#include "tests/support/check.h"
#include "tests/support/draws.h"
#include "tests/support/runs.h"

#include "sim/engine/activity.h"
#include "sim/record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ONE_GPU                                                                                    \
    "schema: 2\nname: t\n"                                                                         \
    "cluster: {nodes: [{name: n, cpus: 8, gpus: {h100: 1}, share: timeslice,"                      \
    " timeslice: {quantum: 100 ms, switch: 1 ms}}]}\n"
#define LONG_JOB                                                                                   \
    "jobs:\n"                                                                                      \
    "  - {name: long, classes: [{name: a, count: 1, run_time: 100 s, request: {gpus: 0.5}}]}\n"

enum { WORKLOADS = 2 };

static const int64_t S = 1000000000;

struct ends {
    double at_s[WORKLOADS]; /* of the first job of each */
};

static void take_job(void *state, const struct sim_job_row *row)
{
    struct ends *ends = state;
    if (row->job == 0 && row->workload < WORKLOADS)
        ends->at_s[row->workload] = (double)row->end_ns / 1e9;
}

static struct ends run(const char *text)
{
    struct ends ends = { { 0 } };
    const struct sim_observer observer = { .state = &ends, .job = take_job };
    struct sim_run_summary *summary = test_watch_text(text, &observer);
    CHECK_STR(summary->outcome, "complete");
    free(summary);
    return ends;
}

/* The task runs from 20 to 40.2 s; meanwhile the job does 10 s of its work. */
static void a_job_takes_turns_with_a_stage(void)
{
    const struct ends ends =
        run(ONE_GPU LONG_JOB "pipelines:\n"
                             "  - name: p\n"
                             "    semantics: event\n"
                             "    input: {items: 1}\n"
                             "    stages: [{name: s, gpus: 0.5, workers: 1, setup: 20 s,"
                             " service: 10 s}]\n");
    CHECK_NEAR(ends.at_s[0], 110.2, 1e-6);
}

/* The second one runs from 50 to 70.2 s. covers: S1.66 */
static void jobs_of_two_workloads_take_turns(void)
{
    const struct ends ends =
        run(ONE_GPU LONG_JOB "  - {name: short, classes: [{name: b, count: 1, at: 50 s,"
                             " run_time: 10 s, request: {gpus: 0.5}}]}\n");
    CHECK_NEAR(ends.at_s[0], 110.2, 1e-6);
    CHECK_NEAR(ends.at_s[1], 70.2, 1e-6);
}

/* With 40 of 80 GB resident and 8 ms for all of them a turn of 100 ms costs 105: from 50 s on both
 * take 2.1 times as long, which is 0.476 of their speed alone. covers: S1.66 */
static void memory_that_is_resident_makes_a_switch_longer(void)
{
    const struct ends ends = run(
        "schema: 2\nname: t\n"
        "catalog: {gpu_types: {h100: {memory: 80 GB}}}\n"
        "cluster: {nodes: [{name: n, cpus: 8, gpus: {h100: 1}, share: timeslice,"
        " timeslice: {quantum: 100 ms, switch: 1 ms, switch_memory: 8 ms}}]}\n"
        "jobs:\n"
        "  - {name: long, classes: [{name: a, count: 1, run_time: 100 s, request: {gpus: 0.5}}]}\n"
        "  - {name: short, classes: [{name: b, count: 1, at: 50 s, run_time: 10 s,"
        " request: {gpus: 0.5, gpu_memory: 40 GB}}]}\n");
    CHECK_NEAR(ends.at_s[1], 71, 1e-6);
    CHECK_NEAR(ends.at_s[0], 111, 1e-6);
}

/* Two jobs of 1000 s, each with its part of 80 GB resident, under any quantum and any switch: both
 * take 2 (q + c) / q times as long, c = switch + switch_memory x part, to two millionths of a turn.
 * covers: S1.66, S1.68 */
static void a_switch_costs_by_any_part_of_the_memory(void)
{
    struct draws draws = draws_seeded(66);
    for (int round = 0; round < 40; round++) {
        const uint64_t quantum_us = 1000 + draws_below(&draws, 200000);
        const uint64_t switch_us = draws_below(&draws, 20000);
        const uint64_t memory_us = draws_below(&draws, 20000);
        const uint64_t tenths_gb = draws_below(&draws, 400);
        char text[1024];
        snprintf(text, sizeof text,
                 "schema: 2\nname: t\n"
                 "catalog: {gpu_types: {h100: {memory: 80 GB}}}\n"
                 "cluster: {nodes: [{name: n, cpus: 8, gpus: {h100: 1}, share: timeslice,"
                 " timeslice: {quantum: %llu us, switch: %llu us, switch_memory: %llu us}}]}\n"
                 "jobs:\n"
                 "  - {name: both, classes: [{name: a, count: 2, run_time: 1000 s,"
                 " request: {gpus: 0.5, gpu_memory: %llu.%llu GB}}]}\n",
                 (unsigned long long)quantum_us, (unsigned long long)switch_us,
                 (unsigned long long)memory_us, (unsigned long long)tenths_gb / 10,
                 (unsigned long long)tenths_gb % 10);
        const double part = 2.0 * (double)tenths_gb / 800;
        const double switch_costs = (double)switch_us + part * (double)memory_us;
        const double exact_s = 2000 * (1 + switch_costs / (double)quantum_us);
        CHECK_NEAR(run(text).at_s[0], exact_s, exact_s * 2e-6);
    }
}

/* Of a GPU whose memory nobody knows none is resident: a switch is 1 ms. */
static void unknown_memory_makes_no_switch_longer(void)
{
    const struct ends ends = run(
        "schema: 2\nname: t\n"
        "catalog: {gpu_types: {mine: {speed: 1}}}\n"
        "cluster: {nodes: [{name: n, cpus: 8, gpus: {mine: 1}, share: timeslice,"
        " timeslice: {quantum: 100 ms, switch: 1 ms, switch_memory: 8 ms}}]}\n"
        "jobs:\n"
        "  - {name: long, classes: [{name: a, count: 1, run_time: 100 s, request: {gpus: 0.5}}]}\n"
        "  - {name: short, classes: [{name: b, count: 1, at: 50 s, run_time: 10 s,"
        " request: {gpus: 0.5}}]}\n");
    CHECK_NEAR(ends.at_s[1], 70.2, 1e-6);
    CHECK_NEAR(ends.at_s[0], 110.2, 1e-6);
}

/* Its GPU runs at half the speed that the catalogue says. */
static void a_job_runs_by_the_true_speed(void)
{
    const struct ends ends = run(ONE_GPU "truth: {gpu_types: {h100: {speed: 0.5}}}\n" LONG_JOB);
    CHECK_NEAR(ends.at_s[0], 200, 1e-6);
}

/* A switch becomes dearer while two take turns, and cheaper while one is alone: who leaves takes
 * out of the sums what he counts for now. */
static void a_switch_may_change_while_turns_are_taken(void)
{
    struct sim_engine *engine = sim_engine_create();
    struct sim_activities *activities = sim_activities_create(engine, 1);
    sim_handle handles[2];
    uint32_t index = 0;
    CHECK_I64(sim_resource_add(activities, SIM_SHARE_TURNS, SIM_DEVICE_QPNS, &index), WEIR_OK);
    const struct sim_activity_spec spec = { .work = sim_work_of_ns(1000 * S, SIM_DEVICE_QPNS),
                                            .cap_qpns = SIM_UNCAPPED,
                                            .weight = 100,
                                            .turn_cost = 10,
                                            .resources = 1 };
    for (uint32_t i = 0; i < 2; i++)
        CHECK_I64(sim_activity_start(activities, &spec, &handles[i], NULL), WEIR_OK);
    CHECK_I64(sim_activities_settle(activities), WEIR_OK);
    CHECK_I64(sim_activity_end_ns(activities, handles[0]), 2200 * S);
    CHECK_I64(sim_resource_set_turn_cost(activities, 0, 25), WEIR_OK);
    CHECK_I64(sim_activities_settle(activities), WEIR_OK);
    CHECK_I64(sim_activity_end_ns(activities, handles[0]), 2500 * S);
    CHECK(sim_activity_stop(activities, handles[1], NULL));
    CHECK_I64(sim_activities_settle(activities), WEIR_OK);
    CHECK_I64(sim_activities_check(activities, NULL), WEIR_OK);
    CHECK_I64(sim_activity_end_ns(activities, handles[0]), 1000 * S);
    CHECK_I64(sim_resource_set_turn_cost(activities, 0, 5), WEIR_OK);
    CHECK(sim_activity_stop(activities, handles[0], NULL));
    CHECK_I64(sim_activities_check(activities, NULL), WEIR_OK);
    sim_activities_destroy(activities);
    sim_engine_destroy(engine);
}

static const struct test tests[] = {
    { "a switch may change while turns are taken", a_switch_may_change_while_turns_are_taken },
    { "a job takes turns with a stage", a_job_takes_turns_with_a_stage },
    { "jobs of two workloads take turns", jobs_of_two_workloads_take_turns },
    { "memory that is resident makes a switch longer",
      memory_that_is_resident_makes_a_switch_longer },
    { "a switch costs by any part of the memory", a_switch_costs_by_any_part_of_the_memory },
    { "unknown memory makes no switch longer", unknown_memory_makes_no_switch_longer },
    { "a job runs by the true speed of its GPU", a_job_runs_by_the_true_speed },
};
TEST_MAIN(tests)
