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

/* By the digit of its name "j3". */
static void see_named(void *state, const struct sim_job_row *row)
{
    struct times *times = state;
    const int number = row->name[1] - '0';
    if (CHECK(number >= 0 && number < JOBS)) {
        times->start_s[number] = sim_time_s(row->first_start_ns);
        times->end_s[number] = sim_time_s(row->end_ns);
    }
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

/* The same six jobs for all formulas. */
static const struct job six[] = { { 0, 10, 3, 10 }, { 5, 8, 4, 8 }, { 9, 3, 4, 3 },
                                  { 9, 6, 1, 6 },   { 4, 8, 4, 8 }, { 4, 2, 2, 2 } };

static void formulas_say_who_is_first(void)
{
    static const struct known known[] = {
        { "{policy: formula, name: wfp3}", { 0, 23, 20, 31, 12, 10 } },
        { "{policy: formula, name: unicef}", { 0, 27, 16, 10, 19, 10 } },
        { "{policy: formula, name: f1}", { 0, 20, 34, 28, 12, 10 } },
        { "fcfs", { 0, 20, 28, 31, 10, 18 } },
        { "{policy: formula, name: own, expression: -(wait / estimate)^3 * devices}",
          { 0, 23, 20, 31, 12, 10 } },
        { "{policy: formula, name: own, expression: '-wait / (log2(devices) * estimate)'}",
          { 0, 27, 16, 10, 19, 10 } },
        { "{policy: formula, name: own, expression: "
          "'log10(estimate) * devices + 870 * log10(max(submit, 0.1))'}",
          { 0, 20, 34, 28, 12, 10 } },
    };
    for (size_t i = 0; i < EACH(known); i++)
        starts_are(six, EACH(six), 4, &known[i]);
}

/* As RLScheduler has them: its wait is -1 - s, and who was chosen stays chosen. */
static void chosen_jobs_stay_chosen(void)
{
    static const struct known known[] = {
        { "{policy: committed, by: wfp3}", { 0, 18, 32, 26, 10, 26 } },
        { "{policy: committed, by: uni}", { 0, 18, 26, 29, 10, 29 } },
        { "{policy: committed, by: f1}", { 0, 20, 34, 28, 10, 18 } },
        { "{policy: committed, by: fcfs}", { 0, 20, 28, 31, 10, 18 } },
    };
    for (size_t i = 0; i < EACH(known); i++)
        starts_are(six, EACH(six), 4, &known[i]);
}

/* The head is to start at 10 s. Behind it RLScheduler starts who is over before that, not at that
 * instant, and knows no devices to spare; EASY starts both. */
static void behind_who_was_chosen_only_brief_jobs_start(void)
{
    static const struct job jobs[] = {
        { 0, 10, 3, 10 }, { 1, 5, 4, 5 }, { 2, 8, 1, 8 }, { 3, 6, 1, 6 }, { 4, 2, 1, 2 }
    };
    static const struct known known[] = {
        { "{policy: committed, by: fcfs, backfill: true}", { 0, 10, 15, 3, 15 } },
        { "{policy: committed, by: fcfs}", { 0, 10, 15, 15, 15 } },
        { "easy", { 0, 10, 2, 15, 15 } },
    };
    static const struct job spare[] = { { 0, 10, 3, 10 }, { 1, 5, 3, 5 }, { 2, 100, 1, 100 } };
    static const struct known spared[] = {
        { "{policy: committed, by: fcfs, backfill: true}", { 0, 10, 10 } },
        { "easy", { 0, 10, 2 } },
    };
    for (size_t i = 0; i < EACH(known); i++)
        starts_are(jobs, EACH(jobs), 4, &known[i]);
    for (size_t i = 0; i < EACH(spared); i++)
        starts_are(spare, EACH(spare), 4, &spared[i]);
}

/* The first job ends early, at 8 s, when the third comes: RLScheduler sees the third before that
 * end, and it is over before the second is expected to start, at 20 s. */
static void an_arrival_is_seen_before_an_end(void)
{
    static const struct job jobs[] = { { 0, 8, 2, 20 }, { 1, 5, 4, 5 }, { 8, 3, 2, 3 } };
    static const struct known known[] = {
        { "{policy: committed, by: fcfs, backfill: true}", { 0, 11, 8 } },
        { "easy", { 0, 8, 13 } },
    };
    for (size_t i = 0; i < EACH(known); i++)
        starts_are(jobs, EACH(jobs), 4, &known[i]);
}

/* Jobs of CPUs are as large as their CPUs. */
static void formulas_know_cpus(void)
{
    static const int starts[][6] = { { 0, 23, 20, 31, 12, 10 },
                                     { 0, 27, 16, 10, 19, 10 },
                                     { 0, 20, 34, 28, 12, 10 },
                                     { 0, 18, 32, 26, 10, 26 } };
    static const char *const policies[] = { "{policy: formula, name: wfp3}",
                                            "{policy: formula, name: unicef}",
                                            "{policy: formula, name: f1}",
                                            "{policy: committed, by: wfp3}" };
    for (size_t p = 0; p < EACH(policies); p++) {
        char text[TEXT];
        struct times times = { { 0 }, { 0 } };
        int used = snprintf(text, sizeof text,
                            "schema: 2\nname: t\ncluster: {nodes: [{name: n, cpus: 4}]}\nsched: "
                            "{queueing: %s}\njobs:\n  - name: w\n    classes:\n",
                            policies[p]);
        for (size_t i = 0; i < EACH(six); i++)
            used += snprintf(text + used, sizeof text - (size_t)used,
                             "      - {name: j%zu, count: 1, at: %d s, run_time: %d s, request: "
                             "{cpus: %d}}\n",
                             i, six[i].submit_s, six[i].run_s, six[i].gpus);
        const struct sim_observer observer = { .job = see_job, .state = &times };
        free(test_watch_text(text, &observer));
        for (size_t i = 0; i < EACH(six); i++)
            if (!CHECK_NEAR(times.start_s[i], starts[p][i], 0))
                printf("%s: job %zu\n", policies[p], i);
    }
}

static void slurm_backfills_now_and_then(void)
{
    static const struct job jobs[] = { { 0, 300, 6, 360 },
                                       { 10, 200, 8, 240 },
                                       { 20, 100, 2, 240 },
                                       { 25, 250, 2, 360 },
                                       { 40, 60, 1, 60 } };
    static const struct known known[] = {
        { "slurm", { 0, 300, 30, 500, 150 } },
        { "{policy: slurm, bf_max_job_test: 1}", { 0, 300, 500, 500, 500 } },
        { "{policy: slurm, bf_resolution: 600 s}", { 0, 300, 500, 500, 500 } },
        { "easy", { 0, 300, 20, 500, 120 } },
        { "conservative", { 0, 300, 20, 500, 120 } },
    };
    for (size_t i = 0; i < EACH(known); i++)
        starts_are(jobs, EACH(jobs), 8, &known[i]);
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

/* At 8 s j0 has had its 8 GPU seconds and gives way to j1, which needs all 8 GPUs and has had them
 * for 8 GPU seconds at 9 s: then it goes to the tail of the second queue, behind j0 that waits
 * there. With three GPUs 8 GPU seconds are over at 3 s, since whole seconds count. */
static void who_has_just_come_to_a_queue_is_its_last(void)
{
    static const struct job two[] = { { 0, 19, 1, 19 }, { 1, 4, 8, 4 } };
    static const struct job three[] = { { 0, 10, 3, 10 }, { 1, 2, 3, 2 } };
    struct times times = run_jobs(two, 2, 8, "{policy: las_2d, limit_1: 8, limit_2: 40}");
    CHECK_NEAR(times.end_s[0], 20, 1e-9);
    CHECK_NEAR(times.end_s[1], 23, 1e-9);
    times = run_jobs(three, 2, 3, "{policy: las_2d, limit_1: 8, limit_2: 40}");
    CHECK_NEAR(times.end_s[0], 12, 1e-9);
    CHECK_NEAR(times.end_s[1], 5, 1e-9);
}

/* Of two jobs with 6 s left the one that was submitted first runs, though the other one runs
 * already. */
static void of_two_as_short_the_first_submitted_runs(void)
{
    static const struct job jobs[] = { { 0, 3, 1, 3 }, { 0, 6, 2, 6 }, { 1, 8, 1, 8 } };
    const struct times times = run_jobs(jobs, EACH(jobs), 2, "srtf");
    CHECK_NEAR(times.end_s[0], 3, 1e-9);
    CHECK_NEAR(times.end_s[1], 9, 1e-9);
    CHECK_NEAR(times.end_s[2], 15, 1e-9);
}

/* The first has had its 4 s of the first queue, and new jobs come every 2 s. When it has waited 7/8
 * of that, at 7.5 s, it is as new as they are, goes before the one that comes at 8 s, and has its 4
 * s of the first queue again: who comes at 10 s does not take its place. */
static void who_starves_is_new_again(void)
{
    static const struct job jobs[] = { { 0, 8, 1, 8 }, { 4, 2, 1, 2 },  { 6, 2, 1, 2 },
                                       { 8, 2, 1, 2 }, { 10, 2, 1, 2 }, { 12, 2, 1, 2 } };
    static const double starved[] = { 18, 6, 8, 10, 12, 14 };
    static const double promoted[] = { 12, 6, 8, 14, 16, 18 };
    const struct times las = run_jobs(jobs, EACH(jobs), 1, "{policy: las_2d, limit_1: 4}");
    const struct times again =
        run_jobs(jobs, EACH(jobs), 1, "{policy: las_promoted, limit_1: 4, promote: 0.875}");
    const struct times never =
        run_jobs(jobs, EACH(jobs), 1, "{policy: las_promoted, limit_1: 4, promote: 1000}");
    for (size_t i = 0; i < EACH(jobs); i++) {
        CHECK_NEAR(las.end_s[i], starved[i], 1e-9);
        CHECK_NEAR(again.end_s[i], promoted[i], 1e-9);
        CHECK_NEAR(never.end_s[i], starved[i], 1e-9);
    }
}

static void typed_starts_are(const char *text, const double *starts, size_t count)
{
    struct times times = { { 0 }, { 0 } };
    const struct sim_observer observer = { .job = see_named, .state = &times };
    free(test_watch_text(text, &observer));
    for (size_t i = 0; i < count; i++)
        if (!CHECK_NEAR(times.start_s[i], starts[i], 0))
            printf("job %zu\n", i);
}

/* Four A100 stand idle, and two of four H100 until 100 s; j1 needs all four. j2 would delay it, j3
 * takes any GPU and ends in time, j4 ends in time on the H100 that are free. */
static void types_that_jobs_insist_on_count(void)
{
    static const double starts[] = { 0, 100, 150, 30, 40 };
    static const char *const text =
        "schema: 2\nname: t\ncluster:\n  nodes:\n"
        "    - {name: a, cpus: 64, gpus: {a100-80: 4}}\n    - {name: h, cpus: 64, gpus: {h100: "
        "4}}\n"
        "sched: {queueing: conservative}\njobs:\n  - name: w\n    estimate: 1\n"
        "    classes:\n"
        "      - {name: j0, count: 1, at: 0 s, run_time: 100 s, members: 2, request: {gpus: 1}, "
        "gpu_types: [h100]}\n"
        "      - {name: j1, count: 1, at: 10 s, run_time: 50 s, members: 4, request: {gpus: 1}, "
        "gpu_types: [h100]}\n"
        "      - {name: j2, count: 1, at: 20 s, run_time: 1000 s, members: 2, request: {gpus: 1}, "
        "gpu_types: [h100]}\n"
        "      - {name: j3, count: 1, at: 30 s, run_time: 20 s, members: 4, request: {gpus: 1}, "
        "gpu_types: [a100-80]}\n"
        "      - {name: j4, count: 1, at: 40 s, run_time: 60 s, members: 2, request: {gpus: 1}, "
        "gpu_types: [h100]}\n";
    typed_starts_are(text, starts, EACH(starts));
}

/* j1 has both A100 reserved from 10 s on. j2 and j3 take any GPU for longer: the placement would
 * give them the A100 that is free, where it would delay j1; there is one H100 for j2, and j3 waits.
 */
static void who_takes_any_gpu_takes_none_that_is_reserved(void)
{
    static const double starts[] = { 0, 10, 0, 20 };
    static const char *const text =
        "schema: 2\nname: t\ncatalog: {gpu_types: {h100: {speed: 1}, a100-80: {speed: "
        "1}}}\ncluster:\n  nodes:\n"
        "    - {name: a, cpus: 64, gpus: {a100-80: 2}}\n    - {name: h, cpus: 64, gpus: {h100: "
        "1}}\n"
        "sched: {placement: first_fit, queueing: conservative}\njobs:\n  - name: w\n"
        "    classes:\n"
        "      - {name: j0, count: 1, run_time: 10 s, request: {gpus: 1}, gpu_types: [a100-80]}\n"
        "      - {name: j1, count: 1, run_time: 10 s, members: 2, request: {gpus: 1}, "
        "gpu_types: [a100-80]}\n"
        "      - {name: j2, count: 1, run_time: 30 s, request: {gpus: 1}}\n"
        "      - {name: j3, count: 1, run_time: 30 s, request: {gpus: 1}}\n";
    typed_starts_are(text, starts, EACH(starts));
}

/* j0 has begun, and reserves no A100 any more: j1 takes the one that is free beside the H100. */
static void who_insisted_and_has_started_reserves_nothing(void)
{
    static const double starts[] = { 0, 10 };
    typed_starts_are(
        "schema: 2\nname: t\ncatalog: {gpu_types: {h100: {speed: 1}, a100-80: {speed: 1}}}\n"
        "cluster:\n  nodes:\n    - {name: a, cpus: 64, gpus: {a100-80: 2}}\n"
        "    - {name: h, cpus: 64, gpus: {h100: 1}}\n"
        "sched: {placement: first_fit, queueing: conservative}\njobs:\n  - name: w\n"
        "    classes:\n"
        "      - {name: j0, count: 1, run_time: 100 s, request: {gpus: 1}, gpu_types: "
        "[a100-80]}\n"
        "      - {name: j1, count: 1, at: 10 s, run_time: 30 s, members: 2, request: "
        "{gpus: 1}}\n",
        starts, EACH(starts));
}

/* What a pre-emption adds to the work of a job, by its GPUs, as in the clusters of Helios. */
static void run_helios(int late_s, const double *starts, const double *ends)
{
    static const struct job jobs[] = {
        { 0, 100, 4, 100 }, { 10, 20, 2, 20 }, { 15, 60, 8, 60 }, { 40, 5, 8, 5 }
    };
    struct times times = { { 0 }, { 0 } };
    char text[TEXT];
    int used = snprintf(text, sizeof text,
                        "schema: 2\nname: t\ncluster: {nodes: [{name: n, cpus: 64, gpus: {h100: "
                        "8}}]}\nsched: {queueing: srtf}\njobs:\n");
    for (size_t i = 0; i < EACH(jobs); i++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "  - name: w%zu\n    estimate: 1\n    preemption: {keeps: all, restart: "
                         "30 s}\n    classes: [{name: j%zu, count: 1, at: %d s, run_time: %d s, "
                         "members: %d, request: {gpus: 1, cpus: 0.1}}]\n",
                         i, i, jobs[i].submit_s, jobs[i].run_s + late_s, jobs[i].gpus);
    const struct sim_observer observer = { .job = see_named, .state = &times };
    free(test_watch_text(text, &observer));
    for (size_t i = 0; i < EACH(jobs); i++) {
        CHECK_NEAR(times.start_s[i], starts[i], 0);
        CHECK_NEAR(times.end_s[i], ends[i], 0);
    }
}

/* As the rule is, and as the published program has it, which ends every job a second late. */
static void restarts_cost_by_size(void)
{
    run_helios(0, (const double[]){ 0, 10, 30, 40 }, (const double[]){ 225, 30, 125, 45 });
    run_helios(1, (const double[]){ 0, 10, 31, 40 }, (const double[]){ 228, 31, 128, 46 });
}

/* The same jobs, by the index of Gittins over ten samples. */
static void the_likeliest_end_runs(void)
{
    static const struct job jobs[] = { { 0, 10, 2, 10 }, { 1, 4, 1, 4 }, { 2, 6, 4, 6 },
                                       { 3, 12, 1, 12 }, { 5, 3, 2, 3 }, { 8, 2, 4, 2 } };
    static const double ends[] = { 17, 5, 23, 19, 8, 12 };
    const struct times times =
        run_jobs(jobs, EACH(jobs), 4,
                 "{policy: gittins, limit_1: 8, limit_2: 24, delta: 8, samples: [60, 3, 4, 4, 6, "
                 "8, 12, 20, 24, 40]}");
    for (size_t i = 0; i < EACH(jobs); i++)
        CHECK_NEAR(times.end_s[i], ends[i], 1e-9);
}

static const struct test tests[] = {
    { "early ends make room", early_ends_make_room },
    { "formulas say who is first", formulas_say_who_is_first },
    { "jobs that were chosen stay chosen", chosen_jobs_stay_chosen },
    { "behind who was chosen only brief jobs start", behind_who_was_chosen_only_brief_jobs_start },
    { "an arrival is seen before an end", an_arrival_is_seen_before_an_end },
    { "formulas know CPUs", formulas_know_cpus },
    { "who has just come to a queue is its last", who_has_just_come_to_a_queue_is_its_last },
    { "of two as short the first submitted runs", of_two_as_short_the_first_submitted_runs },
    { "Slurm backfills now and then", slurm_backfills_now_and_then },
    { "types that jobs insist on count", types_that_jobs_insist_on_count },
    { "who takes any GPU takes none that is reserved",
      who_takes_any_gpu_takes_none_that_is_reserved },
    { "who insisted and has started reserves nothing",
      who_insisted_and_has_started_reserves_nothing },
    { "who starves is new again", who_starves_is_new_again },
    { "restarts cost by size", restarts_cost_by_size },
    { "the likeliest end runs", the_likeliest_end_runs },
    { "least attained service runs", least_attained_service_runs },
};
TEST_MAIN(tests)
