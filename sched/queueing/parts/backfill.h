/* SPDX-License-Identifier: Apache-2.0 */
/* What the policies that backfill have in common. */
#ifndef SCHED_QUEUEING_BACKFILL_H
#define SCHED_QUEUEING_BACKFILL_H

#include "weir/job.h"

#include <math.h>

enum weir_backfill_order {
    WEIR_BACKFILL_SUBMISSION,
    WEIR_BACKFILL_SHORTEST,
    WEIR_BACKFILL_PRIORITY
};

#define WEIR_BACKFILL_ORDER                                                                        \
    WEIR_CHOICE("order", "submission|shortest|priority", 2, WEIR_BACKFILL_SUBMISSION,              \
                "who is first: by submission, by what is left of the estimate, or the most "       \
                "urgent")

static inline double weir_backfill_key(uint32_t order, const struct weir_job *job)
{
    const int64_t left_ns = weir_job_left_ns(job);

    if (order == WEIR_BACKFILL_PRIORITY)
        return -job->priority;
    if (order == WEIR_BACKFILL_SHORTEST)
        return left_ns == INT64_MAX ? HUGE_VAL : (double)left_ns;
    return (double)job->submit_ns;
}

static inline bool weir_backfill_is_no_place(weir_status status)
{
    return status == WEIR_EBUSY || status == WEIR_EINFEASIBLE;
}

#endif
