/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traces in scenarios: rows become jobs with shapes and times, and what the trace leaves open. */
#include "sim/scenario/scenario.h"
#include "tests/support/check.h"
#include "workloads/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH = 64, TEXT = 2048 };

#define S INT64_C(1000000000)

struct loaded {
    struct sim_scenario *scenario;
    struct sim_diagnostics diagnostics;
};

/* A file of its own; `path` ends in XXXXXX. */
static void keep(char path[PATH], const char *file)
{
    const int handle = mkstemp(path);
    CHECK(write(handle, file, strlen(file)) == (ssize_t)strlen(file));
    (void)close(handle);
}

/* A cluster of two nodes with 8 CPUs and 4 GPUs, and one workload on `file`. */
static struct loaded load(const char *workload, const char *file)
{
    struct loaded loaded = { .scenario = NULL };
    char text[TEXT];
    char path[PATH] = "/tmp/weir-trace-XXXXXX";
    keep(path, file);
    (void)snprintf(text, sizeof text,
                   "schema: 1\nname: x\ncatalog: {node_types: {n: {cpus: 8, ram: 64 GiB, gpus: "
                   "{t4: 4}}}}\ncluster: {nodes: [{type: n, count: 2}]}\nworkloads: [{name: w, "
                   "file: %s, %s}]\n",
                   path, workload);
    const struct sim_scenario_source source = { .path = "x.yaml", .text = text };
    (void)sim_scenario_load(&source, &loaded.scenario, &loaded.diagnostics);
    (void)unlink(path);
    return loaded;
}

static void clear(struct loaded *loaded)
{
    sim_scenario_destroy(loaded->scenario);
    sim_diagnostics_clear(&loaded->diagnostics);
}

static bool says(const struct loaded *loaded, const char *part)
{
    for (size_t d = 0; d < loaded->diagnostics.count; d++)
        if (strstr(loaded->diagnostics.items[d].message, part) != NULL)
            return true;
    return false;
}

static const struct sim_workload *workload_of(const struct loaded *loaded, size_t jobs)
{
    for (size_t d = 0; d < loaded->diagnostics.count; d++)
        if (!loaded->diagnostics.items[d].is_warning)
            CHECK_STR(loaded->diagnostics.items[d].message, "");
    CHECK(loaded->scenario != NULL);
    if (loaded->scenario == NULL)
        return NULL;
    const struct sim_workload *workload = &loaded->scenario->workloads[0];
    CHECK_I64(workload->jobs_count, jobs);
    return workload->jobs_count == jobs ? workload : NULL;
}

static const char swf[] = "; MaxProcs: 16\n"
                          "1 10 5 100 4 -1 -1 4 60 -1 1 3 4 -1 -1 -1 -1 -1\n"
                          "2 11 5 -1 4 -1 -1 4 60 -1 -1 3 4 -1 -1 -1 -1 -1\n"
                          "3 12 7 -1 4 -1 -1 4 60 -1 5 3 4 -1 -1 -1 -1 -1\n"
                          "4 13 -1 30 12 -1 2048 -1 -1 2048 1 3 4 -1 -1 -1 -1 -1\n"
                          "5 14 -1 30 11 -1 -1 -1 -1 -1 1 3 4 -1 -1 -1 -1 -1\n";

static void processors_are_what_the_scenario_says(void)
{
    struct loaded loaded = load("kind: swf, mode: time", swf);
    const struct sim_workload *workload = workload_of(&loaded, 4);
    CHECK(says(&loaded, "1 of 5 jobs are left out: the trace does not say when they came or how "
                        "long they ran"));
    if (workload != NULL) {
        const struct sim_job_spec *job = workload->jobs;
        CHECK_I64(job[0].shape.kind, WEIR_SHAPE_CPU);
        CHECK_I64(job[0].shape.cpu_units, 4 * WEIR_ONE);
        CHECK_I64(job[0].submit_ns, 10 * S);
        CHECK_I64(job[0].run_ns, 60 * S); /* killed where its estimate ends */
        CHECK_I64(job[0].estimate_ns, 60 * S);
        CHECK_I64(job[1].patience_ns, 7 * S); /* left while it waited, runs like the one before */
        CHECK_I64(job[1].run_ns, 60 * S);
        CHECK_I64(job[2].members, 2); /* 12 CPUs are 2 times 6 */
        CHECK_I64(job[2].shape.cpu_units, 6 * WEIR_ONE);
        CHECK_I64(job[2].shape.ram_bytes, 6 * 2048 * INT64_C(1024)); /* KB a processor */
        CHECK_I64(job[3].members, 11);                               /* 11 are 11 times 1 */
    }
    clear(&loaded);
    loaded = load("kind: swf, mode: time, processor: gpu", swf);
    workload = workload_of(&loaded, 4);
    if (workload != NULL) {
        CHECK_I64(workload->jobs[0].shape.kind, WEIR_SHAPE_WHOLE);
        CHECK_I64(workload->jobs[0].shape.gpu_count, 4);
        CHECK_I64(workload->jobs[0].shape.cpu_units, 0);
        CHECK_I64(workload->jobs[2].members, 3);
        CHECK_I64(workload->jobs[2].shape.gpu_count, 4);
    }
    clear(&loaded);
}

static void static_workloads_keep_every_row_whole(void)
{
    struct loaded loaded = load("kind: swf", swf);
    const struct sim_workload *workload = workload_of(&loaded, 5);
    if (workload != NULL) {
        CHECK_I64(workload->jobs[3].members, 1);
        CHECK_I64(workload->jobs[3].shape.cpu_units, 12 * WEIR_ONE);
    }
    clear(&loaded);
}

static const char pods[] =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,pod_phase,creation_time,deletion_time,"
    "scheduled_time\n"
    "a,2000,1024,1,250,T4|P100,Running,0,90,4\n"
    "b,2000,1024,1,500,,Pending,5,9,\n"
    "c,2000,1024,8,1000,,Running,6,100,6\n";

static void pods_bring_their_times(void)
{
    CHECK_I64(WL_UNKNOWN, WEIR_UNKNOWN_TIME); /* as the resolver takes for granted */
    struct loaded loaded = load("mode: time", pods);
    const struct sim_workload *workload = workload_of(&loaded, 3);
    if (workload != NULL) {
        const struct sim_job_spec *job = workload->jobs;
        CHECK_I64(job[0].shape.kind, WEIR_SHAPE_FRACTIONAL);
        CHECK_I64(job[0].shape.gpu_units, WEIR_ONE / 4);
        CHECK_STR(job[0].models, "T4|P100");
        CHECK_I64(job[0].shape.gpu_type, WEIR_GPU_TYPE_SET | 1);
        CHECK_I64(job[0].run_ns, 86 * S);
        CHECK(!job[0].is_endless);
        CHECK_I64(job[1].patience_ns, 4 * S);
        CHECK_I64(job[1].run_ns, 86 * S);
        CHECK_I64(job[2].members, 1); /* pods are not split, whatever fits */
        CHECK(job[2].is_endless);
        CHECK_STR(workload->labels[job[2].label], "8 gpu");
    }
    clear(&loaded);
    loaded = load("mode: time, jobs: 9, service: \"exp(7)\", arrivals: {rate: 1}", pods);
    workload = workload_of(&loaded, 3);
    if (workload != NULL) {
        CHECK(workload->jobs[0].service != NULL);
        CHECK_I64(workload->jobs[1].run_ns, WEIR_UNKNOWN_TIME); /* not drawn, so not borrowed */
    }
    clear(&loaded);
}

static void tables_are_read_through_their_map(void)
{
    struct loaded loaded = load("kind: table, map: tiresias, mode: time",
                                "job_id,num_gpu,submit_time,duration\n0,6,10,20\n1,1,11,2.5\n");
    const struct sim_workload *workload = workload_of(&loaded, 2);
    if (workload != NULL) {
        CHECK_I64(workload->jobs[0].members, 2); /* 6 GPUs are 2 times 3 */
        CHECK_I64(workload->jobs[0].shape.gpu_count, 3);
        CHECK_I64(workload->jobs[1].run_ns, 5 * S / 2);
    }
    clear(&loaded);
}

static void mistakes_are_said_at_their_place(void)
{
    static const struct {
        const char *workload, *message;
    } cases[] = {
        { "kind: table", "a table needs columns: which of them says what (weir list traces)" },
        { "kind: table, map: tiresia",
          "tiresia: there is no such map or file; did you mean 'tiresias'?" },
        { "kind: table, map: tiresias", ":1:1: no column 'job_id'" },
        { "kind: openb, map: tiresias", "belongs to format: table" },
        { "kind: table, map: tiresias, processor: gpu", "belongs to format: swf" },
        { "pods: x.csv", "is another name of file; give one of them" },
        { "kind: swf", ":1:1: 1 fields, a job has 18" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct loaded loaded = load(cases[i].workload, "a,b\n");
        CHECK(loaded.scenario == NULL);
        CHECK_STR(says(&loaded, cases[i].message) ? "" : cases[i].message, "");
        clear(&loaded);
    }
}

static void bad_rows_are_left_out_with_a_warning(void)
{
    const char *table = "job_id,num_gpu,submit_time,duration\n0,6,10,20\n1,nan,11,2\n2,1,11,2\n";
    struct loaded loaded = load("kind: table, map: tiresias, on_bad_row: skip", table);
    CHECK(workload_of(&loaded, 2) != NULL);
    CHECK(says(&loaded, "1 bad rows are left out; the first: "));
    CHECK(says(&loaded, ":3:2: column 'num_gpu': 'nan' is not a number"));
    clear(&loaded);
    loaded = load("kind: table, map: tiresias", table);
    CHECK(loaded.scenario == NULL);
    CHECK(says(&loaded, ":3:2: column 'num_gpu': 'nan' is not a number"));
    clear(&loaded);
}

static double speed_on(const struct sim_scenario *scenario, size_t job, const char *type)
{
    for (size_t t = 0; t < scenario->gpu_types_count; t++)
        if (strcmp(scenario->gpu_types[t].name, type) == 0)
            return scenario->workloads[0].jobs[job].speed.on_type[t];
    return -1;
}

/* A profile says how fast each type is; the row's time was measured on one of them. Of what it says
 * nothing (a T4 here) the catalogue does: dense work at 0.16 against 0.25 of an L4. Rows of one
 * profile, one after the other, go alike. */
static void profiles_say_how_fast_types_are(void)
{
    char table[PATH] = "/tmp/weir-trace-XXXXXX";
    char profiles[PATH] = "/tmp/weir-profiles-XXXXXX";
    char text[TEXT];
    struct loaded loaded = { .scenario = NULL };
    keep(table,
         "name,submit_s,wait_s,run_s,estimate_s,patience_s,cpu_milli,memory_bytes,gpus,gpu_milli,"
         "gpu_memory_bytes,models,mig,model,processors,priority,user,group,end\n"
         "a,0,,100,,,,,1,,,,,lm,,,,,\nb,1,,100,,,,,1,,,,,lm,,,,,\n"
         "c,2,,100,,,,,1,,,,,odd,,,,,\nd,3,,100,,,,,1,,,,,none,,,,,\n");
    keep(profiles, "model,speeds\nlm,h100=4|l4=2\nodd,h100=9|l4=3|t4=1.5\n");
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: x\nmeasured_on: l4\n"
                   "cluster: {nodes: [{name: n, cpus: 8, gpus: {h100: 4, l4: 1, t4: 1}}]}\n"
                   "jobs: [{name: w, trace: %s, format: table, columns: weir, profiles: %s}]\n",
                   table, profiles);
    const struct sim_scenario_source source = { .path = "x.yaml", .text = text };
    (void)sim_scenario_load(&source, &loaded.scenario, &loaded.diagnostics);
    if (workload_of(&loaded, 4) != NULL) {
        static const double wanted[][3] = {
            { 4.0 / 2, 1, .16 / .25 },
            { 4.0 / 2, 1, .16 / .25 },
            { 9.0 / 3, 1, 1.5 / 3 },
            { 2.4 / .25, 1, .16 / .25 },
        };
        for (size_t i = 0; i < 4; i++) {
            CHECK_NEAR(speed_on(loaded.scenario, i, "h100"), wanted[i][0], 1e-12);
            CHECK_NEAR(speed_on(loaded.scenario, i, "l4"), wanted[i][1], 1e-12);
            CHECK_NEAR(speed_on(loaded.scenario, i, "t4"), wanted[i][2], 1e-12);
        }
    }
    clear(&loaded);
    (void)unlink(table);
    (void)unlink(profiles);
}

static const struct test tests[] = {
    { "processors of SWF are what the scenario says", processors_are_what_the_scenario_says },
    { "static workloads keep every row, whole", static_workloads_keep_every_row_whole },
    { "pods bring their times, patience and models", pods_bring_their_times },
    { "tables are read through their map", tables_are_read_through_their_map },
    { "mistakes are said at their place", mistakes_are_said_at_their_place },
    { "profiles say how fast types are", profiles_say_how_fast_types_are },
    { "bad rows are left out with a warning, when asked", bad_rows_are_left_out_with_a_warning },
};
TEST_MAIN(tests)
