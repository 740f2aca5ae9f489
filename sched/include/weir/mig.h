/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multi-instance GPUs (MIG): how one GPU is cut into instances that do not share anything.
 *
 * A GPU has compute slices (7, or 4) and memory slots (8, or 4). A *profile* says how many of both
 * an instance takes and at which slots it may begin; an *instance* is a profile and the slot it
 * begins at. Instances fit together when their ranges of memory slots do not overlap: this, not the
 * sum of compute slices, decides (on seven slices 3+3+1 does not exist, for no slot is left).
 *
 * A table describes one GPU type and is data of the caller: constant, and valid for as long as any
 * inventory or copy that names it. A *layout* is a set of instances on one GPU, packed into 64 bits
 * (byte s is 1 + the profile whose instance begins at slot s, 0 = none), so that equal sets compare
 * equal. All functions here are pure.
 *
 * Compute slice c lies above memory slot c; an instance at slot s has the compute slices s, s+1 ...
 * A free compute slice above a slot that is taken is lost until that instance goes: so small
 * instances belong at high slots, where they leave the low ones to the large profiles.
 */
#ifndef WEIR_MIG_H
#define WEIR_MIG_H

#include "weir/units.h"

#include <stdbool.h>

WEIR_BEGIN_DECLS

enum {
    WEIR_MIG_SLOTS = 8,     /* memory slots of one GPU, at most */
    WEIR_MIG_PROFILES = 16, /* profiles of one table, at most */
    WEIR_MIG_NAME = 16      /* bytes of a name, filled up with zeros */
};

struct weir_mig_profile {
    char name[WEIR_MIG_NAME]; /* "1g.10gb" */
    uint32_t slices;          /* compute */
    uint32_t slots;           /* memory */
    int64_t mem_bytes;
    uint32_t sms;
    uint32_t nvdecs;
    uint32_t max_count; /* on one GPU */
    uint32_t starts;    /* bit s: may begin at slot s */
};

struct weir_mig {
    char name[WEIR_MIG_NAME]; /* of the GPU type */
    uint32_t slices;
    uint32_t slots;
    uint32_t sms; /* of the GPU when it is not cut; the instances' are fewer in all */
    uint32_t profile_count;
    struct weir_mig_profile profiles[WEIR_MIG_PROFILES]; /* small ones first */
};

/* Whether a table is sound: names, ranges within the GPU, largest counts. WEIR_EINVAL says what is
 * not. */
WEIR_API weir_status weir_mig_check(const struct weir_mig *table, struct weir_error *error);

/* ---- names ---- */

/* The profile meant by `text`: its name ("1g.10gb"), its compute alone ("1g": the plainest such
 * profile), or its share of the GPU ("1/7", "1/2", "1"). WEIR_ENOTFOUND names those there are. */
WEIR_API weir_status weir_mig_find(const struct weir_mig *table, const char *text,
                                   uint32_t *profile, struct weir_error *error);

/* ---- layouts ---- */

typedef uint64_t weir_mig_layout;

/* The profile whose instance begins at `slot`, or -1. */
static inline int weir_mig_at(weir_mig_layout layout, uint32_t slot)
{
    return (int)((layout >> (8 * slot)) & 0xff) - 1;
}
static inline weir_mig_layout weir_mig_instance(uint32_t profile, uint32_t start)
{
    return (weir_mig_layout)(profile + 1) << (8 * start);
}

/* Bits of the memory slots, and of the compute slices, that the instances take. */
WEIR_API uint32_t weir_mig_slots(const struct weir_mig *table, weir_mig_layout layout);
WEIR_API uint32_t weir_mig_slices(const struct weir_mig *table, weir_mig_layout layout);

/* Whether an instance can be added to `layout`: allowed start, free slots, largest count. */
WEIR_API bool weir_mig_fits(const struct weir_mig *table, weir_mig_layout layout, uint32_t profile,
                            uint32_t start);

/* What an instance counts for in an inventory, in units of a GPU: slices / all slices, rounded
 * down; the whole is WEIR_ONE. */
WEIR_API int64_t weir_mig_units(const struct weir_mig *table, uint32_t profile);
/* Memory of a cut GPU: the most that instances can add up to per slot, times the slots. Decoders:
 * those of the profile with most. */
WEIR_API int64_t weir_mig_memory(const struct weir_mig *table);
WEIR_API uint32_t weir_mig_nvdecs(const struct weir_mig *table);

/* Whether all instances of a layout are of the table and fit side by side. */
WEIR_API bool weir_mig_is_sound(const struct weir_mig *table, weir_mig_layout layout);

/* A layout with `counts[p]` instances of profile p, the large ones first and each at the highest
 * slot that leaves room for the rest. WEIR_EINFEASIBLE when there is none: says whether the slices
 * or only the slots are too few. */
WEIR_API weir_status weir_mig_arrange(const struct weir_mig *table, const uint32_t *counts,
                                      weir_mig_layout *layout, struct weir_error *error);

/* Every layout of the profiles in `profiles` (bits) to which none of them can be added, once each,
 * in a fixed order. False from `visit` stops. Returns how many were visited. */
typedef bool (*weir_mig_visit)(void *state, weir_mig_layout layout);
WEIR_API uint32_t weir_mig_maximal(const struct weir_mig *table, uint32_t profiles,
                                   weir_mig_visit visit, void *state);

/* ---- one GPU ---- */

/* Instances in use, and the instances there are when the cut is fixed. */
struct weir_mig_state {
    weir_mig_layout held;
    weir_mig_layout cut; /* 0 = not fixed: instances are made when they are asked for */
};

/* Whether this instance can be given out now: it exists and is free, or can be made. */
WEIR_API bool weir_mig_free(const struct weir_mig *table, struct weir_mig_state state,
                            uint32_t profile, uint32_t start);

/* Whether any of the profiles in `wanted` (bits) can be given out now. */
WEIR_API bool weir_mig_any_free(const struct weir_mig *table, struct weir_mig_state state,
                                uint32_t wanted);

/* Free compute slices that no free place of any profile in `wanted` (bits) covers. */
WEIR_API uint32_t weir_mig_dead(const struct weir_mig *table, struct weir_mig_state state,
                                uint32_t wanted);

WEIR_END_DECLS

#endif
