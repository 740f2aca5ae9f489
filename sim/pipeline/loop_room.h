/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which workers of a stage have slots for the main loop to fill, and which have something over that
 * it has not collected: so that a turn looks at those alone, and not at every worker.
 *
 * Invariant (sim_loop_room_check): a worker that is set up and uses u of `slots` slots, u < slots,
 * is in free_with[u], or in the last list there is when u is beyond it, and in no other; one with
 * something over is in `over`. Kept from the first turn on; until then, and under other flow rules,
 * nothing is listed. There are at most 256 lists, however many slots a worker has.
 */
#ifndef SIM_PIPELINE_LOOP_ROOM_H
#define SIM_PIPELINE_LOOP_ROOM_H

#include "sim/pipeline/pipeline.h"

/* Room for `positions`. */
weir_status sim_loop_room_reserve(struct sim_stage_run *stage, uint32_t positions);
void sim_loop_room_clear(struct sim_loop_stage *loop);
/* At a turn: lists all workers when there is another number of slots than before. */
weir_status sim_loop_room_fit(struct sim_stage_run *stage);

/* After the slots in use or the state of a worker changed. */
void sim_loop_room_list(struct sim_stage_run *stage, struct sim_hand *hand);
/* Before it leaves its position, for ever or for position `to`. */
void sim_loop_room_leave(struct sim_stage_run *stage, struct sim_hand *hand);
void sim_loop_room_move(struct sim_stage_run *stage, struct sim_hand *hand, uint32_t to);
/* It has something over, or no longer. */
void sim_loop_room_over(struct sim_stage_run *stage, struct sim_hand *hand, bool is_over);

/* The worker with the fewest slots in use, the oldest of equals; of those the first on the node of
 * the bytes of `item`, when bytes move. NULL = all are full. */
struct sim_hand *sim_loop_room_freest(const struct sim_stage_run *stage, uint32_t item);
/* Whether the lists are what the invariant says. O(workers). */
bool sim_loop_room_check(const struct sim_stage_run *stage);

#endif
