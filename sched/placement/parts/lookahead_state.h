/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of the look-ahead: lookahead.c makes the lines and follows them, lookahead_supply.c
 * says how many come of those that a node would take, lookahead_cuts.c what of GPUs that are cut.
 */
#ifndef SCHED_PLACEMENT_LOOKAHEAD_STATE_H
#define SCHED_PLACEMENT_LOOKAHEAD_STATE_H

#include "sched/placement/parts/lookahead.h"

enum {
    WEIR_LOSSES_KEPT = 1 << 14, /* 2 MiB */
    WEIR_KEY_GPUS = 8,          /* nodes with more GPUs are computed every time */
    WEIR_CUTS_SEEN = 256        /* 12 KiB */
};

/* A GPU that is cut, as a job that asks for an instance sees it. */
struct weir_seen_cut {
    const struct weir_mig *table;
    struct weir_mig_state state;
    uint32_t profile, start; /* of the instance that it would get; WEIR_NO_INDEX = none */
    int64_t dead;            /* compute that it could not use */
};

/* A kind of job that is offered. */
struct weir_offer {
    int64_t cpu_units;
    int64_t gpu_units;
    const struct weir_shape *shape;
    uint32_t gpu_count;
    bool is_share, is_slice, needs_all;
    double frequency;
    uint32_t group;             /* it is one of */
    uint32_t accepts;           /* bits of the types that it may be placed on, as far as sets go */
    struct weir_seen_cut *seen; /* WEIR_CUTS_SEEN of them, by hash; NULL = none is kept */
};

/* A state with its GPUs in order: type, compute left, instances; of a GPU that is cut `left` stands
 * for both. */
struct weir_outlook_key {
    int64_t cpu_free;
    int64_t left[WEIR_KEY_GPUS];
    uint32_t types[WEIR_KEY_GPUS];
    uint64_t gpu_count;
};

struct weir_kept_loss {
    struct weir_outlook_key key;
    double lost;
    uint64_t round; /* valid while it is the look-ahead's */
};

/* The least that any job asks for from a place of a line on. */
struct weir_line_rest {
    int64_t cpu_units, gpu_units;
};

/* Jobs that ask for the same GPUs. */
struct weir_offer_group {
    double share;        /* that comes of those that nodes would take, while nothing ends */
    double taken, limit; /* of the fill that is on */
};

struct weir_lookahead {
    struct weir_allocator allocator;
    struct weir_lookahead_rules rules;
    struct weir_shape *shapes; /* of the mix */
    double *frequencies;
    struct weir_offer *offers;
    uint32_t *lines;              /* rules.lines * rules.depth indices into offers */
    struct weir_line_rest *rests; /* likewise */
    struct weir_kept_loss *table;
    uint64_t round;
    double cpu_units_each; /* of a GPU that is asked for, on average */
    uint32_t count, offer_count;
    uint32_t depth; /* jobs of a sequence: each line is cut into as many as fit */
    struct weir_offer_group *groups;
    uint32_t group_count;
    double free_before; /* GPUs, when shares were found; -1 = they were not */
    double departures;
    bool are_short; /* of some group not all come */
    uint32_t reserved[WEIR_CLAIMS_MOST];
    uint32_t reserved_count;
    bool is_known, has_slices; /* somebody asks for an instance */
};

/* Puts the jobs of a sequence on a node that begins at place `from` of line `line`, of each group
 * no more than come; the compute that is free then. Groups keep how many of them were taken. */
int64_t weir_lookahead_fill(const struct weir_lookahead *ahead, uint32_t line, uint32_t from,
                            struct weir_outlook *node);
/* Sets the limits of groups by what a node took without them in line `line`; whether any is less.
 */
bool weir_lookahead_limit(const struct weir_lookahead *ahead, uint32_t line);
/* How a job that asks for an instance sees a GPU of a node that is cut; `spare` is for one that is
 * not kept. */
const struct weir_seen_cut *weir_lookahead_see(const struct weir_outlook *node, uint32_t gpu,
                                               const struct weir_offer *offer,
                                               struct weir_seen_cut *spare);
/* Whether a GPU is of the kind for it, and has an instance where it asks for one: those go to GPUs
 * that are cut, all else to those that are not. */
bool weir_lookahead_may_cut(const struct weir_outlook *node, uint32_t gpu,
                            const struct weir_offer *offer);
/* What of `free` on a node one job cannot use, where GPUs are cut or some ask for instances. */
int64_t weir_lookahead_unusable_cut(const struct weir_outlook *node, const struct weir_offer *offer,
                                    int64_t free);

/* Whether a GPU does by its compute and type. */
static inline bool weir_offer_takes(const struct weir_outlook *node, uint32_t gpu,
                                    const struct weir_offer *offer)
{
    const uint32_t type = node->types[gpu];

    return node->left[gpu] >= offer->gpu_units &&
           (type < WEIR_GPU_TYPE_SET_MOST ? (offer->accepts >> type & 1) != 0
                                          : weir_shape_takes_type(offer->shape, type));
}

/* Whether so many GPUs do for it. */
static inline bool weir_offer_suffices(const struct weir_outlook *node,
                                       const struct weir_offer *offer, uint32_t usable)
{
    return usable >= offer->gpu_count && (!offer->needs_all || usable == node->gpu_count);
}

/* Groups of a mix that was taken over, all of whom come. */
weir_status weir_lookahead_group(struct weir_lookahead *ahead);

#endif
