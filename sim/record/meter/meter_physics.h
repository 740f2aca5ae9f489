/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the machine gives while it runs: bytes of links and stores, memory of nodes, power, heat and
 * speed of their GPUs, turns that workers take.
 *
 * Each part exists only where the configuration says that the scenario has such a thing; reports of
 * a part that does not exist are no-ops, and it has neither rows nor results. A link has samples
 * from the first one on in which it delivered something, after one row for all the time before.
 */
#ifndef SIM_RECORD_METER_PHYSICS_H
#define SIM_RECORD_METER_PHYSICS_H

#include "sim/record/meter/meter.h"

/* Bytes that a link has delivered since time 0, and what it gives a second from now on at most:
 * before every sample, and when that changes. */
void sim_meter_link(struct sim_meter *meter, int64_t now_ns, uint32_t link, double bytes,
                    double capacity_per_s);

/* Memory of a node that is in use from now on; the most that counts has lasted some time. */
void sim_meter_memory(struct sim_meter *meter, int64_t now_ns, uint32_t node, double bytes);
/* Bytes that a node wrote to disk because its store was full; they count as spilled, too. */
void sim_meter_node_spilled(struct sim_meter *meter, int64_t now_ns, uint32_t node, double bytes);

/* The GPUs of a node together, from now on. */
struct sim_meter_gpus {
    double power_w;
    double cap_w;     /* of these; 0 = none */
    double computing; /* GPUs' worth of compute that runs, at whatever speed */
    double delivered; /* the same times the throttle of each: what full speed would have been */
};
void sim_meter_gpus(struct sim_meter *meter, int64_t now_ns, uint32_t node,
                    const struct sim_meter_gpus *now);
/* Temperature of the hottest GPU of a node now. Between two reports it must be monotone. */
void sim_meter_heat(struct sim_meter *meter, uint32_t node, double hottest_c);

/* Ends of turns a second on the GPUs of a node, from now on. */
void sim_meter_turns(struct sim_meter *meter, int64_t now_ns, uint32_t node, double per_s);
/* 1 - largest hole / free memory, mean of GPUs, from now on. */
void sim_meter_scattered(struct sim_meter *meter, int64_t now_ns, double mean);

#endif
