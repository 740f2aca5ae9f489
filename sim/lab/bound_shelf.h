/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bounds that runs of one experiment share: policies see the same jobs on the same nodes, so the
 * same programme (alloc_bound.h) is asked again and again. The shelf is plain memory, all 0 at
 * first, which may be shared by processes; who finds nothing solves, and puts his answer there. An
 * answer depends on the question alone, so nothing changes but the time.
 *
 * A question is known by 64 bits of a digest of all that enters the programme.
 */
#ifndef SIM_LAB_BOUND_SHELF_H
#define SIM_LAB_BOUND_SHELF_H

#include "sim/lab/alloc_bound.h"

struct sim_bound_shelf;

size_t sim_bound_shelf_size(void);
/* With `shelf` NULL it is never there, and nothing is kept. */
bool sim_bound_shelf_find(struct sim_bound_shelf *shelf, uint64_t key,
                          struct sim_alloc_bound *bound);
/* Nothing is kept where there is no room. */
void sim_bound_shelf_put(struct sim_bound_shelf *shelf, uint64_t key,
                         const struct sim_alloc_bound *bound);

#endif
