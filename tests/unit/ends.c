/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a run ends: done, at its horizon, or early because nothing will ever do the work left. */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 2 nodes of 2 CPUs; the node n-0 goes for good at `down`. */
#define CLUSTER                                                                                    \
    "schema: 2\nname: e\ncluster:\n  nodes:\n    - {name: n, cpus: 2, count: 2}\n"                 \
    "sched: {placement: first_fit"
#define LOST(down) "timeline:\n  - {at: " down ", action: node_down, node: n-0}\n"
#define PIPELINE                                                                                   \
    ", scaling: {policy: fixed, interval: 30 s}}\n"                                                \
    "pipelines:\n  - name: p\n    restart: decide\n    input: {items: 50}\n"                       \
    "    stages:\n      - {name: a, cpus: 1, workers: 1, service: 4 s}\n"
#define JOBS "}\n" JOBS_ALONE
#define JOBS_ALONE                                                                                 \
    "jobs:\n  - name: w\n    run_time: 30 s\n    arrivals: {rate: 1}\n    count: 10\n"             \
    "    classes:\n      - {name: g, request: {cpus: 2}, members: 2}\n"

static void check_early(const char *text, const char *sets, double early_s, const char *message)
{
    struct sim_run_summary *summary = test_run_text(text, sets);
    CHECK_I64(summary->status, WEIR_OK);
    CHECK_STR(summary->outcome, "ended early");
    CHECK_STR(summary->message, message);
    CHECK_NEAR(summary->early_s, early_s, 1e-9);
    CHECK_NEAR(test_value(summary, "run.ended_early", ""), 1, 0);
    CHECK(isnan(summary->completion_s));
    free(summary);
}

static void check_not_early(const char *text, const char *sets, const char *outcome)
{
    struct sim_run_summary *summary = test_run_text(text, sets);
    CHECK_STR(summary->outcome, outcome);
    CHECK_STR(summary->message, "");
    CHECK(isnan(summary->early_s));
    CHECK_NEAR(test_value(summary, "run.ended_early", ""), 0, 0);
    free(summary);
}

static void work_done_or_a_horizon_is_no_early_end(void)
{
    check_not_early(CLUSTER PIPELINE LOST("10 s"), NULL, "complete");
    check_not_early(CLUSTER PIPELINE LOST("10 s"), "horizon=40s", "horizon");
    check_not_early(CLUSTER JOBS, NULL, "complete");
    check_not_early(CLUSTER JOBS, "horizon=90s", "horizon");
    /* a node that comes back is worth waiting for */
    check_not_early(CLUSTER JOBS LOST("100 s") "  - {at: 9 h, action: node_up, node: n-0}\n", NULL,
                    "complete");
    /* and a task of many hours is no standstill */
    check_not_early(CLUSTER PIPELINE, "pipelines.p.stages.a.service=9h pipelines.p.input.items=2",
                    "complete");
}

/* The gang of two nodes never finds room again; the sixth or so was running. */
static void jobs_that_can_never_start_end_the_run(void)
{
    static const char message[] = "jobs w at 100 s: work waits, but nothing will start it";
    check_early(CLUSTER JOBS LOST("100 s"), NULL, 100, message);
    check_early(CLUSTER JOBS LOST("100 s"), "horizon=2h", 100, message);
}

/* A trace whose last jobs still ran when it ended: they hold their room for good. */
static void waiting_behind_jobs_without_an_end_is_no_early_end(void)
{
    FILE *file = fopen("ends.csv", "w");
    CHECK(file != NULL);
    if (file == NULL)
        return;
    (void)fputs("name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
                "deletion_time,scheduled_time\n"
                "a,2000,0,0,0,,LS,Running,0,12537496,0\nb,2000,0,0,0,,LS,Running,1,12537496,1\n"
                "c,2000,0,0,0,,LS,Running,2,12537496,2\n",
                file);
    CHECK_I64(fclose(file), 0);
    check_not_early(CLUSTER "}\njobs:\n  - {name: w, trace: ends.csv, format: openb}\n", NULL,
                    "complete");
    CHECK_I64(remove("ends.csv"), 0);
}

/* Whatever the rule of flow: 20 items of 4 s are done when both nodes are gone at 82 s. */
static void a_pipeline_that_nothing_will_start_ends_the_run(void)
{
    static const char text[] =
        CLUSTER PIPELINE LOST("82 s") "  - {at: 82 s, action: node_down, node: n-1}\n";
    static const char *const rules[] = { "runtime", "event", "tick" };
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        char set[80];
        (void)snprintf(set, sizeof set, "pipelines.p.semantics=%s pipelines.p.restart=next_plan",
                       rules[i]);
        if (i > 0)
            *strchr(set, ' ') = '\0';
        check_early(text, set, 82, "pipeline p at 82 s: work waits, but nothing will start it");
    }
    /* 30 decisions in vain are too few to say so before the horizon */
    check_not_early(text, "horizon=900s", "horizon");
}

/* Who gave up first is named; the other work goes on to its end. */
static void the_rest_goes_on_when_one_kind_of_work_gives_up(void)
{
    static const char text[] = CLUSTER PIPELINE JOBS_ALONE LOST("10 s");
    struct sim_run_summary *summary =
        test_run_text(text, "pipelines.p.restart=same_place jobs.w.classes.g.members=1");
    CHECK_STR(summary->outcome, "ended early");
    CHECK(strstr(summary->message, "pipeline p at 10.03 s: tasks wait, but every worker was given "
                                   "up") != NULL);
    CHECK_NEAR(test_value(summary, "jobs.done", ""), 10, 0);
    CHECK(summary->simulated_s > 200);
    free(summary);
}

/* How far runs say they are, as their jobs end. */
struct far {
    struct sim_progress told;
    double horizon_s; /* 0 = time says nothing */
    double least, most, last;
    uint32_t seen;
};

static void see_how_far(void *state, const struct sim_job_row *row)
{
    struct far *far = state;
    (void)row;
    CHECK(far->told.fraction >= far->last && far->told.fraction <= 1);
    if (far->horizon_s > 0)
        CHECK_NEAR(far->told.fraction, far->told.simulated_s / far->horizon_s, 1e-9);
    far->last = far->told.fraction;
    if (far->seen++ == 0)
        far->least = far->last;
    far->most = far->last;
}

static void run_far(const char *text, const char *sets, struct far *far)
{
    struct sim_run_summary *summary = test_summary();
    struct sim_scenario *scenario = test_scenario(text, sets);
    const struct sim_observer observer = { .job = see_how_far, .state = far };
    const struct sim_run_options options = { .seed = 1,
                                             .variant = "test",
                                             .export_at_s = (double)NAN,
                                             .listen = test_listen,
                                             .listener = summary,
                                             .progress = &far->told,
                                             .observer = &observer };
    CHECK(scenario != NULL && sim_run(scenario, &options, summary) == WEIR_OK);
    free(summary);
    sim_scenario_destroy(scenario);
}

/* It never goes back; work without an end is as far as the time, whatever else is done. */
static void a_run_is_as_far_as_its_work_or_its_time(void)
{
    struct far counted = { .last = 0 };
    struct far endless = { .horizon_s = 20000 };
    run_far(CLUSTER JOBS, "jobs.w.count=20000 jobs.w.run_time=100ms", &counted);
    CHECK(counted.seen == 20000 && counted.least < 0.1 && counted.most > 0.9);
    CHECK(counted.told.simulated_s > 0 && counted.told.events > 20000);
    run_far(CLUSTER PIPELINE "jobs:\n  - name: w\n    run_time: 100 ms\n    arrivals: {rate: 1}\n"
                             "    classes:\n      - {name: g, request: {cpus: 1}}\n",
            "pipelines.p.input.items=5 horizon=20000s", &endless);
    CHECK(endless.seen > 19000 && endless.least < 0.1 && endless.most > 0.9);
    CHECK_NEAR(endless.told.fraction, 1, 0);
    CHECK_NEAR(endless.told.simulated_s, 20000, 0);
}

static const struct test tests[] = {
    { "a run is as far as its work or its time", a_run_is_as_far_as_its_work_or_its_time },
    { "work done or a horizon is no early end", work_done_or_a_horizon_is_no_early_end },
    { "jobs that can never start end the run", jobs_that_can_never_start_end_the_run },
    { "waiting behind jobs without an end is no early end",
      waiting_behind_jobs_without_an_end_is_no_early_end },
    { "a pipeline that nothing will start ends the run",
      a_pipeline_that_nothing_will_start_ends_the_run },
    { "the rest goes on when one kind of work gives up",
      the_rest_goes_on_when_one_kind_of_work_gives_up },
};
TEST_MAIN(tests)
