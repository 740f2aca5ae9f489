/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Says of what it shares with others that it is larger than it is. */
#define _GNU_SOURCE
#include "hostile.h"
#include "pages.h"

/* Every 32-bit number of the first kilobyte but the first three: whose turn it is, and who sleeps.
 */
static void enlarge(void *page, size_t size)
{
    for (size_t i = 3; i < 256 && i < size / 4; i++)
        ((volatile uint32_t *)page)[i] = UINT32_MAX;
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    hostile_pages(enlarge);
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
