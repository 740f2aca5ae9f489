/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How fast devices are: one stage, one job on each GPU type and on each instance, against ratios
 * that stand here.
 */
#include "sim/scenario/catalog/catalog_gpus.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void note_longest(void *state, const struct sim_span *span)
{
    double *longest_s = state;
    *longest_s = fmax(*longest_s, sim_time_s(span->end_ns - span->start_ns));
}

/* How long a task of 1000 s takes at most; `node` and `stage` in flow style. */
static double task_s(const char *node, const char *stage, const char *rest)
{
    char text[2000];
    double taken_s = -1;
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\n"
                   "cluster: {nodes: [{name: n, cpus: 16, %s}]}\n"
                   "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1000 s}}\n"
                   "pipelines:\n  - name: p\n    semantics: event\n    input: {items: 7}\n"
                   "    stages: [{name: a, service: 1000 s, %s}]\n%s",
                   node, stage, rest);
    const struct sim_observer observer = { .span = note_longest, .state = &taken_s };
    free(test_watch_text(text, &observer));
    return taken_s;
}

/* The table of hardware.md: dense, memory-bound, decode; A100-80 SXM = 1. */
static const struct {
    const char *gpu;
    double speed[3];
} speeds[] = {
    { "t4", { .16, .16, .288 } },     { "p100", { .12, .36, .36 } },
    { "v100m16", { .39, .44, .44 } }, { "a10", { .36, .29, .522 } },
    { "l4", { .25, .15, .27 } },      { "a100-80", { 1, 1, 1 } },
    { "h100", { 2.4, 1.64, 1.64 } },  { "h200", { 2.5, 2.35, 2.35 } },
    { "b200", { 4.3, 3.9, 3.9 } },
};
enum { SPEEDS = sizeof speeds / sizeof speeds[0] };

static void each_gpu_type_takes_its_time_by_kind_of_work(void)
{
    static const char *const works[] = { "dense", "memory_bound", "decode" };
    for (size_t i = 0; i < SPEEDS; i++)
        for (size_t w = 0; w < 3; w++) {
            char node[100];
            char stage[100];
            (void)snprintf(node, sizeof node, "gpus: {%s: 1}", speeds[i].gpu);
            (void)snprintf(stage, sizeof stage, "gpus: 1, measured_on: a100-80, work: %s",
                           works[w]);
            CHECK_NEAR(task_s(node, stage, ""), 1000 / speeds[i].speed[w], 1e-6);
        }
}

/* 1000 s on an H100, elsewhere by the ratio, not by the speed. */
static void another_origin_changes_the_ratio(void)
{
    CHECK_NEAR(task_s("gpus: {t4: 1}", "gpus: 1, measured_on: h100", ""), 1000 * 2.4 / .16, 1e-6);
    CHECK_NEAR(task_s("gpus: {h100: 1}", "gpus: 1", "measured_on: b200\n"), 1000 * 4.3 / 2.4, 1e-6);
    CHECK_NEAR(task_s("gpus: {h100: 1}", "gpus: 1, measured_on: h100", "measured_on: b200\n"), 1000,
               0);
}

static void one_type_alone_is_where_it_was_measured(void)
{
    CHECK_NEAR(task_s("gpus: {t4: 1}", "gpus: 1", ""), 1000, 0);
    CHECK_NEAR(task_s("gpus: {g1: 1}", "gpus: 1", ""), 1000, 0);
}

/* A speed or factor that the scenario gives replaces the built-in one. */
static void the_scenario_has_the_last_word(void)
{
    CHECK_NEAR(task_s("gpus: {h100: 1}", "gpus: 1, measured_on: a100-80",
                      "catalog: {gpu_types: {h100: {speed: 2}}}\n"),
               500, 0);
    CHECK_NEAR(task_s("gpus: {h100: 1}", "gpus: 1, measured_on: a100-80",
                      "catalog: {gpu_types: {h100: {speed: 6}, a100-80: {speed: 2}}}\n"),
               1000.0 / 3, 1e-6);
    CHECK_NEAR(task_s("gpus: {h100: 1}", "gpus: 1", "truth: {gpu_types: {h100: {speed: 0.5}}}\n"),
               2000, 0);
    CHECK_NEAR(task_s("gpus: {h100: 1}", "gpus: 1, measured_on: h100",
                      "truth: {gpu_types: {h100: {speed: 0.5}}}\n"),
               2000, 0);
}

static void work_without_gpu_compute_knows_no_speed(void)
{
    CHECK_NEAR(task_s("gpus: {h100: 1}", "cpus: 1", "measured_on: t4\n"), 1000, 0);
    CHECK_NEAR(task_s("gpus: {h100: 1}", "nvdecs: 1", "measured_on: t4\n"), 1000, 0);
    CHECK(test_scenario("schema: 2\nname: t\ncluster: {nodes: [{name: n, cpus: 1}]}\n"
                        "pipelines: [{name: p, input: {items: 1}, stages: "
                        "[{name: a, service: 1 s, work: decode}]}]\n",
                        NULL) == NULL);
}

/* covers: S1.70 S1.72 */
static void an_instance_works_by_its_share_of_the_gpu(void)
{
    static const struct {
        const char *gpu, *profile;
        double sms, all, slots, all_slots;
    } cases[] = {
        { "h100", "1g.10gb", 16, 132, 1, 8 },    { "h100", "1g.20gb", 16, 132, 2, 8 },
        { "h100", "3g.40gb", 48, 132, 4, 8 },    { "h100", "7g.80gb", 112, 132, 8, 8 },
        { "a100-80", "2g.20gb", 28, 108, 2, 8 }, { "a100-80", "7g.80gb", 98, 108, 8, 8 },
        { "b200", "4g.90gb", 72, 148, 4, 8 },    { "a30", "1/2", 28, 56, 2, 4 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char node[100];
        char stage[100];
        (void)snprintf(node, sizeof node, "gpus: {%s: 1}, share: mig", cases[i].gpu);
        (void)snprintf(stage, sizeof stage, "mig: %s", cases[i].profile);
        CHECK_NEAR(task_s(node, stage, ""), 1000 * cases[i].all / cases[i].sms, 1e-6);
        (void)snprintf(stage, sizeof stage, "mig: %s, work: memory_bound", cases[i].profile);
        CHECK_NEAR(task_s(node, stage, ""), 1000 * cases[i].all_slots / cases[i].slots, 1e-6);
    }
}

static void an_instance_may_be_where_it_was_measured(void)
{
    const char *cut = "gpus: {h100: 1}, share: mig";
    CHECK_NEAR(task_s(cut, "mig: 1g, measured_on: h100/1g.10gb", ""), 1000, 1e-6);
    CHECK_NEAR(task_s(cut, "mig: 3g, measured_on: h100/1g", ""), 1000.0 / 3, 1e-6);
    CHECK_NEAR(task_s(cut, "mig: 1g, measured_on: a100-80/7g", ""),
               1000 * (98.0 / 108) / 2.4 / (16.0 / 132), 1e-6);
    CHECK_NEAR(task_s("gpus: {h100: 1}", "gpus: 1, measured_on: h100/1g", ""), 1000 * 16.0 / 132,
               1e-6);
}

/* What it uses is said: it is slower by that over its SMs, once. */
static void a_stated_use_is_not_scaled_again(void)
{
    CHECK_NEAR(task_s("gpus: {h100: 1}, share: mig", "mig: 1g, uses: {gpus: 0.5}", ""),
               1000 * .5 / (16.0 / 132), 1e-6);
    CHECK_NEAR(task_s("gpus: {h100: 1}, share: mig", "mig: 7g, uses: {gpus: 0.5}", ""), 1000, 1e-6);
}

/* Seven 1g on one GPU take as long as one. */
static void instances_do_not_disturb_each_other(void)
{
    CHECK_NEAR(task_s("gpus: {h100: 1}, share: mig", "mig: 1g, workers: 7", ""), 1000 * 132.0 / 16,
               1e-6);
}

/* ---- jobs ---- */

struct job_end {
    char label[64];
    double run_s;
};
struct job_ends {
    struct job_end items[100];
    size_t count;
};

static double run_of(const struct job_ends *ends, size_t index)
{
    return index < ends->count ? ends->items[index].run_s : -1;
}

static void add_job(void *state, const struct sim_job_row *row)
{
    struct job_ends *ends = state;
    if (ends->count == sizeof ends->items / sizeof ends->items[0])
        return;
    struct job_end *end = &ends->items[ends->count++];
    (void)snprintf(end->label, sizeof end->label, "%s", row->name);
    end->run_s = sim_time_s(row->end_ns - row->start_ns);
}

/* The next call overwrites what it gives. */
static const struct job_ends *run_jobs(const char *text, const char *sets)
{
    static struct job_ends ends;
    ends.count = 0;
    struct sim_scenario *scenario = test_scenario(text, sets);
    if (!CHECK(scenario != NULL))
        return &ends;
    const struct sim_observer observer = { .job = add_job, .state = &ends };
    free(test_run(scenario, 0, &observer));
    sim_scenario_destroy(scenario);
    return &ends;
}

static const char fleet[] = "schema: 2\nname: t\n"
                            "cluster: {nodes: [{name: a, cpus: 4, gpus: {a100-80: 1}}, "
                            "{name: h, cpus: 4, gpus: {h100: 1}}]}\n"
                            "sched: {placement: first_fit}\n"
                            "jobs:\n  - name: w\n    run_time: 240 s\n    classes:\n"
                            "      - {name: j, count: 2, request: {gpus: 1}}\n";

/* The first type of the cluster is where it was measured; one that must run on the second was
 * measured there. */
static void jobs_of_a_class_go_by_the_type_they_get(void)
{
    const struct job_ends *ends = run_jobs(fleet, NULL);
    CHECK_I64(ends->count, 2);
    CHECK_NEAR(run_of(ends, 0), 100, 1e-6);
    CHECK_NEAR(run_of(ends, 1), 240, 1e-6);
    ends = run_jobs(fleet, "jobs[0].classes.j.work=memory_bound");
    CHECK_NEAR(run_of(ends, 0), 240 / 1.64, 1e-6);
    ends = run_jobs(fleet, "jobs[0].classes.j.gpu_types=[h100]");
    CHECK_NEAR(run_of(ends, 0), 240, 1e-6);
    ends = run_jobs(fleet, "jobs[0].classes.j.gpu_types=[h100] jobs[0].measured_on=b200");
    CHECK_NEAR(run_of(ends, 0), 240 * 4.3 / 2.4, 1e-6);
}

/* A gang is as fast as its slowest member. */
static void a_gang_on_two_types_goes_by_the_slower(void)
{
    const struct job_ends *ends =
        run_jobs(fleet, "jobs[0].classes.j.members=2 jobs[0].classes.j.count=1");
    CHECK_I64(ends->count, 1);
    CHECK_NEAR(run_of(ends, 0), 240, 1e-6);
}

/* The run time is that of the job on the instance it asks for, unless it says where it was
 * measured. */
static void a_job_on_an_instance_takes_its_run_time(void)
{
    static const char text[] =
        "schema: 2\nname: t\n"
        "cluster: {nodes: [{name: a, cpus: 4, gpus: {h100: 1}, share: mig}]}\n"
        "sched: {placement: first_fit}\n"
        "jobs:\n  - name: w\n    run_time: 160 s\n    classes:\n"
        "      - {name: j, count: 1, request: {mig: 1g}}\n";
    const struct job_ends *ends = run_jobs(text, NULL);
    CHECK_NEAR(run_of(ends, 0), 160, 1e-6);
    ends = run_jobs(text, "measured_on=h100");
    CHECK_NEAR(run_of(ends, 0), 160 * 132.0 / 16, 1e-6);
    ends = run_jobs(text, "jobs[0].classes.j.request.mig=2g measured_on=h100/1g");
    CHECK_NEAR(run_of(ends, 0), 80, 1e-6);
}

static double run_of_name(const struct job_ends *ends, const char *name)
{
    for (size_t i = 0; i < ends->count; i++)
        if (strcmp(ends->items[i].label, name) == 0)
            return ends->items[i].run_s;
    return -1;
}

/* 4.6 min, as its row says, whatever the GPU; or that on an A100, and less on the H100 it gets. */
static void a_trace_is_as_recorded_unless_it_says_where(void)
{
    static const char path[] = "scenarios/examples/jobs_table.yaml";
    const struct job_ends *ends = run_jobs(path, NULL);
    CHECK_NEAR(run_of_name(ends, "1000"), 276, 1e-6);
    ends = run_jobs(path, "catalog.node_types.dgx.gpus={\"t4\":8}");
    CHECK_NEAR(run_of_name(ends, "1000"), 276, 1e-6);
    ends = run_jobs(path, "jobs[0].measured_on=a100-80");
    CHECK_NEAR(run_of_name(ends, "1000"), 276 / 2.4, 1e-6);
    ends = run_jobs(path, "jobs[0].measured_on=a100-80 jobs[0].work=memory_bound");
    CHECK_NEAR(run_of_name(ends, "1000"), 276 / 1.64, 1e-6);
    CHECK(test_scenario(path, "jobs[0].work=memory_bound") == NULL);
}

/* ---- assumptions ---- */

static bool says(const struct sim_scenario *scenario, const char *words)
{
    for (size_t i = 0; i < scenario->assumptions_count; i++)
        if (strstr(scenario->assumptions[i], words) != NULL)
            return true;
    return false;
}

static void what_is_assumed_is_said_where_it_matters(void)
{
    struct sim_scenario *scenario = test_scenario(fleet, NULL);
    if (CHECK(scenario != NULL)) {
        CHECK(says(scenario, "h100 does dense work 2.4 times"));
        CHECK(says(scenario, "times of w.j were measured on a100-80"));
    }
    sim_scenario_destroy(scenario);
    scenario = test_scenario(fleet, "catalog.gpu_types.h100.speed=2");
    CHECK(scenario != NULL && scenario->assumptions_count == 0);
    sim_scenario_destroy(scenario);
    scenario = test_scenario(fleet, "jobs[0].classes.j.gpu_types=[h100]");
    CHECK(scenario != NULL && scenario->assumptions_count == 0);
    sim_scenario_destroy(scenario);
}

/* The canonical text repeats the run: what was not said is not made a saying. */
static void the_resolved_text_leaves_open_what_was_open(void)
{
    struct sim_scenario *scenario = test_scenario(fleet, "jobs[0].measured_on=b200");
    if (!CHECK(scenario != NULL))
        return;
    const struct job_ends *before = run_jobs(scenario->resolved, NULL);
    CHECK(strstr(scenario->resolved, "speed") == NULL);
    CHECK_NEAR(run_of(before, 0), 240 * 4.3 / 2.4, 1e-6);
    sim_scenario_destroy(scenario);
}

/* Every built-in type has all speeds and a source, or none. */
static void the_catalogue_names_its_sources(void)
{
    for (size_t i = 0; i < sim_catalog_gpu_count(); i++) {
        const struct sim_catalog_gpu *gpu = sim_catalog_gpu_at(i);
        for (uint32_t w = 0; w < SIM_GPU_WORKS; w++)
            CHECK((gpu->speed[w] > 0) == (gpu->dense_source != NULL));
    }
}

static const struct test tests[] = {
    { "each GPU type takes its time by kind of work",
      each_gpu_type_takes_its_time_by_kind_of_work },
    { "another origin changes the ratio", another_origin_changes_the_ratio },
    { "one type alone is where it was measured", one_type_alone_is_where_it_was_measured },
    { "the scenario has the last word", the_scenario_has_the_last_word },
    { "work without GPU compute knows no speed", work_without_gpu_compute_knows_no_speed },
    { "an instance works by its share of the GPU", an_instance_works_by_its_share_of_the_gpu },
    { "an instance may be where it was measured", an_instance_may_be_where_it_was_measured },
    { "a stated use is not scaled again", a_stated_use_is_not_scaled_again },
    { "instances do not disturb each other", instances_do_not_disturb_each_other },
    { "jobs of a class go by the type they get", jobs_of_a_class_go_by_the_type_they_get },
    { "a gang on two types goes by the slower", a_gang_on_two_types_goes_by_the_slower },
    { "a job on an instance takes its run time", a_job_on_an_instance_takes_its_run_time },
    { "a trace is as recorded unless it says where", a_trace_is_as_recorded_unless_it_says_where },
    { "what is assumed is said where it matters", what_is_assumed_is_said_where_it_matters },
    { "the resolved text leaves open what was open", the_resolved_text_leaves_open_what_was_open },
    { "the catalogue names its sources", the_catalogue_names_its_sources },
};
TEST_MAIN(tests)
