/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Queueing policies that walk over the jobs themselves, on cases worked out by another program: a
 * few jobs on a few GPUs, in whole seconds.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { JOBS = 8, TEXT = 4000 };

struct job {
    int submit_s, run_s, gpus, estimate_s;
};

struct times {
    double start_s[JOBS], end_s[JOBS];
};

static void see_job(void *state, const struct sim_job_row *row)
{
    struct times *times = state;
    times->start_s[row->label] = sim_time_s(row->first_start_ns);
    times->end_s[row->label] = sim_time_s(row->end_ns);
}

/* A job a class, in the order of their numbers. */
static struct times run_jobs(const struct job *jobs, size_t count, int gpus, const char *queueing)
{
    char text[TEXT];
    struct times times = { { 0 }, { 0 } };
    int used = snprintf(text, sizeof text,
                        "schema: 2\nname: t\ncluster:\n  nodes: [{name: n, cpus: 64, gpus: {h100: "
                        "%d}}]\nsched: {queueing: %s}\njobs:\n  - name: w\n    preemption: all\n"
                        "    classes:\n",
                        gpus, queueing);
    for (size_t i = 0; i < count; i++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "      - {name: j%zu, count: 1, at: %d s, run_time: %d s, members: %d, "
                         "request: {gpus: 1, cpus: 0.1}, estimate: %.17g}\n",
                         i, jobs[i].submit_s, jobs[i].run_s, jobs[i].gpus,
                         (double)jobs[i].estimate_s / jobs[i].run_s);
    const struct sim_observer observer = { .job = see_job, .state = &times };
    free(test_watch_text(text, &observer));
    return times;
}

struct known {
    const char *queueing;
    int start_s[JOBS];
};

static void starts_are(const struct job *jobs, size_t count, int gpus, const struct known *known)
{
    const struct times times = run_jobs(jobs, count, gpus, known->queueing);
    for (size_t i = 0; i < count; i++)
        if (!CHECK_NEAR(times.start_s[i], known->start_s[i], 0))
            printf("%s: job %zu\n", known->queueing, i);
}

#define EACH(array) (sizeof(array) / sizeof((array)[0]))

/* covers: S1.14 */
static void early_ends_make_room(void)
{
    static const struct job jobs[] = { { 0, 4, 3, 4 }, { 0, 2, 2, 2 }, { 2, 2, 4, 2 },
                                       { 1, 1, 2, 7 }, { 2, 5, 1, 5 }, { 4, 4, 2, 6 } };
    static const struct known known[] = {
        { "conservative", { 0, 4, 11, 4, 5, 13 } },
        { "{policy: conservative, replan: true}", { 0, 4, 6, 4, 8, 8 } },
        { "easy", { 0, 4, 7, 6, 2, 9 } },
        { "{policy: easy, order: shortest}", { 4, 0, 2, 9, 4, 8 } },
        { "{policy: conservative, order: shortest}", { 2, 0, 11, 6, 2, 7 } },
    };
    for (size_t i = 0; i < EACH(known); i++)
        starts_are(jobs, EACH(jobs), 4, &known[i]);
}

static void formulas_say_who_is_first(void)
{
    static const struct job jobs[] = { { 0, 10, 3, 10 }, { 5, 8, 4, 8 }, { 9, 3, 4, 3 },
                                       { 9, 6, 1, 6 },   { 4, 8, 4, 8 }, { 4, 2, 2, 2 } };
    static const struct known known[] = {
        { "{policy: formula, name: wfp3}", { 0, 23, 20, 31, 12, 10 } },
        { "{policy: formula, name: unicef}", { 0, 27, 16, 10, 19, 10 } },
        { "{policy: formula, name: f1}", { 0, 20, 34, 28, 12, 10 } },
        { "fcfs", { 0, 20, 28, 31, 10, 18 } },
    };
    for (size_t i = 0; i < EACH(known); i++)
        starts_are(jobs, EACH(jobs), 4, &known[i]);
}

/* Ends, and so every stretch of running between, as in the paper's rules by hand. */
static void least_attained_service_runs(void)
{
    static const struct job jobs[] = { { 0, 10, 2, 10 }, { 1, 4, 1, 4 }, { 2, 6, 4, 6 },
                                       { 3, 12, 1, 12 }, { 5, 3, 2, 3 }, { 8, 2, 4, 2 } };
    static const double ends[] = { 17, 5, 23, 19, 8, 15 };
    const struct times times =
        run_jobs(jobs, EACH(jobs), 4, "{policy: las_2d, limit_1: 8, limit_2: 24}");
    for (size_t i = 0; i < EACH(jobs); i++)
        CHECK_NEAR(times.end_s[i], ends[i], 1e-9);
}

static const struct test tests[] = {
    { "early ends make room", early_ends_make_room },
    { "formulas say who is first", formulas_say_who_is_first },
    { "least attained service runs", least_attained_service_runs },
};
TEST_MAIN(tests)
