/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The memory system of a GPU, by hand: jobs of 10 s alone that start together on one GPU, and how
 * long each takes beside the others.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include "sim/record/record.h"

#include <stdio.h>
#include <stdlib.h>

enum { JOBS = 16 };

struct ends {
    double run_s[JOBS]; /* by the order of the classes */
};

static void take_job(void *state, const struct sim_job_row *row)
{
    struct ends *ends = state;
    if (row->job < JOBS)
        ends->run_s[row->job] = sim_time_s(row->end_ns - row->start_ns);
}

/* Classes as in a file, on a GPU that is shared as said. */
static struct ends run(const char *share, const char *classes)
{
    char text[3000];
    struct ends ends = { { 0 } };
    const struct sim_observer observer = { .state = &ends, .job = take_job };
    (void)snprintf(text, sizeof(text),
                   "schema: 2\nname: t\n"
                   "cluster: {nodes: [{name: n, cpus: 64, gpus: {h100: 1}%s}]}\n"
                   "jobs:\n  - name: w\n    run_time: 10 s\n    classes:\n%s",
                   share, classes);
    struct sim_run_summary *summary = test_watch_text(text, &observer);
    CHECK_STR(summary->outcome, "complete");
    free(summary);
    return ends;
}

#define CLASS(name, count, traffic)                                                                \
    "      - {name: " name ", count: " count                                                       \
    ", request: {cpus: 1, gpus: 0.05}, memory_traffic: " traffic "}\n"

/* covers: S1.84 */
static void bandwidth_is_shared(void)
{
    struct ends ends = run("", CLASS("a", "2", "90%"));
    CHECK_NEAR(ends.run_s[0], 18, 1e-8);
    CHECK_NEAR(ends.run_s[1], 18, 1e-8);
    ends = run("", CLASS("a", "5", "100%"));
    CHECK_NEAR(ends.run_s[4], 50, 1e-8);
    ends = run("", CLASS("a", "1", "90%") CLASS("b", "1", "10%"));
    CHECK_NEAR(ends.run_s[0], 10, 0);
    CHECK_NEAR(ends.run_s[1], 10, 0);
}

/* Who computes waits for memory little: 1 + 0.05 x 4 among five, and the hogs go on alone after.
 * covers: S1.86 */
static void who_computes_hardly_notices(void)
{
    const struct ends ends =
        run("", CLASS("hog", "4", "100%") CLASS("even", "1", "{bandwidth: 100%, bound: 5%}"));
    CHECK_NEAR(ends.run_s[4], 12, 1e-8);
    /* 12 s at a fifth, then 7.6 s of work at a quarter */
    CHECK_NEAR(ends.run_s[0], 12 + 4 * (10 - 12.0 / 5), 1e-7);
}

/* 0.6 of it set aside; three hogs have the other 0.4 until it is over. covers: S1.85 */
static void a_reserve_is_kept(void)
{
    const struct ends ends =
        run("", CLASS("first", "1", "{bandwidth: 60%, reserve: 60%}") CLASS("hog", "3", "100%"));
    CHECK_NEAR(ends.run_s[0], 10, 1e-8);
    /* 10 s at 0.4 / 3, then the rest at a third */
    CHECK_NEAR(ends.run_s[1], 10 + 3 * (10 - 10 * 0.4 / 3), 1e-6);
}

/* A stream over all of the cache leaves half of what both want, unless that is pinned, or the GPU
 * is cut. covers: S1.87 */
static void a_stream_spoils_the_cache(void)
{
    struct ends ends = run("", CLASS("reply", "1", "{cache: 50%, penalty: 80%}")
                                   CLASS("stream", "1", "{cache: 150%}"));
    CHECK_NEAR(ends.run_s[0], 10 + (10 - 10 / 1.4), 1e-8); /* 1.4 times as long while it is there */
    CHECK_NEAR(ends.run_s[1], 10, 1e-8);
    ends = run("", CLASS("reply", "1", "{cache: 50%, penalty: 80%, pin: true}")
                       CLASS("stream", "1", "{cache: 150%}"));
    CHECK_NEAR(ends.run_s[0], 10, 1e-8);
    ends = run(", share: mig",
               "      - {name: reply, count: 1, request: {cpus: 1, mig: 1g.10gb}, memory_traffic: "
               "{cache: 50%, penalty: 80%}}\n"
               "      - {name: stream, count: 1, request: {cpus: 1, mig: 1g.10gb}, memory_traffic: "
               "{cache: 150%}}\n");
    CHECK_NEAR(ends.run_s[0], 10, 1e-8);
}

/* An eighth of the memory's slots has an eighth of the bandwidth, whatever the neighbours do. */
static void an_instance_has_its_part_of_the_bandwidth(void)
{
    const struct ends ends = run(
        ", share: mig",
        "      - {name: a, count: 1, request: {cpus: 1, mig: 1g.10gb}, memory_traffic: 25%}\n"
        "      - {name: b, count: 1, request: {cpus: 1, mig: 1g.10gb}, memory_traffic: 100%}\n");
    CHECK_NEAR(ends.run_s[0], 20, 1e-8);
    CHECK_NEAR(ends.run_s[1], 80, 1e-8);
}

static const struct test tests[] = {
    { "bandwidth is shared", bandwidth_is_shared },
    { "who computes hardly notices", who_computes_hardly_notices },
    { "a reserve is kept", a_reserve_is_kept },
    { "a stream spoils the cache", a_stream_spoils_the_cache },
    { "an instance has its part of the bandwidth", an_instance_has_its_part_of_the_bandwidth },
};
TEST_MAIN(tests)
