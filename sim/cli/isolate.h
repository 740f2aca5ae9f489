/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls in a process of their own: a crash, an endless loop or hunger for memory ends that process
 * with a sentence, never the program or its database.
 *
 * Code of modules runs in a sandbox (sim/port/sandbox.h). A run into which modules were loaded
 * (--in-process) has a plain process and a watchdog: that guards against mistakes alone.
 */
#ifndef SIM_CLI_ISOLATE_H
#define SIM_CLI_ISOLATE_H

#include "sim/port/sandbox.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    SIM_ISOLATE_TIMEOUT_S = 60 /* default: without one more event */
};

/* A watchdog on a counter in this process. When it has not moved for `timeout_s` seconds of wall
 * time, `expired` is called in a signal handler and has to end the process. The struct must live
 * until the process ends. `counter` may point to NULL, which counts as a value. */
struct sim_watchdog {
    const uint64_t *volatile const *counter;
    void (*expired)(void *state);
    void *state;
    uint32_t timeout_s;
    uint32_t ticks; /* seconds without change */
    uint64_t seen;
};
bool sim_watchdog_start(struct sim_watchdog *watchdog);

/* Calls in a child process that is as free as this one. Returns what the call returned (0 or more),
 * or -1 with a sentence when the child died or ended itself. */
int sim_isolate_call(int (*call)(void *state), void *state, char message[SIM_SANDBOX_TEXT]);

/* A call that runs code of a module, in a sandbox. */
struct sim_isolated_call {
    int (*call)(void *state);
    void *state;
    const void *page; /* shared memory that it writes to, or NULL */
    uint32_t timeout_s;
    bool keeps_output; /* it prints to our standard output */
};
/* The same, also -1 when it took longer. */
int sim_isolate_module(const struct sim_isolated_call *call, char message[SIM_SANDBOX_TEXT]);

#endif
