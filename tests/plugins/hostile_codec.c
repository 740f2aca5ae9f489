/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives one codec engine to two workers. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    struct weir_alloc alloc = hostile_alloc(view);
    alloc.devices[0].nvdec_mask = 1;
    WEIR_TRY(hostile_start(plan, &alloc));
    return hostile_start(plan, &alloc);
}

HOSTILE_SCALING_OPS(.decide = decide)
