/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random scenarios of one workload of jobs in time: node mixes, shares, whole and entire GPUs, MIG
 * with and without cutting anew, gangs, placement groups, every queueing policy, limits, retries,
 * patience, failures of nodes, generated classes and traces. Half of them have times on a grid of
 * seconds, so that ends, faults and arrivals meet at one instant.
 */
#ifndef TESTS_SUPPORT_JOB_SCENARIOS_H
#define TESTS_SUPPORT_JOB_SCENARIOS_H

#include <stdint.h>

/* The scenario of a seed as text, malloc'ed; a trace, when it has one, is written to the file
 * `trace`. */
char *test_job_scenario(uint64_t seed, const char *trace);

#endif
