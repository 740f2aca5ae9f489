/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Themis' auction, AlloX' assignment and Sia's configurations: published examples, and every answer
 * on small random cases against all that there are.
 */
#include "sched/internal/alloc.h"
#include "sched/joint/sia.h"
#include "sched/joint/themis.h"
#include "sched/solve/assignment.h"
#include "sched/solve/matching.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* ---- assignments ---- */

enum { ROWS = 5, COLUMNS = 7 };

static double cheapest(const double *cost, uint32_t row, uint32_t used)
{
    double least = row == ROWS ? 0 : HUGE_VAL;
    for (uint32_t c = 0; row < ROWS && c < COLUMNS; c++)
        if ((used >> c & 1) == 0)
            least = fmin(least, cost[row * COLUMNS + c] +
                                    cheapest(cost, row + 1, used | UINT32_C(1) << c));
    return least;
}

static void no_assignment_is_cheaper(void)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    uint64_t state = 3;
    for (unsigned n = 0; n < 300; n++) {
        double cost[ROWS * COLUMNS];
        uint32_t column[ROWS];
        uint32_t used = 0;
        double sum = 0;
        for (size_t i = 0; i < ROWS * COLUMNS; i++)
            cost[i] = floor(draw(&state) * 20) - 5;
        CHECK_I64(weir_assign(&memory, cost, ROWS, COLUMNS, column), WEIR_OK);
        for (uint32_t r = 0; r < ROWS; r++) {
            sum += cost[r * COLUMNS + column[r]];
            used |= UINT32_C(1) << column[r];
        }
        CHECK_I64(__builtin_popcount(used), ROWS);
        if (!CHECK_NEAR(sum, cheapest(cost, 0, 0), 1e-9))
            printf("case %u\n", n);
    }
    CHECK_I64(weir_assign(&memory, NULL, 3, 2, NULL), WEIR_EINVAL);
}

/* What is not joined weighs nothing there, and is no column here. */
static void no_matching_is_heavier(void)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    uint64_t state = 5;
    for (unsigned n = 0; n < 300; n++) {
        struct weir_match_edge edges[COLUMNS * ROWS];
        double cost[COLUMNS * ROWS] = { 0 };
        uint32_t column[COLUMNS];
        uint32_t used = 0;
        uint32_t count = 0;
        double sum = 0;
        for (uint32_t i = 0; i < COLUMNS * ROWS; i++) {
            if (draw(&state) * 300 > n)
                continue;
            edges[count] =
                (struct weir_match_edge){ i / ROWS, i % ROWS, 1 + floor(draw(&state) * 9) };
            cost[edges[count].column * COLUMNS + edges[count].row] = -edges[count].weight;
            count++;
        }
        CHECK_I64(weir_match_heaviest(&memory, edges, count, COLUMNS, ROWS, column), WEIR_OK);
        for (uint32_t r = 0; r < COLUMNS; r++) {
            if (column[r] == WEIR_NO_INDEX)
                continue;
            CHECK((used >> column[r] & 1) == 0);
            used |= UINT32_C(1) << column[r];
            sum += cost[column[r] * COLUMNS + r];
        }
        if (!CHECK_NEAR(sum, cheapest(cost, 0, 0), 1e-9))
            printf("case %u\n", n);
    }
}

/* Four jobs on two types of one device each: type 1 has J2, then J0; type 2 J3, then J1; 39 s in
 * all, the next best is 42. */
static void allox_starts_the_first_of_each_queue(void)
{
    static const double times[4][2] = { { 10, 20 }, { 8, 9 }, { 4, 16 }, { 12, 6 } };
    static const uint32_t types[] = { 0, 0, 1, 2 };
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct weir_joint_job jobs[4];
    void *state = NULL;
    CHECK_I64(weir_joint_create(&weir_rule_allox, NULL, &memory, &state, &error), WEIR_OK);
    struct weir_joint *joint = state;
    for (uint32_t j = 0; j < 4; j++)
        jobs[j] = (struct weir_joint_job){ .id = j,
                                           .may_use = 3,
                                           .least = 1,
                                           .most = 1,
                                           .usual = 1,
                                           .gpus = 1,
                                           .left_s = 1,
                                           .on_type = { 1 / times[j][0], 1 / times[j][1] } };
    joint->jobs = jobs;
    joint->count = 4;
    joint->types = 2;
    joint->devices = 2;
    joint->supply[0] = joint->supply[1] = 1;
    CHECK_I64(weir_joint_measure(joint), WEIR_OK);
    CHECK_I64(joint->rule->choose(joint, &error), WEIR_OK);
    for (uint32_t j = 0; j < 4; j++) {
        CHECK_I64(jobs[j].type, types[j]);
        CHECK_I64(jobs[j].ranks, types[j] > 0);
    }
    joint->jobs = NULL;
    weir_joint_destroy(joint);
}

/* ---- auctions ---- */

struct agent {
    double age, work, alone;
    uint32_t most;
};

static double rho_of(const void *state, uint32_t bidder, uint32_t devices)
{
    const struct agent *agent = (const struct agent *)state + bidder;
    const uint32_t used = devices < agent->most ? devices : agent->most;
    return used == 0 ? (double)INFINITY : (agent->age + agent->work / used) / agent->alone;
}

static const struct agent agents[] = { { 60, 960, 200, 12 },
                                       { 20, 480, 160, 6 },
                                       { 30, 240, 240, 4 } };

static void themis_divides_as_published(void)
{
    static const struct {
        uint32_t bidders, won[3], kept[3];
        double part[3];
    } cases[] = {
        { 2, { 6, 6 }, { 6, 3 }, { 1, 7. / 11 } },
        { 3, { 4, 4, 4 }, { 2, 2, 2 }, { 5. / 7, 3. / 5, 11. / 21 } },
    };
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    for (size_t i = 0; i < 2; i++) {
        uint32_t won[3];
        uint32_t kept[3];
        double part[3];
        struct weir_auction auction = { .bidders = cases[i].bidders,
                                        .devices = 12,
                                        .rho = rho_of,
                                        .state = agents,
                                        .won = won,
                                        .kept = kept,
                                        .part = part };
        CHECK_I64(weir_auction_hold(&auction, &memory), WEIR_OK);
        for (uint32_t b = 0; b < cases[i].bidders; b++) {
            CHECK_I64(won[b], cases[i].won[b]);
            CHECK_I64(kept[b], cases[i].kept[b]);
            CHECK_NEAR(part[b], cases[i].part[b], 1e-9);
        }
    }
}

/* Nobody wins more than there is, nobody pays more than he won, no other division is better. */
static void no_division_is_better(void)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    uint64_t state = 11;
    for (unsigned n = 0; n < 300; n++) {
        struct agent some[3];
        uint32_t won[3];
        uint32_t kept[3];
        double part[3];
        for (size_t i = 0; i < 3; i++)
            some[i] = (struct agent){ draw(&state) * 100, 100 + draw(&state) * 900,
                                      50 + draw(&state) * 200, 1 + (uint32_t)(draw(&state) * 9) };
        const uint32_t devices = 3 + (uint32_t)(draw(&state) * 10);
        struct weir_auction auction = { .bidders = 3,
                                        .devices = devices,
                                        .rho = rho_of,
                                        .state = some,
                                        .won = won,
                                        .kept = kept,
                                        .part = part };
        CHECK_I64(weir_auction_hold(&auction, &memory), WEIR_OK);
        CHECK(won[0] + won[1] + won[2] <= devices);
        double best = 0;
        for (uint32_t a = 1; a <= devices; a++)
            for (uint32_t b = 1; a + b < devices; b++)
                best = fmax(best, 1 / (rho_of(some, 0, a) * rho_of(some, 1, b) *
                                       rho_of(some, 2, devices - a - b)));
        const double ours =
            1 / (rho_of(some, 0, won[0]) * rho_of(some, 1, won[1]) * rho_of(some, 2, won[2]));
        CHECK_NEAR(ours / best, 1, 1e-9);
        for (size_t i = 0; i < 3; i++)
            CHECK(kept[i] <= won[i] && part[i] > 0 && part[i] <= 1);
    }
}

/* ---- Sia ---- */

enum { SIA_CONFIGS = 6 };

/* Four GPUs of type T and four of A; 1, 2 or 4 of one of them. */
static const double goodput[4][SIA_CONFIGS] = { { 10, 18, 30, 25, 45, 80 },
                                                { 5, 9, 14, 30, 50, 70 },
                                                { 8, 15, 27, 12, 22, 40 },
                                                { 20, 30, 36, 40, 60, 70 } };

static void sia_chooses_as_published(void)
{
    static const struct {
        double power, idle, sum;
        uint32_t choice[4];
    } cases[] = { { .5, 1, 7.68, { 3, 4, 2, 3 } }, { -.5, 1.1, 2.16, { 4, 3, 2, 3 } } };
    static const uint32_t now[] = { 4, 0, WEIR_NO_INDEX, 3 };
    static const double age[] = { 600, 600, 0, 20 };
    static const uint32_t restarts[] = { 1, 2, 0, 0 };
    static const uint32_t supply[] = { 4, 4 };
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct weir_sia_config configs[4][SIA_CONFIGS];
    struct weir_sia_job jobs[4];
    for (uint32_t j = 0; j < 4; j++) {
        for (uint32_t c = 0; c < SIA_CONFIGS; c++)
            configs[j][c] = (struct weir_sia_config){ c / 3, UINT32_C(1) << c % 3,
                                                      UINT32_C(1) << c % 3, goodput[j][c] };
        jobs[j] = (struct weir_sia_job){ configs[j], SIA_CONFIGS, now[j], restarts[j], age[j], 30 };
    }
    for (size_t i = 0; i < 2; i++) {
        const struct weir_sia_problem problem = { .jobs = jobs,
                                                  .count = 4,
                                                  .types = 2,
                                                  .supply = supply,
                                                  .power = cases[i].power,
                                                  .idle = cases[i].idle };
        uint32_t choice[4];
        double sum = 0;
        CHECK_I64(weir_sia_choose(&memory, &problem, choice, &sum), WEIR_OK);
        CHECK_NEAR(sum, cases[i].sum, 1e-9);
        for (uint32_t j = 0; j < 4; j++)
            CHECK_I64(choice[j], cases[i].choice[j]);
    }
}

/* With more devices than can be gone through it goes step by step; nothing is given twice, and
 * nobody goes without when there is plenty. */
static void sia_keeps_to_what_there_is(void)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    uint64_t state = 5;
    for (unsigned n = 0; n < 60; n++) {
        const uint32_t supply[] = { n % 2 == 0 ? 3000 : 6, n % 2 == 0 ? 4000 : 9 };
        struct weir_sia_config configs[6][SIA_CONFIGS];
        struct weir_sia_job jobs[6];
        uint32_t used[2] = { 0 };
        uint32_t choice[6];
        double sum = 0;
        for (uint32_t j = 0; j < 6; j++) {
            for (uint32_t c = 0; c < SIA_CONFIGS; c++)
                configs[j][c] =
                    (struct weir_sia_config){ c / 3, UINT32_C(1) << c % 3, UINT32_C(1) << c % 3,
                                              (c % 3 + 1) * (1 + draw(&state)) };
            jobs[j] = (struct weir_sia_job){ configs[j], SIA_CONFIGS, WEIR_NO_INDEX, 0, 100, 30 };
        }
        const struct weir_sia_problem problem = {
            .jobs = jobs, .count = 6, .types = 2, .supply = supply, .power = -.5, .idle = 1.1
        };
        CHECK_I64(weir_sia_choose(&memory, &problem, choice, &sum), WEIR_OK);
        for (uint32_t j = 0; j < 6; j++) {
            if (n % 2 == 0)
                CHECK(choice[j] != WEIR_NO_INDEX);
            if (choice[j] != WEIR_NO_INDEX)
                used[configs[j][choice[j]].type] += configs[j][choice[j]].devices;
        }
        CHECK(used[0] <= supply[0] && used[1] <= supply[1]);
    }
}

/* What a job is worth with a configuration (count = none), by the formula of the paper. */
static double sia_worth(const struct weir_sia_problem *problem, uint32_t j, uint32_t c)
{
    const struct weir_sia_job *job = &problem->jobs[j];
    double least = HUGE_VAL;
    double kept = 1;
    for (uint32_t i = 0; i < job->count; i++)
        least = fmin(least, job->configs[i].goodput);
    if (c == job->count)
        return problem->power < 0 ? problem->idle : -problem->idle;
    if (c != job->now && job->age_s >= job->restart_s)
        kept = fmax(job->age_s - job->restarts * job->restart_s, 0) / (job->age_s + job->restart_s);
    const double value = pow(job->configs[c].goodput / least * kept, problem->power);
    return fmin(round(value * 100) / 100, 3000);
}

/* The most (power above 0) or least of all ways to give each job one of its configurations or
 * none. */
static double sia_best(const struct weir_sia_problem *problem, uint32_t j, int left_0, int left_1)
{
    if (left_0 < 0 || left_1 < 0)
        return problem->power < 0 ? HUGE_VAL : -HUGE_VAL;
    if (j == problem->count)
        return 0;
    const struct weir_sia_job *job = &problem->jobs[j];
    double best = problem->power < 0 ? HUGE_VAL : -HUGE_VAL;
    for (uint32_t c = 0; c <= job->count; c++) {
        const int devices = c == job->count ? 0 : (int)job->configs[c].devices;
        const bool is_first = c < job->count && job->configs[c].type == 0;
        const double rest = sia_best(problem, j + 1, left_0 - (is_first ? devices : 0),
                                     left_1 - (is_first ? 0 : devices));
        const double all = sia_worth(problem, j, c) + rest;
        best = problem->power < 0 ? fmin(best, all) : fmax(best, all);
    }
    return best;
}

/* Few devices: somebody goes without. Beyond the configurations of a job stands anything. */
static void sia_finds_the_best_of_all(void)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    uint64_t state = 11;
    uint32_t idle = 0;
    for (unsigned n = 0; n < 200; n++) {
        const uint32_t supply[] = { 1 + n % 4, n % 3 };
        struct weir_sia_config configs[5][SIA_CONFIGS + 1];
        struct weir_sia_job jobs[5];
        uint32_t used[2] = { 0 };
        uint32_t choice[5];
        double sum = 0;
        double ours = 0;
        for (uint32_t j = 0; j < 5; j++) {
            const uint32_t count = 1 + (uint32_t)(draw(&state) * SIA_CONFIGS);
            for (uint32_t c = 0; c <= SIA_CONFIGS; c++)
                configs[j][c] = c >= count
                                    ? (struct weir_sia_config){ 1, 77, 77, 1e9 }
                                    : (struct weir_sia_config){ c % 2, 1 + c / 2, 1 + c / 2,
                                                                (c / 2 + 1) * (1 + draw(&state)) };
            jobs[j] = (struct weir_sia_job){ configs[j],
                                             count,
                                             draw(&state) < .5 ? 0 : WEIR_NO_INDEX,
                                             (uint32_t)(draw(&state) * 3),
                                             draw(&state) * 300,
                                             30 };
        }
        const struct weir_sia_problem problem = { .jobs = jobs,
                                                  .count = 5,
                                                  .types = 2,
                                                  .supply = supply,
                                                  .power = n % 2 == 0 ? -.5 : .5,
                                                  .idle = 1.1 };
        CHECK_I64(weir_sia_choose(&memory, &problem, choice, &sum), WEIR_OK);
        for (uint32_t j = 0; j < 5; j++) {
            const bool is_none = choice[j] == WEIR_NO_INDEX;
            idle += is_none;
            ours += sia_worth(&problem, j, is_none ? jobs[j].count : choice[j]);
            if (!is_none)
                used[configs[j][choice[j]].type] += configs[j][choice[j]].devices;
        }
        CHECK(used[0] <= supply[0] && used[1] <= supply[1]);
        CHECK_NEAR(ours, sum, 1e-9);
        CHECK_NEAR(sum, sia_best(&problem, 0, (int)supply[0], (int)supply[1]), 1e-9);
    }
    CHECK(idle > 200);
}

/* ---- runs ---- */

static struct sim_run_summary *run(const char *queueing, const char *rest)
{
    char text[2000];
    const struct sim_observer observer = { .state = NULL };
    (void)snprintf(
        text, sizeof text,
        "schema: 2\nname: t\nhorizon: 10 d\nsched: {placement: first_fit, queueing: %s}\n"
        "jobs:\n  - name: w\n    preemption: {keeps: all, restart: 10 s}\n%s",
        queueing, rest);
    struct sim_run_summary *summary = test_watch_text(text, &observer);
    CHECK_NEAR(test_value(summary, "invariant.violations", ""), 0, 0);
    return summary;
}

#define TWO_TYPES                                                                                  \
    "    run_time: 1 h\n    measured_on: a100-80\n    classes:\n"                                  \
    "      - {name: train, count: 6, work: dense, request: {gpus: 1}}\n"                           \
    "      - {name: decode, count: 6, work: decode, request: {gpus: 1}}\n"                         \
    "cluster: {nodes: [{name: new, cpus: 64, gpus: {h100: 2}}, {name: old, cpus: 64, gpus: "       \
    "{a100-80: 4}}]}\n"

/* Training gains most on the new GPUs, so that is where it goes: all end sooner on average. */
static void allox_completes_sooner_than_fcfs(void)
{
    struct sim_run_summary *fcfs = run("fcfs", TWO_TYPES);
    struct sim_run_summary *allox = run("allox", TWO_TYPES);
    CHECK_NEAR(test_value(allox, "jobs.done", ""), 12, 0);
    CHECK(isnan(test_value(allox, "jobs.preempted", "")));
    CHECK(test_value(allox, "jct.mean", "") < test_value(fcfs, "jct.mean", ""));
    free(fcfs);
    free(allox);
}

/* Leases end: the first has all twelve GPUs for its lease alone, and both are done in the end. */
static void themis_leases_devices(void)
{
    struct sim_run_summary *summary =
        run("{policy: themis, lease: 10 min}",
            "    run_time: 6 h\n    classes:\n"
            "      - {name: a, count: 1, request: {gpus: 1}, elastic: {least: 1, most: 12}}\n"
            "      - {name: b, count: 1, at: 1 min, request: {gpus: 1}, elastic: {least: 1, most: "
            "12}}\n"
            "cluster: {nodes: [{name: n, count: 3, cpus: 64, gpus: {h100: 4}}]}\n");
    CHECK_NEAR(test_value(summary, "jobs.done", ""), 2, 0);
    CHECK(test_value(summary, "jobs.preempted", "") >= 1);
    /* the second waits for the end of the lease */
    CHECK_NEAR(test_value(summary, "wait.job.mean", ""), 540. / 2, 1e-6);
    free(summary);
}

/* One rank in the first round, then two, then four: all that the law makes faster. */
static void sia_doubles_what_jobs_have(void)
{
    struct sim_run_summary *summary =
        run("sia", "    run_time: 1 h\n    classes:\n"
                   "      - {name: a, count: 1, request: {gpus: 1}, elastic: {least: 1, most: 4}}\n"
                   "cluster: {nodes: [{name: n, cpus: 64, gpus: {h100: 4}}]}\n");
    CHECK_NEAR(test_value(summary, "jobs.preempted", ""), 2, 0);
    /* 60 s at one, 50 s at two after a restart, the rest at four */
    CHECK_NEAR(test_value(summary, "makespan", ""), 130 + (3600 - 60 - 2 * 50) / 4., 1e-6);
    free(summary);
}

static const struct test tests[] = {
    { "no assignment is cheaper", no_assignment_is_cheaper },
    { "no matching is heavier", no_matching_is_heavier },
    { "allox starts the first of each queue", allox_starts_the_first_of_each_queue },
    { "themis divides as published", themis_divides_as_published },
    { "no division is better", no_division_is_better },
    { "sia chooses as published", sia_chooses_as_published },
    { "sia finds the best of all", sia_finds_the_best_of_all },
    { "sia keeps to what there is", sia_keeps_to_what_there_is },
    { "sia doubles what jobs have", sia_doubles_what_jobs_have },
    { "allox completes sooner than fcfs", allox_completes_sooner_than_fcfs },
    { "themis leases devices", themis_leases_devices },
};
TEST_MAIN(tests)
