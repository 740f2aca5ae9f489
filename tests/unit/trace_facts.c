/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Facts of traces: by hand on a few rows, and the published or measured ones of real traces. */
#include "workloads/trace_facts.h"
#include "tests/support/check.h"
#include "tests/support/traces.h"

#include <math.h>
#include <string.h>

#define HEAD                                                                                       \
    "name,submit_s,wait_s,run_s,estimate_s,patience_s,cpu_milli,memory_bytes,gpus,gpu_milli,"      \
    "gpu_memory_bytes,models,processors,priority,user,group,end\n"

static struct wl_trace_facts facts_of(const struct test_trace *trace,
                                      const struct wl_openb_nodes *nodes)
{
    struct wl_trace_facts facts = { .jobs = 0 };
    struct weir_error error = { .phase = -1, .pool = -1 };
    CHECK_STR(trace->error.text, "");
    CHECK_I64(wl_trace_facts_find(&trace->jobs, nodes, &facts, &error), WEIR_OK);
    return facts;
}

static const struct wl_size_facts *size_of(const struct wl_trace_facts *facts, const char *label)
{
    static const struct wl_size_facts none = { .jobs = 0 };
    for (size_t i = 0; i < facts->size_count; i++)
        if (strcmp(facts->sizes[i].label, label) == 0)
            return &facts->sizes[i];
    CHECK_STR("no such size", label);
    return &none;
}

/* Two hours: a: 2 GPUs from 10 s to 3610 s; b: half a GPU from 3600 s to 7200 s. */
static void a_small_trace_by_hand(void)
{
    struct test_trace t = test_trace_text("weir",
                                          HEAD "a,0,10,3600,,,1000,,2,1000,,A|B,,,,,done\n"
                                               "b,3600,0,3600,1800,,500,,1,500,,,,,,,running\n"
                                               "b,3500,,0,,,2000,,,,,,,,,,failed\n"
                                               "c,3700,,,,50,,,1,1000,,,,,,,never_started\n"
                                               "d,,,7,,,,,,,,,,,,,cancelled\n",
                                          false);
    struct wl_trace_facts f = facts_of(&t, NULL);
    CHECK_I64(f.jobs, 5);
    CHECK_I64(f.unsorted, 1);
    CHECK_I64(f.duplicate_names, 1);
    CHECK_I64(f.duplicate_rows, 0);
    CHECK_I64(f.censored, 1);
    CHECK_I64(f.never_started, 1);
    CHECK_I64(f.failed, 1);
    CHECK_I64(f.cancelled, 1);
    CHECK_I64(f.without_submit, 1);
    CHECK_I64(f.without_run, 0);
    CHECK_I64(f.without_wait, 2);
    CHECK_I64(f.without_request, 1);
    CHECK_I64(f.zero_run, 1);
    CHECK_I64(f.above_estimate, 1);
    CHECK(!f.is_truncated);
    CHECK_I64(f.from_ns, 0);
    CHECK_I64(f.to_ns, 7200 * INT64_C(1000000000));
    CHECK_I64(f.hour_count, 2);
    CHECK_I64(f.hours[0], 2);
    CHECK_I64(f.hours[1], 2);
    CHECK_NEAR(f.dispersion, 0, 1e-12);
    CHECK_NEAR(f.per_hour, 2, 1e-12);
    CHECK_NEAR(f.gpu_hours, 2.5, 1e-12);
    CHECK_NEAR(f.cpu_hours, 1.5, 1e-12);
    CHECK_NEAR(f.gpus_used.mean, 1.25, 1e-12);
    CHECK_NEAR(f.gpus_used.max, 2.5, 1e-12);
    CHECK_NEAR(f.gpus_used.p50, 0.5, 1e-12);
    CHECK_NEAR(f.jobs_running.max, 2, 0);
    CHECK_NEAR(size_of(&f, "share")->gpus_mean, 0.25, 1e-12);
    CHECK_NEAR(size_of(&f, "2 gpu")->wait_p50_s, 10, 0);
    CHECK_I64(size_of(&f, "1 gpu")->never_started, 1);
    CHECK_I64(size_of(&f, "cpu only")->jobs, 2);
    CHECK_I64(f.model_count, 2);
    CHECK_STR(f.models[1].models, "A|B");
    CHECK_NEAR(f.models[1].gpu_hours, 2, 1e-12);
    wl_trace_facts_clear(&f);
    wl_jobs_clear(&t.jobs);
}

static void jobs_that_never_fit_are_counted_by_reason(void)
{
    char x[] = "x";
    char a[] = "T4";
    struct wl_openb_node list[] = { { x, a, 8000, 4096, 2 }, { x, a, 8000, 4096, 2 } };
    const struct wl_openb_nodes nodes = { list, 2 };
    struct test_trace t = test_trace_text("weir",
                                          HEAD "fits,0,,1,,,8000,4294967296,2,1000,,t4|A,,,,,\n"
                                               "model,0,,1,,,1000,,1,1000,,A10,,,,,\n"
                                               "gpus,0,,1,,,1000,,4,1000,,,,,,,\n"
                                               "many,0,,1,,,1000,,5,1000,,,,,,,\n"
                                               "cpus,0,,1,,,9000,,1,1000,,,,,,,\n"
                                               "memory,0,,1,,,1000,5368709120,,,,,,,,,\n",
                                          false);
    struct wl_trace_facts f = facts_of(&t, &nodes);
    CHECK_I64(f.never.model, 1);
    CHECK_I64(f.never.gpus, 2);
    CHECK_I64(f.never.cpus, 1);
    CHECK_I64(f.never.memory, 1);
    CHECK_I64(f.never.cluster, 2); /* the model that is not there, and 5 of 4 GPUs */
    CHECK_I64(f.gpus_there, 4);
    wl_trace_facts_clear(&f);
    wl_jobs_clear(&t.jobs);
}

static void nothing_has_no_facts(void)
{
    struct test_trace t = test_trace_text("weir", HEAD, false);
    struct wl_trace_facts f = facts_of(&t, NULL);
    CHECK_I64(f.jobs, 0);
    CHECK_I64(f.size_count, 0);
    CHECK(isnan(f.per_hour) && isnan(f.run.p50) && isnan(f.top_percent_frac));
    wl_trace_facts_clear(&f);
    wl_jobs_clear(&t.jobs);
}

/* Weng et al. (ATC 2023) and measured on the published file. */
static void openb_has_its_known_facts(void)
{
    struct test_trace t;
    struct wl_openb_nodes nodes = { .count = 0 };
    struct weir_error error = { .phase = -1, .pool = -1 };
    if (!test_trace_shared("traces/openb/openb_pod_list_default.csv.gz", &t))
        return;
    const char *path = test_shared("traces/openb/openb_node_list_gpu_node.csv");
    CHECK(path != NULL && wl_openb_read_nodes(path, &nodes, &error) == WEIR_OK);
    struct wl_trace_facts f = facts_of(&t, &nodes);
    CHECK_I64(f.jobs, 8152);
    CHECK_I64(f.never_started, 897);
    CHECK_I64(f.censored, 34);
    CHECK_I64(f.failed, 1870);
    CHECK(f.is_truncated);
    CHECK_I64(f.before_window, 33);
    CHECK_I64(f.from_ns, INT64_C(9964972000000000));
    CHECK_I64(f.to_ns, INT64_C(12902960000000000));
    CHECK_NEAR(1e-9 * (double)(f.to_ns - f.from_ns) / 86400, 34.0, 0.05);
    CHECK_NEAR(f.gpu_hours, 51471, 0.5);
    CHECK_NEAR(f.top_percent_frac, 0.92, 0.005);
    CHECK_I64(f.week_jobs, 41);
    CHECK_NEAR(f.week_frac, 0.85, 0.005);
    CHECK_NEAR(f.per_hour, 9.95, 0.005);
    CHECK_NEAR(f.dispersion, 5.8, 0.05);
    CHECK_NEAR(f.gap_cv, 1.62, 0.005);
    CHECK_NEAR(f.empty_hours_frac, 0.017, 0.0005);
    CHECK_I64(f.busiest_hour, 57);
    CHECK_I64(f.run.count, 7255);
    CHECK_NEAR(f.run.p50, 616, 0.5);
    CHECK_NEAR(f.run.p90, 7764, 1);
    CHECK_NEAR(f.run.p99, 114348, 500);
    CHECK_NEAR(f.run.max, 12537496, 0);
    CHECK_NEAR(f.run.mean, 28949, 0.5);
    CHECK_NEAR(f.wait.p50, 2, 0);
    CHECK_NEAR(f.wait.p90, 106, 0.5);
    CHECK_NEAR(f.wait.max, 14330, 0);
    CHECK_NEAR(f.gpus_used.mean, 36.1, 0.05);
    CHECK_NEAR(f.gpus_used.p50, 35.7, 0.05);
    CHECK_NEAR(f.gpus_used.p95, 48.6, 0.1);
    CHECK(f.gpus_used.max >= 64 && f.gpus_used.max <= 66);
    CHECK_NEAR(f.cpus_used.mean, 483, 0.5);
    CHECK_NEAR(f.jobs_running.mean, 39, 0.5);
    CHECK_NEAR(f.jobs_running.max, 56, 0);
    CHECK_I64(size_of(&f, "cpu only")->jobs, 1088);
    CHECK_I64(size_of(&f, "share")->jobs, 3078);
    CHECK_I64(size_of(&f, "1 gpu")->jobs, 3911);
    CHECK_I64(size_of(&f, "8 gpu")->jobs, 44);
    CHECK_NEAR(size_of(&f, "1 gpu")->gpu_hours / f.gpu_hours, 0.71, 0.005);
    CHECK_NEAR(size_of(&f, "share")->run_p50_s, 539, 0.5);
    CHECK_I64(f.gpus_there, 6212);
    CHECK_I64(f.never.model + f.never.gpus + f.never.cpus + f.never.memory, 0);
    wl_trace_facts_clear(&f);
    wl_openb_nodes_clear(&nodes);
    wl_jobs_clear(&t.jobs);
}

static void philly_has_its_known_facts(void)
{
    struct test_trace t;
    if (!test_trace_shared("traces/philly/philly_jobs_sia.csv.gz", &t))
        return;
    struct wl_trace_facts f = facts_of(&t, NULL);
    CHECK_I64(f.jobs, 82247);
    CHECK_I64(f.duplicate_rows, 65);
    CHECK_I64(f.duplicate_names, 0);
    CHECK_I64(f.unsorted, 44878);
    CHECK_I64(f.without_wait, 82247);
    CHECK_I64(f.zero_run, 0);
    /* What ended before 24 September is not in the file, what ran on then is. */
    CHECK(f.is_truncated);
    CHECK_I64(f.before_window, 92);
    CHECK_NEAR(1e-9 * (double)(f.to_ns - f.from_ns) / 86400, 88.749, 0.001);
    CHECK_NEAR(1e-9 * (double)(f.last_submit_ns - f.first_submit_ns) / 86400, 108.897, 0.001);
    wl_trace_facts_clear(&f);
    wl_jobs_clear(&t.jobs);
}

static void hpc2n_has_its_known_facts(void)
{
    struct test_trace t;
    if (!test_trace_shared("traces/hpc/hpc2n_alea_subset.swf", &t))
        return;
    for (size_t i = 0; i < t.jobs.count; i++)
        wl_job_take_processors(&t.jobs.jobs[i], WL_PROCESSOR_CPU);
    struct wl_trace_facts f = facts_of(&t, NULL);
    CHECK_I64(f.jobs, 3170);
    CHECK_I64(f.without_run, 25);
    CHECK_I64(f.above_estimate, 320);
    CHECK_I64(f.unsorted, 0);
    CHECK_I64(f.duplicate_names, 0);
    CHECK(!f.is_truncated);
    CHECK(f.cpus_used.max <= 240);
    wl_trace_facts_clear(&f);
    wl_jobs_clear(&t.jobs);
}

static const struct test tests[] = {
    { "a small trace by hand", a_small_trace_by_hand },
    { "jobs that never fit are counted by reason", jobs_that_never_fit_are_counted_by_reason },
    { "an empty trace has no facts", nothing_has_no_facts },
    { "openb: window, censoring, heavy tail, arrivals, concurrency", openb_has_its_known_facts },
    { "Philly: unsorted, with duplicates", philly_has_its_known_facts },
    { "HPC2N: jobs without run time, and above their estimate", hpc2n_has_its_known_facts },
};
TEST_MAIN(tests)
