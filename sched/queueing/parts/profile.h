/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is free from when on: a step function of time, in amounts of GPUs and CPUs, from an origin
 * to the end of time.
 *
 * The steps stand in blocks of at most 128 in a row. A block knows the least and the most of what
 * is free in it, and what is to be added to all its steps: so a change over a long time and a
 * search for a hole look into the blocks at the ends only, and at one line of each other. With n
 * steps both are O(n / 128 + 128), a few µs for tens of thousands.
 *
 * Invariant: times ascend strictly, the first is the origin; neighbours may be equal.
 */
#ifndef SCHED_QUEUEING_PROFILE_H
#define SCHED_QUEUEING_PROFILE_H

#include "weir/cluster.h"

/* GPUs and CPUs, as in struct weir_amounts. */
struct weir_room {
    int64_t gpu_units, cpu_units;
};

enum { WEIR_PROFILE_BLOCK = 128 };

struct weir_profile_block {
    uint32_t count;
    struct weir_room least, most; /* of its steps, `more` included */
    struct weir_room more;        /* to be added to each */
    int64_t at_ns[WEIR_PROFILE_BLOCK];
    struct weir_room free[WEIR_PROFILE_BLOCK];
};

struct weir_profile {
    struct weir_allocator allocator;
    struct weir_profile_block **blocks; /* in order; those behind `count` are kept for later */
    uint32_t count, made, capacity;
};

void weir_profile_open(struct weir_profile *profile, const struct weir_allocator *allocator);
void weir_profile_close(struct weir_profile *profile);
/* So much is free from the origin on for ever. WEIR_ENOMEM. */
weir_status weir_profile_begin(struct weir_profile *profile, int64_t origin_ns,
                               struct weir_room free);
/* What was before is forgotten: the origin is this instant, unless it is later already. */
void weir_profile_advance(struct weir_profile *profile, int64_t now_ns);
/* So much more (less, when negative) is free in [from, to); what lies before the origin is cut off.
 * to = INT64_MAX: for ever. WEIR_ENOMEM: nothing has changed. */
weir_status weir_profile_add(struct weir_profile *profile, int64_t from_ns, int64_t to_ns,
                             struct weir_room more);
/* The first instant from which on so much is free for that long; INT64_MAX = never. */
int64_t weir_profile_find(const struct weir_profile *profile, struct weir_room need,
                          int64_t duration_ns);
/* The same, at this instant or later. */
int64_t weir_profile_find_from(const struct weir_profile *profile, int64_t from_ns,
                               struct weir_room need, int64_t duration_ns);
/* The first instant, this one or later, at which so much is not free; INT64_MAX = never. */
int64_t weir_profile_until(const struct weir_profile *profile, int64_t from_ns,
                           struct weir_room need);
/* What is free at an instant. */
struct weir_room weir_profile_at(const struct weir_profile *profile, int64_t at_ns);

#endif
