/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of the openb trace (Alibaba cluster-trace-gpu-v2023): nodes, pods, and kept orders of
 * arrival.
 *
 * Nodes: sn, cpu_milli, memory_mib, gpu, model. Pods: cpu_milli, memory_mib, num_gpu, gpu_milli,
 * and where the file has them name, gpu_spec ("A|B" = accepted models, "" = any), qos, pod_phase,
 * creation_time, deletion_time, scheduled_time (seconds). A pod without GPUs has neither share nor
 * models, whatever its row says.
 *
 * Every pod has a deletion time, and its phase is the last one seen before: Succeeded and Failed
 * ended so, Running was deleted while it ran. Pending = never started: from creation to deletion it
 * had patience, how long it would have run is unknown. A Running pod that is deleted at the last
 * moment of the whole file is cut off by the end of the observation. The service class (qos)
 * becomes the group.
 */
#ifndef WORKLOADS_OPENB_H
#define WORKLOADS_OPENB_H

#include "workloads/trace.h"

struct wl_openb_node {
    char *name;
    char *model; /* as written; "" without GPUs */
    int64_t cpu_milli, memory_mib;
    uint32_t gpus;
};

struct wl_openb_nodes {
    struct wl_openb_node *nodes;
    size_t count;
};

/* The order in which rows of a pod file arrive (rows may repeat), and the rank of every row of the
 * node file: of equal nodes the lowest rank wins. */
struct wl_openb_order {
    uint32_t *arrivals;
    size_t arrival_count;
    uint32_t *ranks;
    size_t rank_count;
};

weir_status wl_openb_read_nodes(const char *path, struct wl_openb_nodes *nodes,
                                struct weir_error *error);
void wl_openb_nodes_clear(struct wl_openb_nodes *nodes);

/* The format `openb` of trace.h. */
weir_status wl_openb_read_jobs(const struct wl_trace_options *options, struct wl_jobs *jobs,
                               struct weir_error *error);
bool wl_openb_is_pods(const struct wl_trace_head *head);

/* The order called `key` ("TRACE:SEED") from a file of lines "TRACE SEED P n row row ..." and
 * "TRACE SEED N n rank rank ...". Every rank occurs once. WEIR_EINVAL when there is none. */
weir_status wl_openb_read_order(const char *path, const char *key, struct wl_openb_order *order,
                                struct weir_error *error);
void wl_openb_order_clear(struct wl_openb_order *order);

#endif
