/* SPDX-License-Identifier: Apache-2.0 */
/* Of the waiting jobs, for queueing policies of libweir's own: whether age alone tells those of one
 * kind apart. The host counts (sched/host/jobs.c). */
#ifndef SCHED_INTERNAL_BY_AGE_H
#define SCHED_INTERNAL_BY_AGE_H

#include "weir/work.h"

/* Nobody who waits has a priority, or came to wait again. O(1). */
bool weir_view_is_by_age(const struct weir_view *view);

#endif
