/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sleeps for an hour. */
#include "hostile.h"
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    (void)sleep(3600);
    return WEIR_OK;
}

HOSTILE_SCALING_OPS(.decide = decide)
