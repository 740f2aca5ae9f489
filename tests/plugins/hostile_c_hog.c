/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Asks for nodes without an end. */
#include "hostile.h"

HOSTILE_SUPPLY
{
    HOSTILE_SUPPLY_UNUSED;
    while (weir_plan_request_node(plan, 0) == WEIR_OK)
        ;
    return WEIR_ENOMEM;
}

HOSTILE_CAPACITY_OPS(.decide = decide)
