/* SPDX-License-Identifier: Apache-2.0 */
/* What waits in front of a pool, in tasks. */
#ifndef SCHED_INTERNAL_TASKS_H
#define SCHED_INTERNAL_TASKS_H

#include "weir/work.h"

#include <math.h>

static inline double weir_pool_tasks(const struct weir_pool_view *pool)
{
    const double batch = pool->batch_size > 0 ? pool->batch_size : 1;

    return ceil((double)pool->queued_items / batch);
}

#endif
