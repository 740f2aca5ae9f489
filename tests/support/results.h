/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The results of a run in memory, behind its summary: for tests that run without a database.
 */
#ifndef TESTS_SUPPORT_RESULTS_H
#define TESTS_SUPPORT_RESULTS_H

#include "sim/record/record.h"
#include "sim/record/run_summary.h"

struct test_value {
    char metric[96], label[96];
    double value;
};

/* An empty summary with room for results behind it; given back by free. */
struct sim_run_summary *test_summary(void);
/* Keeps a result: `listen` of sim_run_options and sim_results, with such a summary as listener.
 * Those of the wall clock are left out: nothing can be expected of them. */
void test_listen(void *summary, const struct sim_result_row *row);
/* NAN when there is none. */
double test_value(const struct sim_run_summary *summary, const char *metric, const char *label);
/* In their order; NULL after the last. */
const struct test_value *test_value_at(const struct sim_run_summary *summary, size_t index);

#endif
