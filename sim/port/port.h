/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The port: where the simulated cluster meets libweir.
 *
 * The only part that knows both. It tells the host what a controller would be told (nodes, pools,
 * measurements, outcomes), asks for decisions, and applies a plan to the truth: stops first, then
 * slots, then starts, each in the plan's order. What the truth refuses comes back to the policy as
 * an outcome and is recorded with its reason. It knows pools, owners and workers; what they work on
 * is behind the drivers (sim/world/driver.h), which it asks and tells.
 *
 * Invariant: a worker that the host believes alive is alive, and the other way round, between any
 * two events: every life begins and ends through one function here.
 */
#ifndef SIM_PORT_PORT_H
#define SIM_PORT_PORT_H

#include "sim/world/driver.h"

#include <stdio.h>

struct sim_port;

/* Who has nodes that may be asked for. What cannot be done has a reason, enum weir_reason. */
struct sim_supplier {
    weir_status (*request)(void *self, uint32_t type, uint32_t *reason);
    weir_status (*release)(void *self, uint32_t node, uint32_t *reason);
    void *self;
};

/* `drivers` is read when the port is asked, by the index of an owner's driver; entry 0 is unused.
 */
struct sim_port_config {
    struct sim_context *context;
    const struct sim_scenario *scenario;
    struct sim_workers *workers;
    const struct sim_driver *drivers;
    uint32_t driver_count;
    const struct sim_run_options *options; /* who sees decisions */
    struct sim_supplier supplier;          /* request NULL = nobody */
};

weir_status sim_port_create(const struct sim_port_config *config, struct sim_port **port,
                            struct weir_error *error);
void sim_port_destroy(struct sim_port *port);

/* Before the first decision; the index counts from 0 over all drivers. */
weir_status sim_port_add_pool(struct sim_port *port, uint32_t driver, const struct sim_pool *pool,
                              uint32_t *index);
uint32_t sim_port_pool_count(const struct sim_port *port);
const struct sim_pool *sim_port_pool(const struct sim_port *port, uint32_t index);
/* What the host was told that the node has. */
struct sim_meter_amounts sim_port_believed(const struct sim_port *port, uint32_t node);

weir_status sim_port_measure(struct sim_port *port, const struct weir_measurement *task);
void sim_port_worker_ready(struct sim_port *port, const struct sim_worker *worker);

/* The one way a life ends: the driver takes back what is in hand, the host is told, the devices are
 * given back. `text` becomes the reason in its row. */
weir_status sim_port_end_worker(struct sim_port *port, struct sim_worker *worker, enum sim_stop why,
                                const char *text);
/* A driver brought workers back on its own. */
weir_status sim_port_started(struct sim_port *port, const struct sim_start *start);
weir_status sim_port_node(struct sim_port *port, uint32_t node, bool is_up);
/* A node came or went as it was asked for: known at once, however old the view is. */
weir_status sim_port_node_supplied(struct sim_port *port, uint32_t node, bool is_up);
/* It keeps its workers and receives none: known at once. */
weir_status sim_port_cordon(struct sim_port *port, uint32_t node);
/* What became of a request: enum weir_outcome_kind, and why; `node` may be WEIR_NO_INDEX. */
weir_status sim_port_supply_outcome(struct sim_port *port, uint32_t kind, uint32_t node,
                                    uint32_t reason);
/* Nodes of a type may be asked for, or as things stand now. */
weir_status sim_port_offer(struct sim_port *port, const struct weir_node_offer *offer);
/* What a forecast may start from as the scheduler sees it now: weir_feature_count() numbers. */
void sim_port_features(struct sim_port *port, double *values);
/* Mean part by which the capacity policy forecast wrongly so far; NAN = it does not, or not yet. */
double sim_port_forecast_error(const struct sim_port *port);
/* One GPU of it is lost, or back. */
weir_status sim_port_gpu(struct sim_port *port, uint32_t node, uint32_t gpu, bool is_healthy);

/* Puts `count` ready workers of a stage on a node (initial state). WEIR_EBUSY when they do not fit.
 */
weir_status sim_port_place_initial(struct sim_port *port, const struct sim_initial_workers *group);
/* What the estimator starts from. */
weir_status sim_port_set_estimate(struct sim_port *port, const struct sim_initial_stage *start);

/* A decision at this instant, after all else that happens at it; several causes make one. */
void sim_port_wake(struct sim_port *port, uint32_t causes);
/* Why a decision is due now; then it is so no more. */
uint32_t sim_port_take_causes(struct sim_port *port);
/* Something is on its way that may make room: a decision, a plan, a GPU that is cut. */
bool sim_port_is_busy(const struct sim_port *port);
/* How many wakes and late views are on their way; one of them came. WEIR_ENOMEM. */
uint32_t sim_port_looks(const struct sim_port *port);
weir_status sim_port_looked(struct sim_port *port);

/* ---- jobs: see struct sim_driver_services ---- */
weir_status sim_port_add_workload(struct sim_port *port, uint32_t driver,
                                  const struct sim_driver_workload *workload, uint32_t *index);
uint32_t sim_port_workload_count(const struct sim_port *port);
/* How many classes of jobs a workload has. */
uint32_t sim_port_classes(const struct sim_port *port, uint32_t workload);
/* What is expected of a workload. */
const struct weir_mix *sim_port_mix(const struct sim_port *port, uint32_t workload);
/* *kind = a small number of what it asks for. */
weir_status sim_port_submit(struct sim_port *port, const struct weir_job_spec *job, uint32_t *kind);
weir_status sim_port_withdraw(struct sim_port *port, uint32_t workload, uint64_t job);
weir_status sim_port_job_ended(struct sim_port *port, uint32_t workload, uint64_t job);
weir_status sim_port_job_resized(struct sim_port *port, uint32_t workload, uint64_t job,
                                 struct sim_ranks_lost lost);
/* The GPU of the node that a plan cut has its new layout. */
weir_status sim_port_cut_done(struct sim_port *port, uint32_t node, uint32_t gpu);
uint64_t sim_port_cuts(const struct sim_port *port);
uint64_t sim_port_passes(const struct sim_port *port);

/* One decision now. Without latency it is applied and recorded at once, else an event
 * SIM_KIND_APPLY follows; while a plan is on its way nothing is decided. */
weir_status sim_port_decide(struct sim_port *port, uint32_t causes);
weir_status sim_port_apply(struct sim_port *port);
/* Takes the counts that the next decision will see (view_age). */
weir_status sim_port_look(struct sim_port *port);
/* Tells what is as old as the view by now. */
weir_status sim_port_tell_news(struct sim_port *port);
/* The same because its event has come. */
weir_status sim_port_news_due(struct sim_port *port);

/* Time between decisions of the policy in force; 0 = only the first one. */
int64_t sim_port_interval_ns(const struct sim_port *port);

/* Hot swap: the policies of `sched` take over through adopt. */
weir_status sim_port_replace(struct sim_port *port, const struct sim_sched *sched);

/* What the host has measured of a pool by now. */
struct weir_estimate sim_port_estimate(struct sim_port *port, uint32_t pool);

/* What a decision at this moment, asked for by a timer, would start from. */
weir_status sim_port_export(struct sim_port *port, FILE *out);
/* The witness of decisions has seen enough: the last one was not made. */
bool sim_port_is_enough(const struct sim_port *port);

#endif
