/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Follows a pointer to nowhere. */
#include "hostile.h"

HOSTILE_SUPPLY
{
    HOSTILE_SUPPLY_UNUSED;
    const weir_status *volatile nowhere = state;
    return *nowhere;
}

HOSTILE_CAPACITY_OPS(.decide = decide)
