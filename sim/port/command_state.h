/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a program of placement or queueing is told of the nodes: all of them in its first line, then
 * those that changed since the line before.
 */
#ifndef SIM_COMMAND_STATE_H
#define SIM_COMMAND_STATE_H

#include "weir/cluster.h"

#include <stdio.h>

/* Zero it; forget it with sim_told_nodes_clear(). */
struct sim_told_nodes {
    uint64_t *versions;
    uint32_t *flags;
    uint32_t count, capacity; /* of nodes that were told */
};

void sim_told_nodes_clear(struct sim_told_nodes *told);
/* Writes `"nodes": [{"id": "0", "up": true, "cpus": 64, "ram_bytes": 1, "gpus": [1, 0.5],
 * "gpu_mem_bytes": [1, 1]}]`: what is free. */
weir_status sim_told_nodes_write(struct sim_told_nodes *told, const struct weir_cluster *cluster,
                                 FILE *out);
/* `"shape": {"cpus": 4, "gpus": 1, "gpu_count": 2, "ram_bytes": 1, "gpu_mem_bytes": 1}`: of one
 * worker, GPUs and their memory on each of `gpu_count`. */
void sim_told_shape_write(const struct weir_shape *shape, FILE *out);

#endif
