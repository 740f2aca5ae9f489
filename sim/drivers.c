/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The kinds of work there are, in the order in which a scenario's instances are created. */
#include "sim/actors/actors.h"
#include "sim/jobs/jobs.h"
#include "sim/pipeline/pipeline.h"

const struct sim_driver_ops *const sim_drivers[] = { &sim_pipeline_driver, &sim_actors_driver,
                                                     &sim_jobs_driver, NULL };
