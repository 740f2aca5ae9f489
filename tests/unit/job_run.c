/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs in time: start times worked out by hand and by other programs, refusals, patience, retries,
 * gangs, node failures. All invariants are checked after every event.
 */
#include "sim/record/record.h"
#include "sim/worker/context.h"
#include "sim/world/run.h"
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 256 };

struct seen {
    struct sim_job_row rows[JOBS];
    char outcome[JOBS][16];
    size_t count;
};

static void see(void *state, const struct sim_job_row *row)
{
    struct seen *seen = state;
    if (row->job >= JOBS)
        return;
    seen->rows[row->job] = *row;
    (void)snprintf(seen->outcome[row->job], sizeof seen->outcome[0], "%s", row->outcome);
    seen->count++;
}

/* Runs it; NULL when it cannot be. The caller frees. */
static struct seen *run_jobs(const char *text, const char *sets, struct sim_run_summary *summary)
{
    struct sim_scenario *scenario = test_scenario(text, sets);
    struct sim_run_summary *own = test_summary();
    struct seen *seen = calloc(1, sizeof *seen);
    const struct sim_observer observer = { .state = seen, .job = see };
    struct sim_run_summary *out = summary != NULL ? summary : own;
    const struct sim_run_options options = { .seed = 1,
                                             .check_always = true,
                                             .export_at_s = (double)NAN,
                                             .listen = test_listen,
                                             .listener = out,
                                             .observer = &observer };
    if (scenario == NULL || seen == NULL) {
        free(seen);
        seen = NULL;
    } else if (sim_run(scenario, &options, out) != WEIR_OK) {
        fprintf(stderr, "%s\n", out->message);
    }
    CHECK(seen != NULL);
    CHECK_I64(out->status, WEIR_OK);
    free(own);
    sim_scenario_destroy(scenario);
    return seen;
}

#define HEAD(nodes)                                                                                \
    "schema: 1\nname: j\ncluster:\n  nodes:\n    - " nodes "\nsched: {placement: first_fit}\n"     \
    "workloads:\n  - name: w\n    kind: generated\n    mode: time\n"

static const char *const six_jobs =
    HEAD("{name: n, cpus: 4}") "    classes:\n"
                               "      - {name: a, count: 1, at: 0s, service: const(2 s), request: "
                               "{cpus: 3}}\n"
                               "      - {name: b, count: 1, at: 0s, service: const(3 s), request: "
                               "{cpus: 3}}\n"
                               "      - {name: c, count: 1, at: 0s, service: const(1 s), request: "
                               "{cpus: 3}}\n"
                               "      - {name: d, count: 1, at: 4s, service: const(8 s), request: "
                               "{cpus: 4}}\n"
                               "      - {name: e, count: 1, at: 4s, service: const(2 s), request: "
                               "{cpus: 1}}\n"
                               "      - {name: f, count: 1, at: 5s, service: const(4 s), request: "
                               "{cpus: 4}}\n";

/* Sorted by (submission, id) as the published example has it: a is (2 s, id 0), b (0, 1) ... */
static const char *const published_six =
    HEAD("{name: n, cpus: 4}") "    classes:\n"
                               "      - {name: a, count: 1, at: 2s, service: const(3 s), request: "
                               "{cpus: 1}}\n"
                               "      - {name: b, count: 1, at: 0s, service: const(3 s), request: "
                               "{cpus: 3}}\n"
                               "      - {name: c, count: 1, at: 0s, service: const(1 s), request: "
                               "{cpus: 3}}\n"
                               "      - {name: d, count: 1, at: 4s, service: const(8 s), request: "
                               "{cpus: 4}}\n"
                               "      - {name: e, count: 1, at: 4s, service: const(2 s), request: "
                               "{cpus: 1}}\n"
                               "      - {name: f, count: 1, at: 1s, service: const(4 s), request: "
                               "{cpus: 4}}\n";

static void check_starts(const char *text, const char *sets, const int *expected, size_t count)
{
    struct seen *seen = run_jobs(text, sets, NULL);
    CHECK(seen != NULL);
    for (size_t i = 0; seen != NULL && i < count; i++) {
        /* Jobs are numbered by arrival; their label is the class. */
        for (size_t k = 0; k < count; k++)
            if (seen->rows[k].label == i)
                CHECK_I64(seen->rows[k].start_ns, expected[i] * SIM_NS_PER_S);
    }
    free(seen);
}

/* Six jobs on four processors; FCFS [8,0,3,11,19,4], first fit [2,0,3,10,4,6].
 * covers: S1.9 S1.14 */
static void published_example_starts_when_it_should(void)
{
    const int fcfs[] = { 8, 0, 3, 11, 19, 4 };
    const int first_fit[] = { 2, 0, 3, 10, 4, 6 };
    check_starts(published_six, "sched.queueing=fcfs", fcfs, 6);
    const int easy[] = { 2, 0, 3, 9, 17, 5 };
    const int conservative[] = { 8, 0, 3, 11, 8, 4 };
    check_starts(published_six, "sched.queueing=first_fit", first_fit, 6);
    check_starts(published_six, "sched.queueing=easy", easy, 6);
    check_starts(published_six, "sched.queueing=conservative", conservative, 6);
}

/* c is the shortest of the three at 0, then a, then b; e fits beside b at 4; f is shorter than d.
 */
static void shortest_goes_first(void)
{
    const int sjf[] = { 1, 3, 0, 10, 4, 6 };
    check_starts(six_jobs, "sched.queueing=sjf", sjf, 6);
}

static const char *const gang = HEAD("{name: n, count: 2, cpus: 64, ram: 64 GiB, gpus: {a100-80: "
                                     "4}}") "    classes:\n"
                                            "      - {name: small, count: 100, at: 0s, every: 1s, "
                                            "service: const(8 s), request: {gpus: 1}}\n"
                                            "      - {name: gang, count: 1, at: 20s, members: 8, "
                                            "service: const(50 s), request: {gpus: 1}}\n";

/* A gang of 8 among small jobs on 8 GPUs: starved by first fit until 107, at 28 with FCFS, where
 * small jobs then wait 42.3 s on average. A gang that holds the one GPU that is free from 21 s on,
 * the two from 22 s on ... the seven from 27 s on does as well under first fit: 28 GPU seconds.
 * covers: S1.17 */
static void gang_starts_whole_or_not_at_all(void)
{
    static const struct {
        const char *set;
        int start_s;
        double small_wait_s, makespan_s, held;
    } cases[] = { { "sched.queueing=first_fit", 107, 0, 157, 0 },
                  { "sched.queueing=first_fit sched.hold_mode=none", 107, 0, 157, 0 },
                  { "sched.queueing=fcfs", 28, 42.3, 158, 0 },
                  { "sched.queueing=easy", 28, 42.3, 158, 0 },
                  { "sched.queueing=conservative", 28, 42.3, 158, 0 },
                  { "sched.queueing=first_fit sched.hold_mode=reserve", 28, 42.3, 158, 28 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_run_summary *summary = test_summary();
        struct seen *seen = run_jobs(gang, cases[i].set, summary);
        CHECK_I64(seen->rows[21].members, 8);
        CHECK_I64(seen->rows[21].start_ns, cases[i].start_s * SIM_NS_PER_S);
        CHECK_NEAR(test_value(summary, "wait.job.mean", "small"), cases[i].small_wait_s, 1e-9);
        CHECK_NEAR(test_value(summary, "makespan", ""), cases[i].makespan_s, 1e-9);
        CHECK_NEAR(test_value(summary, "gang.partial_holds", ""), cases[i].held, 1e-9);
        free(seen);
        free(summary);
    }
}

/* The same gang under a hold of so many seconds, silent for as many after: too short a hold is
 * worse than none. How often it gave back what it held cannot be seen from outside. covers: S1.20
 */
static void a_hold_has_a_bound(void)
{
    static const struct {
        const char *set;
        int start_s;
        double small_wait_s, makespan_s;
    } cases[] = { { "sched.queueing.hold=0s", 107, 0, 157 },
                  { "sched.queueing.hold=4s sched.queueing.silent=4s", 108, 0.96, 158 },
                  { "sched.queueing.hold=7s sched.queueing.silent=2s", 36, 38.23, 158 },
                  { "sched.queueing.hold=8s", 28, 42.3, 158 },
                  { "sched.queueing.hold=1000s", 28, 42.3, 158 } };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char sets[100];
        struct sim_run_summary *summary = test_summary();
        (void)snprintf(sets, sizeof sets, "sched.queueing.policy=hold %s", cases[i].set);
        struct seen *seen = run_jobs(gang, sets, summary);
        CHECK_I64(seen->rows[21].start_ns, cases[i].start_s * SIM_NS_PER_S);
        CHECK_NEAR(test_value(summary, "wait.job.mean", "small"), cases[i].small_wait_s, 1e-9);
        if (!CHECK_NEAR(test_value(summary, "makespan", ""), cases[i].makespan_s, 1e-9))
            printf("case %zu\n", i);
        free(seen);
        free(summary);
    }
}

/* One server: a runs 0-10; b may wait; c finds one waiting and is refused, comes back 5 s later
 * (refused again) and 5 s after that, at 12, when b runs and nobody waits. */
static void refused_job_comes_again(void)
{
    static const char *const text =
        HEAD("{name: n, cpus: 1}") "    queue_limit: 1\n    retries: 2\n"
                                   "    retry_delay: const(5 s)\n    service: const(10 s)\n    "
                                   "classes:\n"
                                   "      - {name: a, count: 1, request: {cpus: 1}}\n"
                                   "      - {name: b, count: 1, at: 1s, request: {cpus: 1}}\n"
                                   "      - {name: c, count: 1, at: 2s, request: {cpus: 1}}\n"
                                   "      - {name: d, count: 1, at: 3s, request: {cpus: 2}}\n";
    struct sim_run_summary *summary = test_summary();
    struct seen *seen = run_jobs(text, NULL, summary);
    CHECK_I64(seen->rows[1].start_ns, 10 * SIM_NS_PER_S);
    CHECK_I64(seen->rows[2].start_ns, 20 * SIM_NS_PER_S);
    CHECK_STR(seen->outcome[2], "done");
    CHECK_STR(seen->outcome[3], "refused");
    CHECK_NEAR(test_value(summary, "jobs.retried", ""), 2, 0);
    CHECK_NEAR(test_value(summary, "jobs.infeasible", "d"), 1, 0);
    free(seen);
    free(summary);
}

/* b leaves at 5 s, before a ends; it had kept c waiting under FCFS. */
static void impatient_job_leaves_and_others_move_up(void)
{
    static const char *const text =
        HEAD("{name: n, cpus: 4}") "    service: const(10 s)\n    classes:\n"
                                   "      - {name: a, count: 1, request: {cpus: 3}}\n"
                                   "      - {name: b, count: 1, at: 1s, patience: const(4 s), "
                                   "request: {cpus: 4}}\n"
                                   "      - {name: c, count: 1, at: 2s, request: {cpus: 1}}\n";
    struct seen *seen = run_jobs(text, "sched.queueing=fcfs", NULL);
    CHECK_STR(seen->outcome[1], "left");
    CHECK_I64(seen->rows[1].end_ns, 5 * SIM_NS_PER_S);
    CHECK_I64(seen->rows[1].start_ns, -1);
    CHECK_I64(seen->rows[2].start_ns, 5 * SIM_NS_PER_S);
    free(seen);
}

/* The node is away from 4 to 7: the job of 10 s begins anew at 7. */
static void job_begins_anew_when_its_node_is_lost(void)
{
    static const char *const text =
        "schema: 1\nname: j\nhorizon: 30 s\ncluster:\n  nodes:\n    - {name: n, cpus: 1}\n"
        "  failures: {node_between: const(11 s), node_repair: const(3 s)}\n"
        "sched: {placement: first_fit}\nworkloads:\n  - name: w\n    kind: generated\n"
        "    mode: time\n    service: const(10 s)\n    classes:\n"
        "      - {name: a, count: 1, at: 5 s, request: {cpus: 1}}\n";
    struct sim_run_summary *summary = test_summary();
    struct seen *seen = run_jobs(text, NULL, summary);
    CHECK_I64(seen->rows[0].attempts, 2);
    CHECK_I64(seen->rows[0].start_ns, 14 * SIM_NS_PER_S);
    CHECK_I64(seen->rows[0].end_ns, 24 * SIM_NS_PER_S);
    CHECK_NEAR(test_value(summary, "jobs.restarted", ""), 1, 0);
    free(seen);
    free(summary);
}

/* 80 GB of one GPU: two jobs of a quarter GPU and 30 GB, the third waits for memory. */
static void gpu_memory_is_a_limit_of_its_own(void)
{
    static const char *const text = HEAD(
        "{name: n, cpus: 8, gpus: {a100-80: 1}}") "    service: const(10 s)\n    classes:\n"
                                                  "      - {name: a, count: 3, request: {cpus: 1, "
                                                  "gpus: 0.25, gpu_memory: 30 GB}}\n";
    struct seen *seen = run_jobs(text, NULL, NULL);
    CHECK_I64(seen->rows[0].start_ns, 0);
    CHECK_I64(seen->rows[1].start_ns, 0);
    CHECK_I64(seen->rows[2].start_ns, 10 * SIM_NS_PER_S);
    free(seen);
}

/* Two small groups, then one that needs a whole node, and one that none can hold. Ray's scorer puts
 * the small ones on both nodes, so the large one waits for them; best_fit keeps a node whole. */
static void group_finds_a_whole_node_or_waits_for_one(void)
{
    static const char *const text = HEAD(
        "{name: n, cpus: 8, gpus: {l4: 4}, count: 2}") "    service: const(10 s)\n    classes:\n"
                                                       "      - {name: small, count: 2, group: "
                                                       "pack, request: {cpus: 1, gpus: 1}}\n"
                                                       "      - {name: large, count: 1, at: 1 s, "
                                                       "group: strict_pack, members: 4, request: "
                                                       "{cpus: 1, gpus: 1}}\n"
                                                       "      - {name: never, count: 1, at: 2 s, "
                                                       "group: strict_spread, members: 3, request: "
                                                       "{cpus: 1}}\n";
    static const struct {
        const char *sets;
        int64_t start_s;
    } rows[] = { { NULL, 10 }, { "sched.groups=placement sched.placement=best_fit", 1 } };
    for (size_t r = 0; r < 2; r++) {
        struct sim_run_summary *summary = test_summary();
        struct seen *seen = run_jobs(text, rows[r].sets, summary);
        CHECK(seen != NULL);
        if (seen == NULL)
            continue;
        CHECK_I64(seen->rows[2].start_ns, rows[r].start_s * SIM_NS_PER_S);
        CHECK_I64(seen->rows[2].members, 4);
        CHECK_STR(seen->outcome[3], "refused");
        CHECK_NEAR(test_value(summary, "jobs.infeasible", ""), 1, 0);
        CHECK_NEAR(test_value(summary, "jobs.done", ""), 3, 0);
        free(seen);
        free(summary);
    }
}

/* a starts at once, b waits until 10, and c, which may try once more, finds b waiting at 2 and at 7
 * and is refused for good. So one of two that start was delayed, and two of three are accepted. */
static void who_may_try_once_more_is_refused_then(void)
{
    static const char *const text =
        HEAD("{name: n, cpus: 1}") "    queue_limit: 1\n    retries: 1\n"
                                   "    retry_delay: const(5 s)\n    service: const(10 s)\n    "
                                   "classes:\n"
                                   "      - {name: a, count: 1, request: {cpus: 1}}\n"
                                   "      - {name: b, count: 1, at: 1s, request: {cpus: 1}}\n"
                                   "      - {name: c, count: 1, at: 2s, request: {cpus: 1}}\n";
    struct sim_run_summary *summary = test_summary();
    struct seen *seen = run_jobs(text, NULL, summary);
    CHECK_STR(seen->outcome[2], "refused");
    CHECK_I64(seen->rows[2].end_ns, 7 * SIM_NS_PER_S);
    CHECK_NEAR(test_value(summary, "jobs.retried", ""), 1, 0);
    CHECK_NEAR(test_value(summary, "jobs.delayed_frac", ""), 0.5, 1e-12);
    CHECK_NEAR(test_value(summary, "jobs.acceptance", ""), 2.0 / 3, 1e-12);
    free(seen);
    free(summary);
}

/* The head is down up to 10: all three come again at 11, when a starts, b waits and c finds the
 * queue full. At 21 c waits, and b runs until 31. */
static void who_comes_back_to_a_full_queue_fails_a_second_time(void)
{
    static const char *const text =
        HEAD("{name: n, cpus: 1}") "    queue_limit: 1\n    retries: 9\n"
                                   "    retry_delay: const(10 s)\n    service: const(10 s)\n    "
                                   "classes:\n"
                                   "      - {name: a, count: 3, at: 1s, request: {cpus: 1}}\n"
                                   "timeline: [{at: 0 s, action: head_down, for: 10 s}]\n";
    struct sim_run_summary *summary = test_summary();
    struct seen *seen = run_jobs(text, NULL, summary);
    CHECK_NEAR(test_value(summary, "jobs.refused_again", ""), 1, 0);
    CHECK_NEAR(test_value(summary, "jobs.retried", ""), 4, 0);
    CHECK_NEAR(test_value(summary, "jobs.done", ""), 3, 0);
    CHECK_I64(seen->rows[2].end_ns, 41 * SIM_NS_PER_S);
    free(seen);
    free(summary);
}

/* Everybody is away at 3: the run goes on until c has come again at 100 and is done at 110. */
static void a_run_waits_for_who_is_away(void)
{
    static const char *const text =
        HEAD("{name: n, cpus: 1}") "    queue_limit: 0\n    retries: 1\n"
                                   "    retry_delay: const(98 s)\n    service: const(3 s)\n    "
                                   "classes:\n"
                                   "      - {name: a, count: 1, request: {cpus: 1}}\n"
                                   "      - {name: b, count: 1, at: 2s, request: {cpus: 1}}\n";
    struct seen *seen = run_jobs(text, NULL, NULL);
    CHECK_STR(seen->outcome[1], "done");
    CHECK_I64(seen->rows[1].end_ns, 103 * SIM_NS_PER_S);
    free(seen);
}

/* Four jobs of 20 s on one CPU: three wait at 10 s, when measuring begins, and never as many again.
 */
static void who_waits_when_measuring_begins_counts(void)
{
    static const char text[] =
        "schema: 2\nname: t\nwarmup: 10 s\ncluster: {nodes: [{name: n, cpus: 1}]}\n"
        "jobs: [{name: w, classes: [{name: a, count: 4, run_time: 20 s, request: {cpus: 1}}]}]\n";
    struct sim_run_summary *summary = test_run_text(text, NULL);
    CHECK_NEAR(test_value(summary, "queue.len.max", ""), 3, 0);
    free(summary);
}

/* One after the other, 10 min each, due after 20 min: the second ends when it is due and is not
 * late, the third is. */
static void who_ends_when_it_is_due_is_not_late(void)
{
    static const char text[] =
        HEAD("{name: n, cpus: 1}") "    deadline: 20 min\n    classes:\n"
                                   "      - {name: a, count: 3, at: 0 s, service: const(10 min), "
                                   "request: {cpus: 1}}\n";
    struct sim_run_summary *summary = test_summary();
    free(run_jobs(text, "sched.queueing=fcfs", summary));
    CHECK_NEAR(test_value(summary, "sla.violation_rate", ""), 1 / 3.0, 1e-12);
    free(summary);
}

/* It started at once and waits since its node was lost: that is no wait for a first start, though
 * the job behind it, which came at 20 s, has waited for 30 s when the run is cut off. */
static void a_lost_job_does_not_wait_for_its_first_start(void)
{
    static const char text[] = HEAD(
        "{name: n, cpus: 1}") "    classes:\n"
                              "      - {name: lost, count: 1, at: 0 s, service: const(99 s), "
                              "request: {cpus: 1}}\n"
                              "      - {name: late, count: 1, at: 20 s, service: const(1 s), "
                              "request: {cpus: 1}}\n"
                              "timeline: [{at: 10 s, action: node_down, node: n}]\nhorizon: 50 s\n";
    struct sim_run_summary *summary = test_summary();
    free(run_jobs(text, "sched.queueing=fcfs", summary));
    CHECK_NEAR(test_value(summary, "wait.job.p99", "lost"), 0, 0);
    CHECK_NEAR(test_value(summary, "wait.job.p99", ""), 30, 1e-9);
    free(summary);
}

static const struct test tests[] = {
    { "published_example_starts_when_it_should", published_example_starts_when_it_should },
    { "shortest_goes_first", shortest_goes_first },
    { "a hold has a bound", a_hold_has_a_bound },
    { "gang_starts_whole_or_not_at_all", gang_starts_whole_or_not_at_all },
    { "refused_job_comes_again", refused_job_comes_again },
    { "impatient_job_leaves_and_others_move_up", impatient_job_leaves_and_others_move_up },
    { "job_begins_anew_when_its_node_is_lost", job_begins_anew_when_its_node_is_lost },
    { "gpu_memory_is_a_limit_of_its_own", gpu_memory_is_a_limit_of_its_own },
    { "group_finds_a_whole_node_or_waits_for_one", group_finds_a_whole_node_or_waits_for_one },
    { "who may try once more is refused then", who_may_try_once_more_is_refused_then },
    { "who ends when it is due is not late", who_ends_when_it_is_due_is_not_late },
    { "a lost job does not wait for its first start",
      a_lost_job_does_not_wait_for_its_first_start },
    { "who comes back to a full queue fails a second time",
      who_comes_back_to_a_full_queue_fails_a_second_time },
    { "a run waits for who is away", a_run_waits_for_who_is_away },
    { "who waits when measuring begins counts", who_waits_when_measuring_begins_counts },
};
TEST_MAIN(tests)
