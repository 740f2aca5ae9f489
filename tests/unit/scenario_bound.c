/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Throughput bounds of known problems, and what would raise them. */
#include "sim/scenario/improve.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Of two GPUs one is tried, of one the half and the quarter. */
static void fewer_gpus_are_tried_of_each_stage(void)
{
    struct sim_scenario *scenario =
        load("reference/xenna_plain_n2.yaml", "pipelines.curation.stages.VilaCaptionStage.gpus=2");
    struct sim_changes changes = { .items = NULL };
    double gain = 0;
    if (scenario == NULL)
        return;
    CHECK_I64(sim_improve(scenario, 0, &changes), WEIR_OK);
    for (size_t i = 0; i < changes.count; i++)
        if (strcmp(changes.items[i].text, "VilaCaptionStage: gpus 2 -> 1") == 0)
            gain = changes.items[i].gain;
    CHECK(gain > 0.1);
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

/* Of the first pipeline; cleared by the caller. */
static struct sim_bound bound_of(const char *text)
{
    struct sim_scenario *scenario = test_scenario(text, NULL);
    struct sim_bound bound = { .workers = NULL };

    if (CHECK(scenario != NULL))
        CHECK_I64(sim_bound_compute(scenario, 0, &bound), WEIR_OK);
    sim_scenario_destroy(scenario);
    return bound;
}

/* 30 of 80 GB of GPU memory for a quarter of its compute: two workers of one item a second.
 * covers: S1.11 */
static void gpu_memory_bounds_a_pipeline(void)
{
    struct sim_bound bound = bound_of(
        "schema: 2\nname: b\ncluster: {nodes: [{name: n, cpus: 32, gpus: {h100: 1}}]}\n"
        "pipelines:\n  - name: p\n    input: {items: 10}\n    stages:\n"
        "      - {name: s, request: {cpus: 1, gpus: 0.25, gpu_memory: 30 GB}, service: 1 s}\n");

    CHECK_NEAR(bound.fluid_per_s, 80.0 / 30, 1e-9);
    CHECK_I64(bound.binding, SIM_BOUND_GPU_MEM);
    CHECK_NEAR(bound.integer_per_s, 2, 1e-9);
    CHECK(bound.workers != NULL && bound.workers[0] == 2);
    sim_bound_clear(&bound);
}

static void check_fluid(const char *text, double fluid_per_s)
{
    struct sim_bound bound = bound_of(text);

    if (!CHECK_NEAR(bound.fluid_per_s, fluid_per_s, 1e-9))
        (void)printf("%s\n", text);
    sim_bound_clear(&bound);
}

#define ON_CPUS(stage)                                                                             \
    "schema: 2\nname: b\ncluster: {nodes: [{name: n, cpus: 12}]}\n"                                \
    "pipelines:\n  - name: p\n    input: {items: 10}\n    stages: [{name: s, cpus: 1, " stage      \
    "}]\n"
#define ANOTHER(stages) "  - name: q\n    input: {items: 10}\n    stages: [" stages "]\n"

/* Twelve workers of one item a second. Half of the attempts fail: of two that may be made one and a
 * half are. */
static void attempts_are_work_as_far_as_they_are_made(void)
{
    check_fluid(ON_CPUS("service: 1 s"), 12);
    check_fluid(ON_CPUS("service: 1 s, process_failure: 50 %, max_attempts: 2"), 12 / 1.5);
    check_fluid(ON_CPUS("service: 1 s, process_failure: 50 %, max_attempts: 1"), 12);
}

/* Of another pipeline every stage has a worker at least, and as many as are fixed. */
static void other_pipelines_need_their_workers(void)
{
    check_fluid(ON_CPUS("service: 1 s") ANOTHER("{name: a, cpus: 2, service: 1 s}"), 10);
    check_fluid(ON_CPUS("service: 1 s") ANOTHER("{name: a, cpus: 2, workers: 3, service: 1 s}"), 6);
    check_fluid(ON_CPUS("service: 1 s") ANOTHER("{name: a, cpus: 2, workers: 3, service: 1 s}, "
                                                "{name: b, cpus: 1, service: 1 s}"),
                5);
}

/* A batch of 2 is as far from 1 as from 4: the row that is said first counts. */
static void of_equally_near_rows_the_first_counts(void)
{
    static const char *const tables[] = { "batch,size,seconds\n1,1,3\n4,1,8\n",
                                          "batch,size,seconds\n4,1,8\n1,1,3\n" };
    char text[1000];
    char folder[500];
    CHECK(getcwd(folder, sizeof folder) != NULL);
    (void)snprintf(text, sizeof text, ON_CPUS("batch: 2, service: {table: %s/bound_table.csv}"),
                   folder);
    for (int i = 0; i < 2; i++) {
        FILE *out = fopen("bound_table.csv", "w");
        CHECK(out != NULL && fputs(tables[i], out) >= 0 && fclose(out) == 0);
        check_fluid(text, 12 * 2 / (i == 0 ? 3.0 : 8.0));
    }
    CHECK_I64(remove("bound_table.csv"), 0);
}

/* One worker each, 4 s of work for an item of the source. What lies between two stages is written
 * at 2 GB/s and read: 3 GB, then twice 1 GB; what leaves the last one is not. The store limits
 * most.
 */
static void the_store_of_a_batch_takes_time(void)
{
    static const char text[] =
        "schema: 2\nname: b\ncluster: {nodes: [{name: n, cpus: 12, gpus: {h100: 1}}]}\n"
        "pipelines:\n  - name: p\n    semantics: runtime\n    execution: %s\n"
        "    input: {items: 10}\n    stages:\n"
        "      - {name: a, workers: 1, service: 1 s, bytes_out: 3 GB}\n"
        "      - {name: b, workers: 1, service: 1 s, returns: 2, bytes_out: 1 GB}\n"
        "      - {name: c, workers: 1, service: 1 s, bytes_out: 9 GB}\n";
    char given[1000];
    (void)snprintf(given, sizeof given, text, "batch\n    store_bandwidth: 2 GB");
    check_fluid(given, 1 / (1 + 1 + 2 + 2 * (3 + 2 * 1) / 2.0));
    struct sim_bound bound = bound_of(given);
    CHECK_NEAR(bound.integer_per_s, bound.fluid_per_s, 1e-9);
    CHECK_I64(bound.binding, SIM_BOUND_STORE);
    sim_bound_clear(&bound);
    (void)snprintf(given, sizeof given, text, "batch");
    check_fluid(given, 0.25);
}

/* Four replicas; an item takes 1 s, and a request counts for one or five, three on average. */
static void requests_of_several_items_are_as_much_work(void)
{
    check_fluid(
        "schema: 2\nname: b\ncluster: {nodes: [{name: n, cpus: 4}]}\n"
        "horizon: 1 h\nservices:\n  - name: s\n    replicas: 4\n    service: {per_item: 1 s}\n"
        "    batching: {max_batch: 8}\n    requests: {arrivals: const(1 ms), "
        "classes: [{name: x, items: 5}, {name: y}]}\n",
        4 / 3.0);
}

/* Twice as long on the GPU there is: half a task a second. */
static void a_factor_of_a_gpu_is_of_time(void)
{
    static const char text[] =
        "schema: 2\nname: b\ncluster: {nodes: [{name: n, cpus: 12, gpus: {h100: 1}}]}\n"
        "pipelines:\n  - name: p\n    input: {items: 10}\n    stages:\n"
        "      - {name: s, gpus: 1, service: {law: 1 s, gpu_factor: {h100: 2}}}\n";

    check_fluid(text, 0.5);
}

static const struct test tests[] = {
    { "the reference problem has its known optimum", the_reference_problem_has_its_known_optimum },
    { "the four-stage example is bound by its encoders",
      the_four_stage_example_is_bound_by_its_encoders },
    { "fewer gpus are tried of each stage", fewer_gpus_are_tried_of_each_stage },
    { "quarter GPUs for the small stages gain half", quarter_gpus_for_the_small_stages_gain_half },
    { "fixed workers and arrivals bound too", fixed_workers_and_arrivals_bound_too },
    { "the tighter of catalogue and truth counts", the_tighter_of_catalogue_and_truth_counts },
    { "GPU memory bounds a pipeline", gpu_memory_bounds_a_pipeline },
    { "attempts are work as far as they are made", attempts_are_work_as_far_as_they_are_made },
    { "other pipelines need their workers", other_pipelines_need_their_workers },
    { "of equally near rows the first counts", of_equally_near_rows_the_first_counts },
    { "a factor of a GPU is of time", a_factor_of_a_gpu_is_of_time },
    { "the store of a batch takes time", the_store_of_a_batch_takes_time },
    { "requests of several items are as much work", requests_of_several_items_are_as_much_work },
};
TEST_MAIN(tests)
