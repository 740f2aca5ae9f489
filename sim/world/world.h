/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The world: one run of one scenario. Everything that changes hangs off it; two worlds live side by
 * side in one process without knowing each other.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "sim/pipeline/pipeline.h"
#include "sim/port/port.h"

#include <signal.h>

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
    const volatile sig_atomic_t *interrupt; /* NULL = cannot be interrupted */
    struct sim_progress *progress;          /* NULL = not shown */
    bool check_always;                      /* all invariants after every event (slow; tests) */
    double
        export_at_s; /* write the input of the decision at or after this time and stop; NAN = no */
    FILE *export_to;
    const struct sim_observer *observer; /* NULL = nobody watches */
};

struct sim_world {
    const struct sim_scenario *scenario;
    const struct sim_run_options *options;
    struct sim_context context;
    struct sim_worker_pool *pool;
    struct sim_port *port;
    struct sim_pipeline_run **pipelines;
    struct sim_stage_run **stages; /* over all pipelines */
    uint32_t *node_fault;          /* depth of reasons why a node is down */
    bool *is_active;               /* by timeline entry */
    uint32_t *node_failures;       /* failures so far: names the streams */
    int64_t sample_ns;
    uint64_t samples;
    uint64_t handled;
    bool is_interrupted;
};

weir_status sim_world_create(const struct sim_scenario *scenario,
                             const struct sim_run_options *options, struct sim_world **world,
                             struct weir_error *error);
void sim_world_destroy(struct sim_world *world);

/* Schedules what is known at the start and fires events until the work is done, the horizon is
 * reached or the run is interrupted. */
weir_status sim_world_run(struct sim_world *world);
/* The two halves of it: set up time 0, and go on up to and including `until_ns`. */
weir_status sim_world_begin(struct sim_world *world);
weir_status sim_world_advance(struct sim_world *world, int64_t until_ns);

bool sim_world_is_done(const struct sim_world *world);
/* Simulated end: last completion, or the clock. */
int64_t sim_world_end_ns(const struct sim_world *world);
uint64_t sim_world_items_in_system(const struct sim_world *world);
weir_status sim_world_check(const struct sim_world *world, struct weir_error *error);

/* faults.c: nodes fail and come back, workers crash. */
weir_status sim_faults_begin(struct sim_world *world);
weir_status sim_faults_node_fail(struct sim_world *world, uint32_t node);
weir_status sim_faults_node_repair(struct sim_world *world, uint32_t node);
weir_status sim_faults_worker_crash(struct sim_world *world, struct sim_worker *worker);
weir_status sim_faults_setup_failed(struct sim_world *world, struct sim_worker *worker);
weir_status sim_faults_worker_lost(struct sim_world *world, struct sim_worker *worker,
                                   const char *reason);
/* Down for one more reason, or for one less. */
weir_status sim_faults_set_node(struct sim_world *world, uint32_t node, bool is_down);

/* timeline.c: what the scenario says happens. */
weir_status sim_timeline_begin(struct sim_world *world);
weir_status sim_timeline_apply(struct sim_world *world, uint32_t index);
weir_status sim_timeline_end(struct sim_world *world, uint32_t index);

#endif
