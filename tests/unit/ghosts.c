/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory of GPUs that a killed worker leaves behind, by hand. */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <stdio.h>
#include <stdlib.h>

/* A model of 60 GB on the only GPU (80 GiB) has an item of 12 GB in hand from 1 s on, for 10 s. At
 * 5 s another one of 9 GB comes for 2 s: more than the 20 GB of the node, and Linux kills the
 * model. Plans are made every 10 s. */
static double end_of(const char *model, const char *reap, const char *timeline, double refused)
{
    char text[2000];
    double end_s = 0;
    (void)snprintf(
        text, sizeof text,
        "schema: 2\nname: t\nhorizon: 200 s\n"
        "cluster:\n  nodes: [{name: n, cpus: 8, ram: 20 GB, gpus: {h100: 1}}]\n"
        "  memory: oom_killer\n  gpu_reap: %s\n"
        "sched: {placement: first_fit, scaling: {policy: fixed, interval: 10 s}}\n"
        "pipelines:\n"
        "  - name: model\n    semantics: event\n    backpressure: none\n"
        "    input: {items: 1, arrivals: const(1 s), bytes_per_item: 12 GB}\n"
        "    stages: [{name: a, cpus: 1, gpus: 1, gpu_memory: %s, workers: 1, service: 10 s}]\n"
        "  - name: other\n    semantics: event\n    backpressure: none\n"
        "    input: {items: 1, arrivals: const(5 s), bytes_per_item: 9 GB}\n"
        "    stages: [{name: b, cpus: 1, workers: 1, service: 2 s}]\n%s",
        reap, model, timeline);
    struct sim_run_summary *summary = test_watch_text(text, NULL);
    CHECK_NEAR(test_value(summary, "oom.host.count", ""), 1, 0);
    CHECK_NEAR(test_value(summary, "sched.refused", ""), refused, 0);
    end_s = summary->completion_s;
    free(summary);
    return end_s;
}

/* It may be there again from 10 s on, and from 40 s on if what it had is there until 35 s. */
static void a_gpu_is_full_until_the_dead_are_reaped(void)
{
    CHECK_NEAR(end_of("60 GB", "0 s", "", 0), 20, 1e-9);
    CHECK_NEAR(end_of("60 GB", "30 s", "", 3), 50, 1e-9);
}

static void two_that_fit_beside_each_other_do_not_wait(void)
{
    CHECK_NEAR(end_of("40 GB", "30 s", "", 0), 20, 1e-9);
}

static void a_node_that_was_down_has_none(void)
{
    static const char down[] = "timeline: [{at: 12 s, for: 3 s, action: node_down, node: n}]\n";
    CHECK_NEAR(end_of("60 GB", "30 s", down, 1), 30, 1e-9);
}

static const struct test tests[] = {
    { "a GPU is full until the dead are reaped", a_gpu_is_full_until_the_dead_are_reaped },
    { "two that fit beside each other do not wait", two_that_fit_beside_each_other_do_not_wait },
    { "a node that was down has none", a_node_that_was_down_has_none },
};
TEST_MAIN(tests)
