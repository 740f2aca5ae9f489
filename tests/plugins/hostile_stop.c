/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stops a worker that nobody started. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    return weir_plan_stop(plan, weir_pool_owner(0), 424242);
}

HOSTILE_SCALING_OPS(.decide = decide)
