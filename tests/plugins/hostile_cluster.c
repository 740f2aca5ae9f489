/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes nodes out of the inventory. */
#include "hostile.h"
#include <string.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    struct weir_cluster *mine;
    memcpy(&mine, &view->cluster, sizeof mine);
    return weir_cluster_set_node_flags(mine, 0, 0);
}

HOSTILE_SCALING_OPS(.decide = decide)
