/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes to address 8. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    volatile uintptr_t address = 8;
    *(volatile int *)address = 1;
    return WEIR_OK;
}

HOSTILE_SCALING_OPS(.decide = decide)
