/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much a file may ask for before it is refused: what protects from files that are damaged or
 * meant badly. Each can be raised with one option of the command line (--limit).
 */
#ifndef WORKLOADS_LIMITS_H
#define WORKLOADS_LIMITS_H

#include <stdint.h>

/* 0 = the default. */
struct wl_limits {
    uint64_t unpacked_mib; /* that a small compressed file may unpack to */
    uint64_t scenario_mib; /* of the text of a scenario */
};

/* A compressed file that gives more than both is none that somebody made of a log: a table of jobs
 * shrinks 5 to 30 times. What is unpacked already has no such limit. */
enum { WL_UNPACKED_MIB = 32, WL_UNPACKED_TIMES = 200, WL_SCENARIO_MIB = 8 };

static inline uint64_t wl_limit(uint64_t wanted, uint64_t otherwise)
{
    return wanted > 0 ? wanted : otherwise;
}

#endif
