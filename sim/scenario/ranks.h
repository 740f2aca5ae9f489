/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ranks of jobs that differ, or come and go, resolved: a part of scenario.h.
 */
#ifndef SIM_SCENARIO_RANKS_H
#define SIM_SCENARIO_RANKS_H

#include "weir/shape.h"
#include "weir/speedup.h"

/* What becomes of a job that loses members. */
enum sim_on_loss { SIM_ON_LOSS_REQUEUE, SIM_ON_LOSS_SHRINK, SIM_ON_LOSS_HEAL };

/* A job whose number of members may change while it runs. */
struct sim_elastic {
    uint32_t least;    /* members that it goes on with */
    uint32_t on_loss;  /* enum sim_on_loss */
    uint32_t most;     /* that a plan may start it with */
    double serial;     /* share of its work that members do not divide (Amdahl) */
    int64_t resize_ns; /* it stands still for after each change */
    struct weir_speedup speedup;
};

/* Ranks beside the members, which ask for something else. */
struct sim_rank_group {
    const char *name;
    struct weir_shape shape;
    uint32_t soft_labels;
    uint32_t members;
};

#endif
