/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs under a view that is 20 s old (sched.view_age): the scheduler hears of what came, left and
 * ended, and of nodes, 20 s later; what it plans with what is gone is refused.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include "sim/record/record.h"

#include <stdlib.h>
#include <string.h>

#define CLUSTER(nodes)                                                                             \
    "schema: 2\nname: t\nsched: {view_age: 20 s}\n"                                                \
    "cluster: {nodes: [{name: n, count: " nodes ", cpus: 8, gpus: {h100: 1}}]}\n"                  \
    "jobs:\n"                                                                                      \
    "  - name: w\n"                                                                                \
    "    run_time: 60 s\n"                                                                         \
    "    classes:\n"                                                                               \
    "      - {name: a, count: 1, request: {gpus: 1}}\n"

enum { JOBS = 4 };

struct seen {
    struct sim_job_row rows[JOBS];
};

static void take_job(void *state, const struct sim_job_row *row)
{
    struct seen *seen = state;
    if (row->job < JOBS)
        seen->rows[row->job] = *row;
}

static struct seen run(const char *text, const char *sets)
{
    struct seen seen = { 0 };
    const struct sim_observer observer = { .state = &seen, .job = take_job };
    struct sim_scenario *scenario = test_scenario(text, sets);
    CHECK(scenario != NULL);
    if (scenario == NULL)
        return seen;
    struct sim_run_summary *summary = test_run(scenario, 0, &observer);
    CHECK_STR(summary->outcome, "complete");
    free(summary);
    sim_scenario_destroy(scenario);
    return seen;
}

static void check_job(const struct seen *seen, uint32_t job, const char *outcome, double start_s,
                      double end_s)
{
    const struct sim_job_row *row = &seen->rows[job];
    CHECK_STR(row->outcome == NULL ? "" : row->outcome, outcome);
    CHECK_NEAR((double)row->start_ns / 1e9, start_s, 1e-6);
    CHECK_NEAR((double)row->end_ns / 1e9, end_s, 1e-6);
}

/* The first ends at 80 s; that its GPU is free is known at 100 s. */
static void jobs_are_seen_late(void)
{
    const struct seen seen =
        run(CLUSTER("1") "      - {name: b, count: 1, request: {gpus: 1}}\n", NULL);
    check_job(&seen, 0, "done", 20, 80);
    check_job(&seen, 1, "done", 100, 160);
}

static void without_age_they_are_seen_at_once(void)
{
    const struct seen seen =
        run(CLUSTER("1") "      - {name: b, count: 1, request: {gpus: 1}}\n", "sched.view_age=0s");
    check_job(&seen, 0, "done", 0, 60);
    check_job(&seen, 1, "done", 60, 120);
}

/* It has left when its plan comes, or when it is heard of. */
static void a_job_that_left_is_not_started(void)
{
    const struct seen seen = run(
        CLUSTER("2") "      - {name: b, count: 1, patience: 30 s, at: 5 s, request: {gpus: 1}}\n"
                     "      - {name: c, count: 1, patience: 10 s, at: 6 s, request: {gpus: 1}}\n",
        "sched.latency=15s");
    check_job(&seen, 0, "done", 35, 95);
    check_job(&seen, 1, "left", -1e-9, 35);
    check_job(&seen, 2, "left", -1e-9, 16);
}

/* It leaves at 23 s; at 25 s the scheduler hears of it and turns it away, at 43 s that it left. */
static void a_job_may_leave_before_it_is_turned_away(void)
{
    const struct seen seen = run(
        CLUSTER("1") "      - {name: b, count: 1, patience: 18 s, at: 5 s, request: {gpus: 1}}\n",
        "jobs[0].queue_limit=0");
    check_job(&seen, 0, "done", 20, 80);
    check_job(&seen, 1, "left", -1e-9, 23);
}

static void a_job_that_never_fits_is_turned_away_late(void)
{
    const struct seen seen =
        run(CLUSTER("1") "      - {name: b, count: 1, at: 5 s, request: {gpus: 2}}\n", NULL);
    check_job(&seen, 1, "refused", -1e-9, 25);
}

/* Down from 30 to 80 s: known from 50 to 100 s. The second is planned at 45 s on a node that is
 * not there. */
static void a_lost_node_is_seen_late(void)
{
    const struct seen seen =
        run(CLUSTER("2") "      - {name: b, count: 1, at: 25 s, request: {gpus: 1}}\n"
                         "timeline:\n"
                         "  - {at: 30 s, for: 50 s, action: node_down, node: n-0}\n"
                         "  - {at: 30 s, for: 50 s, action: node_down, node: n-1}\n",
            NULL);
    check_job(&seen, 0, "done", 100, 160);
    check_job(&seen, 1, "done", 100, 160);
    CHECK_I64(seen.rows[0].attempts, 2);
    CHECK_I64(seen.rows[1].attempts, 1);
}

/* Down from 30 to 40 s, empty: the second job starts there before anybody hears of it, and is still
 * known when it ends. */
static void a_node_that_is_back_in_time_was_never_missed(void)
{
    const struct seen seen =
        run(CLUSTER("2") "      - {name: b, count: 1, at: 25 s, request: {gpus: 1}}\n"
                         "      - {name: c, count: 1, at: 100 s, request: {gpus: 1}}\n"
                         "timeline:\n"
                         "  - {at: 30 s, for: 10 s, action: node_down, node: n-1}\n",
            NULL);
    check_job(&seen, 0, "done", 20, 80);
    check_job(&seen, 1, "done", 45, 105);
    check_job(&seen, 2, "done", 120, 180);
}

static void a_younger_view_takes_over_at_once(void)
{
    const struct seen seen =
        run(CLUSTER("1") "timeline:\n"
                         "  - {at: 50 s, action: set, set: {sched.view_age: 0 s}}\n",
            "sched.view_age=1000s");
    check_job(&seen, 0, "done", 50, 110);
}

/* ---- refusals ---- */

static double refused(const char *text, const char *sets)
{
    struct sim_run_summary *summary = test_run_text(text, sets);
    const double count = test_value(summary, "sched.refused", "");
    free(summary);
    return count;
}

/* What truth refuses is counted by the worker. Who left before his plan came was not refused. */
static void a_job_that_left_was_not_refused(void)
{
    CHECK_NEAR(refused(CLUSTER("2") "      - {name: b, count: 1, patience: 30 s, at: 5 s, "
                                    "request: {gpus: 1}}\n",
                       "sched.latency=15s"),
               0, 0);
}

#define GANG(members)                                                                              \
    "schema: 2\nname: t\nsched: {view_age: 20 s}\n"                                                \
    "cluster: {nodes: [{name: n, count: 2, cpus: 8, gpus: {h100: 1}}]}\n"                          \
    "jobs:\n  - name: w\n    run_time: 60 s\n    classes:\n"                                       \
    "      - {name: b, count: 1, at: 25 s, members: " members ", request: {gpus: 1}}\n"            \
    "timeline:\n"                                                                                  \
    "  - {at: 30 s, for: 50 s, action: node_down, node: n-0}\n"                                    \
    "  - {at: 30 s, for: 50 s, action: node_down, node: n-1}\n"

/* Both nodes are lost at 30 s, which is known at 50 s: at 45 s a rank is planned on each. */
static void of_a_gang_every_rank_is_refused(void)
{
    CHECK_NEAR(refused(GANG("1"), NULL), 1, 0);
    CHECK_NEAR(refused(GANG("2"), NULL), 2, 0);
}

/* Four CPUs: when b becomes slow, a worker of a gives way to one of b in one plan. */
static void stops_make_room_before_starts_take_it(void)
{
    static const char text[] =
        "schema: 2\nname: t\nhorizon: 200 s\ncluster: {nodes: [{name: n, cpus: 4}]}\n"
        "sched: {placement: first_fit, scaling: {policy: xenna, interval: 10 s}}\n"
        "pipelines:\n  - name: p\n    semantics: event\n    input: {items: 100000}\n    stages:\n"
        "      - {name: a, cpus: 1, service: 1 s}\n      - {name: b, cpus: 1, service: 1 s}\n"
        "timeline: [{at: 50 s, action: stage_slow, stage: p.b, factor: 3}]\n";
    struct sim_run_summary *summary = test_run_text(text, NULL);
    CHECK_NEAR(test_value(summary, "worker.created", ""), 5, 0);
    CHECK_NEAR(test_value(summary, "sched.refused", ""), 0, 0);
    free(summary);
}

static const struct test tests[] = {
    { "jobs are seen late", jobs_are_seen_late },
    { "without an age they are seen at once", without_age_they_are_seen_at_once },
    { "a job that left is not started", a_job_that_left_is_not_started },
    { "a job may leave before it is turned away", a_job_may_leave_before_it_is_turned_away },
    { "a job that never fits is turned away late", a_job_that_never_fits_is_turned_away_late },
    { "a lost node is seen late", a_lost_node_is_seen_late },
    { "a node that is back in time was never missed",
      a_node_that_is_back_in_time_was_never_missed },
    { "a younger view takes over at once", a_younger_view_takes_over_at_once },
    { "a job that left was not refused", a_job_that_left_was_not_refused },
    { "of a gang every rank is refused", of_a_gang_every_rank_is_refused },
    { "stops make room before starts take it", stops_make_room_before_starts_take_it },
};
TEST_MAIN(tests)
