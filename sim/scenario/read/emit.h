/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The canonical text of a scenario: all defaults filled in, units canonical, keys in the order of
 * the schema; what acts on nothing there is in `root`, the tree it was read from, stays away.
 * Reading it gives the same scenario and the same text again.
 */
#ifndef SIM_SCENARIO_EMIT_H
#define SIM_SCENARIO_EMIT_H

#include "sim/scenario/read/draft.h"

char *sim_emit(struct sim_arena *arena, const struct draft_scenario *draft,
               const struct sim_yaml *root);

#endif
