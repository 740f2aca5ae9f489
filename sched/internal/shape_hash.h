/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shape as one number: of all its bytes, so that shapes that differ in any field differ.
 */
#ifndef SCHED_INTERNAL_SHAPE_HASH_H
#define SCHED_INTERNAL_SHAPE_HASH_H

#include "sched/internal/hash.h"
#include "weir/shape.h"

#include <stddef.h>
#include <string.h>

_Static_assert(sizeof(struct weir_shape) % sizeof(uint64_t) == 0, "a shape is whole words");

static inline uint64_t weir_shape_hash(const struct weir_shape *shape)
{
    uint64_t words[sizeof *shape / sizeof(uint64_t)];
    uint64_t hash = 0;

    memcpy(words, shape, sizeof words);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        hash = weir_hash_add(hash, words[i]);
    return hash;
}

#endif
