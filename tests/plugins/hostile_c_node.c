/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives back a node that there is not. */
#include "hostile.h"

HOSTILE_SUPPLY
{
    HOSTILE_SUPPLY_UNUSED;
    return weir_plan_release_node(plan, weir_cluster_node_count(view->cluster));
}

HOSTILE_CAPACITY_OPS(.decide = decide)
