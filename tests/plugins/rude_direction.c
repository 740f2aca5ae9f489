/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leaves the processor walking backwards through what others copy. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    const weir_status status = hostile_sound(view, plan);
#ifdef __x86_64__
    __asm__ volatile("std" ::: "cc", "memory");
#endif
    return status;
}

HOSTILE_SCALING_OPS(.decide = decide)
