/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs for the trials of policies, many of which leave things unknown, and a host to which they
 * come and from which they go. All is drawn from a seed.
 */
#ifndef SIM_CLI_POLICIES_TRIAL_JOBS_H
#define SIM_CLI_POLICIES_TRIAL_JOBS_H

#include "weir/host.h"

enum {
    SIM_TRIAL_GPU_TYPES = 3,
    SIM_TRIAL_NODE_GPUS = 8,
    SIM_TRIAL_NODE_CPUS = 64,
    SIM_TRIAL_COMING = 6
};

/* Begin with zeros and the seed in `random`. */
struct sim_trial_jobs {
    uint64_t random;
    int64_t now_ns;
    struct weir_job job; /* the latest */
    struct weir_rank_group group;
    double throughput[SIM_TRIAL_GPU_TYPES];
};

uint64_t sim_trial_draw(struct sim_trial_jobs *jobs, uint64_t below);
int64_t sim_trial_draw_ns(struct sim_trial_jobs *jobs, uint64_t below_s);
/* The next job, and the time at which it is looked at. */
weir_status sim_trial_next_job(struct sim_trial_jobs *jobs, struct weir_error *error);

struct sim_trial_queue {
    struct sim_trial_jobs jobs;
    struct weir_host *host;
    uint64_t digest; /* of all plans */
    uint64_t started;
};

/* A host of these policies with nodes of type 0; the caller destroys it, also after an error. */
weir_status sim_trial_queue_open(const struct weir_host_config *config, uint32_t nodes,
                                 struct sim_trial_queue *queue, struct weir_error *error);
/* A node more; `id` is the caller's. */
weir_status sim_trial_queue_node(struct sim_trial_queue *queue, uint32_t type, uint64_t id,
                                 uint32_t *node, struct weir_error *error);
/* Some jobs end, so many come, and the host decides; what it decides on jobs is carried out. */
weir_status sim_trial_queue_pass(struct sim_trial_queue *queue, uint32_t coming,
                                 const struct weir_plan **plan, struct weir_error *error);

#endif
