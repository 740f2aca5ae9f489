/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What FGD compares, as keys of a tournament; smaller wins.
 *
 * In steps of the resolution: the change of F (frag_state.h) from sums kept of every node, and the
 * node's stock. Or as the later versions of the reference have it (precision single, see
 * fgd_single.c): 32-bit floats, whose order the integers of the key keep.
 *
 * What was found for a state of a node and a change of it is kept for the next node in that state.
 */
#ifndef SCHED_PLACEMENT_FGD_KEYS_H
#define SCHED_PLACEMENT_FGD_KEYS_H

#include "sched/placement/fgd.h"
#include "sched/placement/fgd_memo.h"

#include "sched/cluster/state.h"

enum { WEIR_FGD_BOOKS = 256 };

struct weir_fgd_keys {
    struct weir_allocator allocator;
    struct weir_fgd_rules rules;
    int64_t bonus_steps;
    struct weir_frag frag;
    const struct weir_cluster *cluster; /* of the question being answered only */
    struct weir_memo_change *changes;   /* WEIR_MEMO_CHANGES, of this mix */
    struct weir_frag_book *books;       /* WEIR_FGD_BOOKS: of nodes in the states seen last */
    struct weir_frag_count *counts;
    uint32_t count_capacity;
};

/* The best place on a node. */
struct weir_fgd_best {
    struct weir_key key; /* WEIR_KEY_ABSENT = there is none */
    uint32_t candidates; /* acceptable ones that differ */
    uint32_t ties;
    struct weir_alloc *alloc;             /* filled with it unless NULL */
    const struct weir_place_query *asked; /* whom it is for; keys do not depend on it */
};

weir_status weir_fgd_keys_open(struct weir_fgd_keys *keys, const struct weir_fgd_rules *rules,
                               const struct weir_allocator *allocator);
void weir_fgd_keys_close(struct weir_fgd_keys *keys);

/* Starts a question; `changed`: what was found with the mix before is worth nothing. */
weir_status weir_fgd_keys_begin(struct weir_fgd_keys *keys, const struct weir_cluster *cluster,
                                const struct weir_mix *mix, bool *changed);

static inline bool weir_fgd_is_single(const struct weir_fgd_keys *keys)
{
    return keys->rules.precision == WEIR_FGD_SINGLE;
}

/* Looks at all places of the shape on the node. `best` has an alloc and whom it is for. */
void weir_fgd_keys_place(struct weir_fgd_keys *keys, const struct weir_shape *shape, uint32_t node,
                         struct weir_fgd_best *best);
/* Of taking the worker of a slot away, who holds so much of his node; the order left aside. */
struct weir_key weir_fgd_keys_victim(struct weir_fgd_keys *keys, uint32_t node, uint32_t slot,
                                     const struct weir_memo_hold *hold);
/* Of giving `alloc`, which is free, to a stopped worker again; bonus and order left aside. */
struct weir_key weir_fgd_keys_held(struct weir_fgd_keys *keys, const struct weir_alloc *alloc,
                                   const struct weir_memo_hold *hold);
/* What the bonus makes of the key of a stopped worker. */
void weir_fgd_keys_reward(const struct weir_fgd_keys *keys, struct weir_key *key);

/* The key in GPUs and stock, as reports have it. */
struct weir_score weir_fgd_keys_score(const struct weir_fgd_keys *keys, const struct weir_key *key);

#endif
