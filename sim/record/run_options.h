/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a run is asked beside its scenario: seed and replication, what it is called in the database,
 * who writes, watches and may interrupt it. Nothing here changes a result but the seed and the
 * replication.
 */
#ifndef SIM_RECORD_RUN_OPTIONS_H
#define SIM_RECORD_RUN_OPTIONS_H

#include "weir/status.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct sim_recorder;
struct sim_result_row;
struct sim_observer;
struct sim_driver_ops;
struct sim_bound_shelf;

/* Shared with whoever shows progress; written by the run only. */
struct sim_progress {
    volatile double fraction; /* of items or of simulated time, whichever is further */
    volatile double simulated_s;
    volatile uint64_t events;
    volatile int is_done;
    /* Events handled so far, for a watchdog in the process of the run; NULL outside a run. */
    const uint64_t *volatile handled;
};

/* Who sees decisions. */
struct weir_cluster;
struct weir_plan;
struct sim_witness {
    void *self;
    /* What a decision is about to start from, as `weir decide` reads it. `is_enough`: it is not
     * made any more, and the run stops. */
    weir_status (*document)(void *self, const char *text, size_t length, bool *is_enough);
    /* What came of it; NULL = it failed. */
    weir_status (*plan)(void *self, const struct weir_plan *plan,
                        const struct weir_cluster *cluster);
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
    void (*listen)(void *listener, const struct sim_result_row *row); /* results; NULL = nobody */
    void *listener;
    uint32_t policy_timeout_s;      /* for an answer of a policy in a process of its own; 0 = 60 */
    uint64_t policy_memory_mib;     /* of such a process; 0 = three quarters of the machine's */
    uint64_t policy_cpu_s;          /* of the processor, over its life; 0 = a day */
    uint32_t policy_files;          /* that it has open at once; 0 = 64 */
    struct sim_bound_shelf *bounds; /* shared by the runs of an experiment; NULL = none */
    double export_at_s; /* the witness sees decisions at or after this time; NAN = none */
    const struct sim_witness *witness;           /* NULL = nobody sees decisions */
    const struct sim_observer *observer;         /* NULL = nobody watches */
    const struct sim_driver_ops *const *drivers; /* NULL = sim_drivers */
};

#endif
