/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory of nodes in time, by hand: who dies where it runs out, when his work is over all the same,
 * and what goes to disk. One node of 20 GB.
 */
#include "sim/cluster/cluster.h"
#include "sim/world/world.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPANS = 64 };

struct ends {
    double end_s[SPANS]; /* by item */
    size_t count;
};

static void add_span(void *state, const struct sim_span *span)
{
    struct ends *ends = state;
    if (span->stage != 0 || span->item >= SPANS)
        return;
    ends->end_s[span->item] = sim_time_s(span->end_ns);
    ends->count++;
}

static void write_items(const char *text)
{
    FILE *out = fopen("memory_items.csv", "w");
    CHECK(out != NULL && fputs(text, out) >= 0 && fclose(out) == 0);
}

static struct sim_run_summary *plan_every(const char *interval, const char *memory,
                                          const char *work, struct ends *ends)
{
    char text[2000];
    (void)snprintf(
        text, sizeof(text),
        "schema: 2\nname: t\nhorizon: 200 s\n"
        "cluster: {nodes: [{name: n, cpus: 64, ram: 20 GB, gpus: {h100: 1}}], memory: %s}\n"
        "sched: {placement: first_fit, scaling: {policy: fixed, interval: %s}}\n%s",
        memory, interval, work);
    *ends = (struct ends){ .count = 0 };
    const struct sim_observer observer = { .span = add_span, .state = ends };
    return test_watch_text(text, &observer);
}

/* Workers that are killed stay away. */
static struct sim_run_summary *run(const char *memory, const char *work, struct ends *ends)
{
    return plan_every("1000 s", memory, work, ends);
}

#define LINE(stage)                                                                                \
    "pipelines:\n  - name: p\n    semantics: event\n    backpressure: none\n"                      \
    "    input: {file: memory_items.csv}\n"                                                        \
    "    stages: [{name: a, cpus: 1, " stage ", service: 10 s}]\n"

static void check_ends(const struct ends *ends, const double *end_s, size_t count)
{
    CHECK_I64(ends->count, count);
    for (size_t i = 0; i < count; i++)
        CHECK_NEAR(ends->end_s[i], end_s[i], 1e-9);
}

/* ---- who dies ---- */

#define THREE "time,bytes\n1,12e9\n2,4e9\n3,6e9\n"

/* 12 + 4 + 6 GB do not fit at 3 s. Linux kills the first, which is tried again when the second is
 * over; Ray the newest worker, whose item waits for the first. */
static void the_rule_says_who_dies(void)
{
    static const struct {
        const char *memory;
        double end_s[3];
    } cases[] = {
        { "oom_killer", { 22, 12, 13 } },
        { "memory_monitor", { 11, 12, 21 } },
    };
    for (size_t i = 0; i < 2; i++) {
        struct ends ends;
        write_items(THREE);
        struct sim_run_summary *summary = run(cases[i].memory, LINE("workers: 3"), &ends);
        check_ends(&ends, cases[i].end_s, 3);
        CHECK_NEAR(test_value(summary, "oom.host.count", ""), 1, 0);
        CHECK_NEAR(test_value(summary, "retry.count", ""), 1, 0);
        free(summary);
    }
}

/* By the rule of old nothing happens, whatever lies in hand. */
static void admission_looks_at_starts_alone(void)
{
    static const double end_s[] = { 11, 12, 13 };
    struct ends ends;
    write_items(THREE);
    struct sim_run_summary *summary = run("admit", LINE("workers: 3"), &ends);
    check_ends(&ends, end_s, 3);
    CHECK_NEAR(test_value(summary, "oom.host.count", ""), 0, 0);
    free(summary);
}

/* 15 GB are in use from 2 s on: above max(14, 10), not above max(14, 16). */
static void the_monitor_keeps_its_distance(void)
{
    static const struct {
        const char *memory;
        double ooms;
    } cases[] = {
        { "{rule: memory_monitor, threshold: 0.7, min_free: 10 GB}", 1 },
        { "{rule: memory_monitor, threshold: 0.7, min_free: 4 GB}", 0 },
        { "{rule: memory_monitor, threshold: 0.76, min_free: 10 GB}", 0 },
    };
    for (size_t i = 0; i < 3; i++) {
        struct ends ends;
        write_items("time,bytes\n1,8e9\n2,7e9\n");
        struct sim_run_summary *summary = run(cases[i].memory, LINE("workers: 2"), &ends);
        CHECK_NEAR(test_value(summary, "oom.host.count", ""), cases[i].ooms, 0);
        free(summary);
    }
}

#define JOB(class)                                                                                 \
    "jobs:\n  - name: w\n    run_time: 50 s\n    classes: [{name: c, count: 1, " class "}]\n"

/* A job of 12 GB and from 10 s on a task of 9 GB. The monitor kills the worker of the pipeline, and
 * the job ends undisturbed. Linux kills the job, which is the largest; it starts again at once, and
 * now the worker is the only one that was there before. */
static void a_job_is_spared_where_the_rule_says_so(void)
{
    static const char work[] = LINE("workers: 1") JOB("request: {ram: 12 GB}");
    struct ends ends;
    write_items("time,bytes\n10,9e9\n");
    struct sim_run_summary *monitor = run("memory_monitor", work, &ends);
    CHECK_I64(ends.count, 0);
    CHECK(isnan(test_value(monitor, "jobs.restarted", ""))); /* it never happened */
    CHECK_NEAR(test_value(monitor, "oom.host.count", ""), 1, 0);
    free(monitor);
    struct sim_run_summary *killer = run("oom_killer", work, &ends);
    CHECK_I64(ends.count, 0);
    CHECK_NEAR(test_value(killer, "jobs.restarted", ""), 1, 0);
    CHECK_NEAR(test_value(killer, "oom.host.count", ""), 2, 0);
    free(killer);
}

/* A job of 9 GB that comes at 5 s, when 12 GB are in hand, pushes the task out. */
static void who_comes_is_not_the_one_who_dies(void)
{
    struct ends ends;
    write_items("time,bytes\n1,12e9\n");
    struct sim_run_summary *summary =
        run("memory_monitor", LINE("workers: 1") JOB("at: 5 s, request: {ram: 9 GB}"), &ends);
    CHECK_I64(ends.count, 0);
    CHECK_NEAR(test_value(summary, "oom.host.count", ""), 1, 0);
    CHECK_NEAR(test_value(summary, "jobs.done", ""), 1, 0);
    free(summary);
}

/* ---- GPUs ---- */

#define ON_GPU(more)                                                                               \
    LINE("workers: 2, gpus: 0.5, gpu_memory: 30 GB, activations: 6 GB, batch: 2, " more)

/* Two workers hold 60 GB, a task takes 12 more: only one of them has 80 GB. Who asks second fails
 * at the end of his 10 s, and has his way at the second attempt, when the other is done. */
static void a_task_without_gpu_memory_fails(void)
{
    static const double end_s[] = { 12, 12, 26, 26 };
    struct ends ends; /* of the last attempts */
    write_items("time\n1\n2\n3\n6\n");
    struct sim_run_summary *summary = run("admit", ON_GPU("max_attempts: 9"), &ends);
    CHECK_I64(ends.count, 6);
    ends.count -= 2;
    check_ends(&ends, end_s, 4);
    CHECK_NEAR(test_value(summary, "oom.gpu.count", ""), 1, 0);
    CHECK_NEAR(test_value(summary, "oom.host.count", ""), 0, 0);
    CHECK_NEAR(test_value(summary, "retry.count", ""), 2, 0);
    free(summary);
}

/* A node that is lost takes what its tasks had with it: afterwards there is room again. */
static void what_a_lost_task_had_is_free(void)
{
    static const double end_s[] = { 40, 40 };
    struct ends ends;
    write_items("time\n1\n2\n");
    struct sim_run_summary *summary =
        plan_every("10 s", "admit",
                   LINE("workers: 1, gpus: 1, gpu_memory: 60 GB, activations: 10 GB, "
                        "batch: 2") "timeline: [{at: 5 s, for: 25 s, action: node_down, "
                                    "node: n}]\n",
                   &ends);
    check_ends(&ends, end_s, 2);
    CHECK_NEAR(test_value(summary, "oom.gpu.count", ""), 0, 0);
    free(summary);
}

/* An instance has memory of its own: 12 GB are not there in 10 GB, whatever the GPU has. */
static void an_instance_has_its_own_memory(void)
{
    struct ends ends;
    write_items("time\n1\n2\n");
    struct sim_run_summary *summary =
        run("admit, share: mig",
            LINE("workers: 1, mig: 1g.10gb, activations: 6 GB, batch: 2, max_attempts: 3, "
                 "measured_on: h100/1g.10gb"),
            &ends);
    CHECK_I64(ends.count, 6); /* attempts */
    CHECK_NEAR(test_value(summary, "oom.gpu.count", ""), 3, 0);
    CHECK_NEAR(test_value(summary, "retry.exhausted", ""), 2, 0);
    free(summary);
}

/* ---- the store ---- */

/* Five outputs of 2 GB wait for a stage that stands still; 30 % of 20 GB hold three of them. */
static void outputs_beyond_the_store_go_to_disk(void)
{
    static const struct {
        const char *memory;
        double bytes;
    } cases[] = { { "oom_killer", 4e9 },
                  { "{rule: oom_killer, store: 45%}", 1e9 },
                  { "{rule: memory_monitor, store: 50%}", 0 },
                  { "admit", 0 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ends ends;
        write_items("time\n1\n2\n3\n4\n5\n");
        struct sim_run_summary *summary =
            run(cases[i].memory,
                "pipelines:\n  - name: p\n    semantics: event\n    backpressure: none\n"
                "    input: {file: memory_items.csv}\n    stages:\n"
                "      - {name: a, workers: 1, service: 1 s, bytes_out: const(2 GB)}\n"
                "      - {name: b, workers: 1, service: 1 s}\n"
                "timeline: [{at: 0 s, for: 50 s, action: stage_stall, stage: p.b}]\n",
                &ends);
        CHECK_NEAR(test_value(summary, "store.spill_bytes", ""), cases[i].bytes, 1);
        CHECK_NEAR(test_value(summary, "oom.host.count", ""), 0, 0);
        free(summary);
    }
}

/* What lies in the store is memory that tasks do not have: with 6 GB there and 9 GB in hand 6 GB
 * more are too much. The largest dies and is tried again when the worker that is left is free. */
static void outputs_that_wait_are_memory(void)
{
    static const double end_s[] = { 11, 40, 30 };
    struct ends ends;
    write_items("time,bytes\n1,1e9\n11,9e9\n20,6e9\n");
    struct sim_run_summary *summary =
        run("oom_killer",
            "pipelines:\n  - name: p\n    semantics: event\n    backpressure: none\n"
            "    input: {file: memory_items.csv}\n    stages:\n"
            "      - {name: a, workers: 2, service: 10 s, bytes_out: const(6 GB)}\n"
            "      - {name: b, workers: 1, service: 1 s}\n"
            "timeline: [{at: 0 s, for: 100 s, action: stage_stall, stage: p.b}]\n",
            &ends);
    check_ends(&ends, end_s, 3);
    CHECK_NEAR(test_value(summary, "oom.host.count", ""), 1, 0);
    free(summary);
}

/* ---- the books ---- */

/* Batches, children, failures, killed workers and every rule of flow: when the work is done,
 * nothing is in hand and nothing lies anywhere. */
static void check_books(const char *semantics, const char *backpressure)
{
    static const struct sim_run_options options = { .seed = 3, .check_always = true };
    char text[1200];
    struct weir_error error = { .phase = -1 };
    struct sim_world *world = NULL;
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\nhorizon: 1 h\n"
                   "cluster: {nodes: [{name: n, count: 2, cpus: 8, ram: 20 GB}],"
                   " memory: memory_monitor}\n"
                   "sched: {scaling: {policy: fixed, interval: 5 s}}\n"
                   "pipelines:\n  - name: p\n    semantics: %s\n    backpressure: %s\n"
                   "    input: {items: 120, arrivals: exp(0.7 s), bytes_per_item: exp(2 GB)}\n"
                   "    stages:\n"
                   "      - {name: a, workers: 6, batch: 2, service: exp(4 s), returns: const(1.5),"
                   " bytes_out: exp(2 GB), process_failure: 20%%}\n"
                   "      - {name: b, workers: 4, service: exp(1 s), bytes_out: const(1 GB)}\n"
                   "      - {name: c, workers: 1, service: exp(0.2 s)}\n",
                   semantics, backpressure);
    struct sim_scenario *scenario = test_scenario(text, NULL);
    if (!CHECK(scenario != NULL) ||
        !CHECK(sim_world_create(scenario, &options, &world, &error) == WEIR_OK))
        abort();
    CHECK_I64(sim_world_run(world), WEIR_OK);
    CHECK_I64(test_stage(world, 0)->pipeline->items.alive, 0);
    for (uint32_t n = 0; n < 2; n++) {
        CHECK_I64(world->context.cluster->nodes[n].work_bytes, 0);
        CHECK_I64(world->context.cluster->nodes[n].store_bytes, 0);
    }
    sim_world_destroy(world);
    sim_scenario_destroy(scenario);
}

static void what_is_over_needs_no_memory(void)
{
    check_books("event", "none");
    check_books("event", "blocking");
    check_books("event", "slots");
    check_books("runtime", "slots");
}

/* 22 GB are in hand from 2.3 s on. The monitor looks at whole seconds, so that the newer task dies
 * at 3 s; every 2 s, at 4 s. */
static void the_monitor_looks_at_its_own_times(void)
{
    static const struct {
        const char *memory;
        double lost_s;
    } cases[] = { { "{rule: memory_monitor, refresh: 1 s}", 0.7 },
                  { "{rule: memory_monitor, refresh: 2 s}", 1.7 } };
    for (size_t i = 0; i < 2; i++) {
        struct ends ends;
        write_items("time,bytes\n1,12e9\n2.3,10e9\n");
        struct sim_run_summary *summary = run(cases[i].memory, LINE("workers: 2"), &ends);
        CHECK_NEAR(test_value(summary, "oom.host.count", ""), 1, 0);
        CHECK_NEAR(test_value(summary, "work.lost_s", ""), cases[i].lost_s, 1e-9);
        free(summary);
    }
}

/* A group of 8 GPUs lies on both nodes, its 12 GB in hand on the first one. On the other 11 GB from
 * 5 s on and 10 GB from 6 s on are too much: who has 11 GB dies, after a second. The group is not
 * the largest there, whatever it has on the first node. */
static void what_a_group_has_in_hand_is_on_its_first_node(void)
{
    static const char text[] =
        "schema: 2\nname: t\nhorizon: 100 s\n"
        "cluster: {nodes: [{name: g, cpus: 4, ram: 20 GB, gpus: {h100: 4}},"
        " {name: h, cpus: 64, ram: 20 GB, gpus: {h100: 4}}], memory: oom_killer}\n"
        "sched: {placement: first_fit, scaling: {policy: fixed, interval: 1000 s}}\n"
        "pipelines:\n  - name: p\n    semantics: event\n    backpressure: none\n"
        "    input: {file: memory_items.csv}\n"
        "    stages: [{name: a, gpus: 8, spmd: true, cpus: 1, ram: 100 MB, workers: 1, service: 50 "
        "s}]\n"
        "  - name: q\n    semantics: event\n    backpressure: none\n"
        "    input: {items: 1, arrivals: const(5 s), bytes_per_item: 11 GB}\n"
        "    stages: [{name: b, cpus: 10, workers: 1, service: 20 s}]\n"
        "  - name: r\n    semantics: event\n    backpressure: none\n"
        "    input: {items: 1, arrivals: const(6 s), bytes_per_item: 10 GB}\n"
        "    stages: [{name: c, cpus: 10, workers: 1, service: 20 s}]\n";
    struct ends ends = { .count = 0 };
    const struct sim_observer observer = { .span = add_span, .state = &ends };
    write_items("time,bytes\n1,12e9\n");
    struct sim_run_summary *summary = test_watch_text(text, &observer);
    CHECK_I64(ends.count, 1); /* of the group */
    CHECK_NEAR(ends.end_s[0], 51, 1e-9);
    CHECK_NEAR(test_value(summary, "oom.host.count", ""), 1, 0);
    CHECK_NEAR(test_value(summary, "work.lost_s", ""), 1, 1e-9);
    free(summary);
}

static const struct test tests[] = {
    { "the rule says who dies", the_rule_says_who_dies },
    { "admission looks at starts alone", admission_looks_at_starts_alone },
    { "the monitor keeps its distance", the_monitor_keeps_its_distance },
    { "a job is spared where the rule says so", a_job_is_spared_where_the_rule_says_so },
    { "who comes is not the one who dies", who_comes_is_not_the_one_who_dies },
    { "a task without gpu memory fails", a_task_without_gpu_memory_fails },
    { "what a lost task had is free", what_a_lost_task_had_is_free },
    { "an instance has its own memory", an_instance_has_its_own_memory },
    { "outputs beyond the store go to disk", outputs_beyond_the_store_go_to_disk },
    { "outputs that wait are memory", outputs_that_wait_are_memory },
    { "what is over needs no memory", what_is_over_needs_no_memory },
    { "the monitor looks at its own times", the_monitor_looks_at_its_own_times },
    { "what a group has in hand is on its first node",
      what_a_group_has_in_hand_is_on_its_first_node },
};
TEST_MAIN(tests)
