/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The port: where the simulated cluster meets libweir.
 *
 * The only part that knows both. It tells the host what a controller would be told (nodes, stages,
 * measurements, outcomes), asks for decisions, and applies a plan to the truth: stops first, then
 * slots, then starts, each in the plan's order. What the truth refuses comes back to the policy as
 * an outcome and is recorded with its reason.
 */
#ifndef SIM_SCHEDULER_PORT_H
#define SIM_SCHEDULER_PORT_H

#include "sim/pipeline/pipeline.h"

#include <stdio.h>

struct sim_port;

/* `stages` over all pipelines; they must outlive the port. */
struct sim_port_config {
    struct sim_context *context;
    const struct sim_scenario *scenario;
    struct sim_stage_run **stages;
    struct sim_worker_pool *pool;
};

weir_status sim_port_create(const struct sim_port_config *config, struct sim_port **port,
                            struct weir_error *error);
void sim_port_destroy(struct sim_port *port);

weir_status sim_port_measure(struct sim_port *port, const struct weir_measurement *task);
void sim_port_worker_ready(struct sim_port *port, const struct sim_worker *worker, int64_t now_ns);

/* A worker ended without being told to. */
weir_status sim_port_worker_lost(struct sim_port *port, const struct sim_worker *worker);
/* A worker stops because its stage is done, not because of a plan. */
weir_status sim_port_stop_worker(struct sim_port *port, struct sim_worker *worker);
/* runtime: a worker that died starts again under its id, in its place, if the cluster lets it. */
weir_status sim_port_restart_worker(struct sim_port *port, struct sim_stage_run *stage,
                                    const struct sim_return *back, uint32_t *reason);
weir_status sim_port_node(struct sim_port *port, uint32_t node, bool is_up);

/* Puts `count` ready workers of a stage on a node (initial state). WEIR_EBUSY when they do not fit.
 */
weir_status sim_port_place_initial(struct sim_port *port, const struct sim_initial_workers *group);
/* What the estimator starts from. */
weir_status sim_port_set_estimate(struct sim_port *port, const struct sim_initial_stage *start);

/* One decision now. Without latency it is applied and recorded at once, else an event
 * SIM_KIND_APPLY follows; while a plan is on its way nothing is decided. */
weir_status sim_port_decide(struct sim_port *port);
weir_status sim_port_apply(struct sim_port *port);
/* Takes the counts that the next decision will see (view_age). */
void sim_port_look(struct sim_port *port);

/* Time between decisions of the policy in force; 0 = only the first one. */
int64_t sim_port_interval_ns(const struct sim_port *port);

/* Hot swap: the policies of `sched` take over through adopt. */
weir_status sim_port_replace(struct sim_port *port, const struct sim_sched *sched);

/* What the host has measured of a stage by now. */
struct weir_estimate sim_port_estimate(struct sim_port *port, uint32_t stage);

/* The input of a decision at this moment, as `weir decide` reads it. */
weir_status sim_port_export(struct sim_port *port, FILE *out);

/* Wall time of the decisions so far, for sched.* metrics outside the reproducible results. */
struct sim_port_cost {
    uint64_t decisions;
    double mean_ms, max_ms;
};
struct sim_port_cost sim_port_cost(const struct sim_port *port);

#endif
