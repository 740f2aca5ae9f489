/* SPDX-License-Identifier: GPL-3.0-or-later */
/* When generated jobs come where the timeline changes their rate, holds them or adds to them; by
 * hand, with gaps of 10 s. */
#include "sim/scenario/workload/job_stream.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <stdio.h>
#include <stdlib.h>

#define GAPS "    arrivals: {process: renewal, gap: const(10 s)}\n"

static const char plain[] = "    count: 40\n" GAPS "    classes: [{name: a}, {name: b}]\n";

struct jobs {
    struct sim_scenario *scenario;
    struct sim_job_stream *stream;
    struct sim_job_arrival next;
};

static void open_jobs(struct jobs *jobs, const char *workload)
{
    char text[1024];
    const struct sim_random random = { .seed = 5 };
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: t\nhorizon: 1 h\ncluster: {nodes: [{name: n, cpus: 64}]}\n"
                   "jobs:\n  - name: w\n    run_time: exp(60 s)\n%s",
                   workload);
    *jobs = (struct jobs){ .scenario = test_scenario(text, NULL) };
    CHECK(jobs->scenario != NULL);
    if (jobs->scenario == NULL)
        exit(EXIT_FAILURE);
    CHECK_I64(sim_job_stream_create(&jobs->scenario->workloads[0], &random, &jobs->stream),
              WEIR_OK);
}

static void close_jobs(struct jobs *jobs)
{
    sim_job_stream_destroy(jobs->stream);
    sim_scenario_destroy(jobs->scenario);
}

/* When the next one comes, in ms; -1: none does. */
static int64_t next_ms(struct jobs *jobs)
{
    return sim_job_stream_next(jobs->stream, &jobs->next) ? jobs->next.at_ns / 1000000 : -1;
}

/* As the driver does, at a time before the one that it took. */
static int64_t changed_ms(struct jobs *jobs, double at_s, double factor)
{
    if (jobs->next.at_ns > 0)
        sim_job_stream_put_back(jobs->stream, &jobs->next);
    sim_job_stream_set_factor(jobs->stream, (int64_t)(at_s * 1e9), factor);
    return next_ms(jobs);
}

/* At 15 s half of the gap is over: the other half takes half as long, and so do the gaps from there
 * on. The same jobs come. */
static void a_rate_changes_in_a_gap(void)
{
    struct jobs jobs;
    struct jobs other;
    open_jobs(&jobs, plain);
    open_jobs(&other, plain);
    CHECK_I64(next_ms(&jobs), 10000);
    CHECK_I64(next_ms(&jobs), 20000);
    CHECK_I64(changed_ms(&jobs, 15, 2), 17500);
    (void)next_ms(&other);
    (void)next_ms(&other);
    for (int64_t i = 1; i < 20; i++) {
        CHECK_I64(jobs.next.spec, other.next.spec);
        CHECK_I64((int64_t)jobs.next.key, (int64_t)other.next.key);
        CHECK_I64(jobs.next.run_ns, other.next.run_ns);
        CHECK_I64(next_ms(&jobs), 17500 + 5000 * i);
        (void)next_ms(&other);
    }
    CHECK_I64(jobs.next.at_ns / 1000000, 112500);
    CHECK_I64(changed_ms(&jobs, 111, 0.5), 117000); /* 1.5 s at twice the rate: 3 of the gap */
    close_jobs(&other);
    close_jobs(&jobs);
}

/* Held at 15 s for 100 s: what was left of the gap is left then. */
static void a_rate_of_zero_holds_them(void)
{
    struct jobs jobs;
    open_jobs(&jobs, plain);
    (void)next_ms(&jobs);
    CHECK_I64(next_ms(&jobs), 20000);
    CHECK(!sim_job_stream_is_held(jobs.stream));
    CHECK_I64(changed_ms(&jobs, 15, 0), -1);
    CHECK(sim_job_stream_is_held(jobs.stream));
    jobs.next.at_ns = 0;
    CHECK_I64(changed_ms(&jobs, 50, 0), -1);
    CHECK_I64(changed_ms(&jobs, 115, 0.5), 125000);
    CHECK(!sim_job_stream_is_held(jobs.stream));
    CHECK_I64(next_ms(&jobs), 145000);
    close_jobs(&jobs);
}

/* One with a time of its own is taken back too, and may be overtaken: it keeps its time. */
static void who_has_a_time_keeps_it(void)
{
    struct jobs jobs;
    open_jobs(&jobs, GAPS "    classes: [{name: a}, {name: c, count: 1, at: 18 s}]\n");
    CHECK_I64(next_ms(&jobs), 10000);
    CHECK_I64(next_ms(&jobs), 18000);
    CHECK_I64(changed_ms(&jobs, 12, 4), 14000);
    CHECK_I64(next_ms(&jobs), 16500);
    CHECK_I64(next_ms(&jobs), 18000);
    CHECK_I64(jobs.next.spec, 1);
    CHECK_I64(next_ms(&jobs), 19000);
    CHECK_I64(changed_ms(&jobs, 19, 1), 19000);
    CHECK_I64(next_ms(&jobs), 29000);
    close_jobs(&jobs);
}

/* A batch comes at one instant; what is left of it when the rate changes stays together. */
static void a_batch_stays_together(void)
{
    struct jobs jobs;
    open_jobs(&jobs, "    arrivals: {process: renewal, gap: const(10 s), batch: const(3)}\n"
                     "    classes: [{name: a}]\n");
    for (int i = 0; i < 4; i++)
        (void)next_ms(&jobs);
    CHECK_I64(jobs.next.at_ns / 1000000, 20000);
    CHECK_I64(changed_ms(&jobs, 12, 2), 16000);
    CHECK_I64(next_ms(&jobs), 16000);
    CHECK_I64(next_ms(&jobs), 16000);
    CHECK_I64(next_ms(&jobs), 21000);
    close_jobs(&jobs);
}

/* Who comes in a burst is the next of the process, which goes on behind them; they do not count
 * against the limit. */
static void a_burst_is_beyond_the_limit(void)
{
    struct jobs jobs;
    struct sim_job_arrival burst;
    open_jobs(&jobs, "    count: 2\n" GAPS "    classes: [{name: a}]\n");
    (void)next_ms(&jobs);
    CHECK_I64((int64_t)jobs.next.key, 0);
    for (int64_t i = 1; i <= 5; i++) {
        sim_job_stream_draw(jobs.stream, 12000, &burst);
        CHECK_I64((int64_t)burst.key, i);
        CHECK_I64(burst.at_ns, 12000);
        CHECK(burst.run_ns > 0);
    }
    CHECK_I64(next_ms(&jobs), 20000);
    CHECK_I64((int64_t)jobs.next.key, 6);
    CHECK_I64(next_ms(&jobs), -1);
    sim_job_stream_set_factor(jobs.stream, 20000000000, 0);
    CHECK(!sim_job_stream_is_held(jobs.stream)); /* there is none that could come */
    close_jobs(&jobs);
}

static void some_workloads_draw_nothing(void)
{
    struct jobs jobs;
    open_jobs(&jobs, GAPS "    classes: [{name: a}]\n");
    CHECK(sim_workload_draws(&jobs.scenario->workloads[0]));
    close_jobs(&jobs);
    open_jobs(&jobs, "    classes: [{name: c, count: 1, at: 18 s}]\n");
    CHECK(!sim_workload_draws(&jobs.scenario->workloads[0]));
    sim_job_stream_set_factor(jobs.stream, 5, 3);
    CHECK_I64(next_ms(&jobs), 18000);
    close_jobs(&jobs);
}

/* Classes with a count come as often as they say; those that follow a process go on to a limit. */
static void how_many_come_in_all_is_known(void)
{
    static const struct {
        const char *text;
        uint64_t total;
    } cases[] = { { "    classes: [{name: a, count: 3}, {name: b, count: 4, every: 5 s}]\n", 7 },
                  { "    count: 5\n    classes: [{name: a, count: 3}, {name: b, count: 4}]\n", 5 },
                  { plain, 40 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct jobs jobs;
        open_jobs(&jobs, cases[i].text);
        CHECK_I64(sim_job_stream_total(jobs.stream), cases[i].total);
        close_jobs(&jobs);
    }
}

/* Nobody comes before the change that hastens him, where a double no longer knows every ns either.
 */
static void who_is_hastened_is_not_late(void)
{
    struct jobs jobs;
    open_jobs(&jobs, "    arrivals: {rate: 1e-7}\n    classes: [{name: a}]\n");
    (void)next_ms(&jobs);
    while (jobs.next.at_ns < 1LL << 60) {
        const int64_t now_ns = jobs.next.at_ns - 1;
        sim_job_stream_put_back(jobs.stream, &jobs.next);
        sim_job_stream_set_factor(jobs.stream, now_ns, 9);
        (void)next_ms(&jobs);
        CHECK(jobs.next.at_ns >= now_ns && jobs.next.at_ns <= now_ns + 128);
        sim_job_stream_set_factor(jobs.stream, jobs.next.at_ns, 1);
        (void)next_ms(&jobs);
    }
    close_jobs(&jobs);
}

static const struct test tests[] = {
    { "a rate changes in a gap", a_rate_changes_in_a_gap },
    { "a rate of zero holds them", a_rate_of_zero_holds_them },
    { "who has a time keeps it", who_has_a_time_keeps_it },
    { "a batch stays together", a_batch_stays_together },
    { "a burst is beyond the limit", a_burst_is_beyond_the_limit },
    { "some workloads draw nothing", some_workloads_draw_nothing },
    { "how many come in all is known", how_many_come_in_all_is_known },
    { "who is hastened is not late", who_is_hastened_is_not_late },
};
TEST_MAIN(tests)
