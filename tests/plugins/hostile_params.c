/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Has a parameter without a name. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    return WEIR_OK;
}

static const struct weir_param params[] = { { .kind = 77, .min = 3, .max = 1 } };
HOSTILE_SCALING_OPS(.params = params, .param_count = 1, .decide = decide)
