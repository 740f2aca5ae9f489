/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Actors that call one another: limits of calls, computing one after the other, requests and
 * groups, creation, time limits, and what a lost node takes along. With laws that are constant all
 * of it has closed forms.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD                                                                                       \
    "schema: 2\nname: t\nhorizon: 1000 s\n"                                                        \
    "cluster: {nodes: [{name: n, cpus: 16, count: 2, gpus: {h100: 1}}]}\n"                         \
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 30 s}}\n"                    \
    "actors:\n  - name: s\n    environment: 0 B\n"

/* Ten workers call one actor, again and again. */
#define CALLS                                                                                      \
    HEAD "    roles:\n      worker: {count: 10}\n      pool: {count: 1, concurrency: 3}\n"         \
         "    calls: [{from: worker, to: pool, service: 1 s}]\n"

static double value(const char *text, const char *sets, const char *metric, const char *label)
{
    struct sim_run_summary *summary = test_run_text(text, sets);
    const double found = test_value(summary, metric, label);
    free(summary);
    return found;
}

/* N callers and c calls of D seconds at once: c / D a second, and N D / c each.
 * covers: S4.2 S4.17 S4.19 */
static void no_more_calls_than_allowed_are_in_service(void)
{
    struct sim_run_summary *summary = test_run_text(CALLS, NULL);
    CHECK_NEAR(test_value(summary, "conc.max", "pool"), 3, 0);
    CHECK_NEAR(test_value(summary, "conc.util", "pool"), 1, 1e-9);
    CHECK_NEAR(test_value(summary, "thr.pipeline", ""), 3, 1e-9);
    CHECK_NEAR(test_value(summary, "rpc.lat.mean", "pool"), 10.0 / 3, 0.01);
    CHECK_NEAR(test_value(summary, "rpc.lat.max", "pool"), 4, 1e-9); /* in turn: nobody starves */
    CHECK_NEAR(test_value(summary, "rpc.queue.max", "pool"), 7, 0);
    free(summary);
    CHECK_NEAR(value(CALLS, "actors.s.roles.pool.concurrency=100", "conc.max", "pool"), 10, 0);
    CHECK_NEAR(value(CALLS, "actors.s.roles.pool.concurrency=1", "thr.pipeline", ""), 1, 1e-9);
}

/* covers: S4.7 */
static void a_remote_interface_answers_ten_at_a_time(void)
{
    const char *const sets = "actors.s.roles.worker.count=20 actors.s.roles.pool.concurrency=10 "
                             "actors.s.calls[0].service=lognormal(2,1)";
    CHECK_NEAR(value(CALLS, sets, "conc.max", "pool"), 10, 0);
    CHECK_NEAR(value(CALLS, sets, "conc.util", "pool"), 1, 1e-6);
}

/* A remote interface of ten calls at once that takes 60 a minute, ten of them at once after a rest:
 * calls of 2 s would be five a second. Twenty callers have a call every 20 s each; ten had theirs
 * at 0, and of the others the last at 10 s. Its concurrency binds where the rate is above it.
 * covers: S4.7 */
static void a_remote_interface_takes_so_many_a_minute(void)
{
    static const char *const remote =
        "actors.s.roles.worker.count=20 actors.s.roles.pool.concurrency=10 "
        "actors.s.calls[0].service=2s actors.s.roles.pool.rate_limit.rate=60/min "
        "actors.s.roles.pool.rate_limit.burst=10";
    struct sim_run_summary *summary = test_run_text(CALLS, remote);
    CHECK_NEAR(test_value(summary, "conc.max", "pool"), 10, 0);
    /* 10 + 1000 begin before 1000 s, and those of 998 s and after are not done. */
    CHECK_NEAR(test_value(summary, "thr.pipeline", ""), 1.007, 0.0015);
    CHECK_NEAR(test_value(summary, "conc.util", "pool"), 0.2, 0.003);
    free(summary);
    CHECK_NEAR(value(CALLS, "actors.s.roles.pool.rate_limit=2/s", "thr.pipeline", ""), 2, 0.003);
    CHECK_NEAR(value(CALLS, "actors.s.roles.pool.rate_limit=300/min", "thr.pipeline", ""), 3, 0.01);
}

/* A caller rests 1 s and waits 1 s for an answer: it always has a round in hand, and computes
 * nothing of it. The pool has a call in hand half of the time. */
static void who_waits_for_an_answer_is_not_idle(void)
{
    static const char *const sets = "actors.s.roles.worker.count=1 actors.s.calls[0].think=1s";
    struct sim_run_summary *summary = test_run_text(CALLS, sets);
    CHECK_NEAR(test_value(summary, "bp.blocked_frac", "worker"), 1, 1e-9);
    CHECK_NEAR(test_value(summary, "bp.starved_frac", "worker"), 0, 1e-9);
    CHECK_NEAR(test_value(summary, "bp.blocked_frac", "pool"), 0.5, 1e-9);
    CHECK_NEAR(test_value(summary, "bp.starved_frac", "pool"), 0.5, 1e-9);
    free(summary);
}

/* An actor is one interpreter: more calls at once help while they wait, not while they compute.
 * covers: S4.28 */
static void calls_compute_one_after_the_other(void)
{
    static const struct {
        const char *concurrency;
        double waiting, computing;
    } cases[] = { { "1", 1, 1 }, { "10", 10, 1 }, { "100", 20, 1 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static const char *const works[] = { "", "actors.s.calls[0].service=0s "
                                                 "actors.s.calls[0].cpu=1s" };
        for (size_t w = 0; w < 2; w++) {
            char sets[256];
            (void)snprintf(sets, sizeof sets,
                           "actors.s.roles.worker.count=20 actors.s.roles.pool.concurrency=%s %s",
                           cases[i].concurrency, works[w]);
            CHECK_NEAR(value(CALLS, sets, "thr.pipeline", ""),
                       w == 0 ? cases[i].waiting : cases[i].computing, 1e-9);
        }
    }
}

/* Two calls to a trainer, 1 s of computing each, never overlap.
 * covers: S4.6 S4.18 */
static void calls_to_a_trainer_never_overlap(void)
{
    const char *const sets =
        "actors.s.roles.worker.count=2 actors.s.roles.pool.concurrency=1 "
        "actors.s.roles.pool.cpus=4 actors.s.roles.pool.gpus=1 actors.s.calls[0].service=0s "
        "actors.s.calls[0].cpu=1s";
    CHECK_NEAR(value(CALLS, sets, "conc.max", "pool"), 1, 0);
    CHECK_NEAR(value(CALLS, sets, "rpc.lat.max", "pool"), 2, 1e-9);
    CHECK_NEAR(value(CALLS, sets, "util.gpu.active", ""), 0.5, 1e-9); /* of two GPUs one, always */
}

/* What a worker computes of its time is what it uses of its CPU: 0.1 s of 10.
 * covers: S4.5 */
static void a_worker_that_waits_uses_no_cpu(void)
{
    const char *const sets = "actors.s.calls[0].think=9.9s actors.s.calls[0].work=0.1s "
                             "actors.s.calls[0].service=0s actors.s.roles.worker.count=8";
    CHECK_NEAR(value(CALLS, sets, "util.cpu.active", "") * 32 / 8, 0.01, 1e-4);
}

/* ---- how many workers ---- */

/* One node of 16 CPUs; workers ask for a quarter and take a whole CPU while they compute. */
static double rate_of(const char *workers, const char *think, const char *work)
{
    char sets[400];
    (void)snprintf(sets, sizeof sets,
                   "horizon=10000s cluster.nodes[0].count=1 actors.s.roles.worker.cpus=0.2 "
                   "actors.s.roles.worker.uses.cpus=1 actors.s.roles.pool.concurrency=100 "
                   "actors.s.calls[0].service=0s actors.s.roles.worker.count=%s "
                   "actors.s.calls[0].think=%s actors.s.calls[0].work=%s",
                   workers, think, work);
    return value(CALLS, sets, "thr.pipeline", "");
}

/* covers: S4.24 */
static void many_workers_help_who_waits_and_not_who_computes(void)
{
    CHECK_NEAR(rate_of("64", "exp(10s)", "0.1s"), 64 / 10.1, 0.1); /* four deviations */
    CHECK_NEAR(rate_of("4", "exp(10s)", "0.1s"), 4 / 10.1, 0.03);
    CHECK_NEAR(rate_of("64", "0s", "4s"), 4, 0.07); /* 16 CPUs, 4 s each */
    CHECK_NEAR(rate_of("16", "0s", "4s"), 4, 0.07);
    CHECK_NEAR(rate_of("4", "0s", "4s"), 1, 0.01);
}

/* ---- requests ---- */

#define GROUPS                                                                                     \
    HEAD "    roles:\n      a: {count: 1, group: g}\n      b: {count: 1, group: g}\n"              \
         "      c: {count: 1, group: g}\n      d: {count: 2}\n"                                    \
         "    calls: [{from: d, to: a, service: 1 s}]\n"

/* covers: S4.3 S4.4 */
static void what_is_not_said_is_as_in_the_code(void)
{
    struct sim_scenario *scenario = test_scenario(GROUPS, NULL);
    CHECK(scenario != NULL);
    if (scenario == NULL)
        return;
    const struct sim_actor_set *shared = &scenario->actors[0].sets[0];
    const struct sim_actor_set *alone = &scenario->actors[0].sets[1];
    CHECK_I64(scenario->actors[0].sets_count, 2);
    CHECK_I64(shared->concurrency, 10);
    CHECK_I64(alone->concurrency, 100);
    CHECK_I64(shared->shape.cpu_units, WEIR_ONE);
    CHECK_I64(alone->shape.cpu_units, WEIR_ONE);
    CHECK_I64(shared->shape.gpu_count, 0);
    sim_scenario_destroy(scenario);
}

/* Three roles in one process: 3 CPUs become 1, and with a trainer of 4 among them 6 become 4.
 * covers: S4.23 */
static void a_shared_process_costs_what_its_largest_role_asks_for(void)
{
    CHECK_NEAR(value(GROUPS, NULL, "actor.cpus", ""), 1 + 2, 1e-9);
    CHECK_NEAR(value(GROUPS, "actors.s.roles.b.cpus=4", "actor.cpus", ""), 4 + 2, 1e-9);
    CHECK_NEAR(value(GROUPS, "actors.s.roles.b.gpus=1", "actor.gpus", ""), 1, 1e-9);
    CHECK_NEAR(value(GROUPS, "actors.s.groups.g.cpus=0", "actor.cpus", ""), 2, 1e-9);
    CHECK_NEAR(value(GROUPS, "actors.s.groups.g.cpus=2", "actor.cpus", ""), 2 + 2, 1e-9);
}

static bool is_refused(const char *text, const char *set, const char *sentence)
{
    const char *const sets[] = { set };
    const struct sim_scenario_source source = {
        .path = "t.yaml", .text = text, .sets = sets, .sets_count = 1
    };
    struct sim_scenario *scenario = NULL;
    struct sim_diagnostics said = { .items = NULL };
    bool is_it = sim_scenario_load(&source, &scenario, &said) == WEIR_EFORMAT;
    is_it = is_it && said.count > 0 && strstr(said.items[0].message, sentence) != NULL;
    if (!is_it)
        sim_diagnostics_print(&said, stdout);
    sim_diagnostics_clear(&said);
    sim_scenario_destroy(scenario);
    return is_it;
}

/* covers: S4.38 */
static void roles_that_share_a_process_have_equal_counts(void)
{
    CHECK(is_refused(GROUPS, "actors.s.roles.b.count=2",
                     "roles of group 'g' share processes, so their counts are given and equal"));
    CHECK(is_refused(GROUPS, "actors.s.roles.b.concurrency=5", "give it in groups.g"));
    CHECK(is_refused(GROUPS, "actors.s.groups.h.cpus=2", "no role is in the group 'h'"));
    CHECK(is_refused(GROUPS, "actors.s.calls[0].to=aa", "there is no role 'aa'"));
    CHECK(is_refused(CALLS, "actors.s.roles.pool={name: pool}", "needs a count"));
}

/* ---- creation, and what waits ---- */

/* Ten environments of 1 MB at 1 MB/s, one after the other, then 2 s each: 3, 4, ... 12 s. */
static void environments_go_out_one_after_the_other(void)
{
    const char *const sets = "actors.s.environment=1MB actors.s.roles.worker.creation=2s";
    CHECK_NEAR(value(CALLS, sets, "actor.create_p95", "worker"), 12, 1e-9);
    CHECK_NEAR(value(CALLS, sets, "actor.create_p95", "pool"), 11, 1e-9);
}

/* Who never fits waits without an end, and is no mistake; the others work.
 * covers: S4.29 */
static void what_has_no_room_is_pending(void)
{
    CHECK_NEAR(value(CALLS, "actors.s.roles.worker.cpus=4", "actor.pending.final", "worker"), 3, 0);
    CHECK_NEAR(value(CALLS, "actors.s.roles.worker.cpus=17", "actor.pending.final", "worker"), 10,
               0);
    CHECK_NEAR(value(CALLS, "actors.s.roles.worker.cpus=4", "util.cpu.assigned", ""), 29.0 / 32,
               1e-9);
}

static void an_actor_that_is_not_ready_in_time_ends_its_system(void)
{
    struct sim_run_summary *summary =
        test_run_text(CALLS, "actors.s.roles.worker.cpus=4 actors.s.ready_limit=60s");
    CHECK_STR(summary->outcome, "ended early");
    CHECK_STR(summary->message,
              "actors s at 60 s: 3 of 10 actors of worker were not ready in time");
    CHECK_NEAR(summary->early_s, 60, 1e-9);
    free(summary);
}

/* ---- limits and losses ---- */

/* Three at a time of 2 s each for ten callers who give up after 3 s: what is late is made again. */
static void late_calls_are_made_again(void)
{
    struct sim_run_summary *summary =
        test_run_text(CALLS, "actors.s.calls[0].limit=3s actors.s.calls[0].service=2s");
    CHECK(test_value(summary, "rpc.timeouts", "pool") > 100);
    CHECK_NEAR(test_value(summary, "rpc.timeouts", ""), test_value(summary, "rpc.timeouts", "pool"),
               0);
    CHECK(test_value(summary, "thr.pipeline", "") < 1.5);
    free(summary);
    CHECK_NEAR(value(CALLS, "actors.s.calls[0].limit=5s", "rpc.timeouts", "pool"), 0, 0);
}

/* Three of ten callers are in service, 1 s at a time: the last of them has his answer after 4 s.
 * Who has it at the very moment of his limit has it in time; and who is ready then is. */
static void what_takes_exactly_its_limit_is_in_time(void)
{
    CHECK_NEAR(value(CALLS, "actors.s.calls[0].limit=4s", "rpc.timeouts", "pool"), 0, 0);
    CHECK(value(CALLS, "actors.s.calls[0].limit=3999ms", "rpc.timeouts", "pool") > 0);
    struct sim_run_summary *summary =
        test_run_text(CALLS, "actors.s.roles.worker.creation=60s actors.s.ready_limit=60s");
    CHECK_STR(summary->outcome, "horizon");
    free(summary);
}

#define LOST(node) "timeline: [{at: 99.5 s, action: node_down, node: " node ", for: 10 s}]\n"

/* Workers fill the first node, the pool is on the second: it comes back in the place of a worker,
 * which is back with the repair and not at the next interval, and its calls in service are made
 * again. With all of them on one node they go on at once on the other. */
static void a_lost_node_costs_calls_and_no_round(void)
{
    struct sim_run_summary *summary =
        test_run_text(CALLS LOST("n-1"), "actors.s.roles.worker.cpus=1.6");
    CHECK_NEAR(test_value(summary, "rpc.repeated", "pool"), 3, 0);
    CHECK_NEAR(test_value(summary, "worker.created", ""), 13, 0);
    CHECK_NEAR(test_value(summary, "actor.pending", "worker"), 0.01, 1e-9);
    CHECK_NEAR(test_value(summary, "thr.pipeline", "") * 1000, 3 * 1000, 3);
    free(summary);
    summary = test_run_text(CALLS LOST("n-0"), NULL);
    CHECK_NEAR(test_value(summary, "worker.created", ""), 22, 0);
    CHECK_NEAR(test_value(summary, "actor.pending", "pool"), 0, 1e-9);
    CHECK_NEAR(test_value(summary, "thr.pipeline", "") * 1000, 3 * 1000, 5);
    free(summary);
}

/* A job holds the node that is left from 1 ms on for 100 s, and when it is over they are back. */
static void who_is_lost_comes_back_when_a_job_is_over(void)
{
    static const char job[] =
        "jobs: [{name: j, count: 1, run_time: 100 s, arrivals: {process: renewal, "
        "gap: const(1 ms)}, classes: [{name: c, request: {cpus: 16}}]}]\n"
        "timeline: [{at: 50 s, action: node_down, node: n-0, for: 500 s}]\n";
    char text[2048];
    (void)snprintf(text, sizeof text, "%s%s", CALLS, job);
    struct sim_run_summary *summary = test_run_text(text, "actors.s.roles.worker.count=15");
    CHECK_NEAR(test_value(summary, "actor.pending", "pool"), 0.050001, 1e-9);
    CHECK_NEAR(test_value(summary, "actor.pending", "worker"), 15 * 0.050001, 1e-9);
    free(summary);
}

/* On one cluster with a pipeline and jobs, behind one scheduler: what actors do is what they do
 * alone, and a second system changes nothing of the first. */
static void actors_run_beside_other_work(void)
{
    static const char others[] =
        "  - name: o\n    environment: 0 B\n"
        "    roles: {client: {count: 2}, server: {count: 1}}\n"
        "    calls: [{from: client, to: server, think: 2 s, service: 1 s}]\n"
        "pipelines:\n  - name: p\n    semantics: event\n    input: {items: 90}\n"
        "    stages: [{name: a, cpus: 1, workers: 2, service: 2 s}]\n"
        "jobs:\n  - name: w\n    run_time: 100 s\n    arrivals: {rate: 0.01}\n    count: 5\n"
        "    classes: [{name: j, request: {cpus: 4}}]\n";
    char text[2048];
    (void)snprintf(text, sizeof text, "%s%s", CALLS, others);
    struct sim_run_summary *summary = test_run_text(text, NULL);
    CHECK_STR(summary->outcome, "horizon");
    CHECK_NEAR(test_value(summary, "thr.pipeline", "s"), 3, 1e-9);
    CHECK_NEAR(test_value(summary, "rpc.lat.mean", "s.pool"), 10.0 / 3, 0.01);
    CHECK_NEAR(test_value(summary, "thr.pipeline", "o") * 1000, 2 * 1000 / 3.0, 2);
    CHECK_NEAR(test_value(summary, "thr.pipeline", "p"), 0.09, 1e-9);
    CHECK_NEAR(test_value(summary, "jobs.done", ""), 5, 0);
    CHECK_NEAR(test_value(summary, "actor.cpus", "o"), 3, 0);
    free(summary);
}

static const struct test tests[] = {
    { "no more calls than allowed are in service", no_more_calls_than_allowed_are_in_service },
    { "a remote interface answers ten at a time", a_remote_interface_answers_ten_at_a_time },
    { "a remote interface takes so many a minute", a_remote_interface_takes_so_many_a_minute },
    { "who waits for an answer is not idle", who_waits_for_an_answer_is_not_idle },
    { "calls compute one after the other", calls_compute_one_after_the_other },
    { "calls to a trainer never overlap", calls_to_a_trainer_never_overlap },
    { "a worker that waits uses no CPU", a_worker_that_waits_uses_no_cpu },
    { "many workers help who waits and not who computes",
      many_workers_help_who_waits_and_not_who_computes },
    { "what is not said is as in the code", what_is_not_said_is_as_in_the_code },
    { "a shared process costs what its largest role asks for",
      a_shared_process_costs_what_its_largest_role_asks_for },
    { "roles that share a process have equal counts",
      roles_that_share_a_process_have_equal_counts },
    { "environments go out one after the other", environments_go_out_one_after_the_other },
    { "what has no room is pending", what_has_no_room_is_pending },
    { "an actor that is not ready in time ends its system",
      an_actor_that_is_not_ready_in_time_ends_its_system },
    { "late calls are made again", late_calls_are_made_again },
    { "what takes exactly its limit is in time", what_takes_exactly_its_limit_is_in_time },
    { "actors run beside other work", actors_run_beside_other_work },
    { "a lost node costs calls and no round", a_lost_node_costs_calls_and_no_round },
    { "who is lost comes back when a job is over", who_is_lost_comes_back_when_a_job_is_over },
};
TEST_MAIN(tests)
