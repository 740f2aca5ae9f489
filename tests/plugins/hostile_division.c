/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Raises what a division by zero raises. */
#include "hostile.h"

#include <signal.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    (void)raise(SIGFPE);
    return WEIR_OK;
}

HOSTILE_SCALING_OPS(.decide = decide)
