/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs in steps, resolved: a part of scenario.h.
 */
#ifndef SIM_SCENARIO_STEP_H
#define SIM_SCENARIO_STEP_H

#include <stdint.h>

/* A job that computes, waits for all of its ranks and exchanges, again and again. A rank is a GPU
 * of the job, or a member without one. */
struct sim_step {
    int64_t time_ns;    /* computing of one step; run times are made up of these */
    double spread;      /* of the logarithm of what a rank takes for it; lognormal, mean 1 */
    int64_t sync_bytes; /* of every rank, all-reduced at the end of a step */
    int64_t latency_ns; /* of that; SIM_LATENCY_BY_PLACE = 50 us on one node, 0.5 ms over several */
};
#define SIM_LATENCY_BY_PLACE INT64_C(-1)

/* What ranks of jobs exchange bytes over, one way each. NAN = nobody gave it; where some do
 * exchange (a job in steps) it is that of the catalogue, and said. */
struct sim_fabric {
    double nvlink_per_s; /* of one GPU; 0 = there is none */
    double pcie_per_s;   /* of one GPU */
    double nic_per_s;    /* of the node */
};

#endif
