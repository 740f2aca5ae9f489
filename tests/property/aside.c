/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A job that no nodes there are can hold, and that waits (sched.infeasible), changes nothing for
 * anybody under any queueing policy: two classes of jobs are over when they are without it.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"
#include "weir/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORK                                                                                       \
    "schema: 2\nname: t\nseed: 3\nhorizon: 6 h\n"                                                  \
    "cluster: {nodes: [{name: n, count: 3, cpus: 32, gpus: {h100: 4}}]}\n"                         \
    "sched: {placement: first_fit, infeasible: wait}\n"                                            \
    "jobs:\n"                                                                                      \
    "  - name: a\n    run_time: exp(20 min)\n    arrivals: {rate: 30/h}\n    count: 100\n"         \
    "    estimate: \"uniform(1, 2)\"\n    preemption: {keeps: all, restart: 10 s}\n"               \
    "    classes:\n      - {name: one, request: {gpus: 1}, weight: 3}\n"                           \
    "      - {name: two, request: {gpus: 3}, members: 2}\n"                                        \
    "  - name: b\n    run_time: 1 h\n    classes:\n"                                               \
    "      - {name: some, count: 1, at: 0 s, request: {gpus: 0.01}}\n"
#define NEVER                                                                                      \
    "      - {name: never, count: 1, at: 0 s, members: 4, request: {gpus: 4}}\n"                   \
    "      - {name: group, count: 1, at: 0 s, placement_group: strict_pack, request: {gpus: 3},\n" \
    "         groups: {more: {members: 2, request: {gpus: 1}}}}\n"

static const char *const metrics[] = { "jct.mean", "wait.job.max", "jobs.done", "jobs.preempted" };
enum { METRICS = sizeof metrics / sizeof metrics[0] };

static void nobody_is_later_for_one_that_fits_nowhere(void)
{
    for (uint32_t q = 0; q < weir_queueing_count(); q++) {
        char set[80];
        (void)snprintf(set, sizeof set, "sched.queueing=%s", weir_queueing_at(q)->name);
        struct sim_run_summary *alone = test_run_text(WORK, set);
        struct sim_run_summary *beside = test_run_text(WORK NEVER, set);
        for (size_t m = 0; m < METRICS; m++) {
            const double one = test_value(alone, metrics[m], "a/one");
            const double two = test_value(alone, metrics[m], "a/two");
            bool is_same = !(one < test_value(beside, metrics[m], "a/one")) &&
                           !(one > test_value(beside, metrics[m], "a/one")) &&
                           !(two < test_value(beside, metrics[m], "a/two")) &&
                           !(two > test_value(beside, metrics[m], "a/two"));
            is_same = is_same && (strcmp(metrics[m], "jobs.done") != 0 || one + two > 10);
            if (!CHECK(is_same))
                printf("%s: %s is another one\n", weir_queueing_at(q)->name, metrics[m]);
        }
        CHECK_NEAR(test_value(beside, "jobs.started", "b/never"), 0, 0);
        CHECK_NEAR(test_value(beside, "jobs.started", "b/group"), 0, 0);
        free(alone);
        free(beside);
    }
}

static const struct test tests[] = {
    { "nobody is later for one that fits nowhere", nobody_is_later_for_one_that_fits_nowhere },
};
TEST_MAIN(tests)
