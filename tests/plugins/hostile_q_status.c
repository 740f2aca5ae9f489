/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers with a status that there is not. */
#include "hostile.h"

static weir_status pass(void *state, const struct weir_view *view, struct weir_placer *placer,
                        struct weir_plan *plan, struct weir_error *error)
{
    HOSTILE_UNUSED;
    return (weir_status)4711;
}

HOSTILE_QUEUEING_OPS(.pass = pass)
