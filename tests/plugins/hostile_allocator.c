/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frees what is not its own, twice. */
#define _GNU_SOURCE
#include "hostile.h"
#include <stdint.h>
#include <stdlib.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    void *volatile block = malloc(64); /* which no compiler warns of */
    free(block);
    free((void *)((uintptr_t)view + 8)); // NOLINT(performance-no-int-to-ptr)
    free(block);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
