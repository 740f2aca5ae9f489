/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wants to be asked in the past. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    return weir_plan_wake(plan, -1);
}

HOSTILE_SCALING_OPS(.decide = decide)
