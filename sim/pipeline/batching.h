/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests in front of a service: libweir says which go together and when (weir/batching.h); this
 * carries it out.
 *
 * Requests that came pass from the queue of the stage into the batcher, or are turned away. They
 * are known there by the index of their item, which holds while they wait. A batch goes to an idle
 * worker as one task. Until when nothing can happen is one pending event of the pipeline.
 *
 * Invariant: an item that waits is in the queue of its stage, while it is on its way to the
 * service, or in the batcher, and counted in `batching.count`.
 */
#ifndef SIM_PIPELINE_BATCHING_H
#define SIM_PIPELINE_BATCHING_H

#include "sim/pipeline/pipeline.h"

/* A stage that serves requests has a batcher. WEIR_ENOMEM. */
weir_status sim_batching_open(struct sim_stage_run *stage);
void sim_batching_close(struct sim_stage_run *stage);

static inline bool sim_stage_batches(const struct sim_stage_run *stage)
{
    return stage->batching.batcher != NULL;
}

/* Requests and workers came or went, or time is over: whatever can start does, and whoever waited
 * too long goes. */
weir_status sim_batching_settle(struct sim_stage_run *stage, bool *has_started);

/* Nobody reaches the service from now on, or until now: who waits or comes is turned away, and what
 * is worked on stands still. */
weir_status sim_batching_reach(struct sim_stage_run *stage, bool is_lost);

/* Items that a task counts for. */
uint32_t sim_batching_items(const struct sim_stage_run *stage, uint32_t head, uint32_t count);
/* A request leaves, served; before its item does. */
void sim_batching_served(struct sim_pipeline_run *run, const struct sim_item *item);

/* Indices of the items that wait; sim_batching_waiting of them. */
void sim_batching_list(const struct sim_stage_run *stage, uint64_t *items);
static inline uint64_t sim_batching_waiting(const struct sim_stage_run *stage)
{
    return stage->batching.count;
}
/* Whether who is in the queue is on the way yet, and waits for nobody. */
static inline bool sim_batching_is_coming(const struct sim_stage_run *stage)
{
    return sim_stage_batches(stage) && stage->pipeline->spec->input.overhead_ns > 0;
}
/* For how many items of a batch all count that wait. */
uint64_t sim_batching_waiting_items(const struct sim_stage_run *stage);

#endif
