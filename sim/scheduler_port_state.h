/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the port share: its state, telling the host, and applying a plan. The host is
 * opaque here: only scheduler_port.c calls it.
 */
#ifndef SIM_SCHEDULER_PORT_STATE_H
#define SIM_SCHEDULER_PORT_STATE_H

#include "sim/command_policy.h"
#include "sim/scheduler_port.h"
#include "weir/plan.h"

struct sim_port {
    struct sim_port_config config;
    const struct sim_sched *sched; /* in force */
    struct weir_host *host;
    uint64_t decisions;
    uint32_t *outcomes; /* by action of the present plan */
    uint32_t outcome_capacity;
    uint64_t next_initial; /* id of the next worker placed before the first decision */
    struct sim_port_cost cost;
    const struct weir_plan *pending; /* decided, not applied yet; the host's */
    const struct sim_sched *pending_sched;
    int64_t pending_ns, pending_wall_ns;
    struct weir_pool_update *seen; /* by stage, as old as the view */
    bool has_seen;
    struct weir_measurement *late; /* not yet known to the host, oldest first */
    size_t late_count, late_capacity;
    struct sim_command_setup command; /* for the policy of that name */
    struct weir_allocator memory;
};

/* Tells the host the end of a worker, of every member of a group. */
weir_status sim_port_tell_end(struct sim_port *port, uint32_t kind, const struct sim_worker *worker,
                              uint32_t reason);
/* Tells the host that workers started there, or with a reason that the truth refused them. */
weir_status sim_port_tell_places(struct sim_port *port, uint32_t stage,
                                 const struct sim_places *places, uint32_t reason);

/* Applies a plan to the truth: stops, then slots and the rest, then starts, each in the plan's
 * order. Fills `outcomes` and adds the actions that were refused. */
weir_status sim_port_apply_plan(struct sim_port *port, const struct weir_plan *plan,
                                uint32_t *refused);
/* Starts that the plan wanted and the cluster could not give; after the plan was applied. */
uint32_t sim_port_count_refused(const struct sim_port *port, const struct weir_plan *plan);

#endif
