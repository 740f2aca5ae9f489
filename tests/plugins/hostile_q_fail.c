/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A queueing policy that gives up without a reason. */
#include "hostile.h"

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    HOSTILE_UNUSED;
    return WEIR_EIO;
}

HOSTILE_QUEUEING_OPS(.pass = pass)
