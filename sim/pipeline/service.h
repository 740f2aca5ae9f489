/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long things take: service, set-up, and what one task gives back.
 *
 * Draws are keyed by the first item of the task (id, stage, attempt), so the demand of an item does
 * not depend on who serves it or when. See struct sim_service for the formula.
 */
#ifndef SIM_PIPELINE_SERVICE_H
#define SIM_PIPELINE_SERVICE_H

#include "sim/pipeline/pipeline.h"

/* The items of one task: a linked list in the slab. */
struct sim_task {
    const struct sim_item_slab *slab;
    uint32_t head;
    uint32_t count;
};

struct sim_service_time {
    double demand_s; /* on the reference device and the fastest engines: the same in every policy */
    double actual_s; /* on the device it runs on, alone */
};

/* On a worker that is idle. */
struct sim_service_time sim_service_draw(const struct sim_stage_run *stage,
                                         const struct sim_task *task,
                                         const struct sim_worker *worker);
/* Items that `item` turns into. */
uint32_t sim_service_returns(const struct sim_stage_run *stage, const struct sim_item *item);
double sim_service_node_setup_s(const struct sim_stage_run *stage, uint32_t node);
/* Bytes of what it turns into, each. */
double sim_service_bytes(const struct sim_stage_run *stage, const struct sim_item *item);
double sim_service_setup_s(const struct sim_stage_run *stage, uint32_t ordinal);
/* Mean of one full task's service on the reference device, for items of mean size. */
double sim_service_mean_s(const struct sim_stage *stage, double mean_size);
/* Mean size of the items of an input, over its classes. */
double sim_input_mean_size(const struct sim_input *input);

#endif
