/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The phases of the xenna autoscaler (xenna.c), for policies that wrap a pass of it in rules of
 * their own. The mix is the caller's; notes and slots are not written.
 */
#ifndef SCHED_SCALING_XENNA_H
#define SCHED_SCALING_XENNA_H

#include "sched/scaling/run.h"

/* Phases 1 to 4 on a run that was begun, and what bound every pool. */
weir_status weir_xenna_phases(struct weir_run *run, double overallocation);

/* Phase 4 alone: pools may grow to `head_room` times the throughput of the slowest, nobody is
 * removed; and what bound every pool. */
weir_status weir_xenna_head_room(struct weir_run *run);

#endif
