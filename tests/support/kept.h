/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What runs came to when a file was last reviewed: a line a run, its name, its result digest and a
 * hash of all its results. After an intended change of behaviour: WEIR_UPDATE_GOLDEN=1 (and say why
 * in the commit); what changed is seen with `weir run --format json` before and after.
 *
 * The hash holds the metrics that the file names ("metric NAME"): one that is new changes no line
 * before it is reviewed, one that is gone changes those that had it.
 */
#ifndef TESTS_SUPPORT_KEPT_H
#define TESTS_SUPPORT_KEPT_H

#include "tests/support/results.h"

struct test_kept;

/* A file below tests/; one that is not there has no lines. */
struct test_kept *test_kept_open(const char *relative);
/* The hash of the results that are kept. */
uint64_t test_kept_hash(struct test_kept *kept, const struct sim_run_summary *summary);
/* Checks that the line of this name, which has no blank, has these. */
void test_kept_check(struct test_kept *kept, const char *name, uint64_t digest, uint64_t hash);
/* Checks that every line was asked for. */
void test_kept_close(struct test_kept *kept);

#endif
