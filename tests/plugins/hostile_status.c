/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Returns a status that does not exist. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    const volatile int odd = 4711;
    return (weir_status)odd;
}

HOSTILE_SCALING_OPS(.decide = decide)
