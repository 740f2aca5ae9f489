/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moves a worker that does not run. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    const struct weir_action action = { .size = sizeof(struct weir_action),
                                        .verb = WEIR_VERB_MOVE,
                                        .worker = 7 };
    return weir_plan_append(plan, &action);
}

HOSTILE_SCALING_OPS(.decide = decide)
