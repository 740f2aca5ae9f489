/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Needs what nobody has. */
#include "hostile.h"

weir_status weir_that_never_was(const struct weir_view *view);

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    return weir_that_never_was(view);
}

HOSTILE_SCALING_OPS(.decide = decide)
