/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often series are sampled: a round interval that gives some 400 samples of the expected run;
 * when the run turns out longer, samples are joined in pairs.
 */
#ifndef SIM_RECORD_SAMPLING_H
#define SIM_RECORD_SAMPLING_H

#include <stddef.h>
#include <stdint.h>

enum { SIM_SAMPLES_AIMED_AT = 400, SIM_SAMPLES_MAX = 1024, SIM_NODE_ROWS_MOST = 1 << 19 };

int64_t sim_sampling_interval_ns(double expected_s);
/* How many samples of the cluster go into one of a node: 1 up to 1310 nodes, and then so many that
 * the nodes together give about as many rows. */
uint32_t sim_sampling_node_every(size_t nodes);

#endif
