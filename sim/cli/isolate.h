/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code of strangers in a process of its own: a crash, an endless loop or hunger for memory of a
 * plug-in ends that process with a sentence, never the program or its database.
 *
 * Limits hold for the process that takes them and for those it starts. They guard against mistakes,
 * not against attacks: a plug-in may still do what the user may.
 */
#ifndef SIM_CLI_ISOLATE_H
#define SIM_CLI_ISOLATE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SIM_ISOLATE_TIMEOUT_S = 60, /* default: without one more event */
    SIM_ISOLATE_MESSAGE = 256
};

/* No core files, and at most `memory_mib` of memory; 0 = three quarters of the machine's. */
void sim_isolate_limit(uint64_t memory_mib);

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

/* What ended a child, as waitpid says; empty when it ended by itself. */
void sim_isolate_sentence(int wait_state, char message[SIM_ISOLATE_MESSAGE]);

/* Calls in a child process. Returns what the call returned (0 to 100), or -1 with a sentence when
 * the child died, called exit() or took longer than `timeout_s`. */
int sim_isolate_call(int (*call)(void *state), void *state, uint32_t timeout_s,
                     char message[SIM_ISOLATE_MESSAGE]);

#endif
