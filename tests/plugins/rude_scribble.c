/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes over the memory that it shares with others. */
#define _GNU_SOURCE
#include "hostile.h"
#include "pages.h"

#include <string.h>

static void scribble(void *page, size_t size)
{
    memset(page, 0xff, size);
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    hostile_pages(scribble);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
