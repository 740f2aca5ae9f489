/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many bits of a mask are set. The compiler's own calls a library where it may not use the
 * instruction; this one is inlined everywhere (Warren, Hacker's Delight, 5-1).
 */
#ifndef SCHED_INTERNAL_BITS_H
#define SCHED_INTERNAL_BITS_H

#include <stdint.h>

static inline uint32_t weir_bit_count(uint32_t mask)
{
    const uint32_t pairs = mask - ((mask >> 1) & 0x55555555);
    const uint32_t fours = (pairs & 0x33333333) + ((pairs >> 2) & 0x33333333);

    return (((fours + (fours >> 4)) & 0x0f0f0f0f) * 0x01010101) >> 24;
}

#endif
