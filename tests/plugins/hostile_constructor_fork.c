/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts processes before anybody has asked it for anything. */
#define _GNU_SOURCE
#include "hostile.h"
#include <unistd.h>

__attribute__((constructor)) static void multiply(void)
{
    for (int i = 0; i < 120; i++)
        if (fork() == 0)
            (void)sleep(1000);
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;

    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
