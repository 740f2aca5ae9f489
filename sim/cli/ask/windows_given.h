/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Windows that somebody gives by --from and --to: before, window and after. What happened in a
 * window is measured while a run runs, exactly, so the runs of the database are repeated with them
 * (docs/windows.md); a run that does not come out the same again is refused.
 */
#ifndef SIM_CLI_WINDOWS_GIVEN_H
#define SIM_CLI_WINDOWS_GIVEN_H

#include "analysis/moment.h"
#include "sim/cli/options.h"

struct sim_windows_given {
    const char *from, *to; /* as they were given; NULL = the start, the end */
};

/* --from TIME, --to TIME: of a struct sim_windows_given. */
extern const struct sim_option_table sim_windows_given_options;

/* What is said of a text that is no moment. */
#define SIM_MOMENT_EXPECTED                                                                        \
    "--from, --to: expected a time as 90, 15m, 1h30m, 14:05:00 or 2026-03-01T14:05:00Z, found "    \
    "'%s'"

bool sim_windows_is_given(const struct sim_windows_given *given);

/* A copy of the database whose windows are these, which is to be removed with unlink(); with no
 * windows given, or an error, `copy` is "". Exit code. */
enum { SIM_WINDOWS_COPY = 96 };
int sim_windows_measure(const char *database, const struct sim_windows_given *given,
                        const struct sim_options *options, char copy[SIM_WINDOWS_COPY]);

/* The same as a setting of a scenario, "windows={...}"; malloc'ed. NULL = out of memory. */
char *sim_windows_setting(const struct sim_windows_given *given);

#endif
