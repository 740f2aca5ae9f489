/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes all slots away. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    return weir_plan_set_slots(plan, 0, 0);
}

HOSTILE_SCALING_OPS(.decide = decide)
