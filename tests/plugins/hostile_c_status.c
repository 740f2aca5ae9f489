/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers with a status that there is not. */
#include "hostile.h"

HOSTILE_SUPPLY
{
    HOSTILE_SUPPLY_UNUSED;
    return (weir_status)4711;
}

HOSTILE_CAPACITY_OPS(.decide = decide)
