/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs in a host, in a few words. Every decision is followed by the checks of the queue and of the
 * inventory.
 */
#ifndef TESTS_SUPPORT_HOST_JOBS_H
#define TESTS_SUPPORT_HOST_JOBS_H

#include "sched/host/state.h"
#include "tests/support/pipeline.h"

/* Equal nodes of 16 CPUs, and one workload. */
struct weir_host *test_jobs_open(const struct weir_host_config *config, uint32_t nodes,
                                 uint32_t gpus);
struct weir_host_config test_jobs_config(const char *queueing);
/* Ranks of so many CPUs and GPUs each. */
struct weir_rank_group test_rank_group(uint32_t ranks, double cpus, double gpus);
struct weir_job_spec test_job_spec(uint64_t id, const struct weir_rank_group *groups,
                                   uint32_t count);
/* A job of equal ranks of one CPU. */
weir_status test_submit(struct weir_host *host, uint64_t id, uint32_t ranks, double gpus);
void test_jobs_check(struct weir_host *host);
const struct weir_plan *test_decide(struct weir_host *host, uint32_t causes, int64_t now_ns);
/* At the time of the latest call. */
const struct weir_plan *test_pass(struct weir_host *host);
/* The starts of jobs in a plan, "job.rank@node job.rank@node ..." */
struct test_text test_starts(const struct weir_plan *plan);
/* A pass whose starts come true. */
void test_starts_are(struct weir_host *host, const char *expected);
uint32_t test_job_state(struct weir_host *host, uint64_t id);
/* What became of every worker of a job. */
void test_tell_job(struct weir_host *host, uint64_t id, uint32_t kind);
void test_end_job(struct weir_host *host, uint64_t id);

#endif
