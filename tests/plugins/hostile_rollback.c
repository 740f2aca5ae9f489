/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes marks away that are not its own and plans what does not fit. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    for (int i = 0; i < 100; i++)
        weir_cluster_rollback(weir_placer_scratch(placer));
    struct weir_alloc alloc = hostile_alloc(view);
    alloc.cpu_units = INT64_MAX;
    return hostile_start(plan, &alloc);
}

HOSTILE_SCALING_OPS(.decide = decide)
