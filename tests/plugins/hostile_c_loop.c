/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Never answers. */
#include "hostile.h"

HOSTILE_SUPPLY
{
    HOSTILE_SUPPLY_UNUSED;
    for (volatile bool is_on = true; is_on;)
        ;
    return WEIR_OK;
}

HOSTILE_CAPACITY_OPS(.decide = decide)
