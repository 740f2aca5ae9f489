/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints 400 MB, and would wipe the screen. */
#define _GNU_SOURCE
#include "hostile.h"
#include <string.h>
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    char text[4096];
    memset(text, 'x', sizeof text);
    memcpy(text, "\033[2J", 4);
    for (int i = 0; i < 100000; i++)
        (void)!write(STDOUT_FILENO, text, sizeof text);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
