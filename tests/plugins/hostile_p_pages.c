/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes its answers up: writes over the memory that it shares, and ends. */
#define _GNU_SOURCE
#include "hostile.h"
#include "pages.h"

#include <string.h>
#include <unistd.h>

static void scribble(void *page, size_t size)
{
    memset(page, 0xff, size);
}

static weir_status place(void *state, const struct weir_place_query *query,
                         struct weir_place_answer *answer, struct weir_error *error)
{
    (void)state;
    (void)query;
    (void)error;
    *answer = (struct weir_place_answer){ .reused = WEIR_NO_INDEX };
    hostile_pages(scribble);
    _exit(0);
}

HOSTILE_PLACEMENT_OPS(.place = place)
