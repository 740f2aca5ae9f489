/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes away the memory that it shares with others. */
#define _GNU_SOURCE
#include "hostile.h"
#include "pages.h"

#include <sys/mman.h>

static void unmap(void *page, size_t size)
{
    (void)munmap(page, size);
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    hostile_pages(unmap);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
