/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The world: one run of one scenario. Everything that changes hangs off it; two worlds live side by
 * side in one process without knowing each other.
 *
 * It owns clock, truth, meter, workers, port, faults, timeline and samples, and loops over drivers
 * (driver.h), which own the work; it knows none of them by name. Events go to the driver in their
 * upper byte, those with 0 there are its own. end.c says when a run is over.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "sim/port/port.h"
#include "sim/record/run_options.h"
#include "sim/world/driver.h"

struct sim_world {
    const struct sim_scenario *scenario;
    const struct sim_run_options *options;
    struct sim_context context;
    struct sim_workers *workers;
    struct sim_port *port;
    struct sim_driver *drivers; /* from 1 on: 0 is the world itself, as in kinds of events */
    uint32_t driver_count;
    double work_total;              /* of all pools */
    uint32_t *node_fault;           /* depth of reasons why a node is down */
    bool *is_active;                /* by timeline entry */
    uint32_t *failures[SIM_FAULTS]; /* so far, by entity: names the streams */
    uint64_t failed[SIM_FAULTS];
    struct sim_supply_run *supply; /* NULL = all nodes are there for good */
    struct sim_spot_run *spot;     /* NULL = nobody takes nodes back */
    uint32_t *losses;              /* by node, of it and its GPUs: names their detections */
    double *straggle;              /* by node: times as long; 1 = as it should be */
    sim_handle *power_look;        /* by node: the next look at its power */
    struct sim_drift_run *drifts;  /* NULL = nothing drifts */
    int64_t sample_ns;
    uint64_t samples;
    int64_t features_ns; /* until when features were sampled */
    uint64_t handled;
    uint64_t stirred_digest;    /* result digest when it changed last */
    int64_t stirred_ns;         /* and when that was */
    uint32_t decisions_in_vain; /* since then */
    sim_handle timer;           /* the decision that the interval brings next */
    int64_t timed_ns;           /* when it brought the last */
    int32_t heads_down;         /* outages of the head that last: nothing is decided */
    uint32_t causes_kept;       /* what it would have been asked for meanwhile */
    bool is_still;              /* and nothing will change it */
    bool is_interrupted;
};

/* Work is left that nothing will ever do. */
struct sim_early_end {
    const struct sim_driver *who; /* whose work */
    const char *why;              /* NULL = the run did not end early */
    int64_t at_ns;
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

/* end.c: every driver that has an end has done its work. */
bool sim_world_is_done(const struct sim_world *world);
/* Nothing more is to be simulated, after `event`. */
bool sim_world_is_over(const struct sim_world *world, const struct sim_event *event);
void sim_world_note_event(struct sim_world *world, const struct sim_event *event);
struct sim_early_end sim_world_early_end(const struct sim_world *world);
/* Simulated end: last completion, or the clock. */
int64_t sim_world_end_ns(const struct sim_world *world);
/* Units of work inside, over all drivers. */
uint64_t sim_world_inside(const struct sim_world *world);
/* What part of all work a pool is: the reference mix. */
double sim_world_mix(const struct sim_world *world, const struct sim_pool *pool);
weir_status sim_world_check(const struct sim_world *world, struct weir_error *error);

/* Closes the interval of a sample. */
weir_status sim_world_sample(struct sim_world *world, int64_t now_ns);

/* The next timed decision comes an interval after the last one, or now if that is over. */
void sim_world_restart_timer(struct sim_world *world);

/* After workers came or went: every driver goes on. */
weir_status sim_world_settle(struct sim_world *world);

/* metered.c */
weir_status sim_world_create_meter(struct sim_world *world);

/* services.c: what the world does for drivers. */
extern const struct sim_driver_services sim_world_services;

/* faults.c: things fail and come back, workers crash, losses are heard of. */
weir_status sim_faults_create(struct sim_world *world);
void sim_faults_destroy(struct sim_world *world);
weir_status sim_faults_begin(struct sim_world *world);
weir_status sim_faults_fail(struct sim_world *world, const struct sim_event *event);
weir_status sim_faults_repair(struct sim_world *world, const struct sim_event *event);
weir_status sim_faults_detect(struct sim_world *world, const struct sim_event *event);
weir_status sim_faults_worker_crash(struct sim_world *world, struct sim_worker *worker);
void sim_faults_results(const struct sim_world *world, struct sim_results *out);

/* bounds.c */
/* What plans of the only pipeline give at most, into `end`; as it was = nothing is said. */
weir_status sim_world_plan_bounds(const struct sim_world *world, struct sim_meter_end *end);
/* Rows: how much of the GPU time could have been accepted, where jobs are lost. */
weir_status sim_world_load_bounds(const struct sim_world *world, struct sim_results *out);
/* Down for one more reason, or for one less. */
weir_status sim_faults_set_node(struct sim_world *world, uint32_t node, bool is_down);

/* The same for a node that comes or goes as it was asked for: the scheduler knows at once, and
 * whoever calls settles. */
weir_status sim_faults_switch_node(struct sim_world *world, uint32_t node, bool is_down);

/* power.c: looks at the nodes where other power may be drawn now. */
weir_status sim_world_power(struct sim_world *world);
/* The GPUs of a node may draw so much together; 0 = as much as they can. */
void sim_world_cap_power(struct sim_world *world, uint32_t node, double cap_w);

/* timeline.c: what the scenario says happens. */
void sim_timeline_expect(struct sim_world *world); /* before any work begins */
weir_status sim_timeline_begin(struct sim_world *world);
weir_status sim_timeline_apply(struct sim_world *world, uint32_t index);
weir_status sim_timeline_end(struct sim_world *world, uint32_t index);
/* Product of the factors in force of this action on this target; 1 = none. */
double sim_timeline_factor(const struct sim_world *world, uint32_t action, uint32_t target);

/* memory.c: who dies where memory ran out. */
weir_status sim_memory_relieve(struct sim_world *world);
weir_status sim_memory_look(struct sim_world *world, uint32_t node);

/* drift.c: how long everything takes wanders. */
weir_status sim_drift_begin(struct sim_world *world);
weir_status sim_drift_step(struct sim_world *world, uint32_t index);
void sim_drift_clear(struct sim_world *world);
/* By what drift makes a node slow; 1 = nothing drifts. */
double sim_drift_factor(const struct sim_world *world, uint32_t node);

/* pace.c: a node is as slow as the timeline, its own straggling and drift make it together; what
 * runs there goes on so. */
weir_status sim_world_pace_node(struct sim_world *world, uint32_t node);

#endif
