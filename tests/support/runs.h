/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running small scenarios inside a test. */
#ifndef TESTS_SUPPORT_RUNS_H
#define TESTS_SUPPORT_RUNS_H

#include "sim/pipeline/pipeline.h"
#include "sim/world/run.h"
#include "tests/support/results.h"

/* Loads a scenario from text (or from a file of the project when `text` begins with "scenarios/" or
 * "tests/"), with sets "path=value" separated by blanks, NULL = none. Prints the diagnostics and
 * returns NULL on failure. */
struct sim_scenario *test_scenario(const char *text, const char *sets);

/* Runs it once without a database, all invariants checked after every event. */
struct sim_run_summary *test_run(const struct sim_scenario *scenario, uint32_t replication,
                                 const struct sim_observer *observer);

/* Loads and runs it; what cannot be loaded fails the case and has an empty summary. */
struct sim_run_summary *test_run_text(const char *text, const char *sets);

/* Likewise, with somebody who watches it; it must run without an error. */
struct sim_run_summary *test_watch_text(const char *text, const struct sim_observer *observer);

/* As test_run, with invariants checked at the end only: for long runs. */
struct sim_run_summary *test_run_fast(const struct sim_scenario *scenario, uint32_t replication,
                                      const struct sim_observer *observer);

/* A stage of a world that runs pipelines. */
const struct sim_stage_run *test_stage(const struct sim_world *world, size_t index);

/* What a policy needs beside its name, as further sets, to be the one that was published. */
const char *test_published_rule(const char *policy);

/* Sets that run scenarios/reference/openb_static.yaml on a trace of the shared material with the
 * order of a seed; `sched` is the policy, and more sets after it if wanted. False = no such trace.
 */
bool test_openb_sets(const char *trace, const char *seed, const char *sched, char *sets,
                     size_t capacity);

#endif
