/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Slurm's priorities read from the front of every kind's queue, as far as they are needed, against
 * all of them worked out and sorted at every pass: the same jobs start at the same times. One job
 * with a priority that a quota keeps waiting makes the difference.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 60, SEEDS = 150 };

struct starts {
    int64_t ns[JOBS + 1];
    uint32_t count;
};

static void see_job(void *state, const struct sim_job_row *row)
{
    struct starts *starts = state;
    if (row->name[0] == 'j') {
        starts->ns[(size_t)strtoul(row->name + 1, NULL, 10)] = row->first_start_ns;
        starts->count++;
    }
}

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

/* Jobs of a few kinds in three tenants, more than fit. */
static struct starts run(uint64_t seed, const char *queueing, int priority)
{
    static char text[16000];
    struct starts starts = { .count = 0 };
    uint64_t state = seed * 77 + 5;
    size_t length =
        (size_t)snprintf(text, sizeof text,
                         "schema: 2\nname: t\nhorizon: 30 h\n"
                         "cluster: {nodes: [{name: n, count: 2, cpus: 16, gpus: {h100: 4}}]}\n"
                         "sched: {placement: first_fit, queueing: %s}\n"
                         "tenants: [{name: a, weight: 3}, {name: b}, {name: c}, {name: z, quota: "
                         "{hard: {gpus: 0}}}]\n"
                         "jobs:\n  - name: w\n    classes:\n"
                         "      - {name: held, tenant: z, count: 1, priority: %d, run_time: 1 h, "
                         "request: {gpus: 1}}\n",
                         queueing, priority);
    for (uint32_t j = 0; j < JOBS; j++) {
        const uint32_t tenant = draw(&state, 3);
        const uint32_t gpus = 1u << draw(&state, 3);
        const uint32_t at_s = draw(&state, 4000);
        const uint32_t run_s = 60 + draw(&state, 1800);
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "      - {name: j%u, tenant: %c, count: 1, at: %u s, run_time: "
                                   "%u s, request: {gpus: %u}}\n",
                                   j, "abc"[tenant], at_s, run_s, gpus);
    }
    const struct sim_observer observer = { .job = see_job, .state = &starts };
    free(test_watch_text(text, &observer));
    return starts;
}

static void the_front_is_that_of_the_whole_list(void)
{
    static const char *const policies[] = {
        "{policy: multifactor, weight_age: 1000, max_age: 1 h, weight_fair_share: 300}",
        "{policy: multifactor, weight_age: 50, max_age: 30 m, weight_size: 40, strict: true}",
        "{policy: multifactor, weight_age: 3, weight_size: 20, favour: small, fair_share: classic}",
        "{policy: slurm, weight_age: 1000, max_age: 1 h, weight_fair_share: 100}",
        "{policy: slurm, weight_age: 7, weight_size: 9, bf_max_job_test: 3, default_queue_depth: 2}"
    };
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const char *const policy = policies[seed % (sizeof policies / sizeof policies[0])];
        const struct starts front = run(seed, policy, 0);
        const struct starts whole = run(seed, policy, 1);
        CHECK_I64(front.count, JOBS);
        if (!CHECK(memcmp(&front, &whole, sizeof front) == 0))
            printf("seed %llu, %s\n", (unsigned long long)seed, policy);
    }
}

/* Of one kind the younger is more urgent: its place in the queue is not that of its kind. */
static void who_is_more_urgent_passes_his_kind(void)
{
    static const char *const policies[] = { "multifactor", "slurm" };
    for (size_t i = 0; i < 2; i++) {
        char text[1000];
        struct starts starts = { .count = 0 };
        const struct sim_observer observer = { .job = see_job, .state = &starts };
        (void)snprintf(text, sizeof text,
                       "schema: 2\nname: t\n"
                       "cluster: {nodes: [{name: n, cpus: 16, gpus: {h100: 1}}]}\n"
                       "sched: {queueing: %s}\njobs:\n  - name: w\n    run_time: 100 s\n"
                       "    classes:\n      - {name: j0, count: 1, request: {gpus: 1}}\n"
                       "      - {name: j1, count: 1, at: 1 s, request: {gpus: 1}}\n"
                       "      - {name: j2, count: 1, at: 2 s, priority: 9, request: {gpus: 1}}\n",
                       policies[i]);
        free(test_watch_text(text, &observer));
        CHECK_I64(starts.ns[2], 100 * SIM_NS_PER_S);
        CHECK_I64(starts.ns[1], 200 * SIM_NS_PER_S);
    }
}

static const struct test tests[] = {
    { "the front is that of the whole list", the_front_is_that_of_the_whole_list },
    { "who is more urgent passes his kind", who_is_more_urgent_passes_his_kind },
};
TEST_MAIN(tests)
