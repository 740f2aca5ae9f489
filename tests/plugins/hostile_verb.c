/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Invents a verb. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    const struct weir_action action = { .size = sizeof(struct weir_action), .verb = 999 };
    return weir_plan_append(plan, &action);
}

HOSTILE_SCALING_OPS(.decide = decide)
