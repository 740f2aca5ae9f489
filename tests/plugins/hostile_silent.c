/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fails without a message. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    return WEIR_EPOLICY;
}

HOSTILE_SCALING_OPS(.decide = decide)
