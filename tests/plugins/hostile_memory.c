/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes and touches memory behind the back of malloc until there is no more. */
#define _GNU_SOURCE
#include "hostile.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    for (size_t size = (size_t)64 << 20;;) {
        void *block = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED)
            abort();
        memset(block, 1, size);
    }
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
