/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the port share: its state, telling the host, and applying a plan. The host is
 * opaque here: only port.c calls it.
 */
#ifndef SIM_PORT_PORT_STATE_H
#define SIM_PORT_PORT_STATE_H

#include "sim/port/command_policy.h"
#include "sim/port/port.h"
#include "weir/plan.h"

struct port_pool {
    struct sim_pool pool;
    struct sim_pool_state seen; /* as old as the view */
};

struct port_workload {
    uint32_t driver;
    struct weir_mix mix;
};

/* A GPU that is away while it is cut. */
struct port_cut {
    uint32_t node, gpu;
    weir_mig_layout layout;
};

struct sim_port {
    struct port_workload *workloads;
    uint32_t workload_count;
    struct port_cut *cuts;
    uint32_t cut_count, cut_capacity;
    uint64_t cuts_done, passes;
    uint32_t causes;  /* of a decision that is due */
    int64_t asked_ns; /* when one was scheduled last */
    struct sim_port_config config;
    struct port_pool *pools;
    uint32_t pool_count, pool_capacity;
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
    bool has_seen;
    bool is_enough;                /* the witness says */
    struct weir_measurement *late; /* not yet known to the host, oldest first */
    size_t late_count, late_capacity;
    struct sim_command_setup command; /* for the policy of that name */
    struct weir_allocator memory;
};

/* Tells the host that workers started there, or with a reason that the truth refused them. */
weir_status sim_port_tell_places(struct sim_port *port, const struct sim_start *start,
                                 uint32_t reason);

/* port_jobs.c */
weir_status sim_port_apply_cut(struct sim_port *port, const struct weir_action *action);
/* Devices were given back, or a node came: jobs that wait may start. */
void sim_port_room_made(struct sim_port *port);

static inline const struct sim_driver *sim_port_driver(const struct sim_port *port,
                                                       struct weir_owner owner)
{
    const uint32_t driver = owner.kind == WEIR_OWNER_JOB ? port->workloads[owner.index].driver
                                                         : port->pools[owner.index].pool.driver;
    return &port->config.drivers[driver];
}

/* Applies a plan to the truth: stops, then slots and the rest, then starts, each in the plan's
 * order. Fills `outcomes` and adds the actions that were refused. */
weir_status sim_port_apply_plan(struct sim_port *port, const struct weir_plan *plan,
                                uint32_t *refused);
/* Starts that the plan wanted and the cluster could not give; after the plan was applied. */
uint32_t sim_port_count_refused(const struct sim_port *port, const struct weir_plan *plan);

#endif
