/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forbids its host to touch what it was shown. */
#include "hostile.h"
#include <sys/mman.h>
#include <unistd.h>

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = (uintptr_t)view / page * page;
    (void)mprotect((void *)begin, page, PROT_NONE);
    return WEIR_OK;
}

HOSTILE_SCALING_OPS(.decide = decide)
