/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Crashes before anybody has asked it for anything. */
#define _GNU_SOURCE
#include "hostile.h"

__attribute__((constructor)) static void crash(void)
{
    volatile uintptr_t address = 8;
    *(volatile int *)address = 1;
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;

    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
