/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Telling and asking the scheduler, whether it lives in this process or not.
 *
 * There is always a host here. Without a module it decides. With one, a second host runs in a
 * process of its own with the module (told_child.c): it is told whatever the first one is told, in
 * the same order, and decides; the host here follows (weir_host_follow), which checks every plan on
 * what it knows itself. Both then know the same, so that all that is only read is read here.
 *
 * What is told is kept on the line until the next question: no process is woken for it. A host
 * there that takes what the one here refused, or refuses what it took, has been tampered with, and
 * is blamed at the next question.
 */
#ifndef SIM_PORT_TOLD_H
#define SIM_PORT_TOLD_H

#include "sim/port/policy_process.h"
#include "sim/world/driver.h"
#include "weir/host.h"

#include <stdio.h>

struct sim_port;
struct sim_sched;

/* What is told, on the line: this, then what its kind says. */
enum sim_told_kind {
    SIM_TOLD_NODE,     /* index */
    SIM_TOLD_FLAGS,    /* index: node, value: flags, at_ns */
    SIM_TOLD_OFFER,    /* struct weir_node_offer */
    SIM_TOLD_HEALTH,   /* index: node, id: GPU, value: whether it is healthy */
    SIM_TOLD_POOL,     /* struct weir_pool_spec; id: bytes of its name, the name */
    SIM_TOLD_UPDATE,   /* index: pool; struct weir_pool_update */
    SIM_TOLD_WORKLOAD, /* id: bytes of its name, the name */
    SIM_TOLD_LIMIT,    /* index: workload, id: limit */
    SIM_TOLD_MIX,      /* index: shapes; struct weir_shape and double, each as often */
    SIM_TOLD_SUBMIT,   /* struct weir_job_spec, its groups */
    SIM_TOLD_WITHDRAW, /* index: workload, id: job */
    SIM_TOLD_ENDED,    /* the same */
    SIM_TOLD_RESIZED,  /* index: workload, id: job, value: ranks, at_ns: ranks_max */
    SIM_TOLD_TASK,     /* struct weir_measurement */
    SIM_TOLD_OUTCOME,  /* value: whether there is an allocation; struct weir_outcome, the allocation
                        */
    SIM_TOLD_STATE,    /* id: worker, value: state, at_ns */
    SIM_TOLD_ADOPT,    /* id: worker; struct weir_owner, the allocation */
    SIM_TOLD_ESTIMATE, /* index: pool; struct weir_estimate */
    SIM_TOLD_BEGIN,    /* create the host; answered */
    SIM_TOLD_REPLACE,  /* pointer to a struct sim_sched; answered */
    SIM_TOLD_DECIDE,   /* struct weir_call; answered with a plan */
    SIM_TOLD_EXPORT    /* struct weir_call; answered with id: bytes, and a document */
};
struct sim_told {
    uint32_t kind;  /* enum sim_told_kind */
    int32_t status; /* what the host here said to it */
    uint32_t index;
    int32_t value;
    uint64_t id;
    int64_t at_ns;
};

/* The answer to a question, then the error, if it failed. To DECIDE: the counts, and what is
 * counted: actions (told_plan.c), choices, notes and whether there is one, steps, candidates,
 * holders. */
struct sim_told_answer {
    int32_t status;
    uint32_t reserved;
    uint64_t id;
    int64_t wall_ns;
    double forecast_error; /* weir_host_forecast_error there */
};

/* A process for a policy of a run, with the limits that its options set. */
struct sim_run_options;
weir_status sim_told_start(struct sim_policy_process *process, struct sim_policy_work work,
                           const struct sim_run_options *options, struct weir_error *error);

/* Puts the name of the policy of the module in front of a message that names none. */
void sim_told_blame(const struct sim_port *port, struct weir_error *error);

/* Creates the host of the port, and the process if it takes one. */
weir_status sim_told_begin(struct sim_port *port, struct weir_error *error);
void sim_told_end(struct sim_port *port);

weir_status sim_told_node(struct sim_port *port, uint32_t index, struct weir_error *error);
weir_status sim_told_node_flags(struct sim_port *port, uint32_t node, uint32_t flags,
                                int64_t now_ns);
weir_status sim_told_offer(struct sim_port *port, const struct weir_node_offer *offer);
weir_status sim_told_gpu_health(struct sim_port *port, uint32_t node, uint32_t gpu,
                                bool is_healthy);
weir_status sim_told_pool(struct sim_port *port, const struct weir_pool_spec *pool);
weir_status sim_told_update(struct sim_port *port, uint32_t pool,
                            const struct weir_pool_update *update);
weir_status sim_told_workload(struct sim_port *port, const char *name, uint32_t *index);
weir_status sim_told_queue_limit(struct sim_port *port, uint32_t workload, uint64_t limit);
weir_status sim_told_mix(struct sim_port *port, const struct weir_mix *mix);
weir_status sim_told_submit(struct sim_port *port, const struct weir_job_spec *job);
weir_status sim_told_withdraw(struct sim_port *port, uint32_t workload, uint64_t job);
weir_status sim_told_ended(struct sim_port *port, uint32_t workload, uint64_t job);
weir_status sim_told_resized(struct sim_port *port, uint32_t workload, uint64_t job,
                             struct sim_ranks_lost ranks);
weir_status sim_told_task(struct sim_port *port, const struct weir_measurement *task);
weir_status sim_told_outcome(struct sim_port *port, const struct weir_outcome *outcome,
                             const struct weir_alloc *alloc);
weir_status sim_told_state(struct sim_port *port, uint64_t worker, uint32_t state, int64_t now_ns);
weir_status sim_told_adopt(struct sim_port *port, uint64_t worker, struct weir_owner owner,
                           const struct weir_alloc *alloc);
weir_status sim_told_estimate(struct sim_port *port, uint32_t pool, struct weir_estimate estimate);

/* The policies of the port's scheduler take over. */
weir_status sim_told_replace(struct sim_port *port);
/* *wall_ns = what the decision took where it was made. */
weir_status sim_told_decide(struct sim_port *port, const struct weir_call *call,
                            const struct weir_plan **plan, int64_t *wall_ns);
weir_status sim_told_export(struct sim_port *port, const struct weir_call *call, FILE *out);

/* told_child.c: the other end; for a sandbox. `state`: the port. */
int sim_told_child(void *state);

/* told_plan.c: a plan over a line. `pools`: how many there may be notes on. */
struct sim_told_lists;
weir_status sim_told_plan_put(struct sim_line *line, const struct weir_plan *plan, uint32_t pools);
/* Bounded, not judged; the lists live until the next call. */
weir_status sim_told_plan_get(struct sim_line *line, struct sim_told_lists **lists,
                              struct weir_plan_lists *plan);
void sim_told_lists_destroy(struct sim_told_lists *lists);

#endif
