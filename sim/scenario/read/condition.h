/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The condition language of `goal` and `expect`: [VARIANT:] [WINDOW:] METRIC ['['OF']'] OP BOUND.
 *
 *   latency p95 <= 30 min          a value with its unit
 *   fix: throughput > broken       the same metric of another variant
 *   outage: latency p95 <= 30 min  in a window of the run
 *   fix: outage: latency p95 < -50%
 *   throughput < -2%               a change against the baseline: less than 98 % of it
 *
 * A metric goes by the name that tables print or by its id. OP is < <= > >= = or near, which takes
 * a tolerance: "near 4.2/s +- 2%". In the long form a metric of a window is ID@WINDOW. Whatever it
 * says, the long form of `expect` can say, too.
 */
#ifndef SIM_SCENARIO_CONDITION_H
#define SIM_SCENARIO_CONDITION_H

#include "sim/scenario/read/draft.h"
#include "sim/scenario/resolve/resolve.h"

/* Fills the fields of `draft` from its text `that`, which is gone then. False: reported. */
bool sim_condition_read(struct sim_resolver *resolver, struct draft_expect *draft);
/* The id of a metric that `node` names, ID@WINDOW of "WINDOW: NAME" and "NAME@WINDOW", and, where
 * it is known, its unit ("" = not). Words that are no metric and windows that are not there are
 * reported; an id that is not known may still be one. */
const char *sim_metric_id(const struct sim_resolver *resolver, const struct sim_yaml *node,
                          const char *name, const char **unit);

#endif
