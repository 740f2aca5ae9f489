/* SPDX-License-Identifier: Apache-2.0 */
/* A moment later: INT64_MAX, never, where there is no such moment. Moments may be below zero, as
 * WEIR_UNKNOWN_TIME is. */
#ifndef SCHED_INTERNAL_LATER_H
#define SCHED_INTERNAL_LATER_H

#include <stdint.h>

static inline int64_t weir_later_ns(int64_t from_ns, int64_t span_ns)
{
    int64_t end_ns;

    return __builtin_add_overflow(from_ns, span_ns, &end_ns) ? INT64_MAX : end_ns;
}

#endif
