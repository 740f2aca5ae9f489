/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Free room to try placements on; see the header. */
#include "sim/lab/free_room.h"

#include <stdlib.h>

weir_status sim_free_room_create(const struct sim_cluster *cluster, struct sim_free_room *room)
{
    *room = (struct sim_free_room){
        .cluster = cluster,
        .cpu_units = calloc((size_t)cluster->node_count + 1, sizeof(*room->cpu_units)),
        .ram_bytes = calloc((size_t)cluster->node_count + 1, sizeof(*room->ram_bytes)),
        .gpu_units = calloc((size_t)cluster->gpu_count + 1, sizeof(*room->gpu_units)),
        .gpu_mem_bytes = calloc((size_t)cluster->gpu_count + 1, sizeof(*room->gpu_mem_bytes)),
        .all_units = calloc((size_t)cluster->node_count + 1, sizeof(*room->all_units)),
        .most_units = calloc((size_t)cluster->node_count + 1, sizeof(*room->most_units)),
        .open = calloc((size_t)cluster->node_count + 1, sizeof(*room->open))
    };
    if (room->cpu_units == NULL || room->ram_bytes == NULL || room->gpu_units == NULL ||
        room->gpu_mem_bytes == NULL || room->all_units == NULL || room->most_units == NULL ||
        room->open == NULL) {
        sim_free_room_clear(room);
        return WEIR_ENOMEM;
    }
    for (uint32_t n = 0; n < cluster->node_count; n++) {
        sim_free_room_reset(room, n);
        if (room->all_units[n] > 0)
            room->open[room->open_count++] = n;
    }
    return WEIR_OK;
}

void sim_free_room_clear(struct sim_free_room *room)
{
    free(room->cpu_units);
    free(room->ram_bytes);
    free(room->gpu_units);
    free(room->gpu_mem_bytes);
    free(room->all_units);
    free(room->most_units);
    free(room->open);
    *room = (struct sim_free_room){ .cluster = NULL };
}

static void note_units(struct sim_free_room *room, uint32_t node)
{
    const struct sim_node *host = &room->cluster->nodes[node];
    int64_t all = 0;
    int64_t most = 0;
    for (uint32_t g = host->gpu_first; g < host->gpu_first + host->gpu_count; g++) {
        all += room->gpu_units[g];
        most = room->gpu_units[g] > most ? room->gpu_units[g] : most;
    }
    room->all_units[node] = all;
    room->most_units[node] = most;
}

void sim_free_room_reset(struct sim_free_room *room, uint32_t node)
{
    const struct sim_node *host = &room->cluster->nodes[node];
    room->cpu_units[node] = host->cpu_total - host->cpu_held;
    room->ram_bytes[node] =
        host->ram_total_bytes > 0 ? host->ram_total_bytes - host->ram_used_bytes : INT64_MAX / 2;
    for (uint32_t g = host->gpu_first; g < host->gpu_first + host->gpu_count; g++) {
        const struct sim_gpu *gpu = &room->cluster->gpus[g];
        room->gpu_units[g] = WEIR_ONE - gpu->units_held;
        room->gpu_mem_bytes[g] =
            gpu->mem_total_bytes > 0 ? gpu->mem_total_bytes - gpu->mem_used_bytes : INT64_MAX / 2;
    }
    note_units(room, node);
}

void sim_free_room_join(struct sim_free_room *room, uint32_t node)
{
    const struct sim_node *host = &room->cluster->nodes[node];
    const struct sim_gpu *gpus = room->cluster->gpus + host->gpu_first;
    int64_t *units = room->gpu_units + host->gpu_first;
    int64_t *bytes = room->gpu_mem_bytes + host->gpu_first;
    int64_t sum = 0;
    int64_t sum_bytes = 0;
    for (uint32_t g = 0; g < host->gpu_count; g++) {
        sum += units[g];
        sum_bytes += gpus[g].mem_total_bytes > 0 ? bytes[g] : 0;
    }
    for (uint32_t g = 0; g < host->gpu_count; g++) {
        units[g] = sum < WEIR_ONE ? sum : WEIR_ONE;
        sum -= units[g];
        if (gpus[g].mem_total_bytes == 0)
            continue;
        bytes[g] = sum_bytes < gpus[g].mem_total_bytes ? sum_bytes : gpus[g].mem_total_bytes;
        sum_bytes -= bytes[g];
    }
    note_units(room, node);
}

enum sim_obstacle sim_free_room_obstacle(const struct sim_free_room *room, uint32_t node,
                                         const struct weir_shape *shape, int64_t *roomy_units)
{
    const struct sim_node *host = &room->cluster->nodes[node];
    uint32_t fitting = 0;
    uint32_t with_memory = 0;
    bool has_model = shape->gpu_count == 0;
    *roomy_units = 0;
    for (uint32_t g = host->gpu_first; g < host->gpu_first + host->gpu_count; g++) {
        if (shape->gpu_count == 0 || !weir_shape_takes_type(shape, room->cluster->gpus[g].type))
            continue;
        has_model = true;
        if (room->gpu_units[g] < shape->gpu_units)
            continue;
        fitting++;
        with_memory += room->gpu_mem_bytes[g] >= shape->gpu_mem_bytes ? 1 : 0;
        *roomy_units += room->gpu_units[g];
    }
    if (!has_model)
        return SIM_OBSTACLE_MODEL;
    if (fitting < shape->gpu_count)
        return SIM_OBSTACLE_GPUS;
    if (with_memory < shape->gpu_count)
        return SIM_OBSTACLE_GPU_MEM;
    if (room->cpu_units[node] < shape->cpu_units)
        return SIM_OBSTACLE_CPU;
    return room->ram_bytes[node] < shape->ram_bytes ? SIM_OBSTACLE_MEMORY : SIM_OBSTACLE_NONE;
}

/* The fullest GPU that can carry a part; of equals the first. */
static uint32_t fullest(const struct sim_free_room *room, const struct sim_node *host,
                        const struct weir_shape *shape)
{
    uint32_t best = WEIR_NO_INDEX;
    for (uint32_t g = host->gpu_first; g < host->gpu_first + host->gpu_count; g++) {
        const bool is_fitting = room->gpu_units[g] >= shape->gpu_units &&
                                room->gpu_mem_bytes[g] >= shape->gpu_mem_bytes &&
                                weir_shape_takes_type(shape, room->cluster->gpus[g].type);
        if (is_fitting && (best == WEIR_NO_INDEX || room->gpu_units[g] < room->gpu_units[best]))
            best = g;
    }
    return best;
}

bool sim_free_room_take(struct sim_free_room *room, uint32_t node, const struct weir_shape *shape)
{
    const struct sim_node *host = &room->cluster->nodes[node];
    int64_t roomy_units = 0;
    if (room->cpu_units[node] < shape->cpu_units || room->ram_bytes[node] < shape->ram_bytes ||
        (shape->gpu_count > 0 && room->most_units[node] < shape->gpu_units))
        return false; /* cheap to see */
    if (sim_free_room_obstacle(room, node, shape, &roomy_units) != SIM_OBSTACLE_NONE)
        return false;
    room->cpu_units[node] -= shape->cpu_units;
    room->ram_bytes[node] -= shape->ram_bytes;
    for (uint32_t d = 0; d < shape->gpu_count; d++) {
        const uint32_t gpu = fullest(room, host, shape);
        room->gpu_units[gpu] -= shape->gpu_units;
        room->gpu_mem_bytes[gpu] -= shape->gpu_mem_bytes;
    }
    note_units(room, node);
    return true;
}
