/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How fast work goes where, resolved: a part of scenario.h.
 */
#ifndef SIM_SCENARIO_SPEED_H
#define SIM_SCENARIO_SPEED_H

#include "weir/cluster.h"

/* What an instance has of the whole GPU without MIG. */
struct sim_gpu_part {
    double sms;
    double bandwidth; /* goes with its slots of memory */
};
static inline struct sim_gpu_part sim_gpu_part(const struct weir_mig *table,
                                               const struct weir_mig_profile *profile)
{
    return (struct sim_gpu_part){ (double)profile->sms / table->sms,
                                  (double)profile->slots / table->slots };
}

/* By what work on an instance goes. */
enum sim_pace { SIM_PACE_WHOLE, SIM_PACE_SMS, SIM_PACE_BANDWIDTH };

/* How fast a kind of work goes where: its time is divided by that. */
struct sim_speed {
    double *on_type; /* by GPU type, relative to where it was measured; NULL = 1 everywhere */
    uint32_t pace;   /* enum sim_pace: times that part of the GPU */
};

/* What the profile of a job's model says of its speed. */
struct sim_profile {
    double step_s;         /* computing of a step where it was measured; NAN = not said */
    const double *on_type; /* by GPU type, in any unit; NAN = not said of that type */
};

static inline double sim_pace_of(uint32_t pace, struct sim_gpu_part part)
{
    return pace == SIM_PACE_WHOLE ? 1 : pace == SIM_PACE_SMS ? part.sms : part.bandwidth;
}

/* On a GPU of the type (WEIR_NO_INDEX = none), or a part of it. */
static inline double sim_speed_at(const struct sim_speed *speed, uint32_t gpu_type,
                                  struct sim_gpu_part part)
{
    if (speed->on_type == NULL || gpu_type == WEIR_NO_INDEX)
        return 1;
    return speed->on_type[gpu_type] * sim_pace_of(speed->pace, part);
}

#endif
