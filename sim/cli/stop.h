/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Being told to stop: SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGPIPE mean the same. The first one is
 * counted and lets work end in good order, a second one ends the program at once.
 */
#ifndef SIM_CLI_STOP_H
#define SIM_CLI_STOP_H

#include <signal.h>
#include <sys/types.h>

/* From now on, in this process and those it starts. */
void sim_stop_catch(void);
/* How often it was told. */
const volatile sig_atomic_t *sim_stop_count(void);
/* In a process that `parent` has just started: it ends with its parent, whenever that ended. */
void sim_stop_end_with(pid_t parent);
/* The same, and it may be told to stop as often as somebody likes. */
void sim_stop_follow(pid_t parent);
/* Writing to a pipe that nobody reads ends the program again: results are safe, and shown. */
void sim_stop_release_pipe(void);

#endif
