/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Throughput bounds of known problems, and what would raise them. */
#include "sim/scenario/improve.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct sim_scenario *load(const char *relative, const char *set)
{
    char *path = NULL;
    if (asprintf(&path, "%s/../scenarios/%s", test_data(""), relative) < 0)
        abort();
    const struct sim_scenario_source source = { .path = path,
                                                .sets = &set,
                                                .sets_count = set == NULL ? 0 : 1 };
    struct sim_diagnostics diagnostics = { .items = NULL };
    struct sim_scenario *scenario = NULL;
    if (sim_scenario_load(&source, &scenario, &diagnostics) != WEIR_OK)
        sim_diagnostics_print(&diagnostics, stdout);
    CHECK(scenario != NULL);
    sim_diagnostics_clear(&diagnostics);
    free(path);
    return scenario;
}

/* The counts and rates of the reference's pool optimum (whole workers, two and ten nodes). */
/* covers: S0.6 S0.38 */
static void the_reference_problem_has_its_known_optimum(void)
{
    static const uint32_t two[] = { 3, 31, 2, 16, 4, 1, 2, 1, 1, 3, 8, 6, 1, 3 };
    static const uint32_t ten[] = { 16, 197, 8, 103, 20, 1, 9, 5, 5, 16, 49, 39, 4, 16 };
    for (int run = 0; run < 2; run++) {
        struct sim_scenario *scenario =
            load("reference/xenna_nvdec_n2.yaml", run == 0 ? NULL : "cluster.nodes[0].count=10");
        struct sim_bound bound = { .workers = NULL };
        if (scenario == NULL)
            return;
        CHECK_I64(sim_bound_compute(scenario, 0, &bound), WEIR_OK);
        CHECK_NEAR(bound.integer_per_s, run == 0 ? 6 / 7.7 : 39 / 7.7, 1e-9);
        CHECK_I64(bound.binding, SIM_BOUND_GPU);
        for (size_t i = 0; i < bound.stages_count && i < 14; i++)
            CHECK_I64(bound.workers[i], run == 0 ? two[i] : ten[i]);
        sim_bound_clear(&bound);
        sim_scenario_destroy(scenario);
    }
}

/* covers: S0.2 */
static void the_four_stage_example_is_bound_by_its_encoders(void)
{
    struct sim_scenario *scenario = load("examples/video4.yaml", NULL);
    struct sim_bound bound = { .workers = NULL };
    if (scenario == NULL)
        return;
    CHECK_I64(sim_bound_compute(scenario, 0, &bound), WEIR_OK);
    CHECK_NEAR(bound.limit_per_s[SIM_BOUND_NVDEC], 12, 1e-9);
    CHECK_NEAR(bound.limit_per_s[SIM_BOUND_NVENC], 8, 1e-9);
    CHECK_NEAR(bound.limit_per_s[SIM_BOUND_GPU], 16, 1e-9);
    CHECK_NEAR(bound.limit_per_s[SIM_BOUND_CPU], 64 / 6.5, 1e-9);
    CHECK(!isfinite(bound.limit_per_s[SIM_BOUND_RAM]));
    CHECK_NEAR(bound.fluid_per_s, 8, 1e-9);
    CHECK_NEAR(bound.integer_per_s, 8, 1e-9);
    CHECK_I64(bound.binding, SIM_BOUND_NVENC);
    sim_bound_clear(&bound);
    sim_scenario_destroy(scenario);
}

/* covers: S2.16 */
static void quarter_gpus_for_the_small_stages_gain_half(void)
{
    struct sim_scenario *scenario = load("reference/xenna_plain_n2.yaml", NULL);
    struct sim_changes changes = { .items = NULL };
    if (scenario == NULL)
        return;
    CHECK_I64(sim_improve(scenario, 0, &changes), WEIR_OK);
    bool is_found = false;
    for (size_t i = 0; i < changes.count; i++) {
        CHECK(i == 0 || changes.items[i].gain <= changes.items[i - 1].gain + 1e-9);
        if (strstr(changes.items[i].text, "each") == NULL)
            continue;
        is_found = true;
        CHECK_NEAR(changes.items[i].gain, 0.5, 1e-6);
        CHECK_STR(changes.items[i].text,
                  "AestheticFilteringStage, T5Stage, InternVideo2EmbeddingStage, "
                  "WaterMarkDetectionStage: gpus 1 -> 0.25 each");
    }
    CHECK(is_found);
    sim_changes_clear(&changes);
    sim_scenario_destroy(scenario);
}

static void fixed_workers_and_arrivals_bound_too(void)
{
    struct sim_scenario *scenario = load("queueing/mmc.yaml", NULL);
    struct sim_bound bound = { .workers = NULL };
    if (scenario == NULL)
        return;
    CHECK_I64(sim_bound_compute(scenario, 0, &bound), WEIR_OK);
    CHECK_NEAR(bound.fluid_per_s, 3.2, 1e-9);
    CHECK_I64(bound.binding, SIM_BOUND_ARRIVALS);
    CHECK_I64(bound.workers[0], 4);
    sim_bound_clear(&bound);
    sim_scenario_destroy(scenario);
    scenario = load("queueing/mmc.yaml", "pipelines.queue.input.arrivals=exp(0.1 s)");
    if (scenario == NULL)
        return;
    CHECK_I64(sim_bound_compute(scenario, 0, &bound), WEIR_OK);
    CHECK_NEAR(bound.fluid_per_s, 4, 1e-9);
    CHECK_NEAR(bound.integer_per_s, 4, 1e-9);
    CHECK_I64(bound.binding, SIM_BOUND_FIXED);
    sim_bound_clear(&bound);
    sim_scenario_destroy(scenario);
}

/* The scheduler may believe in seven decoders; with five the truth is the bound. */
static void the_tighter_of_catalogue_and_truth_counts(void)
{
    struct sim_scenario *scenario =
        load("examples/video4.yaml", "truth.gpu_types={l40s: {nvenc: 1}}");
    struct sim_bound bound = { .workers = NULL };
    if (scenario == NULL)
        return;
    CHECK_I64(sim_bound_compute(scenario, 0, &bound), WEIR_OK);
    CHECK_NEAR(bound.fluid_per_s, 8.0 / 3, 1e-9);
    sim_bound_clear(&bound);
    sim_scenario_destroy(scenario);
}

/* 30 of 80 GB of GPU memory for a quarter of its compute: two workers of one item a second.
 * covers: S1.11 */
static void gpu_memory_bounds_a_pipeline(void)
{
    static const char *const text =
        "schema: 2\nname: b\ncluster: {nodes: [{name: n, cpus: 32, gpus: {h100: 1}}]}\n"
        "pipelines:\n  - name: p\n    input: {items: 10}\n    stages:\n"
        "      - {name: s, request: {cpus: 1, gpus: 0.25, gpu_memory: 30 GB}, service: 1 s}\n";
    struct sim_scenario *scenario = test_scenario(text, NULL);
    struct sim_bound bound = { .workers = NULL };

    CHECK(scenario != NULL);
    if (scenario == NULL)
        return;
    CHECK_I64(sim_bound_compute(scenario, 0, &bound), WEIR_OK);
    CHECK_NEAR(bound.fluid_per_s, 80.0 / 30, 1e-9);
    CHECK_I64(bound.binding, SIM_BOUND_GPU_MEM);
    CHECK_NEAR(bound.integer_per_s, 2, 1e-9);
    CHECK_I64(bound.workers[0], 2);
    sim_bound_clear(&bound);
    sim_scenario_destroy(scenario);
}

static const struct test tests[] = {
    { "the reference problem has its known optimum", the_reference_problem_has_its_known_optimum },
    { "the four-stage example is bound by its encoders",
      the_four_stage_example_is_bound_by_its_encoders },
    { "quarter GPUs for the small stages gain half", quarter_gpus_for_the_small_stages_gain_half },
    { "fixed workers and arrivals bound too", fixed_workers_and_arrivals_bound_too },
    { "the tighter of catalogue and truth counts", the_tighter_of_catalogue_and_truth_counts },
    { "GPU memory bounds a pipeline", gpu_memory_bounds_a_pipeline },
};
TEST_MAIN(tests)
