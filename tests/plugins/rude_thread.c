/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A thread of it goes on after the call. */
#define _GNU_SOURCE
#include "hostile.h"
#include <pthread.h>
#include <unistd.h>

static void *go_on(void *state)
{
    for (;;)
        (void)usleep(1000);
    return state;
}

HOSTILE_DECIDE
{
    HOSTILE_UNUSED;
    pthread_t thread;
    if (pthread_create(&thread, NULL, go_on, NULL) != 0)
        return weir_fail(error, WEIR_EPOLICY, "it may have no thread");
    return hostile_sound(view, plan);
}

HOSTILE_SCALING_OPS(.decide = decide)
