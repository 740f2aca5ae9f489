/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ends the process as if all were well. */
#include "hostile.h"
#include <stdlib.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    exit(0);
}

HOSTILE_SCALING_OPS(.decide = decide)
