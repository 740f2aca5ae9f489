/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Services in a run: what happens to requests when replicas and whole services go, and to jobs that
 * call one. All invariants are checked after every event.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CLUSTER                                                                                    \
    "schema: 2\nname: t\nhorizon: 10 min\n"                                                        \
    "cluster: {nodes: [{name: n, count: 2, cpus: 8, gpus: {h100: 2}}]}\n"                          \
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 10 s}}\n"
#define PIPELINE                                                                                   \
    "pipelines:\n  - name: p\n    semantics: event\n    input: {items: 200}\n"                     \
    "    stages: [{name: a, cpus: 1, workers: 2, service: 'gamma(2 s, 0.5)'}]\n"
#define SERVICE                                                                                    \
    "services:\n  - name: s\n    replicas: 1\n    service: {base: 1 s, per_item: 500 ms}\n"        \
    "    requests: {arrivals: {process: poisson, rate: 1}}\n"

static double one(const char *text, const char *sets, const char *metric, const char *label)
{
    struct sim_run_summary *summary = test_run_text(text, sets);
    const double value = test_value(summary, metric, label);
    CHECK_NEAR(test_value(summary, "invariant.violations", ""), 0, 0);
    free(summary);
    return value;
}

/* covers: S3.3 */
static void a_scenario_runs_as_before_with_a_service_beside_it(void)
{
    const double alone = one(CLUSTER PIPELINE, NULL, "lat.e2e.p95", "");
    const double beside = one(CLUSTER PIPELINE SERVICE, NULL, "lat.e2e.p95", "p");

    CHECK(alone > 1);
    CHECK_NEAR(beside, alone, 0);
}

/* What the lost replica had in hand is served by the other one. */
static void requests_of_a_lost_replica_are_served_again(void)
{
    static const char text[] =
        CLUSTER SERVICE "timeline:\n  - {at: 90 s, action: node_down, node: n-0, for: 60 s}\n";
    struct sim_run_summary *summary = test_run_text(
        text, "services.s.replicas=2 services.s.requests.count=300 services.s.cpus=5 horizon=1h");

    CHECK_STR(summary->outcome, "complete");
    CHECK_I64(summary->items_done, 300);
    CHECK(test_value(summary, "work.lost_s", "") > 0);
    CHECK_NEAR(test_value(summary, "invariant.violations", ""), 0, 0);
    free(summary);
}

/* Three requests of two items at once: 1 s + 6 x 0.5 s. */
static void a_batch_takes_as_long_as_its_items(void)
{
    static const char text[] = CLUSTER "services:\n  - name: s\n    replicas: 1\n"
                                       "    service: {base: 1 s, per_item: 500 ms}\n"
                                       "    requests:\n      count: 30\n"
                                       "      arrivals: {gap: const(20 s), batch: const(3)}\n"
                                       "      classes: [{name: x, items: 2}]\n";

    CHECK_NEAR(one(text, NULL, "lat.e2e.max", ""), 4, 1e-9);
    CHECK_NEAR(one(text, NULL, "batch.size.mean", "s"), 6, 1e-9);
    CHECK_NEAR(one(text, NULL, "batch.fill", "s"), 0.75, 1e-9);
}

/* A request a second of four items, 1 s each: four replicas, which a policy finds that sees items
 * wait and leave. One replica serves a request in 4 s. */
static void requests_of_several_items_are_as_much_work(void)
{
    static const char text[] = CLUSTER
        "services:\n  - name: s\n    service: {per_item: 1 s}\n    batching: {max_batch: 8}\n"
        "    requests: {arrivals: const(1 s), classes: [{name: x, items: 4}]}\n";
    static const char *const scaled =
        "horizon=4000s sched.scaling=ds2 sched.scaling.interval=60s sched.scaling.catch_up=600";

    CHECK(one(text, scaled, "lat.e2e.max", "") < 200);
    CHECK_NEAR(one(text, "services.s.replicas=1", "thr.bound", ""), 0.25, 1e-9);
}

/* Two requests a second, each 10 s on its way and 1 s in work: two replicas are enough, and nobody
 * waits for them. */
static void who_is_on_the_way_waits_for_nobody(void)
{
    static const char text[] =
        CLUSTER "services:\n  - name: s\n    service: 1 s\n    batching: {max_batch: 1}\n"
                "    requests: {arrivals: const(0.5 s), overhead: 10 s}\n";
    static const char *const two = "services.s.replicas=2";
    static const char *const scaled =
        "sched.scaling.policy=hpa sched.scaling.metric=tasks sched.scaling.target=1 horizon=1h "
        "warmup=30min";

    CHECK_NEAR(one(text, two, "lat.e2e.max", ""), 11, 1e-9);
    CHECK_NEAR(one(text, two, "wait.stage.mean", "s"), 0, 1e-9);
    CHECK_NEAR(one(text, two, "queue.len.mean", "s"), 0, 1e-9);
    CHECK_NEAR(one(text, scaled, "util.cpu.assigned", ""), 2.0 / 16, 1e-9);
}

/* Two outages that overlap are one from 20.5 to 40.5 s; the batch of 20 s stands still meanwhile.
 */
static void an_outage_turns_away_who_waits_and_who_comes(void)
{
    static const char text[] =
        CLUSTER SERVICE "timeline:\n"
                        "  - {at: 20500 ms, action: service_down, service: s, for: 10 s}\n"
                        "  - {at: 25500 ms, action: service_down, service: s, for: 15 s}\n";
    struct sim_run_summary *summary =
        test_run_text(text, "services.s.requests.arrivals=const(1s) services.s.requests.count=100 "
                            "services.s.batching.max_batch=1 services.s.service=const(900ms)");

    CHECK_STR(summary->outcome, "complete");
    CHECK_NEAR(test_value(summary, "requests.unreachable", "s"), 20, 0);
    CHECK_NEAR(test_value(summary, "lat.e2e.max", ""), 20.9, 1e-9);
    CHECK_NEAR(test_value(summary, "invariant.violations", ""), 0, 0);
    free(summary);
}

#define OPERATED                                                                                   \
    "permissions: {ann: {may: [unload, load, scale, deploy], models: [s]}, eve: {may: scale}}\n"   \
    "initial: {workers: [{stage: s, node: n-0}]}\n"
#define STEADY                                                                                     \
    "services.s.requests.arrivals=const(1s) services.s.requests.count=100 "                        \
    "services.s.batching.max_batch=1 services.s.service=const(900ms) services.s.setup=10s"

/* Requests come every second and take 0.9 s; a replica sets up in 10 s. Unloaded at 20 s and loaded
 * at 30 s, the request of 20 s is done at 40.9 s; what is deployed anew at 20.5 s is there at 30.5
 * s, and the request that it broke off done at 31.4 s. Nobody may do so whom permissions do not
 * name, or for another thing; two replicas at once, of which one was there, change nothing here. */
static void who_may_operates_a_service(void)
{
    static const struct {
        const char *timeline;
        double latency_s, done, denied;
    } cases[] = {
        { "unload, service: s, subject: ann}\n  - {at: 30 s, action: load, service: s, subject: "
          "ann}\n",
          20.9, 2, 0 },
        { "unload, service: s, subject: eve}\n", 0.9, 0, 1 },
        { "unload, subject: bob}\n", 0.9, 0, 1 },
        { "unload}\n  - {at: 30 s, action: load}\n", 20.9, 2, 0 },
        { "scale, replicas: 2, subject: eve}\n", 0.9, 1, 0 },
        { "deploy, subject: eve}\n", 0.9, 0, 1 },
        { "scale, replicas: 1}\n  - {at: 20500 ms, action: deploy, subject: ann}\n", 11.4, 2, 0 },
    };

    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        char text[2000];
        (void)snprintf(
            text, sizeof text, "%s%s",
            CLUSTER SERVICE OPERATED "timeline:\n  - {at: 20 s, action: ", cases[c].timeline);
        struct sim_run_summary *summary = test_run_text(text, STEADY);
        CHECK_STR(summary->outcome, "complete");
        if (!CHECK_NEAR(test_value(summary, "lat.e2e.max", ""), cases[c].latency_s, 1e-9))
            printf("%s", cases[c].timeline);
        CHECK_NEAR(test_value(summary, "operations.done", "s"), cases[c].done, 0);
        CHECK_NEAR(test_value(summary, "operations.denied", "s"), cases[c].denied, 0);
        CHECK_NEAR(test_value(summary, "invariant.violations", ""), 0, 0);
        free(summary);
    }
}

/* Five at once every 10 s, of which a bucket of three that gets a token every 10 s lets in 3, 1, 1
 * and so on. */
static void more_requests_than_the_rate_are_turned_away(void)
{
    static const char text[] =
        CLUSTER "services:\n  - name: s\n    replicas: 1\n    service: 1 s\n"
                "    requests: {count: 50, arrivals: {gap: const(10 s), batch: const(5)}, "
                "rate_limit: {rate: 6/min, burst: 3}}\n";

    CHECK_NEAR(one(text, NULL, "requests.limited", "s"), 50 - 3 - 9, 0);
    CHECK_NEAR(one(text, "services.s.requests.rate_limit=30/min", "requests.limited", "s"), 40, 0);
}

/* Four that come in a row are all that a bucket of four lets in, and more than that are turned away
 * where four wait. Who is worked on when another version is deployed was let in, and waits again.
 */
static void who_was_let_in_passes_the_limits_once(void)
{
    static const char text[] =
        CLUSTER "services:\n  - name: s\n    replicas: 1\n    service: 20 s\n"
                "    batching: {max_batch: 4, max_delay: 10 s}\n"
                "    requests: {count: 4, arrivals: const(1 s), "
                "rate_limit: {rate: 0.6/min, burst: 4}}\n"
                "timeline: [{at: 10500 ms, action: deploy, service: s}]\n";
    static const char *const many =
        "services.s.requests.rate_limit=- services.s.requests.count=10 "
        "services.s.batching.max_batch=1 services.s.batching.max_queue=4";

    CHECK(isnan(one(text, NULL, "requests.limited", "s")));
    CHECK_NEAR(one(text, NULL, "lat.e2e.max", ""), 29.5, 1e-9);
    CHECK_NEAR(one(text, many, "batch.rejected", "s"), 5, 0);
}

/* Two requests every 10 s, which go together: each such batch costs a replica of two, so four are
 * served and the others leave after 5 s; up to 45 s, when the model is deployed anew, and four more
 * are served, of 50 and 60 s. */
static void a_batcher_that_loses_count_serves_nobody_in_the_end(void)
{
    static const char text[] =
        CLUSTER "services:\n  - name: s\n    replicas: 2\n    service: 1 s\n"
                "    miscount: 100%\n    batching: {max_batch: 2, timeout: 5 s}\n"
                "    requests: {count: 20, arrivals: {gap: const(10 s), batch: const(2)}}\n"
                "timeline: [{at: 45 s, action: deploy, service: s}]\n";

    CHECK_NEAR(one(text, NULL, "batch.expired", "s"), 12, 0);
    CHECK_NEAR(one(text, "timeline=-", "batch.expired", "s"), 16, 0);
    CHECK_NEAR(one(text, "services.s.miscount=0", "batch.expired", "s"), 0, 0);
    CHECK_NEAR(one(text, "services.s.requests.arrivals.batch=const(1)", "batch.expired", "s"), 0,
               0);
}

#define CALLERS                                                                                    \
    "jobs:\n  - name: w\n    calls: {service: s, timeout: 20 s, attempts: 2}\n"                    \
    "    max_attempts: 3\n    arrivals: {process: renewal, gap: const(30 s)}\n    count: 9\n"      \
    "    classes: [{name: a, request: {gpus: 1}, run_time: 60 s}]\n"                               \
    "windows: {out: '100 s..200 s'}\n"
#define OUTAGE "timeline:\n  - {at: 100 s, action: service_down, service: s, for: 100 s}\n"
#define LOSS   "  - {at: 120 s, action: node_down, node: n-0, for: 30 s}\n"

/* Those of 60 and 90 s run at 100 s, and fail at 140 and 180 s; the third time they stand still for
 * 20 s. So do those of 120 s, at 160 s, and of 150 s, at 190 s. */
static void jobs_that_call_stand_still_and_fail(void)
{
    struct sim_run_summary *summary =
        test_run_text(CLUSTER SERVICE CALLERS OUTAGE, "horizon=1h services.s.requests.count=100");

    CHECK_NEAR(test_value(summary, "jobs.restarted", ""), 6, 0);
    CHECK_NEAR(test_value(summary, "jobs.done", ""), 9, 0);
    CHECK(test_value(summary, "util.gpu.active@out", "") <
          0.5 * test_value(summary, "util.gpu.assigned@out", ""));
    CHECK_NEAR(test_value(summary, "invariant.violations", ""), 0, 0);
    free(summary);
}

static void two_failed_runs_are_the_end_of_a_job_that_has_two(void)
{
    CHECK_NEAR(one(CLUSTER SERVICE CALLERS OUTAGE,
                   "horizon=1h services.s.requests.count=100 jobs.w.max_attempts=2",
                   "jobs.exhausted", ""),
               2, 0);
}

/* covers: S3.33 */
static void with_a_gate_none_of_them_holds_a_gpu_meanwhile(void)
{
    struct sim_run_summary *summary =
        test_run_text(CLUSTER SERVICE CALLERS OUTAGE,
                      "horizon=1h services.s.requests.count=100 jobs.w.calls.gate=true "
                      "jobs.w.max_attempts=2");

    CHECK_NEAR(test_value(summary, "util.gpu.assigned@out", ""), 0, 1e-9);
    CHECK_NEAR(test_value(summary, "jobs.done", ""), 9, 0);
    CHECK_NEAR(test_value(summary, "jobs.restarted", ""), 2, 0); /* those that ran */
    CHECK_NEAR(test_value(summary, "invariant.violations", ""), 0, 0);
    free(summary);
}

/* A node is lost while they stand still, and checkpoints are due. */
static void what_stands_still_can_be_lost_too(void)
{
    struct sim_run_summary *summary =
        test_run_text(CLUSTER SERVICE CALLERS OUTAGE LOSS,
                      "horizon=1h services.s.requests.count=100 jobs.w.checkpoint.interval=7s "
                      "jobs.w.checkpoint.cost=2s jobs.w.classes.a.members=2 jobs.w.max_attempts=9");

    CHECK(test_value(summary, "jobs.restarted", "") > 0);
    CHECK_NEAR(test_value(summary, "jobs.done", ""), 9, 0);
    CHECK_NEAR(test_value(summary, "invariant.violations", ""), 0, 0);
    free(summary);
}

static const struct test tests[] = {
    { "a scenario runs as before with a service beside it",
      a_scenario_runs_as_before_with_a_service_beside_it },
    { "requests of a lost replica are served again", requests_of_a_lost_replica_are_served_again },
    { "a batch takes as long as its items", a_batch_takes_as_long_as_its_items },
    { "requests of several items are as much work", requests_of_several_items_are_as_much_work },
    { "who is on the way waits for nobody", who_is_on_the_way_waits_for_nobody },
    { "an outage turns away who waits and who comes",
      an_outage_turns_away_who_waits_and_who_comes },
    { "more requests than the rate are turned away", more_requests_than_the_rate_are_turned_away },
    { "who was let in passes the limits once", who_was_let_in_passes_the_limits_once },
    { "a batcher that loses count serves nobody in the end",
      a_batcher_that_loses_count_serves_nobody_in_the_end },
    { "who may operates a service", who_may_operates_a_service },
    { "jobs that call stand still and fail", jobs_that_call_stand_still_and_fail },
    { "two failed runs are the end of a job that has two",
      two_failed_runs_are_the_end_of_a_job_that_has_two },
    { "with a gate none of them holds a GPU meanwhile",
      with_a_gate_none_of_them_holds_a_gpu_meanwhile },
    { "what stands still can be lost too", what_stands_still_can_be_lost_too },
};
TEST_MAIN(tests)
