/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often a job saves its work.
 *
 * With the cost C of a checkpoint, the restart R and the time M between failures of the job (all of
 * the job, not of one node), the work between two checkpoints is
 *
 *   young    sqrt(2 C M)                                             J. Young, CACM 17 (1974)
 *   daly     sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + C / 18M) - C        J. Daly, FGCS 22 (2006)
 *            for C < 2M, else M
 *   saxena   C + sqrt(2 (M + R) C + C^2)
 */
#ifndef SIM_JOBS_CHECKPOINT_H
#define SIM_JOBS_CHECKPOINT_H

#include "sim/scenario/scenario.h"

/* In s; `rule` is not FIXED. */
double sim_checkpoint_interval_s(enum sim_checkpoint_rule rule, double cost_s, double restart_s,
                                 double mtbf_s);

#endif
