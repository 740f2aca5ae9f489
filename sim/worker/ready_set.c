/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two-level bit set (see ready_set.h). Invariant: summary bit w is set iff words[w] != 0. */
#include "sim/worker/ready_set.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

weir_status sim_ready_set_reserve(struct sim_ready_set *set, uint32_t positions)
{
    if (positions <= set->capacity)
        return WEIR_OK;
    uint32_t capacity = set->capacity == 0 ? 4096 : set->capacity;
    while (capacity < positions)
        capacity *= 2;
    uint64_t *words = calloc(capacity / 64, sizeof(*words));
    uint64_t *summary = calloc(capacity / 4096, sizeof(*summary));
    if (words == NULL || summary == NULL) {
        free(words);
        free(summary);
        return WEIR_ENOMEM;
    }
    if (set->capacity != 0) {
        memcpy(words, set->words, set->capacity / 64 * sizeof(*words));
        memcpy(summary, set->summary, set->capacity / 4096 * sizeof(*summary));
    }
    free(set->words);
    free(set->summary);
    set->words = words;
    set->summary = summary;
    set->capacity = capacity;
    return WEIR_OK;
}

void sim_ready_set_clear(struct sim_ready_set *set)
{
    free(set->words);
    free(set->summary);
    *set = (struct sim_ready_set){ 0 };
}

void sim_ready_set_add(struct sim_ready_set *set, uint32_t position)
{
    const uint32_t word = position / 64;
    assert(position < set->capacity && (set->words[word] >> (position % 64) & 1) == 0);
    set->words[word] |= UINT64_C(1) << (position % 64);
    set->summary[word / 64] |= UINT64_C(1) << (word % 64);
    set->count++;
}

bool sim_ready_set_has(const struct sim_ready_set *set, uint32_t position)
{
    return position < set->capacity && (set->words[position / 64] >> (position % 64) & 1) == 1;
}

void sim_ready_set_remove(struct sim_ready_set *set, uint32_t position)
{
    const uint32_t word = position / 64;
    assert(position < set->capacity && (set->words[word] >> (position % 64) & 1) == 1);
    set->words[word] &= ~(UINT64_C(1) << (position % 64));
    if (set->words[word] == 0)
        set->summary[word / 64] &= ~(UINT64_C(1) << (word % 64));
    set->count--;
}

uint32_t sim_ready_set_first(const struct sim_ready_set *set)
{
    assert(set->count > 0);
    uint32_t block = 0;
    while (set->summary[block] == 0)
        block++;
    const uint32_t word = block * 64 + (uint32_t)__builtin_ctzll(set->summary[block]);
    return word * 64 + (uint32_t)__builtin_ctzll(set->words[word]);
}

uint32_t sim_ready_set_last(const struct sim_ready_set *set)
{
    assert(set->count > 0);
    uint32_t block = set->capacity / 4096 - 1;
    while (set->summary[block] == 0)
        block--;
    const uint32_t word = block * 64 + 63 - (uint32_t)__builtin_clzll(set->summary[block]);
    return word * 64 + 63 - (uint32_t)__builtin_clzll(set->words[word]);
}
