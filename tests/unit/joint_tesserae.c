/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tesserae: the nodes of a plan that was made anew (a published example, and all answers of small
 * random cases), what moves in runs by hand, and lists of nodes that are kept over a restart.
 */
#include "sched/internal/alloc.h"
#include "sched/joint/joint.h"
#include "sched/joint/tesserae_match.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t draw(uint64_t *state, uint32_t most)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % (most + 1);
}

/* ---- the matching ---- */

enum { JOBS = 5, NODES = 6, SEATS = 64 };

/* Ranks of every job on every node, as seats. */
struct board {
    uint32_t ranks[JOBS + 1][NODES];
    struct weir_seat all[SEATS];
    struct weir_seats seats;
};

static void lay_out(struct board *board)
{
    board->seats = (struct weir_seats){ .all = board->all };
    for (uint32_t j = 0; j <= JOBS; j++)
        for (uint32_t n = 0; n < NODES; n++)
            for (uint32_t i = 0; i < board->ranks[j][n]; i++)
                board->all[board->seats.count++] = (struct weir_seat){ j, n, 0 };
}

/* By its formula. */
static double cost_of(const struct board *plan, const struct board *now, const uint32_t *real)
{
    double sum = 0;
    for (uint32_t j = 0; j <= JOBS; j++) {
        double all = 0;
        double held = 0;
        for (uint32_t n = 0; n < NODES; n++) {
            all += plan->ranks[j][n];
            held += now->ranks[j][n];
        }
        for (uint32_t n = 0; n < NODES && held > 0 && all > 0; n++)
            sum += (plan->ranks[j][n] - fmin(plan->ranks[j][n], now->ranks[j][real[n]])) / all;
    }
    return sum;
}

/* A, B, C, D, E and F, which is new; n1, n2, n3. */
static void the_fewest_move_as_published(void)
{
    static const uint32_t same[] = { 0, 0, 0 };
    static const uint32_t wanted[] = { 1, 0, 2 };
    static const uint32_t identity[NODES] = { 0, 1, 2, 3, 4, 5 };
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct board now = { .ranks = { { 2 }, { 2 }, { 0, 4 }, { 0, 0, 1 }, { 0, 0, 2 } } };
    struct board plan = { .ranks = {
                              { 0, 2 }, { 0, 0, 2 }, { 4 }, { 0, 1 }, { 0, 0, 2 }, { 0, 1 } } };
    uint32_t real[NODES] = { 0, 0, 0, 3, 4, 5 };
    lay_out(&now);
    lay_out(&plan);
    const struct weir_match match = { &plan.seats, &now.seats, same, 3 };
    CHECK_I64(weir_seats_match(&memory, &match, real), WEIR_OK);
    for (uint32_t n = 0; n < 3; n++)
        CHECK_I64(real[n], wanted[n]);
    CHECK_NEAR(cost_of(&plan, &now, real), 2, 1e-12);
    CHECK_NEAR(cost_of(&plan, &now, identity), 4, 1e-12);
}

struct all {
    const struct board *plan, *now;
    const uint32_t *classes;
    uint32_t real[NODES];
    double least;
};

static void go_on(struct all *all, uint32_t node, uint32_t used)
{
    if (node == NODES) {
        all->least = fmin(all->least, cost_of(all->plan, all->now, all->real));
        return;
    }
    for (uint32_t n = 0; n < NODES; n++) {
        if ((used >> n & 1) != 0 || all->classes[n] != all->classes[node])
            continue;
        all->real[node] = n;
        go_on(all, node + 1, used | UINT32_C(1) << n);
    }
}

static void fill(struct board *board, uint64_t *state, uint32_t absent)
{
    memset(board, 0, sizeof *board);
    for (uint32_t j = 0; j < JOBS; j++)
        for (uint32_t i = draw(state, absent) == 0 ? 0 : 1 + draw(state, 4); i > 0; i--)
            board->ranks[j][draw(state, NODES - 1)]++;
    lay_out(board);
}

/* Two classes of nodes, jobs that are new, jobs that go, ranks that come or are lost. */
static void no_other_nodes_move_less(void)
{
    static const uint32_t classes[2][NODES] = { { 0, 0, 0, 0, 0, 0 }, { 0, 1, 0, 0, 1, 1 } };
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    uint64_t state = 17;
    for (uint32_t round = 0; round < 400; round++) {
        struct board plan;
        struct board now;
        uint32_t real[NODES];
        uint32_t used = 0;
        fill(&plan, &state, 4);
        fill(&now, &state, 2);
        const uint32_t *like = classes[round % 2];
        const struct weir_match match = { &plan.seats, &now.seats, like, NODES };
        CHECK_I64(weir_seats_match(&memory, &match, real), WEIR_OK);
        for (uint32_t n = 0; n < NODES; n++) {
            used |= UINT32_C(1) << real[n];
            CHECK_I64(like[real[n]], like[n]);
        }
        CHECK_I64(used, (1 << NODES) - 1);
        struct all all = { .plan = &plan, .now = &now, .classes = like, .least = HUGE_VAL };
        go_on(&all, 0, 0);
        if (!CHECK_NEAR(cost_of(&plan, &now, real), all.least, 1e-9))
            printf("round %u\n", round);
    }
}

/* ---- runs ---- */

static struct sim_run_summary *run(const char *rule, const char *rest)
{
    char text[2000];
    const struct sim_observer observer = { .state = NULL };
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: t\nhorizon: 1 d\n"
                   "sched: {placement: first_fit, queueing: {policy: tesserae, round: 1 min%s}}\n"
                   "jobs:\n  - name: w\n    preemption: {keeps: all, restart: 10 s}\n%s",
                   rule, rest);
    struct sim_run_summary *summary = test_watch_text(text, &observer);
    CHECK_NEAR(test_value(summary, "invariant.violations", ""), 0, 0);
    return summary;
}

static double count_of(const struct sim_run_summary *summary, const char *metric, const char *of)
{
    const double value = test_value(summary, metric, of);
    return isnan(value) ? 0 : value;
}

/* Four nodes of four: f leaves the first empty, g and h half of the next two, c keeps the last. */
#define SCATTERED                                                                                  \
    "    classes:\n"                                                                               \
    "      - {name: f, count: 1, request: {gpus: 4}, run_time: 30 min}\n"                          \
    "      - {name: a, count: 1, request: {gpus: 2}, run_time: 5 h}\n"                             \
    "      - {name: g, count: 1, request: {gpus: 2}, run_time: 30 min}\n"                          \
    "      - {name: b, count: 1, request: {gpus: 2}, run_time: 5 h}\n"                             \
    "      - {name: h, count: 1, request: {gpus: 2}, run_time: 30 min}\n"                          \
    "      - {name: c, count: 1, request: {gpus: 4}, run_time: 5 h}\n"
#define FOUR_NODES "cluster: {nodes: [{name: n, count: 4, cpus: 64, gpus: {h100: 4}}]}\n"

/* Packed anew a and b share a node, the big one has two: b moves alone when nodes are matched; a, b
 * and c when the first node of the plan has to be the first of the cluster. */
static void a_big_job_starts_and_the_fewest_move(void)
{
    static const struct {
        const char *rule;
        double moved, a, b, c;
    } cases[] = { { "", 1, 0, 1, 0 }, { ", match: false", 3, 1, 1, 1 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_run_summary *summary = run(
            cases[i].rule, SCATTERED
            "      - {name: big, count: 1, at: 1 h, members: 2, request: {gpus: 4}, run_time: 1 h}"
            "\n" FOUR_NODES);
        CHECK_NEAR(count_of(summary, "jobs.done", ""), 7, 0);
        CHECK_NEAR(count_of(summary, "jobs.preempted", ""), cases[i].moved, 0);
        CHECK_NEAR(count_of(summary, "jobs.preempted", "a"), cases[i].a, 0);
        CHECK_NEAR(count_of(summary, "jobs.preempted", "b"), cases[i].b, 0);
        CHECK_NEAR(count_of(summary, "jobs.preempted", "c"), cases[i].c, 0);
        CHECK(test_value(summary, "wait.job.mean", "big") <= 60);
        free(summary);
    }
}

/* It would not fit however they are packed, or may not start, by itself or beside another one of
 * its tenant that does: it waits, and nobody moves. */
static void nothing_moves_for_nothing(void)
{
    static const struct {
        const char *rest;
        double done;
    } cases[] = {
        { SCATTERED "      - {name: big, count: 1, at: 1 h, members: 3, request: {gpus: 4}, "
                    "run_time: 1 h}\n" FOUR_NODES,
          7 },
        { SCATTERED "  - name: v\n    tenant: red\n    classes:\n"
                    "      - {name: big, count: 1, at: 1 h, members: 2, request: {gpus: 4}, "
                    "run_time: 1 h}\n"
                    "tenants: [{name: red, quota: {hard: {gpus: 6}}}]\n" FOUR_NODES,
          6 },
        { SCATTERED "  - name: v\n    tenant: red\n    classes:\n"
                    "      - {name: big, count: 2, at: 1 h, request: {gpus: 4}, run_time: 1 h}\n"
                    "tenants: [{name: red, quota: {hard: {gpus: 6}}}]\n" FOUR_NODES,
          8 },
        /* packed anew by first fit, d would have no place */
        { "    run_time: 5 h\n    classes:\n"
          "      - {name: a, count: 1, request: {gpus: 2}}\n"
          "      - {name: f, count: 1, request: {gpus: 2}, run_time: 30 min}\n"
          "      - {name: b, count: 1, request: {gpus: 1}}\n"
          "      - {name: c, count: 1, at: 40 min, request: {gpus: 2}}\n"
          "      - {name: d, count: 1, at: 50 min, request: {gpus: 3}}\n"
          "      - {name: e, count: 1, at: 1 h, request: {gpus: 4}}\n"
          "cluster: {nodes: [{name: n, count: 2, cpus: 64, gpus: {h100: 4}}]}\n",
          6 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_run_summary *summary = run("", cases[i].rest);
        CHECK_NEAR(count_of(summary, "jobs.preempted", ""), 0, 0);
        CHECK_NEAR(count_of(summary, "jobs.done", ""), cases[i].done, 0);
        free(summary);
    }
}

/* Two halves of GPUs on one node are packed on one GPU: no rank changes its node, and still both
 * have to start anew. */
static void halves_make_way_on_their_node(void)
{
    struct sim_run_summary *summary =
        run("", "    classes:\n"
                "      - {name: x, count: 1, request: {gpus: 0.5}, run_time: 5 h}\n"
                "      - {name: f, count: 1, request: {gpus: 0.5}, run_time: 30 min}\n"
                "      - {name: y, count: 1, request: {gpus: 0.5}, run_time: 5 h}\n"
                "      - {name: g, count: 1, request: {gpus: 0.5}, run_time: 30 min}\n"
                "      - {name: whole, count: 1, at: 1 h, request: {gpus: 1}, run_time: 1 h}\n"
                "cluster: {nodes: [{name: n, cpus: 64, gpus: {h100: 2}}]}\n");
    CHECK_NEAR(count_of(summary, "jobs.done", ""), 5, 0);
    CHECK_NEAR(count_of(summary, "jobs.preempted", ""), 2, 0);
    CHECK(test_value(summary, "wait.job.mean", "whole") <= 60);
    free(summary);
}

/* By service so far the second goes before the first, by arrival it waits for it; and where what
 * moves has to be worth it, too, since no more GPUs are used for that. */
static void least_service_goes_first(void)
{
    static const char *const two =
        "    classes:\n"
        "      - {name: a, count: 1, request: {gpus: 4}, run_time: 3 h}\n"
        "      - {name: b, count: 1, at: 1 h, request: {gpus: 4}, run_time: 30 min}\n"
        "cluster: {nodes: [{name: n, cpus: 64, gpus: {h100: 4}}]}\n";
    struct sim_run_summary *fcfs = run("", two);
    struct sim_run_summary *las = run(", order: las, worth: 0", two);
    struct sim_run_summary *dear = run(", order: las", two);
    CHECK_NEAR(count_of(fcfs, "jobs.preempted", ""), 0, 0);
    CHECK_NEAR(count_of(las, "jobs.preempted", "a"), 1, 0);
    CHECK_NEAR(count_of(las, "jobs.preempted", "b"), 0, 0);
    CHECK(test_value(las, "wait.job.mean", "b") <= 60);
    CHECK_NEAR(test_value(fcfs, "wait.job.mean", "b"), 7200, 60);
    CHECK_NEAR(test_value(dear, "wait.job.mean", "b"), 7200, 60);
    free(dear);
    free(fcfs);
    free(las);
}

/* ---- what is remembered ---- */

static struct weir_joint *open_rule(void)
{
    const struct weir_allocator memory = weir_allocator_copy(NULL);
    struct weir_error error = { .phase = -1, .pool = -1 };
    void *state = NULL;
    CHECK_I64(weir_joint_create(&weir_rule_tesserae, NULL, &memory, &state, &error), WEIR_OK);
    return state;
}

static void give_nodes(struct weir_joint *joint, uint32_t job, const uint32_t *nodes,
                       uint32_t count)
{
    joint->jobs[job] = (struct weir_joint_job){ .id = job, .ranks = 2, .submit_ns = 5 };
    for (uint32_t i = 0; i < count; i++)
        CHECK_I64(weir_joint_add_node(joint, &joint->jobs[job], nodes[i]), WEIR_OK);
}

/* Jobs on two nodes, on one, and anywhere; and the one node as it was written before there were
 * lists. */
static void nodes_are_kept(void)
{
    enum { HEAD = 3 + WEIR_JOINT_TYPES, OF_JOB = 9, LENGTH = HEAD + 3 * OF_JOB + 4 };
    struct weir_error error = { .phase = -1, .pool = -1 };
    struct weir_joint *saved = open_rule();
    struct weir_joint *restored = open_rule();
    double numbers[LENGTH];
    double again[LENGTH];
    saved->jobs = weir_alloc(&saved->allocator, 3, sizeof *saved->jobs);
    saved->count = saved->job_capacity = 3;
    give_nodes(saved, 0, (const uint32_t[]){ 7, 3 }, 2);
    give_nodes(saved, 1, (const uint32_t[]){ 4, 4 }, 2);
    give_nodes(saved, 2, NULL, 0);
    CHECK_I64(weir_joint_save(saved, numbers, 0), LENGTH);
    CHECK_I64(weir_joint_save(saved, numbers, LENGTH), LENGTH);
    CHECK_I64(weir_joint_restore(restored, NULL, numbers, LENGTH, &error), WEIR_OK);
    CHECK_I64(restored->nodes[restored->jobs[0].first_node + 1], 3);
    CHECK_I64(weir_joint_save(restored, again, LENGTH), LENGTH);
    CHECK(memcmp(numbers, again, sizeof numbers) == 0);
    CHECK_I64(weir_joint_restore(restored, NULL, numbers, LENGTH - 1, &error), WEIR_EFORMAT);
    CHECK_I64(weir_joint_restore(restored, NULL, numbers, HEAD - 1, &error), WEIR_EFORMAT);
    numbers[HEAD + OF_JOB - 1] = 5;
    CHECK_I64(weir_joint_restore(restored, NULL, numbers, HEAD + OF_JOB, &error), WEIR_OK);
    CHECK_I64(restored->jobs[0].node_count, 2);
    CHECK_I64(restored->nodes[0], 4);
    CHECK_I64(restored->nodes[1], 4);
    for (size_t i = 0; i < 2; i++) {
        numbers[HEAD + OF_JOB - 1] = i == 0 ? -1e9 : 1;
        numbers[HEAD + 3] = 1e9;
        CHECK_I64(weir_joint_restore(restored, NULL, numbers, HEAD + OF_JOB, &error), WEIR_EFORMAT);
    }
    weir_joint_destroy(saved);
    weir_joint_destroy(restored);
}

static const struct test tests[] = {
    { "the fewest move as published", the_fewest_move_as_published },
    { "no other nodes move less", no_other_nodes_move_less },
    { "a big job starts and the fewest move", a_big_job_starts_and_the_fewest_move },
    { "nothing moves for nothing", nothing_moves_for_nothing },
    { "halves make way on their node", halves_make_way_on_their_node },
    { "least service goes first", least_service_goes_first },
    { "nodes are kept", nodes_are_kept },
};
TEST_MAIN(tests)
