/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Crashes while it scores. */
#include "hostile.h"

static struct weir_score score(void *state, const struct weir_place_query *query,
                               const struct weir_alloc *candidate)
{
    volatile uintptr_t address = 8;
    (void)state;
    (void)query;
    *(volatile int *)address = 1;
    return (struct weir_score){ (double)candidate->node, 0 };
}

HOSTILE_PLACEMENT_OPS(.score = score)
