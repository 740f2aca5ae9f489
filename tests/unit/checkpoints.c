/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starts and checkpoints of jobs by hand: when a job works, saves, is lost and goes on. A node of
 * four GPUs is away for 10 s from 100 s on, and from 210 s on, and so forth.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct life {
    double start_s, end_s;
};

static void see_job(void *state, const struct sim_job_row *row)
{
    struct life *life = state;
    *life = (struct life){ sim_time_s(row->start_ns), sim_time_s(row->end_ns) };
}

static struct sim_run_summary *run(const char *cluster, const char *jobs, const char *job,
                                   struct life *life)
{
    char text[2000];
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\nhorizon: 2000 s\n"
                   "cluster:\n  nodes: [{name: n, cpus: 64, gpus: {h100: 4}}]\n%s"
                   "jobs:\n  - name: w\n%s    classes: [{name: a, count: 1, %s}]\n",
                   cluster, jobs, job);
    *life = (struct life){ NAN, NAN };
    const struct sim_observer observer = { .job = see_job, .state = life };
    return test_watch_text(text, &observer);
}

#define FAILING "  failures: {node_between: const(100 s), node_repair: const(10 s)}\n"

/* One GPU; several of one place; several places: what a run is made of differs. */
static const char *const shapes[] = { "request: {gpus: 1}", "request: {gpus: 4}",
                                      "members: 4, request: {gpus: 1}" };
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void job_text(char text[200], const char *run_time, size_t shape)
{
    (void)snprintf(text, 200, "run_time: %s, %s", run_time, shapes[shape]);
}

static void a_job_holds_its_devices_before_it_works(void)
{
    for (size_t i = 0; i < SHAPES; i++) {
        struct life life;
        char job[200];
        job_text(job, "40 s", i);
        struct sim_run_summary *summary = run("", "    start_latency: 15 s\n", job, &life);
        CHECK_NEAR(life.start_s, 0, 0);
        CHECK_NEAR(life.end_s, 55, 0);
        CHECK_NEAR(test_value(summary, "goodput.frac", ""), 40.0 / 55, 1e-12);
        free(summary);
    }
}

/* 95 s of work, saved after 30, 60 and 90 s of it for 2 s each. */
static void every_interval_of_work_costs_a_checkpoint(void)
{
    for (size_t i = 0; i < SHAPES; i++) {
        struct life life;
        char job[200];
        job_text(job, "95 s", i);
        struct sim_run_summary *summary =
            run("", "    checkpoint: {interval: 30 s, cost: 2 s}\n", job, &life);
        CHECK_NEAR(life.end_s, 95 + 3 * 2, 0);
        CHECK_NEAR(test_value(summary, "jobs.saves", ""), 3, 0);
        free(summary);
    }
}

/* 90 s saved at 96 s, 4 s lost at 100 s; from 110 s on 5 s to restart, then the other 60 s with two
 * more checkpoints, of which the second would come with the end. */
static void a_lost_job_goes_on_from_its_last_checkpoint(void)
{
    for (size_t i = 0; i < SHAPES; i++) {
        struct life life;
        char job[200];
        job_text(job, "150 s", i);
        struct sim_run_summary *summary =
            run(FAILING, "    checkpoint: {interval: 30 s, cost: 2 s, restart: 5 s}\n", job, &life);
        CHECK_NEAR(life.start_s, 110, 0);
        CHECK_NEAR(life.end_s, 110 + 5 + 60 + 2, 0);
        CHECK_NEAR(test_value(summary, "jobs.lost_s", ""), 4, 1e-9);
        CHECK_NEAR(test_value(summary, "goodput.frac", ""), 150.0 / (100 + 67), 1e-9);
        free(summary);
    }
}

/* 31 s of each interval: at 100 s the fourth checkpoint is being written, which began at 99 s; its
 * 31 s are lost with it, as are the 6 s after one. */
static void a_checkpoint_that_is_not_written_is_none(void)
{
    struct life life;
    struct sim_run_summary *summary = run(FAILING, "    checkpoint: {interval: 31 s, cost: 3 s}\n",
                                          "run_time: 100 s, request: {gpus: 1}", &life);
    /* 31, 65 and 99 s: two are kept, 62 s. From 110 s on 38 s are left, and one is written. */
    CHECK_NEAR(life.end_s, 110 + 38 + 3, 0);
    CHECK_NEAR(test_value(summary, "jobs.lost_s", ""), 31, 1e-9);
    free(summary);
}

static void without_checkpoints_a_lost_job_begins_anew(void)
{
    struct life life;
    free(run(FAILING, "", "run_time: 95 s, at: 20 s, request: {gpus: 1}", &life));
    CHECK_NEAR(life.end_s, 110 + 95, 0);
}

/* Work is counted where it is done: the slow half of the node's time saves half as much. */
static void what_is_saved_is_work_and_not_time(void)
{
    struct life life;
    free(run(FAILING "timeline: [{at: 0 s, action: node_slow, node: n, factor: 2, for: 105 s}]\n",
             "    checkpoint: 80 s\n", "run_time: 100 s, request: {gpus: 1}", &life));
    CHECK_NEAR(life.end_s, 110 + 60, 1e-8); /* 40 s of work were saved at 80 s */
}

static const struct test tests[] = {
    { "a job holds its devices before it works", a_job_holds_its_devices_before_it_works },
    { "every interval of work costs a checkpoint", every_interval_of_work_costs_a_checkpoint },
    { "a lost job goes on from its last checkpoint", a_lost_job_goes_on_from_its_last_checkpoint },
    { "a checkpoint that is not written is none", a_checkpoint_that_is_not_written_is_none },
    { "without checkpoints a lost job begins anew", without_checkpoints_a_lost_job_begins_anew },
    { "what is saved is work and not time", what_is_saved_is_work_and_not_time },
};
TEST_MAIN(tests)
