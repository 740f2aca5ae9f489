/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Remembers across hosts: the second of two equal runs gets another plan. */
#include "hostile.h"

static uint32_t calls;

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    for (uint32_t i = 0; i < (calls & 1); i++) {
        const weir_status status = weir_placer_start(placer, 0, error);
        if (status != WEIR_OK)
            break;
    }
    calls = calls * 5 + 1 + (calls >> 3);
    return WEIR_OK;
}

HOSTILE_SCALING_OPS(.decide = decide)
