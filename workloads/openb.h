/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables of the openb trace (Alibaba cluster-trace-gpu-v2023): nodes, pods, and kept orders of
 * arrival.
 *
 * Nodes: sn, cpu_milli, memory_mib, gpu, model. Pods: name, cpu_milli, memory_mib, num_gpu,
 * gpu_milli, and gpu_spec ("A|B" = accepted models, "" = any) where the file has it; a pod without
 * GPUs has neither share nor models, whatever its row says. Times, service class and phase are not
 * read: they play no part in a static experiment. Amounts stay in the units of the trace.
 */
#ifndef WORKLOADS_OPENB_H
#define WORKLOADS_OPENB_H

#include "weir/status.h"

#include <stddef.h>
#include <stdint.h>

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

struct wl_openb_pod {
    char *models; /* as written */
    int64_t cpu_milli, memory_mib;
    uint32_t gpus;
    uint32_t gpu_milli; /* of each GPU */
};

struct wl_openb_pods {
    struct wl_openb_pod *pods;
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

weir_status wl_openb_read_pods(const char *path, struct wl_openb_pods *pods,
                               struct weir_error *error);
void wl_openb_pods_clear(struct wl_openb_pods *pods);

/* The order called `key` ("TRACE:SEED") from a file of lines "TRACE SEED P n row row ..." and
 * "TRACE SEED N n rank rank ...". Every rank occurs once. WEIR_EINVAL when there is none. */
weir_status wl_openb_read_order(const char *path, const char *key, struct wl_openb_order *order,
                                struct weir_error *error);
void wl_openb_order_clear(struct wl_openb_order *order);

#endif
