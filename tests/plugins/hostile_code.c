/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Overwrites the code of the program it is loaded into. */
#define _GNU_SOURCE
#include "hostile.h"
#include <string.h>
#include <sys/mman.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    char *page = (char *)((size_t)weir_plan_start / 4096 * 4096);
    (void)mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
    memset(page, 0xcc, 8192);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
