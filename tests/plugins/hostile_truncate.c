/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes the ground from under the memory that it shares with others; says so when it may not. */
#define _GNU_SOURCE
#include "hostile.h"
#include "pages.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static void truncate_page(void *page, size_t size)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/self/map_files/%lx-%lx", (unsigned long)page,
                   (unsigned long)page + size);
    const int file = open(path, O_RDWR);
    if (file >= 0 && ftruncate(file, 0) == 0)
        (void)close(file);
    (void)madvise(page, size, MADV_REMOVE); /* all of it is zero now */
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    hostile_pages(truncate_page);
    return weir_fail(error, WEIR_EPOLICY, "the page is still there");
}

HOSTILE_SCALING_OPS(.decide = decide)
