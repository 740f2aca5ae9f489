/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the bytes of items are, and what brings them to the worker that needs them.
 *
 * What a task makes lies on the node of its worker, or in a store. The task that takes it begins
 * with bringing it there: from one place after the other, while its worker waits. With a store the
 * task that makes it ends with writing it. What lies on the worker's own node takes no time, so of
 * idle workers that are equal otherwise one on that node is chosen.
 *
 * Invariant (sim_transfer_check): what was written to the store of a pipeline is what its items
 * that lie there have, and what was taken from there.
 */
#ifndef SIM_PIPELINE_TRANSFER_H
#define SIM_PIPELINE_TRANSFER_H

#include "sim/pipeline/pipeline.h"

/* item->place: 0 = wherever it is needed, a node + 1, or one of these, above all nodes. */
#define SIM_PLACE_STORE UINT32_MAX       /* of the pipeline */
#define SIM_PLACE_INPUT (UINT32_MAX - 1) /* the store of its input */

/* Begins to bring what the task in hand needs to its worker; unless hand->move is under way
 * afterwards, all of it is there. */
weir_status sim_transfer_fetch(struct sim_stage_run *stage, struct sim_hand *hand);
/* The activity of a fetch is over: goes on with it, or with the next. */
weir_status sim_transfer_fetched(struct sim_stage_run *stage, struct sim_hand *hand);
/* Begins to write what the task, whose work is done, will give; unless hand->move is under way
 * afterwards, it is written. */
weir_status sim_transfer_store(struct sim_stage_run *stage, struct sim_hand *hand);

/* An output of the task: it lies where it was made, or in the store. */
void sim_transfer_made(struct sim_stage_run *stage, const struct sim_hand *hand, uint32_t item,
                       uint32_t returns);
/* An item is gone, and with it what lies in the store. */
void sim_transfer_forget(struct sim_pipeline_run *run, const struct sim_item *item);

/* An idle worker on the node of the next item, NULL = none, or none is better than another. For
 * pipelines that move bytes. */
struct sim_hand *sim_transfer_idle_there(const struct sim_stage_run *stage);
/* Whether the bytes of the item are on the worker's node, when that matters. */
bool sim_transfer_is_there(const struct sim_stage_run *stage, const struct sim_hand *hand,
                           uint32_t item);

weir_status sim_transfer_check(const struct sim_pipeline_run *run, struct weir_error *error);

#endif
