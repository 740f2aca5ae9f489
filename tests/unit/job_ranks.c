/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs that come because others are over, jobs whose ranks differ, and jobs whose number of members
 * changes: times worked out by hand. All invariants are checked after every event.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOBS = 16, PATH = 64, TEXT = 4000 };

struct seen {
    double submit_s[JOBS], start_s[JOBS], end_s[JOBS];
    char outcome[JOBS][16], name[JOBS][32];
    double gpus, cpus;
    uint32_t members, attempts;
    size_t count;
};

static void see(void *state, const struct sim_job_row *row)
{
    struct seen *seen = state;
    if (row->job >= JOBS)
        return;
    seen->submit_s[row->job] = sim_time_s(row->submit_ns);
    seen->start_s[row->job] = sim_time_s(row->first_start_ns);
    seen->end_s[row->job] = sim_time_s(row->end_ns);
    (void)snprintf(seen->outcome[row->job], sizeof seen->outcome[0], "%s", row->outcome);
    (void)snprintf(seen->name[row->job], sizeof seen->name[0], "%s", row->name);
    seen->gpus = row->gpus;
    seen->cpus = row->cpus;
    seen->members = row->members;
    seen->attempts = row->attempts;
    seen->count++;
}

#define HEAD(nodes) "schema: 2\nname: t\nhorizon: 10 h\ncluster: {nodes: [" nodes "]}\n"

/* The caller frees the summary. */
static struct sim_run_summary *watch(const char *text, struct seen *seen)
{
    memset(seen, 0, sizeof *seen);
    const struct sim_observer observer = { .job = see, .state = seen };
    return test_watch_text(text, &observer);
}

static void check_times(const double *seen, const double *wanted, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!CHECK_NEAR(seen[i], wanted[i], 1e-9))
            printf("job %zu\n", i);
}

/* ---- who comes after whom ---- */

/* One GPU, two users who think for 5 s, jobs of 10 s: the GPU is never idle, and each job but the
 * first two comes 5 s after an end. */
static void users_wait_for_their_jobs(void)
{
    const char *text =
        HEAD("{name: n, cpus: 8, gpus: {h100: 1}}") "jobs:\n  - name: w\n    classes: "
                                                    "[{name: a, users: 2, count: 6, think: 5 s, "
                                                    "run_time: 10 s, request: {gpus: 1}}]\n";
    const double submits[] = { 0, 0, 15, 25, 35, 45 };
    const double starts[] = { 0, 10, 20, 30, 40, 50 };
    struct seen seen;
    struct sim_run_summary *summary = watch(text, &seen);
    CHECK_I64(seen.count, 6);
    check_times(seen.submit_s, submits, 6);
    check_times(seen.start_s, starts, 6);
    CHECK_NEAR(test_value(summary, "makespan", ""), 60, 0);
    free(summary);
}

/* A job that fits nowhere: its user comes again every second, not for ever at one instant. One
 * whose array has such jobs does so, too. */
static void refused_users_do_not_stop_the_clock(void)
{
    static const char *const arrays[] = { "", "array: 2, " };
    for (uint32_t i = 0; i < 2; i++) {
        char text[TEXT];
        struct seen seen;
        (void)snprintf(text, sizeof text,
                       "schema: 2\nname: t\nhorizon: 5 s\ncluster: {nodes: [{name: n, cpus: 8, "
                       "gpus: {h100: 1}}]}\njobs:\n  - name: w\n    classes: [{name: a, users: 1, "
                       "%scount: 20, run_time: 10 s, request: {gpus: 2}}]\n",
                       arrays[i]);
        struct sim_run_summary *summary = watch(text, &seen);
        CHECK_I64(seen.count, 6 * (1 + i)); /* at 0, 1, ... 5 s */
        free(summary);
    }
}

/* A chain and a loop of tasks: b after a, c after b with a thought; an array of 5 of which 2 are
 * there at a time, then d after it. */
static void classes_and_arrays_follow(void)
{
    const char *text = HEAD(
        "{name: n, cpus: 8, gpus: {h100: 8}}") "jobs:\n  - name: w\n"
                                               "    classes:\n"
                                               "      - {name: a, count: 1, run_time: 10 s, "
                                               "request: {gpus: 1}}\n"
                                               "      - {name: b, after: a, run_time: 20 s, "
                                               "request: {gpus: 1}}\n"
                                               "      - {name: c, after: b, think: 3 s, run_time: "
                                               "1 s, request: {gpus: 1}}\n"
                                               "  - name: x\n    classes:\n"
                                               "      - {name: s, count: 1, array: 5, array_limit: "
                                               "2, run_time: 10 s, request: {gpus: 1}}\n"
                                               "      - {name: d, after: s, run_time: 1 s, "
                                               "request: {gpus: 1}}\n";
    struct seen seen;
    struct sim_run_summary *summary = watch(text, &seen);
    /* Ids count within a workload; the second is told last. */
    const double starts[] = { 0, 0, 10, 10, 20, 30 };
    CHECK_I64(seen.count, 9);
    check_times(&seen.start_s[3], &starts[3], 3);
    CHECK_NEAR(test_value(summary, "makespan", "w"), 34, 0);
    CHECK_NEAR(test_value(summary, "makespan", "x"), 31, 0);
    free(summary);
}

/* Fields 17 and 18: job 2 comes 5 s after the end of 91; job 3 names 91 and no thought: at its own
 * time, 200 s, which is later; job 4 the same, and comes with the end. Numbers need no order. On
 * half the speed of the machine everything that follows comes later. */
static void rows_of_a_trace_follow(void)
{
    static const char swf[] = "; MaxProcs: 8\n"
                              "91 0 0 100 4 -1 -1 4 100 -1 1 3 4 -1 -1 -1 -1 -1\n"
                              "2 1 0 10 4 -1 -1 4 10 -1 1 3 4 -1 -1 -1 91 5\n"
                              "3 200 0 10 4 -1 -1 4 10 -1 1 3 4 -1 -1 -1 91 -1\n"
                              "4 2 0 10 4 -1 -1 4 10 -1 1 3 4 -1 -1 -1 91 -1\n";
    const double closed[] = { 0, 100, 105, 200 };
    const double open[] = { 0, 1, 2, 200 };
    char path[PATH] = "/tmp/weir-follow-XXXXXX";
    const int file = mkstemp(path);
    CHECK(write(file, swf, sizeof swf - 1) == (ssize_t)(sizeof swf - 1));
    (void)close(file);
    for (int follows = 1; follows >= 0; follows--) {
        char text[TEXT];
        struct seen seen;
        (void)snprintf(text, sizeof text,
                       HEAD("{name: n, cpus: 64}") "jobs: [{name: w, trace: %s, format: swf%s}]\n",
                       path, follows != 0 ? "" : ", dependencies: ignore");
        struct sim_run_summary *summary = watch(text, &seen);
        CHECK_I64(seen.count, 4);
        check_times(seen.submit_s, follows != 0 ? closed : open, 4);
        free(summary);
    }
    (void)unlink(path);
}

/* Rows by number and by name, and who of two that come together is first. */
static void a_trace_begins_at_a_row(void)
{
    static const char swf[] = "; MaxProcs: 8\n"
                              "7 0 0 100 4 -1 -1 4 100 -1 1 3 4 -1 -1 -1 -1 -1\n"
                              "8 50 0 30 4 -1 -1 4 100 -1 1 3 4 -1 -1 -1 -1 -1\n"
                              "9 50 0 10 8 -1 -1 8 100 -1 1 3 4 -1 -1 -1 -1 -1\n"
                              "10 50 0 10 2 -1 -1 2 100 -1 1 3 4 -1 -1 -1 -1 -1\n";
    static const struct {
        const char *keys, *first;
        size_t jobs;
    } cases[] = {
        { "first_row: 2", "8", 3 },
        { "first_job: '8'", "8", 3 },
        { "first_row: 2, count: 1", "8", 1 },
        { "first_row: 2, processor: gpu, ties: smallest", "10", 3 },
        { "first_row: 2, processor: gpu, ties: shortest", "10", 3 },
        { "first_row: 2, processor: gpu, ties: as_given", "8", 3 },
    };
    char path[PATH] = "/tmp/weir-rows-XXXXXX";
    const int file = mkstemp(path);
    CHECK(write(file, swf, sizeof swf - 1) == (ssize_t)(sizeof swf - 1));
    (void)close(file);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[TEXT];
        struct seen seen;
        (void)snprintf(text, sizeof text,
                       HEAD("{name: n, cpus: 64, gpus: {h100: 8}}") "sched: {queueing: fcfs}\n"
                                                                    "jobs: [{name: w, trace: %s, "
                                                                    "format: swf, %s}]\n",
                       path, cases[i].keys);
        struct sim_run_summary *summary = watch(text, &seen);
        CHECK_I64(seen.count, cases[i].jobs);
        CHECK_STR(seen.name[0], cases[i].first);
        CHECK_NEAR(seen.submit_s[0], 0, 0);
        free(summary);
    }
    (void)unlink(path);
}

/* Rows by their dates: the first one is time 0, the last one is not in it. */
static void a_trace_is_cut_by_dates(void)
{
    static const char swf[] = "; UnixStartTime: 1507507200\n; MaxProcs: 8\n"
                              "7 0 0 100 4 -1 -1 4 100 -1 1 3 4 -1 -1 -1 -1 -1\n"
                              "8 3600 0 30 4 -1 -1 4 100 -1 1 3 4 -1 -1 -1 -1 -1\n"
                              "9 7200 0 10 8 -1 -1 8 100 -1 1 3 4 -1 -1 -1 -1 -1\n"
                              "10 30000 0 10 2 -1 -1 2 100 -1 1 3 4 -1 -1 -1 -1 -1\n";
    static const struct {
        const char *keys, *first;
        size_t jobs;
        double at_s;
    } cases[] = {
        { "first_date: 2017-10-09T00:30:00Z", "8", 3, 1800 },
        { "first_date: 2017-10-09T01:00:00Z, last_date: 2017-10-09T08:00:00Z", "8", 2, 0 },
        { "last_date: 2017-10-09T01:00:00Z", "7", 1, 0 },
        { "last_date: 2017-10-09T03:00:00Z, first_row: 2", "8", 2, 0 },
    };
    char path[PATH] = "/tmp/weir-dates-XXXXXX";
    const int file = mkstemp(path);
    CHECK(write(file, swf, sizeof swf - 1) == (ssize_t)(sizeof swf - 1));
    (void)close(file);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[TEXT];
        struct seen seen;
        (void)snprintf(
            text, sizeof text,
            HEAD("{name: n, cpus: 64}") "sched: {queueing: fcfs}\n"
                                        "jobs: [{name: w, trace: %s, format: swf, %s}]\n",
            path, cases[i].keys);
        struct sim_run_summary *summary = watch(text, &seen);
        CHECK_I64(seen.count, cases[i].jobs);
        CHECK_STR(seen.name[0], cases[i].first);
        CHECK_NEAR(seen.submit_s[0], cases[i].at_s, 0);
        free(summary);
    }
    (void)unlink(path);
}

/* ---- estimates ---- */

static void a_run_ends_at_its_estimate(void)
{
    static const char *const rules[] = { "run", "kill" };
    for (size_t i = 0; i < 2; i++) {
        char text[TEXT];
        struct seen seen;
        (void)snprintf(
            text, sizeof text,
            HEAD("{name: n, cpus: 8, gpus: {h100: 1}}") "jobs:\n  - name: w\n"
                                                        "    over_estimate: %s\n    start_latency: "
                                                        "4 s\n    classes:\n"
                                                        "      - {name: a, count: 1, run_time: 100 "
                                                        "s, estimate: 0.5, request: "
                                                        "{gpus: 1}}\n"
                                                        "      - {name: b, count: 1, run_time: 10 "
                                                        "s, estimate: 2, request: {gpus: "
                                                        "1}}\n",
            rules[i]);
        struct sim_run_summary *summary = watch(text, &seen);
        const double ends[] = { i == 0 ? 104 : 50, i == 0 ? 118 : 64 };
        check_times(seen.end_s, ends, 2);
        CHECK_STR(seen.outcome[0], i == 0 ? "done" : "overrun");
        CHECK_STR(seen.outcome[1], "done");
        CHECK_NEAR(test_value(summary, "jobs.done", ""), i == 0 ? 2 : 1, 0);
        free(summary);
    }
}

/* ---- ranks that differ ---- */

#define SERVERS                                                                                    \
    "members: 4, request: {gpus: 2, cpus: 8}, groups: [{name: server, members: 2, request: "       \
    "{cpus: 16}}, {name: launcher, request: {cpus: 1}}]"

/* Four workers of 2 GPUs, two servers of 16 CPUs, a launcher: all start together or none does. The
 * second job finds GPUs and no place for its servers. */
static void ranks_of_different_shapes_start_together(void)
{
    const char *text = HEAD(
        "{name: n, count: 2, cpus: 64, gpus: {h100: 8}}") "sched: {placement: first_fit, queueing: "
                                                          "first_fit}\n"
                                                          "jobs:\n  - name: w\n    run_time: 100 "
                                                          "s\n    classes:\n"
                                                          "      - {name: a, count: 1, " SERVERS
                                                          "}\n"
                                                          "      - {name: b, count: 1, at: 1 "
                                                          "s, " SERVERS "}\n"
                                                          "      - {name: c, count: 1, at: 2 s, "
                                                          "members: 4, request: {gpus: 1, cpus: "
                                                          "1}}\n";
    const double starts[] = { 0, 100, 2 };
    struct seen seen;
    struct sim_run_summary *summary = watch(text, &seen);
    check_times(seen.start_s, starts, 3);
    free(summary);
    summary = watch(
        HEAD(
            "{name: n, count: 2, cpus: 64, gpus: {h100: 8}}") "jobs:\n  - name: w\n    run_time: "
                                                              "100 s\n    classes:\n"
                                                              "      - {name: a, count: 1, " SERVERS
                                                              "}\n",
        &seen);
    CHECK_I64(seen.members, 7);
    CHECK_NEAR(seen.gpus, 8, 0);
    CHECK_NEAR(seen.cpus, 4 * 8 + 2 * 16 + 1, 0);
    CHECK_NEAR(test_value(summary, "gpus.held.mean", ""), 8, 1e-9);
    free(summary);
}

/* A server on a node that is half as fast for 40 s: so is the job. */
static void a_slow_server_slows_the_job_down(void)
{
    const char *text = HEAD(
        "{name: n, cpus: 64, gpus: {h100: 4}}, {name: m, cpus: 64}") "sched: {placement: "
                                                                     "first_fit}\n"
                                                                     "jobs:\n  - name: w\n    "
                                                                     "run_time: 100 s\n    "
                                                                     "classes:\n"
                                                                     "      - {name: a, count: 1, "
                                                                     "request: {gpus: 4, cpus: "
                                                                     "64}, groups: [{name: ps, "
                                                                     "request: "
                                                                     "{cpus: 16}}]}\n"
                                                                     "timeline: [{at: 10 s, "
                                                                     "action: node_slow, node: m, "
                                                                     "factor: 2, for: 40 s}]\n";
    struct seen seen;
    struct sim_run_summary *summary = watch(text, &seen);
    CHECK_NEAR(seen.end_s[0], 120, 1e-6);
    free(summary);
}

/* ---- members that change ---- */

#define ELASTIC(rule)                                                                              \
    "jobs:\n  - name: w\n    classes: [{name: a, count: 1, members: 64, request: {gpus: 1}, "      \
    "run_time: 3600 s, elastic: " rule "}]\n"
#define NODE_0(text) "timeline: [{at: 1800 s, action: node_down, node: n-0" text "}]\n"
#define EIGHT                                                                                      \
    "schema: 2\nname: t\nhorizon: 10 h\nsched: {placement: first_fit}\n"                           \
    "cluster: {nodes: [{name: n, count: 8, cpus: 64, gpus: {h100: 8}}]}\n"

static double speed(double serial, double members)
{
    return 1 / (serial + (1 - serial) / members);
}

/* 64 ranks lose a node of eight after half of the work: 56 go on at P(56)/P(64), without a queue.
 * covers: S1.126 S1.51 */
static void a_job_goes_on_with_fewer_ranks(void)
{
    struct seen seen;
    struct sim_run_summary *summary =
        watch(EIGHT ELASTIC("{least: 32, serial: 2%}") NODE_0(""), &seen);
    CHECK_NEAR(seen.end_s[0], 1800 + 1800 * speed(.02, 64) / speed(.02, 56), 1e-6);
    CHECK_I64(seen.attempts, 1);
    CHECK_NEAR(test_value(summary, "jobs.shrunk", ""), 1, 0);
    /* 64 for half an hour, 56 for the rest */
    const double rest_s = seen.end_s[0] - 1800;
    CHECK_NEAR(test_value(summary, "gpus.held.mean", ""), (64 * 1800 + 56 * rest_s) / seen.end_s[0],
               1e-6);
    free(summary);
    summary = watch(EIGHT ELASTIC("{least: 32, resize: 60 s}") NODE_0(""), &seen);
    CHECK_NEAR(seen.end_s[0], 1800 + 60 + 1800 * 64. / 56, 1e-6);
    free(summary);
}

/* With fewer than its least, or by its own rule, it waits again and does all of its work anew.
 * covers: S1.5 */
static void a_job_never_runs_below_its_least(void)
{
    static const char *const rules[] = { "57", "{least: 32, on_loss: requeue}" };
    for (size_t i = 0; i < 2; i++) {
        char text[TEXT];
        struct seen seen;
        (void)snprintf(text, sizeof text, EIGHT ELASTIC("%s") NODE_0(", for: 200 s"), rules[i]);
        struct sim_run_summary *summary = watch(text, &seen);
        CHECK_NEAR(seen.end_s[0], 2000 + 3600, 1e-6);
        CHECK_I64(seen.attempts, 2);
        free(summary);
    }
}

/* Eight ranks go back to a job of 64 when the node is up again, 720 s later: what is done is
 * conserved. A job that heals takes them before one that waits for the node.
 * covers: S1.41 S1.44 */
static void lost_ranks_come_back(void)
{
    struct seen seen;
    struct sim_run_summary *summary =
        watch(EIGHT ELASTIC("{least: 32, on_loss: heal}") NODE_0(", for: 720 s"), &seen);
    /* 1800 s of it, 720 s at 7/8, the rest at full speed */
    CHECK_NEAR(seen.end_s[0], 3600 + 720. / 8, 1e-6);
    CHECK_NEAR(test_value(summary, "jobs.grown", ""), 8, 0);
    free(summary);
    summary = watch(
        EIGHT "jobs:\n  - name: w\n    classes:\n"
              "      - {name: a, count: 1, members: 64, request: {gpus: 1}, run_time: 3600 s, "
              "elastic: {least: 32, on_loss: heal}}\n"
              "      - {name: b, count: 1, at: 10 s, request: {gpus: 1}, run_time: 1 s}\n" NODE_0(
                  ", for: 720 s"),
        &seen);
    CHECK_NEAR(seen.end_s[0], 3690, 1e-6);
    CHECK_NEAR(seen.start_s[1], 3690, 1e-6);
    free(summary);
    summary = watch(EIGHT ELASTIC("{least: 32, on_loss: shrink}") NODE_0(", for: 720 s"), &seen);
    CHECK_NEAR(seen.end_s[0], 1800 + 1800 * 64. / 56, 1e-6);
    CHECK(isnan(test_value(summary, "jobs.grown", "")));
    free(summary);
}

/* A checkpoint that is due while it stands still is made when it works again; a node that is lost
 * after costs what was done since the checkpoint. */
static void a_changed_job_keeps_its_checkpoints(void)
{
    const char *text = EIGHT
        "jobs:\n  - name: w\n    checkpoint: {interval: 1000 s, cost: 10 s}\n"
        "    classes: [{name: a, count: 1, members: 64, request: {gpus: 1}, run_time: 4000 s, "
        "elastic: {least: 56, resize: 300 s}}]\n"
        "timeline:\n  - {at: 1900 s, action: node_down, node: n-0}\n"
        "  - {at: 3000 s, action: node_down, node: n-1, for: 100 s}\n"
        "  - {at: 3100 s, action: node_up, node: n-0}\n";
    struct seen seen;
    struct sim_run_summary *summary = watch(text, &seen);
    /* Saved at 1000-1010; 890 s more of work to 1900; stands still to 2200; works the other 110 s
     * of the interval to 2310, and saves to 2320: 1890 + 110 x 7/8 are kept. Lost at 3000. */
    const double kept = 1890 + 110 * 7. / 8;
    const double saves = 2; /* at 1000 s and 2000 s of the second run */
    CHECK_I64(seen.attempts, 2);
    CHECK_NEAR(seen.end_s[0], 3100 + (4000 - kept) + saves * 10, 1e-6);
    free(summary);
}

static const struct test tests[] = {
    { "users wait for their jobs", users_wait_for_their_jobs },
    { "refused users do not stop the clock", refused_users_do_not_stop_the_clock },
    { "classes and arrays follow", classes_and_arrays_follow },
    { "rows of a trace follow", rows_of_a_trace_follow },
    { "a trace begins at a row", a_trace_begins_at_a_row },
    { "a trace is cut by dates", a_trace_is_cut_by_dates },
    { "a run ends at its estimate", a_run_ends_at_its_estimate },
    { "ranks of different shapes start together", ranks_of_different_shapes_start_together },
    { "a slow server slows the job down", a_slow_server_slows_the_job_down },
    { "a job goes on with fewer ranks", a_job_goes_on_with_fewer_ranks },
    { "a job never runs below its least", a_job_never_runs_below_its_least },
    { "lost ranks come back", lost_ranks_come_back },
    { "a changed job keeps its checkpoints", a_changed_job_keeps_its_checkpoints },
};
TEST_MAIN(tests)
