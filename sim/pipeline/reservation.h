/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the reservation rule answers about room (flow_reservation.c says how it is reckoned). */
#ifndef SIM_PIPELINE_RESERVATION_H
#define SIM_PIPELINE_RESERVATION_H

#include "sim/pipeline/pipeline.h"

/* Bytes that tasks the stage starts now may give: its own and its part of the shared ones. */
/* Whether the output of one more task of the stage fits. */
bool sim_reservation_has_room(const struct sim_stage_run *stage);

#endif
