/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The oracle of jobs in time: a runner of its own that decides, places and ends jobs without
 * workers, port, host or meter. It takes devices straight from the truth.
 *
 *            +---------------- refused, retries left: comes again ----------------+
 *            v                                                                    |
 *   arrives -+-> WAITING -- placed --> RUNNING -- run time over --> done          |
 *                  |  |                  |                                        |
 *                  |  +-- patience over: left        node lost: WAITING again     |
 *                  +-- no room to wait ----------------> AWAY --------------------+
 *                                                          no retry left: refused
 *
 * At one instant: ends, then faults and cuts, then arrivals and lost patience, then one pass, then
 * refusals of those that may not wait. It knows no timeline, no speed of a device, no decision that
 * takes time and no view that is late: scenarios with those are not its matter.
 *
 * It shares with the product what jobs are (sim/jobs/job_stream.h, target.h), the truth
 * (sim/cluster), the engine, and libweir's policies.
 */
#ifndef TESTS_JOB_ORACLE_H
#define TESTS_JOB_ORACLE_H

#include "tests/support/job_rows.h"

weir_status oracle_jobs_run(const struct sim_scenario *scenario, struct test_job_rows *rows,
                            struct weir_error *error);

#endif
