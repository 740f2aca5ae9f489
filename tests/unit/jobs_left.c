/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs that never begin, and jobs that have not ended, in the waits and times of windows, of
 * tenants and of all jobs, every number by hand: a job that holds both GPUs for good at 0 s, and
 * one at 100 s. And work that was thrown away.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a row says: its value, and whether it is at least that. */
struct bound {
    const char *metric, *label;
    double value;
    bool is_least;
    uint64_t censored;
};

struct watch {
    struct bound *rows;
    size_t count, seen;
};

static void take(void *state, const struct sim_result_row *row)
{
    struct watch *watch = state;
    for (size_t i = 0; i < watch->count; i++) {
        struct bound *bound = &watch->rows[i];
        if (strcmp(row->metric, bound->metric) != 0 || strcmp(row->label, bound->label) != 0)
            continue;
        CHECK_NEAR(row->value, bound->value, 1e-9);
        CHECK(row->is_lower_bound == bound->is_least);
        CHECK_I64(row->censored, bound->censored);
        watch->seen++;
    }
}

static void check_rows(const char *text, struct bound *rows, size_t count)
{
    struct watch watch = { rows, count, 0 };
    struct sim_scenario *scenario = test_scenario(text, NULL);
    struct sim_run_summary *summary = calloc(1, sizeof *summary);
    const struct sim_run_options options = { .seed = 1,
                                             .listen = take,
                                             .listener = &watch,
                                             .check_always = true,
                                             .export_at_s = (double)NAN };
    CHECK(scenario != NULL && summary != NULL);
    if (scenario != NULL && summary != NULL)
        CHECK_I64(sim_run(scenario, &options, summary), WEIR_OK);
    CHECK_I64(watch.seen, watch.count);
    free(summary);
    sim_scenario_destroy(scenario);
}

static void who_never_begins_is_counted(void)
{
    static const char text[] =
        "schema: 2\nname: left\nhorizon: 400 s\n"
        "cluster: {nodes: [{name: n, cpus: 8, gpus: {h100: 2}}]}\n"
        "sched: {queueing: fcfs}\n"
        "tenants: [{name: a}, {name: b}]\n"
        "jobs:\n  - name: w\n    classes:\n"
        "      - {name: x, count: 1, at: 0 s, request: {gpus: 2}, run_time: 10000 s, tenant: a}\n"
        "      - {name: y, count: 1, at: 100 s, request: {gpus: 1}, run_time: 10 s, tenant: b}\n"
        "windows: {first: '..50', second: '50..'}\n";
    struct bound rows[] = {
        { "wait.job.p95@first", "", 0, false, 0 },   { "jct.p95@first", "", 400, true, 1 },
        { "wait.job.p95@second", "", 300, true, 1 }, { "jct.p95@second", "", 300, true, 1 },
        { "wait.tenant.p95", "a", 0, false, 0 },     { "wait.tenant.p95", "b", 300, true, 1 }
    };
    check_rows(text, rows, sizeof rows / sizeof rows[0]);
}

/* One of three runs; two are refused at once, and would come again at 60 s and at 120 s. */
static void who_is_to_come_again_has_not_begun(void)
{
    static const char text[] =
        "schema: 2\nname: away\nhorizon: 100 s\n"
        "cluster: {nodes: [{name: n, cpus: 8, gpus: {h100: 1}}]}\n"
        "jobs:\n  - name: w\n    queue_limit: 0\n    retries: 5\n    retry_delay: 60 s\n"
        "    deadline: 50 s\n"
        "    classes: [{name: x, count: 3, request: {gpus: 1}, run_time: 500 s}]\n";
    struct bound rows[] = { { "wait.job.p95", "", 100, true, 2 },
                            { "starvation.max_wait", "", 100, false, 0 } };
    check_rows(text, rows, sizeof rows / sizeof rows[0]);
}

/* A gang of two runs for 100 s, loses a node for 50 s, and runs anew until the end: what was begun
 * (1400 s of GPUs) is what was lost and what is under way, on four GPUs. */
static void what_an_outage_takes_is_booked(void)
{
    static const char text[] =
        "schema: 2\nname: lost\nhorizon: 400 s\n"
        "cluster: {nodes: [{name: n, count: 2, cpus: 8, gpus: {h100: 2}}]}\n"
        "sched: {queueing: fcfs}\n"
        "jobs:\n  - name: w\n    classes:\n"
        "      - {name: x, count: 1, at: 0 s, members: 2, request: {gpus: 2}, run_time: 300 s}\n"
        "timeline: [{at: 100 s, action: node_down, node: n-0, for: 50 s}]\n"
        "windows: {before: '..50', outage: '50..150', after: '150..'}\n";
    struct bound rows[] = { { "work.lost_s", "", 200, false, 0 },
                            { "work.lost_s@before", "", 0, false, 0 },
                            { "work.lost_s@outage", "", 200, false, 0 },
                            { "work.lost_s@outage", "node or GPU lost", 200, false, 0 },
                            { "work.lost_s@after", "", 0, false, 0 },
                            { "gpus.held.mean", "", 2.0 * (200 + 2 * 250) / 400, false, 0 } };
    check_rows(text, rows, sizeof rows / sizeof rows[0]);
}

/* Both GPUs from 0 to 100 s, so one job waits from 50 to 100 s; one that comes at 390 s goes on. */
static void several_sources_are_counted_together(void)
{
    static const char text[] =
        "schema: 2\nname: all\nhorizon: 400 s\n"
        "cluster: {nodes: [{name: n, cpus: 8, gpus: {h100: 2}}]}\n"
        "jobs:\n  - name: u\n    classes:\n"
        "      - {name: x, count: 1, at: 0 s, request: {gpus: 2}, run_time: 100 s}\n"
        "  - name: v\n    starved_after: 49 s\n    classes:\n"
        "      - {name: y, count: 1, at: 50 s, request: {gpus: 1}, run_time: 10 s}\n"
        "      - {name: z, count: 1, at: 390 s, request: {gpus: 1}, run_time: 10000 s}\n";
    struct bound rows[] = {
        { "jobs.arrived", "", 3, false, 0 },       { "jobs.arrived", "v", 2, false, 0 },
        { "jobs.done", "", 2, false, 0 },          { "wait.job.mean", "", 50.0 / 3, false, 0 },
        { "wait.job.mean", "v", 25, false, 0 },    { "jct.mean", "", 80, false, 1 },
        { "queue.len.mean", "", 0.125, false, 0 }, { "gpus.held.mean", "", 0.55, false, 0 },
        { "thr.jobs_h", "", 18, false, 0 },        { "starvation.count", "", 1, false, 0 },
        { "starvation.count", "v", 1, false, 0 }
    };
    check_rows(text, rows, sizeof rows / sizeof rows[0]);
}

/* Due within 60 s: one is done in time, one late; one that runs and one that waits are beyond it at
 * the end, one is not yet; one has lost all the runs that it may have. */
static void who_is_not_done_when_due_is_late(void)
{
    static const char text[] =
        "schema: 2\nname: due\nhorizon: 400 s\n"
        "cluster: {nodes: [{name: n, cpus: 8, gpus: {h100: 4}}, {name: m, cpus: 8, gpus: {h100: "
        "1}}]}\n"
        "sched: {queueing: first_fit, placement: first_fit}\n"
        "jobs:\n  - name: w\n    deadline: 60 s\n    max_attempts: 1\n    classes:\n"
        "      - {name: a, count: 1, at: 0 s, request: {gpus: 1}, run_time: 60 s}\n"
        "      - {name: b, count: 1, at: 0 s, request: {gpus: 1}, run_time: 61 s}\n"
        "      - {name: c, count: 1, at: 0 s, request: {gpus: 2}, run_time: 10000 s}\n"
        "      - {name: d, count: 1, at: 300 s, request: {gpus: 3}, run_time: 10 s}\n"
        "      - {name: e, count: 1, at: 340 s, request: {gpus: 3}, run_time: 10 s}\n"
        "      - {name: f, count: 1, at: 0 s, request: {gpus: 1}, run_time: 10000 s}\n"
        "timeline: [{at: 10 s, action: node_down, node: m}]\n";
    struct bound rows[] = { { "sla.violation_rate", "", 4.0 / 5, false, 0 },
                            { "sla.violation_rate", "a", 0, false, 0 },
                            { "sla.violation_rate", "b", 1, false, 0 },
                            { "sla.violation_rate", "d", 1, false, 0 },
                            { "sla.violation_rate", "f", 1, false, 0 } };
    check_rows(text, rows, sizeof rows / sizeof rows[0]);
}

static const struct test tests[] = {
    { "who is not done when due is late", who_is_not_done_when_due_is_late },
    { "several sources are counted together", several_sources_are_counted_together },
    { "who never begins is counted", who_never_begins_is_counted },
    { "who is to come again has not begun", who_is_to_come_again_has_not_begun },
    { "what an outage takes is booked, by cause", what_an_outage_takes_is_booked },
};
TEST_MAIN(tests)
