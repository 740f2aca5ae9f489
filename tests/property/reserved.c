/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reservations in advance on random jobs under many queueing policies: while one lasts nobody else
 * is on its nodes, its owner starts at once as long as it has room there, and who it kept waiting
 * starts in the end. WEIR_SLOW=1 runs 10^4 cases of each policy.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"
#include "weir/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 14, NODES = 6, TEXT = 5000, QUICK = 40, ALL = 10000 };

struct job {
    int submit, run, gpus, start;
    bool is_owner;
};

struct window {
    int start, end, nodes;
};

struct jobs {
    struct job job[MOST];
    size_t count;
    struct window window;
};

static void see_job(void *state, const struct sim_job_row *row)
{
    struct jobs *jobs = state;
    jobs->job[row->label].start = (int)(row->first_start_ns / SIM_NS_PER_S);
}

static void run_product(struct jobs *jobs, const char *policy)
{
    char text[TEXT];
    int used = snprintf(text, sizeof text,
                        "schema: 2\nname: t\ncluster:\n  nodes: [{name: n, count: %d, cpus: 8, "
                        "gpus: {h100: 1}}]\nsched: {placement: first_fit, queueing: %s}\n"
                        "tenants: [{name: own}, {name: other}]\nreservations: [{name: r, tenant: "
                        "own, start: %d s, duration: %d s, nodes: %d}]\njobs:\n  - name: w\n"
                        "    classes:\n",
                        NODES, policy, jobs->window.start, jobs->window.end - jobs->window.start,
                        jobs->window.nodes);
    for (size_t i = 0; i < jobs->count; i++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "      - {name: j%zu, count: 1, at: %d s, run_time: %d s, members: %d, "
                         "request: {gpus: 1}, tenant: %s}\n",
                         i, jobs->job[i].submit, jobs->job[i].run, jobs->job[i].gpus,
                         jobs->job[i].is_owner ? "own" : "other");
    const struct sim_observer observer = { .job = see_job, .state = jobs };
    free(test_watch_text(text, &observer));
}

static uint64_t next(uint64_t *dice)
{
    *dice = *dice * 6364136223846793005U + 1442695040888963407U;
    return *dice >> 33;
}

/* The owner's jobs, of a GPU each, come when its window is open, no more than it has nodes. */
static void draw(uint64_t seed, struct jobs *jobs)
{
    uint64_t dice = seed * 2654435769U + 1;
    int submit = 0;
    jobs->count = 4 + next(&dice) % (MOST - 3);
    jobs->window.start = 5 + (int)(next(&dice) % 25);
    jobs->window.end = jobs->window.start + 5 + (int)(next(&dice) % 20);
    jobs->window.nodes = 1 + (int)(next(&dice) % 4);
    int owned = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        struct job *job = &jobs->job[i];
        const bool is_owner = next(&dice) % 4 == 0 && owned < jobs->window.nodes;
        submit += (int)(next(&dice) % 5);
        *job = (struct job){ submit, 1 + (int)(next(&dice) % 15), 1 + (int)(next(&dice) % NODES),
                             -1, is_owner };
        if (!is_owner)
            continue;
        job->gpus = 1;
        job->submit = jobs->window.start + (int)(next(&dice) % 5);
        owned++;
    }
}

static int held_by_others(const struct jobs *jobs, int now)
{
    int held = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        const struct job *job = &jobs->job[i];
        held +=
            !job->is_owner && job->start >= 0 && job->start <= now && now < job->start + job->run
                ? job->gpus
                : 0;
    }
    return held;
}

/* Of the owner, and over before the window is: nobody is delayed by it. */
static bool is_over_in_time(const struct jobs *jobs, const struct job *job)
{
    return job->is_owner && job->submit + job->run <= jobs->window.end;
}

static void check_case(const struct jobs *jobs, const char *policy, uint64_t seed, bool is_prompt)
{
    bool is_kept = true;
    for (int now = jobs->window.start; now < jobs->window.end; now++)
        is_kept = is_kept && held_by_others(jobs, now) <= NODES - jobs->window.nodes;
    for (size_t i = 0; i < jobs->count; i++) {
        is_kept = is_kept && jobs->job[i].start >= 0;
        if (is_prompt && is_over_in_time(jobs, &jobs->job[i]))
            is_kept = is_kept && jobs->job[i].start == jobs->job[i].submit;
    }
    if (!CHECK(is_kept))
        printf("%s, case %" PRIu64 "\n", policy, seed);
}

/* Where jobs may not pass the head the owner waits behind it; conservative makes promises that
 * take no notice of the owner. */
static const struct {
    const char *name;
    bool is_prompt;
} policies[] = {
    { "fcfs", false },    { "first_fit", true },    { "sjf", false },
    { "smallest", true }, { "easy", true },         { "conservative", false },
    { "las_2d", true },   { "drf", true },          { "quota_queues", true },
    { "slurm", false },   { "bounded_wait", true }, { "fair_share", true },
};

/* covers: S1.27 */
static void nobody_else_is_on_reserved_nodes(void)
{
    const uint64_t cases = getenv("WEIR_SLOW") != NULL ? ALL : QUICK;
    for (size_t p = 0; p < sizeof policies / sizeof *policies; p++)
        for (uint64_t seed = 1; seed <= cases; seed++) {
            struct jobs jobs;
            draw(seed, &jobs);
            run_product(&jobs, policies[p].name);
            check_case(&jobs, policies[p].name, seed, policies[p].is_prompt);
        }
}

static void expect_starts(const struct jobs *jobs, const int *starts)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (!CHECK_I64(jobs->job[i].start, starts[i]))
            printf("job %zu\n", i);
}

/* A node of six reserved from 10 to 20. The head needs all for 15 s: it cannot be over by 10, so
 * its shadow is 20. Jobs of 12 and 9 s are over by then and pass it, one of 30 s is not and waits.
 */
static void backfilling_knows_when_a_reservation_ends(void)
{
    struct jobs jobs = { .count = 5,
                         .job = { { 0, 5, 5, -1, false },
                                  { 0, 15, 6, -1, false },
                                  { 0, 12, 1, -1, false },
                                  { 1, 9, 1, -1, false },
                                  { 2, 30, 1, -1, false } },
                         .window = { 10, 20, 1 } };
    run_product(&jobs, "easy");
    expect_starts(&jobs, (int[]){ 0, 20, 0, 5, 35 });
}

/* One of the same kind as a job that would run into the window ends before it. */
static void shorter_ones_of_a_kind_pass(void)
{
    struct jobs jobs = {
        .count = 3,
        .job = { { 0, 20, 6, -1, false }, { 0, 11, 6, -1, false }, { 0, 10, 6, -1, false } },
        .window = { 10, 30, 1 }
    };
    run_product(&jobs, "first_fit");
    expect_starts(&jobs, (int[]){ 30, 50, 0 });
}

/* All six nodes are reserved for hours. One job comes meanwhile, and nothing else happens: it
 * starts when they are over, whichever policy would have been asked only then and whatever it looks
 * at. */
static void who_waits_for_its_end_starts_then_under_every_policy(void)
{
    for (uint32_t p = 0; p < weir_queueing_count(); p++) {
        const char *const policy = weir_queueing_at(p)->name;
        struct jobs jobs = { .count = 1,
                             .job = { { 5400, 1800, 6, -1, false } },
                             .window = { 3600, 10800, 6 } };
        run_product(&jobs, policy);
        if (!CHECK_I64(jobs.job[0].start, 10800))
            printf("policy %s\n", policy);
    }
}

static const struct test tests[] = {
    { "who waits for its end starts then under every policy",
      who_waits_for_its_end_starts_then_under_every_policy },
    { "nobody else is on reserved nodes", nobody_else_is_on_reserved_nodes },
    { "backfilling knows when a reservation ends", backfilling_knows_when_a_reservation_ends },
    { "shorter ones of a kind pass", shorter_ones_of_a_kind_pass },
};
TEST_MAIN(tests)
