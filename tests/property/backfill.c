/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Backfilling on random jobs against a plain scheduler that counts GPUs second by second: the same
 * starts, a head that never starts after its first shadow, reservations that never move later, and
 * no more GPUs in use than there are. WEIR_SLOW=1 runs 10^4 cases of each policy.
 */
#include "tests/support/check.h"
#include "tests/support/few_jobs.h"
#include "tests/support/runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = FEW_JOBS_MOST, GPUS = FEW_JOBS_GPUS, TEXT = 4000, QUICK = 400, ALL = 10000 };

/* ---- the plain scheduler ---- */

static int end_of(const struct few_job *job, int now)
{
    const int end = job->start + job->estimate;
    return end > now ? end : now;
}

static bool runs_at(const struct few_job *job, int now)
{
    return job->start >= 0 && job->start <= now && now < job->start + job->run;
}

static bool waits_at(const struct few_job *job, int now)
{
    return job->submit <= now && job->start < 0;
}

/* Free at `at`, as far as is expected at `now`. */
static int free_at(const struct few_jobs *jobs, int now, int at)
{
    int free = GPUS;
    for (size_t i = 0; i < jobs->count; i++)
        if (runs_at(&jobs->job[i], now) && end_of(&jobs->job[i], now) > at)
            free -= jobs->job[i].gpus;
    return free;
}

static void promise(struct few_job *job, int at)
{
    if (job->promised < 0)
        job->promised = at;
}

static void pass_easy(struct few_jobs *jobs, int now)
{
    struct few_job *head = NULL;
    int shadow = 0;
    int extra = 0;
    for (size_t i = 0; i < jobs->count; i++) {
        struct few_job *job = &jobs->job[i];
        if (!waits_at(job, now))
            continue;
        const bool fits = job->gpus <= free_at(jobs, now, now);
        if (head == NULL && !fits) {
            head = job;
            for (shadow = now; free_at(jobs, now, shadow) < head->gpus;)
                shadow++;
            extra = free_at(jobs, now, shadow) - head->gpus;
            promise(head, shadow);
            continue;
        }
        const bool is_brief = now + job->estimate <= shadow;
        if (!fits || (head != NULL && !is_brief && job->gpus > extra))
            continue;
        job->start = now;
        extra -= head != NULL && !is_brief ? job->gpus : 0;
    }
}

/* A full plan in order; with exact estimates nobody's place moves. */
static void pass_conservative(struct few_jobs *jobs, int now)
{
    static const int horizon = MOST * 20 + 50;
    int free[MOST * 20 + 50 + 40];
    for (int t = 0; t < horizon + 40; t++)
        free[t] = free_at(jobs, now, now + t);
    for (size_t i = 0; i < jobs->count; i++) {
        struct few_job *job = &jobs->job[i];
        int at = 0;
        if (!waits_at(job, now))
            continue;
        for (int t = 0; t < at + job->estimate && at < horizon; t++)
            at = free[t] < job->gpus ? t + 1 : at;
        for (int t = at; t < at + job->estimate; t++)
            free[t] -= job->gpus;
        promise(job, now + at);
        if (at == 0)
            job->start = now;
    }
}

static void run_plain(struct few_jobs *jobs, void (*pass)(struct few_jobs *jobs, int now))
{
    for (int now = 0; now < MOST * 30; now++) {
        bool happens = false;
        for (size_t i = 0; i < jobs->count; i++) {
            const struct few_job *job = &jobs->job[i];
            happens |= job->submit == now || (job->start >= 0 && job->start + job->run == now);
        }
        if (happens)
            pass(jobs, now);
    }
}

/* ---- cases ---- */

static bool is_within_capacity(const struct few_jobs *jobs)
{
    for (int now = 0; now < MOST * 30; now++) {
        int held = 0;
        for (size_t i = 0; i < jobs->count; i++)
            held += runs_at(&jobs->job[i], now) ? jobs->job[i].gpus : 0;
        if (held > GPUS)
            return false;
    }
    return true;
}

static void compare(uint64_t seed, const struct few_jobs *plain, const struct few_jobs *product)
{
    for (size_t i = 0; i < plain->count; i++) {
        if (!CHECK_I64(product->job[i].start, plain->job[i].start))
            printf("case %" PRIu64 ", job %zu\n", seed, i);
        if (plain->job[i].promised >= 0)
            CHECK(product->job[i].start <= plain->job[i].promised);
    }
    CHECK(is_within_capacity(product));
}

static void run_cases(const char *policy, bool is_exact,
                      void (*pass)(struct few_jobs *jobs, int now))
{
    const uint64_t cases = getenv("WEIR_SLOW") != NULL ? ALL : QUICK;
    size_t promised = 0;
    for (uint64_t seed = 1; seed <= cases; seed++) {
        struct few_jobs plain;
        struct few_jobs product;
        few_jobs_draw(seed, is_exact, &plain);
        product = plain;
        run_plain(&plain, pass);
        few_jobs_run(&product, policy);
        compare(seed, &plain, &product);
        for (size_t i = 0; i < plain.count; i++)
            promised += plain.job[i].promised > plain.job[i].submit ? 1 : 0;
    }
    CHECK(promised > cases);
}

static void easy_delays_no_head(void)
{
    run_cases("easy", true, pass_easy);
    run_cases("easy", false, pass_easy);
}

static void conservative_keeps_its_word(void)
{
    run_cases("conservative", true, pass_conservative);
}

/* ---- bounds on waiting ---- */

enum { MOST_WAIT = 9, LONGEST = FEW_JOBS_LONGEST };

/* Those that had waited too long before this one had, and had not started then; itself too. */
static int starved_before(const struct few_jobs *jobs, size_t index)
{
    const struct few_job *job = &jobs->job[index];
    int count = 1;
    for (size_t i = 0; i < jobs->count; i++)
        count += jobs->job[i].start > job->submit + MOST_WAIT &&
                 (jobs->job[i].submit < job->submit ||
                  (jobs->job[i].submit == job->submit && i < index));
    return count;
}

/* covers: S1.117 S1.118 S1.120 */
/* The k-th that starves starts within the wait and k times the longest run, with ageing, too. */
static void nobody_starves_beyond_the_bound(void)
{
    const uint64_t cases = getenv("WEIR_SLOW") != NULL ? ALL : QUICK;
    size_t starved = 0;
    for (uint64_t seed = 1; seed <= cases; seed++) {
        struct few_jobs jobs;
        few_jobs_draw(seed, true, &jobs);
        few_jobs_run(&jobs, seed % 2 == 0 ? "{policy: bounded_wait, max_wait: 9 s}"
                                          : "{policy: bounded_wait, max_wait: 9 s, ageing: 0.5}");
        CHECK(is_within_capacity(&jobs));
        for (size_t i = 0; i < jobs.count; i++) {
            const struct few_job *job = &jobs.job[i];
            const bool is_starved = job->start > job->submit + MOST_WAIT;
            const int bound = job->submit + MOST_WAIT + starved_before(&jobs, i) * LONGEST;
            starved += is_starved;
            if (is_starved && !CHECK(job->start <= bound))
                printf("case %" PRIu64 ", job %zu\n", seed, i);
        }
    }
    CHECK(starved > cases);
}

/* Holds of all lengths: whoever gives back what it holds, all jobs run in the end, whole. */
static void gangs_never_wait_for_each_other(void)
{
    static const char *const policies[] = { "{policy: hold, hold: 0 s}",
                                            "{policy: hold, hold: 1 s, silent: 0 s}",
                                            "{policy: hold, hold: 3 s, silent: 2 s}",
                                            "{policy: hold, hold: 1000 s}" };
    const uint64_t cases = getenv("WEIR_SLOW") != NULL ? ALL : QUICK;
    for (uint64_t seed = 1; seed <= cases; seed++) {
        struct few_jobs jobs;
        few_jobs_draw(seed, true, &jobs);
        few_jobs_run(&jobs, policies[seed % 4]);
        CHECK(is_within_capacity(&jobs));
        for (size_t i = 0; i < jobs.count; i++)
            if (!CHECK(jobs.job[i].start >= jobs.job[i].submit))
                printf("case %" PRIu64 ", job %zu\n", seed, i);
    }
}

/* ---- types of GPUs ---- */

/* Of six nodes with one GPU three are of another type. */
static const char *const typed_text[] = { ", gpu_types: [h100]", ", gpu_types: [a100-80]", "" };

static void see_job(void *state, const struct sim_job_row *row)
{
    struct few_jobs *jobs = state;
    jobs->job[row->label].start = (int)(row->first_start_ns / SIM_NS_PER_S);
}

/* The first ones insist on a type. */
static void run_typed(struct few_jobs *jobs, uint64_t dice, size_t insisting)
{
    char text[TEXT];
    int used = snprintf(
        text, sizeof text,
        "schema: 2\nname: t\ncatalog: {gpu_types: {h100: {speed: 1}, a100-80: {speed: 1}}}\n"
        "cluster:\n  nodes: [{name: n, count: 3, cpus: 8, gpus: "
        "{h100: 1}}, {name: m, count: 3, cpus: 8, gpus: {a100-80: 1}}]\nsched: "
        "{placement: first_fit, queueing: conservative}\njobs:\n  - name: w\n    "
        "classes:\n");
    for (size_t i = 0; i < jobs->count; i++) {
        const uint64_t type = i < insisting ? (dice >> i) % 2 : 2;
        const int most = type == 2 ? GPUS : GPUS / 2;
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "      - {name: j%zu, count: 1, at: %d s, run_time: %d s, members: %d, "
                         "request: {gpus: 1}%s}\n",
                         i, jobs->job[i].submit, jobs->job[i].run,
                         jobs->job[i].gpus < most ? jobs->job[i].gpus : most, typed_text[type]);
    }
    const struct sim_observer observer = { .job = see_job, .state = jobs };
    free(test_watch_text(text, &observer));
}

/* With exact estimates a job that insists on a type starts as if no job that takes any GPU had come
 * after it. */
static void jobs_of_any_type_take_nothing_that_is_reserved(void)
{
    const uint64_t cases = getenv("WEIR_SLOW") != NULL ? ALL : QUICK / 4;
    for (uint64_t seed = 1; seed <= cases; seed++) {
        struct few_jobs all;
        few_jobs_draw(seed, true, &all);
        struct few_jobs some = all;
        some.count /= 2;
        run_typed(&all, seed * 2654435769U, some.count);
        run_typed(&some, seed * 2654435769U, some.count);
        for (size_t i = 0; i < some.count; i++)
            if (!CHECK_I64(all.job[i].start, some.job[i].start))
                printf("case %" PRIu64 ", job %zu\n", seed, i);
    }
}

static const struct test tests[] = {
    { "jobs of any type take nothing that is reserved",
      jobs_of_any_type_take_nothing_that_is_reserved },
    { "EASY is as the plain one has it and delays no head", easy_delays_no_head },
    { "conservative is as the plain one has it and keeps its word", conservative_keeps_its_word },
    { "nobody starves beyond the bound", nobody_starves_beyond_the_bound },
    { "gangs never wait for each other", gangs_never_wait_for_each_other },
};
TEST_MAIN(tests)
