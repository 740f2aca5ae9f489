/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Crashes when it hears what became of its plan. */
#include "hostile.h"

static weir_status outcome(void *state, const struct weir_outcome *what)
{
    volatile uintptr_t address = 8;
    (void)state;
    (void)what;
    *(volatile int *)address = 1;
    return WEIR_OK;
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    return weir_placer_start(placer, 0, error);
}

HOSTILE_SCALING_OPS(.decide = decide, .outcome = outcome)
