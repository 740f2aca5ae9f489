/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is free on every node, copied from the physical cluster, to try placements on that nobody
 * makes: what if there were more CPUs, what if gangs could span nodes.
 *
 * Placing is plain: the first node that fits; a share goes to the fullest GPU that has room, whole
 * GPUs are the first free ones. Codec engines are not looked at.
 */
#ifndef SIM_LAB_FREE_ROOM_H
#define SIM_LAB_FREE_ROOM_H

#include "sim/cluster/cluster.h"
#include "sim/lab/job_kinds.h"

struct sim_free_room {
    const struct sim_cluster *cluster;
    int64_t *cpu_units;     /* by node */
    int64_t *ram_bytes;     /* by node, INT64_MAX / 2 where memory is not modelled */
    int64_t *gpu_units;     /* by GPU of the cluster */
    int64_t *gpu_mem_bytes; /* the same, INT64_MAX / 2 where memory is not modelled */
    int64_t *all_units;     /* by node: free GPU */
    int64_t *most_units;    /* by node: of the GPU with most free */
    uint32_t *open;         /* the nodes with free GPU when it was made, ascending */
    uint32_t open_count;
};

weir_status sim_free_room_create(const struct sim_cluster *cluster, struct sim_free_room *room);
void sim_free_room_clear(struct sim_free_room *room);
/* A node as it is in the cluster, again. */
void sim_free_room_reset(struct sim_free_room *room, uint32_t node);
/* The free parts of a node's GPUs as if they lay together, with their memory: whole GPUs first,
 * then the rest. */
void sim_free_room_join(struct sim_free_room *room, uint32_t node);
/* Which of a node's demands a job does not find met, the first of this order. What stands first
 * would remain if all behind it were met. */
enum sim_obstacle {
    SIM_OBSTACLE_NONE,
    SIM_OBSTACLE_MODEL,
    SIM_OBSTACLE_GPUS,    /* too few GPUs with enough left */
    SIM_OBSTACLE_GPU_MEM, /* too few of them with enough memory left */
    SIM_OBSTACLE_CPU,
    SIM_OBSTACLE_MEMORY
};
/* `roomy_units` receives what is free on GPUs with enough left for one of the job's parts. */
enum sim_obstacle sim_free_room_obstacle(const struct sim_free_room *room, uint32_t node,
                                         const struct weir_shape *shape, int64_t *roomy_units);

/* Takes the room of one job; false when it does not fit. */
bool sim_free_room_take(struct sim_free_room *room, uint32_t node, const struct weir_shape *shape);

#endif
