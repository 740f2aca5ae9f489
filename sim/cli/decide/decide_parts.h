/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the objects of a decide document are read into: the tables of decide_keys.c name the fields.
 */
#ifndef SIM_CLI_DECIDE_PARTS_H
#define SIM_CLI_DECIDE_PARTS_H

#include "weir/host.h"
#include "weir/licence.h"
#include "weir/reservation.h"

struct decide_document {
    int64_t time_ns, last_ns, time_left_ns, half_life_ns, usage_period_ns;
    uint64_t seed, decision, next_worker, surprises, workers_begun, workers_ended;
    uint32_t max_actions, may_start_jobs, usage_rule, none_refused;
};

struct decide_wake {
    int64_t at_ns;
};

struct decide_gpu {
    struct weir_gpu_spec spec;
    uint32_t idle_w, full_w, mig, is_healthy;
};

struct decide_node {
    int64_t cpu_units, ram_bytes;
    uint32_t type, is_up, is_cordoned, is_removed, is_kept;
    uint32_t gpu_count, nvdecs, nvencs; /* when they are all equal */
    struct weir_topology topology;
};

struct decide_instance {
    uint32_t profile, start;
};

struct decide_shape {
    struct weir_shape shape;
    double gpus;
    uint32_t borrows;
};

struct decide_stage {
    struct weir_pool_spec spec;
    struct weir_pool_update update;
    uint64_t planned;
    int64_t requested_workers;
    uint32_t is_removed;
};

struct decide_worker {
    int64_t cpu_units, ram_bytes, since_ns, job;
    uint32_t stage, workload, state;
};

struct decide_job {
    struct weir_job_spec spec;
    struct weir_job_past past;
    int64_t id, priority;
    uint32_t kind;
    struct weir_speedup speedup;
};

struct decide_tenant {
    struct weir_tenant_spec spec;
    double device_s;
    int64_t since_ns, priority;
};

/* What a worker or a stage does meanwhile. */
struct decide_change {
    struct weir_pool_update update;
    int64_t requested_workers;
    uint32_t stage, outcome;
};

struct decide_workload {
    const char *name;
    int64_t queue_limit;
};

struct decide_cut {
    int64_t since_ns;
    uint32_t gpu, is_over;
};

struct decide_offer {
    struct weir_node_offer offer;
};

struct decide_policy_rest {
    uint32_t group_scorer, group_report, group_devices, cut_min_gain, hold_mode, infeasible,
        explain;
};

#endif
