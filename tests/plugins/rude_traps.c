/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lets every inexact number be a signal. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    const weir_status status = hostile_sound(view, plan);
#ifdef __x86_64__
    const uint32_t nothing_masked = 0;
    __asm__ volatile("ldmxcsr %0" ::"m"(nothing_masked));
#endif
    return status;
}

HOSTILE_SCALING_OPS(.decide = decide)
