/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Checkpoints of jobs, as a scenario says them. */
#ifndef SIM_SCENARIO_CHECKPOINT_H
#define SIM_SCENARIO_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

/* How a job that is lost does not begin from zero. */
enum sim_checkpoint_rule {
    SIM_CHECKPOINT_FIXED,
    SIM_CHECKPOINT_YOUNG,
    SIM_CHECKPOINT_DALY,
    SIM_CHECKPOINT_SAXENA,
    SIM_CHECKPOINT_OPTIMUM
};
struct sim_checkpoint {
    bool is_made;
    uint32_t rule;       /* enum sim_checkpoint_rule */
    int64_t interval_ns; /* FIXED: of work, between two of them */
    int64_t mtbf_ns;     /* others: between failures of a job; 0 = by the failures of the cluster */
    int64_t cost_ns;     /* work stands still while one is written */
    int64_t restart_ns;  /* before a job that was lost works again */
    double bytes;        /* of one, on top of both; 0 = none */
    uint32_t store, traffic; /* where they go, and their class there, 0 = none */
    uint32_t writers;        /* jobs that write at a time; 0 = any number */
};

#endif
