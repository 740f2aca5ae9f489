/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Work on shared devices, by hand: when tasks end whose GPU, CPUs or engines others want too, and
 * what the meter says was used meanwhile. Invariants hold at every event.
 */
#include "sim/engine/activity.h"
#include "sim/engine/time.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SPANS = 64 };

struct ends {
    double start_s[SPANS], end_s[SPANS];
    size_t count;
};

static void add_span(void *state, const struct sim_span *span)
{
    struct ends *ends = state;
    if (ends->count == SPANS)
        return;
    ends->start_s[ends->count] = sim_time_s(span->start_ns);
    ends->end_s[ends->count++] = sim_time_s(span->end_ns);
}

/* `node` of 16 CPUs with one H100 and what else is said; `stages` and `rest` as in a file. */
static struct sim_run_summary *run(const char *node, const char *stages, const char *rest,
                                   struct ends *ends)
{
    char text[2000];
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\nhorizon: 1000 s\n"
                   "catalog: {node_types: {m: {cpus: 16, gpus: {l40s: 1}}}}\n"
                   "cluster: {nodes: [{name: n, type: m%s}]}\n"
                   "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1000 s}}\n"
                   "pipelines:\n%s%s",
                   node, stages, rest);
    *ends = (struct ends){ .count = 0 };
    const struct sim_observer observer = { .span = add_span, .state = ends };
    return test_watch_text(text, &observer);
}

#define PIPELINE(name, items, stage)                                                               \
    "  - name: " name "\n    semantics: event\n    backpressure: none\n"                           \
    "    input: {items: " items "}\n    stages:\n      - {" stage "}\n"

/* So many workers on one GPU that want all of it each: so many times as long, to the nanosecond,
 * and the GPU is used as much as there is of it. */
static void a_gpu_gives_what_it_has(void)
{
    for (int workers = 2; workers <= 20; workers++) {
        struct ends ends;
        char stages[400];
        (void)snprintf(stages, sizeof(stages),
                       PIPELINE("p", "%d",
                                "name: a, cpus: 0.5, gpus: 0.05, uses: {gpus: 1}, workers: %d, "
                                "service: 10 s"),
                       workers, workers);
        struct sim_run_summary *summary = run("", stages, "", &ends);
        CHECK_I64(ends.count, workers);
        for (size_t i = 0; i < ends.count; i++)
            CHECK_NEAR(ends.end_s[i], 10.0 * workers, 0);
        CHECK_NEAR(test_value(summary, "util.gpu.active", ""), 1, 1e-9);
        free(summary);
    }
}

/* The one that is there first is alone for half of its work; then both have half of the GPU, until
 * it is done, and the other is alone for the rest: 5 + 10, then 5 of 10 are left. */
static void a_neighbour_slows_down_from_when_it_comes(void)
{
    struct ends ends;
    free(run("",
             PIPELINE("p", "1",
                      "name: a, cpus: 1, gpus: 0.5, uses: {gpus: 1}, workers: 1, "
                      "service: 10 s")
                 PIPELINE("q", "1",
                          "name: b, cpus: 1, gpus: 0.5, uses: {gpus: 1}, workers: 1, "
                          "setup: 5 s, service: 10 s"),
             "", &ends));
    CHECK_I64(ends.count, 2);
    CHECK_NEAR(ends.end_s[0], 15, 0);
    CHECK_NEAR(ends.start_s[1], 5, 0);
    CHECK_NEAR(ends.end_s[1], 20, 0);
}

/* As the start finds it, to the end: 10 s, and 10 s at half the speed. */
static void the_old_rule_keeps_what_the_start_found(void)
{
    struct ends ends;
    free(run("",
             PIPELINE("p", "1",
                      "name: a, cpus: 1, gpus: 0.5, uses: {gpus: 1}, workers: 1, "
                      "service: 10 s")
                 PIPELINE("q", "1",
                          "name: b, cpus: 1, gpus: 0.5, uses: {gpus: 1}, workers: 1, "
                          "setup: 5 s, service: 10 s"),
             "contention: at_start\n", &ends));
    CHECK_I64(ends.count, 2);
    CHECK_NEAR(ends.end_s[0], 10, 0);
    CHECK_NEAR(ends.end_s[1], 25, 0);
}

/* 12 + 8 CPUs wanted, 16 there: each at 0.8, until the first is done after 12.5 s; then the other
 * is alone. */
static void cpus_are_shared_in_proportion(void)
{
    struct ends ends;
    free(run("",
             PIPELINE("p", "1", "name: a, cpus: 1, uses: {cpus: 12}, workers: 1, service: 10 s")
                 PIPELINE("q", "1", "name: b, cpus: 1, uses: {cpus: 8}, workers: 1, service: 20 s"),
             "", &ends));
    CHECK_I64(ends.count, 2);
    CHECK_NEAR(ends.end_s[0], 12.5, 1e-9);
    CHECK_NEAR(ends.end_s[1], 22.5, 1e-9);
}

/* Held up by the CPUs at half its speed, it leaves half of the GPU to the other. */
static void who_is_held_up_elsewhere_leaves_room(void)
{
    struct ends ends;
    free(run("",
             PIPELINE("p", "1",
                      "name: a, cpus: 1, gpus: 0.5, uses: {cpus: 32, gpus: 0.8}, "
                      "workers: 1, service: 10 s")
                 PIPELINE("q", "1",
                          "name: b, cpus: 0, gpus: 0.5, uses: {cpus: 0, gpus: 0.6}, "
                          "workers: 1, service: 10 s"),
             "", &ends));
    CHECK_I64(ends.count, 2);
    CHECK_NEAR(ends.end_s[0], 10 / (16.0 / 32), 1e-6); /* 0.4 + 0.3 of the GPU */
    CHECK_NEAR(ends.end_s[1], 10 / (16.0 / 32), 1e-6); /* the CPUs of its node, too */
}

/* When 10 s of work end of which each asks for so many of 16 CPUs, and gets up to `most` of them,
 * by weighted max-min: the law of activities. */
static double max_min_end_s(const double *asks, const double *most, uint32_t which)
{
    const double cpu_qpns = 0x1p32;
    struct sim_engine *engine = sim_engine_create();
    struct sim_activities *activities = sim_activities_create(engine, 1);
    sim_handle handles[2] = { SIM_NO_HANDLE };
    uint32_t cpus = 0;
    CHECK_I64(sim_resource_add(activities, SIM_SHARE_WEIGHTS, (uint64_t)(16 * cpu_qpns), &cpus),
              WEIR_OK);
    for (uint32_t i = 0; i < 2; i++) {
        const struct sim_activity_spec spec = {
            .work = sim_work_of_ns(10 * SIM_NS_PER_S, (uint64_t)(asks[i] * cpu_qpns)),
            .cap_qpns = (uint64_t)(most[i] * cpu_qpns),
            .weight = (uint32_t)asks[i],
            .resources = 1,
            .resource = { cpus },
        };
        CHECK_I64(sim_activity_start(activities, &spec, &handles[i], NULL), WEIR_OK);
    }
    CHECK_I64(sim_activities_settle(activities), WEIR_OK);
    const double end_s = sim_time_s(sim_activity_end_ns(activities, handles[which]));
    sim_activities_destroy(activities);
    sim_engine_destroy(engine);
    return end_s;
}

/* What docs/model.md says is not modelled, and how much it makes. Two share a GPU, so the first
 * needs half of the 16 CPUs that it asks for. CPUs are given in proportion to what is asked for, 24
 * of 16: the other, who wants 8, takes 1.5 times as long, though 8 are left. */
static void what_is_left_of_cpus_goes_to_nobody(void)
{
    static const double asks[] = { 16, 8 };
    static const double most[] = { 8, 8 };
    struct ends ends;
    free(run(
        "",
        PIPELINE("p", "1",
                 "name: a, cpus: 1, gpus: 0.5, uses: {cpus: 16, gpus: 1}, workers: 1, "
                 "service: 10 s")
            PIPELINE("q", "1",
                     "name: b, cpus: 1, gpus: 0.5, uses: {cpus: 0, gpus: 1}, workers: 1, "
                     "service: 10 s")
                PIPELINE("r", "1", "name: c, cpus: 1, uses: {cpus: 8}, workers: 1, service: 10 s"),
        "", &ends));
    CHECK_I64(ends.count, 3);
    CHECK_NEAR(ends.end_s[0], 15, 1e-6); /* the one on CPUs alone */
    CHECK_NEAR(max_min_end_s(asks, most, 1), 10, 1e-6);
    CHECK_NEAR(ends.end_s[1], 20, 1e-6);
    CHECK_NEAR(ends.end_s[2], 20, 1e-6);
    CHECK_NEAR(max_min_end_s(asks, most, 0), 20, 1e-6);
}

/* Half speed from 4 s to 12 s: 4 + 4 are done at 12 s. */
static void a_slow_node_slows_down_what_runs(void)
{
    struct ends ends;
    free(run("",
             PIPELINE("p", "2",
                      "name: a, cpus: 1, gpus: 0.5, uses: {gpus: 1}, workers: 1, "
                      "service: 10 s"),
             "timeline:\n  - {at: 4 s, for: 8 s, action: node_slow, node: n, factor: 2}\n", &ends));
    CHECK_I64(ends.count, 2);
    CHECK_NEAR(ends.end_s[0], 14, 0);
    CHECK_NEAR(ends.end_s[1], 24, 0);
}

/* Two that want all of a GPU whose node is half as fast have a quarter of it each. */
static void who_shares_a_slow_node_shares_what_is_left(void)
{
    struct ends ends;
    free(run("",
             PIPELINE("p", "2",
                      "name: a, cpus: 1, gpus: 0.5, uses: {gpus: 1}, workers: 2, "
                      "service: 10 s"),
             "timeline:\n  - {at: 0 s, for: 90 s, action: node_slow, node: n, factor: 2}\n",
             &ends));
    CHECK_I64(ends.count, 2);
    CHECK_NEAR(ends.end_s[0], 40, 1e-6);
    CHECK_NEAR(ends.end_s[1], 40, 1e-6);
}

/* What runs while its stage is stalled stands still. */
static void a_stall_is_time_without_work(void)
{
    struct ends ends;
    free(run("",
             PIPELINE("p", "2",
                      "name: a, cpus: 1, gpus: 0.5, uses: {gpus: 1}, workers: 1, "
                      "service: 10 s"),
             "timeline:\n  - {at: 4 s, for: 3 s, action: stage_stall, stage: a}\n"
             "  - {at: 5 s, for: 7 s, action: stage_stall, stage: a}\n",
             &ends));
    CHECK_I64(ends.count, 2);
    CHECK_NEAR(ends.end_s[0], 18, 0); /* 4 s, then from 12 s on */
    CHECK_NEAR(ends.end_s[1], 28, 0);
}

/* Two in turns, 100 ms each and 5 ms for a switch: 0.476 of the speed for both. */
static void turns_of_tasks_pay_their_switches(void)
{
    struct ends ends;
    free(run(", share: timeslice, timeslice: {quantum: 100 ms, switch: 5 ms}",
             PIPELINE("p", "2", "name: a, cpus: 1, gpus: 0.5, workers: 2, service: 200 s"), "",
             &ends));
    CHECK_I64(ends.count, 2);
    CHECK_NEAR(ends.end_s[0], 420, 0);
    CHECK_NEAR(ends.end_s[1], 420, 0);
}

/* Under MPS nobody has more than he asked for, and everybody pays while he is not alone. 40 % of
 * the GPU: 10 s take 10.5 beside each other; who wants 80 % takes twice as long. Beside work of 10
 * s half of the time, from 5 s on: 5 + 5 x 1.05, then 5 of 10 are left. */
static void clients_of_mps_keep_to_their_part(void)
{
    static const struct {
        const char *stage, *arrivals;
        double first_s, last_s;
    } cases[] = {
        { "gpus: 0.4, workers: 2", "items: 2", 10.5, 10.5 },
        { "gpus: 0.4, workers: 1", "items: 1", 10, 10 },
        { "gpus: 0.4, uses: {gpus: 0.8}, workers: 1", "items: 1", 20, 20 },
        { "gpus: 0.4, uses: {gpus: 0.8}, workers: 2", "items: 2", 21, 21 },
        { "gpus: 0.4, workers: 2", "items: 2, arrivals: const(5 s)", 5 + 10.25, 5 + 15.25 },
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct ends ends;
        char pipeline[400];
        (void)snprintf(
            pipeline, sizeof pipeline,
            "  - name: p\n    semantics: event\n    backpressure: none\n"
            "    input: {%s}\n    stages:\n      - {name: a, cpus: 1, %s, service: 10 s}\n",
            cases[c].arrivals, cases[c].stage);
        struct sim_run_summary *summary = run(", share: mps", pipeline, "", &ends);
        CHECK(ends.count > 0);
        CHECK_NEAR(ends.end_s[0], cases[c].first_s, 1e-6);
        CHECK_NEAR(ends.end_s[ends.count - 1], cases[c].last_s, 1e-6);
        CHECK_NEAR(test_value(summary, "invariant.violations", ""), 0, 0);
        free(summary);
    }
    struct ends ends;
    free(run(", share: mps, mps_overhead: 1.5",
             PIPELINE("p", "2", "name: a, cpus: 1, gpus: 0.4, workers: 2, service: 10 s"), "",
             &ends));
    CHECK_NEAR(ends.end_s[0], 15, 1e-6);
}

/* Two that each want all three encoders, of which they told nobody: everybody gets half of them,
 * and the decoder of each waits half of the time. */
static void engines_are_used_as_much_as_their_task_gets_on(void)
{
    struct ends ends;
    struct sim_run_summary *summary =
        run("",
            PIPELINE("p", "2",
                     "name: a, cpus: 1, gpus: 0.5, uses: {nvdecs: 1, nvencs: 3}, workers: 2, "
                     "service: 500 s"),
            "", &ends);
    CHECK_I64(ends.count, 2);
    CHECK_NEAR(ends.end_s[0], 1000, 1e-6);
    CHECK_NEAR(test_value(summary, "util.nvdec.active", ""), 1.0 / 3, 1e-9);
    CHECK_NEAR(test_value(summary, "util.nvenc.active", ""), 1, 1e-9);
    free(summary);
}

static const struct test tests[] = {
    { "clients of MPS keep to their part", clients_of_mps_keep_to_their_part },
    { "a GPU gives what it has", a_gpu_gives_what_it_has },
    { "a neighbour slows down from when it comes", a_neighbour_slows_down_from_when_it_comes },
    { "the old rule keeps what the start found", the_old_rule_keeps_what_the_start_found },
    { "CPUs are shared in proportion", cpus_are_shared_in_proportion },
    { "who is held up elsewhere leaves room", who_is_held_up_elsewhere_leaves_room },
    { "what is left of CPUs goes to nobody", what_is_left_of_cpus_goes_to_nobody },
    { "a slow node slows down what runs", a_slow_node_slows_down_what_runs },
    { "who shares a slow node shares what is left", who_shares_a_slow_node_shares_what_is_left },
    { "a stall is time without work", a_stall_is_time_without_work },
    { "turns of tasks pay their switches", turns_of_tasks_pay_their_switches },
    { "engines are used as much as their task gets on",
      engines_are_used_as_much_as_their_task_gets_on },
};
TEST_MAIN(tests)
