/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether it is worth its cost to preempt, and whom: by hand. */
#include "sched/queueing/benefit.h"

#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A waiting job of priority 80 that lacks five GPUs. */
static const struct weir_benefit_victim five[] = {
    { 10, 4, 600, 30, 60, 90, 0 }, { 30, 2, 1200, 20, 40, 10, 1 }, { 50, 4, 300, 10, 20, 5, 2 },
    { 20, 1, 5000, -1, 5, 5, 3 },  { 10, 3, 900, 40, 60, 200, 4 },
};

static void choose(bool is_exact, const char *places, double cost)
{
    struct weir_benefit_victim victims[5];
    char text[16] = "";
    uint32_t count = 0;
    double sum = 0;

    for (uint32_t i = 0; i < 5; i++)
        if (weir_benefit_may_go(&five[i], 80, 0.01, 60))
            victims[count++] = five[i];
    CHECK_I64(count, 4);
    const uint32_t chosen = weir_benefit_choose(victims, count, 5, is_exact);
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t v = 0; v < chosen; v++)
            if (victims[v].place == i)
                strncat(text, &"abcde"[i], 1);
    for (uint32_t v = 0; v < chosen; v++)
        sum += victims[v].gpus * weir_benefit_cost(&victims[v]);
    CHECK_STR(text, places);
    CHECK_NEAR(sum, cost, 0);
}

static void the_cheapest_set_goes(void)
{
    choose(true, "bc", 280);
    choose(false, "ae", 1620);
}

static void what_is_not_enough_is_left_alone(void)
{
    struct weir_benefit_victim victims[5];

    for (int exact = 0; exact < 2; exact++) {
        memcpy(victims, five, sizeof five);
        CHECK_I64(weir_benefit_choose(victims, 5, 15, exact > 0), 0);
        CHECK_I64(weir_benefit_choose(victims, 5, 14, exact > 0), 5);
    }
}

/* covers: S1.127 S1.128 */
/* 50 steps of priority over 600 s are worth 300 s at .01 and 150 at .005; 180 s are lost. */
static void worth_is_weighed_against_cost(void)
{
    const struct weir_benefit_victim victim = { 30, 1, 600, 30, 60, 90, 0 };

    CHECK_NEAR(weir_benefit_cost(&victim), 180, 0);
    CHECK(weir_benefit_may_go(&victim, 80, 0.01, 30));
    CHECK(!weir_benefit_may_go(&victim, 80, 0.005, 30));
    CHECK(!weir_benefit_may_go(&victim, 80, 0.006, 30)); /* equal is not more */
    CHECK(!weir_benefit_may_go(&victim, 80, 0.01, 29));
}

/* ---- in time ---- */

static void see_job(void *state, const struct sim_job_row *row)
{
    double *ends = state;
    ends[row->name[0] == 'b'] = sim_time_s(row->end_ns);
}

/* One GPU; a from 0 on for 1 000 s, b of more priority from 100 s on for 10 s. How many of a were
 * killed, their grace over. */
static double run(const char *queueing, const char *jobs, double ends[2])
{
    char text[1500];
    (void)snprintf(text, sizeof text,
                   "schema: 2\nname: t\ncluster: {nodes: [{name: n, cpus: 8, gpus: {h100: 1}}]}\n"
                   "sched: {queueing: {policy: benefit, %s}}\njobs:\n"
                   "  - name: a\n    estimate: 1\n%s    classes: [{name: a, count: 1, run_time: "
                   "1000 s, priority: 10, request: {gpus: 1}}]\n"
                   "  - name: b\n    estimate: 1\n    classes: [{name: b, count: 1, at: 100 s, "
                   "run_time: 10 s, priority: 60, request: {gpus: 1}}]\n",
                   queueing, jobs);
    const struct sim_observer observer = { .job = see_job, .state = ends };
    struct sim_run_summary *summary = test_watch_text(text, &observer);
    const double killed = test_value(summary, "jobs.killed", "a");
    free(summary);
    return killed > 0 ? killed : 0;
}

/* covers: S1.129 */
/* Worth: 50 x 900 x scale against 30 + 60 + 100 s; a checkpoint of 30 s against the limit; a wait
 * of 0 s against the threshold, which is over before a ends only where it is small. */
static void all_three_conditions_hold_or_nobody_goes(void)
{
    for (int i = 0; i < 8; i++) {
        char queueing[200];
        double ends[2] = { (double)NAN, (double)NAN };
        (void)snprintf(queueing, sizeof queueing,
                       "checkpoint: 30 s, restart: 60 s, scale: %s, limit: %s, threshold: %s",
                       (i & 1) != 0 ? "0.01" : "0.004", (i & 2) != 0 ? "30 s" : "29 s",
                       (i & 4) != 0 ? "5 s" : "2000 s");
        CHECK_NEAR(run(queueing, "", ends), 0, 0);
        CHECK_NEAR(ends[1], i == 7 ? 115 : 1010, 1e-6); /* 100 + 5 + 10 */
    }
}

/* covers: S1.130 */
/* A checkpoint of 20 s is written within a grace of 30 s and nothing is lost; one of 40 s is not,
 * and a begins again from its checkpoint at 90 s (work to 50 s, written to 90 s). */
static void who_is_warned_saves_its_work(void)
{
    static const struct {
        const char *checkpoint;
        double b_s, a_s;
    } cases[] = {
        { "    checkpoint: {interval: 500 s, cost: 20 s}\n", 100 + 20 + 10, 130 + 900 + 20 },
        { "    checkpoint: {interval: 500 s, cost: 40 s}\n", 100 + 30 + 10, 140 + 1000 + 40 },
    };
    for (size_t i = 0; i < 2; i++) {
        double ends[2] = { (double)NAN, (double)NAN };
        CHECK_NEAR(run("grace: 30 s", cases[i].checkpoint, ends), (double)i, 0);
        CHECK_NEAR(ends[1], cases[i].b_s, 1e-6);
        if (!CHECK_NEAR(ends[0], cases[i].a_s, 1e-6))
            printf("case %zu\n", i);
    }
}

static const struct test tests[] = {
    { "the cheapest set goes", the_cheapest_set_goes },
    { "what is not enough is left alone", what_is_not_enough_is_left_alone },
    { "worth is weighed against cost", worth_is_weighed_against_cost },
    { "all three conditions hold or nobody goes", all_three_conditions_hold_or_nobody_goes },
    { "who is warned saves its work", who_is_warned_saves_its_work },
};
TEST_MAIN(tests)
