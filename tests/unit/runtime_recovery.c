/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Deaths of workers and failures of set-ups and tasks under the runtime rule: small runs whose
 * answers are computed by hand. The first plan is applied at 0.01 s; a turn is 0.01 s.
 */
#include "sim/pipeline/recovery.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)
#define ENDLESS(nodes, items)                                                                      \
    "schema: 1\nname: r\ncluster:\n  nodes:\n    - {name: n, cpus: 2, count: " nodes "}\n"         \
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 180 s}}\n"                   \
    "pipelines:\n  - name: p\n    semantics: runtime\n    restart: same_place\n"                   \
    "    input: {items: " items "}\n"                                                              \
    "    stages:\n"
#define HEAD(nodes, items) "horizon: 1000 s\n" ENDLESS(nodes, items)

struct starts {
    int64_t start_ns[64];
    uint64_t item[64];
    bool has_failed[64];
    size_t count;
};

static void keep(void *state, const struct sim_span *span)
{
    struct starts *starts = state;
    if (starts->count == 64)
        return;
    starts->start_ns[starts->count] = span->start_ns;
    starts->has_failed[starts->count] = span->has_failed;
    starts->item[starts->count++] = span->item;
}

static struct sim_run_summary *run(const char *text, const char *sets, struct starts *starts)
{
    struct sim_scenario *scenario = test_scenario(text, sets);
    const struct sim_observer observer = { .span = keep, .state = starts };
    starts->count = 0;
    CHECK(scenario != NULL);
    struct sim_run_summary *summary =
        scenario == NULL ? test_summary() : test_run(scenario, 0, &observer);
    sim_scenario_destroy(scenario);
    return summary;
}

static void check_value(const struct sim_run_summary *summary, const char *metric, double value)
{
    CHECK_NEAR(test_value(summary, metric, ""), value, 1e-9);
}

/* covers: S2.26 */
static void a_dead_worker_comes_back_at_the_next_turn(void)
{
    static const char text[] =
        HEAD("1", "4") "      - {name: a, cpus: 1, workers: 1, service: 4 s, "
                       "setup: 2 s, worker_between: const(10)}\n";
    struct starts starts;
    /* Ready 2.01, items 0 and 1 until 10.01, item 2 dies at 12.01 and so does item 3 in hand; back
     * at that turn, ready 14.01: items 2 and 3 until 22.01. */
    struct sim_run_summary *summary = run(text, NULL, &starts);
    CHECK_STR(summary->outcome, "complete");
    CHECK_I64(starts.count, 4);
    CHECK_I64(starts.start_ns[2], 14010 * MS);
    CHECK_I64(starts.item[2], 2);
    CHECK_NEAR(summary->completion_s, 22.01, 1e-9);
    check_value(summary, "work.lost_s", 2);
    check_value(summary, "worker.created", 2);
    check_value(summary, "retry.count", 1); /* item 3 had not begun */
    free(summary);
    /* Left to the next plan: decided at 180, applied at 180.01, ready 182.01. */
    summary = run(text, "pipelines.p.restart=next_plan", &starts);
    CHECK_I64(starts.start_ns[2], 182010 * MS);
    free(summary);
}

#define SHORT_LIVED                                                                                \
    "      - {name: a, cpus: 1, workers: 1, service: 4 s, worker_between: const(3)}\n"

/* covers: S2.26 */
static void four_deaths_in_a_row_give_up_worker_and_task(void)
{
    static const char text[] = HEAD("1", "9") SHORT_LIVED;
    static const char endless[] = ENDLESS("1", "9") SHORT_LIVED;
    struct starts starts;
    /* Every life is 3 s, every task 4 s: four lives, two tasks were in hand in all of them. Seven
     * wait, so the pipeline ends; nothing happens until the horizon. A worker that comes back is
     * ready at once, but gets its task a turn later. */
    struct sim_run_summary *summary = run(text, NULL, &starts);
    CHECK_STR(summary->outcome, "ended early");
    CHECK_NEAR(summary->early_s, 12.01, 1e-9);
    CHECK_NEAR(summary->simulated_s, 1000, 1e-9);
    CHECK_I64(starts.count, 0);
    check_value(summary, "worker.created", 4);
    check_value(summary, "worker.deleted", 4);
    check_value(summary, "retry.count", 3);
    check_value(summary, "retry.exhausted", 2);
    check_value(summary, "work.lost_s", 3 + 3 * 2.99);
    free(summary);
    /* Without a horizon nothing would ever follow: the run is over. */
    summary = run(endless, NULL, &starts);
    CHECK_STR(summary->outcome, "ended early");
    CHECK_NEAR(summary->simulated_s, 12.01, 1e-9);
    CHECK(isnan(summary->completion_s));
    CHECK(strstr(summary->message, "every worker was given up") != NULL);
    free(summary);
}

static void a_dead_node_takes_its_workers_down_for_good(void)
{
    static const char text[] =
        HEAD("2", "9") "      - {name: a, cpus: 1, workers: 1, service: 4 s}\n"
                       "timeline:\n  - {at: 10 s, action: node_down, node: n-0}\n";
    struct starts starts;
    /* Items 0 and 1 until 8.01. The place on the first node is refused at three turns. */
    struct sim_run_summary *summary = run(text, NULL, &starts);
    CHECK_STR(summary->outcome, "ended early");
    CHECK_I64(starts.count, 2);
    check_value(summary, "worker.created", 1);
    free(summary);
    /* A plan at once uses the other node: applied at 10.01, all seven left take 28 s. */
    summary = run(text, "pipelines.p.restart=decide", &starts);
    CHECK_STR(summary->outcome, "complete");
    CHECK_I64(starts.start_ns[2], 10010 * MS);
    CHECK_NEAR(summary->completion_s, 38.01, 1e-9);
    free(summary);
}

#define A_STAGE(items, extra)                                                                      \
    HEAD("1", items)                                                                               \
    "      - {name: a, cpus: 1, workers: 1, service: 4 s, setup: 3 s" extra "}\n"

static void failed_setups_are_tried_again_after_pauses(void)
{
    static const char text[] = A_STAGE("1", ", setup_failure: 0.999999, setup_attempts: 3");
    struct starts starts;
    /* Begun at 0.01; 3 s, pause 2, 3 s, pause 4, 3 s: gone at 15.01; again at 180.01 and so on:
     * six workers (0, 180 .. 900) before 1000 s. */
    struct sim_run_summary *summary = run(text, NULL, &starts);
    CHECK_I64(starts.count, 0);
    check_value(summary, "worker.deleted", 6);
    check_value(summary, "waste.setup_s", 6 * 15);
    check_value(summary, "waste.setup_frac", 1.0);
    free(summary);
    /* None may fail: the first failure ends the pipeline. */
    summary = run(text, "pipelines.p.stages.a.max_setup_failure=0", &starts);
    check_value(summary, "worker.created", 1);
    free(summary);
    /* Half may: 0.5, 0.25, 0.125, 0.0625, 0.03125 < 0.05 after five. */
    summary = run(text, "pipelines.p.stages.a.max_setup_failure=0.5", &starts);
    check_value(summary, "worker.created", 5);
    free(summary);
}

static void the_first_worker_prepares_its_node(void)
{
    static const char text[] = A_STAGE("8", ", setup_on_node: 10 s");
    struct starts starts;
    struct sim_run_summary *summary =
        run(text, "pipelines.p.stages.a.workers=2", &starts); /* both wait 10 s, then 3 s */
    CHECK_I64(starts.start_ns[0], 13010 * MS);
    CHECK_I64(starts.start_ns[1], 13010 * MS);
    free(summary);
    /* One that comes back finds the node prepared: ready 13.01, dies 18.01, ready 21.01. */
    summary = run(text, "pipelines.p.stages.a.worker_between=const(5)", &starts);
    CHECK_I64(starts.start_ns[1], 21010 * MS);
    free(summary);
}

static void failed_attempts_pause_on_their_worker(void)
{
    static const char text[] =
        A_STAGE("2", ", process_failure: 0.999999, on_failure: ignore, max_attempts: 3");
    struct starts starts;
    /* Ready 3.01: 4 s, pause 2, 4 s, pause 4, 4 s, dropped at 21.01; then the same for item 1. */
    struct sim_run_summary *summary = run(text, NULL, &starts);
    CHECK_I64(starts.count, 6);
    CHECK_I64(starts.start_ns[1], 9010 * MS);
    CHECK_I64(starts.start_ns[2], 17010 * MS);
    CHECK_I64(starts.start_ns[3], 21010 * MS);
    check_value(summary, "retry.count", 4);
    check_value(summary, "retry.exhausted", 2);
    check_value(summary, "work.lost_s", 2 * 18);
    CHECK_NEAR(summary->simulated_s, 39.01, 1e-9);
    free(summary);
    /* The worker goes with the task; the next plan, at 180, starts another. */
    summary = run(text, "pipelines.p.stages.a.reset_on_failure=true", &starts);
    CHECK_I64(starts.start_ns[3], 183010 * MS);
    free(summary);
    summary = run(text, "pipelines.p.stages.a.on_failure=end", &starts);
    CHECK_STR(summary->outcome, "ended early");
    CHECK_I64(starts.count, 2); /* the third attempt is never told: the pipeline is over */
    check_value(summary, "worker.created", 1);
    free(summary);
}

static void old_workers_start_again_one_by_one(void)
{
    static const char text[] = A_STAGE("200", ", max_lifetime: 30 s");
    struct starts starts;
    /* Both ready at 3.01, above 30 s at the turn of 33.02; the older one is restarted, the other
     * one a minute later, at 93.02, and the first again (ready 36.02) at 153.02. */
    struct sim_run_summary *summary =
        run(text, "pipelines.p.stages.a.workers=2 horizon=150s", &starts);
    check_value(summary, "worker.created", 4);
    free(summary);
    summary = run(text, "pipelines.p.stages.a.workers=2 horizon=154s", &starts);
    check_value(summary, "worker.created", 5);
    free(summary);
    /* 28 s tasks: the second one has run 2.01 s at 33.02, another one 1 s at 93.02. */
    summary = run(text, "pipelines.p.stages.a.service=28s horizon=100s", &starts);
    check_value(summary, "work.lost_s", 3.01);
    free(summary);
    /* 58 s tasks have run for more than 0.6 of 30 s: the restart waits for their ends. */
    summary = run(text, "pipelines.p.stages.a.service=58s horizon=124s", &starts);
    CHECK_I64(starts.start_ns[1], 64010 * MS);
    check_value(summary, "work.lost_s", 0);
    check_value(summary, "worker.created", 3);
    free(summary);
}

static void count_setup(void *state, const struct sim_setup_span *setup)
{
    uint64_t *setups = state;
    (void)setup;
    (*setups)++;
}

static void ignore_span(void *state, const struct sim_span *span)
{
    (void)state;
    (void)span;
}

/* Ready at 2.01 s, killed at 12.01 s, ready again at 14.01 s: until 20 s one set-up more. */
/* covers: S2.26 */
static void a_killed_worker_is_set_up_once_more(void)
{
    static const char text[] =
        HEAD("1", "4") "      - {name: a, cpus: 1, workers: 1, service: 4 s, setup: 2 s}\n";
    static const char *const sets[] = {
        "horizon=20s", "horizon=20s pipelines.p.stages.a.worker_between=const(10)"
    };
    uint64_t setups[2] = { 0, 0 };
    for (int i = 0; i < 2; i++) {
        struct sim_scenario *scenario = test_scenario(text, sets[i]);
        const struct sim_observer observer = { .span = ignore_span,
                                               .setup = count_setup,
                                               .state = &setups[i] };
        CHECK(scenario != NULL);
        if (scenario != NULL)
            free(test_run(scenario, 0, &observer));
        sim_scenario_destroy(scenario);
    }
    CHECK_I64(setups[0], 1);
    CHECK_I64(setups[1], 2);
}

static void pauses_double_up_to_sixteen_seconds(void)
{
    static const int64_t pauses_s[] = { 2, 4, 8, 16, 16, 16 };
    for (uint32_t attempt = 0; attempt < 6; attempt++)
        CHECK_I64(sim_recovery_pause_ns(attempt), pauses_s[attempt] * SIM_NS_PER_S);
}

static void keep_worker(void *state, const struct sim_setup_span *span)
{
    struct starts *starts = state;
    if (starts->count < 64)
        starts->item[starts->count++] = span->worker;
}

/* Both ready at 3.01, the first restarted at 33.02 and the second at 93.02, when the first has been
 * there for 57 s, too; at 153.02 it is the first one's turn again. */
static void the_oldest_of_the_old_workers_starts_again(void)
{
    static const char text[] = A_STAGE("200", ", max_lifetime: 30 s");
    struct starts setups = { .count = 0 };
    struct sim_scenario *scenario =
        test_scenario(text, "pipelines.p.stages.a.workers=2 horizon=160s");
    const struct sim_observer observer = { .span = ignore_span,
                                           .setup = keep_worker,
                                           .state = &setups };
    CHECK(scenario != NULL);
    if (scenario == NULL)
        return;
    free(test_run(scenario, 0, &observer));
    sim_scenario_destroy(scenario);
    CHECK_I64(setups.count, 5);
    CHECK(setups.item[0] != setups.item[1]);
    CHECK_I64(setups.item[2], setups.item[0]);
    CHECK_I64(setups.item[3], setups.item[1]);
    CHECK_I64(setups.item[4], setups.item[0]);
}

static const struct test tests[] = {
    { "a killed worker is set up once more", a_killed_worker_is_set_up_once_more },
    { "a dead worker comes back at the next turn", a_dead_worker_comes_back_at_the_next_turn },
    { "four deaths in a row give up worker and task",
      four_deaths_in_a_row_give_up_worker_and_task },
    { "a dead node takes its workers down for good", a_dead_node_takes_its_workers_down_for_good },
    { "failed set-ups are tried again after pauses", failed_setups_are_tried_again_after_pauses },
    { "the first worker prepares its node", the_first_worker_prepares_its_node },
    { "failed attempts pause on their worker", failed_attempts_pause_on_their_worker },
    { "old workers start again one by one", old_workers_start_again_one_by_one },
    { "pauses double up to sixteen seconds", pauses_double_up_to_sixteen_seconds },
    { "the oldest of the old workers starts again", the_oldest_of_the_old_workers_starts_again },
};
TEST_MAIN(tests)
