/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The windows of the meter: parts of the run that have results of their own, ID@WINDOW.
 *
 * Windows do not overlap, so at most one is open. What is held, used and queued is the difference
 * of two totals, exact like a sample; items and jobs belong to the window in which they came,
 * whenever they end. A window that the run did not reach has no results, one that it did not reach
 * the end of has those of its part.
 *
 * The backlog is what came and is not over: items in pipelines, and jobs that wait. Its usual level
 * before a window is what it kept to 95 % of the time since the first window began (before that
 * one: since the warm-up), so that a start which the windows leave out is left out here; the time
 * to recover counts from the end of the window until the backlog is back there.
 */
#ifndef SIM_RECORD_METER_WINDOWS_H
#define SIM_RECORD_METER_WINDOWS_H

#include "sim/record/meter/meter_state.h"

weir_status meter_windows_open(struct sim_meter *meter, const struct sim_meter_config *config);
void meter_windows_close(struct sim_meter *meter);
/* Edges that lie before or at `now_ns`; returns when the next one is. */
int64_t meter_windows_wake(struct sim_meter *meter, int64_t now_ns);
void meter_windows_results(struct sim_meter *meter, const struct sim_meter_end *end,
                           struct sim_results *out);

/* ---- what happens; only where there are windows ---- */

void meter_windows_backlog(struct sim_meter *meter, int64_t now_ns, double change);
void meter_windows_queue(struct sim_meter *meter, uint32_t stage, uint64_t items);
void meter_windows_item_done(struct sim_meter *meter, int64_t now_ns, int64_t latency_ns);
/* A job that counts started for the first time, or ended; it was submitted that long ago. */
void meter_windows_job_wait(struct sim_meter *meter, int64_t now_ns, int64_t wait_ns);
void meter_windows_job_done(struct sim_meter *meter, int64_t now_ns, int64_t time_ns,
                            int64_t slowdown);
/* A job that counts is there yet when the run ends; `is_waiting`: it never began. */
weir_status meter_windows_job_left(struct sim_meter *meter, int64_t now_ns, int64_t age_ns,
                                   bool is_waiting);
void meter_windows_lost(struct sim_meter *meter, int64_t lost_ns, const char *cause);

#endif
