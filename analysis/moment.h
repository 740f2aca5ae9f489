/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one reader of moments of a run, for every command: elapsed time (90, 15m, 1h30m), a clock
 * time (14:05, 14:05:30) and a stamp (2026-03-01T14:05:00Z). A clock time is the time of day where
 * the run has a start time, as it is printed there, else time since the start. What lies outside
 * the run is refused.
 */
#ifndef ANALYSIS_MOMENT_H
#define ANALYSIS_MOMENT_H

#include "weir/status.h"

#include <stdbool.h>
#include <stdint.h>

enum an_moment_kind { AN_MOMENT_NONE, AN_MOMENT_ELAPSED, AN_MOMENT_CLOCK, AN_MOMENT_STAMP };

struct an_moment {
    enum an_moment_kind kind;
    double seconds; /* since the start, midnight, or 1970 */
};

/* False when it is none of these. */
bool an_moment_parse(const char *text, struct an_moment *moment);

/* Seconds after a start at start_unix_s (0 = not given), before it < 0. A clock time is of the
 * first day on which it is not before the start. WEIR_EINVAL: a stamp, and no start. */
weir_status an_moment_since(const struct an_moment *moment, int64_t start_unix_s, double *at_s,
                            struct weir_error *error);

/* Seconds after the start of a run from start_unix_s (0 = not given) to end_s; of none they stay as
 * they are. WEIR_EINVAL: outside, or a stamp of a run without a start time. */
weir_status an_moment_in(const struct an_moment *moment, int64_t start_unix_s, double end_s,
                         double *at_s, struct weir_error *error);

#endif
