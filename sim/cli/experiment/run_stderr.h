/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the process of a run prints to standard error, kept beside its shard: of a run that failed
 * it becomes part of the message, of others it is passed on.
 */
#ifndef SIM_CLI_RUN_STDERR_H
#define SIM_CLI_RUN_STDERR_H

#include "sim/cli/experiment/experiment.h"

enum { SIM_RUN_STDERR = 2000 /* bytes kept, from the end */ };

/* In the process of the run: from now on standard error goes to a file. Where that cannot be made
 * it stays as it is. */
void sim_run_stderr_catch(const struct sim_experiment *experiment, size_t task);
/* In the parent, once that process is over: `message` of a run that failed (NULL = it did not) with
 * what it printed and the command that repeats it; malloc'ed, NULL = it did not fail. The file is
 * gone then. */
char *sim_run_stderr_take(const struct sim_experiment *experiment, size_t task,
                          const char *message);
/* What a run printed whose program was killed goes: it was passed on, or the run comes again. */
void sim_run_stderr_forget(const struct sim_experiment *experiment, size_t task);

#endif
