/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ends the thread that decides; another one lives on, so that its process does. */
#define _GNU_SOURCE
#include "hostile.h"
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *stay(void *nothing)
{
    for (;;)
        (void)pause();
    return nothing;
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    pthread_t thread;
    (void)pthread_create(&thread, NULL, stay, NULL);
    (void)syscall(SYS_exit, 0);
    return WEIR_OK;
}

HOSTILE_SCALING_OPS(.decide = decide)
