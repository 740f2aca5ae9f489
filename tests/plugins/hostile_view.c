/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes to the view. */
#include "hostile.h"
#include <string.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    struct weir_view *mine;
    memcpy(&mine, &view, sizeof mine);
    mine->pool_count = 0;
    return WEIR_OK;
}

HOSTILE_SCALING_OPS(.decide = decide)
