/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unloads itself while it is asked. */
#define _GNU_SOURCE
#include "hostile.h"
#include <dlfcn.h>
#include <stdlib.h>

static const struct weir_scaling_ops ops;

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    Dl_info own;
    void *handle = dladdr(&ops, &own) != 0 ? dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (handle == NULL)
        abort();
    for (int i = 0; i < 8; i++)
        (void)dlclose(handle);
    return WEIR_OK;
}

HOSTILE_SCALING_OPS(.decide = decide)
