/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leaves small numbers as zeros behind. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
#ifdef __x86_64__
    uint32_t state_of_sse = 0;
    __asm__ volatile("stmxcsr %0" : "=m"(state_of_sse));
    state_of_sse |= 0x8040; /* results and arguments below the smallest normal one */
    __asm__ volatile("ldmxcsr %0" ::"m"(state_of_sse));
#endif
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
