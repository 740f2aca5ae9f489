/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs grouped by what they need: k-means over vectors of any numbers (GPUs, memory, traffic, run
 * time ...), each scaled to [0, 1] over all vectors, so that no unit counts more than another.
 *
 * The answer depends on the vectors alone: the first centre is the vector farthest from the mean,
 * each further one that farthest from all centres before (Gonzalez 1985), then Lloyd's rounds until
 * nobody changes his group, at most 100. Ties go to the lower index.
 */
#ifndef WEIR_NEEDS_H
#define WEIR_NEEDS_H

#include "weir/cluster.h"

WEIR_BEGIN_DECLS

/* From 2.3 on. */
struct weir_needs {
    uint32_t size;        /* sizeof */
    uint32_t count;       /* vectors */
    uint32_t dims;        /* numbers of each */
    uint32_t groups;      /* at most so many; fewer where there are fewer different vectors */
    const double *values; /* vector after vector; finite */
};

/* group[i] = the group of vector i, from 0 on; *found = how many there are. Errors: WEIR_EINVAL
 * (nothing to group, a number that is none), WEIR_ENOMEM. O(rounds x count x groups x dims). */
WEIR_API weir_status weir_needs_group(const struct weir_needs *needs,
                                      const struct weir_allocator *allocator, uint32_t *group,
                                      uint32_t *found, struct weir_error *error);

WEIR_END_DECLS

#endif
