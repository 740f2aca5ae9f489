/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a place gives a worker what its shape asks for, on a node that labels let it use: for the
 * check of plans, which has made sure that node and devices are there.
 */
#ifndef SCHED_HOST_COVERS_H
#define SCHED_HOST_COVERS_H

#include "weir/cluster.h"
#include "weir/shape.h"

/* WEIR_EPOLICY with a sentence when it does not. */
weir_status weir_check_covers(const struct weir_cluster *cluster, const struct weir_shape *shape,
                              const struct weir_alloc *alloc, struct weir_error *error);

#endif
