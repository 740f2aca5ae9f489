/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Execution by stages (`execution: batch`): one stage is open at a time, with `user_overlap` one
 * that has GPUs and those beside it that have none, and the next one opens when everything has
 * passed it. All workers of the cluster are the open stage's, since the
 * scheduler is told that the others are finished; a plan is asked for whenever a stage opens. All
 * output of a stage lies between the stages meanwhile: `store` bounds it, and moving it in and out
 * of an outer store costs time at every barrier, while nothing is processed.
 */
#ifndef SIM_PIPELINE_BARRIER_H
#define SIM_PIPELINE_BARRIER_H

#include "sim/pipeline/pipeline.h"

/* Whether the stage may take input now; true for every stage of a streaming pipeline. */
bool sim_barrier_is_open(const struct sim_stage_run *stage);
/* Whether the scheduler may give the stage workers. */
bool sim_barrier_takes_workers(const struct sim_stage_run *stage);
/* At the end of a turn: opens the next stage when the open one is done. *next_ns = when it opens.
 */
void sim_barrier_turn(struct sim_pipeline_run *run, int64_t *next_ns);
/* Output came to lie in front of the stage: ends the pipeline, or spills, when the store cannot
 * hold it. */
weir_status sim_barrier_store(struct sim_stage_run *stage);

#endif
