/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls what is its own as weir and the C library call theirs. */
#define _GNU_SOURCE
#include "hostile.h"
#include <stdlib.h>
#include <unistd.h>

WEIR_API weir_status weir_host_decide(void *host, void *request, void *reply);
WEIR_API int close(int file);
WEIR_API ssize_t write(int file, const void *text, size_t size);
WEIR_API void free(void *old);
WEIR_API char *getenv(const char *name);

weir_status weir_host_decide(void *host, void *request, void *reply)
{
    (void)host, (void)request, (void)reply;
    abort();
}

int close(int file)
{
    (void)file;
    abort();
}

ssize_t write(int file, const void *text, size_t size)
{
    (void)file, (void)text, (void)size;
    abort();
}

void free(void *old)
{
    (void)old;
    abort();
}

char *getenv(const char *name)
{
    (void)name;
    abort();
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
