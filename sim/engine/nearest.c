/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Edit distance with one row of the Wagner-Fischer table. Names are short; longer words are never
 * near.
 */
#include "sim/engine/nearest.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { WORD_MAX = 63 };

static size_t least(size_t a, size_t b, size_t c)
{
    const size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

size_t sim_edit_distance(struct sim_word word, const char *name)
{
    const size_t name_length = strlen(name);
    if (word.length > WORD_MAX || name_length > WORD_MAX)
        return SIZE_MAX;
    size_t row[WORD_MAX + 1];
    for (size_t j = 0; j <= name_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= word.length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= name_length; j++) {
            const size_t substituted = diagonal + (word.start[i - 1] != name[j - 1]);
            diagonal = row[j];
            row[j] = least(row[j] + 1, row[j - 1] + 1, substituted);
        }
    }
    return row[name_length];
}

bool sim_begins_name(struct sim_word word, const char *name)
{
    return word.length > 2 && strlen(name) > word.length &&
           strncasecmp(word.start, name, word.length) == 0 &&
           strchr("-.", name[word.length]) != NULL;
}

static size_t rank_of(struct sim_word word, const char *name)
{
    return sim_begins_name(word, name) ? 0 : sim_edit_distance(word, name);
}

const char *sim_nearer(struct sim_word word, const char *best, const char *name)
{
    const size_t rank = rank_of(word, name);
    if (rank > SIM_NEAREST_LIMIT || rank >= word.length)
        return best;
    return !best || rank < rank_of(word, best) ? name : best;
}
