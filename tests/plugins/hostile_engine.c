/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes an engine that does not exist. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    struct weir_alloc alloc = hostile_alloc(view);
    alloc.devices[0].nvdec_mask = UINT32_C(1) << 31;
    return hostile_start(plan, &alloc);
}

HOSTILE_SCALING_OPS(.decide = decide)
