/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Environments of actors by hand: how many bytes go out for which variables, that those of a
 * process are its own, and that one which is missing ends the system.
 */
#include "tests/support/check.h"
#include "tests/support/runs.h"

#include <stdlib.h>

/* Twelve actors on two nodes, made one after the other at a byte a second. */
#define TWELVE                                                                                     \
    "schema: 2\nname: t\nhorizon: 1000 s\n"                                                        \
    "cluster: {nodes: [{name: n, count: 2, cpus: 6}]}\n"                                           \
    "sched: {placement: first_fit, scaling: {policy: fixed, interval: 30 s}}\n"                    \
    "actors:\n  - name: s\n    environment: 0 B\n    creation_bandwidth: 1 B\n"                    \
    "    roles: {worker: {count: 12}}\n"                                                           \
    "    calls: [{from: worker, to: worker, think: 1000 s}]\n"                                     \
    "    variables: {RANK: \"{rank}\"}\n"

static double value_of(const char *sets, const char *metric)
{
    struct sim_run_summary *summary = test_run_text(TWELVE, sets);
    const double found = test_value(summary, metric, "worker");
    free(summary);
    return found;
}

/* RANK=0 to RANK=9 are 7 bytes with the one behind them, RANK=10 and RANK=11 are 8.
 * covers: S4.15 */
static void a_variable_is_as_long_as_its_name_and_what_it_is_for_this_actor(void)
{
    static const struct {
        const char *sets;
        double all, most; /* bytes */
    } environments[] = {
        { NULL, 10 * 7 + 2 * 8, 8 },
        { "actors.s.environment=3B", 10 * 10 + 2 * 11, 11 },
        { "actors.s.variables.RANK='{local_rank}'", 12 * 7, 7 },
        { "actors.s.variables.RANK='{size}'", 12 * 8, 8 },
        { "actors.s.variables.RANK='{rank}of{size}'", 10 * 11 + 2 * 12, 12 },
        { "actors.s.variables.RANK='on-{node}'", 12 * 12, 12 },
        { "actors.s.variables.RANK=0", 12 * 7, 7 },
        { "actors.s.variables.B=x", 10 * 11 + 2 * 12, 12 },
        { "actors.s.roles.worker.variables.RANK=none", 12 * 10, 10 },
        { "actors.s.roles.worker.variables.B=x", 10 * 11 + 2 * 12, 12 },
    };
    for (size_t i = 0; i < sizeof environments / sizeof environments[0]; i++) {
        CHECK_NEAR(value_of(environments[i].sets, "actor.create_p95"), environments[i].all, 1e-6);
        CHECK_NEAR(value_of(environments[i].sets, "actor.env_bytes"), environments[i].most, 0);
    }
}

/* As a rank that cannot join: the first one is made after 7 s. */
static void a_process_without_a_variable_that_it_needs_ends_the_system(void)
{
    struct sim_run_summary *summary = test_run_text(TWELVE, "actors.s.roles.worker.needs=RANK");
    CHECK_NEAR(test_value(summary, "run.ended_early", ""), 0, 0);
    free(summary);
    summary = test_run_text(TWELVE, "actors.s.roles.worker.needs=[RANK,LOCAL_RANK]");
    CHECK_NEAR(test_value(summary, "run.ended_early", ""), 1, 0);
    CHECK_NEAR(test_value(summary, "run.ended_early.at", ""), 7, 1e-6);
    free(summary);
    summary = test_run_text(TWELVE, "actors.s.roles.worker.needs=[RANK,LOCAL_RANK] "
                                    "actors.s.roles.worker.variables.LOCAL_RANK='{local_rank}'");
    CHECK_NEAR(test_value(summary, "run.ended_early", ""), 0, 0);
    free(summary);
}

static const struct test tests[] = {
    { "a variable is as long as its name and what it is for this actor",
      a_variable_is_as_long_as_its_name_and_what_it_is_for_this_actor },
    { "a process without a variable that it needs ends the system",
      a_process_without_a_variable_that_it_needs_ends_the_system },
};
TEST_MAIN(tests)
