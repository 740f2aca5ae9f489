/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structs that the caller fills begin with `size`, and grow at the end. Below what version 2.0 had
 * the caller was built for something else, or forgot it. Fields that come later are to be taken as
 * 0 when the caller's struct ends before them.
 */
#ifndef SCHED_INTERNAL_SIZE_H
#define SCHED_INTERNAL_SIZE_H

#include "weir/status.h"

#include <stddef.h>
#include <string.h>

/* WEIR_EABI with a sentence when `size` is below `least`. */
static inline weir_status weir_size_check(uint32_t size, size_t least, const char *what,
                                          struct weir_error *error)
{
    if (size >= least)
        return WEIR_OK;
    return weir_fail(error, WEIR_EABI,
                     "%s has %u bytes, needed are %u: set `size`, and build with the headers of "
                     "this interface version (%u)",
                     what, size, (unsigned)least, (unsigned)WEIR_ABI_MAJOR);
}

/* The caller's struct of `size` bytes in one of ours: what it ends before is 0. */
static inline void weir_size_take(void *to, size_t room, const void *from, uint32_t size)
{
    memset(to, 0, room);
    memcpy(to, from, size < room ? size : room);
}

#endif
