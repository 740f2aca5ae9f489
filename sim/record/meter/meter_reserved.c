/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPU time of reservations: integrals that nodes have anyway, between two moments. */
#include "sim/record/meter/meter_reserved.h"

#include "sim/record/meter/meter_state.h"

#include <stdlib.h>
#include <string.h>

struct reserved_meter {
    const char *name;
    uint32_t *nodes; /* NULL = it does not count now */
    size_t node_count;
    int64_t since_ns;
    double used_at; /* GPU ns that its nodes had given out by then */
    double gpus;
    double whole, used; /* GPU ns of the times before */
};

struct meter_reserved {
    struct reserved_meter *rows;
    size_t count;
};

weir_status meter_reserved_open(struct sim_meter *meter, const struct sim_meter_config *config)
{
    if (config->reservation_count == 0)
        return WEIR_OK;
    meter->reserved = calloc(1, sizeof *meter->reserved);
    if (!meter->reserved)
        return WEIR_ENOMEM;
    meter->reserved->rows = calloc(config->reservation_count, sizeof *meter->reserved->rows);
    if (!meter->reserved->rows)
        return WEIR_ENOMEM;
    meter->reserved->count = config->reservation_count;
    for (size_t i = 0; i < config->reservation_count; i++)
        meter->reserved->rows[i].name = config->reservations[i];
    return WEIR_OK;
}

void meter_reserved_close(struct sim_meter *meter)
{
    if (!meter->reserved)
        return;
    for (size_t i = 0; meter->reserved->rows && i < meter->reserved->count; i++)
        free(meter->reserved->rows[i].nodes);
    free(meter->reserved->rows);
    free(meter->reserved);
}

static double used_by(const struct sim_meter *meter, const struct reserved_meter *row,
                      int64_t now_ns)
{
    double used = 0;
    for (size_t i = 0; i < row->node_count; i++)
        used +=
            sim_meter_node_totals(&meter->nodes[row->nodes[i]], now_ns).assigned[SIM_RESOURCE_GPU];
    return used;
}

static void stop(const struct sim_meter *meter, struct reserved_meter *row, int64_t now_ns)
{
    if (!row->nodes)
        return;
    row->whole += row->gpus * (double)(now_ns - row->since_ns);
    row->used += used_by(meter, row, now_ns) - row->used_at;
    free(row->nodes);
    row->nodes = NULL;
}

weir_status sim_meter_reserved(struct sim_meter *meter, int64_t now_ns, size_t number,
                               const uint32_t *nodes, size_t node_count)
{
    struct reserved_meter *row = &meter->reserved->rows[number];
    meter_tick(meter, now_ns);
    stop(meter, row, now_ns);
    if (node_count == 0)
        return WEIR_OK;
    row->nodes = malloc(node_count * sizeof *row->nodes);
    if (!row->nodes)
        return WEIR_ENOMEM;
    memcpy(row->nodes, nodes, node_count * sizeof *nodes);
    row->node_count = node_count;
    row->since_ns = now_ns;
    row->gpus = 0;
    for (size_t i = 0; i < node_count; i++)
        row->gpus += meter->capacity[nodes[i]].amount[SIM_RESOURCE_GPU];
    row->used_at = used_by(meter, row, now_ns);
    return WEIR_OK;
}

void meter_reserved_results(struct sim_meter *meter, int64_t end_ns, struct sim_results *out)
{
    for (size_t i = 0; meter->reserved && i < meter->reserved->count; i++) {
        struct reserved_meter *row = &meter->reserved->rows[i];
        stop(meter, row, end_ns);
        const struct sim_result_row whole = { .metric = "reserved.gpu_s",
                                              .label = row->name,
                                              .unit = "GPU*s",
                                              .value = row->whole / 1e9 };
        const struct sim_result_row idle = { .metric = "reserved.idle_gpu_s",
                                             .label = row->name,
                                             .unit = "GPU*s",
                                             .value = (row->whole - row->used) / 1e9 };
        sim_results_add(out, &whole);
        sim_results_add(out, &idle);
    }
}
