/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runtime semantics: small runs whose answers are computed by hand, turn by turn.
 *
 * With 100 turns a second and fixed counts the first plan is applied at 10 ms, and an item that is
 * over at a turn starts in the next stage two turns later.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <stdlib.h>
#include <string.h>

enum { SPANS = 4096 };

struct trace {
    struct sim_span spans[SPANS];
    size_t count;
};

static void keep_span(void *state, const struct sim_span *span)
{
    struct trace *trace = state;
    if (trace->count < SPANS)
        trace->spans[trace->count++] = *span;
}

static struct sim_run_summary *run_traced(const char *text, const char *sets, struct trace *trace)
{
    struct sim_scenario *scenario = test_scenario(text, sets);
    const struct sim_observer observer = { .span = keep_span, .state = trace };
    trace->count = 0;
    CHECK(scenario != NULL);
    struct sim_run_summary *summary =
        scenario == NULL ? test_summary() : test_run(scenario, 0, &observer);
    CHECK_I64(summary->status, WEIR_OK);
    sim_scenario_destroy(scenario);
    return summary;
}

static const struct sim_span *find(const struct trace *trace, uint64_t item, uint32_t stage)
{
    static const struct sim_span none = { .start_ns = -1, .end_ns = -1 };
    for (size_t i = 0; i < trace->count; i++)
        if (trace->spans[i].item == item && trace->spans[i].stage == stage)
            return &trace->spans[i];
    return &none;
}

#define MS INT64_C(1000000)
#define HEAD(items, extra)                                                                         \
    "schema: 1\nname: r\nhorizon: 1 h\ncluster:\n  nodes:\n    - {name: n, cpus: 64}\n"            \
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 180 s}}\n"                   \
    "pipelines:\n  - name: p\n    semantics: runtime\n    input: {items: " items "}\n" extra       \
    "    stages:\n"

static const char two_stages[] =
    HEAD("1", "") "      - {name: a, cpus: 1, workers: 1, service: 1 s, setup: 2 s}\n"
                  "      - {name: b, cpus: 1, workers: 1, service: 1 s}\n";

/* covers: S2.11 */
static void output_moves_on_two_turns_later(void)
{
    struct trace *trace = calloc(1, sizeof(*trace));
    /* placed 0.01, ready 2.01, over 3.01, fed 3.02, starts 3.03, over and collected 4.03 */
    struct sim_run_summary *summary = run_traced(two_stages, NULL, trace);
    CHECK_I64(find(trace, 0, 0)->start_ns, 2010 * MS);
    CHECK_I64(find(trace, 0, 1)->start_ns, 3030 * MS);
    CHECK_NEAR(summary->completion_s, 4.03, 1e-9);
    free(summary);
    /* 10 turns a second: ready 2.1, over 3.1, starts 3.3, over 4.3 */
    summary = run_traced(two_stages, "pipelines.p.loop_hz=10", trace);
    CHECK_I64(find(trace, 0, 1)->start_ns, 3300 * MS);
    CHECK_NEAR(summary->completion_s, 4.3, 1e-9);
    free(summary);
    free(trace);
}

static const char short_tasks[] =
    HEAD("90", "    loop_hz: 1\n") "      - {name: a, cpus: 1, workers: 1, service: 0.25 s}\n";

/* covers: S0.14 */
static void held_tasks_run_between_turns(void)
{
    struct trace *trace = calloc(1, sizeof(*trace));
    /* Placed and ready at 1; a turn a second hands out as many tasks as slots are free: one slot
     * starts one task a second, at 1, 2 ... 90; three slots start three. */
    struct sim_run_summary *one = run_traced(short_tasks, "pipelines.p.slots_per_worker=1", trace);
    CHECK_I64(find(trace, 5, 0)->start_ns, 6000 * MS);
    CHECK_NEAR(one->completion_s, 91.0, 1e-9);
    free(one);
    struct sim_run_summary *three =
        run_traced(short_tasks, "pipelines.p.slots_per_worker=3", trace);
    CHECK_I64(find(trace, 1, 0)->start_ns, 1250 * MS);
    CHECK_I64(find(trace, 2, 0)->start_ns, 1500 * MS);
    CHECK_I64(find(trace, 3, 0)->start_ns, 2000 * MS);
    CHECK_NEAR(three->completion_s, 31.0, 1e-9);
    free(three);
    free(trace);
}

static const char fan_in[] =
    HEAD("256", "") "      - {name: a, cpus: 1, workers: 1, service: 0.1 s}\n"
                    "      - {name: b, cpus: 1, workers: 1, batch: 64, service: 1 s}\n";

/* covers: S2.19 */
static void a_large_next_batch_needs_the_bound_to_include_it(void)
{
    struct trace *trace = calloc(1, sizeof(*trace));
    struct sim_run_summary *good = run_traced(fan_in, NULL, trace);
    CHECK_STR(good->outcome, "complete");
    free(good);
    /* 1 worker x 2 slots: two finished items stop stage a, 64 never come together */
    struct sim_run_summary *hung = run_traced(fan_in, "pipelines.p.backpressure=formula", trace);
    CHECK_STR(hung->outcome, "horizon");
    CHECK_I64(trace->count, 2);
    free(hung);
    free(trace);
}

static const char slow_tail[] =
    HEAD("64", "") "      - {name: a, cpus: 1, workers: 1, service: 0.1 s}\n"
                   "      - {name: b, cpus: 1, workers: 1, service: 100 s}\n";

/* covers: S2.19 S2.11 */
static void work_under_way_stays_below_the_bound(void)
{
    struct trace *trace = calloc(1, sizeof(*trace));
    /* By 50 s stage b has taken 8 (lower bound, none is over) and 8 stand in front of it. */
    struct sim_run_summary *xenna = run_traced(slow_tail, "horizon=50s", trace);
    CHECK_I64(trace->count, 16);
    free(xenna);
    /* Without the lower bound 2 and 2. */
    struct sim_run_summary *formula =
        run_traced(slow_tail, "horizon=50s pipelines.p.backpressure=formula", trace);
    CHECK_I64(trace->count, 4);
    free(formula);
    free(trace);
}

/* covers: S2.21 */
static void the_rest_of_a_batch_goes_when_the_stage_before_is_done(void)
{
    static const char text[] =
        HEAD("10", "") "      - {name: a, cpus: 1, workers: 10, service: 1 s}\n"
                       "      - {name: b, cpus: 1, workers: 1, batch: 8, service: 1 s}\n";
    struct trace *trace = calloc(1, sizeof(*trace));
    /* a runs all at 0.01..1.01 (pool filled at 0.00 with 8; 2 more at 0.01, started at 0.02) */
    struct sim_run_summary *summary = run_traced(text, NULL, trace);
    CHECK_I64(find(trace, 0, 0)->start_ns, 10 * MS);
    CHECK_I64(find(trace, 9, 0)->start_ns, 20 * MS);
    CHECK_I64(find(trace, 0, 1)->start_ns, 1030 * MS);
    CHECK_I64(find(trace, 9, 1)->start_ns, 2030 * MS);
    CHECK_NEAR(summary->completion_s, 3.03, 1e-9);
    free(summary);
    free(trace);
}

static void a_plan_meets_the_cluster_as_it_is_by_then(void)
{
    struct trace *trace = calloc(1, sizeof(*trace));
    /* decided at 0 with no workers, applied at 7 */
    struct sim_run_summary *late = run_traced(two_stages, "sched.latency=7s", trace);
    CHECK_I64(find(trace, 0, 0)->start_ns, 9000 * MS);
    free(late);
    /* The event rule waits too. */
    late = run_traced(two_stages, "sched.latency=7s pipelines.p.semantics=event", trace);
    CHECK_I64(find(trace, 0, 0)->start_ns, 9000 * MS);
    free(late);
    free(trace);
}

static void a_node_lost_while_the_plan_is_on_its_way_refuses_it(void)
{
    static const char text[] =
        HEAD("1", "") "      - {name: a, cpus: 1, workers: 1, service: 1 s}\n"
                      "timeline:\n  - {at: 3, for: 100, action: node_down, node: n}\n";
    struct trace *trace = calloc(1, sizeof(*trace));
    /* applied at 5 on a node that fell at 3: refused; the next decision at 180 is applied at 185 */
    struct sim_run_summary *summary = run_traced(text, "sched.latency=5s", trace);
    CHECK_I64(find(trace, 0, 0)->start_ns, 185000 * MS);
    free(summary);
    free(trace);
}

/* Three workers are there, one is asked for: the first plan, applied at 0.01, stops two. */
static const char shrinking[] =
    HEAD("100000", "") "      - {name: a, cpus: 1, workers: 1, service: 1 s, teardown: 20 s}\n"
                       "initial:\n  workers:\n    - {stage: a, node: n, count: 3}\n";

static double deleted(const char *sets, struct trace *trace)
{
    struct sim_run_summary *summary = run_traced(shrinking, sets, trace);
    const double count = test_value(summary, "worker.deleted", "");
    free(summary);
    return count;
}

static void a_worker_just_ready_is_not_stopped(void)
{
    struct trace *trace = calloc(1, sizeof(*trace));
    CHECK_NEAR(deleted("horizon=100s pipelines.p.grace=0s", trace), 2, 0);
    CHECK_NEAR(deleted("horizon=100s", trace), 0, 0);
    CHECK_NEAR(deleted("horizon=200s", trace), 2, 0); /* the next plan finds them older */
    free(trace);
}

static void the_backlog_guard_keeps_the_workers_that_hold_tasks(void)
{
    struct trace *trace = calloc(1, sizeof(*trace));
    /* six tasks in hand of two slots each keep all three */
    CHECK_NEAR(deleted("horizon=200s pipelines.p.backlog_guard=true", trace), 0, 0);
    free(trace);
}

static void a_serial_teardown_holds_the_loop_up(void)
{
    struct trace *trace = calloc(1, sizeof(*trace));
    /* fed at the turn of 0.00, handed out at the next: 0.01, or two teardowns later */
    CHECK_NEAR(deleted("horizon=100s pipelines.p.grace=0s", trace), 2, 0);
    CHECK_I64(find(trace, 0, 0)->start_ns, 10 * MS);
    (void)deleted("horizon=100s pipelines.p.grace=0s pipelines.p.teardown=serial", trace);
    CHECK_I64(find(trace, 0, 0)->start_ns, 40010 * MS);
    /* killed after 15 s each */
    (void)deleted("horizon=100s pipelines.p.grace=0s pipelines.p.teardown=serial "
                  "pipelines.p.teardown_limit=15s",
                  trace);
    CHECK_I64(find(trace, 0, 0)->start_ns, 30010 * MS);
    free(trace);
}

static double created(const char *sets)
{
    static const char text[] = HEAD("100000", "") "      - {name: a, cpus: 1, service: 1 s}\n"
                                                  "      - {name: b, cpus: 1, service: 9 s}\n";
    struct trace *trace = calloc(1, sizeof(*trace));
    struct sim_run_summary *summary = run_traced(text, sets, trace);
    const double count = test_value(summary, "worker.created", "");
    free(summary);
    free(trace);
    return count;
}

static void an_old_view_repeats_the_first_plan(void)
{
    const double first = created("sched.scaling.policy=xenna horizon=100s");
    /* The plan of 180 s sees the time 0, at which nothing was measured. */
    CHECK_NEAR(created("sched.scaling.policy=xenna horizon=300s sched.view_age=180s"), first, 0);
    CHECK(created("sched.scaling.policy=xenna horizon=300s") > first);
    CHECK(created("sched.scaling.policy=xenna horizon=400s sched.view_age=180s") > first);
}

static const char two_nodes[] =
    "schema: 1\nname: r\nhorizon: 1 h\ncluster:\n  nodes:\n    - {name: n, cpus: 1, count: 2}\n"
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 180 s}}\n"
    "pipelines:\n  - name: p\n    input: {items: 4}\n    stages:\n"
    "      - {name: a, cpus: 1, workers: 2, service: 1 s}\n"
    "timeline: [{at: 0 s, action: node_slow, node: n-0, factor: 20}]\n";

/* Each worker holds two of four tasks. The slow one runs its first from 0.01 s to 20.01 s; the
 * quick one is done with both at 2.01 s. */
static void a_quick_worker_takes_what_a_slow_one_holds(void)
{
    struct trace *trace = calloc(1, sizeof(*trace));
    struct sim_run_summary *summary = run_traced(two_nodes, NULL, trace);
    CHECK_I64(find(trace, 2, 0)->start_ns, 20010 * MS);
    CHECK_NEAR(summary->completion_s, 40.01, 1e-9);
    free(summary);
    summary = run_traced(two_nodes, "pipelines.p.work_stealing=true", trace);
    CHECK_I64(find(trace, 2, 0)->start_ns, 3010 * MS); /* after one idle second */
    CHECK(find(trace, 2, 0)->worker != find(trace, 0, 0)->worker);
    CHECK_NEAR(summary->completion_s, 20.01, 1e-9);
    free(summary);
    free(trace);
}

/* Of three tasks each the slow worker runs one. The quick one, idle since 3.01 s, takes the last of
 * the other two, and when it has been idle again, at 6.01 s, the one that is left. */
static void of_two_tasks_that_wait_the_last_is_taken_first(void)
{
    struct trace *trace = calloc(1, sizeof(*trace));
    struct sim_run_summary *summary =
        run_traced(two_nodes,
                   "pipelines.p.work_stealing=true pipelines.p.input.items=6 "
                   "pipelines.p.slots_per_worker=3",
                   trace);
    CHECK_I64(find(trace, 4, 0)->start_ns, 4010 * MS);
    CHECK_I64(find(trace, 2, 0)->start_ns, 6010 * MS);
    CHECK_NEAR(summary->completion_s, 20.01, 1e-9);
    free(summary);
    free(trace);
}

static const struct test tests[] = {
    { "of two tasks that wait the last is taken first",
      of_two_tasks_that_wait_the_last_is_taken_first },
    { "a quick worker takes what a slow one holds", a_quick_worker_takes_what_a_slow_one_holds },
    { "a worker just ready is not stopped", a_worker_just_ready_is_not_stopped },
    { "the backlog guard keeps the workers that hold tasks",
      the_backlog_guard_keeps_the_workers_that_hold_tasks },
    { "a serial teardown holds the loop up", a_serial_teardown_holds_the_loop_up },
    { "an old view repeats the first plan", an_old_view_repeats_the_first_plan },
    { "output moves on two turns later", output_moves_on_two_turns_later },
    { "held tasks run between turns", held_tasks_run_between_turns },
    { "a large next batch needs the bound to include it",
      a_large_next_batch_needs_the_bound_to_include_it },
    { "work under way stays below the bound", work_under_way_stays_below_the_bound },
    { "the rest of a batch goes when the stage before is done",
      the_rest_of_a_batch_goes_when_the_stage_before_is_done },
    { "a plan meets the cluster as it is by then", a_plan_meets_the_cluster_as_it_is_by_then },
    { "a node lost while the plan is on its way refuses it",
      a_node_lost_while_the_plan_is_on_its_way_refuses_it },
};
TEST_MAIN(tests)
