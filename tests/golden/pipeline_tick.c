/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tick semantics against the original simulator: completion times, workers after every rescale,
 * completions per stage and, for three tiny problems, every state change.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static json_t *load(const char *name)
{
    json_error_t error;
    json_t *root = json_load_file(test_data(name), 0, &error);
    if (root == NULL)
        printf("%s:%d: %s\n", name, error.line, error.text);
    return root;
}

/* ---- whole runs ---- */

struct whole {
    const char *file, *scenario, *sets;
};

/* Workers after the rescale at t, compared right after the decision was applied. */
static void compare_rescales(struct sim_world *world, json_t *golden, const char *file)
{
    json_t *rescale = NULL;
    size_t index = 0;
    int wrong = 0;
    json_array_foreach(json_object_get(golden, "rescales"), index, rescale)
    {
        const double t_s = json_number_value(json_object_get(rescale, "t"));
        if (sim_world_advance(world, sim_time_from_s(t_s)) != WEIR_OK)
            break;
        json_t *workers = json_object_get(rescale, "workers");
        json_t *completed = json_object_get(rescale, "completed");
        for (size_t s = 0; s < world->scenario->stages_total; s++) {
            wrong += test_stage(world, s)->worker_count !=
                     (uint32_t)json_integer_value(json_array_get(workers, s));
            wrong += test_stage(world, s)->tasks_done !=
                     (uint64_t)json_integer_value(json_array_get(completed, s));
        }
    }
    if (wrong != 0)
        printf("%s: %d differences in rescales\n", file, wrong);
    CHECK_I64(wrong, 0);
}

static void compare_whole(const struct whole *run)
{
    json_t *golden = load(run->file);
    struct sim_scenario *scenario = test_scenario(run->scenario, run->sets);
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct sim_world *world = NULL;
    CHECK(golden != NULL && scenario != NULL);
    if (golden == NULL || scenario == NULL)
        return;
    const struct sim_run_options options = { .seed = 1, .export_at_s = (double)NAN };
    CHECK_I64(sim_world_create(scenario, &options, &world, &error), WEIR_OK);
    CHECK_I64(sim_world_begin(world), WEIR_OK);
    compare_rescales(world, golden, run->file);
    CHECK_I64(sim_world_advance(world, SIM_TIME_MAX), WEIR_OK);
    const double completion_s = json_number_value(json_object_get(golden, "completion_time_s"));
    CHECK_NEAR(sim_time_s(sim_world_end_ns(world)), completion_s, 1e-6);
    for (size_t s = 0; s < scenario->stages_total; s++) {
        json_t *stage = json_array_get(json_object_get(golden, "stages"), s);
        CHECK_I64(test_stage(world, s)->tasks_done,
                  json_integer_value(json_object_get(stage, "completed")));
        CHECK_I64(test_stage(world, s)->worker_count,
                  json_integer_value(json_object_get(stage, "final_workers")));
    }
    sim_world_destroy(world);
    sim_scenario_destroy(scenario);
    json_decref(golden);
}

#define TICK "pipelines[0].semantics=tick pipelines[0].tick=0.1s "
/* The original's arithmetic with it, in which the last bit of a sum decides between equal choices.
 */
#define LITERAL                                                                                    \
    TICK "pipelines[0].tick_rounding=truncate sched.placement=fgd_p "                              \
         "sched.scaling.arithmetic=reference sched.scaling.on_shortage=fail "

/* covers: S0.1 S0.38 S0.43 S1.40 */
static void whole_runs_agree_to_the_digit(void)
{
    static const struct whole runs[] = {
        { "golden/pipeline/plain_n2_dt0.1.json", "scenarios/reference/xenna_plain_n2.yaml",
          TICK "pipelines[0].tick_rounding=truncate" },
        { "golden/pipeline/plain_n2_dt0.1_exact.json", "scenarios/reference/xenna_plain_n2.yaml",
          TICK "pipelines[0].tick_rounding=nearest" },
        { "golden/pipeline/nvdec_n2_dt0.1.json", "scenarios/reference/xenna_nvdec_n2.yaml",
          TICK "pipelines[0].tick_rounding=truncate" },
        { "golden/pipeline/nvdec_n2_dt0.1_exact.json", "scenarios/reference/xenna_nvdec_n2.yaml",
          TICK "pipelines[0].tick_rounding=nearest" },
        { "golden/pipeline/plain_n2_dt0.1_200tasks.json", "scenarios/reference/xenna_plain_n2.yaml",
          TICK "pipelines[0].tick_rounding=truncate pipelines[0].input.items=200" },
        { "golden/pipeline/nvdec_n2_dt0.1_200tasks.json", "scenarios/reference/xenna_nvdec_n2.yaml",
          TICK "pipelines[0].tick_rounding=truncate pipelines[0].input.items=200" },
        { "golden/pipeline/plain_n2_dt0.1.json", "scenarios/reference/xenna_plain_n2.yaml",
          LITERAL },
        { "golden/pipeline/nvdec_n2_dt0.1.json", "scenarios/reference/xenna_nvdec_n2.yaml",
          LITERAL },
        { "golden/pipeline/plain_n10_dt0.1.json", "scenarios/reference/xenna_plain_n2.yaml",
          LITERAL "cluster.nodes[0].count=10" },
        { "golden/pipeline/nvdec_n10_dt0.1.json", "scenarios/reference/xenna_nvdec_n2.yaml",
          LITERAL "cluster.nodes[0].count=10" },
    };
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
        compare_whole(&runs[i]);
}

/* ---- tiny problems, every state change ---- */

static char *micro_scenario(const json_t *trace)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    size_t index = 0;
    json_t *stage = NULL;
    (void)fprintf(out,
                  "schema: 1\nname: micro\ncluster:\n  nodes:\n"
                  "    - {name: n, cpus: 16, gpus: {l40: 2}}\n"
                  "sched:\n  placement: fgd\n  scaling: {policy: xenna, interval: %g s}\n"
                  "pipelines:\n  - name: p\n    semantics: tick\n    tick: 0.1 s\n"
                  "    input: {items: %lld}\n    stages:\n",
                  json_number_value(json_object_get(trace, "rescale_interval_s")),
                  (long long)json_integer_value(json_object_get(trace, "tasks")));
    json_array_foreach(json_object_get(trace, "stages"), index, stage)
    {
        const json_t *pool = json_object_get(stage, "pool");
        const json_t *fixed = json_object_get(stage, "requested_workers");
        (void)fprintf(out,
                      "      - {name: %s, cpus: %g, gpus: %g, nvdecs: %lld, service: const(%g), "
                      "setup: const(%g)",
                      json_string_value(json_object_get(stage, "name")),
                      json_number_value(json_object_get(pool, "cpu")),
                      json_number_value(json_object_get(pool, "gpu")),
                      (long long)json_integer_value(json_object_get(pool, "nvdecs")),
                      json_number_value(json_object_get(stage, "process_s")),
                      json_number_value(json_object_get(stage, "setup_s")));
        if (!json_is_null(fixed))
            (void)fprintf(out, ", workers: %lld", (long long)json_integer_value(fixed));
        (void)fputs("}\n", out);
    }
    return fclose(out) == 0 ? text : NULL;
}

static int vector_differs(const json_t *vector, size_t stage, uint64_t value)
{
    return (uint64_t)json_integer_value(json_array_get(vector, stage)) != value ? 1 : 0;
}

static int state_differs(const struct sim_world *world, const json_t *change)
{
    const struct sim_pipeline_run *run = test_stage(world, 0)->pipeline;
    const uint64_t left = run->source_left + run->stages[0].queue.count;
    int wrong = (uint64_t)json_integer_value(json_array_get(change, 1)) != left ? 1 : 0;
    for (uint32_t s = 0; s < run->stage_count; s++) {
        const struct sim_stage_run *stage = &run->stages[s];
        const uint64_t output = s + 1 < run->stage_count ? stage[1].queue.count : 0;
        wrong += vector_differs(json_array_get(change, 2), s, stage->worker_count);
        wrong += vector_differs(json_array_get(change, 3), s, stage->count[SIM_WORKER_SETUP]);
        wrong += vector_differs(json_array_get(change, 4), s, stage->count[SIM_WORKER_BUSY]);
        wrong += vector_differs(json_array_get(change, 5), s, output);
        wrong += vector_differs(json_array_get(change, 6), s, stage->tasks_done);
        wrong += vector_differs(json_array_get(change, 7), s, stage->slots);
    }
    return wrong;
}

static void compare_changes(struct sim_world *world, const json_t *trace)
{
    size_t index = 0;
    json_t *change = NULL;
    json_array_foreach(json_object_get(trace, "changes"), index, change)
    {
        /* The state at the start of step t is the state after everything at step t - 1. */
        const int64_t tick = json_integer_value(json_array_get(change, 0));
        if (tick > 0)
            CHECK_I64(sim_world_advance(world, (tick - 1) * 100000000), WEIR_OK);
        const int wrong = tick == 0 ? 0 : state_differs(world, change);
        if (wrong != 0)
            printf("%s: step %lld: %d values differ\n",
                   json_string_value(json_object_get(trace, "name")), (long long)tick, wrong);
        CHECK_I64(wrong, 0);
    }
}

static void tiny_problems_agree_at_every_step(void)
{
    json_t *traces = load("golden/pipeline/micro_traces.json");
    size_t index = 0;
    json_t *trace = NULL;
    CHECK(json_array_size(traces) == 3);
    json_array_foreach(traces, index, trace)
    {
        char *text = micro_scenario(trace);
        struct sim_scenario *scenario = test_scenario(text, NULL);
        struct weir_error error = { .phase = -1, .pool = -1 };
        struct sim_world *world = NULL;
        const struct sim_run_options options = { .seed = 1, .export_at_s = (double)NAN };
        CHECK(scenario != NULL);
        if (scenario == NULL)
            continue;
        CHECK_I64(sim_world_create(scenario, &options, &world, &error), WEIR_OK);
        CHECK_I64(sim_world_begin(world), WEIR_OK);
        compare_changes(world, trace);
        CHECK_I64(sim_world_advance(world, SIM_TIME_MAX), WEIR_OK);
        CHECK_NEAR(sim_time_s(sim_world_end_ns(world)),
                   json_number_value(json_object_get(trace, "completion_time_s")), 1e-6);
        sim_world_destroy(world);
        sim_scenario_destroy(scenario);
        free(text);
    }
    json_decref(traces);
}

static const struct test tests[] = {
    { "whole runs of the original are met to the digit", whole_runs_agree_to_the_digit },
    { "tiny problems agree at every step", tiny_problems_agree_at_every_step },
};
TEST_MAIN(tests)
