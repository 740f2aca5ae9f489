/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one file of libweir that knows malloc: the default allocator, and the checked wrappers that
 * everything else allocates through.
 */
#include "sched/internal/alloc.h"

#include <stdlib.h>
#include <string.h>

static void *default_resize(void *state, void *block, size_t size)
{
    (void)state; /* malloc has none */
    if (size == 0) {
        free(block);
        return NULL;
    }
    return realloc(block, size);
}

/* Smaller blocks double when they are full; larger ones, which lists of all workers are, grow by a
 * quarter: what is set aside in vain stays small, and moving all that there is a rare thing. */
enum { DOUBLED_BYTES = 1 << 16 };

struct weir_allocator weir_allocator_copy(const struct weir_allocator *allocator)
{
    if (allocator != NULL)
        return *allocator;
    return (struct weir_allocator){ .resize = default_resize, .state = NULL };
}

void *weir_alloc(const struct weir_allocator *allocator, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        return NULL;
    if (bytes == 0)
        bytes = 1;
    void *const block = allocator->resize(allocator->state, NULL, bytes);
    if (block != NULL)
        memset(block, 0, bytes);
    return block;
}

void *weir_grow(const struct weir_allocator *allocator, void *block, uint32_t *capacity,
                uint32_t needed, size_t size)
{
    size_t bytes;

    if (needed <= *capacity && block != NULL)
        return block;
    const uint32_t step = *capacity * size < DOUBLED_BYTES ? *capacity : *capacity / 4;
    uint32_t larger = *capacity < UINT32_MAX - step ? *capacity + step : UINT32_MAX;
    if (larger < needed)
        larger = needed;
    if (larger < 8)
        larger = 8;
    if (__builtin_mul_overflow((size_t)larger, size, &bytes))
        return NULL;
    void *const moved = allocator->resize(allocator->state, block, bytes);
    if (moved != NULL)
        *capacity = larger;
    return moved;
}

void weir_free(const struct weir_allocator *allocator, void *block)
{
    if (block != NULL)
        (void)allocator->resize(allocator->state, block, 0); /* size 0 always returns NULL */
}
