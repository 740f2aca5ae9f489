/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists millions of devices. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    struct weir_alloc alloc = hostile_alloc(view);
    alloc.device_count = 4000000;
    return hostile_start(plan, &alloc);
}

HOSTILE_SCALING_OPS(.decide = decide)
