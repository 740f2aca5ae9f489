/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Says what is not its business. */
#include "hostile.h"

HOSTILE_SUPPLY
{
    HOSTILE_SUPPLY_UNUSED;
    const struct weir_action action = { .size = sizeof(struct weir_action),
                                        .verb = WEIR_VERB_ANNOTATE,
                                        .choice = WEIR_NO_INDEX };
    return weir_plan_append(plan, &action);
}

HOSTILE_CAPACITY_OPS(.decide = decide)
