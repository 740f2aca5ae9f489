/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What became of every job of a run, as plain rows that can be hashed and compared.
 *
 * Whoever runs jobs (the product, or an oracle of it) feeds the same two calls, so that a test sees
 * no difference between them but the rows. Rows stand by the number of the job within its
 * workload; the places are those of the last attempt.
 */
#ifndef TESTS_SUPPORT_JOB_ROWS_H
#define TESTS_SUPPORT_JOB_ROWS_H

#include "sim/world/run.h"

struct weir_alloc;

struct test_job_place {
    uint32_t node;
    uint32_t device_count;
    uint64_t devices; /* hash of what it holds of which GPU, in order */
};

struct test_job_row {
    uint64_t job;
    int64_t submit_ns, start_ns, end_ns; /* -1 = never */
    uint32_t attempts;
    uint32_t members;
    char outcome[12];              /* "" = no row came */
    struct test_job_place *places; /* by member; NULL = never placed */
};

struct test_job_rows {
    struct test_job_row *rows; /* by job */
    size_t count, capacity;
    uint64_t result_digest;
};

/* The calls for whoever runs jobs. */
struct sim_job_row;
void test_job_rows_take(struct test_job_rows *rows, const struct sim_job_row *row);
void test_job_rows_place(struct test_job_rows *rows, uint64_t job, uint32_t member,
                         const struct weir_alloc *alloc);
void test_job_rows_clear(struct test_job_rows *rows);

/* Runs the product. What went wrong is in `summary` (may not be NULL). */
weir_status test_job_rows_run(const struct sim_scenario *scenario, bool check_always,
                              struct test_job_rows *rows, struct sim_run_summary *summary);

/* One hash over (workload, job, submit, start, end, outcome, attempts, node of each member),
 * whatever the order in which the rows came. */
uint64_t test_job_rows_hash(const struct test_job_rows *rows, const char *workload);

/* The first job that differs, devices included, told in a sentence; false = all are the same. */
bool test_job_rows_differ(const struct test_job_rows *actual, const struct test_job_rows *expected,
                          char *text, size_t capacity);

#endif
