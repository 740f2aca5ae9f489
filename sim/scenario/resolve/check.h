/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Checks that need the whole scenario: is the work possible on this cluster, do the parts fit
 * together. What can never run is refused here, with the reason and a way out, instead of waiting
 * for ever in a run.
 */
#ifndef SIM_SCENARIO_CHECK_H
#define SIM_SCENARIO_CHECK_H

#include "sim/scenario/resolve/resolve.h"

void sim_check(struct sim_resolver *resolver);

/* Whether an empty GPU of the node type's entry can hold what the shape takes of one GPU. */
bool sim_check_gpu(const struct sim_scenario *scenario, const struct sim_node_type *type,
                   size_t entry, const struct weir_shape *shape);

/* Parts, in check_fit.c: shapes against node types, sums against the cluster. */
void sim_check_fit(struct sim_resolver *resolver);
/* How many nodes of a group labels let it use. */
uint32_t sim_check_nodes(const struct sim_scenario *scenario, const struct sim_node_group *group,
                         const struct weir_shape *shape);
/* Why no node of the cluster can ever hold it; NULL when one can. */
const char *sim_check_shape(struct sim_resolver *resolver, const struct weir_shape *shape);
/* How many of them an empty node holds at most; may say too many, never too few. */
uint64_t sim_check_most(const struct sim_scenario *scenario, const struct sim_node_type *type,
                        const struct weir_shape *shape);

/* check_jobs.c: jobs that the scheduler will have to refuse are named before it does. */
void sim_check_jobs(struct sim_resolver *resolver);

#endif
