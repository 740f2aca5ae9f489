/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Electric power of a node, and what keeps it within bounds: a cap on its GPUs together, and heat.
 *
 * Sockets. CPUs are sockets of equal size: those that hold the allocated cores draw full power, the
 * others idle power. They are not part of a cap. A node that is down draws nothing. Memory, disks,
 * fans and losses are left out, so that differences between placements mean more than totals.
 *
 * GPUs, allocated (Lettich et al., CCGrid 2025): idle power where nothing lies, the limit under any
 * allocation, however small. GPUs, used: P = idle + (limit - idle) u f, u the share of its compute
 * that is in use (of all its instances together when it is cut), f its throttle.
 *
 * Cap: every GPU of the node has the same throttle f <= 1, so large that the sum of P is within the
 * cap. Heat: T goes to ambient + rise P / limit with time constant tau; a GPU at its limit of
 * temperature has the f that holds it there, and the others may use what it does not draw. What
 * computes there goes f times as fast, in instances too; engines have clocks of their own.
 *
 * Everything is exact between two events: T is an exponential and P a constant, so a crossing of
 * the limit is known when it is set off, and nothing is looked at in steps. With a control period
 * throttles change at its multiples only, and P may be above the cap for less than one period.
 */
#ifndef SIM_CLUSTER_POWER_H
#define SIM_CLUSTER_POWER_H

#include "sim/cluster/cluster.h"

struct sim_power_draw {
    double gpu_w, cpu_w;
};

struct sim_power_draw sim_power_node(const struct sim_cluster *cluster, uint32_t node);

/* An idle GPU that has been so for long; `thermal` may be one that models nothing. */
void sim_power_begin(const struct sim_gpu_type *type, const struct sim_thermal *thermal,
                     struct sim_gpu *gpu);

/* What the node draws may have changed; nothing to do where power follows allocation. */
void sim_power_note(struct sim_cluster *cluster, uint32_t node);
/* Takes a noted node off the list; false = there is none. */
bool sim_power_take(struct sim_cluster *cluster, uint32_t *node);

/* What came of a look at a node. */
struct sim_power_look {
    bool is_paced;   /* throttles changed */
    int64_t next_ns; /* when to look again though nothing changes; SIM_TIME_MAX = never */
};
/* Temperatures up to now, throttles if they may change now, and power from now on. */
weir_status sim_power_control(struct sim_cluster *cluster, uint32_t node, int64_t now_ns,
                              struct sim_power_look *look);

/* Power, cap and compute of the node's GPUs to the meter, as of the last look; where power follows
 * allocation there is nothing to tell. */
void sim_power_meter(const struct sim_cluster *cluster, struct sim_meter *meter, int64_t now_ns,
                     uint32_t node);
/* How hot its hottest GPU is, where temperatures are modelled. */
void sim_power_meter_heat(const struct sim_cluster *cluster, struct sim_meter *meter,
                          int64_t now_ns, uint32_t node);

/* Whether the node keeps its cap, as of the last look. */
weir_status sim_power_check(const struct sim_cluster *cluster, uint32_t node,
                            struct weir_error *error);

#endif
