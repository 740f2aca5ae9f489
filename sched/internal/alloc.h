/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of libweir: every block comes from a struct weir_allocator through these functions.
 *
 * Owners keep a copy of the allocator they were given and pass it again when they give a block
 * back. Counts are checked for overflow. Nothing is aborted on failure: NULL is returned and the
 * old block, if any, is untouched.
 */
#ifndef SCHED_INTERNAL_ALLOC_H
#define SCHED_INTERNAL_ALLOC_H

#include "weir/cluster.h"

#include <stddef.h>
#include <stdint.h>

/* A copy of `allocator`, or malloc and free when it is NULL. */
struct weir_allocator weir_allocator_copy(const struct weir_allocator *allocator);

/* `count` elements of `size` bytes, zeroed; NULL when out of memory. A count of 0 gives a valid
 * block. */
void *weir_alloc(const struct weir_allocator *allocator, size_t count, size_t size);

/* Room for at least `needed` elements: returns `block`, or a larger copy of it and the new
 * `capacity` (it doubles; a large one grows by a quarter). NULL when out of memory: block and
 * capacity are as before. New elements are not initialised. */
void *weir_grow(const struct weir_allocator *allocator, void *block, uint32_t *capacity,
                uint32_t needed, size_t size);

/* Room for at least `count` elements in `array`, whose `capacity` is a uint32_t; the function that
 * says so ends with WEIR_ENOMEM when there is none. */
#define WEIR_ROOM(allocator, array, capacity, count)                                               \
    do {                                                                                           \
        if ((count) <= (capacity) && (array) != NULL)                                              \
            break;                                                                                 \
        void *const try_block = weir_grow(allocator, array, &(capacity), count, sizeof *(array));  \
        if (try_block == NULL)                                                                     \
            return WEIR_ENOMEM;                                                                    \
        (array) = try_block;                                                                       \
    } while (0)

/* Gives a block back; NULL is allowed. */
void weir_free(const struct weir_allocator *allocator, void *block);

#endif
