/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a run is asked beside its scenario: seed and replication, what it is called in the database,
 * who writes, watches and may interrupt it. Nothing here changes a result but the seed and the
 * replication.
 */
#ifndef SIM_RECORD_RUN_OPTIONS_H
#define SIM_RECORD_RUN_OPTIONS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct sim_recorder;
struct sim_result_row;
struct sim_observer;
struct sim_driver_ops;

/* Shared with whoever shows progress; written by the run only. */
struct sim_progress {
    volatile double fraction; /* of items or of simulated time, whichever is further */
    volatile double simulated_s;
    volatile uint64_t events;
    volatile int is_done;
    /* Events handled so far, for a watchdog in the process of the run; NULL outside a run. */
    const uint64_t *volatile handled;
};

struct sim_run_options {
    uint64_t seed;
    uint32_t replication;
    int64_t experiment_id, run_id;
    const char *variant;
    uint32_t variant_order;
    struct sim_recorder *recorder;          /* NULL = nothing is written */
    uint32_t keep;                          /* enum sim_keep; 0 = as the scenario says */
    const volatile sig_atomic_t *interrupt; /* NULL = cannot be interrupted */
    struct sim_progress *progress;          /* NULL = not shown */
    bool check_always;                      /* all invariants after every event (slow; tests) */
    double
        export_at_s; /* write the input of the decision at or after this time and stop; NAN = no */
    FILE *export_to;
    void (*listen)(void *listener, const struct sim_result_row *row); /* results; NULL = nobody */
    void *listener;
    const struct sim_observer *observer;         /* NULL = nobody watches */
    const struct sim_driver_ops *const *drivers; /* NULL = sim_drivers */
};

#endif
