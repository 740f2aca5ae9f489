/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a database holds, as results: a value for each column of each table, the sum of its cells
 * with weights that go by their row. A test that keeps them sees a slip in any of them.
 */
#ifndef TESTS_SUPPORT_ROW_TOTALS_H
#define TESTS_SUPPORT_ROW_TOTALS_H

#include "tests/support/results.h"

/* Adds them to the results of the run, but those of the wall clock and of the scenario itself. */
void test_listen_rows(struct sim_run_summary *summary, const char *path);

#endif
