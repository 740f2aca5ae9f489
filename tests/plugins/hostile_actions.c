/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Never stops planning. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    while (weir_plan_deny(plan, weir_pool_owner(0), WEIR_REASON_NONE, NULL) == WEIR_OK) {
    }
    return weir_fail(error, WEIR_ENOMEM, "the plan is full");
}

HOSTILE_SCALING_OPS(.decide = decide)
