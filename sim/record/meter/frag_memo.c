/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fragmentation that was found lately (see fragmentation.h): most nodes of a cluster are in few
 * states. A place a hash; the last one to come stays. Words are compared, so a memo never errs.
 */
#include "sim/record/meter/fragmentation.h"

#include <stdlib.h>
#include <string.h>

enum { PLACES = 512 }; /* a power of two */

struct kept {
    struct sim_frag_key key; /* count 0 = nothing */
    struct sim_frag frag;
};

struct sim_frag_memo {
    struct kept places[PLACES];
};

struct sim_frag_memo *sim_frag_memo_open(void)
{
    return calloc(1, sizeof(struct sim_frag_memo));
}

void sim_frag_memo_close(struct sim_frag_memo *memo)
{
    free(memo);
}

static size_t place_of(const struct sim_frag_key *key)
{
    uint64_t hash = key->count;
#pragma GCC unroll 4
    for (uint32_t i = 0; i < key->count; i++)
        hash = hash * UINT64_C(0x9e3779b97f4a7c15) + key->words[i];
    return (size_t)((hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93) >> 32) % PLACES;
}

static bool is_same(const struct sim_frag_key *a, const struct sim_frag_key *b)
{
    return a->count == b->count && memcmp(a->words, b->words, a->count * sizeof a->words[0]) == 0;
}

const struct sim_frag *sim_frag_memo_find(const struct sim_frag_memo *memo,
                                          const struct sim_frag_key *key)
{
    const struct kept *kept = &memo->places[place_of(key)];
    return is_same(&kept->key, key) ? &kept->frag : NULL;
}

void sim_frag_memo_keep(struct sim_frag_memo *memo, const struct sim_frag_key *key,
                        const struct sim_frag *frag)
{
    struct kept *kept = &memo->places[place_of(key)];
    kept->key.count = key->count;
    memcpy(kept->key.words, key->words, key->count * sizeof key->words[0]);
    kept->frag = *frag;
}
