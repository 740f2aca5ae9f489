/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants inside libweir. A broken one is our bug, never the caller's: test builds stop at once
 * (a trap, which needs no symbol of libc); the shipped library lives in somebody's controller, so
 * it counts, leaves the broken thing alone and goes on. The count is read by weir_cluster_check
 * and by the check of every plan, which then say WEIR_EINVARIANT: no decision comes from an
 * inventory that broke.
 *
 *     if (!WEIR_HOLDS(list->count < list->capacity, &cluster->broken))
 *         return;
 */
#ifndef SCHED_INTERNAL_INVARIANT_H
#define SCHED_INTERNAL_INVARIANT_H

#include <stdbool.h>
#include <stdint.h>

static inline bool weir_count_broken(uint32_t *broken)
{
#ifdef WEIR_INVARIANTS_TRAP
    __builtin_trap();
#endif
    if (*broken < UINT32_MAX)
        (*broken)++;
    return false;
}

/* Whether `condition` holds; else counted in `*broken`. */
#define WEIR_HOLDS(condition, broken) ((condition) || weir_count_broken(broken))

#endif
