/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reuses a worker that never was. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    const struct weir_action action = { .size = sizeof(struct weir_action),
                                        .verb = WEIR_VERB_START,
                                        .worker = 99,
                                        .reused = 1,
                                        .alloc = hostile_alloc(view) };
    return weir_plan_append(plan, &action);
}

HOSTILE_SCALING_OPS(.decide = decide)
