/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arrays that grow: one way to make room for one more element. Arrays that do not, but begin on a
 * line of the cache.
 */
#ifndef SIM_ENGINE_ROOM_H
#define SIM_ENGINE_ROOM_H

#include "weir/status.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SIM_ROOM_FIRST = 16, SIM_LINE = 64 };

/* Zeros, or NULL; `size` is of one element, and count x size is countable. For free(). */
static inline void *sim_lines(size_t count, size_t size)
{
    const size_t bytes = (count * size / SIM_LINE + 1) * SIM_LINE;
    void *lines = aligned_alloc(SIM_LINE, bytes);
    if (lines != NULL)
        memset(lines, 0, bytes);
    return lines;
}

/* Room for at least `count` elements, fewer than 2^31, in `array`, which at least doubles when it
 * grows. The function that says so ends with WEIR_ENOMEM when there is none; the array is as it
 * was then. New elements are not initialised. */
#define SIM_ROOM(array, capacity, count)                                                           \
    do {                                                                                           \
        if ((count) > (capacity)) {                                                                \
            const size_t try_capacity = 2 * (size_t)(count) + SIM_ROOM_FIRST;                      \
            void *try_block = try_capacity > UINT32_MAX                                            \
                                  ? NULL                                                           \
                                  : reallocarray(array, try_capacity, sizeof *(array));            \
            if (try_block == NULL)                                                                 \
                return WEIR_ENOMEM;                                                                \
            (array) = try_block;                                                                   \
            (capacity) = (uint32_t)try_capacity;                                                   \
        }                                                                                          \
    } while (0)

#endif
