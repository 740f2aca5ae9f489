/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What something takes: seconds of the processor, and of the clock on the wall. */
#ifndef TESTS_SUPPORT_CLOCK_H
#define TESTS_SUPPORT_CLOCK_H

#include <time.h>

static inline double test_clock_s(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static inline double test_cpu_s(void)
{
    return test_clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

static inline double test_cpu_ns(void)
{
    return test_cpu_s() * 1e9;
}

static inline double test_wall_s(void)
{
    return test_clock_s(CLOCK_MONOTONIC);
}

#endif
