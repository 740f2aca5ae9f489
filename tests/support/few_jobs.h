/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A few random jobs on a few nodes of one GPU each, in whole seconds, as the program runs them:
 * what plain schedulers written down in tests are compared with.
 */
#ifndef TESTS_SUPPORT_FEW_JOBS_H
#define TESTS_SUPPORT_FEW_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FEW_JOBS_MOST = 12, FEW_JOBS_GPUS = 6, FEW_JOBS_LONGEST = 12 };

struct few_job {
    int submit, run, gpus, estimate;
    int start, promised; /* the first start, -1 = none; and what a test makes of it, -1 at first */
    int64_t end_ns;
};

struct few_jobs {
    struct few_job job[FEW_JOBS_MOST];
    size_t count;
};

/* Ordered by submission. Estimates are the run times, or up to 5 s more. */
void few_jobs_draw(uint64_t seed, bool is_exact, struct few_jobs *jobs);

/* Who is preempted goes on with all that it has done. */
void few_jobs_run(struct few_jobs *jobs, const char *policy);

#endif
