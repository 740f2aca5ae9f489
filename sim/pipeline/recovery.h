/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recovery of the runtime rule: what happens after a worker died or could not be set up.
 *
 * A worker that died comes back at the next turn of the loop, under its id and in its old place,
 * whether or not that place is still there. Each death in a row without a finished task counts;
 * the fourth one gives the worker up. A task that was in the hands of more than three workers when
 * they died is given up too. A stage that has tasks, but no worker and none to come, ends the
 * pipeline: its workers stop and nothing more is done.
 */
#ifndef SIM_PIPELINE_RECOVERY_H
#define SIM_PIPELINE_RECOVERY_H

#include "sim/pipeline/pipeline.h"

/* A worker is about to be dropped because it died: counts it, and plans its return. */
weir_status sim_recovery_died(struct sim_stage_run *stage, struct sim_hand *hand);
/* One turn: brings back those that wait for it; true in *has_moved when one is still to come. */
weir_status sim_recovery_turn(struct sim_stage_run *stage, bool *has_moved);
/* A set-up failed: begins it again after a pause, as long as attempts are left; then the worker
 * ends, and the pipeline with it if that are too many. */
weir_status sim_recovery_setup_failed(struct sim_stage_run *stage, struct sim_hand *hand);
/* Pause after failed attempt number `attempt` (from 0): 2, 4, 8, 16, 16 ... s. */
int64_t sim_recovery_pause_ns(uint32_t attempt);
/* One turn: restarts the oldest worker above max_lifetime; next_ns = when to look again. */
weir_status sim_recovery_retire(struct sim_stage_run *stage, int64_t *next_ns);
/* All its workers end, and a plan starts others. */
weir_status sim_recovery_replace(struct sim_stage_run *stage, const char *why);
/* Whether the deaths of this item's holders are too many. */
bool sim_recovery_gives_up(const struct sim_item *item);
/* A decision at this instant instead of at the next interval. */
void sim_recovery_ask_for_plan(struct sim_pipeline_run *run);
/* The pipeline ends. */
weir_status sim_recovery_give_up(struct sim_pipeline_run *run, const char *why);

#endif
