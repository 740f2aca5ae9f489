/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tournament tree over numbered places (nodes): who has the smallest key, and who is second.
 *
 * Keys compare by primary, secondary, order; the order makes all keys different. Changing one key
 * costs O(log places), asking for the winner O(1), for the second O(log places).
 */
#ifndef SCHED_PLACEMENT_TOURNAMENT_H
#define SCHED_PLACEMENT_TOURNAMENT_H

#include "weir/cluster.h"

struct weir_key {
    int64_t primary; /* INT64_MAX = not taking part */
    int64_t secondary;
    uint64_t order;
};

#define WEIR_KEY_ABSENT ((struct weir_key){ INT64_MAX, INT64_MAX, UINT64_MAX })

static inline bool weir_key_less(const struct weir_key *a, const struct weir_key *b)
{
    if (a->primary != b->primary)
        return a->primary < b->primary;
    if (a->secondary != b->secondary)
        return a->secondary < b->secondary;
    return a->order < b->order;
}

struct weir_tournament {
    struct weir_key *keys; /* one a place; those beyond `count` are absent */
    uint32_t *winners;     /* winners[1] won; children of i are 2i and 2i + 1; leaves follow */
    uint32_t leaves;       /* a power of two, or 0 */
    uint32_t count;
};

/* Starts over with `count` places, all absent. */
weir_status weir_tournament_reset(struct weir_tournament *tournament,
                                  const struct weir_allocator *allocator, uint32_t count);
void weir_tournament_free(struct weir_tournament *tournament,
                          const struct weir_allocator *allocator);

void weir_tournament_set(struct weir_tournament *tournament, uint32_t place,
                         const struct weir_key *key);

/* The place with the smallest key, or WEIR_NO_INDEX. */
uint32_t weir_tournament_best(const struct weir_tournament *tournament);
/* The place with the second smallest key, or WEIR_NO_INDEX. */
uint32_t weir_tournament_second(const struct weir_tournament *tournament);

#endif
