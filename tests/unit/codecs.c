/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Work on codec engines: frames against the published rates of one engine, sessions, their limits,
 * and what no engine can do.
 */
#include "sim/world/world.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void note_end(void *state, const struct sim_span *span)
{
    double *end_s = state;
    *end_s = fmax(*end_s, sim_time_s(span->end_ns));
}

static struct sim_scenario *load(const char *node, int items, const char *stage, const char *rest)
{
    char text[2000];
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: t\n"
                   "cluster: {nodes: [{name: n, cpus: 64, %s}]}\n"
                   "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1000 s}}\n"
                   "pipelines:\n  - name: p\n    semantics: event\n    backpressure: none\n"
                   "    input: {items: %d}\n    stages: [{name: a, cpus: 1, %s}]\n%s",
                   node, items, stage, rest);
    return test_scenario(text, NULL);
}

/* When all is done; -1 = it is refused. */
static double end_s(const char *node, int items, const char *stage, const char *rest)
{
    double ended_s = 0;
    struct sim_scenario *scenario = load(node, items, stage, rest);
    if (scenario == NULL)
        return -1;
    const struct sim_observer observer = { .span = note_end, .state = &ended_s };
    free(test_run(scenario, 0, &observer));
    sim_scenario_destroy(scenario);
    return ended_s;
}

/* Frames a second of one engine, 0 = refused. */
static double rate(const char *gpu, const char *engine, const char *work)
{
    char node[100];
    char stage[300];
    (void)snprintf(node, sizeof node, "gpus: {%s: 1}", gpu);
    (void)snprintf(stage, sizeof stage, "%s: 1, service: {%s, frames: 10000, attained: 1}}", engine,
                   work);
    const double taken_s = end_s(node, 1, stage, "");
    return taken_s > 0 ? 10000 / taken_s : 0;
}

/* The note's table at the published clock; GA100 and Hopper by theirs. */
static void each_generation_decodes_at_its_rate(void)
{
    static const struct {
        const char *gpu;
        double h264, hevc, hevc10, vp9, av1;
    } rows[] = {
        { "p100", 694, 810, 789, 846, 0 },
        { "a10", 748, 1415, 1299, 1075, 790 },
        { "l4", 903, 1641, 1520, 1290, 1018 },
        { "b200", 2172, 1872, 1818, 1445, 1119 },
        { "a100-80", 534.7, 912.7, 803.1, 646.4, 0 },
        { "h100", 640.4, 1093.1, 961.9, 774.2, 0 },
        { "t4", 616.8, 1052.8, 926.4, 745.6, 0 },
        { "a30", 534.7, 912.7, 803.1, 646.4, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *gpu = rows[i].gpu;
        CHECK_NEAR(rate(gpu, "nvdecs", "decode: {codec: h264"), rows[i].h264, .06);
        CHECK_NEAR(rate(gpu, "nvdecs", "decode: {codec: hevc"), rows[i].hevc, .06);
        CHECK_NEAR(rate(gpu, "nvdecs", "decode: {codec: hevc10"), rows[i].hevc10, .06);
        CHECK_NEAR(rate(gpu, "nvdecs", "decode: {codec: vp9"), rows[i].vp9, .06);
        CHECK_NEAR(rate(gpu, "nvdecs", "decode: {codec: av1"), rows[i].av1, .06);
    }
}

/* covers: S0.13 */
static void encoders_go_by_preset_and_exist_where_they_do(void)
{
    CHECK_NEAR(rate("l4", "nvencs", "encode: {codec: h264, preset: p1"), 910, .06);
    CHECK_NEAR(rate("l4", "nvencs", "encode: {codec: hevc"), 494, .06);
    CHECK_NEAR(rate("l40s", "nvencs", "encode: {codec: av1, preset: p7"), 343 * .9, .06);
    CHECK_NEAR(rate("a10", "nvencs", "encode: {codec: hevc, preset: p5"), 307, .06);
    CHECK_NEAR(rate("a10", "nvencs", "encode: {codec: av1"), 0, 0);
    CHECK_NEAR(rate("l4", "nvencs", "encode: {codec: vp9"), 0, 0);
    CHECK_NEAR(rate("h100", "nvencs", "encode: {codec: h264"), 0, 0);
    CHECK(load("gpus: {h100: 8}", 1, "nvencs: 1, service: 1 s", "") == NULL);
    CHECK(load("gpus: {a100-80: 8}", 1, "gpus: 0.5, nvencs: 1, service: 1 s", "") == NULL);
}

static void a_frame_costs_its_pixels(void)
{
    CHECK_NEAR(rate("h100", "nvdecs", "decode: {codec: h264, width: 3840, height: 2160"),
               771 * 1545.0 / 1860 / 4, .01);
    CHECK_NEAR(rate("h100", "nvdecs", "decode: {codec: h264, width: 640, height: 360"),
               771 * 1545.0 / 1860 * 9, .1);
}

#define H264(frames) "service: {decode: {codec: h264, frames: " frames ", attained: 1}}"

/* A program attains 65 % unless it says otherwise; what else a task does comes on top. */
static void an_engine_is_not_attained_in_full(void)
{
    CHECK_NEAR(end_s("gpus: {l4: 1}", 1,
                     "nvdecs: 1, service: {law: 2 s, decode: {codec: h264, frames: 903}}", ""),
               2 + 1 / .65, 1e-6);
}

/* More engines do nothing for one item; items of a task are sessions of their own. */
static void one_session_never_exceeds_one_engine(void)
{
    CHECK_NEAR(end_s("gpus: {l4: 1}", 1, "nvdecs: 4, " H264("903"), ""), 1, 1e-6);
    CHECK_NEAR(end_s("gpus: {l4: 1}", 4, "nvdecs: 4, batch: 4, " H264("903"), ""), 1, 1e-6);
    CHECK_NEAR(end_s("gpus: {l4: 1}", 6, "nvdecs: 4, batch: 6, " H264("903"), ""), 1.5, 1e-6);
    CHECK_NEAR(end_s("gpus: {l4: 1}", 3, "nvdecs: 1, batch: 3, " H264("903"), ""), 3, 1e-6);
}

/* Six sessions on the four engines of an L4 are all slower; three are not. */
static void sessions_share_the_engines(void)
{
    CHECK_NEAR(end_s("gpus: {l4: 1}", 6, "workers: 6, uses: {nvdecs: 1}, " H264("903"), ""), 1.5,
               1e-6);
    CHECK_NEAR(end_s("gpus: {l4: 1}", 3, "workers: 3, uses: {nvdecs: 1}, " H264("903"), ""), 1,
               1e-6);
    /* Who names no GPU goes where fewest are to work, also before anybody has begun. */
    CHECK_NEAR(end_s("gpus: {l4: 2}", 8, "workers: 8, uses: {nvdecs: 1}, " H264("903"), ""), 1,
               1e-6);
}

static void size_speed_and_borrowed_engines_count(void)
{
    CHECK_NEAR(end_s("gpus: {l4: 1}", 1, "nvdecs: 1, " H264("903"),
                     "truth: {gpu_types: {l4: {speed: 0.2}}}\n"),
               5, 1e-6);
    CHECK_NEAR(end_s("gpus: {mine: 1}", 1, "nvdecs: 1, " H264("903"),
                     "catalog: {gpu_types: {mine: {nvdec: 2, codecs: l40}}}\n"),
               1, 1e-6);
    CHECK(load("gpus: {mine: 1}", 1, "nvdecs: 1, " H264("903"),
               "catalog: {gpu_types: {mine: {nvdec: 2}}}\n") == NULL);
    CHECK(load("gpus: {l4: 1}", 1, H264("903"), "") == NULL);
}

/* An L4 is the only one of the two that knows AV1, also when it comes last. */
static void a_stage_keeps_to_gpus_that_know_its_codec(void)
{
    const char *av1 = "nvdecs: 1, workers: 2, service: {decode: {codec: av1, frames: 1018, "
                      "attained: 1}}";
    const char *spread = "nvdecs: 9, service: {decode: {codec: av1, frames: 1018}}";
    const char *hidden = "uses: {nvdecs: 1}, service: {decode: {codec: av1, frames: 1018}}";
    const char *both = "gpus: {h100: 4}}, {name: m, cpus: 64, gpus: {l4: 1}";
    CHECK_NEAR(end_s(both, 2, av1, ""), 1, 1e-6);
    CHECK(load("gpus: {h100: 4}", 2, spread, "") == NULL);
    CHECK(load(both, 2, hidden, "") == NULL);
    CHECK(load("", 2, hidden, "") == NULL);
}

/* Of two types in a cluster each takes its own time, whichever is the faster: seven decoders has
 * the H100 alone, and what is left for the second worker is the L4. */
static void each_of_two_types_takes_its_own_time(void)
{
    const char *both = "gpus: {h100: 1}}, {name: m, cpus: 64, gpus: {l4: 1}";
    const char *second = "  - name: q\n    semantics: event\n    backpressure: none\n"
                         "    input: {items: 1}\n    stages: [{name: b, cpus: 1, nvdecs: 4, "
                         "service: {decode: {codec: hevc, frames: 16410, attained: 1}}}]\n";
    CHECK_NEAR(end_s(both, 1, "nvdecs: 7, " H264("903"), ""), 903 / 640.4, 1e-3);
    CHECK_NEAR(end_s(both, 1, "nvdecs: 7, " H264("903"), second), 10, 1e-3);
}

/* What a task asks for is what it takes alone on the only type there is: all parts of it, whatever
 * they are. */
static void what_is_asked_for_is_what_it_takes_alone(void)
{
    static const char *const services[] = {
        "gpus: 1, service: {law: exp(2 s), base: 300 ms, per_item: 200 ms, per_size: 100 ms}",
        "nvdecs: 1, service: {base: 1 s, decode: {codec: hevc, frames: 700}}",
        "nvencs: 1, service: {law: exp(1 s), encode: {codec: av1, frames: 900}}",
        "gpus: 1, nvdecs: 2, nvencs: 1, batch: 3, service: {per_item: 1 s, class_factor: {large: "
        "2.5},\n"
        "        decode: {codec: h264, frames: 500}, encode: {codec: hevc, frames: 300}}",
    };
    for (size_t i = 0; i < sizeof services / sizeof services[0]; i++) {
        static const struct sim_run_options options = { .seed = 5 };
        struct weir_error error = { .phase = -1 };
        struct sim_world *world = NULL;
        char text[1200];
        (void)snprintf(
            text, sizeof text,
            "schema: 2\nname: t\ncluster: {nodes: [{name: n, cpus: 8, gpus: {l40s: 1}}]}\n"
            "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1 h}}\n"
            "pipelines:\n  - name: p\n    semantics: event\n    backpressure: none\n"
            "    input: {items: 20, classes: [{name: small, size: exp(2)}, {name: large, "
            "size: const(3)}]}\n"
            "    stages: [{name: a, workers: 1, %s}]\n",
            services[i]);
        struct sim_scenario *scenario = test_scenario(text, NULL);
        if (!CHECK(scenario != NULL))
            continue;
        CHECK_I64(sim_world_create(scenario, &options, &world, &error), WEIR_OK);
        CHECK_I64(sim_world_begin(world), WEIR_OK);
        CHECK_I64(sim_world_advance(world, scenario->horizon_ns), WEIR_OK);
        const struct sim_pipeline_run *run = test_stage(world, 0)->pipeline;
        CHECK_I64(run->finished, 20);
        CHECK_NEAR(sim_time_s(run->demand_ns), sim_time_s(run->completed_ns), 1e-7);
        sim_world_destroy(world);
        sim_scenario_destroy(scenario);
    }
}

/* covers: S0.13
 * Eight GeForce cards have 16 encoders, and the system as many sessions as the driver allows. */
static void encode_sessions_of_a_system_are_limited(void)
{
    const char *hevc = "nvencs: 1, workers: 16, service: {encode: {codec: hevc, frames: 494, "
                       "attained: 1}}";
    CHECK_NEAR(end_s("gpus: {rtx4090: 8}", 16, hevc, ""), 2, 1e-6);
    CHECK_NEAR(end_s("gpus: {rtx4090: 8}", 15, hevc,
                     "catalog: {gpu_types: {rtx4090: {nvenc_sessions: 3}}}\n"),
               5, 1e-6);
    CHECK_NEAR(end_s("gpus: {rtx4090: 8}", 16, hevc,
                     "catalog: {gpu_types: {rtx4090: {nvenc_sessions: 100}}}\n"),
               1, 1e-6);
    CHECK_NEAR(end_s("gpus: {rtx6000ada: 6}", 16, hevc, ""), 1, 1e-6);
}

static const struct test tests[] = {
    { "what is asked for is what it takes alone", what_is_asked_for_is_what_it_takes_alone },
    { "each generation decodes at its rate", each_generation_decodes_at_its_rate },
    { "encoders go by preset and exist where they do",
      encoders_go_by_preset_and_exist_where_they_do },
    { "a frame costs its pixels", a_frame_costs_its_pixels },
    { "an engine is not attained in full", an_engine_is_not_attained_in_full },
    { "one session never exceeds one engine", one_session_never_exceeds_one_engine },
    { "sessions share the engines", sessions_share_the_engines },
    { "size, speed and borrowed engines count", size_speed_and_borrowed_engines_count },
    { "a stage keeps to GPUs that know its codec", a_stage_keeps_to_gpus_that_know_its_codec },
    { "each of two types takes its own time", each_of_two_types_takes_its_own_time },
    { "encode sessions of a system are limited", encode_sessions_of_a_system_are_limited },
};
TEST_MAIN(tests)
