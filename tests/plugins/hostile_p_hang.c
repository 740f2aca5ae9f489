/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Never says where. */
#define _GNU_SOURCE
#include "hostile.h"

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    (void)state;
    (void)query;
    (void)error;
    *answer = (struct weir_place_answer){ .reused = WEIR_NO_INDEX };
    volatile int forever = 1;
    while (forever != 0)
        continue;
    return WEIR_OK;
}

HOSTILE_PLACEMENT_OPS(.place = place)
