/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ways to execute a pipeline: streaming, stage by stage, one by one, serving. A turn of the loop is
 * 0.01 s, so that times agree with the sums by hand to a few turns.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPANS = 4096 };
static const double turns_s = 0.1; /* what a few turns of the loop may add */

struct trace {
    struct sim_span spans[SPANS];
    size_t count;
    uint64_t setups;
};

static void keep_span(void *state, const struct sim_span *span)
{
    struct trace *trace = state;
    if (trace->count < SPANS)
        trace->spans[trace->count++] = *span;
}

static void keep_setup(void *state, const struct sim_setup_span *setup)
{
    struct trace *trace = state;
    (void)setup;
    trace->setups++;
}

static struct sim_run_summary *run(const char *text, const char *sets, struct trace *trace)
{
    struct sim_scenario *scenario = test_scenario(text, sets);
    const struct sim_observer observer = { .span = keep_span, .setup = keep_setup, .state = trace };
    memset(trace, 0, sizeof(*trace));
    CHECK(scenario != NULL);
    struct sim_run_summary *summary =
        scenario == NULL ? test_summary() : test_run(scenario, 0, &observer);
    sim_scenario_destroy(scenario);
    return summary;
}

static double value(const struct sim_run_summary *summary, const char *metric)
{
    return test_value(summary, metric, "");
}

#define CAPTION2(items, extra)                                                                     \
    "schema: 1\nname: e\ncluster:\n  nodes:\n    - {name: n, cpus: 64, gpus: {a100-80: 8}}\n"      \
    "sched: {placement: fgd, scaling: {policy: xenna, interval: 180 s}}\n"                         \
    "pipelines:\n  - name: p\n    input: {items: " items "}\n" extra "    stages:\n"               \
    "      - {name: blip2, cpus: 1, gpus: 1, service: 0.5 s, setup: 20 s, bytes_out: 5 MB}\n"      \
    "      - {name: t5, cpus: 1, gpus: 1, service: 0.1 s, setup: 10 s}\n"

static const char by_stages[] = CAPTION2("800", "    execution: batch\n");

static const char by_stages_unbounded[] =
    CAPTION2("800", "    execution: batch\n    backpressure: none\n");

static int64_t edge(const struct trace *trace, uint32_t stage, bool is_last_end)
{
    int64_t found = is_last_end ? 0 : INT64_MAX;
    for (size_t i = 0; i < trace->count; i++) {
        const struct sim_span *span = &trace->spans[i];
        if (span->stage != stage)
            continue;
        if (is_last_end)
            found = span->end_ns > found ? span->end_ns : found;
        else
            found = span->start_ns < found ? span->start_ns : found;
    }
    return found;
}

/* covers: S2.5 S2.6 */
static void a_batch_stage_waits_for_all_of_the_stage_before(void)
{
    struct trace *trace = calloc(1, sizeof(*trace));
    struct sim_run_summary *summary = run(by_stages, NULL, trace);
    CHECK_I64(trace->count, 1600);
    CHECK(edge(trace, 1, false) >= edge(trace, 0, true));
    CHECK_I64(trace->setups, 16); /* 8 workers in each stage, without a count given */
    CHECK_NEAR(summary->completion_s, 800 * 0.6 / 8 + 30, turns_s);
    free(summary);
    struct sim_scenario *scenario = test_scenario(by_stages, NULL);
    CHECK_I64(scenario->knobs, 0);
    sim_scenario_destroy(scenario);
    free(trace);
}

#define HEAVY(extra)                                                                               \
    "schema: 1\nname: h\ncluster:\n  nodes:\n    - {name: n, cpus: 64, gpus: {a100-80: 8}}\n"      \
    "sched: {placement: fgd, scaling: {policy: xenna, interval: 180 s}}\n"                         \
    "pipelines:\n  - name: p\n    input: {items: 800}\n    execution: batch\n" extra               \
    "    stages:\n      - {name: decode, cpus: 7, workers: 4, service: 2 s}\n"                     \
    "      - {name: blip2, cpus: 1, gpus: 1, service: 1 s}\n"                                      \
    "      - {name: encode, cpus: 7, workers: 4, service: 2 s}\n"                                  \
    "      - {name: t5, cpus: 1, gpus: 1, service: 1 s}\n"

/* Four workers of seven CPUs take 400 s for a step, eight GPUs 100 s. In turn GPUs work for 200 of
 * 1000 s, the CPUs of the steps for 800. What the user overlaps is hidden: of decoding, a model and
 * encoding side by side only the longest is seen. */
/* covers: S2.9 S2.10 */
static void what_the_user_overlaps_hides_behind_heavy_steps(void)
{
    struct trace *trace = calloc(1, sizeof(*trace));
    struct sim_run_summary *batch = run(HEAVY(""), NULL, trace);
    CHECK_NEAR(batch->completion_s, 1000, turns_s);
    CHECK_NEAR(value(batch, "util.gpu.active"), 200.0 / 1000, 1e-3);
    CHECK_NEAR(value(batch, "util.cpu.active"), (800 * 28 + 200 * 8) / 64.0 / 1000, 1e-3);
    CHECK(edge(trace, 1, false) >= edge(trace, 0, true));
    free(batch);
    struct sim_run_summary *overlap = run(HEAVY("    user_overlap: true\n"), NULL, trace);
    /* the first item is encoded 3 s after it came, and a barrier is left before the second model */
    CHECK_NEAR(overlap->completion_s, 400 + 3 + 100, 2);
    CHECK(edge(trace, 1, false) < edge(trace, 0, true));
    CHECK(edge(trace, 2, false) < edge(trace, 1, true));
    CHECK(edge(trace, 3, false) >= edge(trace, 2, true));
    free(overlap);
    free(trace);
}

/* covers: S2.11 */
static void streaming_gives_its_first_output_at_once(void)
{
    struct trace *trace = calloc(1, sizeof(*trace));
    struct sim_run_summary *summary = run(by_stages, "pipelines.p.execution=streaming", trace);
    /* set-up of the first stage, both services, and three turns */
    const double first_s = 20.01 + 0.5 + 0.02 + 0.1;
    double end_s = (double)INFINITY;
    for (size_t i = 0; i < trace->count; i++)
        if (trace->spans[i].stage == 1)
            end_s = fmin(end_s, (double)trace->spans[i].end_ns / 1e9);
    CHECK_NEAR(end_s, first_s, 1e-9);
    free(summary);
    summary = run(by_stages, NULL, trace);
    CHECK_NEAR((double)edge(trace, 1, false) / 1e9, 20 + 50 + 10, turns_s);
    free(summary);
    free(trace);
}

/* covers: S2.7 S2.12 */
static void all_output_of_a_batch_stage_lies_between_the_stages(void)
{
    struct trace *trace = calloc(1, sizeof(*trace));
    struct sim_run_summary *batch = run(by_stages, NULL, trace);
    CHECK_NEAR(value(batch, "materialised.bytes"), 800 * 5e6, 1);
    struct sim_run_summary *streaming = run(by_stages, "pipelines.p.execution=streaming", trace);
    CHECK(value(streaming, "materialised.bytes") <= 0.1 * value(batch, "materialised.bytes"));
    /* Full at 640 items, up to a task for every worker more. */
    struct sim_run_summary *full = run(by_stages, "pipelines.p.store=3.2GB horizon=10min", trace);
    CHECK(value(full, "materialised.bytes") > 3.2e9);
    CHECK(value(full, "materialised.bytes") <= 3.2e9 + 8 * 5e6);
    CHECK_I64(full->items_done, 0);
    free(full);
    /* No horizon to wait for: the run is over and says so. */
    full = run(by_stages, "pipelines.p.store=3.2GB", trace);
    CHECK_STR(full->outcome, "ended early");
    CHECK(strstr(full->message, "the store is full") != NULL);
    free(full);
    free(streaming);
    free(batch);
    free(trace);
}

/* Back-pressure keeps what lies between the stages below 8 workers x 2 slots x 5 MB; without it the
 * slower second stage lets it grow. */
/* covers: S2.17 */
static void back_pressure_keeps_streaming_within_its_store(void)
{
    static const char sets[] = "pipelines.p.execution=streaming pipelines.p.store=80MB "
                               "pipelines.p.store_full=spill pipelines.p.stages.t5.service=2s";
    struct trace *trace = calloc(1, sizeof(*trace));
    struct sim_run_summary *bounded = run(by_stages, sets, trace);
    CHECK_NEAR(value(bounded, "store.spill_bytes"), 0, 0);
    CHECK(value(bounded, "materialised.bytes") > 0);
    free(bounded);
    struct sim_scenario *scenario = test_scenario(by_stages, sets);
    CHECK_I64(scenario->pipelines[0].store_bytes, 80000000);
    sim_scenario_destroy(scenario);
    struct sim_run_summary *unbounded = run(by_stages_unbounded, sets, trace);
    CHECK(value(unbounded, "store.spill_bytes") > 1e9);
    CHECK_I64(unbounded->items_done, 800);
    free(unbounded);
    free(trace);
}

/* 4 GB written and 4 GB read at 1 GB/s: 8 s, of which the set-up of t5 hides none. */
/* covers: S2.8 */
static void an_outer_store_takes_its_time(void)
{
    static const char none[] = "pipelines.p.stages.t5.setup=0";
    static const char outer[] = "pipelines.p.stages.t5.setup=0 pipelines.p.store_bandwidth=1GB";
    struct trace *trace = calloc(1, sizeof(*trace));
    struct sim_run_summary *inner = run(by_stages, none, trace);
    struct sim_run_summary *slow = run(by_stages, outer, trace);
    CHECK_NEAR(slow->completion_s - inner->completion_s, 8, turns_s);
    free(inner);
    free(slow);
    free(trace);
}

/* covers: S2.37 */
static void debugging_runs_one_task_at_a_time(void)
{
    struct trace *trace = calloc(1, sizeof(*trace));
    struct sim_run_summary *summary =
        run(by_stages,
            "pipelines.p.execution=batch_debug pipelines.p.input.items=100 "
            "pipelines.p.stages.t5.service=0.1234567s",
            trace);
    CHECK_I64(trace->count, 200);
    for (size_t i = 1; i < trace->count; i++)
        CHECK(trace->spans[i].start_ns >= trace->spans[i - 1].end_ns);
    CHECK_NEAR(summary->completion_s, 100 * 0.6234567 + 30, turns_s);
    free(summary);
    free(trace);
}

/* The last start of the first stage and the first one of the second. */
/* Of a pipeline of two stages, `first` and the next. */
static bool goes_stage_by_stage(const struct trace *trace, uint32_t first)
{
    return edge(trace, first, true) <= edge(trace, first + 1, false);
}

/* Two pipelines of one scenario, each as it says, or streaming when it says nothing.
 * covers: S2.23 */
static void every_pipeline_runs_in_its_own_mode(void)
{
    static const char text[] =
        "schema: 2\nname: e\ncluster:\n  nodes: [{name: n, cpus: 8}]\n"
        "sched: {placement: fgd, scaling: {policy: fixed, interval: 180 s}}\npipelines:\n"
        "  - {name: p, input: {items: 10}, stages: [{name: a, workers: 1, service: 1 s},"
        " {name: b, workers: 1, service: 1 s}]}\n"
        "  - {name: q, input: {items: 10}, stages: [{name: a, workers: 1, service: 1 s},"
        " {name: b, workers: 1, service: 1 s}]}\n";
    static const struct {
        const char *sets;
        bool is_batch[2];
    } cases[] = {
        { NULL, { false, false } },
        { "pipelines.p.execution=batch", { true, false } },
        { "pipelines.q.execution=batch", { false, true } },
        { "pipelines.p.execution=streaming pipelines.q.execution=batch", { false, true } },
        { "pipelines.p.execution=batch pipelines.q.execution=batch_debug", { true, true } },
    };
    struct trace *trace = calloc(1, sizeof(*trace));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct sim_run_summary *summary = run(text, cases[i].sets, trace);
        CHECK_I64(summary->items_done, 20);
        CHECK_I64(trace->count, 40);
        for (uint32_t p = 0; p < 2; p++)
            CHECK(goes_stage_by_stage(trace, 2 * p) == cases[i].is_batch[p]);
        free(summary);
    }
    free(trace);
}

/* covers: S2.24 */
static void auto_is_batch_on_one_machine_with_one_gpu(void)
{
    static const struct {
        const char *nodes, *execution;
        bool is_batch;
    } cases[] = { { "{name: n, cpus: 64, gpus: {a100-80: 1}}", "    execution: auto\n", true },
                  { "{name: n, cpus: 64, gpus: {a100-80: 1}}", "", true },
                  { "{name: n, cpus: 64, gpus: {a100-80: 1}}", "    execution: streaming\n",
                    false },
                  { "{name: n, cpus: 64, gpus: {a100-80: 2}}", "", false },
                  { "{name: n, cpus: 64, gpus: {a100-80: 1}}, {name: m, cpus: 64}", "", false },
                  { "{name: n, cpus: 64, gpus: {a100-80: 1}, count: 2}", "", false } };
    struct trace *trace = calloc(1, sizeof(*trace));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[640];
        (void)snprintf(text, sizeof text,
                       "schema: 1\nname: e\ncluster:\n  nodes: [%s]\n"
                       "sched: {placement: fgd, scaling: {policy: xenna, interval: 180 s}}\n"
                       "pipelines:\n  - name: p\n%s    input: {items: 10}\n    stages:\n"
                       "      - {name: a, cpus: 1, gpus: 0.5, service: 1 s}\n"
                       "      - {name: b, cpus: 1, gpus: 0.5, service: 1 s}\n",
                       cases[i].nodes, cases[i].execution);
        struct sim_run_summary *summary = run(text, NULL, trace);
        CHECK_I64(summary->items_done, 10);
        CHECK(goes_stage_by_stage(trace, 0) == cases[i].is_batch);
        free(summary);
    }
    free(trace);
}

/* 10 items in tasks of 4 are 4 + 4 + 2, whose 20 outputs are tasks of 8 + 8 + 4. */
static void a_batch_stage_cuts_its_input_anew(void)
{
    static const char text[] =
        "schema: 1\nname: e\ncluster:\n  nodes:\n    - {name: n, cpus: 8}\n"
        "sched: {placement: fgd, scaling: {policy: xenna, interval: 180 s}}\n"
        "pipelines:\n  - name: p\n    execution: batch\n    input: {items: 10}\n    stages:\n"
        "      - {name: a, cpus: 1, batch: 4, returns: 2, service: 1 s}\n"
        "      - {name: b, cpus: 1, batch: 8, service: 1 s}\n";
    struct trace *trace = calloc(1, sizeof(*trace));
    struct sim_run_summary *summary = run(text, NULL, trace);
    uint64_t tasks[2] = { 0, 0 };
    uint64_t short_ones[2] = { 0, 0 };
    for (size_t i = 0; i < trace->count; i++) {
        const struct sim_span *span = &trace->spans[i];
        tasks[span->stage] += span->place == 0;
        short_ones[span->stage] += span->place == 0 && span->batch == (span->stage == 0 ? 2 : 4);
    }
    CHECK_I64(tasks[0], 3);
    CHECK_I64(tasks[1], 3);
    CHECK_I64(short_ones[0], 1);
    CHECK_I64(short_ones[1], 1);
    CHECK_I64(summary->items_done, 20);
    free(summary);
    free(trace);
}

/* One turn a second: three requests that are there at once start a second apart. */
/* covers: S2.3 */
static void serving_takes_one_request_a_turn(void)
{
    static const char sets[] = "pipelines.p.execution=serving horizon=100s pipelines.p.loop_hz=1 "
                               "pipelines.p.input.items=3 pipelines.p.stages.blip2.setup=0";
    struct trace *trace = calloc(1, sizeof(*trace));
    struct sim_run_summary *summary = run(by_stages, sets, trace);
    CHECK_I64(trace->count, 6);
    CHECK_I64(trace->spans[0].start_ns, INT64_C(1000000000));
    int64_t starts = 0;
    for (size_t i = 0; i < trace->count; i++)
        starts += trace->spans[i].stage == 0 ? trace->spans[i].start_ns : 0;
    CHECK_I64(starts, INT64_C(6000000000)); /* 1 + 2 + 3 s */
    free(summary);
    free(trace);
}

/* 800 items of 5 MB lie between the stages, 1 GB of them in the store: each byte is spilled once.
 */
static void what_lies_beyond_the_store_is_spilled_once(void)
{
    struct trace *trace = calloc(1, sizeof(*trace));
    struct sim_run_summary *summary =
        run(by_stages, "pipelines.p.store=1GB pipelines.p.store_full=spill", trace);
    CHECK_NEAR(value(summary, "store.spill_bytes"), 3e9, 1);
    CHECK_I64(summary->items_done, 800);
    free(summary);
    free(trace);
}

static const struct test tests[] = {
    { "a batch stage waits for all of the stage before",
      a_batch_stage_waits_for_all_of_the_stage_before },
    { "what the user overlaps hides behind heavy steps",
      what_the_user_overlaps_hides_behind_heavy_steps },
    { "streaming gives its first output at once", streaming_gives_its_first_output_at_once },
    { "all output of a batch stage lies between the stages",
      all_output_of_a_batch_stage_lies_between_the_stages },
    { "back-pressure keeps streaming within its store",
      back_pressure_keeps_streaming_within_its_store },
    { "an outer store takes its time", an_outer_store_takes_its_time },
    { "debugging runs one task at a time", debugging_runs_one_task_at_a_time },
    { "every pipeline runs in its own mode", every_pipeline_runs_in_its_own_mode },
    { "auto is batch on one machine with one GPU", auto_is_batch_on_one_machine_with_one_gpu },
    { "a batch stage cuts its input anew", a_batch_stage_cuts_its_input_anew },
    { "serving takes one request a turn", serving_takes_one_request_a_turn },
    { "what lies beyond the store is spilled once", what_lies_beyond_the_store_is_spilled_once },
};
TEST_MAIN(tests)
