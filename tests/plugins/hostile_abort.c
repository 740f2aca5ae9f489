/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Gives up. */
#include "hostile.h"
#include <stdlib.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    abort();
}

HOSTILE_SCALING_OPS(.decide = decide)
