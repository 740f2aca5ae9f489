/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Changing a value of a scenario by its path, before it is read: --set, compare[].set, timeline.
 *
 * A path is keys with dots: cluster.nodes.dgx.count, pipelines.filtering.stages[2].gpus. Entries of
 * a list go by [index], by number, or by their name, type or label. The walk follows the schema, so
 * that a key need not be in the file but must exist. Setting a policy makes parameters of the old
 * one that the new one lacks void; a bare name for a policy keeps interval and window. The value
 * `-` or null removes what is there: a key, or an entry of a list.
 */
#ifndef SIM_SCENARIO_SET_H
#define SIM_SCENARIO_SET_H

#include "sim/scenario/report.h"
#include "sim/scenario/schema/schema.h"

/* Sets the value at `path` below `root` (a scenario) to that of `value`, which is consumed.
 * Mistakes are reported at `at`. */
bool sim_set_apply(struct sim_arena *arena, struct sim_report *report, struct sim_yaml *root,
                   const char *path, struct sim_yaml *value, const struct sim_yaml *at);

/* The text of the single value at `path`, which the tree may get empty keys for; NULL when there is
 * none, or more than one (reported). `is_whole`: only whole numbers can stand there. */
const char *sim_set_read(struct sim_arena *arena, struct sim_report *report, struct sim_yaml *root,
                         const char *path, bool *is_whole);

/* "path=value" from the command line. */
bool sim_set_apply_text(struct sim_arena *arena, struct sim_report *report, struct sim_yaml *root,
                        const char *text);

#endif
