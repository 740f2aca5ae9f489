/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Policies that choose how many ranks jobs have: worked examples of their rules, and runs in which
 * the rate of a job follows its ranks.
 */
#include "sched/joint/joint.h"

#include "sched/internal/alloc.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- laws ---- */

static struct weir_speedup law_of(uint32_t law, const double *numbers, uint32_t count)
{
    return (struct weir_speedup){ .size = sizeof(struct weir_speedup),
                                  .law = law,
                                  .least = 1,
                                  .most = 64,
                                  .usual = 1,
                                  .count = count,
                                  .numbers = numbers };
}

/* covers: S1.47 S1.52 */
static void speeds_follow_their_laws(void)
{
    static const double serial = .05;
    static const double table[] = { 2, 3.8, 5 };
    static const double step[] = { 10, .5, .2 };
    const struct weir_speedup amdahl = law_of(WEIR_SPEEDUP_AMDAHL, &serial, 1);
    const struct weir_speedup measured = law_of(WEIR_SPEEDUP_TABLE, table, 3);
    const struct weir_speedup steps = law_of(WEIR_SPEEDUP_STEP, step, 3);
    CHECK_NEAR(weir_speedup_at(&amdahl, 8, 1), 5.926, 5e-4);
    CHECK_NEAR(weir_speedup_at(&amdahl, 16, 1), 9.143, 5e-4);
    CHECK_NEAR(weir_speedup_efficiency(&amdahl, 8, 1), .741, 5e-4);
    CHECK_NEAR(weir_speedup_efficiency(&amdahl, 10, 1), .690, 5e-4);
    CHECK_NEAR(weir_speedup_efficiency(&amdahl, 16, 1), .571, 5e-4);
    CHECK_NEAR(weir_speedup_at(&measured, 2, 1), 1.9, 1e-12);
    CHECK_NEAR(weir_speedup_at(&measured, 7, 1), 2.5, 1e-12);
    CHECK_NEAR(weir_speedup_at(&steps, 5, 1), 10.7 / (2 + .5 + 1), 1e-12);
    CHECK_NEAR(weir_speedup_at(&steps, 0, 1), 0, 0);
}

/* The parameters of Pollux' own test. Batches grow with the ranks until they are worth less.
 * covers: S1.46 */
static const double pollux[] = { .121,   .00568,  .0236, .00634, .0118, .00317, 1.14,
                                 .00136, .000502, 128,   1280,   64,    256 };

static void goodput_is_that_of_pollux(void)
{
    static const struct {
        uint32_t nodes, ranks;
        double speedup;
    } known[] = {
        { 1, 2, 1.728339 }, { 1, 4, 1.981932 }, { 1, 8, 2.113881 },  { 2, 2, 1.702707 },
        { 2, 4, 1.934834 }, { 2, 8, 2.025472 }, { 2, 16, 1.967929 },
    };
    const struct weir_speedup law = law_of(WEIR_SPEEDUP_GOODPUT, pollux, WEIR_GOODPUT_COUNT);
    double batch = 0;
    CHECK_NEAR(weir_speedup_goodput(&law, 1, 1, &batch), 150.936276, 1e-6);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        CHECK_NEAR(weir_speedup_at(&law, known[i].ranks, known[i].nodes), known[i].speedup, 1e-6);
    double last = 0;
    for (uint32_t n = 1; n <= 16; n *= 2) {
        CHECK(weir_speedup_goodput(&law, n, 1, &batch) > 0);
        CHECK(batch >= last && batch <= 256. * n && batch <= 1280);
        last = batch;
    }
    CHECK_NEAR(weir_speedup_goodput(&law, 32, 1, &batch), 0, 0); /* no batch is that large */
}

/* A law of which nothing can be worked out is refused with a sentence. */
static void broken_laws_are_refused(void)
{
    static const double serial = -1;
    static const double none[] = { 0, 1 };
    static const double two[] = { 1, 2 };
    static const struct {
        uint32_t law, count;
        const double *numbers;
        const char *text;
    } broken[] = {
        { WEIR_SPEEDUP_AMDAHL, 1, &serial, "number 1 must be at least 0, got -1" },
        { WEIR_SPEEDUP_TABLE, 2, none, "with 1 ranks it must be faster than nothing" },
        { WEIR_SPEEDUP_STEP, 2, two, "3 numbers are needed, got 2" },
        { 9, 2, two, "unknown law 9" },
    };
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        const struct weir_speedup law = law_of(broken[i].law, broken[i].numbers, broken[i].count);
        struct weir_error error = { .phase = -1, .pool = -1 };
        CHECK_I64(weir_speedup_check(&law, &error), WEIR_EINVAL);
        CHECK_STR(error.text, broken[i].text);
    }
    struct weir_speedup limits = law_of(WEIR_SPEEDUP_TABLE, two, 2);
    struct weir_error error = { .phase = -1, .pool = -1 };
    limits.least = 2;
    CHECK_I64(weir_speedup_check(&limits, &error), WEIR_EINVAL);
}

/* ---- rules ---- */

enum { MOST_JOBS = 8 };

/* A rule by itself: jobs of one GPU a rank, on one type. */
struct asked {
    struct weir_joint *joint;
    struct weir_speedup laws[MOST_JOBS];
    double numbers[MOST_JOBS][4];
};

static void open_rule(struct asked *asked, const struct weir_joint_rule *rule, double devices)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct weir_error error = { .phase = -1, .pool = -1 };
    void *state = NULL;
    memset(asked, 0, sizeof *asked);
    CHECK_I64(weir_joint_create(rule, NULL, &memory, &state, &error), WEIR_OK);
    asked->joint = state;
    asked->joint->jobs = weir_alloc(&memory, MOST_JOBS, sizeof *asked->joint->jobs);
    memset(asked->joint->jobs, 0, MOST_JOBS * sizeof *asked->joint->jobs);
    asked->joint->job_capacity = MOST_JOBS;
    asked->joint->types = 1;
    asked->joint->devices = asked->joint->supply[0] = devices;
    asked->joint->node_gpus = (uint32_t)devices;
}

static struct weir_joint_job *add(struct asked *asked, uint32_t law, uint32_t most,
                                  const double numbers[3])
{
    const uint32_t index = asked->joint->count++;
    struct weir_joint_job *job = &asked->joint->jobs[index];
    memcpy(asked->numbers[index], numbers, 3 * sizeof *numbers);
    asked->laws[index] = law_of(law, asked->numbers[index], 3);
    *job = (struct weir_joint_job){ .id = index,
                                    .may_use = 1,
                                    .speedup = &asked->laws[index],
                                    .least = 1,
                                    .most = most,
                                    .usual = 1,
                                    .gpus = 1,
                                    .on_type = { 1 },
                                    .total_s = 1e6,
                                    .left_s = 1e6 };
    return job;
}

static void ask(struct asked *asked)
{
    struct weir_error error = { .phase = -1, .pool = -1 };
    CHECK_I64(weir_joint_measure(asked->joint), WEIR_OK);
    for (uint32_t j = 0; j < asked->joint->count; j++)
        asked->joint->jobs[j].ranks = asked->joint->jobs[j].type = 0;
    CHECK_I64(asked->joint->rule->choose(asked->joint, &error), WEIR_OK);
}

static void check_ranks(const struct asked *asked, const uint32_t *wanted)
{
    for (uint32_t j = 0; j < asked->joint->count; j++)
        if (!CHECK_I64(asked->joint->jobs[j].ranks, wanted[j]))
            printf("job %u\n", j);
}

/* Three jobs by a, b, c and steps left: who gains most has the next rank. Per device gains are 750
 * for B, 480 A, 398 C, 150 B, 146.667 A, 131.333 C, 64.667 C. */
static void optimus_gives_ranks_by_gain(void)
{
    static const struct {
        double law[3], steps;
    } jobs[] = { { { 10, .5, .2 }, 100 }, { { 6, .2, .5 }, 300 }, { { 20, 1, .05 }, 40 } };
    static const struct {
        double devices;
        uint32_t ranks[3];
    } cases[] = {
        { 2, { 1, 1, 0 } },  { 3, { 1, 1, 1 } },   { 4, { 1, 2, 1 } },   { 5, { 2, 2, 1 } },
        { 6, { 2, 2, 2 } },  { 7, { 2, 3, 2 } },   { 8, { 3, 3, 2 } },   { 9, { 3, 3, 3 } },
        { 10, { 3, 3, 4 } }, { 30, { 7, 3, 20 } }, { 50, { 7, 3, 20 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct asked asked;
        open_rule(&asked, &weir_rule_optimus, cases[i].devices);
        for (size_t j = 0; j < 3; j++)
            add(&asked, WEIR_SPEEDUP_STEP, 40, jobs[j].law)->left_s =
                jobs[j].steps * (jobs[j].law[0] + jobs[j].law[1] + jobs[j].law[2]);
        ask(&asked);
        check_ranks(&asked, cases[i].ranks);
        weir_joint_destroy(asked.joint);
    }
}

/* Serial parts .02, .05, .1: no job grows beyond 22, 9 and 5 ranks, where its efficiency is .7.
 * covers: S1.57 */
static void elastic_jobs_grow_while_they_are_efficient(void)
{
    static const double serial[][3] = { { .02 }, { .05 }, { .1 } };
    static const struct {
        double devices;
        uint32_t ranks[3];
    } cases[] = { { 12, { 7, 3, 2 } }, { 32, { 20, 8, 4 } }, { 40, { 22, 9, 5 } } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct asked asked;
        double speed = 0;
        open_rule(&asked, &weir_rule_elastic, cases[i].devices);
        for (size_t j = 0; j < 3; j++)
            add(&asked, WEIR_SPEEDUP_AMDAHL, 40, serial[j]);
        ask(&asked);
        check_ranks(&asked, cases[i].ranks);
        for (uint32_t j = 0; j < 3; j++)
            speed += weir_joint_speed(asked.joint, j, cases[i].ranks[j]);
        if (i == 1)
            CHECK_NEAR(speed, 23.4956, 5e-5);
        weir_joint_destroy(asked.joint);
    }
}

/* The parameters of the policy, in its table's order. */
enum { LIMIT = 1, UP, DOWN, DWELL, PRICE, FIXED };

/* Most speed for the cost of ranks at 1 and a fixed part; and as long as a rank at .4 pays.
 * covers: S1.48 S1.49 */
static void ranks_are_bought_while_they_pay(void)
{
    static const double serial[3] = { .05 };
    static const struct {
        double limit, price, fixed;
        uint32_t ranks;
    } cases[] = {
        { 2, 1, 0, 1 }, { 2, 1, 2, 6 }, { 2, 1, 4, 9 }, { 2, 1, 8, 12 }, { 1, .4, 0, 12 }
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct asked asked;
        open_rule(&asked, &weir_rule_elastic, 40);
        add(&asked, WEIR_SPEEDUP_AMDAHL, 40, serial);
        asked.joint->values[LIMIT] = cases[i].limit;
        asked.joint->values[PRICE] = cases[i].price;
        asked.joint->values[FIXED] = cases[i].fixed;
        ask(&asked);
        check_ranks(&asked, &cases[i].ranks);
        weir_joint_destroy(asked.joint);
    }
}

/* From 4 to 8 ranks at a serial part of .05 a restart of 60 s pays from 505.263 s of work on. */
static void growing_costs_a_restart(void)
{
    static const double serial[3] = { .05 };
    for (int more = 0; more < 2; more++) {
        struct asked asked;
        open_rule(&asked, &weir_rule_elastic, 8);
        struct weir_joint_job *job = add(&asked, WEIR_SPEEDUP_AMDAHL, 8, serial);
        job->held = 4;
        job->restart_s = 60;
        job->left_s = 505.263 + (more == 1 ? 1e-3 : -1e-3); /* on one rank */
        ask(&asked);
        check_ranks(&asked, &(const uint32_t){ more == 1 ? 8 : 4 });
        weir_joint_destroy(asked.joint);
    }
}

/* Who comes gets its least from those whose last rank is worth least.
 * covers: S1.51 */
static void others_shrink_for_who_waits(void)
{
    static const double serial[][3] = { { .02 }, { .05 }, { .1 } };
    struct asked asked;
    open_rule(&asked, &weir_rule_elastic, 16);
    add(&asked, WEIR_SPEEDUP_AMDAHL, 40, serial[0])->held = 10;
    add(&asked, WEIR_SPEEDUP_AMDAHL, 40, serial[1])->held = 6;
    struct weir_joint_job *wide = add(&asked, WEIR_SPEEDUP_AMDAHL, 40, serial[2]);
    wide->least = 3;
    ask(&asked);
    check_ranks(&asked, (const uint32_t[]){ 9, 4, 3 });
    wide->least = 15; /* more than they can give: nobody shrinks for nothing */
    ask(&asked);
    check_ranks(&asked, (const uint32_t[]){ 10, 6, 0 });
    weir_joint_destroy(asked.joint);
}

static double draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* How often the ranks of a job change in an hour when its measured efficiency, each minute anew, is
 * .70 +- .03 whatever it has. */
static unsigned count_changes(double down, double dwell_s)
{
    static const double any[3] = { .1 };
    struct asked asked;
    uint64_t state = 7;
    unsigned changes = 0;
    open_rule(&asked, &weir_rule_elastic, 16);
    struct weir_joint_job *job = add(&asked, WEIR_SPEEDUP_AMDAHL, 16, any);
    asked.joint->values[DOWN] = down;
    asked.joint->values[DWELL] = dwell_s;
    job->held = 8;
    CHECK_I64(weir_joint_measure(asked.joint), WEIR_OK);
    for (unsigned minute = 0; minute < 60; minute++) {
        const double efficiency = .7 + .03 * (2 * draw(&state) - 1);
        struct weir_error error = { .phase = -1, .pool = -1 };
        for (uint32_t n = 1; n <= 16; n++)
            asked.joint->speeds[n - 1] = efficiency * n;
        asked.joint->now_s = 60. * minute;
        CHECK_I64(asked.joint->rule->choose(asked.joint, &error), WEIR_OK);
        changes += job->ranks != job->held;
        job->held = job->ranks;
    }
    weir_joint_destroy(asked.joint);
    return changes;
}

/* One threshold flaps with the noise; a band with a dwell does not.
 * covers: S1.58 */
static void a_band_ends_flapping(void)
{
    CHECK(count_changes(.7, 0) >= 20);
    CHECK(count_changes(.6, 600) <= 2);
}

/* Below the lower threshold it keeps its ranks for the dwell, then shrinks to where the upper one
 * holds. covers: S1.50 */
static void an_inefficient_job_shrinks_after_the_dwell(void)
{
    static const double serial[3] = { .05 };
    struct asked asked;
    open_rule(&asked, &weir_rule_elastic, 40);
    struct weir_joint_job *job = add(&asked, WEIR_SPEEDUP_AMDAHL, 40, serial);
    job->held = 20; /* .513 */
    asked.joint->now_s = 1000;
    asked.joint->wake_s = HUGE_VAL;
    ask(&asked);
    check_ranks(&asked, &(const uint32_t){ 20 });
    CHECK_NEAR(asked.joint->wake_s, 1600, 0);
    asked.joint->now_s = 1599;
    ask(&asked);
    check_ranks(&asked, &(const uint32_t){ 20 });
    asked.joint->now_s = 1600;
    ask(&asked);
    check_ranks(&asked, &(const uint32_t){ 9 });
    weir_joint_destroy(asked.joint);
}

/* ---- runs ---- */

enum { TEXT = 2000 };

struct seen {
    double start_s[MOST_JOBS], end_s[MOST_JOBS];
    uint32_t attempts[MOST_JOBS];
};

static void see(void *state, const struct sim_job_row *row)
{
    struct seen *seen = state;
    if (row->job >= MOST_JOBS)
        return;
    seen->start_s[row->job] = sim_time_s(row->first_start_ns);
    seen->end_s[row->job] = sim_time_s(row->end_ns);
    seen->attempts[row->job] = row->attempts;
}

static void watch(const char *queueing, const char *classes, struct seen *seen)
{
    char text[TEXT];
    const struct sim_observer observer = { .job = see, .state = seen };
    memset(seen, 0, sizeof *seen);
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: t\nhorizon: 10 d\n"
                   "cluster: {nodes: [{name: n, count: 3, cpus: 64, gpus: {h100: 4}}]}\n"
                   "sched: {placement: first_fit, queueing: %s}\n"
                   "jobs:\n  - name: w\n    preemption: {keeps: all, restart: 10 s}\n"
                   "    classes:\n%s",
                   queueing, classes);
    struct sim_run_summary *summary = test_watch_text(text, &observer);
    CHECK_NEAR(test_value(summary, "invariant.violations", ""), 0, 0);
    free(summary);
}

#define ELASTIC(name, at, law)                                                                     \
    "      - {name: " name ", count: 1, at: " at                                                   \
    ", request: {gpus: 1}, run_time: 1 h, elastic: {least: 1, most: 9, " law "}}\n"

/* One job of an hour on one GPU has 9 at a serial part of .05, and is as much faster; with the
 * numbers of its law as a table it ends at the same time. It was measured with one member. */
static void a_job_is_as_fast_as_its_ranks(void)
{
    struct seen seen;
    watch("optimus", ELASTIC("a", "0 s", "serial: 0.05"), &seen);
    CHECK_NEAR(seen.end_s[0], 3600 * (.05 + .95 / 9), 1e-6);
    CHECK_I64(seen.attempts[0], 1);
    watch("fcfs", ELASTIC("a", "0 s", "serial: 0.05"), &seen);
    CHECK_NEAR(seen.end_s[0], 3600, 1e-6);
    watch("elastic", ELASTIC("a", "0 s", "speeds: [1, 1.8, 2.1]"), &seen);
    CHECK_NEAR(seen.end_s[0], 3600 / 2.1, 1e-6);
    watch("optimus", ELASTIC("a", "0 s", "step_times: [10, 0.5, 0.2]"), &seen);
    CHECK_NEAR(seen.end_s[0], 3600 * (10. / 7 + .5 + 1.4) / 10.7, 1e-6);
}

/* Of an hour with nine ranks 90 s of one rank are left when another hour comes: that one gets nine
 * of the twelve GPUs, since by then it has more to gain. */
static void what_was_done_makes_room_for_others(void)
{
    struct seen seen;
    watch("{policy: optimus, round: 0 s}",
          ELASTIC("a", "0 s", "speeds: [1, 2, 3, 4, 5, 6, 7, 8, 9]")
              ELASTIC("b", "390 s", "speeds: [1, 2, 3, 4, 5, 6, 7, 8, 9]"),
          &seen);
    CHECK_NEAR(seen.end_s[0], 390 + 10 + 90 / 3., 1e-6);
    CHECK_NEAR(seen.end_s[1], 390 + 400, 1e-6);
}

/* Nine ranks, six while another job has the other six GPUs, nine again: what is done is conserved,
 * and each change costs 10 s.
 * covers: S1.41 */
static void what_is_done_is_conserved(void)
{
    const double nine = 1 / (.05 + .95 / 9);
    const double six = 1 / (.05 + .95 / 6);
    struct seen seen;
    watch("{policy: optimus, round: 0 s}",
          ELASTIC("a", "0 s", "serial: 0.05") "      - {name: b, count: 1, at: 100 s, members: 6, "
                                              "request: {gpus: 1}, run_time: 200 s}\n",
          &seen);
    const double left_s = 3600 - 100 * nine - 190 * six;
    CHECK_I64(seen.attempts[0], 3);
    CHECK_NEAR(seen.end_s[1], 300, 1e-6);
    CHECK_NEAR(seen.end_s[0], 310 + left_s / nine, 1e-6);
}

static const struct test tests[] = {
    { "speeds follow their laws", speeds_follow_their_laws },
    { "goodput is that of Pollux", goodput_is_that_of_pollux },
    { "broken laws are refused", broken_laws_are_refused },
    { "what was done makes room for others", what_was_done_makes_room_for_others },
    { "optimus gives ranks by gain", optimus_gives_ranks_by_gain },
    { "elastic jobs grow while they are efficient", elastic_jobs_grow_while_they_are_efficient },
    { "ranks are bought while they pay", ranks_are_bought_while_they_pay },
    { "growing costs a restart", growing_costs_a_restart },
    { "others shrink for who waits", others_shrink_for_who_waits },
    { "a band ends flapping", a_band_ends_flapping },
    { "an inefficient job shrinks after the dwell", an_inefficient_job_shrinks_after_the_dwell },
    { "a job is as fast as its ranks", a_job_is_as_fast_as_its_ranks },
    { "what is done is conserved", what_is_done_is_conserved },
};
TEST_MAIN(tests)
