/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arrays that grow: one way to make room for one more element.
 */
#ifndef SIM_ENGINE_ROOM_H
#define SIM_ENGINE_ROOM_H

#include "weir/status.h"

#include <stdint.h>
#include <stdlib.h>

enum { SIM_ROOM_FIRST = 16 };

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
