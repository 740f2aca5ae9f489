/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Places every worker on a node that does not exist. */
#include "hostile.h"

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    (void)state;
    (void)query;
    (void)error;
    *answer = (struct weir_place_answer){ .alloc = { .node = 999999 }, .reused = WEIR_NO_INDEX };
    return WEIR_OK;
}

HOSTILE_PLACEMENT_OPS(.place = place)
