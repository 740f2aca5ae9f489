/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives a worker more CPUs than its node has. */
#include "hostile.h"

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    struct weir_alloc alloc = hostile_alloc(view);
    alloc.cpu_units = weir_cluster_total(view->cluster).cpu_units + 1;
    return hostile_start(plan, &alloc);
}

HOSTILE_SCALING_OPS(.decide = decide)
