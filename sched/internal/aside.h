/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that wait although no nodes there are can hold them (weir_host_keep_infeasible): the queue
 * passes over them, and so does a policy that goes through all jobs by itself.
 */
#ifndef SCHED_INTERNAL_ASIDE_H
#define SCHED_INTERNAL_ASIDE_H

#include "weir/work.h"

#include <stdbool.h>

bool weir_view_is_aside(const struct weir_view *view, const struct weir_job *job);
/* How many there are. O(kinds). */
uint32_t weir_view_aside_jobs(const struct weir_view *view);

#endif
