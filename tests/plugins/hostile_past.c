/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes on behind the end of the memory that it shares with others. */
#define _GNU_SOURCE
#include "hostile.h"
#include "pages.h"

static void go_past(void *page, size_t size)
{
    for (volatile char *at = (char *)page + size;; at++)
        *at = 'x';
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    hostile_pages(go_past);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
