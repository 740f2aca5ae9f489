/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Fills files without a name, which are memory that no limit of a process counts; says so when it
 * may not. */
#define _GNU_SOURCE
#include "hostile.h"
#include <sys/mman.h>
#include <unistd.h>

enum { FILES = 40, MIB = 1 << 20 };

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    static char text[MIB];
    for (int i = 0; i < FILES; i++) {
        const int file = memfd_create("mine", 0);
        if (file < 0)
            return weir_fail(error, WEIR_EPOLICY, "it may have no files of memory");
        for (int k = 0; k < 15; k++)
            (void)!write(file, text, sizeof text);
    }
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
