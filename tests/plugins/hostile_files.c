/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens a hundred files; says so when that is soon. */
#define _GNU_SOURCE
#include "hostile.h"
#include <fcntl.h>
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    enum { MOST = 100 };
    int files[MOST];
    uint32_t count = 0;
    while (count < MOST && (files[count] = open("/dev/null", O_RDONLY)) >= 0)
        count++;
    for (uint32_t i = 0; i < count; i++)
        (void)close(files[i]);
    if (count < MOST)
        return weir_fail(error, WEIR_EPOLICY, "it may not open more than %u files", count);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
