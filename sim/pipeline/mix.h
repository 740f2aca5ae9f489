/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The reference mix: how much of the work each stage is, whatever the policy does.
 *
 * Share of a stage = workers it needs for one source item a second (mean service per source item)
 * over the sum of all. Fragmentation is measured against it, so that the measure of one policy can
 * be compared with another's.
 */
#ifndef SIM_MIX_H
#define SIM_MIX_H

#include "sim/record/meter.h"
#include "sim/scenario/scenario.h"

/* Fills one entry a stage of pipeline `index`; the mix is workers for one source item a second, and
 * becomes a share when the world knows all pools. */
void sim_mix_fill(const struct sim_pipeline *pipeline, uint32_t index,
                  struct sim_meter_stage_info *stages);

#endif
