/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Work stealing of the runtime rule (off by default): a worker that has held nothing for a second
 * takes the task that was given out last, and not begun, from a worker that holds more than one.
 * Donors take turns. It helps where one worker is slow or hangs: tasks it took ahead move on.
 */
#ifndef SIM_PIPELINE_STEALING_H
#define SIM_PIPELINE_STEALING_H

#include "sim/pipeline/pipeline.h"

/* One turn: moves tasks between hands, does not begin them. *next_ns = when an idle worker will
 * have waited long enough, if that is earlier. */
void sim_stealing_turn(struct sim_stage_run *stage, bool *has_moved, int64_t *next_ns);

#endif
