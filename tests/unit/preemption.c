/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What it costs a job to be preempted, by hand: 100 s of work from 0 on, on a node of four GPUs;
 * at 30 s a job of 20 s comes and takes its place until 50 s (srtf).
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ends {
    double long_s, short_s;
};

static void see_job(void *state, const struct sim_job_row *row)
{
    struct ends *ends = state;
    if (strncmp(row->name, "b", 1) == 0)
        ends->short_s = sim_time_s(row->end_ns);
    else
        ends->long_s = sim_time_s(row->end_ns);
}

static struct sim_run_summary *run(const char *jobs, const char *shape, struct ends *ends)
{
    char text[2000];
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\nhorizon: 2000 s\n"
                   "cluster:\n  nodes: [{name: n, cpus: 64, gpus: {h100: 4}}]\n"
                   "sched: {queueing: srtf}\n"
                   "jobs:\n  - name: w\n%s    classes: [{name: a, count: 1, run_time: 100 s, %s}]\n"
                   "  - name: b\n    classes: [{name: b, count: 1, "
                   "at: 30 s, run_time: 20 s, %s}]\n",
                   jobs, shape, shape);
    *ends = (struct ends){ (double)NAN, (double)NAN };
    const struct sim_observer observer = { .job = see_job, .state = ends };
    return test_watch_text(text, &observer);
}

/* One GPU; several of one place; several places. */
static const char *const shapes[] = { "request: {gpus: 4}", "members: 4, request: {gpus: 1}" };
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* covers: S1.130 */
static void a_preempted_job_loses_what_the_scenario_says(void)
{
    static const struct {
        const char *jobs;
        double end_s, lost_s; /* lost: counted where there are checkpoints */
    } cases[] = {
        { "", 50 + 100, (double)NAN },
        { "    preemption: all\n", 50 + 70, (double)NAN },
        { "    preemption: {keeps: all, restart: 5 s}\n", 50 + 5 + 70, (double)NAN },
        { "    checkpoint: {interval: 20 s}\n", 50 + 80, 10 },
        { "    checkpoint: {interval: 20 s, restart: 3 s}\n", 50 + 3 + 80, 10 },
        { "    checkpoint: {interval: 20 s, restart: 3 s}\n    preemption: {restart: 7 s}\n",
          50 + 7 + 80, 10 },
        /* the second checkpoint would be written from 42 s on */
        { "    checkpoint: {interval: 20 s, cost: 2 s}\n", 50 + 80 + 3 * 2, 8 },
        /* 28 s of work are done, in whatever phase it is */
        { "    checkpoint: {interval: 20 s, cost: 2 s}\n    preemption: all\n", 50 + 72 + 3 * 2,
          0 },
        { "    checkpoint: {interval: 29 s, cost: 2 s}\n    preemption: all\n", 50 + 71 + 2 * 2,
          0 },
        { "    start_latency: 40 s\n    preemption: all\n", 50 + 40 + 100, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t shape = 0; shape < SHAPES; shape++) {
            struct ends ends;
            struct sim_run_summary *summary = run(cases[i].jobs, shapes[shape], &ends);
            CHECK_NEAR(ends.short_s, 50, 0);
            if (!CHECK_NEAR(ends.long_s, cases[i].end_s, 0))
                printf("case %zu, shape %zu\n", i, shape);
            CHECK_NEAR(test_value(summary, "jobs.preempted", "w/a"), 1, 0);
            if (!isnan(cases[i].lost_s))
                CHECK_NEAR(test_value(summary, "jobs.lost_s", "w"), cases[i].lost_s, 1e-9);
            free(summary);
        }
    }
}

static void with_its_last_run_a_job_is_given_up(void)
{
    static const struct {
        const char *jobs;
        double long_s, done, retried, exhausted;
    } cases[] = {
        { "    max_attempts: 1\n", 30, 0, 0, 1 },
        { "    max_attempts: 2\n", 150, 1, 1, 0 },
        { "", 150, 1, 1, 0 },
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++)
        for (size_t s = 0; s < SHAPES; s++) {
            struct ends ends;
            struct sim_run_summary *summary = run(cases[c].jobs, shapes[s], &ends);
            CHECK_NEAR(ends.long_s, cases[c].long_s, 1e-9);
            CHECK_NEAR(ends.short_s, 50, 1e-9);
            CHECK_NEAR(test_value(summary, "jobs.done", "w/a"), cases[c].done, 0);
            CHECK_NEAR(test_value(summary, "jobs.preempted", "w/a"), 1, 0);
            CHECK_NEAR(test_value(summary, "retry.count", ""), cases[c].retried, 0);
            CHECK_NEAR(test_value(summary, "retry.exhausted", ""), cases[c].exhausted, 0);
            free(summary);
        }
}

/* An hour's work in the background, and a minute's that is urgent every ten minutes: what was done
 * since the start is lost each time, 600, 540 and 540 s, or since the last checkpoint (301 s:
 * none falls on an urgent one). With three starts it is given up at the third.
 * covers: S3.27 */
static void a_checkpoint_limits_what_is_lost_and_retries_what_is_tried(void)
{
    static const char *const text =
        "schema: 2\nname: t\nhorizon: 3 h\nsched: {queueing: strict_priority}\n"
        "cluster: {nodes: [{name: n, cpus: 8, gpus: {h100: 1}}]}\n"
        "jobs:\n  - name: long\n    max_attempts: 3\n    checkpoint: {interval: 301 s}\n"
        "    classes: [{name: a, count: 1, priority: 1, run_time: 1 h, request: {gpus: 1}}]\n"
        "  - name: urgent\n    count: 3\n    arrivals: {process: renewal, gap: const(600)}\n"
        "    classes: [{name: b, priority: 100, run_time: 1 min, request: {gpus: 1}}]\n";
    struct sim_run_summary *summary = test_run_text(text, "jobs.long.checkpoint.interval=2h");
    CHECK_NEAR(test_value(summary, "jobs.lost_s", "long"), 600 + 540 + 540, 1e-6);
    CHECK_NEAR(test_value(summary, "jobs.exhausted", "long"), 1, 0);
    CHECK_NEAR(test_value(summary, "jobs.done", "long"), 0, 0);
    free(summary);
    summary = test_run_text(text, NULL);
    CHECK_NEAR(test_value(summary, "jobs.lost_s", "long"), 299 + 239 + 239, 1e-6);
    free(summary);
    summary = test_run_text(text, "jobs.long.max_attempts=4");
    CHECK_NEAR(test_value(summary, "retry.exhausted", ""), 0, 0);
    CHECK_NEAR(test_value(summary, "jobs.done", "long"), 1, 0);
    free(summary);
}

/* Ten of 100 s at once on one GPU: they begin at 0, 100, ... 700 s, and at 750 s two wait. */
static void who_waits_too_long_is_counted_however_it_ends(void)
{
    static const char *const text =
        "schema: 2\nname: t\nhorizon: 750 s\ncluster: {nodes: [{name: n, cpus: 8, gpus: {h100: "
        "1}}]}\n"
        "jobs:\n  - name: w\n    run_time: 100 s\n    starved_after: 500 s\n"
        "    classes: [{name: a, count: 10, at: 0 s, request: {gpus: 1}}]\n";
    static const struct {
        const char *set;
        double count;
    } cases[] = {
        { "jobs.w.starved_after=500s", 4 }, /* at 600 and 700 s, and two that wait */
        { "jobs.w.starved_after=700s", 2 },
        { "jobs.w.starved_after=750s", 0 },
        { "jobs.w.patience=const(550)", 4 }, /* four leave at 550 s */
    };
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct sim_run_summary *summary = test_run_text(text, cases[c].set);
        CHECK_NEAR(test_value(summary, "starvation.count", "a"), cases[c].count, 0);
        free(summary);
    }
}

/* One that wants eight GPUs of which one is another's share is told to go, and goes at once, as it
 * has not begun: it does not come back before the other has its GPU, and waits for that one's end.
 */
static void who_was_told_to_go_does_not_take_his_place_again(void)
{
    static const char *const text =
        "schema: 2\nname: t\nhorizon: 1 h\ncluster: {nodes: [{name: n, cpus: 64, gpus: {h100: "
        "8}}]}\n"
        "tenants: [{name: a}, {name: b}]\nsched: {queueing: {policy: quota_queues, grace: 10 s}}\n"
        "jobs:\n  - name: w\n    start_latency: 30 s\n    classes:\n"
        "      - {name: b, tenant: b, count: 1, at: 0 s, run_time: 100 s, request: {gpus: 8}}\n"
        "      - {name: a, tenant: a, count: 1, at: 20 s, run_time: 50 s, request: {gpus: 1}}\n";
    struct sim_run_summary *summary = test_run_text(text, NULL);
    CHECK_NEAR(test_value(summary, "wait.job.max", "a"), 0, 0);
    CHECK_NEAR(test_value(summary, "jct.max", "a"), 80, 1e-9);
    CHECK_NEAR(test_value(summary, "jct.max", "b"), 100 + 130, 1e-9);
    CHECK_NEAR(test_value(summary, "jobs.preempted", "b"), 1, 0);
    CHECK(test_value(summary, "sched.decisions", "") < 10);
    free(summary);
}

static const struct test tests[] = {
    { "who was told to go does not take his place again",
      who_was_told_to_go_does_not_take_his_place_again },
    { "with its last run a job is given up", with_its_last_run_a_job_is_given_up },
    { "a checkpoint limits what is lost, and retries what is tried",
      a_checkpoint_limits_what_is_lost_and_retries_what_is_tried },
    { "who waits too long is counted however it ends",
      who_waits_too_long_is_counted_however_it_ends },
    { "a preempted job loses what the scenario says",
      a_preempted_job_loses_what_the_scenario_says },
};
TEST_MAIN(tests)
