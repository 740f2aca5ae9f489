/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two kinds of work in one world: pipelines, and a kind the world has never heard of. */
#include "tests/support/check.h"
#include "tests/support/runs.h"
#include "tests/support/toy_driver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct sim_driver_ops *const both[] = { &sim_pipeline_driver, &test_toy_driver, NULL };

/* A pipeline of one worker that has done 20 items after 200 s, beside the batch. */
#define SCENARIO                                                                                   \
    "schema: 1\nname: both\n"                                                                      \
    "cluster: {nodes: [{name: n, cpus: 5, count: 2}]}\n"                                           \
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 20 s}}\n"                    \
    "pipelines:\n  - name: p\n    semantics: event\n    input: {items: 20}\n"                      \
    "    stages: [{name: a, cpus: 1, workers: 1, service: 10}]\n"

/* Adds up when items of the pipeline, whose stage comes first, were done. */
static void add_end(void *state, const struct sim_span *span)
{
    int64_t *sum_ns = state;
    *sum_ns += span->stage == 0 ? span->end_ns * (int64_t)(span->item + 1) : 0;
}

static struct sim_run_summary *run(const char *text, const struct sim_driver_ops *const *drivers,
                                   int64_t *sum_ns)
{
    const struct sim_observer observer = { .span = add_end, .state = sum_ns };
    struct sim_scenario *scenario = test_scenario(text, NULL);
    struct sim_run_summary *summary = test_summary();
    const struct sim_run_options options = { .seed = 1,
                                             .check_always = true,
                                             .export_at_s = (double)NAN,
                                             .drivers = drivers,
                                             .listen = test_listen,
                                             .listener = summary,
                                             .observer = sum_ns == NULL ? NULL : &observer };
    CHECK(scenario != NULL && summary != NULL);
    if (scenario != NULL && summary != NULL) {
        CHECK_I64(sim_run(scenario, &options, summary), WEIR_OK);
        CHECK_STR(summary->message, "");
    }
    sim_scenario_destroy(scenario);
    return summary;
}

/* Four workers do 25 tasks of 10 s each after 5 s of set-up; the pipeline is over before. */
static void a_new_kind_of_work_runs_beside_pipelines(void)
{
    struct sim_run_summary *summary = run(SCENARIO, both, NULL);
    CHECK_STR(summary->outcome, "complete");
    CHECK_NEAR(summary->completion_s, TOY_SETUP_S + TOY_TASKS / TOY_WORKERS * TOY_TASK_S, 1e-9);
    CHECK_NEAR(test_value(summary, "toy.tasks", "toy"), TOY_TASKS, 0);
    CHECK_NEAR(test_value(summary, "lat.e2e.max", "p"), 10, 1e-9);
    CHECK_NEAR(test_value(summary, "worker.created", ""), 1 + TOY_WORKERS, 0);
    free(summary);
}

/* The first node takes the pipeline's worker and the batch with it; both go on on the other one,
 * what was in hand begins again, and nothing is done twice or lost (checked at every event). */
static void a_lost_node_takes_every_kind_of_work(void)
{
    struct sim_run_summary *summary =
        run(SCENARIO "timeline: [{at: 58, for: 1 h, action: node_down, node: n-0}]\n", both, NULL);
    CHECK_STR(summary->outcome, "complete");
    /* 5 rounds by 58 s; new workers by the plan at 60 s, ready at 65 s, do the other 20 rounds */
    CHECK_NEAR(summary->completion_s, 65 + 20 * TOY_TASK_S, 1e-9);
    CHECK_NEAR(test_value(summary, "toy.tasks", "toy"), TOY_TASKS, 0);
    CHECK_NEAR(test_value(summary, "worker.created", ""), 2 * (1 + TOY_WORKERS), 0);
    free(summary);
}

/* Each item of the pipeline is done when it is done without the batch. */
static void a_neighbour_changes_no_work(void)
{
    int64_t alone_ns = 0;
    int64_t beside_ns = 0;
    struct sim_run_summary *alone = run(SCENARIO, NULL, &alone_ns);
    struct sim_run_summary *beside = run(SCENARIO, both, &beside_ns);
    CHECK_NEAR(alone->completion_s, 200, 1e-9);
    CHECK(alone_ns > 0);
    CHECK_I64(beside_ns, alone_ns);
    CHECK(isnan(test_value(alone, "toy.tasks", "toy")));
    free(alone);
    free(beside);
}

static weir_status create_late(const struct sim_driver_config *config, void **self,
                               struct weir_error *error)
{
    (void)config;
    (void)self;
    return weir_fail(error, WEIR_EINVARIANT, "too late");
}

static uint32_t too_many(const struct sim_scenario *scenario)
{
    (void)scenario;
    return SIM_DRIVERS_MAX + 1;
}

static void more_workloads_than_events_can_name_are_refused(void)
{
    static const struct sim_driver_ops crowd = { .kind = "crowd",
                                                 .count = too_many,
                                                 .create = create_late };
    static const struct sim_driver_ops *const registry[] = { &crowd, NULL };
    struct sim_scenario *scenario = test_scenario(SCENARIO, NULL);
    struct sim_run_summary *summary = test_summary();
    const struct sim_run_options options = { .seed = 1,
                                             .export_at_s = (double)NAN,
                                             .drivers = registry };
    CHECK(scenario != NULL && summary != NULL);
    if (scenario != NULL && summary != NULL) {
        CHECK_I64(sim_run(scenario, &options, summary), WEIR_ERANGE);
        CHECK_STR(summary->message, "256 workloads in one scenario, 255 are possible");
    }
    free(summary);
    sim_scenario_destroy(scenario);
}

static const struct test tests[] = {
    { "a new kind of work runs beside pipelines", a_new_kind_of_work_runs_beside_pipelines },
    { "a lost node takes every kind of work", a_lost_node_takes_every_kind_of_work },
    { "a neighbour changes no work", a_neighbour_changes_no_work },
    { "more workloads than events can name are refused",
      more_workloads_than_events_can_name_are_refused },
};

TEST_MAIN(tests)
